//! The measuring program as it is started.

use std::process::{Command, Output};

use serde_json::Value;

fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench")).args(args).output().expect("it was just built")
}

#[test]
fn figures_for_programs() {
    let output = bench(&["checks", "--rounds", "2", "--format", "json"]);
    assert!(output.status.success(), "{output:?}");
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["rounds"], 2);
    let figure = &all["figures"][0];
    let rows = figure["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 8, "two kernels at four block sizes");
    for row in rows {
        let measured = row["measured"].as_array().expect("one for each column but the first");
        assert_eq!(measured.len() + 1, figure["columns"].as_array().expect("columns").len());
        for spread in measured {
            let [min, median, max] =
                ["min", "median", "max"].map(|of| spread[of].as_f64().expect("a number"));
            assert!(0.0 < min && min <= median && median <= max, "{row}");
        }
    }
}

#[test]
fn memory_is_more_for_more_elements() {
    let of = |n: &str| -> f64 {
        let output = bench(&["--memory-of", n]);
        String::from_utf8(output.stdout).expect("text").trim().parse().expect("a number")
    };
    // At least the copy of the output.
    assert!(of("2097152") > 4.0 * 2_097_152.0 && of("2097152") > of("65536"));
}

#[test]
fn what_cannot_be_measured_is_said_in_one_line() {
    for (args, why) in [
        (&["--rounds", "0"][..], "invalid value '0'"),
        (&["job", "--peers"], "cannot be used with"),
        (&["nothing"], "invalid value 'nothing'"),
        (&["--memory-of", "0"], "leaves nothing to launch"),
    ] {
        let output = bench(args);
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(why), "{said}");
        assert!(output.stdout.is_empty());
    }
}
