//! Global memory: buffers of the host's launch, and the module's own variables.
//!
//! Between two buffers lies a gap that belongs to none, so that an access out of bounds is found even if it misses by
//! thousands of elements. Blocks run on several threads of this machine and may race; so words are accessed
//! atomically, without any order.

use std::sync::OnceLock;
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
    /// What each page held when the launch began, if it has been written since; empty where nobody asks for it.
    saved: Vec<OnceLock<Page>>,
}

/// Words of a page: so much is kept of a buffer that one word is written of.
const PAGE: usize = 4096;

/// What a page held.
#[derive(Debug)]
enum Page {
    /// The same in every word: mostly zero, of an output.
    Same(u32),
    Each(Box<[u32]>),
}

impl Page {
    fn of(words: &[AtomicU32]) -> Self {
        let value = |word: &AtomicU32| word.load(Ordering::Relaxed);
        let first = words.first().map_or(0, value);
        let differs =
            |words: &[AtomicU32]| words.iter().fold(0, |bits, word| bits | (value(word) ^ first)) != 0;
        // In parts: what differs mostly does so early.
        if words.chunks(64).any(differs) {
            return Self::Each(words.iter().map(value).collect());
        }
        Self::Same(first)
    }
}

impl Buffer {
    pub(crate) fn new(name: &'static str, address: u64, bytes: &[u8], element: u32, writable: bool) -> Self {
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        };
        let words = bytes.chunks(4).map(word).collect();
        Self { name, address, len: bytes.len() as u64, element, writable, words, saved: Vec::new() }
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
        self.save(at);
        self.words[at].store(value, Ordering::Relaxed);
    }

    /// 32 words from this one on, or from the last of them back.
    #[inline(always)]
    pub(crate) fn row(&self, at: usize, backwards: bool, row: &mut [u32; 32]) {
        let Some(words) = self.words[at..].first_chunk::<32>() else { return };
        if backwards {
            row.iter_mut().zip(words.iter().rev()).for_each(|(to, word)| *to = word.load(Ordering::Relaxed));
        } else {
            row.iter_mut().zip(words).for_each(|(to, word)| *to = word.load(Ordering::Relaxed));
        }
    }

    #[inline(always)]
    pub(crate) fn set_row(&self, at: usize, backwards: bool, row: &[u32; 32]) {
        let Some(words) = self.words[at..].first_chunk::<32>() else { return };
        self.save(at);
        self.save(at + 31);
        if backwards {
            words.iter().rev().zip(row).for_each(|(word, &value)| word.store(value, Ordering::Relaxed));
        } else {
            words.iter().zip(row).for_each(|(word, &value)| word.store(value, Ordering::Relaxed));
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
                self.save(at);
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

    /// Keeps what the page of this word holds, before the first write of the launch to it. Whoever writes there waits
    /// until that is done.
    #[inline(always)]
    fn save(&self, at: usize) {
        if let Some(page) = self.saved.get(at / PAGE)
            && page.get().is_none()
        {
            self.save_page(at / PAGE, page);
        }
    }

    #[cold]
    fn save_page(&self, number: usize, page: &OnceLock<Page>) {
        let from = number * PAGE;
        page.get_or_init(|| Page::of(&self.words[from..self.words.len().min(from + PAGE)]));
    }

    fn restore(&self) {
        for (words, page) in self.words.chunks(PAGE).zip(&self.saved) {
            match page.get() {
                Some(Page::Same(value)) => {
                    words.iter().for_each(|word| word.store(*value, Ordering::Relaxed))
                }
                Some(Page::Each(values)) => {
                    words.iter().zip(values).for_each(|(word, &value)| word.store(value, Ordering::Relaxed));
                }
                None => {}
            }
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

    /// From here on, what is written over is kept.
    pub(crate) fn begin_saving(&mut self) {
        for buffer in self.buffers.iter_mut().filter(|buffer| buffer.writable) {
            buffer.saved = (0..buffer.words.len().div_ceil(PAGE)).map(|_| OnceLock::new()).collect();
        }
    }

    pub(crate) fn end_saving(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| buffer.saved = Vec::new());
    }

    /// Everything holds again what it did when saving began.
    pub(crate) fn restore(&self) {
        self.buffers.iter().for_each(Buffer::restore);
    }
}
