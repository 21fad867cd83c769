//! The kernel of a file, as far as its signature tells how to call it.

use std::str::FromStr;

use anyhow::{Result, bail};
use quote::ToTokens;
use syn::{Attribute, File, FnArg, Item, ItemFn, Pat, Type, Visibility};

/// The types that elements and scalars may have.
const NUMBERS: &[&str] =
    &["f32", "f64", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "bool"];

/// Parameters that are as long as the buffers are.
const LENGTHS: &[&str] = &["n", "len", "length", "size", "count", "elements", "num_elements"];

/// A kernel that can be called.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// Of an element, or of the scalar.
    pub(super) number: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Slice,
    MutPtr,
    ConstPtr,
    Scalar,
}

/// The kernel of this name, or the only one.
pub(super) fn choose(file: &File, name: Option<&str>) -> Result<Kernel> {
    let kernels: Vec<&ItemFn> = file
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Fn(function) if function.attrs.iter().any(is_kernel) => Some(function),
            _ => None,
        })
        .collect();
    let names: Vec<String> = kernels.iter().map(|kernel| kernel.sig.ident.to_string()).collect();
    match (name, &kernels[..]) {
        (_, []) => bail!("no function with #[kernel] outside of any module"),
        (None, [kernel]) => read(kernel),
        (None, _) => bail!("several kernels; choose one with --kernel: {}", names.join(", ")),
        (Some(name), _) => match names.iter().position(|known| known == name) {
            Some(at) => read(kernels[at]),
            None => bail!("no kernel `{name}`; there is {}", names.join(", ")),
        },
    }
}

/// Whether a value is one of this type of [`NUMBERS`].
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

fn is_kernel(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "kernel")
}

fn read(kernel: &ItemFn) -> Result<Kernel> {
    let name = kernel.sig.ident.to_string();
    if matches!(kernel.vis, Visibility::Inherited) {
        bail!("kernel `{name}` is private; write `pub unsafe fn {name}`");
    }
    let parameters = kernel.sig.inputs.iter().map(parameter).collect::<Result<_>>()?;
    Ok(Kernel { name, parameters })
}

fn parameter(input: &FnArg) -> Result<Parameter> {
    let cannot = || {
        let shown = input.to_token_stream();
        format!(
            "parameter `{shown}`: only slices `&[T]`, pointers `*mut T` and `*const T`, and scalars can be made up \
             here, of {}",
            NUMBERS.join(", ")
        )
    };
    let FnArg::Typed(typed) = input else { bail!(cannot()) };
    let Pat::Ident(name) = &*typed.pat else { bail!(cannot()) };
    let (shape, number) = match &*typed.ty {
        Type::Reference(reference) if reference.mutability.is_none() => match &*reference.elem {
            Type::Slice(slice) => (Shape::Slice, &*slice.elem),
            _ => bail!(cannot()),
        },
        Type::Ptr(pointer) if pointer.mutability.is_some() => (Shape::MutPtr, &*pointer.elem),
        Type::Ptr(pointer) => (Shape::ConstPtr, &*pointer.elem),
        scalar => (Shape::Scalar, scalar),
    };
    let Type::Path(path) = number else { bail!(cannot()) };
    let Some(number) = NUMBERS.iter().find(|number| path.path.is_ident(number)) else { bail!(cannot()) };
    Ok(Parameter { name: name.ident.to_string(), shape, number })
}

impl Kernel {
    /// The value of each scalar parameter: as given, or a default.
    pub(super) fn scalars(&self, n: usize, given: &[String]) -> Result<Vec<(String, String)>> {
        let scalars = || self.parameters.iter().filter(|parameter| parameter.shape == Shape::Scalar);
        let mut values: Vec<(String, String)> = scalars()
            .map(|parameter| {
                let value = match (parameter.number, LENGTHS.contains(&parameter.name.as_str())) {
                    ("bool", _) => "true".into(),
                    (_, true) => n.to_string(),
                    (_, false) => "2".into(),
                };
                (parameter.name.clone(), value)
            })
            .collect();
        for arg in given {
            let Some((name, value)) = arg.split_once('=') else {
                bail!("--arg {arg}: write it as --arg NAME=VALUE");
            };
            let Some(known) = values.iter_mut().find(|(known, _)| known == name) else {
                bail!("--arg {arg}: kernel `{}` has no scalar parameter `{name}`", self.name);
            };
            known.1 = value.to_owned();
        }
        for ((name, value), parameter) in values.iter().zip(scalars()) {
            let number = parameter.number;
            if !is_a(number, value) && given.iter().any(|arg| arg == &format!("{name}={value}")) {
                bail!("--arg {name}={value}: not a {number}");
            } else if !is_a(number, value) {
                bail!(
                    "`{name}: {number}` cannot hold n = {value}; give a smaller --n, or --arg {name}=VALUE"
                );
            }
        }
        Ok(values)
    }
}
