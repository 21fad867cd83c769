//! `cargo xtask check` on the kernels of tests/cases, on each engine. What is right stands in their first lines:
//!
//! ```text
//! expect: race=warning,error barrier=ok memory=ok access=ok   a race for each block size, or one for all
//! source: refused WORDS        --engine source says that it cannot follow this
//! source: cannot-run WORDS     it cannot run this, and says why
//! source: any                  it has to find something, or to refuse
//! flags: --block 32,64 --n 256
//! ```

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Done, run};
use serde_json::Value;

struct Case {
    path: PathBuf,
    /// By column, one for each block size or one for all.
    expect: Vec<(String, Vec<String>)>,
    source: Option<String>,
    flags: Vec<String>,
}

impl Case {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("a case");
        let of = |key: &str| {
            let mut lines = text.lines().map(|line| line.trim_start_matches(['/', '!', ' ']));
            lines.find_map(|line| line.strip_prefix(key)).map(|rest| rest.trim().to_owned())
        };
        let columns = of("expect:").expect("each case says what is right");
        let columns = columns.split_whitespace().filter_map(|column| column.split_once('='));
        let expect = columns.map(|(name, values)| {
            (name.to_owned(), values.split(',').map(|value| value.replace('-', " ")).collect())
        });
        Self {
            expect: expect.collect(),
            source: of("source:"),
            flags: of("flags:").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            path,
        }
    }

    fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).expect("a name")
    }

    fn check(&self, engine: &str) -> Done {
        let mut arguments = vec!["check", self.name(), "--engine", engine, "--format", "json", "--no-card"];
        arguments.extend(self.flags.iter().map(String::as_str));
        run(self.path.parent().expect("a folder"), &arguments, "")
    }

    /// What is not as it must be.
    fn wrong(&self, done: &Done, engine: &str) -> Option<String> {
        let Ok(report) = serde_json::from_str::<Value>(&done.stdout) else {
            return Some(format!("no verdict: {}", done.stderr.trim()));
        };
        let launches = report["launches"].as_array().expect("launches");
        for (index, launch) in launches.iter().enumerate() {
            for (column, wanted) in &self.expect {
                let wanted = wanted.get(index).or(wanted.first()).expect("a value");
                let said = launch[column].as_str().expect("a verdict");
                // `RAW hazard, error`.
                let got = match said.rsplit_once(", ") {
                    Some((_, level)) if column == "race" => level,
                    _ if said == "sync_warp misused" => "misuse",
                    // Behind a fault the source engine does not know, and says so.
                    _ if said == "not judged" && engine == "source" && launch["access"] != "ok" => continue,
                    _ => said,
                };
                if wanted != "any" && wanted != got {
                    return Some(format!("block {}: {column} {said}, and not {wanted}", launch["block"]));
                }
            }
        }
        None
    }

    /// The same of the engine that runs the source: right, or refused by name.
    fn wrong_in_source(&self, done: &Done) -> Option<String> {
        let Some(source) = &self.source else { return self.wrong(done, "source") };
        let refused = done.code == Some(2) && done.stderr.contains("error: ");
        let as_said = match source.split_once(' ').unwrap_or((source, "")) {
            ("any", _) => refused || done.code == Some(1),
            ("refused", what) => {
                refused && done.stderr.contains("cannot follow") && done.stderr.contains(what)
            }
            (_, why) => refused && done.stderr.contains(why),
        };
        (!as_said).then(|| format!("not {source}: {:?}, {}", done.code, done.stderr.trim()))
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
    files.sort();
    files.into_iter().map(Case::read).collect()
}

#[track_caller]
fn all_right(wrong: Vec<(String, String)>) {
    let lines: Vec<_> = wrong.iter().map(|(name, what)| format!("{name}: {what}")).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

/// Run it with `cargo test --release -p xtask --test cases -- --ignored`.
#[test]
#[ignore = "needs a compiler for the GPU"]
fn every_case_is_right_on_the_ptx_engine() {
    let judge = |case: &Case| Some((case.name().to_owned(), case.wrong(&case.check("ptx"), "ptx")?));
    let ptx = cases().into_iter();
    all_right(ptx.filter_map(|case| judge(&case)).collect());
}

#[test]
fn what_is_ptx_already_needs_no_compiler() {
    let judge = |case: &Case| Some((case.name().to_owned(), case.wrong(&case.check("auto"), "ptx")?));
    let ptx = cases().into_iter().filter(|case| case.name().ends_with(".ptx"));
    all_right(ptx.filter_map(|case| judge(&case)).collect());
}

#[test]
fn every_case_is_right_on_the_source_engine_or_refused_by_name() {
    let judge = |case: &Case| Some((case.name().to_owned(), case.wrong_in_source(&case.check("source"))?));
    let rust = cases().into_iter().filter(|case| case.name().ends_with(".rs"));
    all_right(rust.filter_map(|case| judge(&case)).collect());
}
