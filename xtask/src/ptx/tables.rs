//! Statics of other crates, which PTX that is not linked only declares.

use std::collections::HashMap;

/// Their declarations: lines such as `.extern .global .align 8 .b8 TABLE[4096];`.
pub(super) fn missing(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines().filter(|line| line.starts_with(".extern .global "))
}

/// The PTX with each of them as `linked` defines it. One whose contents name others stays as it is.
pub(super) fn supply(ptx: &str, linked: &str) -> String {
    let wanted: Vec<_> = missing(ptx).map(name).collect();
    let definitions: HashMap<_, _> = linked
        .lines()
        .filter(|line| line.starts_with(".global ") || line.starts_with(".visible .global "))
        .filter(|line| !line.contains("generic("))
        .filter_map(|line| Some((name(line.split_once(" = ")?.0), line)))
        .filter(|(name, _)| wanted.contains(name))
        .collect();
    let mut supplied = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let definition = line.starts_with(".extern .global ").then(|| definitions.get(name(line))).flatten();
        supplied.push_str(definition.copied().unwrap_or(line));
        supplied.push('\n');
    }
    supplied
}

/// The last word of a declaration, without its length.
fn name(declaration: &str) -> &str {
    let last = declaration.trim_end_matches(';').split_whitespace().last().unwrap_or_default();
    last.split('[').next().unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_table_is_defined_and_nothing_else_is() {
        let ptx =
            ".extern .func f\n.extern .global .align 2 .b8 T[4];\n.extern .global .align 8 .u64 P;\n\tret;\n";
        let linked = ".global .align 2 .b8 T[4] = {1, 2};\n.global .align 8 .u64 P = generic(Q);\n\
                      .visible .global .align 1 .b8 T2[2] = {7};\n";
        assert_eq!(
            supply(ptx, linked),
            ".extern .func f\n.global .align 2 .b8 T[4] = {1, 2};\n.extern .global .align 8 .u64 P;\n\tret;\n"
        );
    }
}
