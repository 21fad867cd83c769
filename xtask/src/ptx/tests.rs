//! The audit's rules, on PTX written by hand.

use std::collections::BTreeMap;

use super::audit::{self, Fault, Row};
use super::report;
use super::source::Barriers;

const FILE: &str = "\n.file 1 \"kernels-gpu/src/lesson/k.rs\"\n";

/// What the bodies below name.
const REGISTERS: &str = ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n";

/// The verdict on a kernel that is promised to be right, with this body.
fn audit(body: &str, straight: usize, looped: usize) -> Row {
    let ptx = format!(".visible .entry reverse_tile_synced(.param .u64 p)\n{{\n{body}\n}}\n{FILE}");
    audit_all(&ptx, straight, looped)
}

fn audit_all(ptx: &str, straight: usize, looped: usize) -> Row {
    let source = BTreeMap::from([("reverse_tile_synced".to_owned(), Barriers { straight, looped })]);
    let module = ::ptx::parse(&format!("{REGISTERS}{ptx}")).expect("valid PTX");
    let mut rows = audit::audit(&module, &source, true);
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[track_caller]
fn assert_split(row: &Row, at: &str) {
    match &row.fault {
        Some(Fault::Split(Some(place))) => assert_eq!(place, at),
        other => panic!("{other:?}"),
    }
    assert!(row.refused);
}

const ARMS: &str = "
    @%p1 bra $L_2;
    .loc 1 40 5
    bar.sync 0;
    bra.uni $L_3;
$L_2:
    .loc 1 40 5
    bar.sync 0;
$L_3:
    ret;";

#[test]
fn one_barrier_is_one() {
    let row = audit("st.shared.b32 [%r1], 0;\n.loc 1 40 5\nbar.sync 0;\nld.b32 %r2, [%rd1];\nret;", 1, 0);
    assert_eq!((row.fault, row.barriers, row.shared, row.generic), (None, 1, 1, 1));
}

/// As cuda_builder writes them: with the line of cuda_std, which is not the kernel's, or with none.
#[test]
fn barriers_without_a_place_may_be_copies_of_each_other() {
    for arms in [
        ARMS.replace(".loc 1 40 5", ".loc 0 0 0"),
        ARMS.replace(".loc 1 40 5", ""),
        ARMS.replacen(".loc 1 40 5", ".loc 0 0 0", 1),
    ] {
        for (straight, looped) in [(1, 0), (2, 0), (0, 1)] {
            let row = audit(&arms, straight, looped);
            assert_eq!((row.fault, row.refused), (Some(Fault::Split(None)), true), "{arms}");
        }
    }
    let unrolled =
        "$L_1:\nbar.sync 0;\nbar.sync 0;\n@%p2 bra $L_1;\n@%p3 bra $L_4;\nbar.sync 0;\n$L_4:\nret;";
    assert_eq!(audit(unrolled, 0, 1).fault, None);
}

/// As cuda_builder's compiler declares and reaches a tile, with this access.
fn tile(access: &str) -> Row {
    let ptx = format!(
        ".shared .align 4 .b8 TILE[4096];\n.visible .entry reverse_tile_synced(.param .u64 p)\n{{\nmov.u64 %rd1, \
         TILE;\ncvta.to.global.u64 %rd5, %rd6;\nadd.s64 %rd2, %rd1, %rd3;\nst.shared.f32 [%rd2], %f1;\nbar.sync \
         0;\n{access}\nst.global.f32 [%rd5], %f2;\nret;\n}}"
    );
    audit_all(&ptx, 1, 0)
}

#[test]
fn every_access_to_a_tile_names_shared_memory() {
    assert_eq!(tile("ld.shared.f32 %f2, [%rd2+4];").fault, None);
    // Of another memory, and unknown: not the tile's.
    assert_eq!(tile("ld.f32 %f2, [%rd6];").fault, None);
    for access in [
        "ld.f32 %f2, [%rd2+4];",
        "st.f32 [TILE+8], %f1;",
        "cvta.shared.u64 %rd7, TILE;\nst.f32 [%rd7], %f1;",
        "$L_1:\nst.f32 [%rd8], %f1;\nmov.u64 %rd8, %rd2;\n@%p1 bra $L_1;",
        ".param .b64 param0;\nst.param.b64 [param0+0], %rd2;",
    ] {
        let row = tile(access);
        assert_eq!((row.fault, row.refused), (Some(Fault::Generic(1)), true), "{access}");
    }
}

#[test]
fn copies_in_both_arms_are_split() {
    assert_split(&audit(ARMS, 1, 0), "kernels-gpu/src/lesson/k.rs:40:5");
}

#[test]
fn copies_in_both_arms_are_split_in_a_loop_too() {
    // Each arm leads to the other, by way of the next trip.
    let row = audit(&format!("$L_1:\n{}", ARMS.replace("ret;", "@%p2 bra $L_1;\nret;")), 0, 1);
    assert_split(&row, "kernels-gpu/src/lesson/k.rs:40:5");
}

#[test]
fn arms_of_a_jump_table_are_arms() {
    let row = audit(
        "$L_t: .branchtargets $L_1, $L_2;
        brx.idx %r1, $L_t;
        $L_1:\n.loc 1 40 5\nbar.sync 0;\nret;
        $L_2:\n.loc 1 40 5\nbar.sync 0;\nret;",
        1,
        0,
    );
    assert_split(&row, "kernels-gpu/src/lesson/k.rs:40:5");
}

#[test]
fn two_source_barriers_may_stand_in_two_arms() {
    let row = audit(&ARMS.replacen("40", "41", 1), 2, 0);
    assert_eq!((row.fault, row.barriers), (None, 2));
}

#[test]
fn an_unrolled_loop_is_no_split() {
    // Two trips at once, then what is left; or only what is left.
    let row = audit(
        "@%p1 bra $L_2;
        $L_1:\n.loc 1 40 5\nbar.sync 0;\n.loc 1 40 5\nbar.sync 0;
        @%p2 bra $L_1;
        $L_2:\n@%p3 bra $L_4;
        $L_3:\n.loc 1 40 5\nbar.sync 0;
        @%p4 bra $L_3;
        $L_4:\nret;",
        0,
        1,
    );
    assert_eq!((row.fault, row.barriers), (None, 3));
}

#[test]
fn copies_without_a_loop_are_miscounted() {
    let row = audit(".loc 1 40 5\nbar.sync 0;\nbar.sync 0;\nret;", 1, 0);
    assert_eq!((row.fault, row.barriers), (Some(Fault::Count), 2));
}

#[test]
fn merged_and_lost_barriers_are_miscounted() {
    assert_eq!(audit("bar.sync 0;\nret;", 2, 0).fault, Some(Fault::Count));
    assert_eq!(audit("ret;", 0, 1).fault, Some(Fault::Count));
}

#[test]
fn threads_may_leave_above_a_barrier() {
    let row = audit("@%p1 ret;\n@%p2 bra $L_9;\nbar.sync 0;\nret;\n$L_9:\ntrap; exit;", 1, 0);
    assert_eq!((row.fault, row.barriers), (None, 1));
}

#[test]
fn a_warps_barrier_is_not_the_blocks() {
    assert_eq!(audit("bar.warp.sync -1;\nbarrier.sync 0;\nret;", 1, 0).barriers, 1);
}

/// A helper with a barrier that was not inlined, called as libNVVM writes it.
fn with_helper(body: &str) -> String {
    let call = "{ // callseq 0, 0\n.reg .b32 temp_param_reg;\ncall.uni \nhelper, \n(\n);\n} // callseq 0\n";
    format!(
        ".func helper()\n;\n.visible .entry reverse_tile_synced()\n{{\n{}\nret;\n}}\n\
         .func  (.param .b32 r) helper()\n{{\n.loc 1 7 5\nbar.sync 0;\nret;\n}}\n{FILE}",
        body.replace("CALL", call)
    )
}

#[test]
fn a_called_barrier_counts_at_each_call() {
    let row = audit_all(&with_helper(".loc 1 20 5\nCALL\n.loc 1 21 5\nCALL"), 2, 0);
    assert_eq!((row.fault, row.barriers), (None, 2));
}

#[test]
fn copies_of_a_call_in_both_arms_are_split() {
    let arms = "@%p1 bra $L_2;\n.loc 1 20 5\nCALL\nbra.uni $L_3;\n$L_2:\n.loc 1 20 5\nCALL\n$L_3:";
    assert_split(&audit_all(&with_helper(arms), 1, 0), "kernels-gpu/src/lesson/k.rs:20:5");
}

#[test]
fn a_missing_kernel_is_a_fault() {
    assert_eq!(audit_all(FILE, 1, 0).fault, Some(Fault::Missing));
}

#[test]
fn an_exhibit_is_only_reported() {
    let ptx = format!("{REGISTERS}.visible .entry exhibit()\n{{\n{ARMS}\n}}\n{FILE}");
    // The source does not show it: a macro may have made it.
    let rows = audit::audit(&::ptx::parse(&ptx).expect("valid PTX"), &BTreeMap::new(), true);
    assert!(matches!(rows[0].fault, Some(Fault::Split(_))));
    assert!(!rows[0].refused);
    let table = report::table(&rows);
    let told =
        "only reported:\n  exhibit: copies of kernels-gpu/src/lesson/k.rs:40:5 stand on alternative paths";
    assert!(table.contains("| split\n") && table.contains(told), "{table}");
}

#[test]
fn a_jump_to_nowhere_is_an_error() {
    let error = ::ptx::parse(".entry k()\n{\nbra $L_9;\n}").expect_err("no such label");
    assert!(error.to_string().starts_with("PTX line 3: `$L_9`; expected"), "{error}");
}
