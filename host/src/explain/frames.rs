//! From a trace to frames: what a picture shows at once.
//!
//! The emulator runs the lanes of a warp one after the other. Hardware issues one instruction for all
//! of them, and that is what a reader wants to see. So the first things that the lanes did in one turn
//! of their warp make one frame, the second things the next one, and so on, as long as this does not
//! change what any cell held: two accesses to one cell never change their order.

use std::collections::HashMap;

use cuda_std::emulator::{BlockTrace, Event, Place, What};

/// The frame of each event of the trace, from 0, and how many frames there are.
#[must_use]
pub fn frames(trace: &BlockTrace) -> (Vec<u32>, u32) {
    let mut frames = Vec::with_capacity(trace.events.len());
    let mut next = 0;
    for turn in trace.events.chunk_by(|a, b| a.turn == b.turn) {
        next = turn_frames(turn, next, &mut frames);
    }
    (frames, next)
}

/// Lays out one turn from frame `start` on; returns the first frame behind it.
fn turn_frames(turn: &[Event], start: u32, frames: &mut Vec<u32>) -> u32 {
    let mut end = start;
    let mut lanes: HashMap<u32, u32> = HashMap::new();
    let mut cells: HashMap<&Place, u32> = HashMap::new();
    for event in turn {
        let after_own = lanes.get(&event.thread).map_or(start, |last| last + 1);
        let frame = match &event.what {
            What::Access { place, .. } => {
                let frame = after_own.max(cells.get(place).copied().unwrap_or(start));
                cells.insert(place, frame);
                frame
            }
            // Everybody who waits has arrived.
            What::Release { .. } | What::ReleaseWarp { .. } => end,
            What::Arrive | What::ArriveWarp | What::Exit => after_own,
        };
        lanes.insert(event.thread, frame);
        end = end.max(frame + 1);
        frames.push(frame);
    }
    end
}
