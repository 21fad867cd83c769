//! What the blocks of a launch touch of global memory, in lines of 128 bytes: enough to tell which lines need a closer
//! look, for no barrier orders what two blocks do.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::access::{How, Scope};

/// Bytes of a line: what a warp reads or writes at once, four bytes a lane.
const LINE: u64 = 128;

/// Of an entry: what has been done to the line, below the number of the block that did it, plus one.
const WRITTEN: u64 = 1;
const READ: u64 = 2;
/// Strong accesses of one byte, of two, and so on: those of two sizes may race.
const STRONG: u64 = 4;
const SIZES: u32 = 6;
/// By more than one block, in a way that cannot race: all only read, or all only used atomics of the device.
const SEVERAL: u64 = STRONG << SIZES;
const CONTESTED: u64 = SEVERAL << 1;
const FLAGS: u32 = CONTESTED.trailing_zeros() + 1;

/// The lines of the buffers of a launch, for all its workers.
#[derive(Debug, Default)]
pub struct Lines {
    /// First address and lines of each object; none for shared memory.
    objects: Vec<(u64, Vec<AtomicU64>)>,
    contested: AtomicBool,
}

impl Lines {
    /// For objects that begin at these addresses and have so many bytes; shared memory, the first, has none.
    #[must_use]
    pub fn new(objects: &[(u64, u64)]) -> Self {
        let lines = |bytes: u64| (0..bytes.div_ceil(LINE) + 1).map(|_| AtomicU64::new(0)).collect();
        let objects = objects.iter().map(|&(start, bytes)| (start / LINE * LINE, lines(bytes))).collect();
        Self { objects, contested: AtomicBool::new(false) }
    }

    /// May blocks have raced with each other?
    #[must_use]
    pub fn contested(&self) -> bool {
        self.contested.load(Ordering::Relaxed)
    }

    /// May blocks have raced for the line at this address?
    pub(super) fn is_contested(&self, object: u32, address: u64) -> bool {
        let (start, lines) = &self.objects[object as usize];
        let line = (address.wrapping_sub(*start) / LINE) as usize;
        lines.get(line).is_some_and(|line| line.load(Ordering::Relaxed) & CONTESTED != 0)
    }

    /// Accesses of so many bytes each by a block, from `from` up to `to`.
    #[inline(always)]
    pub(super) fn touch(&self, object: u32, (from, to): (u64, u64), size: u32, block: u64, how: How) {
        let (start, lines) = &self.objects[object as usize];
        let first = (from.wrapping_sub(*start) / LINE) as usize;
        let last = ((to - 1).wrapping_sub(*start) / LINE) as usize;
        let strong = how.strong.is_some_and(|scope| scope >= Scope::Device);
        let flag = if strong {
            STRONG << size.trailing_zeros().min(SIZES - 1)
        } else if how.writes {
            WRITTEN
        } else {
            READ
        };
        let own = (block + 1) << FLAGS;
        for line in first..=last {
            let Some(line) = lines.get(line) else { return };
            let known = line.load(Ordering::Relaxed);
            let next = after(known, own, flag);
            if next != known {
                self.set(line, (known, next), (own, flag));
            }
        }
    }

    /// Enters an access of a line, whatever else is entered meanwhile.
    fn set(&self, line: &AtomicU64, (mut known, mut next): (u64, u64), (own, flag): (u64, u64)) {
        while next != known {
            if next & CONTESTED != 0 {
                self.contested.store(true, Ordering::Relaxed);
            }
            match line.compare_exchange_weak(known, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => (known, next) = (now, after(now, own, flag)),
            }
        }
    }
}

/// What a line's entry becomes.
#[inline]
fn after(known: u64, own: u64, flag: u64) -> u64 {
    let flags = known & ((1 << FLAGS) - 1);
    if flags == 0 {
        return own | flag;
    }
    if flags & CONTESTED != 0 {
        return known;
    }
    if flags & SEVERAL == 0 && known >> FLAGS == own >> FLAGS {
        return known | flag;
    }
    let kinds = (flags & (SEVERAL - 1)) | flag;
    if kinds == READ || (kinds >= STRONG && kinds.is_power_of_two()) {
        return known | flag | SEVERAL;
    }
    known | flag | CONTESTED
}

#[cfg(test)]
mod tests {
    use super::{How, Lines, Scope};

    fn contested(accesses: &[(u64, How)]) -> bool {
        let lines = Lines::new(&[(0, 0), (4096, 1024)]);
        for &(block, how) in accesses {
            lines.touch(1, (4096 + 256, 4096 + 384), 4, block, how);
        }
        assert_eq!(lines.contested(), lines.is_contested(1, 4096 + 300));
        lines.contested()
    }

    #[test]
    fn what_two_blocks_only_read_or_only_use_atomically_is_not_contested() {
        let strong = |scope| How { writes: true, strong: Some(scope) };
        assert!(!contested(&[(0, How::READ), (1, How::READ), (0, How::READ)]));
        assert!(!contested(&[(0, How::WRITE), (0, How::READ), (0, strong(Scope::Block))]));
        assert!(!contested(&[(0, strong(Scope::Device)), (1, strong(Scope::System))]));
        assert!(contested(&[(0, How::WRITE), (1, How::READ)]));
        assert!(contested(&[(0, How::READ), (1, How::READ), (2, How::WRITE)]));
        assert!(contested(&[(0, How::WRITE), (1, How::WRITE)]));
        assert!(contested(&[(0, strong(Scope::Device)), (1, How::READ)]));
        assert!(contested(&[(0, strong(Scope::Block)), (1, strong(Scope::Block))]));
        assert!(contested(&[(0, How::READ), (0, How::WRITE), (1, How::READ)]));
    }

    #[test]
    fn atomics_of_two_sizes_are_contested() {
        let lines = Lines::new(&[(0, 0), (4096, 1024)]);
        let strong = How { writes: true, strong: Some(Scope::Device) };
        lines.touch(1, (4096, 4100), 4, 0, strong);
        lines.touch(1, (4096, 4104), 8, 1, strong);
        assert!(lines.contested());
    }
}
