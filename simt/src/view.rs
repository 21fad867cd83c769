//! The program as the judge sees it: places in the source, control paths, names of arrays and buffers.

use std::cmp::Ordering;

use race::judge::At;
use race::{Place, Site, Space};

use crate::address::{Window, base, window};
use crate::code::Program;
use crate::memory::Buffer;
use crate::paths::Paths;

/// A program with what is known of the running launch.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) program: &'a Program,
    pub(crate) sites: &'a [Site],
    pub(crate) paths: &'a Paths,
    pub(crate) buffers: &'a [Buffer],
}

impl View<'_> {
    /// The element at a generic address.
    pub(crate) fn element(&self, address: u64, size: u32) -> Place {
        if window(address) == Window::Shared {
            let offset = (address - base(Window::Shared)) as u32;
            let array = self.program.arrays.iter().rev().find(|array| {
                array.offset <= offset && (array.size == 0 || offset < array.offset + array.size)
            });
            let (name, start) = array.map_or(("shared memory", 0), |array| (array.name, array.offset));
            let index = u64::from((offset - start) / size.max(1));
            return Place { space: Space::Shared, name, index, size };
        }
        match self.buffers.iter().find(|buffer| buffer.holds(address, 1)) {
            Some(buffer) => {
                let size = if buffer.element > 1 { buffer.element.min(size.max(1)) } else { size.max(1) };
                let index = (address - buffer.address) / u64::from(size);
                Place { space: Space::Global, name: buffer.name, index, size }
            }
            None => Place { space: Space::Global, name: "global memory", index: address, size },
        }
    }
}

impl race::judge::Program for View<'_> {
    fn order(&self, a: At, b: At) -> Ordering {
        self.paths.order(self.program, (a.instruction, a.path), (b.instruction, b.path))
    }

    fn site(&self, instruction: u32) -> Site {
        self.sites[instruction as usize]
    }

    fn trips(&self, path: u32) -> Vec<u32> {
        self.paths.trips(path)
    }

    fn place(&self, address: u64, size: u32) -> Place {
        self.element(address, size)
    }
}
