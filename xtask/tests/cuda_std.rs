//! What kernels use of `cuda_std` compiles to the instructions it stands for: `cargo xtask ptx FILE`.
//!
//! It compiles `core` twice and a dozen files, so it is ignored by default:
//!
//! ```console
//! $ cargo test --release --package xtask --test cuda_std -- --ignored
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

/// The PTX that `cargo xtask ptx` makes with these arguments.
fn compile(args: &[&str], output: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(output);
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output = xtask.arg("ptx").args(args).arg("--output").arg(&path).output().expect("xtask was built");
    assert!(output.status.success(), "{args:?}: {output:?}");
    std::fs::read_to_string(path).expect("the PTX")
}

/// The PTX of one of the files beside this one.
fn ptx(name: &str, flags: &[&str]) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels_of_cuda_std").join(name);
    let file = file.to_str().expect("a path that can be written");
    compile(&[&[file], flags].concat(), &format!("{name}{}.ptx", flags.concat()))
}

fn verdict(name: &str) -> String {
    ptx(name, &["--for", "verdict"])
}

/// A kernel's statements.
fn kernel<'a>(ptx: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(".visible .entry {name}(");
    let body = ptx.split_once(&start).unwrap_or_else(|| panic!("no {name}")).1;
    body.lines()
        .take_while(|line| *line != "}")
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .collect()
}

#[track_caller]
fn count(ptx: &str, name: &str, opcode: &str, expected: usize) {
    let statements = kernel(ptx, name);
    let found = statements.iter().filter(|line| line.starts_with(opcode)).count();
    assert_eq!(found, expected, "{opcode} in {name}:\n{}", statements.join("\n"));
}

#[test]
#[ignore = "compiles core for the GPU"]
fn threads() {
    let ptx = verdict("threads.rs");
    for (opcode, times) in [("bar.red.popc.u32", 1), ("bar.red.and.pred", 1), ("bar.red.or.pred", 1)] {
        count(&ptx, "voting_barriers", opcode, times);
    }
    for opcode in ["membar.cta", "membar.gl", "membar.sys", "nanosleep.u32", "mov.u64 %rd"] {
        assert!(kernel(&ptx, "fences").iter().any(|line| line.starts_with(opcode)), "{opcode}");
    }
    count(&ptx, "fences", "st.", 3);
    for register in ["%tid.z", "%ntid.y", "%ctaid.z", "%nctaid.x"] {
        assert!(kernel(&ptx, "vectors").iter().any(|line| line.contains(register)), "{register}");
    }
    assert!(kernel(&ptx, "indices").len() > 10);
}

#[test]
#[ignore = "compiles core for the GPU"]
fn warps() {
    let ptx = verdict("warps.rs");
    for (opcode, times) in
        [("shfl.sync.down", 1), ("shfl.sync.up", 1), ("shfl.sync.idx", 2), ("shfl.sync.bfly", 2)]
    {
        count(&ptx, "shuffles", opcode, times);
    }
    for opcode in ["vote.sync.all", "vote.sync.any", "vote.sync.ballot", "bar.warp.sync", "activemask"] {
        count(&ptx, "votes", opcode, 1);
    }
    count(&ptx, "matches", "match.any.sync", 2);
    count(&ptx, "reductions", "redux.sync", 3);
}

#[test]
#[ignore = "compiles core for the GPU"]
fn atomics() {
    let ptx = verdict("atomics.rs");
    let all = kernel(&ptx, "integers").join("\n");
    for opcode in
        ["atom.add.u32", "atom.global.max.u32", "atom.acquire.sys.global.cas.b32", "atom.global.xor.b64"]
    {
        assert!(all.contains(opcode), "{opcode}:\n{all}");
    }
    count(&ptx, "floats", "atom.relaxed.gpu.add.f32", 1);
    count(&ptx, "floats", "atom.acq_rel.cta.add.f64", 1);
}

#[test]
#[ignore = "compiles core for the GPU"]
fn floats() {
    let ptx = verdict("floats.rs");
    for (opcode, times) in
        [("sqrt.rn.f32", 1), ("sqrt.rn.f64", 1), ("fma.rn.f32", 1), ("cvt.rmi", 1), ("cvt.rpi", 1)]
    {
        count(&ptx, "instructions", opcode, times);
    }
    assert!(kernel(&ptx, "functions").len() > 100);
    let outside: Vec<_> = ptx.lines().filter(|line| line.starts_with(".extern")).collect();
    assert!(outside.iter().all(|line| line.contains("panicking") || line.contains("shared")), "{outside:?}");
}

#[test]
#[ignore = "compiles core for the GPU"]
fn shared() {
    let ptx = verdict("shared.rs");
    for (name, barriers, stores, loads) in [
        ("helper_called_twice", 2, 1, 2),
        ("dynamic", 1, 1, 1),
        ("three_trips", 2, 1, 1),
        ("read_twice", 0, 3, 1),
        ("write_to_a_copy", 0, 0, 0),
    ] {
        count(&ptx, name, "bar.sync", barriers);
        count(&ptx, name, "st.shared", stores);
        count(&ptx, name, "ld.shared", loads);
    }
    assert!(ptx.contains(".extern .shared .align 16 .b8 cuda_std_dynamic_shared[];"));
    assert!(ptx.contains(".b8 GRID$"), "{ptx}");
}

#[test]
#[ignore = "compiles core for the GPU"]
fn printing() {
    let ptx = verdict("printing.rs");
    count(&ptx, "prints", "call.uni (retval0), vprintf", 4);
    let bytes = |text: &str| text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
    for format in ["100%% {", "%3llu %.2f %g %s %#llx}\n", "%p\n", "\n"] {
        assert!(ptx.contains(&format!("= {{{}}};", bytes(format))), "{format:?}");
    }
    assert!(kernel(&ptx, "panics").iter().any(|line| line.contains("panic_bounds_check")));
}

#[test]
#[ignore = "compiles core for the GPU"]
fn parameters() {
    let ptx = verdict("parameters.rs");
    let signature = ptx.split_once(".visible .entry parameters(").expect("the kernel").1;
    let types: Vec<_> = signature.lines().skip(1).take_while(|line| *line != ")").collect();
    let types: Vec<_> = types.iter().map(|line| line.trim().trim_end_matches(',')).collect();
    assert_eq!(types.len(), 8, "{types:?}");
    assert!(types[4].contains(".b8") && types[4].ends_with("[40]"), "{types:?}");
    assert!(ptx.contains(".visible .entry nothing()"));
}

/// Barriers, stores and loads of the source, memory of all kinds together; a loop has each once.
#[test]
#[ignore = "compiles core for the GPU"]
fn the_projects_kernels_keep_what_their_source_has() {
    let ptx = compile(&["--for", "verdict"], "kernels.ptx");
    for (name, barriers, stores, loads) in [
        ("reverse_tile_racy", 0, 2, 2),
        ("reverse_tile_synced", 1, 2, 2),
        ("reverse_tile_textbook", 1, 2, 2),
        ("barrier_in_both_arms", 2, 2, 2),
        ("thread_dependent_if", 1, 3, 2),
        ("loop_one_barrier", 1, 2, 2),
        ("loop_two_barriers", 2, 2, 2),
        ("typed_tile", 2, 2, 2),
        ("ragged_loop", 2, 2, 2),
        ("in_place_scan", 2, 3, 4),
        ("tiled_multiply", 1, 3, 4),
        ("partial_block", 0, 3, 2),
        ("two_writers", 1, 2, 2),
        ("two_blocks", 1, 2, 2),
        // A write to a copy is none, and then nobody needs the element that it was to write.
        ("write_to_a_copy", 1, 1, 1),
    ] {
        let statements = kernel(&ptx, name);
        let of = |opcode: &str| {
            let of = statements.iter().filter(|line| line.starts_with(opcode) && !line.contains(".param"));
            of.count()
        };
        assert_eq!((of("bar.sync"), of("st."), of("ld.")), (barriers, stores, loads), "{name}");
    }
}

/// With `warp_reduce`, which the least card that the project names does not have.
#[test]
#[ignore = "compiles core for the GPU"]
fn a_card_gets_all_of_it() {
    for name in
        ["threads.rs", "warps.rs", "atomics.rs", "floats.rs", "shared.rs", "printing.rs", "parameters.rs"]
    {
        let ptx = ptx(name, &["--arch", "sm_80"]);
        let outside = ptx.lines().filter(|line| line.starts_with(".extern .func")).collect::<Vec<_>>();
        assert!(outside.iter().all(|line| line.contains("vprintf")), "{name}: {outside:?}");
    }
}
