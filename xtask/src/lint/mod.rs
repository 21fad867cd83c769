//! `cargo xtask lint`: may a barrier be reached by some threads of a block and not by others?
//!
//! CUDA leaves a barrier undefined unless its condition is the same for every thread of the block. This
//! lint reads the source only; it judges on the side of a finding.

mod flow;
mod known;
mod macros;
mod names;
mod pitfalls;
mod print;
mod report;
mod source;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::cargo::root;
use names::Names;
pub(crate) use report::Report;
use report::Reporter;
use source::ParseError;
pub(crate) use source::{Source, parse, read as read_file};

/// Where the kernels are, from the root of the workspace.
const KERNELS: &str = "kernels-gpu/src";

/// Where those are that are wrong on purpose.
const EXHIBITS: &str = "kernels-gpu/src/exhibits";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files or folders to read, together; the lesson's kernels if there are none
    paths: Vec<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Human,
    Json,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let report = check(&read(&args.paths)?)?;
    match args.format {
        Format::Human => writeln!(command::stdout(), "{report}")?,
        Format::Json => writeln!(command::stdout(), "{}", serde_json::to_string_pretty(&report)?)?,
    }
    if args.paths.is_empty() && !report.findings.is_empty() && report.all_within(Path::new(EXHIBITS)) {
        if args.format == Format::Human {
            writeln!(command::stdout(), "all of them in exhibits that are wrong on purpose ({EXHIBITS})")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    Ok(command::verdict(report.findings.is_empty()))
}

/// Lints sources together: calls are followed between them.
pub(crate) fn check(sources: &[Source]) -> Result<Report, ParseError> {
    let files = sources.iter().map(source::parse).collect::<Result<Vec<_>, _>>()?;
    let names = Names::collect(&files);
    let reporter = Reporter::new(sources);
    let flow::Outcome { mut findings, mut notes } = flow::analyse(&names, &reporter);
    findings.extend(pitfalls::find(&files, &names, &reporter));
    findings.sort();
    findings.dedup();
    notes.sort();
    notes.dedup();
    Ok(Report { files: files.len(), barriers: names.barriers, findings, notes })
}

fn read(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let (mut files, mut seen) = (Vec::new(), BTreeSet::new());
    if paths.is_empty() {
        collect(&root().join(KERNELS), &mut files, &mut seen)?;
    }
    for path in paths {
        collect(path, &mut files, &mut seen)?;
    }
    files.sort();
    files.dedup();
    let source = |path: PathBuf| {
        let text = source::read(&path)?;
        let name = command::text::path(path.strip_prefix(root()).unwrap_or(&path));
        Ok(Source { name, text })
    };
    files.into_iter().map(source).collect()
}

/// The Rust files of a folder, or one file. A folder that was `seen` is passed over: links may lead round in a circle.
fn collect(path: &Path, files: &mut Vec<PathBuf>, seen: &mut BTreeSet<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let what = || format!("cannot list {}", path.display());
    if !seen.insert(fs::canonicalize(path).with_context(what)?) {
        return Ok(());
    }
    for entry in fs::read_dir(path).with_context(what)? {
        let entry = entry.with_context(what)?.path();
        if entry.is_dir() || entry.extension().is_some_and(|extension| extension == "rs") {
            collect(&entry, files, seen)?;
        }
    }
    Ok(())
}
