//! What the tests of small kernels share: a launch, and the verdict in a few words.

// No test uses all of it.
#![allow(dead_code)]

mod shapes;

use cuda_std::emulator::{Dim3, FaultKind, GlobalMemory, Kind, Launch, Level, Policy, Report};

pub(crate) use shapes::shapes;

/// What a report says, without lines and numbers: the same under every schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) race: Option<(Vec<Kind>, Level)>,
    pub(crate) divergent: bool,
    pub(crate) uninitialised: bool,
    pub(crate) lost_write: bool,
    pub(crate) warp_misuse: bool,
    pub(crate) stuck: bool,
}

impl Verdict {
    pub(crate) fn clean() -> Self {
        Self::default()
    }

    pub(crate) fn race(kinds: &[Kind], level: Level) -> Self {
        Self { race: Some((kinds.to_vec(), level)), ..Self::default() }
    }

    pub(crate) fn divergent() -> Self {
        Self { divergent: true, ..Self::default() }
    }

    fn of(report: &Report) -> Self {
        let mut kinds: Vec<_> = report.hazards.iter().map(|hazard| hazard.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let stuck = match report.fault.as_ref().map(|fault| &fault.what) {
            None => false,
            Some(FaultKind::Stuck(_)) => true,
            Some(other) => panic!("an unexpected fault: {other:?}"),
        };
        Self {
            race: report.race().map(|level| (kinds, level)),
            divergent: report.divergence.is_some(),
            uninitialised: !report.uninitialised.is_empty(),
            lost_write: !report.lost_writes.is_empty(),
            warp_misuse: !report.warp_misuse.is_empty(),
            stuck,
        }
    }
}

/// A kernel that writes its results to its one argument.
pub(crate) type Kernel = unsafe fn(*mut u32);

/// Runs a kernel with room for `len` numbers of output, all 0 at first.
pub(crate) fn launch(launch: Launch, len: usize, kernel: Kernel) -> (Report, Vec<u32>) {
    // SAFETY: there is room for all that the kernels write; the emulator checks it.
    launch_with(launch, len, |out| unsafe { kernel(out) })
}

fn launch_with(launch: Launch, len: usize, kernel: impl Fn(*mut u32) + Sync) -> (Report, Vec<u32>) {
    let mut out = vec![0; len];
    let mut memory = GlobalMemory::new();
    let pointer = memory.lend("out", &mut out);
    let report =
        launch.run(&mut memory, || kernel(pointer.as_mut_ptr())).expect("the launch is within CUDA's limits");
    (report, out)
}

/// The verdict on a kernel, which must not depend on the schedule.
#[track_caller]
pub(crate) fn judge(grid: impl Into<Dim3>, block: impl Into<Dim3>, kernel: Kernel) -> Verdict {
    // SAFETY: as in `launch`.
    judge_with(grid, block, |out| unsafe { kernel(out) })
}

/// The verdict on a kernel with more arguments.
#[track_caller]
pub(crate) fn judge_with(
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    kernel: impl Fn(*mut u32) + Sync,
) -> Verdict {
    let shape = Launch::new(grid, block);
    let mut verdicts = Vec::new();
    for policy in [Policy::Lockstep, Policy::Independent, Policy::Random] {
        for seed in 0..3 {
            let (report, _) = launch_with(shape.policy(policy).seed(seed), 4096, &kernel);
            verdicts.push(Verdict::of(&report));
        }
    }
    assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "by schedule: {verdicts:#?}");
    verdicts.swap_remove(0)
}
