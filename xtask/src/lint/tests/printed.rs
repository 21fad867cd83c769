//! What is printed, and what cannot be read.

use super::{Source, check, lint};

const DIVERGENT: &str = "#[kernel]
pub unsafe fn divergent(out: *mut f32) {
    let tid = thread::thread_idx_x();
    let half = tid / 2;
    if half < 16 {
        thread::sync_threads();
    }
}
";

#[test]
fn the_way_is_named() {
    let expected = "\
k.rs:6:9: the barrier may be non-uniform
  what  not every thread of the block may come to `thread::sync_threads()` in
        `divergent`
  why   the condition of `if` (line 5) <- `half` (line 4) <- `tid` (line 3) <-
        thread::thread_idx_x() (line 3)
  do    let every thread that goes on come to this barrier: move it out of the
        branch or loop, or make the condition the same for the whole block

1 file, 1 barrier: 1 finding";
    assert_eq!(lint(DIVERGENT).to_string(), expected);
}

#[test]
fn json_is_stable() {
    let json = serde_json::to_value(lint(DIVERGENT)).unwrap();
    let finding = &json["findings"][0];
    assert_eq!(json["files"], 1);
    assert_eq!(json["barriers"], 1);
    assert_eq!(json["notes"].as_array().unwrap().len(), 0);
    assert_eq!(finding["rule"], "non-uniform-barrier");
    assert_eq!(finding["function"], "divergent");
    assert_eq!(
        (&finding["file"], &finding["line"], &finding["column"]),
        (&"k.rs".into(), &6.into(), &9.into())
    );
    assert_eq!(finding["path"].as_array().unwrap().len(), 4);
    assert_eq!(finding["path"][3]["what"], "thread::thread_idx_x()");
    for field in ["what", "calls", "help"] {
        assert!(!finding[field].is_null(), "{field}");
    }
}

#[test]
fn no_rust_is_one_line() {
    let source = Source { name: "bad.rs".to_owned(), text: "fn f() {\n    let = 3;\n}".to_owned() };
    let error = check(&[source]).unwrap_err().to_string();
    assert!(error.starts_with("bad.rs:2:9: "), "{error}");
    assert_eq!(error.lines().count(), 1);
}
