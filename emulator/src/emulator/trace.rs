//! What goes into the trace of a block, if one is recorded.
//!
//! A launch records a trace only if it is asked to ([`Launch::trace`](super::Launch::trace)). Where it
//! is not, each place that could record one asks once whether there is a recorder.

use race::schedule::threads;
use race::{Place, Site, What};

use super::block::Block;
use super::value::CellValue;

impl Block {
    /// Records an access by the running thread, before anything is said about its conflicts.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_access<T: CellValue>(
        &mut self,
        site: Site,
        writes: bool,
        place: Place,
        value: Option<T>,
    ) {
        let by = self.access(site, writes);
        let Some(trace) = &mut self.findings.trace else { return };
        let value = value.map(|value| value.to_string());
        trace.access(by, place, value, self.nests.trips(by.nest()));
    }

    /// Records that the block barrier lets those go who wait at it.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_release(&mut self, site: Site) {
        let Some(trace) = &mut self.findings.trace else { return };
        let warps = self.warps.iter().enumerate();
        let participants = warps.flat_map(|(number, warp)| threads(number, warp.at_barrier)).map(u32::from);
        let what = What::Release { participants: participants.collect(), orders: self.judging };
        trace.push(self.current, site, what);
    }
}
