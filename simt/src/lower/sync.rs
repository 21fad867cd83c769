//! Barriers, and operations of several lanes of a warp.

use ptx::{Operand, Type};

use super::arithmetic::{predicate, predicate_of};
use super::context::Context;
use crate::code::{Barrier, BarrierKind, Collective, CollectiveKind, Op, Reduce, Reg};
use crate::error::LoadError;

/// Lowers the instruction at hand, if it is one of these.
pub(super) fn lower(cx: &mut Context<'_>) -> Result<bool, LoadError> {
    let instruction = cx.instruction();
    match instruction.opcode.as_str() {
        "bar" if instruction.has("warp") => {
            let mask = instruction.operands.first().ok_or_else(|| cx.no())?;
            let mask = cx.operand(mask, false)?;
            cx.emit(Op::SyncWarp(mask));
        }
        "barrier" if instruction.has("cluster") => return Err(cx.no()),
        "bar" | "barrier" => barrier(cx)?,
        "vote" => vote(cx)?,
        "match" => matches(cx)?,
        "shfl" => shuffle(cx)?,
        "redux" => reduce(cx)?,
        "elect" => elect(cx)?,
        "activemask" => {
            let Some(Operand::Register(d)) = instruction.operands.first() else { return Err(cx.no()) };
            let Reg::W(d) = cx.register(*d)? else { return Err(cx.no()) };
            cx.emit(Op::ActiveMask(d));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The predicate behind a negation, and whether there is one.
fn perhaps_negated(cx: &mut Context<'_>, operand: &Operand) -> Result<(u32, bool), LoadError> {
    if let Operand::Negated(id) = operand {
        return match cx.register(*id)? {
            Reg::P(number) => Ok((number, true)),
            _ => Err(cx.no()),
        };
    }
    Ok((predicate_of(cx, operand)?, false))
}

fn barrier(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let operands = &instruction.operands[..];
    let barrier = if instruction.has("red") {
        let popc = instruction.has("popc");
        let (d, rest) = operands.split_first().ok_or_else(|| cx.no())?;
        let (number, count, p) = match rest {
            [number, p] => (number, None, p),
            [number, count, p] => (number, Some(count), p),
            _ => return Err(cx.no()),
        };
        let (predicate, negated) = perhaps_negated(cx, p)?;
        let Operand::Register(d) = d else { return Err(cx.no()) };
        let kind = match cx.register(*d)? {
            Reg::W(d) if popc => BarrierKind::Count { d, predicate, negated },
            Reg::P(d) if instruction.has("and") => BarrierKind::And { d, predicate, negated },
            Reg::P(d) if instruction.has("or") => BarrierKind::Or { d, predicate, negated },
            _ => return Err(cx.no()),
        };
        let number = cx.operand(number, false)?;
        let count = count.map(|count| cx.operand(count, false)).transpose()?;
        Barrier { number, count, kind }
    } else {
        let kind = if instruction.has("arrive") { BarrierKind::Arrive } else { BarrierKind::Sync };
        let number = match operands.first() {
            Some(number) => cx.operand(number, false)?,
            None => cx.constant(false, 0),
        };
        let count = operands.get(1).map(|count| cx.operand(count, false)).transpose()?;
        Barrier { number, count, kind }
    };
    let number = cx.program.barriers.len() as u32;
    cx.program.barriers.push(barrier);
    cx.emit(Op::Barrier(number));
    Ok(())
}

/// The mask of an operation, the operand at this position: without `.sync` there is none, and whoever is there takes part.
fn members(cx: &mut Context<'_>, position: usize) -> Result<Reg, LoadError> {
    if !cx.instruction().has("sync") {
        let Reg::W(d) = cx.temporary(false) else { return Err(cx.no()) };
        cx.emit(Op::ActiveMask(d));
        return Ok(Reg::W(d));
    }
    let operand = cx.instruction().operands.get(position).ok_or_else(|| cx.no())?;
    cx.operand(operand, false)
}

fn push(cx: &mut Context<'_>, collective: Collective) {
    let number = cx.program.collectives.len() as u32;
    cx.program.collectives.push(collective);
    cx.emit(Op::Collective(number));
}

/// `d`, or `d|p`.
fn destinations(cx: &Context<'_>) -> Result<(Reg, Option<u32>), LoadError> {
    match cx.instruction().operands.first() {
        Some(Operand::Register(d)) => Ok((cx.register(*d)?, None)),
        Some(Operand::Pair(d, p)) => match cx.register(*p)? {
            Reg::P(p) => Ok((cx.register(*d)?, Some(p))),
            _ => Err(cx.no()),
        },
        _ => Err(cx.no()),
    }
}

fn vote(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let kind = match () {
        () if instruction.has("all") => CollectiveKind::VoteAll,
        () if instruction.has("any") => CollectiveKind::VoteAny,
        () if instruction.has("uni") => CollectiveKind::VoteUni,
        () if instruction.has("ballot") => CollectiveKind::Ballot,
        () => return Err(cx.no()),
    };
    let (d, _) = destinations(cx)?;
    let a = instruction.operands.get(1).ok_or_else(|| cx.no())?;
    let (a, negated) = perhaps_negated(cx, a)?;
    let members = members(cx, 2)?;
    let a = Reg::P(a);
    push(cx, Collective { kind, members, d, p: None, a, b: a, c: a, negated });
    Ok(())
}

fn matches(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let kind = if instruction.has("all") { CollectiveKind::MatchAll } else { CollectiveKind::MatchAny };
    let (d, p) = destinations(cx)?;
    let wide = instruction.ty().is_some_and(|ty| ty.size() == 8);
    let a = instruction.operands.get(1).ok_or_else(|| cx.no())?;
    let a = cx.operand(a, wide)?;
    let members = members(cx, 2)?;
    push(cx, Collective { kind, members, d, p, a, b: a, c: a, negated: false });
    Ok(())
}

fn shuffle(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let kind = match () {
        () if instruction.has("up") => CollectiveKind::ShuffleUp,
        () if instruction.has("down") => CollectiveKind::ShuffleDown,
        () if instruction.has("bfly") => CollectiveKind::ShuffleButterfly,
        () if instruction.has("idx") => CollectiveKind::ShuffleIndex,
        () => return Err(cx.no()),
    };
    let (d, p) = destinations(cx)?;
    let [_, a, b, c, ..] = &instruction.operands[..] else { return Err(cx.no()) };
    let (a, b, c) = (cx.operand(a, false)?, cx.operand(b, false)?, cx.operand(c, false)?);
    let members = members(cx, 4)?;
    push(cx, Collective { kind, members, d, p, a, b, c, negated: false });
    Ok(())
}

fn reduce(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let signed = instruction.ty() == Some(Type::S32);
    let reduce = match () {
        () if instruction.ty().is_some_and(Type::is_float) => return Err(cx.no()),
        () if instruction.has("add") => Reduce::Add,
        () if instruction.has("min") && signed => Reduce::MinS,
        () if instruction.has("min") => Reduce::MinU,
        () if instruction.has("max") && signed => Reduce::MaxS,
        () if instruction.has("max") => Reduce::MaxU,
        () if instruction.has("and") => Reduce::And,
        () if instruction.has("or") => Reduce::Or,
        () if instruction.has("xor") => Reduce::Xor,
        () => return Err(cx.no()),
    };
    let (d, _) = destinations(cx)?;
    let a = instruction.operands.get(1).ok_or_else(|| cx.no())?;
    let a = cx.operand(a, false)?;
    let members = members(cx, 2)?;
    push(
        cx,
        Collective {
            kind: CollectiveKind::Reduce(reduce),
            members,
            d,
            p: None,
            a,
            b: a,
            c: a,
            negated: false,
        },
    );
    Ok(())
}

fn elect(cx: &mut Context<'_>) -> Result<(), LoadError> {
    let instruction = cx.instruction();
    let (d, p) = match instruction.operands.first() {
        Some(Operand::Pair(d, p)) => match cx.register(*p)? {
            Reg::P(p) => (cx.register(*d)?, Some(p)),
            _ => return Err(cx.no()),
        },
        _ => (cx.temporary(false), Some(predicate(cx, 0)?)),
    };
    let members = members(cx, 1)?;
    push(cx, Collective { kind: CollectiveKind::Elect, members, d, p, a: d, b: d, c: d, negated: false });
    Ok(())
}
