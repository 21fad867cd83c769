//! What a program says to whoever reads it.

use std::env;
use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};

use crate::text::wrapped;

/// Standard output, to which a program writes what it found. A reader that has what it wants, such as `head`,
/// closes it; the rest is then lost, and the program goes on to its verdict.
#[must_use]
pub fn stdout() -> Stdout {
    Stdout(dialogue())
}

/// Standard output for what a program does not go on without, such as a question: an error where nobody reads.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that tells the two apart")]
pub fn dialogue() -> io::Stdout {
    io::stdout()
}

/// See [`stdout`].
#[derive(Debug)]
pub struct Stdout(io::Stdout);

impl Stdout {
    /// Whether a person reads it.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.0.is_terminal()
    }

    /// Whether what it writes may be in colour: on a terminal that has any, if nobody objects
    /// (<https://no-color.org>).
    #[must_use]
    pub fn has_colour(&self) -> bool {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        self.is_terminal() && in_colour(set("NO_COLOR").as_deref(), set("TERM").as_deref())
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush(), ())
    }

    /// As one piece: a report is written in hundreds.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(text.to_string().as_bytes())
    }
}

fn in_colour(no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_none() && term.is_none_or(|term| term != "dumb")
}

fn unless_closed<T>(written: io::Result<T>, lost: T) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(lost),
        written => written,
    }
}

/// Says something beside the output, or nothing where nobody reads that: it is no reason to end.
///
/// Programs and logs read it by the line; on a terminal its lines are broken where they are too long.
pub fn note(text: impl Display) {
    let mut stderr = io::stderr();
    let mut text = text.to_string();
    if stderr.is_terminal() {
        text = text.lines().map(broken).collect::<Vec<_>>().join("\n");
    }
    let _ = writeln!(stderr, "{text}");
}

fn broken(line: &str) -> String {
    let heads = ["error: ", "note: "].into_iter();
    let (head, text) =
        heads.filter_map(|head| Some((head, line.strip_prefix(head)?))).next().unwrap_or(("", line));
    wrapped(head, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_goes_on_below_its_text() {
        let [head, word] = ["error: ", "word"];
        let line = format!("{head}{}", [word; 20].join(" "));
        let broken = broken(&line);
        let lines: Vec<_> = broken.lines().collect();
        assert_eq!(lines.len(), 2, "{broken}");
        assert!(lines[0].starts_with("error: word") && lines[1].starts_with("       word"), "{broken}");
    }

    #[test]
    fn a_dumb_terminal_has_no_colour() {
        assert!(in_colour(None, None) && in_colour(None, Some("xterm".as_ref())));
        assert!(!in_colour(None, Some("dumb".as_ref())) && !in_colour(Some("1".as_ref()), None));
    }

    #[test]
    fn only_a_closed_pipe_is_passed_over() {
        let fails = |kind: io::ErrorKind| unless_closed(Err(kind.into()), 3).map_err(|error| error.kind());
        assert_eq!(fails(io::ErrorKind::BrokenPipe), Ok(3));
        assert_eq!(fails(io::ErrorKind::StorageFull), Err(io::ErrorKind::StorageFull));
    }
}
