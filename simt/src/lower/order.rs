//! The order of instructions in the program as written.

use ptx::{Module, PositionId};

use crate::code::Program;

/// For each instruction its rank: by function, then by the lines of the source from the outermost call inlined to the
/// innermost, then as in the PTX. Columns do not count: within a line, PTX has the order of evaluation, which the
/// position of a method's name does not tell.
pub(super) fn ranks(module: &Module, program: &Program) -> Vec<u32> {
    let lines = |position: Option<PositionId>| {
        let mut lines = Vec::new();
        let mut at = position;
        while let Some(id) = at {
            let position = &module.positions[id.0 as usize];
            lines.push(position.line);
            at = position.caller;
        }
        lines.reverse();
        lines
    };
    let mut keys: Vec<(u32, Vec<u32>, usize)> = Vec::with_capacity(program.code.len());
    let mut last: (u32, Vec<u32>) = (0, Vec::new());
    for (pc, (&position, &function)) in program.positions.iter().zip(&program.function_of).enumerate() {
        // Without a place it belongs to what stands before it.
        if position.is_some() || function != last.0 {
            last = (function, lines(position));
        }
        keys.push((function, last.1.clone(), pc));
    }
    keys.sort_unstable();
    let mut ranks = vec![0; keys.len()];
    for (rank, (.., pc)) in (0..).zip(keys) {
        ranks[pc] = rank;
    }
    ranks
}
