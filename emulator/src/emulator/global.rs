//! Global memory: the buffers of a launch, and the pointers and slices into them that a kernel gets.
//!
//! `#[kernel]` rebinds each `*mut T` and `*const T` parameter to a [`GlobalPtr`] and each `&[T]` to a
//! [`GlobalSlice`], which have the methods of what they stand for. An access outside the buffer is
//! found before it is made.

use std::ops::{Deref, DerefMut};
use std::ptr;

use race::grid::{Accesses, Detail};
use race::order::Shadow;
use race::{FaultKind, Memory, Site, Space};

use super::accesses::access;
use super::block::{fault, with};
use super::value::{CellValue, bits_at};

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

    /// What a report says of it.
    pub(crate) fn memory(&self) -> Memory {
        Memory { space: Space::Global, name: self.name, size: self.size as u32 }
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
    /// The number of the buffer that the kernel's argument pointed into; none has this number if it pointed
    /// into none.
    buffer: usize,
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
                .unwrap_or(buffers.len())
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
    #[inline(always)]
    #[track_caller]
    pub unsafe fn read(self) -> T {
        let at = self.access(false, Site::here());
        // SAFETY: `access` found `at` inside a buffer of this launch.
        unsafe { T::load(at) }
    }

    /// Writes the element.
    ///
    /// # Safety
    ///
    /// As for the pointer's own method; the emulator checks it.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn write(self, value: T) {
        let at = self.access(true, Site::here());
        // SAFETY: as in `read`.
        unsafe { T::store(at, value) }
    }

    /// Checks and records an access, and returns the address to make it at, before anything else that the
    /// emulator sees.
    #[inline(always)]
    fn access(self, writes: bool, site: Site) -> *mut T {
        access(site, |block| ((), block.global_access(self.buffer, self.at, writes, site)));
        self.at
    }
}

/// The element at an address, for a trace.
pub(crate) fn show<T: CellValue>(at: usize) -> String {
    // SAFETY: `access` found the address inside a buffer of this launch, which is still running.
    unsafe { T::load(ptr::with_exposed_provenance_mut(at)) }.to_string()
}

impl<T: CellValue> Deref for GlobalPtr<T> {
    type Target = T;

    #[inline(always)]
    #[track_caller]
    fn deref(&self) -> &T {
        let at = self.access(false, Site::here());
        // SAFETY: `at` lies inside a buffer of this launch. That nobody writes the element while the
        // reference lives is the kernel's own promise, made by dereferencing a raw pointer; where it
        // does not hold, the access just recorded is reported.
        unsafe { &*at }
    }
}

impl<T: CellValue> DerefMut for GlobalPtr<T> {
    #[inline(always)]
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        let at = self.access(true, Site::here());
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

/// Neighbours in a buffer, which are looked up as one.
const PAGE: usize = 32;

/// The pages that the running block has touched, numbered in that order: a hash table that is emptied by
/// counting on.
#[derive(Debug)]
struct Touched {
    /// A power of two of them.
    entries: Vec<Entry>,
    stamp: u32,
    count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Within its buffer.
    page: usize,
    /// The buffer, below the table's stamp; with another stamp the entry is empty.
    buffer: u64,
    number: usize,
}

impl Entry {
    fn is_of(&self, stamp: u32) -> bool {
        self.buffer >> 32 == u64::from(stamp)
    }
}

impl Touched {
    fn new() -> Self {
        Self { entries: vec![Entry::default(); 64], stamp: 0, count: 0 }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.entries.fill(Entry::default());
            self.stamp = 1;
        }
    }

    /// The page's number; a new one counts up.
    fn number(&mut self, buffer: usize, page: usize) -> usize {
        let buffer = u64::from(self.stamp) << 32 | buffer as u64;
        let place = self.place(buffer, page);
        if !self.entries[place].is_of(self.stamp) {
            self.entries[place] = Entry { page, buffer, number: self.count };
            self.count += 1;
            if self.count * 2 > self.entries.len() {
                self.grow();
                return self.count - 1;
            }
        }
        self.entries[place].number
    }

    /// Where the page stands, or the empty entry where it belongs. What lies apart by a power of two does not
    /// compete.
    fn place(&self, buffer: u64, page: usize) -> usize {
        let mask = self.entries.len() - 1;
        let mixed = (page as u64 ^ buffer << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let mut place = mixed as usize & mask;
        loop {
            let entry = &self.entries[place];
            if (entry.page == page && entry.buffer == buffer) || !entry.is_of(self.stamp) {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let larger = vec![Entry::default(); self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, larger) {
            if entry.is_of(self.stamp) {
                let place = self.place(entry.buffer, entry.page);
                self.entries[place] = entry;
            }
        }
    }
}

/// The global memory that the running block has touched.
pub(crate) struct Global {
    pub(crate) buffers: Vec<Buffer>,
    touched: Touched,
    /// One cell for each element of a page touched.
    pub(crate) shadow: Shadow,
    /// For the comparison with other blocks.
    pub(crate) grid: Accesses,
}

impl Global {
    pub(crate) fn new(buffers: Vec<Buffer>, detail: Detail) -> Self {
        Self { buffers, touched: Touched::new(), shadow: Shadow::new(0), grid: Accesses::new(detail) }
    }

    pub(crate) fn begin_block(&mut self) {
        self.touched.clear();
        self.shadow.begin_block();
    }

    pub(crate) fn forget_all(&mut self) {
        self.shadow = Shadow::new(0);
    }

    /// The element of the buffer that this pointer points to, if it points to one.
    #[inline]
    pub(crate) fn index_of<T>(&self, buffer: usize, at: *mut T) -> Option<usize> {
        let buffer = self.buffers.get(buffer)?;
        let offset = (at as usize).wrapping_sub(buffer.base);
        let index = offset / size_of::<T>();
        let inside = index < buffer.len && offset % size_of::<T>() == 0 && size_of::<T>() == buffer.size;
        inside.then_some(index)
    }

    /// What is wrong with an access at this address through a pointer into the buffer.
    #[cold]
    pub(crate) fn outside(&self, buffer: usize, address: usize) -> FaultKind {
        let Some(Buffer { name, base, len, size }) = self.buffers.get(buffer) else {
            return FaultKind::UnknownPointer;
        };
        let bytes = (address as i64).wrapping_sub(*base as i64);
        FaultKind::OutOfBounds { name, index: bytes.div_euclid(*size as i64), len: *len as u64 }
    }

    pub(crate) fn memory(&self, buffer: usize) -> Memory {
        self.buffers[buffer].memory()
    }

    /// What an element holds.
    pub(crate) fn bits(&self, buffer: usize, index: usize) -> u64 {
        let Buffer { base, len, size, .. } = self.buffers[buffer];
        assert!(index < len);
        // SAFETY: the element lies inside a buffer of this launch, which still runs.
        unsafe { bits_at(base + index * size, size) }
    }

    /// The shadow cell of an element. What it holds of another block's element is settled.
    pub(crate) fn touch(&mut self, buffer: usize, index: usize) -> usize {
        let slot = self.touched.number(buffer, index / PAGE) * PAGE + index % PAGE;
        if slot >= self.shadow.cells() {
            self.shadow.resize((self.touched.count * PAGE).next_power_of_two());
        }
        slot
    }
}
