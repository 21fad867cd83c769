//! Which bytes of the block's shared memory have been written.

/// One word for each four bytes: the number of the block that wrote them, above a bit for each byte.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    cells: Vec<u32>,
    block: u32,
}

const ALL: u32 = 0xf;

impl Stamps {
    /// A new block begins, with so many bytes of shared memory.
    pub(super) fn begin_block(&mut self, bytes: usize) {
        self.block += 16;
        if self.cells.len() < bytes.div_ceil(4) || self.block > u32::MAX - 32 {
            self.cells = vec![0; bytes.div_ceil(4)];
            self.block = 16;
        }
    }

    /// These bytes are written.
    #[inline]
    pub(super) fn write(&mut self, offset: u64, size: u32) {
        let first = (offset / 4) as usize;
        if size >= 4 {
            let last = first + size as usize / 4;
            if let Some(cells) = self.cells.get_mut(first..last) {
                cells.fill(self.block | ALL);
            }
            return;
        }
        if let Some(cell) = self.cells.get_mut(first) {
            let known = if *cell & !ALL == self.block { *cell } else { self.block };
            *cell = known | ((1 << size) - 1) << (offset % 4);
        }
    }

    /// Have all of these bytes been written?
    #[inline]
    pub(super) fn is_written(&self, offset: u64, size: u32) -> bool {
        let first = (offset / 4) as usize;
        if size >= 4 {
            let cells = self.cells.get(first..first + size as usize / 4).unwrap_or_default();
            return cells.iter().all(|&cell| cell == self.block | ALL);
        }
        let wanted = self.block | ((1 << size) - 1) << (offset % 4);
        self.cells.get(first).is_some_and(|&cell| cell & wanted == wanted && cell & !ALL == self.block)
    }

    /// Writes of so many bytes each, without a gap, of four bytes and more.
    #[inline(always)]
    pub(super) fn write_range(&mut self, from: u64, to: u64) {
        if let Some(cells) = self.cells.get_mut((from / 4) as usize..(to / 4) as usize) {
            cells.fill(self.block | ALL);
        }
    }

    /// Have all of these bytes been written? Of whole cells.
    #[inline(always)]
    pub(super) fn is_range_written(&self, from: u64, to: u64) -> bool {
        let cells = self.cells.get((from / 4) as usize..(to / 4) as usize).unwrap_or_default();
        let mut odd = 0;
        for &cell in cells {
            odd |= cell ^ (self.block | ALL);
        }
        odd == 0
    }
}
