//! The program around a learner's kernel.

use std::path::Path;

use super::kernel::{Kernel, Shape};
use super::types::Element;

/// A program that holds `file` as a module and launches a kernel of it.
pub(super) fn program(file: &Path, kernel: &Kernel) -> String {
    let file = file.to_string_lossy();
    let main = launch(kernel);
    format!("{HEAD}#[path = {file:?}]\nmod file;\n\n{main}")
}

fn launch(kernel: &Kernel) -> String {
    let mut lines = Vec::new();
    let mut arguments = Vec::new();
    for (number, parameter) in kernel.parameters.iter().enumerate() {
        let name = &parameter.name;
        // Others were refused above.
        let Element::Number(ty) = parameter.element else { continue };
        // Numbers, not names: a parameter may be called like something here.
        let argument = format!("a{number}");
        match parameter.shape {
            Shape::Value => {
                lines.push(format!("let {argument} = case.scalar::<{ty}>({name:?})?;"));
                arguments.push(argument);
            }
            Shape::Slice | Shape::MutSlice | Shape::Reference => {
                lines.push(format!("let {argument} = case.buffer::<{ty}>({name:?})?;"));
                arguments.push(format!("&{argument}"));
            }
            Shape::MutPtr | Shape::ConstPtr => {
                lines.push(format!("let mut {argument} = case.buffer::<{ty}>({name:?})?;"));
                lines.push(format!("let {argument} = memory.lend({name:?}, &mut {argument});"));
                arguments.push(match parameter.shape {
                    Shape::ConstPtr => format!("{argument}.as_mut_ptr().cast_const()"),
                    _ => format!("{argument}.as_mut_ptr()"),
                });
            }
        }
    }
    let (name, path) = (&kernel.name, kernel.path());
    let (lines, arguments) = (lines.join("\n        "), arguments.join(", "));
    format!(
        "fn main() -> std::process::ExitCode {{
    host::harness::main({name:?}, |case| {{
        let mut memory = cuda_std::emulator::GlobalMemory::new();
        {lines}
        let report = case.launch().run(&mut memory, || unsafe {{ file::{path}({arguments}) }})?;
        Ok(host::harness::Outcome::unknown(report))
    }})
}}
"
    )
}

/// A file of this project's own kernels finds here, as `crate::` or `super::`, what it finds at home.
const HEAD: &str = "use kernels::{exhibits::*, lesson::*, *};\n\n";
