//! The docs' quotations: code, verdicts and the list of exhibits stand in `docs/` between two comments,
//! and what is between them comes from where they say, never from a keyboard.
//!
//! * `<!-- from PATH fn NAME -->`: a function of that file, with its attributes;
//! * `<!-- from PATH impl NAME -->`: an `impl` block of that file;
//! * `<!-- from PATH -->`: the whole file;
//! * `<!-- from PATH section TITLE -->`: a section of a transcript, which begins with `=== TITLE`, or with more;
//! * `<!-- exhibit NAME -->`: an exhibit's question, verdicts and sentence;
//! * `<!-- exhibits -->`: all of them, a line each;
//! * `<!-- comparison PATH -->`: the verdicts on all of them, beside what that transcript of a card says.
//!
//! Each ends at `<!-- end -->`.

mod comparison;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::exhibits::{EXHIBITS, Exhibit, find};

const OPEN: &str = "<!-- ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// The pages of `docs/`, in the order of their names.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let folder = root.join("docs");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut pages = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

/// A page with every quotation taken anew.
///
/// # Errors
///
/// If a quotation names what does not exist, or does not end.
pub fn renewed(page: &str, root: &Path) -> Result<String> {
    let mut text = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        text += line;
        text.push('\n');
        let Some(source) = line.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) else {
            continue;
        };
        if !lines.by_ref().any(|line| line == END) {
            bail!("`{line}` has no `{END}` behind it");
        }
        text += &quotation(source, root).with_context(|| format!("`{line}`"))?;
        text += END;
        text.push('\n');
    }
    Ok(text)
}

fn quotation(source: &str, root: &Path) -> Result<String> {
    let words: Vec<&str> = source.splitn(4, ' ').collect();
    match words[..] {
        ["from", path] => {
            let text = read(root, path)?;
            Ok(fence(path, text.trim_end()))
        }
        ["from", path, kind @ ("fn" | "impl"), name] => {
            let text = read(root, path)?;
            let item = item(&text, kind, name).with_context(|| format!("no `{kind} {name}` in {path}"))?;
            Ok(fence(path, &item))
        }
        ["from", path, "section", title] => {
            let text = read(root, path)?;
            let section = section(&text, title).with_context(|| format!("no `=== {title}` in {path}"))?;
            Ok(fence(path, section))
        }
        ["exhibit", name] => {
            let exhibit = find(name).with_context(|| format!("no exhibit is called {name}"))?;
            Ok(verdicts(exhibit))
        }
        ["comparison", path] => Ok(comparison::table(&read(root, path)?)),
        ["exhibits"] => Ok(EXHIBITS.iter().map(line).collect()),
        _ => bail!("not a quotation that is known"),
    }
}

fn read(root: &Path, path: &str) -> Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

fn fence(path: &str, code: &str) -> String {
    let language = if path.ends_with(".rs") { "rust" } else { "text" };
    format!("```{language}\n{code}\n```\n")
}

/// The item's lines, from its first attribute to the brace that stands where it began.
fn item(text: &str, kind: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let declares = |line: &&str| {
        let line = line.trim_start();
        let rest = line.split_once(&format!("{kind} {name}"));
        rest.is_some_and(|(before, rest)| {
            before.split_whitespace().all(|word| ["pub", "unsafe", "const"].contains(&word))
                && rest.starts_with(['(', ' ', '<'])
        })
    };
    let at = lines.iter().position(declares)?;
    let indent = lines[at].len() - lines[at].trim_start().len();
    let attributes = lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with("#[")).count();
    let end = lines[at..].iter().position(|line| line.len() == indent + 1 && line.ends_with('}'))?;
    let item = &lines[at - attributes..=at + end];
    Some(item.iter().map(|line| line.get(indent..).unwrap_or_default()).collect::<Vec<_>>().join("\n"))
}

/// A section of a transcript, with its title.
fn section<'a>(text: &'a str, title: &str) -> Option<&'a str> {
    let from = &text[text.find(&format!("=== {title}"))?..];
    let end = from.find("\n\n===").unwrap_or(from.len());
    Some(from[..end].trim_end())
}

fn line(exhibit: &Exhibit) -> String {
    format!("- [`{0}`](#{0}): {1}\n", exhibit.name, exhibit.proves)
}

/// The question, the verdicts that the table of exhibits asks for, and the sentence.
fn verdicts(exhibit: &Exhibit) -> String {
    let mut text = format!("{}\n\n", exhibit.question);
    text += "| threads a block | answer | race | barrier | memory |\n|---:|---|---|---|---|\n";
    for &block in exhibit.blocks.shown() {
        let expected = exhibit.expected(block);
        let answer = if expected.is_clean() { "right" } else { "not promised" };
        let [race, barrier, memory] = expected.words();
        text += &format!("| {block} | {answer} | {race} | {barrier} | {memory} |\n");
    }
    text + &format!("\n**{}**\n", exhibit.proves)
}

/// Renews every page of `docs/`, or only looks. Returns the pages that were not up to date.
///
/// # Errors
///
/// If a page cannot be read or written, or quotes what does not exist.
pub fn renew(root: &Path, write: bool) -> Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    for path in pages(root)? {
        let shown = path.strip_prefix(root).unwrap_or(&path).to_owned();
        let page = fs::read_to_string(&path).with_context(|| format!("cannot read {}", shown.display()))?;
        let new = renewed(&page, root).with_context(|| format!("cannot renew {}", shown.display()))?;
        if new != page {
            if write {
                fs::write(&path, new).with_context(|| format!("cannot write {}", shown.display()))?;
            }
            stale.push(shown);
        }
    }
    Ok(stale)
}
