//! The arguments of a launch: buffers and numbers.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use simt::{Kernel, Memory};

use super::signature::{Parameter, Shape};
use crate::data::{Element, Filling, given};

/// What the command line says of arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes<'a> {
    /// How many elements a buffer has.
    pub(super) n: usize,
    /// `NAME=VALUE`.
    pub(super) args: &'a [String],
    /// `NAME=FILLING`.
    pub(super) data: &'a [String],
}

/// The arguments, made once; each launch has a memory of its own.
#[derive(Debug)]
pub(super) struct Arguments(Vec<Argument>);

#[derive(Debug)]
struct Argument {
    name: String,
    shape: Shape,
    /// Of a buffer, or of the value.
    bytes: Vec<u8>,
    element: Element,
    /// In a report.
    shown: String,
}

impl Arguments {
    /// # Errors
    ///
    /// If the command line speaks of what is not there, if a file cannot be read, or if the parameters are not those
    /// of the kernel.
    pub(super) fn new(kernel: &Kernel, parameters: &[Parameter], wishes: Wishes<'_>) -> Result<Self> {
        known(parameters, wishes)?;
        let in_ptx = kernel.parameters();
        let taken: usize = parameters.iter().map(|it| if it.shape == Shape::Slice { 2 } else { 1 }).sum();
        if taken != in_ptx.len() {
            bail!(
                "the kernel has {} parameters in the PTX and {taken} by its source; give the .ptx file itself",
                in_ptx.len()
            );
        }
        let mut sizes = in_ptx.iter().map(|it| it.size as usize);
        let mut all = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let size = sizes.next().unwrap_or_default();
            if parameter.shape == Shape::Slice {
                sizes.next();
            }
            all.push(argument(index, parameter, size, wishes)?);
        }
        Ok(Self(all))
    }

    /// Puts the buffers into memory; the bytes of each parameter.
    pub(super) fn put(&self, memory: &mut Memory) -> Vec<Vec<u8>> {
        let mut arguments = Vec::new();
        for Argument { name, shape, bytes, element, .. } in &self.0 {
            if *shape == Shape::Value {
                arguments.push(bytes.clone());
                continue;
            }
            let pointer = memory.alloc(name, bytes, element.size().max(1) as u32);
            arguments.push(pointer.0.to_le_bytes().to_vec());
            if *shape == Shape::Slice {
                let length = bytes.len() / element.size().max(1);
                arguments.push((length as u64).to_le_bytes().to_vec());
            }
        }
        arguments
    }

    /// A line for each.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.iter().map(|argument| format!("{}: {}", argument.name, argument.shown)).collect()
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        self.0.iter().map(|argument| json!({ "name": argument.name, "value": argument.shown })).collect()
    }
}

fn argument(index: usize, parameter: &Parameter, size: usize, wishes: Wishes<'_>) -> Result<Argument> {
    let name = parameter.name.clone();
    let value = given(wishes.args, &name, Some(index));
    let filling = given(wishes.data, &name, Some(index));
    let element = parameter.element.unwrap_or(Element::Bytes(size));
    // What is guessed of PTX can be told otherwise.
    let shape = match (parameter.shape, value, filling) {
        (Shape::Pointer, Some(_), _) => Shape::Value,
        (Shape::Value, _, Some(_)) => Shape::Pointer,
        (shape, ..) => shape,
    };
    if shape == Shape::Value {
        let element = if element.size() == size { element } else { whole(size) };
        let shown = match (value, element) {
            (Some(value), _) => value.to_owned(),
            (None, Element::Bool) => "true".into(),
            (None, Element::Bytes(_)) => format!("0x{}", "00".repeat(size)),
            (None, _) if parameter.length => wishes.n.to_string(),
            (None, _) => "2".into(),
        };
        let bytes = element.parse(&shown).with_context(|| format!("--arg {name}={shown}"))?;
        let shown = match element {
            Element::Bytes(size) if value.is_none() => format!("{size} bytes of zeros"),
            _ => format!("{shown} ({element})"),
        };
        return Ok(Argument { name, shape, bytes, element, shown });
    }
    if size != 8 {
        bail!("--data {name}: a parameter of {size} bytes is no pointer");
    }
    let filling = Filling::parse(filling.unwrap_or("iota")).with_context(|| format!("--data {name}"))?;
    let count = if shape == Shape::Reference { 1 } else { wishes.n };
    let bytes = filling.bytes(element, count).with_context(|| format!("--data {name}"))?;
    let shown = format!("{} x {element}, {}", bytes.len() / element.size().max(1), filling.describe(element));
    Ok(Argument { name, shape, bytes, element, shown })
}

fn whole(size: usize) -> Element {
    match size {
        1 => Element::U8,
        2 => Element::U16,
        4 => Element::U32,
        8 => Element::U64,
        size => Element::Bytes(size),
    }
}

/// Everything that the command line gives has to be for somebody.
fn known(parameters: &[Parameter], wishes: Wishes<'_>) -> Result<()> {
    for (flag, all) in [("--arg", wishes.args), ("--data", wishes.data)] {
        for one in all {
            let Some((name, _)) = one.split_once('=') else {
                bail!("{flag} {one}: write it as {flag} NAME=VALUE, or INDEX=VALUE with an index from 0");
            };
            let of =
                |(index, parameter): (usize, &Parameter)| parameter.name == name || index.to_string() == name;
            if !parameters.iter().enumerate().any(of) {
                let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                bail!("{flag} {one}: the kernel has no parameter `{name}`; it has {}", names.join(", "));
            }
        }
    }
    Ok(())
}
