//! What a kernel takes: as its source says, or as its PTX lets us see.

use std::collections::HashSet;

use ptx::{Base, Body, Function, Instruction, Operand, RegId, Symbol, Type};
use serde::Deserialize;

use crate::data::Element;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// Of an element, or of the number. `None`: a value of a type that is not looked into, as long as the PTX says.
    pub(super) element: Option<Element>,
    /// It is as long as the buffers are, unless something else is asked for.
    #[serde(default)]
    pub(super) length: bool,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shape {
    /// A pointer and a length.
    Slice,
    /// A pointer to as many elements as buffers have.
    Pointer,
    /// A pointer to one element.
    Reference,
    /// Bytes in the parameter itself.
    Value,
}

/// Where the parameters' values go: what follows from each.
pub(super) fn infer(function: &Function) -> Vec<Parameter> {
    let body = function.body.as_ref();
    (0_u32..)
        .zip(&function.params)
        .map(|(number, param)| {
            let used = body.and_then(|body| accessed(body, number)).filter(|_| param.size == 8);
            let name = param.name.clone();
            if param.pointer || used.is_some() {
                let element = used.flatten().map_or(Element::F32, element);
                return Parameter { name, shape: Shape::Pointer, element: Some(element), length: false };
            }
            let element = match param.ty {
                // An array of bytes.
                _ if u64::from(param.ty.size()) != param.size => None,
                ty => Some(element(ty)),
            };
            let length = !matches!(element, None | Some(Element::F32 | Element::F64));
            Parameter { name, shape: Shape::Value, element, length }
        })
        .collect()
}

/// The number that stands for a type of PTX. One without an interpretation (`.b32`) is a whole number here.
fn element(ty: Type) -> Element {
    match ty {
        Type::F32 => Element::F32,
        Type::F64 => Element::F64,
        Type::S8 => Element::I8,
        Type::S16 => Element::I16,
        Type::S32 => Element::I32,
        Type::S64 => Element::I64,
        Type::B128 => Element::U128,
        other => match other.size() {
            1 => Element::U8,
            2 => Element::U16,
            4 => Element::U32,
            _ => Element::U64,
        },
    }
}

/// Whether memory is accessed at this parameter's value plus something, and as what type.
///
/// An approximation: the value is followed through copies, conversions of addresses and sums. A number that is
/// added to an address without being scaled, as an index of bytes is, is taken for an address too.
fn accessed(body: &Body, param: u32) -> Option<Option<Type>> {
    let is_param = |operand: &Operand| match operand {
        Operand::Address { base: Base::Symbol(symbol), .. } => *symbol == Symbol::Param(param),
        _ => false,
    };
    let mut followed: HashSet<RegId> = HashSet::new();
    let mut converted = false;
    loop {
        let before = followed.len();
        for instruction in &body.instructions {
            let Some((Operand::Register(to), from)) = instruction.operands.split_first() else { continue };
            let register =
                |operand: &Operand| matches!(operand, Operand::Register(it) if followed.contains(it));
            let hands_on = match instruction.opcode.as_str() {
                "ld" => instruction.has("param") && from.first().is_some_and(is_param),
                "mov" | "cvta" | "add" | "selp" => from.iter().any(register),
                "sub" => from.first().is_some_and(register),
                // The product is an offset.
                "mad" => from.last().is_some_and(register),
                _ => false,
            };
            converted |= instruction.opcode == "cvta" && hands_on;
            if hands_on {
                followed.insert(*to);
            }
        }
        if followed.len() == before {
            break;
        }
    }
    let at = |operand: &Operand| match operand {
        Operand::Address { base: Base::Register(it), .. } => followed.contains(it),
        _ => false,
    };
    let accesses = |instruction: &&Instruction| instruction.operands.iter().any(at);
    match body.instructions.iter().find(accesses) {
        Some(access) => Some(access.ty()),
        None => converted.then_some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_told_from_numbers() {
        let text = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 n, \
                    .param .u32 m, .param .f32 x, .param .u64 .ptr .global .align 4 p, .param .align 4 .b8 s[12]) {\n\
                    .reg .b64 %rd<9>; .reg .f32 %f<2>;\n\
                    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [n]; cvta.to.global.u64 %rd3, %rd1;\n\
                    shl.b64 %rd4, %rd2, 2; add.s64 %rd5, %rd3, %rd4; ld.global.f32 %f1, [%rd5+-4]; ret; }\n";
        let module = ptx::parse(text).expect("PTX");
        let found: Vec<_> =
            infer(&module.functions[0]).into_iter().map(|it| (it.shape, it.element, it.length)).collect();
        assert_eq!(
            found,
            [
                (Shape::Pointer, Some(Element::F32), false),
                (Shape::Value, Some(Element::U64), true),
                (Shape::Value, Some(Element::U32), true),
                (Shape::Value, Some(Element::F32), false),
                (Shape::Pointer, Some(Element::F32), false),
                (Shape::Value, None, false),
            ]
        );
    }
}
