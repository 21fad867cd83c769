//! Executes the kernels of a folder with the engine and compares what they leave with a card.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use simt::{Kernel, Launch, Memory};

use crate::cases::is_miscompiled;

/// What the first line of a kernel says of its launch.
struct Head {
    grid: u32,
    block: u32,
    /// 64-bit words a thread.
    outputs: usize,
    /// Bytes of dynamic shared memory a block.
    dynamic: u32,
}

/// Executes every kernel. Its threads must neither race nor diverge at a barrier nor read what nothing wrote. Where the
/// card's outputs lie beside it, those of a `program-*` must be the same, unless it has an instruction that the driver
/// compiles wrong; those of single instructions are only counted, since `check` knows which of them may differ.
pub(crate) fn run(folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = paths.with_context(|| format!("cannot list {}", folder.display()))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    paths.sort();
    let mut wrong = 0;
    for prefix in ["cases", "program"] {
        let (mut same, mut other, mut faulty, mut alone) = (0, 0, 0, 0);
        for path in paths.iter().filter(|path| name(path).starts_with(prefix)) {
            match one(path) {
                Ok(Comparison { differing: None, .. }) => alone += 1,
                Ok(Comparison { differing: Some(differing), .. }) if differing.is_empty() => same += 1,
                Ok(Comparison { miscompiled: true, .. }) => faulty += 1,
                Ok(Comparison { differing: Some(differing), .. }) => {
                    other += 1;
                    println!("{}: {}", name(path), differing.join("; "));
                    wrong += u32::from(prefix == "program");
                }
                Err(error) => {
                    println!("{}: {error:#}", name(path));
                    wrong += 1;
                }
            }
        }
        println!(
            "{prefix}-*: {same} the same bit for bit; {faulty} not, with what the driver compiles wrong; {other} not; \
             {alone} without a card's outputs"
        );
    }
    if wrong > 0 {
        bail!("{wrong} kernels do not do what a card does, or are not clean");
    }
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What came of a kernel.
struct Comparison {
    /// What differs, output by output; `None` if no card has run this kernel.
    differing: Option<Vec<String>>,
    /// It has an instruction that the driver compiles wrong.
    miscompiled: bool,
}

fn one(path: &Path) -> Result<Comparison> {
    let text = std::fs::read_to_string(path).context("cannot read it")?;
    let head = head(&text).context("no launch in its first line; write it again")?;
    let module = ptx::parse(&text).map_err(|error| anyhow::anyhow!("{error}"))?;
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let miscompiled = bodies.flat_map(|body| &body.instructions).any(is_miscompiled);
    let kernel = Kernel::load(&module, "k", &name(path), |_| false)?;
    let input = std::fs::read(path.with_extension("in")).context("cannot read its inputs")?;
    let threads = head.grid * head.block;
    let mut memory = Memory::new();
    let from = memory.alloc("in", &input, 8);
    let to = memory.alloc("out", &vec![0; threads as usize * head.outputs * 8], 8);
    let arguments =
        [from.0.to_le_bytes().to_vec(), to.0.to_le_bytes().to_vec(), threads.to_le_bytes().to_vec()];
    let launch = Launch::new(head.grid, head.block).dynamic_shared(head.dynamic);
    let outcome = launch.run(&kernel, &mut memory, &arguments)?;
    if !outcome.report.is_clean() {
        bail!("the judge found: {:?}", outcome.report);
    }
    let output = memory.read(to).unwrap_or_default();
    let Ok(card) = std::fs::read(path.with_extension("out")) else {
        return Ok(Comparison { differing: None, miscompiled });
    };
    if card.len() != output.len() {
        bail!("the card's outputs have {} bytes, not {}; run the card again", card.len(), output.len());
    }
    let words = |bytes: &[u8]| -> Vec<u64> {
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect()
    };
    let (here, card) = (words(&output), words(&card));
    let differing =
        |&number: &usize| (number..here.len()).step_by(head.outputs).any(|at| here[at] != card[at]);
    let describe = |number: usize| {
        let places = (number..here.len()).step_by(head.outputs).filter(|&at| here[at] != card[at]);
        let places: Vec<usize> = places.collect();
        let at = places[0];
        format!(
            "output {number} of {} threads, first in thread {}: card {:x}, here {:x}",
            places.len(),
            at / head.outputs,
            card[at],
            here[at]
        )
    };
    Ok(Comparison {
        differing: Some((0..head.outputs).filter(differing).map(describe).collect()),
        miscompiled,
    })
}

fn head(text: &str) -> Option<Head> {
    let words: Vec<&str> = text.lines().next()?.split_whitespace().collect();
    let number = |key: &str| {
        let at = words.iter().position(|word| *word == key)?;
        words.get(at + 1)?.parse::<u32>().ok()
    };
    Some(Head {
        grid: number("grid")?,
        block: number("block")?,
        outputs: number("outputs")? as usize,
        dynamic: number("dynamic").unwrap_or(0),
    })
}
