//! Shared memory: what `#[address_space(shared)]` makes of a `static mut` array.
//!
//! The static itself holds no values. Its cells are [`Slot`]s whose *addresses* name the cells of the
//! block's own array, which every block gets afresh. A copy of a slot has another address, so that a
//! write to a copy can be told from a write to the cell. Slots are only ever reached by shared
//! references and never written, so that threads of several blocks may name the same slot at once.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Index;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use race::limits::MAX_STATIC_SHARED;
use race::order::{Clock, Clocks, Row, Shadow};
use race::{FaultKind, Memory, Site, Space};

use super::accesses::access;
use super::block::{fault, with};
use super::judging::EarlyReadId;
use super::value::{CellValue, bits_at};

/// A shared array: what the `static mut` becomes.
#[doc(hidden)]
pub struct SharedStatic<A: 'static> {
    name: &'static str,
    known: AtomicBool,
    array: A,
}

/// An array of slots, or of arrays of slots.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Array<E, const N: usize>([E; N]);

/// One cell of a shared array, with the methods of `MaybeUninit` that can be tracked.
#[doc(hidden)]
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Slot<T: Copy>(MaybeUninit<T>);

/// What a shared array is made of.
#[doc(hidden)]
pub trait Cells: Copy {
    type Value: CellValue;
    const EMPTY: Self;
    const COUNT: usize;
}

impl<T: CellValue> Cells for Slot<T> {
    type Value = T;
    const EMPTY: Self = Self(MaybeUninit::uninit());
    const COUNT: usize = 1;
}

impl<E: Cells, const N: usize> Cells for Array<E, N> {
    type Value = E::Value;
    const EMPTY: Self = Self([E::EMPTY; N]);
    const COUNT: usize = N * E::COUNT;
}

impl<A: Cells> SharedStatic<A> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, known: AtomicBool::new(false), array: A::EMPTY }
    }

    /// Tells the emulator where this array lies, once in the life of the program.
    #[cold]
    fn register(&self) {
        let mut known = known_arrays();
        if !self.known.swap(true, Ordering::AcqRel) {
            known.push(KnownArray {
                name: self.name,
                base: &raw const self.array as usize,
                cells: A::COUNT,
                size: size_of::<A::Value>(),
            });
        }
    }
}

/// An index into a shared array.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a shared array cannot be indexed by `{Self}`",
    label = "not a `usize`",
    note = "the emulator tracks single cells: write `TILE[i]`, not a slice or a range of the array"
)]
pub trait CellIndex {
    fn get(self) -> usize;
}

impl CellIndex for usize {
    #[inline]
    fn get(self) -> usize {
        self
    }
}

impl<E: Cells, const N: usize, I: CellIndex> Index<I> for SharedStatic<Array<E, N>> {
    type Output = E;

    #[inline]
    #[track_caller]
    fn index(&self, index: I) -> &E {
        if !self.known.load(Ordering::Relaxed) {
            self.register();
        }
        let index = index.get();
        match self.array.0.get(index) {
            Some(cell) => cell,
            None => outside(self.name, index, N),
        }
    }
}

impl<E: Cells, const N: usize, I: CellIndex> Index<I> for Array<E, N> {
    type Output = E;

    #[inline]
    #[track_caller]
    fn index(&self, index: I) -> &E {
        let index = index.get();
        match self.0.get(index) {
            Some(cell) => cell,
            None => {
                let base = &raw const self.0 as usize;
                let row = with(|block| {
                    let (array, _) = block.shared.locate::<u8>(base)?;
                    Some(block.shared.array(array).memory())
                });
                outside(row.map_or("an array", |memory| memory.name), index, N)
            }
        }
    }
}

#[cold]
#[track_caller]
fn outside(name: &'static str, index: usize, len: usize) -> ! {
    let index = i64::try_from(index).unwrap_or(i64::MAX);
    fault(FaultKind::OutOfBounds { name, index, len: len as u64 }, Site::here())
}

impl<T: CellValue> Slot<T> {
    /// Writes the cell.
    #[inline(always)]
    #[track_caller]
    pub fn write(&self, value: T) {
        let site = Site::here();
        let address = &raw const *self as usize;
        access(site, |block| ((), block.slot_write(address, value, site)));
    }

    /// Reads the cell, which must have been written.
    ///
    /// # Safety
    ///
    /// As on a GPU: reading a cell that nothing has written is undefined. The emulator reports it.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn assume_init(&self) -> T {
        let site = Site::here();
        let address = &raw const *self as usize;
        access(site, |block| block.slot_read(address, site))
    }

    /// Reads the cell; the same as [`assume_init`](Self::assume_init) for the types a cell may hold.
    ///
    /// # Safety
    ///
    /// As for [`assume_init`](Self::assume_init).
    #[inline]
    #[track_caller]
    #[must_use]
    pub unsafe fn assume_init_read(&self) -> T {
        // SAFETY: the same contract.
        unsafe { self.assume_init() }
    }
}

/// The methods of `MaybeUninit` that hand out pointers and references do not compile.
impl<T: CellValue> Slot<T> {
    #[doc(hidden)]
    pub fn as_ptr(&self) -> *const T
    where
        Self: Escapes,
    {
        unreachable!()
    }

    #[doc(hidden)]
    pub fn as_mut_ptr(&self) -> *mut T
    where
        Self: Escapes,
    {
        unreachable!()
    }

    #[doc(hidden)]
    pub fn assume_init_ref(&self) -> &T
    where
        Self: Escapes,
    {
        unreachable!()
    }

    #[doc(hidden)]
    pub fn assume_init_mut(&self) -> &mut T
    where
        Self: Escapes,
    {
        unreachable!()
    }
}

/// Implemented by nothing.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the emulator cannot follow a pointer or reference into shared memory",
    label = "would leave the emulator's sight",
    note = "write `TILE[i].write(value)` and `TILE[i].assume_init()` where the cell is used"
)]
pub trait Escapes {}

/// A shared array of the program, wherever it is used.
#[derive(Clone, Copy, Debug)]
struct KnownArray {
    name: &'static str,
    base: usize,
    cells: usize,
    size: usize,
}

fn known_arrays() -> std::sync::MutexGuard<'static, Vec<KnownArray>> {
    static KNOWN: Mutex<Vec<KnownArray>> = Mutex::new(Vec::new());
    KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// One array of the running kernel, with the values that the running block has put there.
#[derive(Debug)]
pub(crate) struct SharedArray {
    known: KnownArray,
    bytes: usize,
    values: Vec<u64>,
    pub(crate) shadow: Shadow,
    /// The first clock of the block that each cell was last written in.
    written: Vec<Clock>,
    /// Of each cell, the last read that came before any write of it in the running block.
    pub(crate) early_reads: Vec<Option<EarlyReadId>>,
}

impl SharedArray {
    fn new(known: KnownArray) -> Self {
        let bytes = known.cells * known.size;
        Self {
            known,
            bytes,
            values: vec![0; bytes.div_ceil(8)],
            shadow: Shadow::new(known.cells),
            written: vec![0; known.cells],
            early_reads: vec![None; known.cells],
        }
    }

    #[inline]
    pub(crate) fn memory(&self) -> Memory {
        Memory { space: Space::Shared, name: self.known.name, size: self.known.size as u32 }
    }

    pub(crate) fn len(&self) -> usize {
        self.known.cells
    }

    /// Was the cell written in the block that is running?
    #[inline]
    pub(crate) fn is_written(&self, clocks: &Clocks, index: usize) -> bool {
        self.written[index] == clocks.base()
    }

    #[inline]
    pub(crate) fn set_written_at(&mut self, clocks: &Clocks, index: usize) {
        self.written[index] = clocks.base();
    }

    /// All cells of the row have been written.
    pub(crate) fn set_written(&mut self, clocks: &Clocks, row: &Row) {
        if row.is_dense() {
            let (low, high) = row.span();
            self.written[low..=high].fill(clocks.base());
        } else {
            (0..row.lanes).for_each(|lane| self.set_written_at(clocks, row.cell(lane)));
        }
    }

    /// The bits of the value that a cell holds.
    pub(crate) fn bits(&self, index: usize) -> u64 {
        assert!(index < self.known.cells);
        let at = self.values.as_ptr().expose_provenance() + index * self.known.size;
        // SAFETY: as in `get`.
        unsafe { bits_at(at, self.known.size) }
    }

    #[inline]
    pub(crate) fn get<T: CellValue>(&self, index: usize) -> T {
        assert!(index < self.known.cells && size_of::<T>() == self.known.size);
        // SAFETY: the cell lies in `values`, whose length covers `cells` cells of this size and whose
        // alignment is that of the largest cell; all bytes are initialised.
        unsafe { self.values.as_ptr().cast::<T>().add(index).read() }
    }

    /// Writes a cell and returns what it held.
    #[inline]
    pub(crate) fn replace<T: CellValue>(&mut self, index: usize, value: T) -> T {
        assert!(index < self.known.cells && size_of::<T>() == self.known.size);
        // SAFETY: as in `get`.
        unsafe { self.values.as_mut_ptr().cast::<T>().add(index).replace(value) }
    }
}

/// The arrays that the running kernel has used.
#[derive(Debug, Default)]
pub(crate) struct SharedArrays {
    arrays: Vec<SharedArray>,
    _not_sync: PhantomData<*mut ()>,
}

impl SharedArrays {
    /// The number of the array that this address lies in, and which cell of it that is; `None` for a copy of a slot.
    #[inline]
    pub(crate) fn locate<T>(&self, address: usize) -> Option<(usize, usize)> {
        self.arrays.iter().enumerate().find_map(|(number, array)| {
            let offset = address.wrapping_sub(array.known.base);
            (offset < array.bytes).then_some((number, offset / size_of::<T>()))
        })
    }

    /// Takes in the array of the program that this address lies in; false if there is none. An error is the
    /// bytes of all arrays, if they are more than a block may have.
    #[cold]
    pub(crate) fn first_use(&mut self, address: usize) -> Result<bool, usize> {
        let around = |array: &&KnownArray| address.wrapping_sub(array.base) < array.cells * array.size;
        let Some(array) = known_arrays().iter().find(around).copied() else { return Ok(false) };
        let used: usize = self.arrays.iter().map(|array| array.bytes).sum();
        let bytes = used + array.cells * array.size;
        if bytes > MAX_STATIC_SHARED {
            return Err(bytes);
        }
        self.arrays.push(SharedArray::new(array));
        Ok(true)
    }

    #[inline]
    pub(crate) fn array(&mut self, number: usize) -> &mut SharedArray {
        &mut self.arrays[number]
    }

    pub(crate) fn begin_block(&mut self) {
        for array in &mut self.arrays {
            array.shadow.begin_block();
        }
    }

    /// Forgets every access.
    pub(crate) fn forget_all(&mut self) {
        for array in &mut self.arrays {
            array.shadow = Shadow::new(array.known.cells);
            array.written.fill(0);
        }
    }
}
