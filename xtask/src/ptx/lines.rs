//! The line directives of PTX, which tell a tool where in the source an instruction comes from.

/// Keeps the directives of the kernels' own files, named from the root of the project.
///
/// The store of `TILE[t].write(x)` is inlined from `core`, and rustc's directives say so: a tool would
/// name a line of `core`. Without that directive the store counts to the line above it, which is the line of the
/// kernel. And no path of this machine is left in the file.
pub(crate) fn own(ptx: &str) -> String {
    let files: Vec<_> = ptx.lines().filter_map(file).filter(|(_, path)| own_path(path).is_some()).collect();
    let mut kept = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        if let Some((number, path)) = file(line) {
            if let Some(path) = own_path(path) {
                kept.push_str(&format!("\t.file\t{number} \"{path}\"\n"));
            }
        } else if loc(line).is_none_or(|at| files.iter().any(|(number, _)| *number == at)) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The number and the path of a `.file` directive.
pub(crate) fn file(line: &str) -> Option<(u32, &str)> {
    let (number, path) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
    let path = path.trim().strip_prefix('"')?;
    Some((number.parse().ok()?, &path[..path.find('"')?]))
}

/// The file number of a `.loc` directive.
fn loc(line: &str) -> Option<u32> {
    line.trim().strip_prefix(".loc")?.split_whitespace().next()?.parse().ok()
}

fn own_path(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    path.rfind("kernels-gpu/src/").map(|start| path[start..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_crates_go_and_paths_are_shortened() {
        let ptx = "\t.loc\t1 30 5\n\tadd;\n\t.loc\t2 574 9\n\tst;\n\t.loc\t1 0 0\n\
                   \t.file\t1 \"/home/me/emulator/kernels/../../kernels-gpu/src/lesson/a.rs\"\n\
                   \t.file\t2 \"/rust/library/core/src/mem/maybe_uninit.rs\"\n";
        assert_eq!(
            own(ptx),
            "\t.loc\t1 30 5\n\tadd;\n\tst;\n\t.loc\t1 0 0\n\t.file\t1 \"kernels-gpu/src/lesson/a.rs\"\n"
        );
    }
}
