//! `cargo xtask racecheck`, `synccheck` and `memcheck`: NVIDIA's compute-sanitizer on one kernel at a time.

mod expected;
mod output;
mod report;
mod subject;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use driver::Absent;

use crate::cargo::target_dir;
use crate::child;
use crate::cuda::Program;
use crate::machine::Machine;
use crate::ptx::Compiler;
use crate::workshop::Workshop;
use expected::Verdict;
use output::Output;
use subject::Subject;

/// What to judge.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A kernel of the lesson, or an exhibit that is sure to end; the lesson's three kernels if none is named
    name: Option<String>,
    /// Block sizes to run it with, comma-separated; without, 32,64,128,256 or what the exhibit shows
    #[arg(long, value_delimiter = ',')]
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

/// What one launch of a kernel came to.
struct Judged {
    name: String,
    block: u32,
    output: Output,
    /// What it had to come to, if this project asks for anything.
    wanted: Option<Verdict>,
}

/// The exit code that compute-sanitizer is to give when it finds something: no other program's.
const FOUND: i32 = 86;

pub(crate) fn run(tool: Tool, args: &Args) -> Result<ExitCode> {
    let subjects = Subject::named(args.name.as_deref())?;
    let (sanitizer, card) = match (find(), driver::probe()) {
        (Ok(sanitizer), Ok(card)) => (sanitizer, card),
        (sanitizer, card) => {
            let instead = subjects.first().map(Subject::on_emulator).unwrap_or_default();
            bail!("{}", missing(tool, sanitizer.is_err(), card.err().as_ref(), &instead));
        }
    };
    let program = Program::for_card(&card, Compiler::Auto)?;
    let logs = logs()?;

    let mut judged = Vec::new();
    for subject in &subjects {
        let name = subject.name();
        let blocks = if args.blocks.is_empty() { subject.blocks() } else { &args.blocks };
        for &block in blocks {
            let log = logs.join(format!("{}-{name}-{block}.txt", tool.name()));
            let what = format!("{} of {name}, {block} threads a block", tool.name());
            let output = judge(&sanitizer, tool, &what, &subject.launch(&program, block), &log)?;
            judged.push(Judged {
                name: name.to_owned(),
                block,
                output,
                wanted: subject.verdict(tool, block),
            });
        }
    }
    let (name, table) = (tool.name(), report::table(tool, &judged));
    let mut stdout = command::stdout();
    writeln!(stdout, "{name} on {}, compute capability {}\n{table}", card.name, card.capability)?;
    writeln!(stdout, "compute-sanitizer's own words: {}", logs.display())?;
    if judged.iter().all(|launch| launch.wanted.is_none()) {
        writeln!(stdout, "where this differs from the emulator, and why: docs/comparison.md")?;
        return Ok(ExitCode::SUCCESS);
    }
    let surprises = report::surprises(tool, &judged);
    if surprises.is_empty() {
        writeln!(stdout, "every verdict is the expected one")?;
        return Ok(ExitCode::SUCCESS);
    }
    command::note(surprises.join("\n"));
    Ok(command::verdict(false))
}

/// Where compute-sanitizer is.
pub(crate) fn find() -> Result<PathBuf> {
    Machine::here().toolkit_program("compute-sanitizer").context(
        "no compute-sanitizer on PATH or in a CUDA toolkit; it comes with the toolkit \
         (https://developer.nvidia.com/cuda-downloads)",
    )
}

/// What a checker cannot do without, and what serves instead.
fn missing(tool: Tool, sanitizer: bool, card: Option<&Absent>, instead: &str) -> String {
    let sanitizer = sanitizer.then(|| "compute-sanitizer of a CUDA toolkit".to_owned());
    let card = card.map(|absent| format!("a card ({absent})"));
    let both: Vec<_> = sanitizer.into_iter().chain(card).collect();
    format!("{} needs {}; without: `{instead}`", tool.name(), both.join(" and "))
}

/// What racecheck says of a program's only launch, in a word or two.
pub(crate) fn racecheck(what: &str, program: &Command) -> Result<String> {
    let output = judge(&find()?, Tool::Racecheck, what, program, &logs()?.join("racecheck.txt"))?;
    Ok(report::said(&output))
}

/// Where its own words are kept.
fn logs() -> Result<PathBuf> {
    let logs = target_dir().join("sanitizer");
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    Ok(logs)
}

/// Runs a program under compute-sanitizer.
fn judge(sanitizer: &Path, tool: Tool, what: &str, program: &Command, log: &Path) -> Result<Output> {
    // What another run writes must not pass for this one's.
    let workshop = Workshop::new()?;
    let ours = workshop.path().join("log.txt");
    let mut check = Command::new(sanitizer);
    check
        .args(tool.flags())
        .args(["--error-exitcode", &FOUND.to_string(), "--show-backtrace", "no", "--log-file"])
        .arg(&ours)
        .arg(program.get_program())
        .args(program.get_args())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ran = child::run(&mut check).with_context(|| format!("cannot start {}", sanitizer.display()))?;
    let text = fs::read_to_string(&ours).unwrap_or_default();
    command::file::write(log, &text)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_did_not_run_is_no_clean_verdict() {
        let found = |found| Output { found, ..Output::default() };
        assert!(is_verdict(Some(0), &found(0)) && is_verdict(Some(FOUND), &found(1)));
        assert!(is_verdict(Some(2), &found(3)), "the launch ended in what the checker found");
        assert!(!is_verdict(Some(2), &found(0)) && !is_verdict(None, &found(0)));
    }

    #[test]
    fn what_is_missing_is_named_with_what_serves_instead() {
        let (card, instead) = (Absent::Broken("old".into()), "cargo xtask exhibit odd-warp");
        assert_eq!(
            missing(Tool::Synccheck, true, Some(&card), instead),
            "synccheck needs compute-sanitizer of a CUDA toolkit and a card (the NVIDIA driver cannot be used: \
             old; install it again); without: `cargo xtask exhibit odd-warp`"
        );
        assert_eq!(
            missing(Tool::Memcheck, true, None, instead),
            "memcheck needs compute-sanitizer of a CUDA toolkit; without: `cargo xtask exhibit odd-warp`"
        );
        assert!(
            missing(Tool::Racecheck, false, Some(&card), instead).starts_with("racecheck needs a card (")
        );
    }

    #[test]
    fn the_programs_own_error_is_the_last_word() {
        let log = "========= COMPUTE-SANITIZER\n========= Target application returned an error\n";
        assert_eq!(last_words(log, b"GPU: x\n", b"error: no card\n\n"), "error: no card");
        assert_eq!(last_words(log, b"GPU: x\n", b""), "========= Target application returned an error");
        assert_eq!(last_words("", b"", b""), "it said nothing");
    }
}
