//! Calls.

use ptx::{Operand, Symbol};

use super::context::Context;
use crate::code::{Call, Callee, Op, Reg, System};
use crate::error::LoadError;

/// Lowers a call.
pub(super) fn lower(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let [Operand::List(results), target, Operand::List(arguments), ..] = &cx.instruction().operands[..]
    else {
        return Err(cx.no());
    };
    let arguments = slots(cx, arguments)?;
    let results = slots(cx, results)?;
    let callee = match target {
        Operand::Symbol(Symbol::Function(number), _) => {
            let number = *number as usize;
            let at = cx.layout.function(cx.module, number);
            let defined = at.filter(|&at| cx.module.functions[cx.layout.functions[at].source].body.is_some());
            match defined {
                Some(at) => Callee::Function(at as u32),
                None => {
                    let function = &cx.module.functions[number];
                    let name = &function.name;
                    let panics = function.is_noreturn().then(|| System::Panic(race::intern(name)));
                    match system(name).or(panics) {
                        Some(system) => Callee::System(system),
                        None => {
                            return Err(LoadError::Undefined {
                                function: cx.function.name.clone(),
                                line: cx.instruction().line,
                                name: name.clone(),
                            });
                        }
                    }
                }
            }
        }
        Operand::Register(id) => match cx.register(*id)? {
            Reg::D(register) => Callee::Register(register),
            _ => return Err(cx.no()),
        },
        _ => return Err(cx.no()),
    };
    let number = cx.program.calls.len() as u32;
    cx.program.calls.push(Call { callee, arguments, results });
    cx.emit(Op::Call(number));
    Ok(())
}

/// Where arguments or results stand in the caller's frame.
fn slots(cx: &Context<'_>, operands: &[Operand]) -> Result<Vec<(u32, u32)>, LoadError> {
    let slot = |operand: &Operand| {
        let symbol = match operand {
            Operand::Symbol(symbol, 0) => *symbol,
            _ => return Err(cx.unsupported("a call with registers or constants as arguments")),
        };
        let size = match symbol {
            Symbol::Local(number) => cx.body.variables[number as usize].size,
            Symbol::Param(number) => cx.function.params[number as usize].size,
            Symbol::Return(number) => cx.function.returns[number as usize].size,
            _ => return Err(cx.no()),
        };
        Ok((cx.frame_offset(symbol).ok_or_else(|| cx.no())?, size as u32))
    };
    operands.iter().map(slot).collect()
}

fn system(name: &str) -> Option<System> {
    match name {
        "vprintf" => Some(System::Vprintf),
        "__assertfail" => Some(System::AssertFail),
        _ => None,
    }
}
