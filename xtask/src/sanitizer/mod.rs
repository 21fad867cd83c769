//! `cargo xtask racecheck`, `synccheck` and `memcheck`: NVIDIA's compute-sanitizer on one kernel at a time.

mod expected;
mod output;
mod report;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, anyhow, bail};

use crate::CHECK_FAILED;
use crate::cargo::target_dir;
use crate::cuda::Program;
use crate::machine::Machine;
use crate::ptx::Compiler;
use expected::Verdict;
use output::Output;

/// What to judge.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kernel; all three if none is named
    kernel: Option<Kernel>,
    /// Block sizes to run it with, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "32,64,128,256")]
    blocks: Vec<u32>,
}

/// One of compute-sanitizer's tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Races in shared memory.
    Racecheck,
    /// Barriers that not all threads reach alike.
    Synccheck,
    /// Accesses out of bounds.
    Memcheck,
}

/// A kernel of the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kernel {
    /// Without the barrier
    #[value(name = "reverse_tile_racy", alias = "racy")]
    Racy,
    /// With it
    #[value(name = "reverse_tile_synced", alias = "synced")]
    Synced,
    /// With threads that return above it
    #[value(name = "reverse_tile_prefix", alias = "prefix")]
    Prefix,
}

/// What one launch of a kernel came to.
struct Judged {
    kernel: Kernel,
    block: u32,
    output: Output,
    wanted: Verdict,
}

/// The exit code that compute-sanitizer is to give when it finds something: no other program's.
const FOUND: i32 = 86;

pub(crate) fn run(tool: Tool, args: &Args) -> Result<ExitCode> {
    let sanitizer = find().map_err(|missing| anyhow!("{missing}; {OWN_CHECK}"))?;
    let card = driver::probe().with_context(|| format!("{} needs a card ({OWN_CHECK})", tool.name()))?;
    let program = Program::for_card(&card, Compiler::Auto)?;
    let logs = target_dir().join("sanitizer");
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;

    let kernels =
        args.kernel.map_or_else(|| vec![Kernel::Racy, Kernel::Synced, Kernel::Prefix], |one| vec![one]);
    let mut judged = Vec::new();
    for kernel in kernels {
        for &block in &args.blocks {
            let log = logs.join(format!("{}-{}-{block}.txt", tool.name(), kernel.name()));
            let output = judge(&sanitizer, tool, &program, kernel, block, &log)?;
            judged.push(Judged { kernel, block, output, wanted: expected::verdict(tool, kernel, block) });
        }
    }
    let (name, table) = (tool.name(), report::table(tool, &judged));
    let mut stdout = io::stdout();
    writeln!(stdout, "{name} on {}, compute capability {}\n{table}", card.name, card.capability)?;
    writeln!(stdout, "compute-sanitizer's own words: {}", logs.display())?;
    let surprises = report::surprises(tool, &judged);
    if surprises.is_empty() {
        writeln!(stdout, "every verdict is the expected one")?;
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{}", surprises.join("\n"));
    Ok(ExitCode::from(CHECK_FAILED))
}

/// Where compute-sanitizer is.
pub(crate) fn find() -> Result<PathBuf> {
    Machine::here().toolkit_program("compute-sanitizer").context(
        "no compute-sanitizer on PATH or in a CUDA toolkit; it comes with the toolkit \
         (https://developer.nvidia.com/cuda-downloads)",
    )
}

/// What serves where compute-sanitizer does not.
const OWN_CHECK: &str =
    "`cargo xtask run --device emulator` runs this project's own check of races, without a card";

/// Runs one kernel with one block size under compute-sanitizer.
fn judge(
    sanitizer: &Path,
    tool: Tool,
    program: &Program,
    kernel: Kernel,
    block: u32,
    log: &Path,
) -> Result<Output> {
    // What an earlier run left must not pass for this one's.
    if log.exists() {
        fs::remove_file(log).with_context(|| format!("cannot remove {}", log.display()))?;
    }
    let ran = Command::new(sanitizer)
        .args(tool.flags())
        .args(["--error-exitcode", &FOUND.to_string(), "--show-backtrace", "no", "--log-file"])
        .arg(log)
        .arg(program.path())
        .args(program.args())
        .args(kernel.flags(block))
        .output()
        .with_context(|| format!("cannot start {}", sanitizer.display()))?;
    let text = fs::read_to_string(log).unwrap_or_default();
    let what = format!("{} of {}, {block} threads a block", tool.name(), kernel.name());
    match output::parse(&text) {
        Some(output) if is_verdict(ran.status.code(), &output) => Ok(output),
        _ => bail!(
            "{what}: compute-sanitizer gave no verdict: {}",
            last_words(&text, &ran.stdout, &ran.stderr)
        ),
    }
}

/// Whether the program came to its end, or to what the checker found: a barrier error ends a launch.
fn is_verdict(code: Option<i32>, output: &Output) -> bool {
    // 1 is the program's own: a gate failed, which the checker's verdict may explain.
    matches!(code, Some(0 | 1 | FOUND)) || output.found > 0
}

/// The last line that anything said, best the program's own error.
fn last_words(log: &str, stdout: &[u8], stderr: &[u8]) -> String {
    let [stdout, stderr] = [stdout, stderr].map(String::from_utf8_lossy);
    let last = [&*stderr, log, &*stdout]
        .into_iter()
        .find_map(|text| text.lines().rfind(|line| !line.trim().is_empty()));
    last.map_or_else(|| "it said nothing".to_owned(), str::to_owned)
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Racecheck => "racecheck",
            Self::Synccheck => "synccheck",
            Self::Memcheck => "memcheck",
        }
    }

    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            // The analysis sums the hazards up by line. All of them, a million, take minutes to print, and
            // within the usual limit of lines the analysis does not come at all.
            Self::Racecheck => &["--tool", "racecheck", "--racecheck-report", "analysis"],
            Self::Synccheck => &["--tool", "synccheck"],
            Self::Memcheck => &["--tool", "memcheck"],
        }
    }
}

impl Kernel {
    fn name(self) -> &'static str {
        match self {
            Self::Racy => "reverse_tile_racy",
            Self::Synced => "reverse_tile_synced",
            Self::Prefix => "reverse_tile_prefix",
        }
    }

    /// The program's flags for this kernel alone.
    fn flags(self, block: u32) -> Vec<String> {
        let only = ["--only".to_owned(), self.name().to_owned()];
        let size = match self {
            Self::Racy | Self::Synced => vec!["--blocks".to_owned(), block.to_string()],
            // The lesson's share of the threads: 96 of 256 reach the barrier.
            Self::Prefix => {
                let keep = (block * 3 / 8).max(1);
                vec!["--prefix-block".to_owned(), block.to_string(), "--keep".to_owned(), keep.to_string()]
            }
        };
        only.into_iter().chain(size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_kernel_runs_as_in_the_lesson() {
        let flags = Kernel::Prefix.flags(256).join(" ");
        assert_eq!(flags, "--only reverse_tile_prefix --prefix-block 256 --keep 96");
        assert!(Kernel::Prefix.flags(1).join(" ").ends_with("--keep 1"));
    }

    #[test]
    fn a_program_that_did_not_run_is_no_clean_verdict() {
        let found = |found| Output { found, ..Output::default() };
        assert!(is_verdict(Some(0), &found(0)) && is_verdict(Some(FOUND), &found(1)));
        assert!(is_verdict(Some(2), &found(3)), "the launch ended in what the checker found");
        assert!(!is_verdict(Some(2), &found(0)) && !is_verdict(None, &found(0)));
    }

    #[test]
    fn the_programs_own_error_is_the_last_word() {
        let log = "========= COMPUTE-SANITIZER\n========= Target application returned an error\n";
        assert_eq!(last_words(log, b"GPU: x\n", b"error: no card\n\n"), "error: no card");
        assert_eq!(last_words(log, b"GPU: x\n", b""), "========= Target application returned an error");
        assert_eq!(last_words("", b"", b""), "it said nothing");
    }
}
