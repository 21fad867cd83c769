//! Reads PTX, the assembly language that NVIDIA's driver compiles for a card.
//!
//! [`parse`] makes a [`Module`] of the text: variables, functions, and their instructions with every register, label
//! and symbol resolved. [`Graph`] is the control flow of one function body.
//!
//! Source: PTX ISA 9.0, NVIDIA.

pub mod ast;
mod audit;
mod body;
mod chain;
mod constant;
mod cursor;
mod error;
mod graph;
mod header;
mod inlining;
mod lexer;
mod module;
mod nest;
mod operand;
mod positions;
mod scopes;
mod section;
mod variable;

pub use ast::{
    Base, Body, Function, Guard, Init, InitValue, Instruction, Label, Module, Operand, Param, Position,
    PositionId, RegId, Register, Space, Symbol, Type, Variable,
};
pub use audit::{Audit, Split, audit};
pub use error::ParseError;
pub use graph::{Block, Edge, Graph, Reason};
pub use module::parse;
pub use nest::Loop;

#[cfg(test)]
mod tests;
