//! After NVIDIA/compute-sanitizer-samples: Racecheck/block_error.cu, Racecheck/warp_error.cu,
//! Synccheck/divergent_threads.cu and Synccheck/illegal_syncwarp.cu. The numbers are those that its tools
//! print.

use cuda_std::emulator::{Kind, Launch, Level, Policy, Report, Whereabouts};
use cuda_std::{thread, warp};

use crate::common::{Kernel, Verdict, judge, launch, shapes};

shapes! {
    /// One thread sums what all threads have just written, without a barrier.
    sum_by_one(S, t, b, out) {
        S[t].write(t as u32);
        if t == 0 {
            let mut sum = 0;
            for i in 0..b {
                sum += S[i].assume_init();
            }
            out.write(sum);
        }
    }

    /// The first lane of each warp sums what its warp has just written; a barrier stands behind that.
    sum_by_warp(S, t, _b, out) {
        S[t].write(t as u32);
        if t.is_multiple_of(32) {
            let mut sum = 0;
            for i in 0..32 {
                sum += S[t + i].assume_init();
            }
            out.add(t / 32).write(sum);
        }
        thread::sync_threads();
        if t == 0 {
            let both = out.read() + out.add(1).read();
            out.add(2).write(both);
        }
    }

    /// 16 steps over 16 short of 16 blocks' worth of data, with the barrier inside the guard.
    sum_by_steps(S, t, b, out) {
        let size = b * 16 - 16;
        S[t].write(0);
        thread::sync_threads();
        for step in 0..16 {
            let i = b * step + t;
            if i < size {
                let sum = S[t].assume_init() + i as u32;
                S[t].write(sum);
                thread::sync_threads();
            }
        }
        if t == 0 {
            out.write(S[b - 1].assume_init());
        }
    }

    /// 17 lanes call with a mask of 16.
    one_lane_too_many(S, t, _b, out) {
        if t <= 16 {
            S[t].write(t as u32);
            warp::sync_warp(0xffff);
            if t == 0 {
                let mut sum = 0;
                for i in 0..16 {
                    sum += S[i].assume_init();
                }
                out.write(sum);
            }
        }
        thread::sync_threads();
    }
}

fn run(kernel: Kernel, block: u32, policy: Policy, seed: u64) -> Report {
    let shape = Launch::new(1, block).policy(policy).seed(seed);
    launch(shape, 4, kernel).0
}

#[test]
fn block_error_has_508_byte_hazards() {
    for seed in 0..4 {
        for policy in [Policy::Lockstep, Policy::Independent, Policy::Random] {
            let report = run(sum_by_one, 128, policy, seed);
            assert_eq!(report.hazard_bytes(), 508);
            assert_eq!(report.race(), Some(Level::Error));
            assert!(report.hazards.iter().all(|hazard| hazard.kind == Kind::Raw));
            assert!(report.hazards.iter().all(|hazard| hazard.second.thread == 0));
        }
    }
}

/// A warning, and among the pairs the one that the tool's page shows: byte 0x8c, written by thread 35, read
/// by thread 32. A report shows one pair of each two lines, so that some schedule has to show this one.
#[test]
fn warp_error_is_a_warning() {
    let shown = (0..5000).find_map(|seed| {
        let report = run(sum_by_warp, 64, Policy::Random, seed);
        assert_eq!(report.race(), Some(Level::Warning));
        let [hazard] = &report.hazards[..] else { panic!("one pair of lines: {report:?}") };
        assert_eq!((hazard.kind, hazard.bytes), (Kind::Raw, 2 * 31 * 4));
        let byte = hazard.place.index * u64::from(hazard.place.size);
        (byte == 0x8c).then_some((hazard.first.thread, hazard.second.thread))
    });
    assert_eq!(shown, Some((35, 32)));
}

/// The tool prints 32 threads, as many as the warp has that is split: 16 wait and 16 do not come. The other
/// warp waits too.
#[test]
fn divergent_threads_split_a_warp() {
    let divergence = run(sum_by_steps, 64, Policy::Lockstep, 0).divergence.expect("divergent");
    assert_eq!(divergence.trips, [15]);
    assert_eq!(divergence.waiting, (0..48).collect::<Vec<_>>());
    let gone: Vec<_> = (48..64).map(|thread| (thread, Whereabouts::Skipped)).collect();
    assert_eq!(divergence.elsewhere, gone);
    let split = divergence.waiting.iter().filter(|&&thread| thread / 32 == 1).count();
    assert_eq!(split + divergence.elsewhere.len(), 32);
    assert_eq!(judge(1, 64, sum_by_steps), Verdict::divergent());
}

#[test]
fn illegal_syncwarp_is_called_by_a_lane_outside_its_mask() {
    let report = run(one_lane_too_many, 32, Policy::Independent, 1);
    let [misuse] = &report.warp_misuse[..] else { panic!("one call: {report:?}") };
    assert_eq!((misuse.thread, misuse.mask), (16, 0xffff));
    assert_eq!(report.hazards, []);
}
