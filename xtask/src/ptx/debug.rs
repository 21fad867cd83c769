//! The debug information that libNVVM writes beside the code.
//!
//! With it the driver compiles for a debugger: nothing is optimised, every value has its own register, and a race
//! that costs tens of thousands of elements may cost a few hundred. The directives that name lines do not ask for
//! that, and stay. It also holds the paths of the machine that compiled.

/// PTX without sections of debug information, and without the word that announces them.
pub(super) fn without(ptx: &str) -> String {
    let mut kept = String::with_capacity(ptx.len());
    // In a section: how many of its braces are open, once there was one.
    let mut section: Option<Option<usize>> = None;
    for line in ptx.lines() {
        let code = line.split("//").next().unwrap_or_default();
        if section.is_none() && is_debug_section(code) {
            section = Some(None);
        }
        if let Some(open) = &mut section {
            for c in code.chars() {
                match c {
                    '{' => *open = Some(open.unwrap_or(0) + 1),
                    '}' => *open = open.map(|open| open.saturating_sub(1)),
                    _ => {}
                }
            }
            if *open == Some(0) {
                section = None;
            }
            continue;
        }
        match code.trim_start().strip_prefix(".target") {
            Some(options) => {
                let options: Vec<_> =
                    options.split(',').map(str::trim).filter(|word| *word != "debug").collect();
                kept.push_str(&format!(".target {}", options.join(", ")));
            }
            None => kept.push_str(line),
        }
        kept.push('\n');
    }
    kept
}

fn is_debug_section(code: &str) -> bool {
    code.trim_start().strip_prefix(".section").is_some_and(|name| name.trim_start().starts_with(".debug"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sections_go_and_the_lines_stay() {
        let ptx = ".version 8.8\n.target sm_75, debug\n.address_size 64\n.visible .entry k()\n{\n\t.loc\t1 4 5\n\
                   $L__tmp0:\n\tbar.sync 0;\n\tret;\n}\n\t.file\t1 \"kernels-gpu/src/lesson/a.rs\"\n\
                   \t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 47,104,0 // a { path\n\n\t}\n\
                   \t.section\t.debug_macinfo\t{\t}\n.section .debug_info {\n.b32 1\n}\n// the end\n";
        assert_eq!(
            without(ptx),
            ".version 8.8\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\t.loc\t1 4 5\n$L__tmp0:\n\
             \tbar.sync 0;\n\tret;\n}\n\t.file\t1 \"kernels-gpu/src/lesson/a.rs\"\n// the end\n"
        );
    }

    #[test]
    fn other_options_of_the_target_stay() {
        assert_eq!(
            without(".target sm_75, debug, texmode_independent"),
            ".target sm_75, texmode_independent\n"
        );
        assert_eq!(without(".target sm_75"), ".target sm_75\n");
    }
}
