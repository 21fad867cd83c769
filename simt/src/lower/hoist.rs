//! What the threads of a kernel need to compute only once a launch.
//!
//! Parameters, the block's extents and the thread's indices in it are the same for every block that a worker runs, and
//! with them about half of what a kernel computes. These instructions are taken out and run once, before the first
//! block. Each must be the only one that writes its register, have no effect but that, and depend on nothing else.

use rustc_hash::{FxHashMap, FxHashSet};

use super::tidy::tidy;
use crate::code::{Inst, Op, Program, Reg, Target};

/// Takes them out of the kernel, and appends them behind all code.
pub(super) fn hoist(program: &mut Program) {
    let kernel = &program.functions[0];
    let end = program.functions.get(1).map_or(program.code.len() as u32, |next| next.entry);
    let range = kernel.entry as usize..end as usize;
    let mut writers: FxHashMap<Reg, u32> = FxHashMap::default();
    for inst in &program.code[range.clone()] {
        for register in effects(program, inst.op).writes {
            *writers.entry(register).or_default() += 1;
        }
    }
    let mut fixed: FxHashSet<Reg> = kernel.constants.iter().map(|&(register, _)| register).collect();
    fixed.extend(kernel.frame_addresses.iter().map(|&(register, _)| register));
    let specials = kernel.specials.iter().filter(|(_, special)| special.is_fixed());
    fixed.extend(specials.map(|&(register, _)| Reg::W(register)));
    let mut taken: Vec<u32> = Vec::new();
    let mut is_taken = vec![false; range.len()];
    loop {
        let before = taken.len();
        for pc in range.clone() {
            let Inst { op, guard: None } = program.code[pc] else { continue };
            let Effects { reads, writes, pure } = effects(program, op);
            let fits = pure
                && !is_taken[pc - range.start]
                && !writes.is_empty()
                && writes.iter().all(|register| writers[register] == 1)
                && reads.iter().all(|register| fixed.contains(register));
            if fits {
                is_taken[pc - range.start] = true;
                fixed.extend(writes);
                taken.push(pc as u32);
            }
        }
        if taken.len() == before {
            break;
        }
    }
    if taken.is_empty() {
        tidy(program);
        return close_up(program);
    }
    program.functions[0].prologue = Some(program.code.len() as u32);
    for &pc in &taken {
        copy(program, pc as usize);
        program.code[pc as usize].op = Op::Nop;
    }
    copy(program, taken[0] as usize);
    let last = program.code.len() - 1;
    program.code[last].op = Op::EndPrologue;
    tidy(program);
    close_up(program);
}

fn copy(program: &mut Program, pc: usize) {
    let op = program.code[pc];
    program.code.push(op);
    program.lines.push(program.lines[pc]);
    program.positions.push(program.positions[pc]);
    program.order.push(program.order[pc]);
    program.ranks.push(program.ranks[pc]);
    program.function_of.push(program.function_of[pc]);
}

/// Takes out what does nothing any more.
fn close_up(program: &mut Program) {
    let keeps: Vec<bool> = program.code.iter().map(|inst| !matches!(inst.op, Op::Nop)).collect();
    let mut new = Vec::with_capacity(keeps.len() + 1);
    let mut next = 0_u32;
    for &keeps in &keeps {
        new.push(next);
        next += u32::from(keeps);
    }
    new.push(next);
    let at = |pc: u32| new[pc as usize];
    for inst in &mut program.code {
        if let Op::Branch(to) = &mut inst.op {
            *to = at(*to);
        }
    }
    program.tables.iter_mut().flatten().for_each(|pc| *pc = at(*pc));
    program.loops.iter_mut().for_each(|found| found.head = at(found.head));
    program
        .joins
        .iter_mut()
        .flat_map(|join| &mut join.decides)
        .for_each(|decided| decided.pc = at(decided.pc));
    for function in &mut program.functions {
        function.entry = at(function.entry);
        function.prologue = function.prologue.map(at);
    }
    retain(&mut program.code, &keeps);
    retain(&mut program.lines, &keeps);
    retain(&mut program.positions, &keeps);
    retain(&mut program.order, &keeps);
    retain(&mut program.ranks, &keeps);
    retain(&mut program.function_of, &keeps);
}

fn retain<T>(all: &mut Vec<T>, keeps: &[bool]) {
    let mut keeps = keeps.iter();
    all.retain(|_| keeps.next().copied().unwrap_or(true));
}

/// What an operation reads and writes; whether it does nothing else.
struct Effects {
    reads: Vec<Reg>,
    writes: Vec<Reg>,
    pure: bool,
}

fn effects(program: &Program, op: Op) -> Effects {
    use Reg::{D, P, W};
    let pure = |writes: &[Reg], reads: &[Reg]| Effects {
        reads: reads.to_vec(),
        writes: writes.to_vec(),
        pure: true,
    };
    let impure = |writes: Vec<Reg>| Effects { reads: Vec::new(), writes, pure: false };
    match op {
        Op::MovW(d, a) => pure(&[W(d)], &[W(a)]),
        Op::MovD(d, a) => pure(&[D(d)], &[D(a)]),
        Op::MovP(d, a) | Op::NotP(d, a) => pure(&[P(d)], &[P(a)]),
        Op::LogicP(_, d, a, b) => pure(&[P(d)], &[P(a), P(b)]),
        Op::IntW(_, d, a, b) | Op::FloatW(_, d, a, b) => pure(&[W(d)], &[W(a), W(b)]),
        Op::IntD(kind, d, a, b) => {
            let b = if matches!(kind, crate::code::Integer::Shl | crate::code::Integer::Shr) {
                W(b)
            } else {
                D(b)
            };
            pure(&[D(d)], &[D(a), b])
        }
        Op::FloatD(_, d, a, b) => pure(&[D(d)], &[D(a), D(b)]),
        Op::MadW(d, a, b, c) | Op::FmaW(d, a, b, c) => pure(&[W(d)], &[W(a), W(b), W(c)]),
        Op::MadD(d, a, b, c) | Op::FmaD(d, a, b, c) => pure(&[D(d)], &[D(a), D(b), D(c)]),
        Op::MadWide { d, a, b, c, .. } => pure(&[D(d)], &[W(a), W(b), D(c)]),
        Op::Widen { d, a, .. } => pure(&[D(d)], &[W(a)]),
        Op::Narrow(d, a) => pure(&[W(d)], &[D(a)]),
        Op::CompareW { d, a, b, .. } => pure(&[P(d)], &[W(a), W(b)]),
        Op::CompareD { d, a, b, .. } => pure(&[P(d)], &[D(a), D(b)]),
        Op::SelectW(d, a, b, p) => pure(&[W(d)], &[W(a), W(b), P(p)]),
        Op::SelectD(d, a, b, p) => pure(&[D(d)], &[D(a), D(b), P(p)]),
        Op::Scalar(number) => {
            let scalar = &program.scalars[number as usize];
            pure(&[scalar.d], &scalar.operands[..usize::from(scalar.count)])
        }
        Op::Test(number) => {
            let test = &program.tests[number as usize];
            let writes: Vec<Reg> = test.d.into_iter().chain(test.not_d).map(P).collect();
            let mut reads = vec![test.a, test.b];
            reads.extend(test.with.map(|(_, other, _)| P(other)));
            pure(&writes, &reads)
        }
        Op::Convert { d, a, .. } => pure(&[D(d)], &[D(a)]),
        Op::IsSpace { d, a, .. } => pure(&[P(d)], &[D(a)]),
        Op::Special(_, d) | Op::ActiveMask(d) => impure(vec![W(d)]),
        Op::Load(number) | Op::Store(number) | Op::Atomic(number) => {
            let access = &program.accesses[number as usize];
            if matches!(op, Op::Store(_)) {
                return impure(Vec::new());
            }
            let writes: Vec<Reg> = access.registers.iter().flatten().copied().collect();
            let parameter = access.target == Target::Param && access.atomic.is_none();
            Effects { reads: access.base.into_iter().collect(), writes, pure: parameter }
        }
        Op::Barrier(number) => {
            use crate::code::BarrierKind::{And, Arrive, Count, Or, Sync};
            impure(match program.barriers[number as usize].kind {
                Sync | Arrive => Vec::new(),
                Count { d, .. } => vec![W(d)],
                And { d, .. } | Or { d, .. } => vec![P(d)],
            })
        }
        Op::Collective(number) => {
            let collective = &program.collectives[number as usize];
            impure(collective.p.map(P).into_iter().chain([collective.d]).collect())
        }
        Op::Fence(_)
        | Op::Branch(_)
        | Op::BranchTable(..)
        | Op::Call(_)
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::SyncWarp(_)
        | Op::Edge(_)
        | Op::Meet
        | Op::Join(_)
        | Op::EndPrologue
        | Op::Nop => impure(Vec::new()),
    }
}
