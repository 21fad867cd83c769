//! Loads, stores, atomics and fences.

use ptx::{Base, Operand, Symbol, Type};
use race::Scope;

use super::context::Context;
use crate::alu;
use crate::code::{Access, Op, Order, Reg, Target};
use crate::error::LoadError;

/// Lowers the instruction at hand, if it is one of these.
pub(super) fn lower(cx: &mut Context<'_>) -> Result<bool, LoadError> {
    let instruction = cx.instruction();
    match instruction.opcode.as_str() {
        "ld" | "ldu" => load(cx)?,
        "st" => store(cx)?,
        "atom" => atomic(cx, true)?,
        "red" => atomic(cx, false)?,
        "membar" => {
            let scope = match instruction.modifiers.first().map(String::as_str) {
                Some("cta") => Scope::Block,
                Some("gl") => Scope::Device,
                Some("sys") => Scope::System,
                _ => return Err(cx.no()),
            };
            fence(cx, scope);
        }
        "fence"
            if instruction.has("proxy")
                || instruction.modifiers.iter().any(|word| word.starts_with("proxy")) =>
        {
            return Err(cx.no());
        }
        "fence" => {
            let scope = scope(cx).ok_or_else(|| cx.no())?;
            fence(cx, scope);
        }
        "prefetch" | "prefetchu" | "applypriority" | "discard" => cx.emit(Op::Nop),
        _ => return Ok(false),
    }
    Ok(true)
}

fn fence(cx: &mut Context<'_>, scope: Scope) {
    cx.program.orders = true;
    cx.program.communicates |= scope >= Scope::Device;
    cx.emit(Op::Fence(scope));
}

fn scope(cx: &Context<'_>) -> Option<Scope> {
    cx.instruction().modifiers.iter().find_map(|word| match word.as_str() {
        "cta" => Some(Scope::Block),
        "cluster" | "gpu" => Some(Scope::Device),
        "sys" => Some(Scope::System),
        _ => None,
    })
}

fn order(cx: &Context<'_>) -> Order {
    let instruction = cx.instruction();
    let strong = instruction.has("relaxed") || instruction.has("acquire") || instruction.has("release");
    let strong = if instruction.has("volatile") || instruction.has("mmio") {
        // "Treated as a relaxed operation with system scope" (PTX ISA, `ld.volatile`).
        Some(Scope::System)
    } else {
        strong.then(|| scope(cx).unwrap_or(Scope::Device))
    };
    Order { strong, acquire: instruction.has("acquire"), release: instruction.has("release") }
}

fn target(cx: &Context<'_>) -> Target {
    let named = cx.instruction().modifiers.iter().find_map(|word| match word.split("::").next()? {
        "global" => Some(Target::Global),
        "shared" => Some(Target::Shared),
        "local" => Some(Target::Local),
        "const" => Some(Target::Const),
        "param" => Some(Target::Param),
        _ => None,
    });
    named.unwrap_or(Target::Generic)
}

/// Where an address operand leads: the register with the base, an offset, and the space if the operand decides it.
fn address(
    cx: &mut Context<'_>,
    operand: &Operand,
    target: Target,
) -> Result<(Option<Reg>, i64, Target), LoadError> {
    let (base, offset) = match operand {
        Operand::Address { base, offset } => (*base, *offset),
        Operand::Symbol(symbol, offset) => (Base::Symbol(*symbol), *offset),
        Operand::Register(id) => (Base::Register(*id), 0),
        _ => return Err(cx.no()),
    };
    match base {
        Base::Register(id) => Ok((Some(cx.register(id)?), offset, target)),
        Base::Absolute => {
            let register = cx.constant(true, offset as u64);
            Ok((Some(register), 0, target))
        }
        Base::Symbol(Symbol::Param(number)) if cx.function.entry => {
            let at = cx.function.params[number as usize].offset as i64;
            Ok((None, at + offset, Target::Param))
        }
        Base::Symbol(symbol) => {
            if let Some(frame) = cx.frame_offset(symbol) {
                return Ok((None, i64::from(frame) + offset, Target::Local));
            }
            let at = cx.symbol(symbol, offset, true)?;
            Ok((Some(at), 0, target))
        }
    }
}

/// The registers of a vector, or the one register.
fn registers(cx: &mut Context<'_>, operand: &Operand, ty: Type) -> Result<Vec<Option<Reg>>, LoadError> {
    let wide = ty.size() == 8;
    let one = |cx: &mut Context<'_>, operand: &Operand| match operand {
        Operand::Sink => Ok(None),
        Operand::List(_) => Err(cx.no()),
        operand => cx.operand(operand, wide).map(Some),
    };
    match operand {
        Operand::List(parts) => parts.iter().map(|part| one(cx, part)).collect(),
        operand => Ok(vec![one(cx, operand)?]),
    }
}

fn element(cx: &Context<'_>) -> Result<Type, LoadError> {
    let ty = cx.instruction().ty().ok_or_else(|| cx.no())?;
    if ty == Type::B128 { Err(cx.no()) } else { Ok(ty) }
}

/// The target of an access whose base is a parameter of the kernel by address, or a frame.
fn push(cx: &mut Context<'_>, mut access: Access, op: fn(u32) -> Op) {
    let number = cx.program.accesses.len() as u32;
    let visible = matches!(access.target, Target::Global | Target::Generic);
    cx.program.communicates |= visible && (access.order.strong.is_some() || access.atomic.is_some());
    cx.program.orders |= access.order.acquire || access.order.release;
    let plain =
        access.atomic.is_none() && access.order == Order { strong: None, acquire: false, release: false };
    if let ([Some(Reg::W(register))], 4, true) = (&access.registers[..], access.size, plain) {
        access.word = Some(*register);
    }
    cx.program.accesses.push(access);
    cx.emit(op(number));
}

fn load(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let ty = element(cx)?;
    let [d, from] = &instruction.operands[..] else { return Err(cx.no()) };
    let (base, offset, target) = address(cx, from, target(cx))?;
    let registers = registers(cx, d, ty)?;
    let access = Access {
        target,
        base,
        offset,
        size: ty.size() as u8,
        registers,
        word: None,
        signed: ty.is_signed(),
        order: order(cx),
        atomic: None,
    };
    push(cx, access, Op::Load);
    Ok(())
}

fn store(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let ty = element(cx)?;
    let [to, value] = &cx.instruction().operands[..] else { return Err(cx.no()) };
    let (base, offset, target) = address(cx, to, target(cx))?;
    let registers = registers(cx, value, ty)?;
    let access = Access {
        target,
        base,
        offset,
        size: ty.size() as u8,
        registers,
        word: None,
        signed: false,
        order: order(cx),
        atomic: None,
    };
    push(cx, access, Op::Store);
    Ok(())
}

fn atomic(cx: &mut Context<'_>, returns: bool) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let ty = element(cx)?;
    let function = alu::atomic(instruction).ok_or_else(|| cx.no())?;
    let (d, rest) = if returns {
        instruction.operands.split_first().ok_or_else(|| cx.no())?
    } else {
        (&Operand::Sink, &instruction.operands[..])
    };
    let Some((at, values)) = rest.split_first() else { return Err(cx.no()) };
    let (base, offset, target) = address(cx, at, target(cx))?;
    // "Atomicity is guaranteed for each of the elements" of a vector (PTX ISA, `atom`): one atomic for each.
    let wide = ty.size() == 8;
    let elements: Vec<Vec<&Operand>> = match values {
        [Operand::List(parts)] => parts.iter().map(|part| vec![part]).collect(),
        [_] | [_, _] => vec![values.iter().collect()],
        _ => return Err(cx.no()),
    };
    let results = match d {
        Operand::Sink => vec![None; elements.len()],
        d => registers(cx, d, ty)?,
    };
    if results.len() != elements.len() {
        return Err(cx.no());
    }
    // "If no .sem is specified, .relaxed; if no scope, .gpu" (PTX ISA, `atom`).
    let acq_rel = instruction.has("acq_rel");
    let order = Order {
        strong: Some(scope(cx).unwrap_or(Scope::Device)),
        acquire: acq_rel || instruction.has("acquire"),
        release: acq_rel || instruction.has("release"),
    };
    // A result may stand where a later element has its operand, or all of them their address.
    let vector = elements.len() > 1;
    let mut moves = Vec::new();
    for (number, (values, result)) in (0_i64..).zip(elements.into_iter().zip(results)) {
        let mut operands = [None; 2];
        for (operand, value) in operands.iter_mut().zip(values) {
            *operand = Some(cx.operand(value, wide)?);
        }
        let register = match result {
            Some(d) if vector => {
                let temporary = cx.temporary(wide);
                moves.push((d, temporary));
                Some(temporary)
            }
            result => result,
        };
        let access = Access {
            target,
            base,
            offset: offset + number * i64::from(ty.size()),
            size: ty.size() as u8,
            registers: vec![register],
            word: None,
            signed: false,
            order,
            atomic: Some((function, operands)),
        };
        push(cx, access, Op::Atomic);
    }
    for (d, a) in moves {
        match (d, a) {
            (Reg::W(d), Reg::W(a)) => cx.emit(Op::MovW(d, a)),
            (Reg::D(d), Reg::D(a)) => cx.emit(Op::MovD(d, a)),
            _ => return Err(cx.no()),
        }
    }
    Ok(())
}
