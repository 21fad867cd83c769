//! Runs the kernels on the engine, and compares what they leave with what a card left.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use simt::{Kernel, Launch, Memory};

/// What came of the kernels of one sort.
#[derive(Default)]
struct Count {
    kernels: usize,
    equal: usize,
    silent: usize,
    failed: usize,
}

/// Runs every kernel of the folder that has outputs of a card, or else only judges it.
pub(crate) fn run(folder: &Path) -> Result<()> {
    let mut names = Vec::new();
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ptx")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut bad = false;
    for sort in ["program", "cases"] {
        let mut count = Count::default();
        for name in names.iter().filter(|name| name.starts_with(sort)) {
            count.kernels += 1;
            if let Err(error) = count.add(folder, name) {
                count.failed += 1;
                println!("{name}: {error:#}");
            }
        }
        let Count { kernels, equal, silent, failed } = count;
        println!(
            "{sort}: {kernels} kernels; {equal} left what the card left; {silent} without a report; {failed} did not run"
        );
        // Kernels of single instructions hold some whose result PTX leaves open.
        bad |= silent < kernels || sort == "program" && equal < kernels;
    }
    if bad {
        bail!("the engine and the card differ, or the judge reports a kernel that is free of races");
    }
    Ok(())
}

impl Count {
    fn add(&mut self, folder: &Path, name: &str) -> Result<()> {
        let path = |extension: &str| folder.join(format!("{name}.{extension}"));
        let read = |extension: &str| {
            let path = path(extension);
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let text = String::from_utf8(read("ptx")?).context("it is not UTF-8; write it again")?;
        let [grid, block, inputs, outputs] = shape(&text)?;
        let threads = grid as usize * block as usize;
        let input = read("in")?;
        ensure!(input.len() == threads * inputs as usize * 8, "its inputs have another size; write it again");
        let module = ptx::parse(&text)?;
        let kernel = Kernel::load(&module, "k", name, |_| false)?;
        let mut memory = Memory::new();
        let from = memory.alloc("in", &input, 8);
        let to = memory.alloc("out", &vec![0; threads * outputs as usize * 8], 8);
        let arguments = [
            from.0.to_le_bytes().to_vec(),
            to.0.to_le_bytes().to_vec(),
            (threads as u32).to_le_bytes().to_vec(),
        ];
        let outcome = Launch::new(grid, block).run(&kernel, &mut memory, &arguments)?;
        if outcome.report.is_clean() {
            self.silent += 1;
        } else {
            println!("{name}: the judge says {:?}", outcome.report);
        }
        let output = memory.read(to).context("its outputs are gone")?;
        let card = read("out").context("did the card run the kernel?")?;
        ensure!(output.len() == card.len(), "its outputs have another size; run the card again");
        let differing: Vec<usize> =
            (0..output.len() / 8).filter(|word| output[8 * word..][..8] != card[8 * word..][..8]).collect();
        let Some(&first) = differing.first() else {
            self.equal += 1;
            return Ok(());
        };
        let columns: std::collections::BTreeSet<usize> =
            differing.iter().map(|word| word % outputs as usize).collect();
        let word = |bytes: &[u8]| {
            bytes[8 * first..][..8].iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))
        };
        println!(
            "{name}: {} words differ, of the outputs {columns:?}; thread {}: card {:x}, here {:x}",
            differing.len(),
            first / outputs as usize,
            word(&card),
            word(&output)
        );
        Ok(())
    }
}

/// What the first line says: grid, block, words of input and of output a thread.
fn shape(text: &str) -> Result<[u32; 4]> {
    let line = text.lines().next().unwrap_or_default();
    let numbers: Vec<u32> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().ok().with_context(|| format!("{line:?} says no launch; write it again"))
}
