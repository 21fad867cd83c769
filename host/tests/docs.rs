//! The docs quote; they do not paste.

use std::collections::BTreeSet;
use std::fs;

use command::project::root;
use host::docs::{pages, renew, renewed};
use host::exhibits::EXHIBITS;

#[test]
fn every_quotation_is_up_to_date() {
    let stale = renew(&root().expect("the project"), false).expect("the docs can be read");
    assert!(stale.is_empty(), "{stale:?} quote what has changed; run `cargo xtask docs`");
}

/// Commands to type are the only code that is written by hand.
#[test]
fn every_other_block_is_a_command() {
    for path in pages(&root().expect("the project")).expect("the docs can be read") {
        let page = fs::read_to_string(&path).expect("a page");
        let mut quoted = false;
        let mut inside = false;
        for line in page.lines() {
            if line.starts_with("<!-- ") {
                quoted = line != "<!-- end -->";
            }
            if line.starts_with("```") {
                inside = !inside;
                assert!(
                    quoted || !inside || ["```sh", "```console"].contains(&line),
                    "{}: {line}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn the_walk_shows_every_exhibit_in_order() {
    let page = fs::read_to_string(root().expect("the project").join("docs/exhibits.md")).expect("the page");
    let shown: Vec<_> =
        page.lines().filter_map(|line| line.strip_prefix("<!-- exhibit ")?.strip_suffix(" -->")).collect();
    let names: Vec<_> = EXHIBITS.iter().map(|exhibit| exhibit.name).collect();
    assert_eq!(shown, names);
    for name in names {
        assert!(page.contains(&format!("\n## {name}\n")), "{name} has no heading");
    }
}

/// Every row of the comparison with something bold has a remark below it, and no other has.
#[test]
fn every_difference_from_the_checkers_is_explained() {
    let page = fs::read_to_string(root().expect("the project").join("docs/comparison.md")).expect("the page");
    let rows: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("| [")?.split_once(']')).collect();
    let differ: BTreeSet<_> =
        rows.iter().filter(|(_, row)| row.contains("**")).map(|(name, _)| *name).collect();
    let remarks = page.lines().filter_map(|line| line.strip_prefix("* **")?.split_once("**"));
    let explained: BTreeSet<_> =
        remarks.flat_map(|(names, _)| names.trim_end_matches('.').split(", ")).collect();
    assert_eq!(differ, explained);
    let shown: BTreeSet<_> = rows.iter().map(|(name, _)| *name).collect();
    assert_eq!(shown, EXHIBITS.iter().map(|exhibit| exhibit.name).collect());
    let judged = |row: &str| !row.contains("not run") && !row.contains("no verdict");
    assert!(rows.iter().all(|(_, row)| judged(row)), "{rows:?}");
}

#[test]
fn a_changed_quotation_is_taken_anew() {
    let head = "Text.\n\n<!-- from kernels-gpu/src/exhibits/uniform_if.rs fn uniform_if -->\n";
    let new = renewed(&format!("{head}old\n<!-- end -->\nMore.\n"), &root().expect("the project"))
        .expect("a quotation");
    let code = new.strip_prefix(head).expect("the head stays").strip_suffix("<!-- end -->\nMore.\n");
    let code = code.expect("the tail stays");
    assert!(code.starts_with("```rust\n#[kernel]\npub unsafe fn uniform_if("), "{code}");
    assert!(code.ends_with("\n}\n```\n"), "{code}");
    assert_eq!(renewed(&new, &root().expect("the project")).expect("a quotation"), new);
}

#[test]
fn a_section_of_a_transcript_ends_where_the_next_begins() {
    let page = "<!-- from evidence/h200-2026-11-29.txt section bar.sync in the PTX -->\n<!-- end -->\n";
    let new = renewed(page, &root().expect("the project")).expect("a section");
    let lines: Vec<_> = new.lines().collect();
    assert_eq!(lines[1..3], ["```text", "=== bar.sync in the PTX"]);
    assert!(lines[lines.len() - 3].contains("reverse_tile_textbook"), "{new}");
    assert_eq!(lines.len(), 13, "{new}");
}

#[test]
fn what_cannot_be_quoted_is_named() {
    for (page, error) in [
        (
            "<!-- from kernels-gpu/src/tile.rs fn nothing -->\n<!-- end -->\n",
            "no `fn nothing` in kernels-gpu",
        ),
        (
            "<!-- from evidence/h200.sh section nothing -->\n<!-- end -->\n",
            "no `=== nothing` in evidence/h200.sh",
        ),
        ("<!-- from no/file -->\n<!-- end -->\n", "cannot read no/file"),
        ("<!-- exhibit nothing -->\n<!-- end -->\n", "no exhibit is called nothing"),
        ("<!-- exhibit typed-tile -->\n", "has no `<!-- end -->` behind it"),
        ("<!-- a remark -->\n<!-- end -->\n", "not a quotation that is known"),
    ] {
        let found =
            format!("{:#}", renewed(page, &root().expect("the project")).expect_err("it cannot be quoted"));
        assert!(found.contains(error), "{found}");
    }
}
