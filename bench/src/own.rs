//! This project's own figures.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use host::device::Kernel;

use crate::figure::{Figure, Row};
use crate::floor::floor;
use crate::launch::{BLOCKS, Buffers, N, TILES, short, threads};
use crate::spread::{Spread, seconds};

/// One figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The lesson's launches, and the lesson's program as a whole
    Job,
    /// Launches with checks beside launches without
    Checks,
    /// Launches that access nothing
    Floor,
    /// Time a thread, from 2^18 to 2^26 elements
    Size,
    /// Time a thread, from 32 to 1024 threads a block
    Block,
    /// Memory beyond the buffers, from 2^18 to 2^26 elements
    Memory,
    /// From a change of a kernel to the verdict
    Edit,
    /// From a change of a kernel to PTX
    Ptx,
}

impl Part {
    /// What the command line calls it.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    pub(crate) fn measure(self, rounds: u32) -> Result<Figure> {
        match self {
            Self::Job => job(rounds),
            Self::Checks => checks(rounds),
            Self::Floor => floor(rounds),
            Self::Size => size(rounds),
            Self::Block => block(rounds),
            Self::Memory => memory(rounds),
            Self::Edit => edit(rounds),
            Self::Ptx => ptx(rounds),
        }
    }
}

fn job(rounds: u32) -> Result<Figure> {
    let mut launches: Vec<_> =
        BLOCKS.into_iter().flat_map(|block| TILES.map(|kernel| (kernel, block))).collect();
    launches.push((Kernel::ReverseTilePrefix { keep: 96 }, 256));
    let all: f64 = launches.iter().map(|&(_, block)| threads(N, block)).sum();
    let mut buffers = Buffers::new(N);
    let mut launch = |&(kernel, block): &(Kernel, u32)| buffers.launch(kernel, block, true).map(drop);
    let mut once = || {
        let (launched, ()) = seconds(|| launches.iter().try_for_each(&mut launch))?;
        Ok((launched, succeed(lesson()?.args(["--device", "emulator"]))?))
    };
    once()?;
    let (launched, program): (Vec<_>, Vec<_>) = each(rounds, once)?.into_iter().unzip();
    let row = |of: String, times: &[f64]| Row {
        of,
        measured: vec![
            Spread::of(times.iter().map(|seconds| seconds * 1e3)),
            Spread::of(times.iter().map(|seconds| all / seconds / 1e6)),
        ],
    };
    Ok(Figure {
        title: format!("the lesson's default job: n = {N}, {all} threads, all checks on"),
        command: "cargo xtask bench job",
        columns: vec!["what", "ms", "million threads/s"],
        rows: vec![
            row(format!("its {} launches", launches.len()), &launched),
            row("the program as a whole".into(), &program),
        ],
        note: "the program also makes the input and the references, compares and prints".into(),
    })
}

fn checks(rounds: u32) -> Result<Figure> {
    let mut buffers = Buffers::new(N);
    let mut rows = Vec::new();
    for kernel in TILES {
        for block in BLOCKS {
            buffers.launch(kernel, block, true)?;
            let pairs = each(rounds, || {
                let (on, _) = seconds(|| buffers.launch(kernel, block, true))?;
                let (off, _) = seconds(|| buffers.launch(kernel, block, false))?;
                Ok((on, off))
            })?;
            rows.push(Row {
                of: format!("{}, {block}", short(kernel)),
                measured: vec![
                    Spread::of(pairs.iter().map(|(on, _)| on * 1e3)),
                    Spread::of(pairs.iter().map(|(_, off)| off * 1e3)),
                    Spread::of(pairs.iter().map(|(on, off)| on / off)),
                ],
            });
        }
    }
    Ok(Figure {
        title: format!("one launch with checks and without, back to back: n = {N}"),
        command: "cargo xtask bench checks",
        columns: vec!["kernel, block", "on, ms", "off, ms", "on / off"],
        rows,
        note: String::new(),
    })
}

fn size(rounds: u32) -> Result<Figure> {
    let sizes = SIZES.into_iter().flat_map(|power| TILES.map(|kernel| (kernel, power)));
    let row = |(kernel, power): (Kernel, u32)| {
        Ok(Row {
            of: format!("{}, 2^{power}", short(kernel)),
            measured: per_thread(rounds, kernel, 256, 1 << power)?,
        })
    };
    Ok(Figure {
        title: "time a thread by size: blocks of 256, all checks on".into(),
        command: "cargo xtask bench size",
        columns: vec!["kernel, n", "ms", "ns a thread"],
        rows: sizes.map(row).collect::<Result<_>>()?,
        note: String::new(),
    })
}

/// The sizes to measure, as powers of two.
const SIZES: [u32; 5] = [18, 20, 22, 24, 26];

fn block(rounds: u32) -> Result<Figure> {
    let blocks = [32, 64, 128, 256, 512, 1024].into_iter();
    let blocks = blocks.flat_map(|block| TILES.map(|kernel| (kernel, block)));
    let row = |(kernel, block): (Kernel, u32)| {
        Ok(Row {
            of: format!("{}, {block}", short(kernel)),
            measured: per_thread(rounds, kernel, block, 1 << 20)?,
        })
    };
    Ok(Figure {
        title: "time a thread by block size: n = 2^20, all checks on".into(),
        command: "cargo xtask bench block",
        columns: vec!["kernel, block", "ms", "ns a thread"],
        rows: blocks.map(row).collect::<Result<_>>()?,
        note: String::new(),
    })
}

/// The time of a launch in ms, and of one of its threads in ns.
fn per_thread(rounds: u32, kernel: Kernel, block: u32, n: usize) -> Result<Vec<Spread>> {
    let mut buffers = Buffers::new(n);
    buffers.launch(kernel, block, true)?;
    let times = each(rounds, || Ok(seconds(|| buffers.launch(kernel, block, true))?.0))?;
    Ok(vec![
        Spread::of(times.iter().map(|seconds| seconds * 1e3)),
        Spread::of(times.iter().map(|seconds| seconds * 1e9 / threads(n, block))),
    ])
}

fn memory(rounds: u32) -> Result<Figure> {
    let mut rows = Vec::new();
    for power in SIZES {
        let n = 1_usize << power;
        let bytes = each(rounds, || {
            let output = Command::new(env::current_exe()?).args(["--memory-of", &n.to_string()]).output()?;
            let bytes: f64 = String::from_utf8(output.stdout)?.trim().parse().with_context(|| {
                format!("no figure came back: {}", String::from_utf8_lossy(&output.stderr).trim())
            })?;
            Ok(bytes)
        })?;
        rows.push(Row {
            of: format!("2^{power}"),
            measured: vec![
                Spread::of(bytes.iter().map(|bytes| bytes / f64::from(1 << 20))),
                Spread::of(bytes.iter().map(|bytes| bytes / n as f64)),
            ],
        });
    }
    Ok(Figure {
        title: "memory of one launch beyond the kernel's buffers: reverse_tile_synced, blocks of 256".into(),
        command: "cargo xtask bench memory",
        columns: vec!["n", "MiB", "bytes an element"],
        rows,
        note: "resident memory at its highest, less what was resident before the launch".into(),
    })
}

/// The kernel that is changed: what it is called by does not matter, every kernel is compiled.
const CHANGED: &str = "kernels-gpu/src/lesson/reverse_tile_racy.rs";

fn edit(rounds: u32) -> Result<Figure> {
    let run = ["run", "--", "--device", "emulator"];
    after_a_change(rounds, "from a change of a kernel to the verdict", "cargo xtask bench edit", &run)
}

fn ptx(rounds: u32) -> Result<Figure> {
    let ptx = ["ptx", "--compiler", "rustc"];
    after_a_change(rounds, "from a change of a kernel to audited PTX", "cargo xtask bench ptx", &ptx)
}

/// Times `cargo xtask` with these flags after a kernel was touched, once everything else is built.
fn after_a_change(rounds: u32, title: &str, command: &'static str, flags: &[&str]) -> Result<Figure> {
    let root = command::project::root()?;
    let xtask = || {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(&root).arg("xtask").args(flags);
        cargo
    };
    succeed(&mut xtask())?;
    let times = each(rounds, || {
        touch(&root.join(CHANGED))?;
        succeed(&mut xtask())
    })?;
    Ok(Figure {
        title: title.into(),
        command,
        columns: vec!["what", "s"],
        rows: vec![Row { of: format!("cargo xtask {}", flags.join(" ")), measured: vec![Spread::of(times)] }],
        note: format!("{CHANGED} was touched before each; the first, which builds all else, does not count"),
    })
}

fn touch(path: &Path) -> Result<()> {
    let touched =
        File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
    touched.with_context(|| format!("cannot touch {}", path.display()))
}

/// The lesson's program, which lies beside this one.
pub(crate) fn lesson() -> Result<Command> {
    let path = env::current_exe()?.with_file_name("lesson").with_extension(env::consts::EXE_EXTENSION);
    ensure!(fs::exists(&path)?, "no lesson beside this program; start it by `cargo xtask bench`");
    Ok(Command::new(path))
}

/// Runs a command that must succeed, and returns how long it took.
fn succeed(command: &mut Command) -> Result<f64> {
    let run = || {
        let output = command.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} ended with {}: {}", output.status, said.trim());
        Ok(())
    };
    Ok(seconds(run)?.0)
}

/// Measures something so often.
pub(crate) fn each<T>(rounds: u32, mut measure: impl FnMut() -> Result<T>) -> Result<Vec<T>> {
    (0..rounds).map(|_| measure()).collect()
}
