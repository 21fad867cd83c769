//! An exhibit's source, as a page with line numbers.

use super::Exhibit;

/// The kernels of a page, from the first `#[kernel]` on.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    exhibit: &'static Exhibit,
}

/// How a marked line stands out where there is colour.
const BOLD: &str = "\x1b[1;33m";
const PLAIN: &str = "\x1b[0m";

impl Listing {
    /// The listing of an exhibit.
    #[must_use]
    pub fn new(exhibit: &'static Exhibit) -> Self {
        Self { exhibit }
    }

    /// The numbers of the two lines that the exhibit is about, from 1.
    #[must_use]
    pub fn marked(&self) -> Vec<usize> {
        let begins = |line: &str| self.exhibit.marks.iter().any(|mark| line.trim_start().starts_with(mark));
        self.lines().filter(|&(_, line)| begins(line)).map(|(number, _)| number).collect()
    }

    /// Every line with its number; the marked ones with a `>` before it, and in colour if asked for.
    #[must_use]
    pub fn text(&self, colour: bool) -> String {
        let marked = self.marked();
        let mut text = String::new();
        for (number, line) in self.lines() {
            let whole = match (marked.contains(&number), line) {
                (true, line) if colour => format!("{BOLD}> {number:>3}  {line}{PLAIN}"),
                (true, line) => format!("> {number:>3}  {line}"),
                (false, "") => format!("  {number:>3}"),
                (false, line) => format!("  {number:>3}  {line}"),
            };
            text += &whole;
            text.push('\n');
        }
        text
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let numbered = (1..).zip(self.exhibit.page.text.lines());
        numbered.skip_while(|(_, line)| line.trim() != "#[kernel]")
    }
}
