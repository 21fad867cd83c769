//! The report in words.

use std::fmt::{self, Display, Formatter};

use command::text::wrapped;

use super::report::{Finding, Report, Step};

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for note in &self.notes {
            writeln!(f, "{}:{}:{}: note", note.file, note.line, note.column)?;
            writeln!(f, "{}\n", wrapped("  what  ", &note.what))?;
        }
        let Self { files, barriers, findings, .. } = self;
        let findings = findings.len();
        let s = |count| if count == 1 { "" } else { "s" };
        write!(
            f,
            "{files} file{}, {barriers} barrier{}: {findings} finding{}",
            s(*files),
            s(*barriers),
            s(findings)
        )
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = format!("{}:{}:{}: ", self.file, self.line, self.column);
        writeln!(f, "{}", wrapped(&place, self.rule.title()))?;
        writeln!(f, "{}", wrapped("  what  ", &self.what))?;
        if !self.calls.is_empty() {
            writeln!(f, "{}", wrapped("  via   ", &self.steps(&self.calls, " -> ")))?;
        }
        if !self.path.is_empty() {
            writeln!(f, "{}", wrapped("  why   ", &self.steps(&self.path, " <- ")))?;
        }
        writeln!(f, "{}", wrapped("  do    ", self.help))
    }
}

impl Finding {
    /// Steps in one line; the file is only named where it is another one.
    fn steps(&self, steps: &[Step], arrow: &str) -> String {
        let texts = steps.iter().map(|Step { what, file, line, .. }| {
            if *file == self.file {
                format!("{what} (line {line})")
            } else {
                format!("{what} ({file}:{line})")
            }
        });
        texts.collect::<Vec<_>>().join(arrow)
    }
}
