//! What the lint found, as data. The texts of all rules live here.

use std::path::Path;

use serde::Serialize;

use super::source::{Site, Source};
use super::value::Reason;

/// The result of a lint. The names and meanings of its fields are stable: they are the JSON form.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Files read.
    pub(crate) files: usize,
    /// Barrier calls in them.
    pub(crate) barriers: usize,
    pub(crate) findings: Vec<Finding>,
    pub(crate) notes: Vec<Note>,
}

impl Report {
    /// Whether every finding lies in this folder.
    pub(super) fn all_within(&self, folder: &Path) -> bool {
        self.findings.iter().all(|finding| Path::new(&finding.file).starts_with(folder))
    }
}

/// Which rule a finding breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    /// Not every thread of the block may come to a barrier.
    NonUniformBarrier,
    /// A barrier is where this lint does not see its conditions.
    UntrackedBarrier,
    /// A write to a copy of a shared slot.
    WriteToCopy,
    /// A raw pointer into shared memory.
    UntrackedPointer,
    /// What only a computer with an operating system has, or a file that is not this one.
    HostOnly,
}

impl Rule {
    /// The rule in a few words.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::NonUniformBarrier => "the barrier may be non-uniform",
            Self::UntrackedBarrier => "the barrier cannot be judged",
            Self::WriteToCopy => "writes to a copy of the slot",
            Self::UntrackedPointer => "the pointer cannot be tracked",
            Self::HostOnly => "no GPU has this",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::NonUniformBarrier => {
                "let every thread that goes on come to this barrier: move it out of the branch or loop, or \
                 make the condition the same for the whole block"
            }
            Self::UntrackedBarrier => {
                "call the barrier by its name, in a function or closure called by its own"
            }
            Self::WriteToCopy => "put the whole statement into the block: `unsafe { TILE[t].write(x) }`",
            Self::UntrackedPointer => "index the shared array itself, wherever it is read or written",
            Self::HostOnly => {
                "a kernel has `core` and `cuda_std`, and neither files, processes nor an output"
            }
        }
    }
}

/// A place in a file, and what is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Step {
    pub(crate) what: String,
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// One thing that is wrong, or may be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) rule: Rule,
    /// The kernel, or the function that no kernel calls, in which this happens.
    pub(crate) function: String,
    pub(crate) what: String,
    /// From what the barrier depends on, back to where threads begin to differ.
    pub(crate) path: Vec<Step>,
    /// The calls on the way from `function` to here.
    pub(crate) calls: Vec<Step>,
    pub(crate) help: &'static str,
}

/// Something to know that is not wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Note {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

/// Turns places in the analysed sources into entries of a report.
#[derive(Debug)]
pub(super) struct Reporter<'s> {
    sources: &'s [Source],
}

impl<'s> Reporter<'s> {
    pub(super) fn new(sources: &'s [Source]) -> Self {
        Self { sources }
    }

    pub(super) fn finding(&self, rule: Rule, site: Site, function: &str, what: String) -> Finding {
        Finding {
            file: self.file(site),
            line: site.line,
            column: site.column,
            rule,
            function: function.to_owned(),
            what,
            path: Vec::new(),
            calls: Vec::new(),
            help: rule.help(),
        }
    }

    /// A barrier under a thread-dependent condition, with the calls that lead to it, outermost first.
    pub(super) fn non_uniform(
        &self,
        barrier: &str,
        site: Site,
        calls: &[(String, Site)],
        cause: &Reason,
    ) -> Finding {
        let function = calls.first().map(|(name, _)| name.as_str()).unwrap_or_default();
        let what = format!("not every thread of the block may come to `{barrier}()` in `{function}`");
        let path = std::iter::successors(Some(cause), |reason| reason.from.as_deref())
            .map(|reason| self.step(&reason.what, reason.site))
            .collect();
        let calls = calls.iter().skip(1).map(|(name, site)| self.step(&format!("`{name}`"), *site)).collect();
        Finding { path, calls, ..self.finding(Rule::NonUniformBarrier, site, function, what) }
    }

    /// A barrier under a condition that may be the same for all threads, as far as the source tells.
    pub(super) fn not_shown_uniform(&self, barrier: Site, cause: &Reason) -> Note {
        let source = std::iter::successors(Some(cause), |reason| reason.from.as_deref()).last();
        let (what, line) =
            source.map_or(("a value", barrier.line), |source| (&*source.what, source.site.line));
        let what = format!(
            "this barrier's condition could not be shown uniform: it depends on {what} (line {line}); if that is not \
             the same for the whole block, the behaviour is undefined"
        );
        self.note(what, barrier)
    }

    pub(super) fn ended(&self, barrier: Site, exit: &Reason) -> Note {
        let barrier = barrier.line;
        let what = format!(
            "threads that return here do not take part in the barrier of line {barrier}: it does not wait for \
             them, and does not order what they wrote"
        );
        self.note(what, exit.site)
    }

    pub(super) fn unread(&self, function: &str, site: Site) -> Note {
        let what = format!("`{function}` is not among the files read: a barrier in it would not be seen");
        self.note(what, site)
    }

    fn note(&self, what: String, site: Site) -> Note {
        Note { file: self.file(site), line: site.line, column: site.column, what }
    }

    fn step(&self, what: &str, site: Site) -> Step {
        Step { what: what.to_owned(), file: self.file(site), line: site.line, column: site.column }
    }

    fn file(&self, site: Site) -> String {
        self.sources.get(site.file).map(|source| source.name.clone()).unwrap_or_default()
    }
}
