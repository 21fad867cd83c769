//! Global memory: buffers of the host's launch, and the module's own variables.
//!
//! Between two buffers lies a gap that belongs to none, so that an access out of bounds is found even if it misses by
//! thousands of elements. Blocks run on several threads of this machine and may race; so words are accessed
//! atomically, without any order.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::address::{BUFFER_GAP, BUFFERS};

/// A pointer to a buffer, for a kernel's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DevicePointer(pub u64);

/// Memory that a kernel can address.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) name: &'static str,
    pub(crate) address: u64,
    /// In bytes.
    pub(crate) len: u64,
    /// Of an element, in bytes: how reports count.
    pub(crate) element: u32,
    pub(crate) writable: bool,
    words: Vec<AtomicU32>,
}

impl Buffer {
    pub(crate) fn new(name: &'static str, address: u64, bytes: &[u8], element: u32, writable: bool) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        };
        let words = bytes.chunks(4).map(word).collect();
        Self { name, address, len: bytes.len() as u64, element, writable, words }
    }

    /// Do these bytes lie in the buffer?
    #[inline]
    pub(crate) fn holds(&self, address: u64, size: u64) -> bool {
        address
            .checked_sub(self.address)
            .and_then(|at| at.checked_add(size))
            .is_some_and(|end| end <= self.len)
    }

    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> u32 {
        self.words[at].load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn set_word(&self, at: usize, value: u32) {
        self.words[at].store(value, Ordering::Relaxed);
    }

    /// 32 words from this one on.
    #[inline(always)]
    pub(crate) fn row(&self, at: usize) -> [u32; 32] {
        match self.words[at..].first_chunk::<32>() {
            Some(words) => std::array::from_fn(|lane| words[lane].load(Ordering::Relaxed)),
            None => [0; 32],
        }
    }

    #[inline(always)]
    pub(crate) fn set_row(&self, at: usize, row: &[u32; 32]) {
        if let Some(words) = self.words[at..].first_chunk::<32>() {
            for (word, &value) in words.iter().zip(row) {
                word.store(value, Ordering::Relaxed);
            }
        }
    }

    /// So many bytes at this offset, a multiple of their number; at most 8.
    #[inline]
    pub(crate) fn load(&self, offset: u64, size: u32) -> u64 {
        let at = (offset / 4) as usize;
        match size {
            8 => u64::from(self.word(at)) | u64::from(self.word(at + 1)) << 32,
            4 => u64::from(self.word(at)),
            _ => u64::from(self.word(at)) >> (8 * (offset % 4)) & ((1 << (8 * size)) - 1),
        }
    }

    #[inline]
    pub(crate) fn store(&self, offset: u64, size: u32, value: u64) {
        let at = (offset / 4) as usize;
        match size {
            8 => {
                self.set_word(at, value as u32);
                self.set_word(at + 1, (value >> 32) as u32);
            }
            4 => self.set_word(at, value as u32),
            _ => {
                let shift = 8 * (offset % 4);
                let mask = ((1_u32 << (8 * size)) - 1) << shift;
                let set = |old: u32| Some(old & !mask | (value as u32) << shift & mask);
                // It always gives a new value, so it cannot fail.
                let _ = self.words[at].fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
            }
        }
    }

    /// Replaces a value by what the function makes of it, and returns the old one. Launches with atomics run on one
    /// thread of this machine, so that nothing comes between.
    pub(crate) fn update(&self, offset: u64, size: u32, function: impl Fn(u64) -> u64) -> u64 {
        let old = self.load(offset, size);
        self.store(offset, size, function(old));
        old
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            self.words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        bytes.truncate(self.len as usize);
        bytes
    }

    fn copy(&self) -> Vec<u32> {
        self.words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    fn restore(&self, words: &[u32]) {
        for (word, &value) in self.words.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

/// The global memory of a launch: what `cudaMalloc` and `cudaMemcpy` would have made.
#[derive(Debug, Default)]
pub struct Memory {
    pub(crate) buffers: Vec<Buffer>,
}

impl Memory {
    /// No buffers yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A buffer with these contents. Reports call it `name` and count elements of so many bytes.
    pub fn alloc(&mut self, name: &str, bytes: &[u8], element: u32) -> DevicePointer {
        let last = self.buffers.iter().map(|buffer| buffer.address + buffer.len).max();
        let address = last.map_or(BUFFERS, |end| (end + BUFFER_GAP).next_multiple_of(4096));
        self.buffers.push(Buffer::new(race::intern(name), address, bytes, element.max(1), true));
        DevicePointer(address)
    }

    /// What a buffer holds now.
    #[must_use]
    pub fn read(&self, pointer: DevicePointer) -> Option<Vec<u8>> {
        self.buffers.iter().find(|buffer| buffer.address == pointer.0).map(Buffer::bytes)
    }

    /// What everything that can be written holds now.
    pub(crate) fn snapshot(&self) -> Vec<Vec<u32>> {
        self.buffers.iter().map(Buffer::copy).collect()
    }

    pub(crate) fn restore(&self, snapshot: &[Vec<u32>]) {
        self.buffers.iter().zip(snapshot).for_each(|(buffer, words)| buffer.restore(words));
    }
}
