//! Text for a terminal.

use std::path::Path;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// How wide a terminal is taken to be.
pub(crate) const COLUMNS: usize = 80;

/// `head` and `text`, broken between words where a line would be too long; what is left begins under the text.
#[must_use]
pub fn wrapped(head: &str, text: &str) -> String {
    let indent = " ".repeat(head.chars().count());
    let options = Options::new(COLUMNS)
        .initial_indent(head)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(text, options)
}

/// A path as the project's pages write it, with one kind of separator: Windows takes both, and mixes them.
#[must_use]
pub fn path(path: &Path) -> String {
    let path = path.display().to_string();
    if cfg!(windows) { path.replace('\\', "/") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_kind_of_separator() {
        let mixed = Path::new("exercise").join("src/tile.rs");
        assert_eq!(path(&mixed), "exercise/src/tile.rs");
    }

    #[test]
    fn lines_are_broken_between_words_only() {
        let text = "word-word ".repeat(12) + &"long/".repeat(20);
        let wrapped = wrapped("  do    ", &text);
        let lines: Vec<_> = wrapped.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("  do    word-word word-word") && lines[0].ends_with("word-word"));
        assert!(lines[1].starts_with("        word-word"), "{wrapped}");
        assert!(lines[2].ends_with(&"long/".repeat(20)), "{wrapped}");
        assert!(lines[..2].iter().all(|line| line.len() <= 80));
    }
}
