//! Instructions that one lane executes by itself.
//!
//! The common ones have operations of their own, which know affine operands; every other one is a function of the
//! lane's bits, from [`alu`].

use ptx::{Operand, Type};

use super::context::Context;
use crate::address::Window;
use crate::alu::{self, Alu};
use crate::code::{Compare, Float, Integer, Logic, Op, Reg, Scalar, Test};
use crate::error::LoadError;

type Done = Result<(), LoadError>;

/// Lowers the instruction at hand, if it is one of these.
pub(super) fn lower(cx: &mut Context<'_>) -> Result<bool, LoadError> {
    let instruction = cx.instruction();
    match instruction.opcode.as_str() {
        "mov" => mov(cx)?,
        "cvta" => cvta(cx)?,
        "isspacep" => is_space(cx)?,
        "setp" => setp(cx)?,
        "addc" | "subc" | "madc" => carry(cx)?,
        "add" | "sub" | "mad" if instruction.has("cc") => carry(cx)?,
        "set" if alu::scalar(instruction).is_none() => set(cx)?,
        "lop3" if instruction.has("and") || instruction.has("or") => lop3(cx)?,
        _ => {
            if !common(cx)? && !scalar(cx)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn is_wide(ty: Type) -> bool {
    ty.size() == 8
}

/// The operations that are worth a form of their own.
fn common(cx: &mut Context<'_>) -> Result<bool, LoadError> {
    use Type::{B32, B64, F32, F64, S32, S64, U32, U64};
    let instruction = cx.instruction();
    let words: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
    let opcode = instruction.opcode.as_str();
    let integer = |integer| Some((integer, false));
    let kind = match (opcode, &words[..]) {
        ("add", ["s32" | "u32" | "s64" | "u64"]) => integer(Integer::Add),
        ("sub", ["s32" | "u32" | "s64" | "u64"]) => integer(Integer::Sub),
        ("mul", ["lo", "s32" | "u32" | "s64" | "u64"]) => integer(Integer::Mul),
        ("and", ["b32" | "b64"]) => integer(Integer::And),
        ("or", ["b32" | "b64"]) => integer(Integer::Or),
        ("xor", ["b32" | "b64"]) => integer(Integer::Xor),
        ("shl", ["b32" | "b64"]) => Some((Integer::Shl, true)),
        ("shr", ["b32" | "b64" | "u32" | "u64"]) => Some((Integer::Shr, true)),
        ("min", ["u32" | "u64"]) => integer(Integer::MinU),
        ("max", ["u32" | "u64"]) => integer(Integer::MaxU),
        _ => None,
    };
    let Some(ty) = instruction.ty() else { return Ok(false) };
    if let Some((kind, shift)) = kind {
        let [d, a, b] = operands(cx, [is_wide(ty), is_wide(ty), is_wide(ty) && !shift])?;
        return Ok(match (d, a, b) {
            (Reg::W(d), Reg::W(a), Reg::W(b)) => emit(cx, Op::IntW(kind, d, a, b)),
            (Reg::D(d), Reg::D(a), Reg::W(b)) if shift => emit(cx, Op::IntD(kind, d, a, b)),
            (Reg::D(d), Reg::D(a), Reg::D(b)) if !shift => emit(cx, Op::IntD(kind, d, a, b)),
            _ => false,
        });
    }
    let float = match (opcode, &words[..]) {
        ("add", ["f32" | "f64"] | ["rn", "f32" | "f64"]) => Some(Float::Add),
        ("sub", ["f32" | "f64"] | ["rn", "f32" | "f64"]) => Some(Float::Sub),
        ("mul", ["f32" | "f64"] | ["rn", "f32" | "f64"]) => Some(Float::Mul),
        ("div", ["rn", "f32" | "f64"]) => Some(Float::Div),
        _ => None,
    };
    if let Some(float) = float {
        let [d, a, b] = operands(cx, [is_wide(ty); 3])?;
        return Ok(match (d, a, b) {
            (Reg::W(d), Reg::W(a), Reg::W(b)) => emit(cx, Op::FloatW(float, d, a, b)),
            (Reg::D(d), Reg::D(a), Reg::D(b)) => emit(cx, Op::FloatD(float, d, a, b)),
            _ => false,
        });
    }
    Ok(match (opcode, &words[..]) {
        ("fma", ["rn", "f32" | "f64"]) => {
            let [d, a, b, c] = operands(cx, [is_wide(ty); 4])?;
            match (d, a, b, c) {
                (Reg::W(d), Reg::W(a), Reg::W(b), Reg::W(c)) => emit(cx, Op::FmaW(d, a, b, c)),
                (Reg::D(d), Reg::D(a), Reg::D(b), Reg::D(c)) => emit(cx, Op::FmaD(d, a, b, c)),
                _ => false,
            }
        }
        ("mad", ["lo", "s32" | "u32" | "s64" | "u64"]) => {
            let [d, a, b, c] = operands(cx, [is_wide(ty); 4])?;
            match (d, a, b, c) {
                (Reg::W(d), Reg::W(a), Reg::W(b), Reg::W(c)) => emit(cx, Op::MadW(d, a, b, c)),
                (Reg::D(d), Reg::D(a), Reg::D(b), Reg::D(c)) => emit(cx, Op::MadD(d, a, b, c)),
                _ => false,
            }
        }
        ("mul", ["wide", "u32" | "s32"]) => {
            let [d, a, b] = operands(cx, [true, false, false])?;
            let zero = cx.constant(true, 0);
            mad_wide(cx, ty == S32, [d, a, b, zero])
        }
        ("mad", ["wide", "u32" | "s32"]) => {
            let all = operands(cx, [true, false, false, true])?;
            mad_wide(cx, ty == S32, all)
        }
        ("cvt", [_, _]) => {
            let types: Vec<Type> = instruction.types().collect();
            match types[..] {
                [U64 | S64, from @ (U32 | S32)] => {
                    let [d, a] = operands(cx, [true, false])?;
                    match (d, a) {
                        (Reg::D(d), Reg::W(a)) => emit(cx, Op::Widen { signed: from == S32, d, a }),
                        _ => false,
                    }
                }
                [U32 | S32, U64 | S64] => {
                    let [d, a] = operands(cx, [false, true])?;
                    match (d, a) {
                        (Reg::W(d), Reg::D(a)) => emit(cx, Op::Narrow(d, a)),
                        _ => false,
                    }
                }
                _ => false,
            }
        }
        ("selp", [_]) if matches!(ty, B32 | U32 | S32 | F32 | B64 | U64 | S64 | F64) => {
            let [d, a, b] = operands(cx, [is_wide(ty); 3])?;
            let p = predicate(cx, 3)?;
            match (d, a, b) {
                (Reg::W(d), Reg::W(a), Reg::W(b)) => emit(cx, Op::SelectW(d, a, b, p)),
                (Reg::D(d), Reg::D(a), Reg::D(b)) => emit(cx, Op::SelectD(d, a, b, p)),
                _ => false,
            }
        }
        ("not", ["pred"]) => {
            let (d, a) = (predicate(cx, 0)?, predicate(cx, 1)?);
            emit(cx, Op::NotP(d, a))
        }
        ("and" | "or" | "xor", ["pred"]) => {
            let logic = match opcode {
                "and" => Logic::And,
                "or" => Logic::Or,
                _ => Logic::Xor,
            };
            let (d, a, b) = (predicate(cx, 0)?, predicate(cx, 1)?, predicate(cx, 2)?);
            emit(cx, Op::LogicP(logic, d, a, b))
        }
        _ => false,
    })
}

fn emit(cx: &mut Context<'_>, op: Op) -> bool {
    cx.emit(op);
    true
}

fn mad_wide(cx: &mut Context<'_>, signed: bool, [d, a, b, c]: [Reg; 4]) -> bool {
    match (d, a, b, c) {
        (Reg::D(d), Reg::W(a), Reg::W(b), Reg::D(c)) => emit(cx, Op::MadWide { signed, d, a, b, c }),
        _ => false,
    }
}

/// The first operands of the instruction, each of a type that is 64 bits wide or not.
fn operands<const N: usize>(cx: &mut Context<'_>, wide: [bool; N]) -> Result<[Reg; N], LoadError> {
    let instruction = cx.instruction();
    let mut registers = [Reg::W(0); N];
    for (n, register) in registers.iter_mut().enumerate() {
        let operand = instruction.operands.get(n).ok_or_else(|| cx.no())?;
        *register = cx.operand(operand, wide[n])?;
    }
    Ok(registers)
}

/// A predicate operand; a negated one, or a constant, gets a register of its own.
pub(super) fn predicate(cx: &mut Context<'_>, number: usize) -> Result<u32, LoadError> {
    let operand = cx.instruction().operands.get(number).ok_or_else(|| cx.no())?;
    predicate_of(cx, operand)
}

pub(super) fn predicate_of(cx: &mut Context<'_>, operand: &Operand) -> Result<u32, LoadError> {
    match operand {
        Operand::Register(id) => match cx.register(*id)? {
            Reg::P(number) => Ok(number),
            _ => Err(cx.no()),
        },
        Operand::Negated(id) => {
            let Reg::P(a) = cx.register(*id)? else { return Err(cx.no()) };
            let d = cx.temporary_predicate();
            cx.emit(Op::NotP(d, a));
            Ok(d)
        }
        Operand::Integer(value) => Ok(cx.constant_predicate(*value != 0)),
        _ => Err(cx.no()),
    }
}

fn mov(cx: &mut Context<'_>) -> Done {
    let instruction = cx.instruction();
    let ty = instruction.ty().ok_or_else(|| cx.no())?;
    match &instruction.operands[..] {
        [Operand::List(parts), whole] => unpack(cx, ty, parts, whole),
        [whole, Operand::List(parts)] => pack(cx, ty, whole, parts),
        [_, _] if ty == Type::Pred => {
            let (d, a) = (predicate(cx, 0)?, predicate(cx, 1)?);
            cx.emit(Op::MovP(d, a));
            Ok(())
        }
        [Operand::Register(d), from] => {
            let a = match from {
                // The address of a parameter of the kernel, in the space of parameters.
                Operand::Symbol(ptx::Symbol::Param(number), offset) if cx.function.entry => {
                    let address = cx.function.params[*number as usize].offset.wrapping_add(*offset as u64);
                    cx.constant(is_wide(ty), address)
                }
                from => cx.operand(from, is_wide(ty))?,
            };
            let d = cx.register(*d)?;
            move_to(cx, d, a)
        }
        _ => Err(cx.no()),
    }
}

fn move_to(cx: &mut Context<'_>, d: Reg, a: Reg) -> Done {
    let op = match (d, a) {
        (Reg::W(d), Reg::W(a)) => Op::MovW(d, a),
        (Reg::D(d), Reg::D(a)) => Op::MovD(d, a),
        (Reg::P(d), Reg::P(a)) => Op::MovP(d, a),
        (Reg::D(d), Reg::W(a)) => Op::Widen { signed: false, d, a },
        (Reg::W(d), Reg::D(a)) => Op::Narrow(d, a),
        _ => return Err(cx.no()),
    };
    cx.emit(op);
    Ok(())
}

fn unpack(cx: &mut Context<'_>, ty: Type, parts: &[Operand], whole: &Operand) -> Done {
    let a = cx.operand(whole, is_wide(ty))?;
    let bits = ty.size() * 8 / parts.len().max(1) as u32;
    for (number, part) in parts.iter().enumerate() {
        let d = match part {
            Operand::Sink => continue,
            Operand::Register(id) => cx.register(*id)?,
            _ => return Err(cx.no()),
        };
        let function: fn(u64) -> u64 = match (bits, number) {
            (32, 0) => |x| x & 0xffff_ffff,
            (32, 1) => |x| x >> 32,
            (16, 0) => |x| x & 0xffff,
            (16, 1) => |x| x >> 16 & 0xffff,
            (16, 2) => |x| x >> 32 & 0xffff,
            (16, 3) => |x| x >> 48,
            (8, 0) => |x| x & 0xff,
            (8, 1) => |x| x >> 8 & 0xff,
            (8, 2) => |x| x >> 16 & 0xff,
            (8, 3) => |x| x >> 24 & 0xff,
            _ => return Err(cx.no()),
        };
        let operands = [a; 4];
        push_scalar(cx, Scalar { function: Alu::One(function), d, operands, count: 1, extend: 0 });
    }
    Ok(())
}

fn pack(cx: &mut Context<'_>, ty: Type, whole: &Operand, parts: &[Operand]) -> Done {
    let Operand::Register(d) = whole else { return Err(cx.no()) };
    let d = cx.register(*d)?;
    let bits = ty.size() * 8 / parts.len().max(1) as u32;
    let mut operands = [d; 4];
    for (operand, part) in operands.iter_mut().zip(parts) {
        *operand = cx.operand(part, false)?;
    }
    let function = match (bits, parts.len()) {
        (32, 2) => Alu::Two(|a, b| a & 0xffff_ffff | b << 32),
        (16, 2) => Alu::Two(|a, b| a & 0xffff | (b & 0xffff) << 16),
        (16, 4) => {
            Alu::Four(|a, b, c, d| a & 0xffff | (b & 0xffff) << 16 | (c & 0xffff) << 32 | (d & 0xffff) << 48)
        }
        (8, 4) => Alu::Four(|a, b, c, d| a & 0xff | (b & 0xff) << 8 | (c & 0xff) << 16 | (d & 0xff) << 24),
        _ => return Err(cx.no()),
    };
    push_scalar(cx, Scalar { function, d, operands, count: parts.len() as u8, extend: 0 });
    Ok(())
}

fn push_scalar(cx: &mut Context<'_>, scalar: Scalar) {
    let number = cx.program.scalars.len() as u32;
    cx.program.scalars.push(scalar);
    cx.emit(Op::Scalar(number));
}

/// An instruction that has no form of its own here.
fn scalar(cx: &mut Context<'_>) -> Result<bool, LoadError> {
    let instruction = cx.instruction();
    let Some(function) = alu::scalar(instruction) else { return Ok(false) };
    let Some(Operand::Register(d)) = instruction.operands.first() else { return Err(cx.no()) };
    let d = cx.register(*d)?;
    let (operands, count) = sources(cx, d)?;
    if count != arity(function) {
        return Err(cx.no());
    }
    let extend = match instruction.types().next() {
        Some(ty) if alu::extends_signed(instruction) => (ty.size() * 8) as u8,
        _ => 0,
    };
    push_scalar(cx, Scalar { function, d, operands, count: count as u8, extend });
    Ok(true)
}

fn arity(function: Alu) -> usize {
    match function {
        Alu::One(_) => 1,
        Alu::Two(_) => 2,
        Alu::Three(_) => 3,
        Alu::Four(_) => 4,
    }
}

/// The registers of all operands but the first, and how many there are; unused ones repeat `filler`.
fn sources(cx: &mut Context<'_>, filler: Reg) -> Result<([Reg; 4], usize), LoadError> {
    let instruction = cx.instruction();
    let wide = instruction.ty().is_some_and(is_wide);
    let given = &instruction.operands[1..];
    let mut operands = [filler; 4];
    if given.len() > operands.len() {
        return Err(cx.no());
    }
    for (operand, given) in operands.iter_mut().zip(given) {
        *operand = match given {
            Operand::Negated(_) => Reg::P(predicate_of(cx, given)?),
            given => cx.operand(given, wide)?,
        };
    }
    Ok((operands, given.len()))
}

/// An instruction that reads or writes the carry flag.
fn carry(cx: &mut Context<'_>) -> Done {
    let instruction = cx.instruction();
    let function = alu::scalar(instruction).ok_or_else(|| cx.no())?;
    let Some(Operand::Register(d)) = instruction.operands.first() else { return Err(cx.no()) };
    let d = cx.register(*d)?;
    let (mut operands, mut count) = sources(cx, d)?;
    let flag = cx.carry();
    if matches!(instruction.opcode.as_str(), "addc" | "subc" | "madc") {
        *operands.get_mut(count).ok_or_else(|| cx.no())? = Reg::P(flag);
        count += 1;
    }
    if count != arity(function) {
        return Err(cx.no());
    }
    // The result may overwrite an operand, so the flag is found first, but set last: it may be an operand too.
    let out = alu::carry(instruction).map(|function| (function, cx.temporary_predicate()));
    let count = count as u8;
    if let Some((function, p)) = out {
        push_scalar(cx, Scalar { function, d: Reg::P(p), operands, count, extend: 0 });
    }
    push_scalar(cx, Scalar { function, d, operands, count, extend: 0 });
    if let Some((_, p)) = out {
        cx.emit(Op::MovP(flag, p));
    }
    Ok(())
}

/// `set`: a comparison whose result is a number.
fn set(cx: &mut Context<'_>) -> Done {
    let instruction = cx.instruction();
    let one = alu::set_value(instruction).ok_or_else(|| cx.no())?;
    let Some(Operand::Register(d)) = instruction.operands.first() else { return Err(cx.no()) };
    let d = cx.register(*d)?;
    let p = cx.temporary_predicate();
    test(cx, (Some(p), None))?;
    let wide = matches!(d, Reg::D(_));
    let op = match (d, cx.constant(wide, one), cx.constant(wide, 0)) {
        (Reg::W(d), Reg::W(a), Reg::W(b)) => Op::SelectW(d, a, b, p),
        (Reg::D(d), Reg::D(a), Reg::D(b)) => Op::SelectD(d, a, b, p),
        _ => return Err(cx.no()),
    };
    cx.emit(op);
    Ok(())
}

/// `lop3` with a predicate: whether the result is not zero, joined with another one.
fn lop3(cx: &mut Context<'_>) -> Done {
    let instruction = cx.instruction();
    let function = alu::scalar(instruction).ok_or_else(|| cx.no())?;
    let logic = if instruction.has("and") { Logic::And } else { Logic::Or };
    let [Operand::Pair(d, p), a, b, c, table, with] = &instruction.operands[..] else { return Err(cx.no()) };
    let (d, Reg::P(p)) = (cx.register(*d)?, cx.register(*p)?) else { return Err(cx.no()) };
    let mut operands = [d; 4];
    for (operand, given) in operands.iter_mut().zip([a, b, c, table]) {
        *operand = cx.operand(given, false)?;
    }
    let with = match with {
        Operand::Negated(id) => match cx.register(*id)? {
            Reg::P(number) => (logic, number, true),
            _ => return Err(cx.no()),
        },
        other => (logic, predicate_of(cx, other)?, false),
    };
    push_scalar(cx, Scalar { function, d, operands, count: 4, extend: 0 });
    let number = cx.program.tests.len() as u32;
    let (function, b) = ((|a, b| a != b) as fn(u64, u64) -> bool, cx.constant(false, 0));
    cx.program.tests.push(Test { function, d: Some(p), not_d: None, a: d, b, with: Some(with) });
    cx.emit(Op::Test(number));
    Ok(())
}

fn setp(cx: &mut Context<'_>) -> Done {
    let instruction = cx.instruction();
    let ty = instruction.ty().ok_or_else(|| cx.no())?;
    let words: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
    let (a, b) = match &instruction.operands[..] {
        [_, a, b, ..] => (cx.operand(a, is_wide(ty))?, cx.operand(b, is_wide(ty))?),
        _ => return Err(cx.no()),
    };
    if let ([compare, _], [Operand::Register(d), _, _]) = (&words[..], &instruction.operands[..]) {
        let Reg::P(d) = cx.register(*d)? else { return Err(cx.no()) };
        let unsigned = matches!(*compare, "lo" | "ls" | "hi" | "hs");
        let kind = match *compare {
            "eq" => Some(Compare::Eq),
            "ne" => Some(Compare::Ne),
            "lt" | "lo" => Some(Compare::Lt),
            "le" | "ls" => Some(Compare::Le),
            "gt" | "hi" => Some(Compare::Gt),
            "ge" | "hs" => Some(Compare::Ge),
            _ => None,
        };
        if let Some(compare) = kind.filter(|_| !ty.is_float()) {
            let signed = ty.is_signed() && !unsigned;
            match (a, b, ty.size()) {
                (Reg::W(a), Reg::W(b), 4) => {
                    cx.emit(Op::CompareW { compare, signed, d, a, b });
                    return Ok(());
                }
                (Reg::D(a), Reg::D(b), 8) => {
                    cx.emit(Op::CompareD { compare, signed, d, a, b });
                    return Ok(());
                }
                _ => {}
            }
        }
    }
    let of = |cx: &Context<'_>, id| match cx.register(id) {
        Ok(Reg::P(number)) => Ok(Some(number)),
        _ => Err(cx.no()),
    };
    let destinations = match &instruction.operands[0] {
        Operand::Register(d) => (of(cx, *d)?, None),
        Operand::Pair(d, e) => (of(cx, *d)?, of(cx, *e)?),
        _ => return Err(cx.no()),
    };
    test(cx, destinations)
}

/// A comparison, joined with another predicate if it says so: into a predicate, and its contrary into another.
fn test(cx: &mut Context<'_>, (d, not_d): (Option<u32>, Option<u32>)) -> Done {
    let instruction = cx.instruction();
    let function = alu::comparison(instruction).ok_or_else(|| cx.no())?;
    let wide = instruction.ty().is_some_and(is_wide);
    let [_, a, b, rest @ ..] = &instruction.operands[..] else { return Err(cx.no()) };
    let (a, b) = (cx.operand(a, wide)?, cx.operand(b, wide)?);
    let logic = instruction.modifiers.iter().find_map(|word| match word.as_str() {
        "and" => Some(Logic::And),
        "or" => Some(Logic::Or),
        "xor" => Some(Logic::Xor),
        _ => None,
    });
    let with = match (logic, rest) {
        (Some(logic), [Operand::Negated(id)]) => match cx.register(*id)? {
            Reg::P(number) => Some((logic, number, true)),
            _ => return Err(cx.no()),
        },
        (Some(logic), [other]) => Some((logic, predicate_of(cx, other)?, false)),
        (None, []) => None,
        _ => return Err(cx.no()),
    };
    let number = cx.program.tests.len() as u32;
    cx.program.tests.push(Test { function, d, not_d, a, b, with });
    cx.emit(Op::Test(number));
    Ok(())
}

fn window_of(cx: &Context<'_>) -> Result<Window, LoadError> {
    let window = cx.instruction().modifiers.iter().find_map(|word| match word.split("::").next()? {
        "global" => Some(Window::Global),
        "shared" => Some(Window::Shared),
        "local" => Some(Window::Local),
        "const" => Some(Window::Const),
        "param" => Some(Window::Param),
        _ => None,
    });
    window.ok_or_else(|| cx.no())
}

fn cvta(cx: &mut Context<'_>) -> Done {
    let instruction = cx.instruction();
    let space = window_of(cx)?;
    let to = instruction.has("to");
    let [_, from] = &instruction.operands[..] else { return Err(cx.no()) };
    let a = match from {
        Operand::Symbol(ptx::Symbol::Param(number), offset) if cx.function.entry => {
            let address = cx.function.params[*number as usize].offset.wrapping_add(*offset as u64);
            cx.constant(true, address)
        }
        from => cx.operand(from, true)?,
    };
    let [d] = operands(cx, [true])?;
    match (d, a) {
        (Reg::D(d), Reg::D(a)) => {
            cx.emit(Op::Convert { space, to, d, a });
            Ok(())
        }
        _ => Err(cx.unsupported("a 32-bit generic address")),
    }
}

fn is_space(cx: &mut Context<'_>) -> Done {
    let space = window_of(cx)?;
    let d = predicate(cx, 0)?;
    let a = cx.operand(&cx.instruction().operands[1].clone(), true)?;
    match a {
        Reg::D(a) => {
            cx.emit(Op::IsSpace { space, d, a });
            Ok(())
        }
        _ => Err(cx.unsupported("a 32-bit generic address")),
    }
}
