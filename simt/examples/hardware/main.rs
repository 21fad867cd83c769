//! Compares what instructions compute here with a card.
//!
//! 1. `cargo run -p simt --example hardware -- write DIR` writes kernels and their inputs.
//! 2. On a machine with a card: `cc -O2 simt/examples/hardware/hardware.c -o hardware -ldl && ./hardware DIR` runs each
//!    and writes its outputs beside it.
//! 3. `cargo run -p simt --example hardware -- check DIR` compares the outputs of the kernels of single instructions
//!    (`cases-*`) with `simt::alu`.
//! 4. `cargo run -p simt --example hardware -- run DIR` executes all kernels with the engine, and compares the outputs
//!    of the programs.
//!
//! `write` also makes random programs (`program-*`), for whoever executes PTX: straight lines, branches, loops, shared
//! memory and barriers, shuffles, votes, matches, reductions and atomics, without races and without any instruction
//! whose result PTX leaves open.
//!
//! An example, and neither a test nor a program of the crate: it needs a card between its steps, and no user of
//! the library needs it.

mod cases;
mod check;
mod feature;
mod kernel;
mod operands;
mod program;
mod run;
mod writer;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use cases::{Case, Class};
use fastrand::Rng;

/// Of the kernels of single instructions.
const GRID: u32 = 8;
const BLOCK: u32 = 128;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["write", folder] => write(Path::new(folder), 64, 1),
        ["write", folder, programs] => write(Path::new(folder), number(programs)?, 1),
        ["write", folder, programs, seed] => write(Path::new(folder), number(programs)?, number(seed)?),
        ["check", folder] => check::check(Path::new(folder)),
        ["run", folder] => run::run(Path::new(folder)),
        _ => bail!("usage: hardware write DIR [PROGRAMS [SEED]] | hardware check DIR | hardware run DIR"),
    }
}

fn number(word: &str) -> Result<u64> {
    word.parse().with_context(|| format!("{word:?} is no number; give how many programs, then a seed"))
}

/// A kernel of single instructions.
struct Group {
    /// Without an extension.
    name: String,
    cases: Vec<Case>,
}

/// Cases of the same inputs, 48 to a kernel; those with a bounded error, open results, or a newer target apart.
fn groups() -> Vec<Group> {
    let mut all = cases::cases();
    let key = |case: &Case| (case.class, case.new, case.approximate, case.open);
    all.sort_by_key(key);
    let mut groups = Vec::new();
    for alike in all.chunk_by(|a, b| key(a) == key(b)) {
        for (index, cases) in alike.chunks(48).enumerate() {
            let first = &cases[0];
            let class = match first.class {
                Class::Integer => "integer",
                Class::Single => "f32",
                Class::Double => "f64",
                Class::Half => "f16",
                Class::Brain => "bf16",
            };
            let mark = |set: bool, word: &'static str| if set { word } else { "" };
            let name = format!(
                "cases-{class}{}{}{}-{index}",
                mark(first.new, "-sm90"),
                mark(first.approximate, "-approximate"),
                mark(first.open, "-open")
            );
            groups.push(Group { name, cases: cases.to_vec() });
        }
    }
    groups
}

fn write(folder: &Path, programs: u64, seed: u64) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let put = |name: &str, extension: &str, content: &[u8]| {
        let path = folder.join(format!("{name}.{extension}"));
        std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    };
    let bytes = |words: Vec<u64>| words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
    for (index, group) in (0..).zip(groups()) {
        let mut random = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(index));
        let class = group.cases[0].class;
        let inputs = (0..GRID * BLOCK).flat_map(|_| operands::thread(class, &mut random));
        let inputs = inputs.collect();
        put(&group.name, "ptx", kernel::text(&group.cases, GRID, BLOCK).as_bytes())?;
        put(&group.name, "in", &bytes(inputs))?;
    }
    let cases = cases::cases();
    for index in 0..programs {
        let mut random = Rng::with_seed(seed.wrapping_mul(7_919).wrapping_add(index));
        let program = program::program(&cases, &mut random);
        let name = format!("program-{index:04}");
        put(&name, "ptx", program.text.as_bytes())?;
        put(&name, "in", &bytes(program.inputs))?;
    }
    Ok(())
}
