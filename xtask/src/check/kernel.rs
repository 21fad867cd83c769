//! The kernel of a file, as far as its signature tells how to call it.

use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use quote::ToTokens;
use serde_json::{Value, json};
use syn::{Attribute, File, FnArg, Item, ItemFn, Pat, Type, Visibility};

use super::types::{Element, Types, is_fat};

/// Parameters that are as long as the buffers are.
const LENGTHS: &[&str] = &["n", "len", "length", "size", "count", "elements", "num_elements"];

/// Bytes of an element whose type this file does not declare.
const UNKNOWN: usize = 16;

/// A kernel that can be called.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// The modules around it, outermost first.
    pub(super) modules: Vec<String>,
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    /// What around it, or itself, can only be named in its own module.
    private: Option<String>,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// Of an element, or of the number.
    pub(super) element: Element,
    /// As the source has it.
    written: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Slice,
    MutSlice,
    MutPtr,
    ConstPtr,
    Reference,
    Value,
}

/// The kernel of this name, or the only one.
pub(super) fn choose(file: &File, name: Option<&str>) -> Result<Kernel> {
    let mut kernels = Vec::new();
    collect(&file.items, &mut Vec::new(), &mut kernels);
    let names: Vec<String> = kernels.iter().map(|found| found.function.sig.ident.to_string()).collect();
    let chosen = match (name, &kernels[..]) {
        (_, []) => bail!("no function with #[kernel]"),
        (None, [kernel]) => kernel,
        (None, _) => bail!("several kernels; choose one with --kernel: {}", names.join(", ")),
        (Some(name), _) => match names.iter().position(|known| known == name) {
            Some(at) => &kernels[at],
            None => bail!("no kernel `{name}`; there is {}", names.join(", ")),
        },
    };
    read(chosen, &Types::of(file))
}

struct Found<'a> {
    modules: Vec<&'a syn::ItemMod>,
    function: &'a ItemFn,
}

fn collect<'a>(items: &'a [Item], around: &mut Vec<&'a syn::ItemMod>, found: &mut Vec<Found<'a>>) {
    for item in items {
        match item {
            Item::Fn(function) if function.attrs.iter().any(is_kernel) => {
                found.push(Found { modules: around.clone(), function });
            }
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    around.push(module);
                    collect(items, around, found);
                    around.pop();
                }
            }
            _ => {}
        }
    }
}

/// Whether a value is one of this type of [`Element::Number`].
fn is_a(number: &str, value: &str) -> bool {
    fn is<T: FromStr>(value: &str) -> bool {
        value.parse::<T>().is_ok()
    }
    match number {
        "f32" => is::<f32>(value),
        "f64" => is::<f64>(value),
        "u8" => is::<u8>(value),
        "u16" => is::<u16>(value),
        "u32" => is::<u32>(value),
        "u64" | "usize" => is::<u64>(value),
        "i8" => is::<i8>(value),
        "i16" => is::<i16>(value),
        "i32" => is::<i32>(value),
        "i64" | "isize" => is::<i64>(value),
        _ => is::<bool>(value),
    }
}

pub(super) fn is_kernel(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "kernel")
}

fn read<'a>(found: &Found<'a>, types: &Types<'a>) -> Result<Kernel> {
    let name = found.function.sig.ident.to_string();
    let parameters =
        found.function.sig.inputs.iter().map(|input| parameter(input, types)).collect::<Result<_>>()?;
    let hidden = |vis: &Visibility| matches!(vis, Visibility::Inherited);
    let private = if hidden(&found.function.vis) {
        Some(format!("kernel `{name}` is private; write `pub unsafe fn {name}`"))
    } else {
        let module = found.modules.iter().find(|module| hidden(&module.vis));
        module.map(|module| format!("module `{}` is private; write `pub mod`", module.ident))
    };
    let modules = found.modules.iter().map(|module| module.ident.to_string()).collect();
    Ok(Kernel { modules, name, parameters, private })
}

fn parameter<'a>(input: &'a FnArg, types: &Types<'a>) -> Result<Parameter> {
    let written = input.to_token_stream().to_string();
    let FnArg::Typed(typed) = input else { bail!("parameter `{written}`: a kernel is no method") };
    // A pattern has no name.
    let name = match &*typed.pat {
        Pat::Ident(name) => name.ident.to_string(),
        pattern => pattern.to_token_stream().to_string(),
    };
    let ty = types.resolve(&typed.ty);
    let (shape, element) = match ty {
        Type::Reference(reference) => match types.resolve(&reference.elem) {
            Type::Slice(slice) if reference.mutability.is_some() => (Shape::MutSlice, &*slice.elem),
            Type::Slice(slice) => (Shape::Slice, &*slice.elem),
            fat if is_fat(fat) => bail!("parameter `{written}`: a launch cannot pass that"),
            one => (Shape::Reference, one),
        },
        Type::Ptr(pointer) if is_fat(&pointer.elem) => {
            bail!("parameter `{written}`: a launch cannot pass that")
        }
        Type::Ptr(pointer) if pointer.mutability.is_some() => (Shape::MutPtr, &*pointer.elem),
        Type::Ptr(pointer) => (Shape::ConstPtr, &*pointer.elem),
        value => (Shape::Value, value),
    };
    Ok(Parameter { name, shape, element: types.element(element), written })
}

impl Kernel {
    /// How the program around the file names it.
    pub(super) fn path(&self) -> String {
        self.modules.iter().chain([&self.name]).map(String::as_str).collect::<Vec<_>>().join("::")
    }

    /// What the command line gives has to be for a parameter.
    pub(super) fn check_given(&self, args: &[String], data: &[String]) -> Result<()> {
        for (flag, what, all) in [("--arg", "VALUE", args), ("--data", "DATA", data)] {
            for one in all {
                let Some((name, _)) = one.split_once('=') else {
                    bail!("{flag} {one}: write it as {flag} NAME={what}");
                };
                let number = name.parse::<usize>().ok();
                let found = self
                    .parameters
                    .iter()
                    .enumerate()
                    .find(|(index, parameter)| parameter.name == name || Some(*index) == number);
                match found {
                    None => bail!("{flag} {one}: kernel `{}` has no parameter `{name}`", self.name),
                    Some((_, parameter)) if (parameter.shape == Shape::Value) != (flag == "--arg") => {
                        let other = if flag == "--arg" { "a buffer: --data" } else { "a value: --arg" };
                        bail!("{flag} {one}: parameter `{name}` takes {other} sets it")
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// What it takes, for the program that executes PTX.
    pub(super) fn signature(&self) -> Value {
        let parameter = |parameter: &Parameter| {
            let (shape, element) = match (parameter.shape, &parameter.element) {
                (Shape::Slice | Shape::MutSlice, element) => ("slice", element.json(UNKNOWN)),
                (Shape::MutPtr | Shape::ConstPtr, element) => ("pointer", element.json(UNKNOWN)),
                (Shape::Reference, element) => ("reference", element.json(UNKNOWN)),
                // The PTX says how long it is.
                (Shape::Value, Element::Other(_)) => ("value", Value::Null),
                (Shape::Value, number) => ("value", number.json(UNKNOWN)),
            };
            let length = LENGTHS.contains(&parameter.name.as_str());
            json!({ "name": parameter.name, "shape": shape, "element": element, "length": length })
        };
        self.parameters.iter().map(parameter).collect()
    }

    /// What keeps the source engine from calling it, if anything.
    pub(super) fn for_source(&self) -> Result<()> {
        if let Some(private) = &self.private {
            bail!("{private}");
        }
        for parameter in &self.parameters {
            let number = matches!(parameter.element, Element::Number(name) if !name.ends_with("128"));
            if !number || matches!(parameter.shape, Shape::MutSlice | Shape::Reference) {
                bail!(
                    "parameter `{}`: --engine source makes up slices `&[T]`, pointers `*mut T` and `*const T`, and \
                     values, of numbers of up to 64 bits and bool; --engine ptx takes it",
                    parameter.written
                );
            }
        }
        Ok(())
    }

    /// The value of each parameter that is one, for the source engine: as given, or a default.
    pub(super) fn scalars(&self, n: usize, given: &[String]) -> Result<Vec<(String, String)>> {
        let value = |(index, parameter): (usize, &Parameter)| {
            let Element::Number(number) = parameter.element else { return None };
            if parameter.shape != Shape::Value {
                return None;
            }
            let number_of = index.to_string();
            let asked = given
                .iter()
                .rev()
                .filter_map(|one| one.split_once('='))
                .find(|(name, _)| *name == parameter.name || *name == number_of);
            let value = match (asked, number, LENGTHS.contains(&parameter.name.as_str())) {
                (Some((_, value)), ..) => value.to_owned(),
                (None, "bool", _) => "true".into(),
                (None, _, true) => n.to_string(),
                (None, _, false) => "2".into(),
            };
            let name = &parameter.name;
            Some(if is_a(number, &value) {
                Ok((name.clone(), value))
            } else if asked.is_some() {
                Err(anyhow!("--arg {name}={value}: not a {number}"))
            } else {
                Err(anyhow!(
                    "`{name}: {number}` cannot hold n = {value}; give a smaller --n, or --arg {name}=VALUE"
                ))
            })
        };
        self.parameters.iter().enumerate().filter_map(value).collect()
    }

    /// What each buffer is to hold, by the parameter's name, for the source engine.
    pub(super) fn fillings(&self, given: &[String]) -> Vec<(String, String)> {
        let asked =
            |name: &str| given.iter().rev().filter_map(|one| one.split_once('=')).find(|(of, _)| *of == name);
        let filling = |(index, parameter): (usize, &Parameter)| {
            let asked = asked(&parameter.name).or_else(|| asked(&index.to_string()));
            let filling = asked.map_or("iota", |(_, filling)| filling);
            (parameter.shape != Shape::Value).then(|| (parameter.name.clone(), filling.to_owned()))
        };
        self.parameters.iter().enumerate().filter_map(filling).collect()
    }
}
