//! What types of parameters look like in memory.

use std::collections::HashMap;

use serde_json::{Value, json};
use syn::{Expr, ExprLit, Fields, File, GenericArgument, Item, Lit, PathArguments, Type, TypePath};

/// Numbers, and bool, by their names in Rust.
pub(super) const NUMBERS: &[(&str, usize)] = &[
    ("f32", 4),
    ("f64", 8),
    ("u8", 1),
    ("u16", 2),
    ("u32", 4),
    ("u64", 8),
    ("u128", 16),
    ("usize", 8),
    ("i8", 1),
    ("i16", 2),
    ("i32", 4),
    ("i64", 8),
    ("i128", 16),
    ("isize", 8),
    ("bool", 1),
];

/// Names that are a number with other methods: `AtomicU32` is a `u32`.
const ATOMICS: &[(&str, &str)] = &[
    ("AtomicU8", "u8"),
    ("AtomicU16", "u16"),
    ("AtomicU32", "u32"),
    ("AtomicU64", "u64"),
    ("AtomicUsize", "usize"),
    ("AtomicI8", "i8"),
    ("AtomicI16", "i16"),
    ("AtomicI32", "i32"),
    ("AtomicI64", "i64"),
    ("AtomicIsize", "isize"),
    ("AtomicBool", "bool"),
];

/// Types that have the size and meaning of what they hold.
const WRAPPERS: &[&str] =
    &["MaybeUninit", "UnsafeCell", "Cell", "ManuallyDrop", "Wrapping", "SyncUnsafeCell"];

/// As deep as types are followed: an alias of itself is for rustc to complain of.
const DEPTH: usize = 16;

/// The types and constants that a file declares, of all its modules together.
#[derive(Default)]
pub(super) struct Types<'a> {
    aliases: HashMap<String, &'a Type>,
    structs: HashMap<String, &'a Fields>,
    lengths: HashMap<String, usize>,
}

/// An element, or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// By its name in Rust.
    Number(&'static str),
    /// So many bytes, if that is known, aligned so.
    Other(Option<(usize, usize)>),
}

impl Element {
    /// As the host's program reads it; `other` is the size of one whose size is not known.
    pub(super) fn json(&self, other: usize) -> Value {
        match self {
            Self::Number(name) => json!(name),
            Self::Other(size) => json!({ "bytes": size.map_or(other, |(size, _)| size) }),
        }
    }
}

impl<'a> Types<'a> {
    pub(super) fn of(file: &'a File) -> Self {
        let mut types = Self::default();
        types.collect(&file.items);
        types
    }

    fn collect(&mut self, items: &'a [Item]) {
        for item in items {
            match item {
                Item::Type(alias) if alias.generics.params.is_empty() => {
                    self.aliases.insert(alias.ident.to_string(), &alias.ty);
                }
                Item::Struct(it) if it.generics.params.is_empty() && !has_layout(&it.attrs) => {
                    self.structs.insert(it.ident.to_string(), &it.fields);
                }
                Item::Const(constant) => {
                    if let Some(length) = literal(&constant.expr) {
                        self.lengths.insert(constant.ident.to_string(), length);
                    }
                }
                Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        self.collect(items);
                    }
                }
                _ => {}
            }
        }
    }

    /// The type without aliases and parentheses.
    pub(super) fn resolve(&self, mut ty: &'a Type) -> &'a Type {
        for _ in 0..DEPTH {
            ty = match ty {
                Type::Paren(inside) => &inside.elem,
                Type::Group(inside) => &inside.elem,
                Type::Path(path) => match last(path).and_then(|name| self.aliases.get(&name)) {
                    Some(aliased) => aliased,
                    None => return ty,
                },
                _ => return ty,
            };
        }
        ty
    }

    pub(super) fn element(&self, ty: &'a Type) -> Element {
        self.within(ty, DEPTH)
    }

    fn within(&self, ty: &'a Type, depth: usize) -> Element {
        let ty = self.resolve(ty);
        let Some(depth) = depth.checked_sub(1) else { return Element::Other(None) };
        if let Type::Path(path) = ty
            && let Some(name) = last(path)
        {
            if let Some((number, _)) = NUMBERS.iter().find(|(number, _)| path.path.is_ident(number)) {
                return Element::Number(number);
            }
            if let Some((_, number)) = ATOMICS.iter().find(|(atomic, _)| *atomic == name) {
                return Element::Number(number);
            }
            if WRAPPERS.contains(&name.as_str())
                && let Some(inside) = argument(path)
            {
                return self.within(inside, depth);
            }
        }
        Element::Other(self.layout(ty, depth))
    }

    /// Size and alignment. Rust may order the fields of a struct as it likes; those of least waste, which it takes
    /// where nothing else is asked for, are as long as C's or shorter, so a buffer is long enough.
    fn layout(&self, ty: &'a Type, depth: usize) -> Option<(usize, usize)> {
        match ty {
            Type::Ptr(pointer) if !is_fat(&pointer.elem) => Some((8, 8)),
            Type::Reference(reference) => Some(if is_fat(&reference.elem) { (16, 8) } else { (8, 8) }),
            Type::Array(array) => {
                let (size, align) = self.sized(&array.elem, depth)?;
                let length = literal(&array.len).or_else(|| self.named_length(&array.len))?;
                Some((size.checked_mul(length)?, align))
            }
            Type::Tuple(tuple) => self.fields(tuple.elems.iter(), depth),
            Type::Path(path) if path.path.is_ident("char") => Some((4, 4)),
            Type::Path(path) => {
                let fields = self.structs.get(&last(path)?)?;
                self.fields(fields.iter().map(|field| &field.ty), depth)
            }
            _ => None,
        }
    }

    fn fields(&self, fields: impl Iterator<Item = &'a Type>, depth: usize) -> Option<(usize, usize)> {
        let (mut end, mut most) = (0_usize, 1);
        for field in fields {
            let (size, align) = self.sized(field, depth)?;
            end = end.next_multiple_of(align).checked_add(size)?;
            most = most.max(align);
        }
        Some((end.next_multiple_of(most), most))
    }

    fn sized(&self, ty: &'a Type, depth: usize) -> Option<(usize, usize)> {
        match self.within(ty, depth) {
            Element::Number(name) => {
                let size = NUMBERS.iter().find(|(number, _)| *number == name)?.1;
                Some((size, size))
            }
            Element::Other(layout) => layout,
        }
    }

    fn named_length(&self, length: &Expr) -> Option<usize> {
        let Expr::Path(path) = length else { return None };
        self.lengths.get(&path.path.segments.last()?.ident.to_string()).copied()
    }
}

fn has_layout(attributes: &[syn::Attribute]) -> bool {
    let asks = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("repr") => {
            let asked = list.tokens.to_string();
            asked.contains("align") || asked.contains("packed")
        }
        _ => false,
    };
    attributes.iter().any(asks)
}

/// A pointer to it is two words.
pub(super) fn is_fat(ty: &Type) -> bool {
    match ty {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(path) => path.path.is_ident("str"),
        Type::Paren(inside) => is_fat(&inside.elem),
        _ => false,
    }
}

fn last(path: &TypePath) -> Option<String> {
    path.path.segments.last().map(|last| last.ident.to_string())
}

fn argument(path: &TypePath) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

fn literal(length: &Expr) -> Option<usize> {
    match length {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(ty: &str) -> Element {
        let text = format!(
            "const N: usize = 3; type Real = f32; #[repr(C)] struct P {{ a: f32, b: u8, c: [Real; N] }}
             #[repr(align(32))] struct A(u8); mod m {{ struct Q(super::P, bool); }} type Wanted = {ty};"
        );
        let file = syn::parse_file(&text).expect("Rust");
        let types = Types::of(&file);
        types.element(&syn::parse_str(ty).expect("a type")).clone()
    }

    #[test]
    fn sizes_are_those_of_rust() {
        assert_eq!(element("Real"), Element::Number("f32"));
        assert_eq!(element("core::sync::atomic::AtomicU32"), Element::Number("u32"));
        assert_eq!(element("MaybeUninit<f64>"), Element::Number("f64"));
        assert_eq!(element("[f32; 4]"), Element::Other(Some((16, 4))));
        assert_eq!(element("P"), Element::Other(Some((20, 4))));
        assert_eq!(element("m::Q"), Element::Other(Some((24, 4))));
        assert_eq!(element("(u8, u64)"), Element::Other(Some((16, 8))));
        for unknown in ["A", "Vec2", "[f32; N + 1]"] {
            assert_eq!(element(unknown), Element::Other(None), "{unknown}");
        }
    }
}
