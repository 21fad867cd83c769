//! `docs/dependencies.md` names every crate once, and there are not many.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const LOCK: &str = include_str!("../../Cargo.lock");
const PAGE: &str = include_str!("../../docs/dependencies.md");

/// The most crates that the programs may be built of.
const MOST: usize = 90;

/// The crates in the tables of a text.
fn listed(text: &str) -> Vec<&str> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.flat_map(|(names, _)| names.split("`, `")).collect()
}

#[test]
fn the_page_lists_what_is_locked() {
    let listed = listed(PAGE);
    let once: BTreeSet<_> = listed.iter().copied().collect();
    assert_eq!(listed.len(), once.len(), "a crate is listed twice");
    let locked = LOCK.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let locked: BTreeSet<_> = locked.collect();
    let missing: Vec<_> = locked.difference(&once).collect();
    let gone: Vec<_> = once.difference(&locked).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not listed: {missing:?}; listed, not locked: {gone:?}");
}

#[test]
fn the_programs_are_built_of_few_crates() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--workspace",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--locked",
        ])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("cargo runs this");
    assert!(output.status.success(), "{output:?}");
    let tree = String::from_utf8(output.stdout).expect("names");
    // A name, a version, and marks behind them.
    let crates: BTreeSet<Vec<&str>> = tree
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>())
        .filter(|words| words.len() == 2)
        .collect();
    assert!(crates.len() > 20, "{tree}");
    assert!(crates.len() < MOST, "{} crates:\n{tree}", crates.len());
    let (built, _) = PAGE.split_once("## Tests and benchmarks only").expect("the heading");
    let built = listed(built);
    for krate in crates {
        assert!(built.contains(&krate[0]), "{} is built, and not only for tests", krate[0]);
    }
}
