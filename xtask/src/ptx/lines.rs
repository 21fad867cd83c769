//! The line directives of PTX, which tell a tool where in the source an instruction comes from.

use std::path::Path;

/// Where kernels are: the project's, and the learner's.
const OWN: [&str; 3] = ["kernels-gpu/src/", "exercise/src/", "exercise/step-2/src/"];

/// Keeps the directives of the kernels' own files, named from the root of the project, and of `source`, which may
/// lie elsewhere and is named in full then.
///
/// The store of `TILE[t].write(x)` is inlined from `core`, and rustc's directives say so: a tool would
/// name a line of `core`. Without that directive the store counts to the line above it, which is the line of the
/// kernel; where the directive says itself into which line it was inlined, as libNVVM's do, that line takes its
/// place. And no path of this machine is left in the file.
///
/// The files are numbered from 1 without a gap: the driver's compiler takes the number for the place in the list.
pub(crate) fn own(ptx: &str, source: &Path) -> String {
    rewritten(ptx, source, None)
}

/// The same for the audit, where what comes from elsewhere comes from no line: cuda_builder's directive of a barrier
/// names a line of cuda_std and not the kernel's, and the line above it may be that of another arm.
pub(super) fn placed(ptx: &str, source: &Path) -> String {
    rewritten(ptx, source, Some("	.loc	0 0 0"))
}

/// `elsewhere` takes the place of a directive that names no line of the kernels.
fn rewritten(ptx: &str, source: &Path, elsewhere: Option<&str>) -> String {
    let source = source.to_string_lossy();
    let own = |(number, path): (u32, &str)| Some((number, own_path(path, &source)?));
    let files: Vec<_> = ptx.lines().filter_map(file).filter_map(own).collect();
    let renumbered = |place: &str| {
        let (number, rest) = place.trim().split_once(char::is_whitespace)?;
        let number: u32 = number.parse().ok()?;
        let index = files.iter().position(|(own, _)| *own == number)?;
        Some(format!("{} {}", index + 1, rest.trim()))
    };
    let mut kept = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        if file(line).is_some() {
            continue;
        }
        // Not `.local`, which declares a kernel's stack.
        match line.trim().strip_prefix(".loc").filter(|rest| rest.starts_with(char::is_whitespace)) {
            None => kept.push_str(line),
            Some(loc) => {
                // What was inlined may say into what: `1 2 3, function_name NAME, inlined_at 4 5 6`.
                let (place, inlined) = loc.split_once(',').unwrap_or((loc, ""));
                let caller = inlined.split_once("inlined_at").and_then(|(_, caller)| renumbered(caller));
                match (renumbered(place).or(caller), elsewhere) {
                    (Some(place), _) => kept.push_str(&format!("\t.loc\t{place}")),
                    (None, Some(elsewhere)) => kept.push_str(elsewhere),
                    (None, None) => continue,
                }
            }
        }
        kept.push('\n');
    }
    for (place, (_, path)) in (1..).zip(&files) {
        kept.push_str(&format!("\t.file\t{place} \"{path}\"\n"));
    }
    kept
}

/// The number and the path of a `.file` directive.
pub(crate) fn file(line: &str) -> Option<(u32, &str)> {
    let (number, path) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
    let path = path.trim().strip_prefix('"')?;
    Some((number.parse().ok()?, &path[..path.find('"')?]))
}

fn own_path(path: &str, source: &str) -> Option<String> {
    let plain = path.replace('\\', "/");
    let own = OWN.iter().find_map(|folder| plain.rfind(folder)).map(|start| plain[start..].to_owned());
    own.or_else(|| (path == source).then_some(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inlined_takes_the_line_that_it_was_inlined_into() {
        let ptx = "\t.loc\t2 281 14, function_name $L__info_string1, inlined_at 3 41 5\n\tbar.sync 0;\n\
                   \t.loc\t4 9 9, function_name $L__info_string2, inlined_at 2 281 14\n\tret;\n\
                   \t.file\t2 \"/home/me/cuda_std/src/thread.rs\"\n\
                   \t.file\t3 \"/home/me/kernels-gpu/src/lesson/a.rs\"\n\t.file\t4 \"/rust/x.rs\"\n";
        assert_eq!(
            own(ptx, Path::new("/home/me/mine.rs")),
            "\t.loc\t1 41 5\n\tbar.sync 0;\n\tret;\n\t.file\t1 \"kernels-gpu/src/lesson/a.rs\"\n"
        );
        assert!(
            placed(ptx, Path::new("/home/me/mine.rs"))
                .starts_with("\t.loc\t1 41 5\n\tbar.sync 0;\n\t.loc\t0 0 0\n\tret;\n")
        );
    }

    #[test]
    fn a_stack_is_no_line() {
        let ptx = "\t.local .align 8 .b8 \t__local_depot0[16];\n";
        assert_eq!(own(ptx, Path::new("/home/me/mine.rs")), ptx);
    }

    #[test]
    fn lines_of_other_crates_go_and_files_are_numbered_without_a_gap() {
        let ptx = "\t.loc\t1 30 5\n\tadd;\n\t.loc\t2 574 9\n\tst;\n\t.loc\t3 0 0\n\
                   \t.file\t1 \"/home/me/emulator/kernels/../../kernels-gpu/src/lesson/a.rs\"\n\
                   \t.file\t2 \"/rust/library/core/src/mem/maybe_uninit.rs\"\n\
                   \t.file\t3 \"/home/me/emulator/kernels/../../kernels-gpu/src/lesson/b.rs\"\n";
        assert_eq!(
            own(ptx, Path::new("/home/me/mine.rs")),
            "\t.loc\t1 30 5\n\tadd;\n\tst;\n\t.loc\t2 0 0\n\
             \t.file\t1 \"kernels-gpu/src/lesson/a.rs\"\n\t.file\t2 \"kernels-gpu/src/lesson/b.rs\"\n"
        );
    }
}
