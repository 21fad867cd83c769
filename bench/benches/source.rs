//! What reads text: the lint, and the audit of PTX.

use divan::Bencher;
use divan::counter::BytesCount;
use xtask::measured;

fn main() {
    divan::main();
}

/// How many kernels stand in one text.
const KERNELS: [usize; 3] = [1, 16, 256];

const SOURCE: &str = include_str!("../../kernels-gpu/src/exhibits/in_place_scan.rs");

#[divan::bench(args = KERNELS)]
fn lint(bencher: Bencher<'_, '_>, kernels: usize) {
    let text: String =
        (0..kernels).map(|number| format!("mod k{number} {{\n{}}}\n", items(SOURCE))).collect();
    bencher.counter(BytesCount::of_str(&text)).bench(|| measured::lint(&text).expect("it parses"));
}

/// A file without what may only stand at its head.
fn items(source: &str) -> String {
    source.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n")).collect()
}

const PTX: &str = include_str!("../../docs/upstream/split-barrier/before.ptx");

#[divan::bench(args = KERNELS)]
fn audit(bencher: Bencher<'_, '_>, kernels: usize) {
    let (head, kernel) = PTX.split_at(PTX.find(".visible .entry").expect("a kernel"));
    let named = |number: usize| kernel.replace("reverse_tile_textbook", &format!("kernel_{number}"));
    let text: String = [head.to_owned()].into_iter().chain((0..kernels).map(named)).collect();
    bencher.counter(BytesCount::of_str(&text)).bench(|| measured::audit(&text).expect("it parses"));
}
