//! The lint against small kernels. The expected verdict of each stands at its barriers, as
//! `// uniform`, `// non-uniform`, or `// unknown` where memory decides, and was written from CUDA's rules before the lint was run.

mod calls;
mod pitfalls;
mod printed;
mod rows;
mod traps;

use super::check;
use super::report::{Report, Rule};
use super::source::Source;

/// A kernel with this body, in a crate with these other items.
fn kernel(body: &str, items: &str) -> String {
    format!(
        "static mut S: [MaybeUninit<f32>; 1024] = [const {{ MaybeUninit::uninit() }}; 1024];
        static mut FLAG: MaybeUninit<u32> = MaybeUninit::uninit();
        const HALF: usize = 64;
        {items}
        #[kernel]
        pub unsafe fn k(input: &[f32], out: *mut f32, n: usize, keep: u32) {{
            let t = thread::thread_idx_x() as usize;
            let b = thread::block_dim_x() as usize;
            let block = thread::block_idx_x() as usize;
            {body}
        }}"
    )
}

fn lint(text: &str) -> Report {
    let source = Source { name: "k.rs".to_owned(), text: text.to_owned() };
    check(&[source]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Compares the lines with findings of a rule with the lines that are marked.
#[track_caller]
fn expect_marked(name: &str, text: &str, rule: Rule, mark: &str) {
    let report = lint(text);
    let mut found: Vec<_> =
        report.findings.iter().filter(|finding| finding.rule == rule).map(|finding| finding.line).collect();
    found.dedup();
    let lines = text.lines().zip(1..);
    let marked: Vec<_> = lines.filter(|(line, _)| line.ends_with(mark)).map(|(_, number)| number).collect();
    assert_eq!(found, marked, "{name}: lines with findings, and lines that are marked\n{text}\n{report}");
}

/// Every barrier is judged as marked, and no other finding is made.
#[track_caller]
fn expect(name: &str, text: &str) {
    expect_marked(name, text, Rule::NonUniformBarrier, "// non-uniform");
    expect_marked(name, text, Rule::UntrackedBarrier, "// lost");
    let mut unknown: Vec<_> = lint(text)
        .notes
        .iter()
        .filter(|note| note.what.contains("could not be shown uniform"))
        .map(|note| note.line)
        .collect();
    unknown.dedup();
    let marked = text.lines().zip(1..).filter(|(line, _)| line.ends_with("// unknown"));
    let marked: Vec<_> = marked.map(|(_, number)| number).collect();
    assert_eq!(unknown, marked, "{name}: lines with notes, and lines that are marked\n{text}");
    let has_mark = |line: &&str| ["uniform", "unknown"].iter().any(|mark| line.contains(mark));
    let marks = text.lines().filter(|line| has_mark(line) && line.contains("//")).count();
    let barriers = text.matches("sync_threads").count();
    assert!(marks > 0 && barriers >= marks, "{name}: a barrier without a verdict\n{text}");
}

/// Kernels without items of their own.
#[track_caller]
fn expect_bodies(cases: &[(&str, &str)]) {
    for (name, body) in cases {
        expect(name, &kernel(body, ""));
    }
}
