//! Running other programs. None of them outlives us: `interrupt.rs` sees to that.

use std::io::{self, Read, Write};
use std::mem;
use std::process::{Command, ExitCode, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use process_wrap::std::CommandWrap;

use crate::interrupt::{end, open};

/// Between two looks at whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs a program that reads nothing, and returns what it printed to those of its outputs that are pipes;
/// the others are ours.
pub(crate) fn run(command: &mut Command) -> io::Result<Output> {
    run_within(Duration::MAX, command)
}

/// The same, for its status alone.
pub(crate) fn status(command: &mut Command) -> io::Result<ExitStatus> {
    Ok(run(command)?.status)
}

/// The same, within a time limit: after it the program is ended, and the error is `TimedOut`.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> io::Result<Output> {
    let (id, stdout, stderr) = start(command.stdin(Stdio::null()))?;
    let status = wait(id, limit)?;
    Ok(Output { status, stdout: read(stdout)?, stderr: read(stderr)? })
}

/// Ends as this program ends, which has our input and output. On Unix we become it.
pub(crate) fn pass_on(command: &mut Command) -> Result<ExitCode> {
    let what = command.get_program().to_string_lossy().into_owned();
    command::stdout().flush().context("cannot write")?;
    let code = become_it(command).with_context(|| format!("cannot start {what}"))?;
    Ok(exit_code(code))
}

/// A program's exit code as our own.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(command::CANNOT_RUN))
}

/// A program in a group of its own would not be given the terminal's input, so this one takes our place.
#[cfg(unix)]
fn become_it(command: &mut Command) -> io::Result<ExitStatus> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> io::Result<ExitStatus> {
    let (id, ..) = start(command)?;
    wait(id, Duration::MAX)
}

type Reader = Option<JoinHandle<io::Result<Vec<u8>>>>;

/// Starts a program, with a group of its own for all that it starts, and reads its pipes.
fn start(command: &mut Command) -> io::Result<(u32, Reader, Reader)> {
    let command = mem::replace(command, Command::new(""));
    let mut command = CommandWrap::from(command);
    #[cfg(unix)]
    command.wrap(process_wrap::std::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::std::JobObject);
    // Before it starts, so that no interrupt comes between.
    let mut open = open();
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout().take(), child.stderr().take());
    let id = child.id();
    open.children.insert(id, child);
    Ok((id, stdout.map(reader), stderr.map(reader)))
}

fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map(|_| bytes)
    })
}

fn read(reader: Reader) -> io::Result<Vec<u8>> {
    let read = reader.map(|reader| reader.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())));
    read.unwrap_or_else(|| Ok(Vec::new()))
}

fn wait(id: u32, limit: Duration) -> io::Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(ended) = ended(id, start.elapsed() > limit) {
            return ended;
        }
        thread::sleep(PAUSE);
    }
}

/// How the program ended; it does if it is `late`.
fn ended(id: u32, late: bool) -> Option<io::Result<ExitStatus>> {
    let children = &mut open().children;
    let Some(child) = children.get_mut(&id) else { return Some(Err(io::ErrorKind::NotFound.into())) };
    let mut ended = child.try_wait().transpose();
    if ended.is_none() && late {
        end(&mut **child);
        ended = Some(Err(io::ErrorKind::TimedOut.into()));
    }
    if ended.is_some() {
        children.remove(&id);
    }
    ended
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    #[test]
    fn both_outputs_are_read_to_their_end_and_nothing_is_to_be_read() {
        let output = run(&mut shell("cat; echo out; yes err | head -n 100000 >&2; exit 3")).expect("it runs");
        assert_eq!((output.status.code(), &*output.stdout), (Some(3), &b"out\n"[..]));
        assert_eq!(output.stderr.len(), 400_000);
    }

    #[test]
    fn what_takes_too_long_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = shell("(sleep 0.5; echo alive > grandchild) & wait");
        let error = run_within(Duration::from_millis(100), child.current_dir(&folder)).expect_err("late");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        thread::sleep(Duration::from_secs(1));
        assert!(!folder.path().join("grandchild").exists());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = status(&mut Command::new("/no/such/program")).expect_err("it is not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
