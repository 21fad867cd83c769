//! Global memory: the buffers of a launch, and the pointers and slices into them that a kernel gets.
//!
//! `#[kernel]` rebinds each `*mut T` and `*const T` parameter to a [`GlobalPtr`] and each `&[T]` to a
//! [`GlobalSlice`], which have the methods of what they stand for. An access outside the buffer is
//! found before it is made.

use std::ops::{Deref, DerefMut};
use std::ptr;

use super::block::{Stepped, fault, step, with};
use super::findings::Memory;
use super::nest::NestId;
use super::order::{Access, Shadow};
use super::report::{FaultKind, Hazard, Kind, Level, Party, Place, Space};
use super::site::Site;
use super::value::CellValue;

/// A buffer that kernels of a launch may write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) name: &'static str,
    pub(crate) base: usize,
    pub(crate) len: usize,
    pub(crate) size: usize,
}

impl Buffer {
    fn contains(&self, address: usize) -> bool {
        (self.base..self.end()).contains(&address)
    }

    /// One past the last byte: a pointer that a kernel may hold.
    fn end(&self) -> usize {
        self.base + self.len * self.size
    }
}

/// A pointer into global memory, in a kernel: `*mut T` with its methods, each access checked.
#[derive(Clone, Copy, Debug)]
pub struct GlobalPtr<T> {
    at: *mut T,
    /// The buffer that the kernel's argument pointed into.
    buffer: Option<(usize, Buffer)>,
}

impl<T: CellValue> GlobalPtr<T> {
    /// What `#[kernel]` makes of a pointer argument.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn bind(at: *mut T) -> Self {
        let buffer = with(|block| {
            let buffers = &block.global.buffers;
            let find = |is: fn(&Buffer, usize) -> bool| buffers.iter().position(|b| is(b, at as usize));
            // The end of one buffer may be the start of the next.
            find(Buffer::contains)
                .or_else(|| find(|buffer, address| buffer.end() == address))
                .map(|number| (number, buffers[number]))
        });
        Self { at, buffer }
    }

    /// The pointer `count` elements on. As with `*mut T`, only an access outside the buffer is an error.
    ///
    /// # Safety
    ///
    /// As for the pointer's own method; the emulator checks the access instead.
    #[must_use]
    #[inline]
    pub unsafe fn add(self, count: usize) -> Self {
        self.wrapping_add(count)
    }

    /// The pointer `count` elements back.
    ///
    /// # Safety
    ///
    /// As for [`add`](Self::add).
    #[must_use]
    #[inline]
    pub unsafe fn sub(self, count: usize) -> Self {
        self.wrapping_sub(count)
    }

    /// The pointer `count` elements on, or back if negative.
    ///
    /// # Safety
    ///
    /// As for [`add`](Self::add).
    #[must_use]
    #[inline]
    pub unsafe fn offset(self, count: isize) -> Self {
        Self { at: self.at.wrapping_offset(count), ..self }
    }

    /// The pointer `count` elements on.
    #[must_use]
    #[inline]
    pub fn wrapping_add(self, count: usize) -> Self {
        Self { at: self.at.wrapping_add(count), ..self }
    }

    /// The pointer `count` elements back.
    #[must_use]
    #[inline]
    pub fn wrapping_sub(self, count: usize) -> Self {
        Self { at: self.at.wrapping_sub(count), ..self }
    }

    /// Whether this is the null pointer.
    #[must_use]
    #[inline]
    pub fn is_null(self) -> bool {
        self.at.is_null()
    }

    /// Reads the element.
    ///
    /// # Safety
    ///
    /// As for the pointer's own method; the emulator checks it.
    #[must_use]
    #[inline]
    #[track_caller]
    pub unsafe fn read(self) -> T {
        let at = self.access(false, None, Site::here());
        // SAFETY: `access` found `at` inside a buffer of this launch.
        unsafe { T::load(at) }
    }

    /// Writes the element.
    ///
    /// # Safety
    ///
    /// As for the pointer's own method; the emulator checks it.
    #[inline]
    #[track_caller]
    pub unsafe fn write(self, value: T) {
        let at = self.access(true, Some(value), Site::here());
        // SAFETY: as in `read`.
        unsafe { T::store(at, value) }
    }

    /// Checks and records an access, and returns the address to make it at.
    #[inline]
    fn access(self, writes: bool, value: Option<T>, site: Site) -> *mut T {
        let Some((number, buffer)) = self.buffer else { fault(FaultKind::UnknownPointer, site) };
        let offset = (self.at as usize).wrapping_sub(buffer.base);
        let index = offset / size_of::<T>();
        if index >= buffer.len || offset % size_of::<T>() != 0 || size_of::<T>() != buffer.size {
            self.outside(buffer, site);
        }
        step(if writes { Stepped::GlobalWrite } else { Stepped::GlobalRead });
        with(|block| {
            if block.checks {
                // SAFETY: `at` is element `index` of a buffer of this launch, and holds a `T`.
                let bits = || unsafe { T::load(self.at) }.bits();
                let what = match (writes, value) {
                    (false, _) => Touch::Read,
                    (true, Some(value)) => Touch::Write { value: value.bits(), old: bits() },
                    (true, None) => Touch::Reference(Reference::new(self.at, bits())),
                };
                block.global_access(number, index, what, site);
                if let Some(trace) = &mut block.findings.trace {
                    trace.value_follows(self.at.expose_provenance(), show::<T>);
                }
            }
        });
        self.at
    }

    #[cold]
    fn outside(self, buffer: Buffer, site: Site) -> ! {
        let bytes = (self.at as i64).wrapping_sub(buffer.base as i64);
        let index = bytes.div_euclid(buffer.size as i64);
        fault(FaultKind::OutOfBounds { name: buffer.name, index, len: buffer.len as u64 }, site)
    }
}

/// The element at an address, for a trace.
fn show<T: CellValue>(at: usize) -> String {
    // SAFETY: `access` found the address inside a buffer of this launch, which is still running.
    unsafe { T::load(ptr::with_exposed_provenance_mut(at)) }.to_string()
}

/// What an access does to an element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Touch {
    Read,
    Write { value: u64, old: u64 },
    Reference(Reference),
}

/// A reference to write through. The kernel stores right after it got this, before anything else that the
/// emulator sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    pub(crate) old: u64,
    at: usize,
    load: fn(usize) -> u64,
}

impl Reference {
    fn new<T: CellValue>(at: *mut T, old: u64) -> Self {
        // SAFETY: `value` calls this with the address of an element of type `T`, while its launch runs.
        let load = |at| unsafe { T::load(ptr::with_exposed_provenance_mut(at)) }.bits();
        Self { old, at: at.expose_provenance(), load }
    }

    /// What the element holds now.
    pub(crate) fn value(&self) -> u64 {
        (self.load)(self.at)
    }
}

impl<T: CellValue> Deref for GlobalPtr<T> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        let at = self.access(false, None, Site::here());
        // SAFETY: `at` lies inside a buffer of this launch. That nobody writes the element while the
        // reference lives is the kernel's own promise, made by dereferencing a raw pointer; where it
        // does not hold, the access just recorded is reported.
        unsafe { &*at }
    }
}

impl<T: CellValue> DerefMut for GlobalPtr<T> {
    #[inline]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        let at = self.access(true, None, Site::here());
        // SAFETY: as in `deref`.
        unsafe { &mut *at }
    }
}

/// A slice argument, in a kernel: the slice, with unchecked accesses checked.
#[derive(Clone, Copy, Debug)]
pub struct GlobalSlice<'a, T>(&'a [T]);

impl<'a, T> GlobalSlice<'a, T> {
    /// What `#[kernel]` makes of a slice argument.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn bind(slice: &'a [T]) -> Self {
        Self(slice)
    }

    /// The element at `index`.
    ///
    /// # Safety
    ///
    /// As for the slice's own method; the emulator checks it.
    #[must_use]
    #[inline]
    #[track_caller]
    pub unsafe fn get_unchecked(&self, index: usize) -> &'a T {
        match self.0.get(index) {
            Some(element) => element,
            None => {
                let what = FaultKind::OutOfBounds {
                    name: "a slice argument",
                    index: index as i64,
                    len: self.0.len() as u64,
                };
                fault(what, Site::here())
            }
        }
    }
}

impl<T> Deref for GlobalSlice<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0
    }
}

/// Consecutive elements that one block accessed from one line, by consecutive threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    buffer: usize,
    start: usize,
    len: usize,
    block: u64,
    by: Access,
    writes: bool,
    values: Values,
}

/// What a run wrote, as far as it takes to tell whether another run wrote the same. Nothing for reads.
#[derive(Clone, Copy, Debug, Default)]
struct Values {
    /// The value, if all elements got the same.
    single: Option<u64>,
    /// A sum over the elements and their values, if each got one value only.
    digest: Option<u64>,
}

impl Values {
    fn one(index: usize, value: u64) -> Self {
        let mixed = (value ^ (index as u64).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { single: Some(value), digest: Some(mixed ^ (mixed >> 29)) }
    }

    /// Of other elements.
    fn extend(&mut self, more: Self) {
        self.single = self.single.filter(|_| self.single == more.single);
        self.digest = self.digest.zip(more.digest).map(|(a, b)| a.wrapping_add(b));
    }
}

impl Run {
    /// Takes in a run that goes on where this one ends.
    fn extend(&mut self, next: &Self) {
        self.len += next.len;
        self.values.extend(next.values);
    }

    /// Takes in a run over elements of this one, from the same line.
    fn repeat(&mut self, again: &Self) {
        if !self.same_values(again) {
            self.values = Values::default();
        }
    }

    /// Both wrote the same to every element that they share.
    fn same_values(&self, other: &Self) -> bool {
        let (a, b) = (self.values, other.values);
        let single = a.single.is_some() && a.single == b.single;
        let same_elements = (self.start, self.len) == (other.start, other.len);
        single || (same_elements && a.digest.is_some() && a.digest == b.digest)
    }

    fn goes_on_with(&self, next: &Self) -> bool {
        self.buffer == next.buffer
            && self.writes == next.writes
            && self.start + self.len == next.start
            && usize::from(self.by.thread) + self.len == usize::from(next.by.thread)
            && self.by.site == next.by.site
    }

    fn end(&self) -> usize {
        self.start + self.len
    }
}

/// The elements that the running block has touched, numbered in that order: a hash table that is
/// emptied by counting on.
#[derive(Debug)]
struct Touched {
    /// A power of two of them.
    entries: Vec<Entry>,
    stamp: u32,
    count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    buffer: u32,
    /// Equal to the table's, or the entry is empty.
    stamp: u32,
    index: usize,
    number: usize,
}

impl Touched {
    fn new() -> Self {
        Self { entries: vec![Entry::default(); 1024], stamp: 0, count: 0 }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.entries.fill(Entry::default());
            self.stamp = 1;
        }
    }

    /// The element's number; a new one counts up.
    #[inline]
    fn number(&mut self, buffer: usize, index: usize) -> usize {
        let place = self.place(buffer, index);
        let entry = &mut self.entries[place];
        if entry.stamp == self.stamp {
            return entry.number;
        }
        let number = self.count;
        *entry = Entry { buffer: buffer as u32, stamp: self.stamp, index, number };
        self.count += 1;
        if self.count * 2 > self.entries.len() {
            self.grow();
        }
        number
    }

    /// Where the element stands, or the empty entry where it belongs. Neighbours stand side by side.
    #[inline]
    fn place(&self, buffer: usize, index: usize) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = index.wrapping_add(buffer << 9) & mask;
        loop {
            let entry = &self.entries[place];
            if entry.stamp != self.stamp || (entry.index == index && entry.buffer as usize == buffer) {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Entry::default(); self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, larger) {
            if entry.stamp == self.stamp {
                let place = self.place(entry.buffer as usize, entry.index);
                self.entries[place] = entry;
            }
        }
    }
}

/// The global memory that the running block has touched, and what the worker's earlier blocks did.
pub(crate) struct Global {
    pub(crate) buffers: Vec<Buffer>,
    touched: Touched,
    /// One cell for each element touched.
    shadow: Shadow,
    /// The running block's first access of each kind to each element.
    block: Vec<Run>,
    runs: Vec<Run>,
}

impl Global {
    pub(crate) fn new(buffers: Vec<Buffer>) -> Self {
        Self { buffers, touched: Touched::new(), shadow: Shadow::new(0), block: Vec::new(), runs: Vec::new() }
    }

    pub(crate) fn begin_block(&mut self) {
        self.touched.clear();
        self.shadow.begin_block();
        self.block.clear();
    }

    pub(crate) fn forget_all(&mut self) {
        self.shadow = Shadow::new(0);
    }

    pub(crate) fn place(&self, buffer: usize, index: usize) -> Place {
        let Buffer { name, size, .. } = self.buffers[buffer];
        Memory { space: Space::Global, name, size: size as u32 }.place(index as u64)
    }

    pub(crate) fn shadow(&mut self) -> &mut Shadow {
        &mut self.shadow
    }

    /// The shadow cell of an element.
    #[inline]
    pub(crate) fn touch(&mut self, buffer: usize, index: usize) -> (Memory, usize) {
        let fresh = self.touched.count;
        let slot = self.touched.number(buffer, index);
        if slot == fresh {
            if slot == self.shadow.len() {
                self.shadow.resize((slot + 1).next_power_of_two());
            }
            self.shadow.forget(slot);
        }
        let Buffer { name, size, .. } = self.buffers[buffer];
        (Memory { space: Space::Global, name, size: size as u32 }, slot)
    }

    /// Remembers an access, a write with its value, for the comparison with other blocks.
    #[inline]
    pub(crate) fn remember(&mut self, buffer: usize, index: usize, by: Access, value: Option<u64>) {
        let values = value.map_or_else(Values::default, |value| Values::one(index, value));
        let next = Run { buffer, start: index, len: 1, block: 0, by, writes: value.is_some(), values };
        match self.block.last_mut() {
            Some(last) if last.goes_on_with(&next) => last.extend(&next),
            _ => self.block.push(next),
        }
    }

    /// Sums up what the block did for the comparison with other blocks.
    pub(crate) fn end_block(&mut self, linear: u64) {
        if self.block.len() > 1 {
            self.block
                .sort_unstable_by_key(|run| (run.buffer, run.writes, run.start, run.by.site.position()));
        }
        for run in self.block.drain(..) {
            let run =
                Run { block: linear, by: Access::new(run.by.site, NestId::ROOT, 0, run.by.thread), ..run };
            match self.runs.last_mut() {
                Some(last) if last.block == linear && last.goes_on_with(&run) => last.extend(&run),
                Some(last)
                    if last.block == linear
                        && (last.buffer, last.writes, last.by.site)
                            == (run.buffer, run.writes, run.by.site)
                        && run.start >= last.start
                        && run.end() <= last.end() =>
                {
                    last.repeat(&run);
                }
                _ => self.runs.push(run),
            }
        }
    }

    pub(crate) fn into_runs(self) -> Vec<Run> {
        self.runs
    }
}

/// Accesses of two blocks of one launch to one element: no barrier orders them.
pub(crate) fn across_blocks(mut runs: Vec<Run>, buffers: &[Buffer]) -> Vec<Hazard> {
    runs.sort_unstable_by_key(|run| (run.buffer, run.start, run.block, run.writes, run.by.site.position()));
    let mut hazards: Vec<Hazard> = Vec::new();
    // Runs that reach beyond the start of the one at hand.
    let mut open: Vec<Run> = Vec::new();
    for run in runs {
        open.retain(|old| old.buffer == run.buffer && old.end() > run.start);
        let mut counted = false;
        for old in &open {
            if old.block == run.block || !(old.writes || run.writes) {
                continue;
            }
            let (a, b) = if old.block < run.block { (old, &run) } else { (&run, old) };
            let both = old.writes && run.writes;
            let bytes = (old.end().min(run.end()) - run.start) * buffers[run.buffer].size;
            add(
                &mut hazards,
                &buffers[run.buffer],
                run.start,
                (a, b),
                if both && counted { 0 } else { bytes as u64 },
            );
            counted |= both;
        }
        // Of runs over the same elements from the same line the first and the last speak for all (they are of
        // two blocks): this keeps the comparison short where every block writes the same cell.
        let alike = |old: &&mut Run| {
            (old.start, old.len, old.writes, old.by.site) == (run.start, run.len, run.writes, run.by.site)
        };
        match open.iter_mut().filter(alike).nth(1) {
            Some(last) => {
                let before = std::mem::replace(last, run);
                last.repeat(&before);
            }
            None => open.push(run),
        }
    }
    hazards
}

fn add(hazards: &mut Vec<Hazard>, buffer: &Buffer, index: usize, (a, b): (&Run, &Run), bytes: u64) {
    let party = |run: &Run| Party {
        thread: (usize::from(run.by.thread) + index - run.start) as u32,
        block: run.block,
        trips: Vec::new(),
        site: run.by.site,
        writes: run.writes,
    };
    let (a, b) = if b.by.site.position() < a.by.site.position() { (b, a) } else { (a, b) };
    let kind = match (a.writes, b.writes) {
        (true, false) => Kind::Raw,
        (false, _) => Kind::War,
        (true, true) => Kind::Waw,
    };
    let level = if kind == Kind::Waw && a.same_values(b) { Level::Info } else { Level::Error };
    let known = hazards.iter_mut().find(|hazard| {
        (hazard.kind, hazard.level) == (kind, level)
            && (hazard.first.site, hazard.second.site) == (a.by.site, b.by.site)
            && ptr::eq(hazard.place.name, buffer.name)
    });
    if let Some(hazard) = known {
        hazard.bytes += bytes;
        return;
    }
    let memory = Memory { space: Space::Global, name: buffer.name, size: buffer.size as u32 };
    hazards.push(Hazard {
        kind,
        level,
        bytes,
        place: memory.place(index as u64),
        first: party(a),
        second: party(b),
        exited_above: None,
    });
}
