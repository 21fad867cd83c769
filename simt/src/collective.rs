//! Votes, matches, shuffles and reductions over lanes of a warp.
//!
//! None of them orders memory (CUDA Programming Guide, "Warp Vote Functions": "these intrinsics do not imply a memory
//! barrier").

use race::schedule;

use crate::arithmetic::Lanes;
use crate::code::{Collective, CollectiveKind, Reduce, Reg};
use crate::frame::Frame;
use crate::register::LANES;
use crate::warp::Warp;

/// Executes an operation for lanes that have all come: `mask`.
pub(crate) fn execute(warp: &mut Warp, frame: &Frame, collective: &Collective, lanes: Lanes) {
    let Collective { kind, d, p, .. } = *collective;
    let Lanes { mask, all } = lanes;
    let predicate = |warp: &Warp| match collective.a {
        Reg::P(number) => warp.p[(frame.p + number) as usize] ^ if collective.negated { u32::MAX } else { 0 },
        _ => 0,
    };
    match kind {
        CollectiveKind::VoteAll
        | CollectiveKind::VoteAny
        | CollectiveKind::VoteUni
        | CollectiveKind::Ballot => {
            let votes = predicate(warp) & mask;
            let result = match kind {
                CollectiveKind::VoteAll => u64::from(votes == mask),
                CollectiveKind::VoteAny => u64::from(votes != 0),
                CollectiveKind::VoteUni => u64::from(votes == 0 || votes == mask),
                _ => votes.into(),
            };
            warp.set_uniform(frame, d, result, mask, all);
        }
        CollectiveKind::MatchAny | CollectiveKind::MatchAll => {
            let values = warp.lanes(frame, collective.a);
            let alike = |value: u64| {
                schedule::lanes(mask)
                    .filter(|&other| values[other as usize] == value)
                    .fold(0, |set, other| set | 1 << other)
            };
            let mut result = [0_u64; LANES];
            for lane in schedule::lanes(mask) {
                result[lane as usize] = alike(values[lane as usize]);
            }
            if kind == CollectiveKind::MatchAll {
                let agree = schedule::lanes(mask).all(|lane| result[lane as usize] == u64::from(mask));
                let together = if agree { u64::from(mask) } else { 0 };
                warp.set_uniform(frame, d, together, mask, all);
                if let Some(p) = p {
                    warp.set_predicate(frame, p, if agree { u32::MAX } else { 0 }, mask);
                }
            } else {
                warp.set_lanes(frame, d, &result, mask, all);
            }
        }
        CollectiveKind::ShuffleUp
        | CollectiveKind::ShuffleDown
        | CollectiveKind::ShuffleButterfly
        | CollectiveKind::ShuffleIndex => shuffle(warp, frame, collective, lanes),
        CollectiveKind::Reduce(reduce) => {
            let values = warp.lanes(frame, collective.a);
            let of = schedule::lanes(mask).map(|lane| values[lane as usize] as u32);
            let result = of.reduce(|x, y| match reduce {
                Reduce::Add => x.wrapping_add(y),
                Reduce::MinU => x.min(y),
                Reduce::MaxU => x.max(y),
                Reduce::MinS => (x as i32).min(y as i32) as u32,
                Reduce::MaxS => (x as i32).max(y as i32) as u32,
                Reduce::And => x & y,
                Reduce::Or => x | y,
                Reduce::Xor => x ^ y,
            });
            warp.set_uniform(frame, d, result.unwrap_or(0).into(), mask, all);
        }
        CollectiveKind::Elect => {
            let leader = mask.trailing_zeros();
            warp.set_uniform(frame, d, leader.into(), mask, all);
            if let Some(p) = p {
                warp.set_predicate(frame, p, 1 << leader, mask);
            }
        }
    }
}

/// As the PTX ISA says it of `shfl`: `c` holds the clamp in its low five bits and the segment's mask from bit 8 on. A
/// lane that is out of range, or that does not take part, gives the own value.
fn shuffle(warp: &mut Warp, frame: &Frame, collective: &Collective, lanes: Lanes) {
    let values = warp.lanes(frame, collective.a);
    let (b, c) = (warp.lanes(frame, collective.b), warp.lanes(frame, collective.c));
    let mut result = [0; LANES];
    let mut valid = 0_u32;
    for lane in schedule::lanes(lanes.mask).map(|lane| lane as usize) {
        let (b, c) = (b[lane] as i64 & 0x1f, c[lane]);
        let (clamp, segment) = ((c & 0x1f) as i64, (c >> 8 & 0x1f) as i64);
        let own = lane as i64;
        let max = (own & segment) | (clamp & !segment);
        let min = own & segment;
        let (from, in_range) = match collective.kind {
            CollectiveKind::ShuffleUp => (own - b, own - b >= max),
            CollectiveKind::ShuffleDown => (own + b, own + b <= max),
            CollectiveKind::ShuffleButterfly => (own ^ b, own ^ b <= max),
            _ => (min | (b & !segment), (min | (b & !segment)) <= max),
        };
        let from = if in_range { from as usize & 31 } else { lane };
        valid |= u32::from(in_range) << lane;
        // Who reads a lane that does not take part gets an undefined value: here, the own one.
        result[lane] = if lanes.mask >> from & 1 == 1 { values[from] } else { values[lane] };
    }
    warp.set_lanes(frame, collective.d, &result, lanes.mask, lanes.all);
    if let Some(p) = collective.p {
        warp.set_predicate(frame, p, valid, lanes.mask);
    }
}
