//! The picture: what a page embeds is what the trace says, and what a browser shows is what it embeds.

mod browser;
mod command;
mod data;
mod replay;

use host::exhibits::{EXHIBITS, Exhibit};
use host::explain::page::{Contents, Shown, page};
use host::explain::{Extent, choices, scene};

/// One page with every exhibit, the first in full, as `cargo xtask explain` writes it.
fn one_page(first: &'static Exhibit) -> (Contents, String) {
    let shown = |exhibit: &'static Exhibit| {
        let extent = if exhibit.name == first.name { Extent::Whole } else { Extent::Brief };
        let scenes = scene::scenes(exhibit, &choices(exhibit, None, 0, extent), None);
        Shown { exhibit, scenes: scenes.expect("the emulator runs every exhibit") }
    };
    let contents =
        Contents { shown: EXHIBITS.iter().map(shown).collect(), pages: Vec::new(), first, block: None };
    let text = page(&contents);
    (contents, text)
}
