//! What a thread costs before it does anything: kernels without an access, without checks.

use anyhow::Result;
use cuda_std::emulator::{GlobalMemory, Launch};
use cuda_std::{kernel, thread};

use crate::figure::{Figure, Row};
use crate::launch::{N, threads};
use crate::own::each;
use crate::spread::{Spread, seconds};

#[kernel]
unsafe fn nothing() {}

#[kernel]
unsafe fn one_barrier() {
    thread::sync_threads();
}

/// The kernels, and what they are called.
const KERNELS: [(&str, unsafe fn()); 2] = [("nothing", nothing), ("one barrier", one_barrier)];

pub(crate) fn floor(rounds: u32) -> Result<Figure> {
    let mut rows = Vec::new();
    for (name, kernel) in KERNELS {
        for block in [32, 256] {
            // Enough of it that threads and stacks are made in no time.
            let n = 8 * N;
            let launch = Launch::new(n.div_ceil(block as usize) as u32, block).checks(false);
            // SAFETY: these kernels access nothing.
            let once = || Ok(launch.run(&mut GlobalMemory::new(), || unsafe { kernel() })?);
            once()?;
            let times = each(rounds, || Ok(seconds(once)?.0))?;
            let threads = threads(n, block);
            rows.push(Row {
                of: format!("{name}, {block}"),
                measured: vec![
                    Spread::of(times.iter().map(|seconds| seconds * 1e9 / threads)),
                    Spread::of(times.iter().map(|seconds| threads / seconds / 1e6)),
                ],
            });
        }
    }
    Ok(Figure {
        title: "kernels that access nothing, without checks".into(),
        command: "cargo xtask bench floor",
        columns: vec!["kernel, block", "ns a thread", "million threads/s"],
        rows,
        note: "a thread that waits once is resumed twice, as those of the lesson's kernels are".into(),
    })
}
