//! Shorter ways through the program.

use crate::code::{Op, Program};

/// Lets jumps to jumps lead to the end of the way, and takes out those that lead where control goes anyway.
pub(super) fn tidy(program: &mut Program) {
    let end_of = |program: &Program, start: u32| {
        let mut at = start;
        // A loop of nothing but jumps has no end.
        for _ in 0..program.code.len() {
            match program.code.get(at as usize) {
                Some(inst) if inst.guard.is_none() => match inst.op {
                    Op::Branch(to) if to != at => at = to,
                    Op::Nop => at += 1,
                    _ => break,
                },
                _ => break,
            }
        }
        at
    };
    for pc in 0..program.code.len() {
        if let Op::Branch(to) = program.code[pc].op {
            program.code[pc].op = Op::Branch(end_of(program, to));
        }
    }
    for table in 0..program.tables.len() {
        for entry in 0..program.tables[table].len() {
            program.tables[table][entry] = end_of(program, program.tables[table][entry]);
        }
    }
    for pc in (0..program.code.len()).rev() {
        // What stands between does nothing.
        if let Op::Branch(to) = program.code[pc].op
            && to as usize > pc
            && program.code[pc + 1..to as usize].iter().all(|inst| matches!(inst.op, Op::Nop))
        {
            program.code[pc].op = Op::Nop;
        }
    }
}
