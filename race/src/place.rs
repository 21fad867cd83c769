//! Cells of memory, and the arrays and buffers that they belong to.

/// Where a memory cell lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// The block's shared memory.
    Shared,
    /// A buffer in global memory.
    Global,
}

/// A cell of an array or buffer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Shared or global.
    pub space: Space,
    /// The array's name in the source, or the buffer's name.
    pub name: &'static str,
    /// The element, from 0; row-major in an array of arrays.
    pub index: u64,
    /// The element's size in bytes.
    pub size: u32,
}

/// An array in shared memory, or a buffer in global memory: where an access went, but for the index.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Shared or global.
    pub space: Space,
    /// The array's name in the source, or the buffer's name.
    pub name: &'static str,
    /// The size of an element in bytes.
    pub size: u32,
}

impl Memory {
    /// The element with this index, from 0.
    #[must_use]
    pub fn place(self, index: u64) -> Place {
        Place { space: self.space, name: self.name, index, size: self.size }
    }
}
