//! The order of instructions in the program as written.

use ptx::{Module, PositionId};

use crate::code::Program;

/// For each instruction its rank: by function, then by the line of the source that the function itself has it on, whatever
/// was inlined there, then as in the PTX. Columns do not count: within a line, PTX has the order of evaluation, which
/// the position of a method's name does not tell.
pub(super) fn ranks(module: &Module, program: &Program) -> Vec<u32> {
    let line = |position: PositionId| module.chain(position).last().map_or(0, |place| place.line);
    let mut keys: Vec<(u32, u32, usize)> = Vec::with_capacity(program.code.len());
    let mut last = (0, 0);
    for (pc, (&position, &function)) in program.positions.iter().zip(&program.function_of).enumerate() {
        // Without a place it belongs to what stands before it.
        let line = match position.map_or(0, line) {
            0 if function == last.0 => last.1,
            line => line,
        };
        last = (function, line);
        keys.push((function, line, pc));
    }
    keys.sort_unstable();
    let mut ranks = vec![0; keys.len()];
    for (rank, (.., pc)) in (0..).zip(keys) {
        ranks[pc] = rank;
    }
    ranks
}
