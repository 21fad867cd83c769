//! The program around a learner's kernel.

use std::path::Path;

use super::kernel::{Kernel, Shape};

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
        let (name, ty) = (&parameter.name, parameter.number);
        // Numbers, not names: a parameter may be called like something here.
        let argument = format!("a{number}");
        match parameter.shape {
            Shape::Scalar => {
                lines.push(format!("let {argument} = case.scalar::<{ty}>({name:?})?;"));
                arguments.push(argument);
            }
            Shape::Slice => {
                lines.push(format!("let {argument} = case.buffer::<{ty}>()?;"));
                arguments.push(format!("&{argument}"));
            }
            Shape::MutPtr | Shape::ConstPtr => {
                lines.push(format!("let mut {argument} = case.buffer::<{ty}>()?;"));
                lines.push(format!("let {argument} = memory.lend({name:?}, &mut {argument});"));
                arguments.push(match parameter.shape {
                    Shape::ConstPtr => format!("{argument}.as_mut_ptr().cast_const()"),
                    _ => format!("{argument}.as_mut_ptr()"),
                });
            }
        }
    }
    let name = &kernel.name;
    let (lines, arguments) = (lines.join("\n        "), arguments.join(", "));
    format!(
        "fn main() -> std::process::ExitCode {{
    host::harness::main({name:?}, |case| {{
        let mut memory = cuda_std::emulator::GlobalMemory::new();
        {lines}
        let report = case.launch().run(&mut memory, || unsafe {{ file::{name}({arguments}) }})?;
        Ok(host::harness::Outcome::unknown(report))
    }})
}}
"
    )
}

/// A file of this project's own kernels finds here, as `crate::` or `super::`, what it finds at home.
const HEAD: &str = "use kernels::{exhibits::*, lesson::*, *};\n\n";
