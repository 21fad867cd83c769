//! PTX to the program that is executed.
//!
//! Everything that does not depend on a launch is decided here: which registers exist, where variables lie, what each
//! instruction does, which of them the lanes of a warp need to do only once a launch, how control flow goes through
//! loops, and where paths meet again behind a branch that decides about a barrier.

mod arithmetic;
mod call;
mod context;
mod flow;
mod hoist;
mod layout;
mod memory;
mod order;
mod sync;
mod tidy;

use ptx::Module;

use crate::code::{Function, Op, Program};
use crate::error::LoadError;
use context::Context;
use flow::Flow;
use layout::Layout;

/// The program of a kernel: itself and all that it may call.
pub(crate) fn lower(module: &Module, kernel: &str) -> Result<Program, LoadError> {
    let entry = |function: &ptx::Function| function.entry && function.body.is_some();
    let source = module.functions.iter().position(|function| entry(function) && function.name == kernel);
    let Some(source) = source else {
        let names = module.functions.iter().filter(|function| entry(function));
        return Err(LoadError::NoKernel(
            kernel.into(),
            names.map(|function| function.name.clone()).collect(),
        ));
    };
    let layout = Layout::new(module, source);
    let mut program = Program {
        statics: layout.statics.clone(),
        arrays: layout.arrays.clone(),
        shared: layout.shared,
        params: module.functions[source]
            .params
            .iter()
            .map(|param| (param.name.clone(), param.offset as u32, param.size as u32))
            .collect(),
        ..Program::default()
    };
    let synchronising = flow::synchronising(module, &layout);
    for number in 0..layout.functions.len() {
        function(module, &layout, number, &mut program, &synchronising)?;
    }
    program.order = order::ranks(module, &program);
    hoist::hoist(&mut program);
    Ok(program)
}

fn function(
    module: &Module,
    layout: &Layout,
    number: usize,
    program: &mut Program,
    synchronising: &[bool],
) -> Result<(), LoadError> {
    let entry = program.code.len() as u32;
    let frame = &layout.functions[number];
    let mut lowered = Function {
        entry,
        counts: Default::default(),
        local: frame.size,
        params: frame.params.clone(),
        results: frame.results.clone(),
        constants: Vec::new(),
        specials: Vec::new(),
        frame_addresses: Vec::new(),
        prologue: None,
    };
    // Without a body it is the driver's, or missing: calls of it say so.
    if let Some(mut cx) = Context::new(module, layout, number, program) {
        let mut flow = Flow::new(&mut cx, synchronising);
        for block in 0..flow.blocks() {
            flow.begin_block(&mut cx, block);
            for at in flow.instructions(block) {
                cx.at = at;
                let guard = instruction(&mut cx, &mut flow, block)?;
                flow.end_instruction(&mut cx, guard);
            }
            flow.end_block(&mut cx, block);
        }
        flow.finish(&mut cx);
        let inits = cx.inits();
        lowered.counts = cx.counts;
        (lowered.constants, lowered.specials) = (inits.constants, inits.specials);
        lowered.frame_addresses = inits.frame_addresses;
    }
    program.functions.push(lowered);
    Ok(())
}

/// Lowers the instruction at hand. Returns its predicate, and whether it is executed where that is false.
fn instruction(
    cx: &mut Context<'_>,
    flow: &mut Flow,
    block: usize,
) -> Result<Option<(u32, bool)>, LoadError> {
    let instruction = cx.instruction();
    cx.guard = match instruction.guard {
        Some(guard) => match cx.register(guard.register)? {
            crate::code::Reg::P(register) => Some((register, guard.negated)),
            _ => return Err(cx.no()),
        },
        None => None,
    };
    let known = match instruction.opcode.as_str() {
        "bra" => {
            let ptx::Operand::Label(label) = instruction.operands[..].first().ok_or_else(|| cx.no())? else {
                return Err(cx.no());
            };
            flow.branch(cx, block, *label);
            true
        }
        "brx" => {
            flow.branch_table(cx, block)?;
            true
        }
        "ret" if cx.function.entry => {
            cx.emit(Op::Exit);
            true
        }
        "ret" => {
            flow.returns(cx);
            true
        }
        "exit" => {
            cx.emit(Op::Exit);
            true
        }
        "trap" => {
            cx.emit(Op::Trap);
            true
        }
        "nanosleep" | "brkpt" | "pmevent" => {
            cx.emit(Op::Nop);
            true
        }
        "call" => {
            call::lower(cx)?;
            true
        }
        _ => memory::lower(cx)? || sync::lower(cx)? || arithmetic::lower(cx)?,
    };
    let guard = cx.guard.take();
    if known { Ok(guard) } else { Err(cx.no()) }
}
