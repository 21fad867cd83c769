//! Is every access to a shared array `ld.shared` or `st.shared`?
//!
//! Any other finds out at run time which memory it touches, and is right only if the address was made for
//! that; a compiler was seen to give it an offset in shared memory instead, which is another place
//! (Rust-GPU/rust-cuda#402).

use std::collections::HashSet;

/// The addresses of shared arrays, on their way through the registers of a function.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    /// The arrays, and the registers that hold an address in one.
    addresses: HashSet<String>,
    instructions: Vec<Instruction>,
}

#[derive(Clone)]
enum Instruction {
    /// The first is made from the others.
    Makes(String, Vec<String>),
    /// Something that is not `ld.shared` or `st.shared` takes these.
    Uses(Vec<String>),
}

impl Shared {
    /// `.shared .align 4 .b8 NAME[4096]`, with or without words before it.
    pub(crate) fn declare(&mut self, statement: &str) {
        if let Some((_, declaration)) = statement.split_once(".shared ")
            && let Some(name) = declaration.split_whitespace().last()
        {
            self.addresses.insert(name.split('[').next().unwrap_or(name).to_owned());
        }
    }

    pub(crate) fn instruction(&mut self, opcode: &str, operands: &str) {
        let mut names = names(operands);
        let mut parts = opcode.split('.');
        match (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()) {
            // What is stored may be an address too, but is not used as one here.
            ("ld" | "st" | "atom" | "red", "shared") => {}
            // A result of `ld` is what lies at the address; in `st.param` an address leaves for another function.
            ("ld" | "st" | "atom" | "red", _) => self.instructions.push(Instruction::Uses(names)),
            // Compares addresses; makes none.
            ("setp", _) => {}
            _ if names.len() > 1 => {
                let made = names.remove(0);
                self.instructions.push(Instruction::Makes(made, names));
            }
            _ => {}
        }
    }

    /// How many uses an address of a shared array reaches.
    pub(crate) fn leaks(&mut self) -> usize {
        // A loop hands registers back to instructions above.
        loop {
            let known = self.addresses.len();
            for instruction in &self.instructions {
                if let Instruction::Makes(made, from) = instruction
                    && from.iter().any(|name| self.addresses.contains(name))
                {
                    self.addresses.insert(made.clone());
                }
            }
            if self.addresses.len() == known {
                break;
            }
        }
        let reached = |names: &Vec<String>| names.iter().any(|name| self.addresses.contains(name));
        self.instructions
            .iter()
            .filter(|instruction| matches!(instruction, Instruction::Uses(names) if reached(names)))
            .count()
    }
}

/// The registers and symbols among the operands.
fn names(operands: &str) -> Vec<String> {
    operands
        .split(|c: char| !(c.is_ascii_alphanumeric() || "_$%.".contains(c)))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c)))
        .map(str::to_owned)
        .collect()
}
