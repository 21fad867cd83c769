//! Running other programs. None of them outlives us: `interrupt.rs` sees to that.

use std::io::{self, Read, Write};
use std::mem;
use std::process::{Command, ExitCode, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use process_wrap::std::CommandWrap;

use crate::interrupt::{end, open};

/// Between two looks at whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// How long what an ended program printed may take to come. What it started may hold its pipes open for ever.
const GRACE: Duration = Duration::from_secs(2);

/// How many bytes of an output are kept; the rest is read and forgotten.
const KEPT: usize = 64 << 20;

/// Runs a program that reads nothing, and returns what it printed to those of its outputs that are pipes;
/// the others are ours.
pub(crate) fn run(command: &mut Command) -> io::Result<Output> {
    run_within(Duration::MAX, command)
}

/// The same, for its status alone.
pub(crate) fn status(command: &mut Command) -> io::Result<ExitStatus> {
    Ok(run(command)?.status)
}

/// The same, within a time limit: after it the program is ended, and the error is `TimedOut`. What it started
/// ends with it, in time or not.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> io::Result<Output> {
    let (id, stdout, stderr) = start(command.stdin(Stdio::null()), Survives::No)?;
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
    // What it opens, such as a browser, is to stay.
    let (id, ..) = start(command, Survives::Yes)?;
    wait(id, Duration::MAX)
}

/// Whether what was started may go on when we are killed, and can end nothing ourselves.
#[derive(Clone, Copy, PartialEq)]
enum Survives {
    #[allow(dead_code, reason = "on Unix a program that may stay takes our place")]
    Yes,
    No,
}

/// Starts a program, with a group of its own for all that it starts, and reads its pipes.
fn start(command: &mut Command, survives: Survives) -> io::Result<(u32, Option<Reader>, Option<Reader>)> {
    let command = mem::replace(command, Command::new(""));
    let mut command = CommandWrap::from(ending_with_us(command, survives));
    #[cfg(unix)]
    command.wrap(process_wrap::std::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::std::JobObject);
    // Before it starts, so that no interrupt comes between.
    let mut open = open();
    let mut child = command.spawn()?;
    #[cfg(windows)]
    if survives == Survives::No {
        end_with_us(&*child);
    }
    let (stdout, stderr) = (child.stdout().take(), child.stderr().take());
    let id = child.id();
    open.children.insert(id, child);
    Ok((id, stdout.map(Reader::start), stderr.map(Reader::start)))
}

/// The system ends the program when the thread that started it is gone; here that one waits for it.
#[cfg(target_os = "linux")]
fn ending_with_us(mut command: Command, survives: Survives) -> Command {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    if survives == Survives::Yes {
        return command;
    }
    let us = std::process::id();
    // SAFETY: between fork and exec, the closure only makes two system calls; it neither allocates nor locks.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have gone before it asked for that.
            let parent = getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
            if parent == Some(us) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
        });
    }
    command
}

/// Elsewhere that is seen to when it has started, or not at all.
#[cfg(not(target_os = "linux"))]
fn ending_with_us(command: Command, _: Survives) -> Command {
    command
}

/// The system ends the program when the last handle of its job is closed, which is when we are gone. Where jobs do
/// not nest, it is only ended by us.
#[cfg(windows)]
fn end_with_us(child: &dyn process_wrap::std::ChildWrapper) {
    use std::os::windows::io::AsRawHandle;

    let job = win32job::Job::create().and_then(|job| {
        let mut limits = job.query_extended_limit_info()?;
        job.set_extended_limit_info(limits.limit_kill_on_job_close())?;
        job.assign_process(child.inner_child().as_raw_handle() as isize)?;
        Ok(job)
    });
    mem::forget(job);
}

/// Reads a pipe beside us.
struct Reader {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<io::Result<()>>,
}

impl Reader {
    fn start(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (send, ended) = mpsc::channel();
        let kept = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            let ended = loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break Ok(()),
                    Ok(count) => {
                        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                        let count = count.min(KEPT.saturating_sub(kept.len()));
                        kept.extend_from_slice(&buffer[..count]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => break Err(error),
                }
            };
            // Nobody may wait for it any more.
            let _ = send.send(ended);
        });
        Self { bytes, ended }
    }
}

/// What an ended program printed.
fn read(reader: Option<Reader>) -> io::Result<Vec<u8>> {
    let Some(Reader { bytes, ended }) = reader else { return Ok(Vec::new()) };
    match ended.recv_timeout(GRACE) {
        Ok(ended) => ended?,
        // Something that it started, and that nobody could end, has the pipe still.
        Err(RecvTimeoutError::Timeout) => {}
        Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::Other.into()),
    }
    Ok(mem::take(&mut bytes.lock().unwrap_or_else(PoisonError::into_inner)))
}

fn wait(id: u32, limit: Duration) -> io::Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(ended) = ended(id, start.elapsed() > limit, limit < Duration::MAX) {
            return ended;
        }
        thread::sleep(PAUSE);
    }
}

/// How the program ended; it does if it is `late`, and all that it started if it is `whole`.
fn ended(id: u32, late: bool, whole: bool) -> Option<io::Result<ExitStatus>> {
    let children = &mut open().children;
    let Some(child) = children.get_mut(&id) else { return Some(Err(io::ErrorKind::NotFound.into())) };
    let mut ended = child.try_wait().transpose();
    if ended.is_none() && late {
        end(&mut **child);
        ended = Some(Err(io::ErrorKind::TimedOut.into()));
    }
    if ended.is_some() {
        if whole {
            // There may be nothing left of it.
            let _ = child.start_kill();
        }
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
    fn what_a_program_leaves_behind_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().expect("a folder");
        let start = Instant::now();
        let mut child = shell("(sleep 3; echo alive > grandchild) & echo out");
        let output = run_within(Duration::from_secs(60), child.current_dir(&folder)).expect("it ends");
        assert_eq!(&*output.stdout, b"out\n");
        // One with a session of its own is not ended, and only not waited for.
        let output = run(&mut shell("setsid sleep 20 & echo out")).expect("it ends");
        assert_eq!(&*output.stdout, b"out\n");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        thread::sleep(Duration::from_secs(3));
        assert!(!folder.path().join("grandchild").exists());
    }

    #[test]
    fn of_an_endless_output_only_so_much_is_kept() {
        let output = run(&mut shell("yes | head -c 100000000")).expect("it ends");
        assert_eq!(output.stdout.len(), KEPT);
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = status(&mut Command::new("/no/such/program")).expect_err("it is not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
