//! The command line.

use std::process::{Command, Output, Stdio};

fn explain(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_explain")).args(args).output().expect("the program starts")
}

#[track_caller]
fn refused(args: &[&str], why: &str) {
    let output = explain(args);
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains(why), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    refused(
        &["block-33-hides-it"],
        "no exhibit is called \"block-33-hides-it\"; did you mean `block-32-hides-it`?",
    );
    refused(&["--block", "33"], "at 32, 64, 128, 256");
    refused(&["--block", "4294967295"], "at 32, 64, 128, 256");
    refused(&["--block", "many"], "invalid value");
    refused(&["tiled-multiply", "--block", "1024"], "more steps there than a page can show");
    refused(&["-o", "/nowhere/at/all.html"], "cannot write /nowhere/at/all.html");
    refused(&["-o", "."], "is no file");
    refused(&["--all", "-o", "Cargo.toml/site"], "cannot make the folder");
}

#[test]
#[cfg(unix)]
fn a_device_is_no_file() {
    refused(&["-o", "/"], "/ is no file");
    refused(&["-o", "/dev/full"], "/dev/full is no file");
}

/// The page holds the run that was asked for, and is still small.
#[test]
fn any_block_and_seed_can_be_asked_for() {
    let file = std::env::temp_dir().join(format!("explain-asked-{}.html", std::process::id()));
    let name = file.to_str().expect("text");
    let output =
        explain(&["needs-a-barrier", "--block", "1024", "--seed", "18446744073709551615", "-o", name]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(&file).expect("a page");
    assert!(page.contains(r#""first":"needs-a-barrier","block":1024"#));
    assert!(page.contains("seed 18446744073709551615"));
    assert!(page.len() <= 1_000_000, "{} bytes", page.len());
    std::fs::remove_file(&file).expect("the page");
}

#[test]
fn a_site_links_what_it_holds() {
    let folder = std::env::temp_dir().join(format!("explain-site-{}", std::process::id()));
    let output = explain(&["--all", "-o", folder.to_str().expect("text")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let index = std::fs::read_to_string(folder.join("index.html")).expect("an index");
    for exhibit in host::exhibits::EXHIBITS {
        let name = format!("{}.html", exhibit.name);
        assert!(index.contains(&format!("href=\"{name}\"")), "{name}");
        assert!(folder.join(&name).is_file(), "{name}");
    }
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), host::exhibits::EXHIBITS.len() + 1);
    std::fs::remove_dir_all(&folder).expect("the folder");
}

#[test]
fn two_runs_at_once_leave_one_whole_page() {
    let folder = std::env::temp_dir().join(format!("explain-at-once-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let args = |block: &'static str, file: &str| {
        let file = folder.join(file).display().to_string();
        ["two-blocks", "--block", block, "-o"].map(str::to_owned).into_iter().chain([file])
    };
    let page = |file: &str| std::fs::read_to_string(folder.join(file)).expect("a page");
    let blocks = ["64", "128"];
    for block in blocks {
        let mut alone = Command::new(env!("CARGO_BIN_EXE_explain"));
        assert!(alone.args(args(block, block)).output().expect("it starts").status.success());
    }
    let together = blocks.map(|block| {
        Command::new(env!("CARGO_BIN_EXE_explain"))
            .args(args(block, "together"))
            .stdout(Stdio::null())
            .spawn()
    });
    for run in together {
        assert!(run.expect("it starts").wait().expect("it runs").success());
    }
    assert_ne!(page("64"), page("128"));
    assert!(blocks.map(page).contains(&page("together")), "it is one of the two");
    let files = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(files, 3, "and nothing else is left");
    std::fs::remove_dir_all(&folder).expect("the folder");
}
