//! A gate fails on a wrong answer of a defined kernel, and on nothing else.

use clap::Parser;
use cuda_std::emulator::Report;
use host::args::Args;
use host::device::{Device, Kernel};
use host::lesson::{self, Launched};
use host::{reference, report};

/// A device that computes right answers, except for one element of one kernel.
struct Faulty {
    kernel: &'static str,
    index: usize,
}

impl Device for Faulty {
    fn describe(&self) -> String {
        "a faulty device".into()
    }

    fn launch(
        &mut self,
        kernel: Kernel,
        block: u32,
        input: &[f32],
        out: &mut [f32],
    ) -> anyhow::Result<Option<Report>> {
        let block = block as usize;
        out.copy_from_slice(&match kernel {
            Kernel::ReverseTilePrefix { keep } => reference::reversed_prefixes(input, block, keep as usize),
            _ => reference::reversed_tiles(input, block),
        });
        if kernel.name() == self.kernel {
            out[self.index] = -1.0;
        }
        Ok(None)
    }
}

fn run(kernel: &'static str, index: usize) -> (Args, lesson::Run) {
    let args = Args::parse_from(["lesson", "--n", "100", "--blocks", "64"]);
    let run = lesson::run(&args, &mut Faulty { kernel, index }).expect("the launches are made");
    (args, run)
}

#[test]
fn a_wrong_racy_answer_is_reported_and_not_gated() {
    let (args, run) = run("reverse_tile_racy", 70);
    assert!(run.launches().all(Launched::gate_holds));
    let text = report::text(&args, &run, 1);
    assert!(text.contains("every gated kernel matched its reference"), "{text}");
    // Element 70 is thread 6 of the second block: warp 0 reads what warp 1 writes.
    assert!(
        text.contains("│    64 │ reverse_tile_racy   │          1 │        70 │         0 │        1 │"),
        "{text}"
    );
}

#[test]
fn a_wrong_defined_answer_fails_its_gate_and_says_where() {
    for kernel in ["reverse_tile_synced", "reverse_tile_prefix"] {
        let (args, run) = run(kernel, 70);
        assert!(!run.launches().all(Launched::gate_holds));
        let text = report::text(&args, &run, 1);
        assert!(text.contains(&format!("GATE FAILED: {kernel}")), "{text}");
        assert!(text.contains("1 wrong, the first at index 70: got -1, wanted"), "{text}");
        assert!(!text.contains("every gated kernel matched"), "{text}");
    }
}
