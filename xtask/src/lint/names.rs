//! The names of the sources: functions, statics, constants, structs, and `use … as …`.

use std::collections::{HashMap, HashSet};

use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ExprMethodCall, ExprPath, Fields, FieldsNamed, ImplItemFn, ItemConst, ItemFn,
    ItemStatic, ItemStruct, Macro, Path, Signature, StaticMutability, TraitItemFn, Type, UseRename,
};

use super::known;
use super::macros;
use super::source::Site;

/// A function with a body.
pub(super) struct Function<'a> {
    pub(super) name: String,
    pub(super) site: Site,
    pub(super) signature: &'a Signature,
    pub(super) body: &'a Block,
    /// Whether it is a `#[kernel]`: its `return` ends the thread, and its arguments are one launch's.
    pub(super) kernel: bool,
    /// The names it mentions, to tell what it may call.
    mentions: HashSet<String>,
}

/// What a static is to the lint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Static {
    /// Whether every thread of a block sees the same one and may write it.
    pub(super) shared: bool,
    /// Whether it is an array: its name is then an address, not a load.
    pub(super) array: bool,
}

/// Everything that the sources name.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub(super) functions: Vec<Function<'a>>,
    pub(super) statics: HashMap<String, Static>,
    consts: HashSet<String>,
    pub(super) structs: HashMap<String, &'a FieldsNamed>,
    /// By file and new name: the old name.
    renames: HashMap<(usize, String), String>,
    /// Functions that may come to a barrier.
    synchronising: HashSet<String>,
    /// Barriers in the sources.
    pub(super) barriers: usize,
}

impl<'a> Names<'a> {
    pub(super) fn collect(files: &'a [syn::File]) -> Self {
        let mut names = Self::default();
        for (index, file) in files.iter().enumerate() {
            Collector { names: &mut names, file: index }.visit_file(file);
        }
        names.find_synchronising();
        names
    }

    /// The parts of a path, with `use … as …` undone.
    pub(super) fn path(&self, file: usize, path: &Path) -> Vec<String> {
        let mut parts: Vec<_> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if let [only] = parts.as_mut_slice()
            && let Some(old) = self.renames.get(&(file, only.clone()))
        {
            only.clone_from(old);
        }
        parts
    }

    /// The functions that a path may call. Modules are not told apart: all of one name are meant.
    pub(super) fn called(&self, path: &[String]) -> impl Iterator<Item = &Function<'a>> {
        let name = path.last().filter(|name| !known::is_barrier(name) && !known::is_cuda_std(path));
        self.functions.iter().filter(move |function| Some(&function.name) == name)
    }

    /// The methods of one name.
    pub(super) fn methods(&self, name: &str) -> impl Iterator<Item = &Function<'a>> {
        self.functions
            .iter()
            .filter(move |function| function.signature.receiver().is_some() && function.name == name)
    }

    /// Whether a function may come to a barrier.
    pub(super) fn synchronises(&self, function: &str) -> bool {
        known::is_barrier(function) || self.synchronising.contains(function)
    }

    /// Whether no function of the sources mentions another of this name.
    pub(super) fn is_uncalled(&self, name: &str) -> bool {
        !self.functions.iter().any(|function| function.mentions.contains(name))
    }

    /// Whether a name is a static that the threads of a block share.
    pub(super) fn is_shared(&self, name: &str) -> bool {
        match self.statics.get(name) {
            Some(item) => item.shared,
            None => {
                let mut letters = name.chars().filter(|letter| letter.is_alphabetic()).peekable();
                letters.peek().is_some() && letters.all(char::is_uppercase) && !self.consts.contains(name)
            }
        }
    }

    /// Whether a path names a function: a barrier, or one of the sources.
    pub(super) fn is_function(&self, path: &[String]) -> bool {
        path.last().is_some_and(|name| known::is_barrier(name)) || self.called(path).next().is_some()
    }

    fn find_synchronising(&mut self) {
        loop {
            let more: Vec<_> = self
                .functions
                .iter()
                .filter(|function| !self.synchronising.contains(&function.name))
                .filter(|function| function.mentions.iter().any(|name| self.synchronises(name)))
                .map(|function| function.name.clone())
                .collect();
            if more.is_empty() {
                return;
            }
            self.synchronising.extend(more);
        }
    }
}

struct Collector<'n, 'a> {
    names: &'n mut Names<'a>,
    file: usize,
}

impl<'a> Collector<'_, 'a> {
    fn function(&mut self, attributes: &[Attribute], signature: &'a Signature, body: &'a Block) {
        let mut mentions = Mentions { file: self.file, names: self.names, found: Vec::new() };
        mentions.visit_block(body);
        let found = mentions.found;
        self.names.barriers += found.iter().filter(|name| known::is_barrier(name)).count();
        self.names.functions.push(Function {
            name: signature.ident.to_string(),
            site: Site::new(self.file, signature.ident.span()),
            signature,
            body,
            kernel: attributes.iter().any(|attribute| ends_in(attribute.path(), "kernel")),
            mentions: found.into_iter().collect(),
        });
    }
}

impl<'a> Visit<'a> for Collector<'_, 'a> {
    fn visit_file(&mut self, file: &'a syn::File) {
        // Renames first: what a function mentions is found with them undone.
        Renames { names: self.names, file: self.file }.visit_file(file);
        visit::visit_file(self, file);
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.attrs, &item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_static(&mut self, item: &'a ItemStatic) {
        let shared = matches!(item.mutability, StaticMutability::Mut(_))
            || item.attrs.iter().any(|attribute| ends_in(attribute.path(), "address_space"));
        let array = matches!(*item.ty, Type::Array(_));
        // Several kernels have a `TILE` of their own: of one name, the worst counts.
        let entry = self.names.statics.entry(item.ident.to_string()).or_insert(Static { shared, array });
        entry.shared |= shared;
        entry.array &= array;
        visit::visit_item_static(self, item);
    }

    fn visit_item_const(&mut self, item: &'a ItemConst) {
        self.names.consts.insert(item.ident.to_string());
        visit::visit_item_const(self, item);
    }

    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        if let Fields::Named(fields) = &item.fields {
            self.names.structs.insert(item.ident.to_string(), fields);
        }
    }
}

struct Renames<'n, 'a> {
    names: &'n mut Names<'a>,
    file: usize,
}

impl Visit<'_> for Renames<'_, '_> {
    fn visit_use_rename(&mut self, item: &UseRename) {
        self.names.renames.insert((self.file, item.rename.to_string()), item.ident.to_string());
    }
}

/// The names that a body mentions: in paths, as methods, and inside macros.
struct Mentions<'n, 'a> {
    names: &'n Names<'a>,
    file: usize,
    found: Vec<String>,
}

impl Visit<'_> for Mentions<'_, '_> {
    fn visit_expr_path(&mut self, expr: &ExprPath) {
        self.found.extend(self.names.path(self.file, &expr.path).pop());
        visit::visit_expr_path(self, expr);
    }

    fn visit_expr_method_call(&mut self, expr: &ExprMethodCall) {
        self.found.push(expr.method.to_string());
        visit::visit_expr_method_call(self, expr);
    }

    fn visit_macro(&mut self, mac: &Macro) {
        self.found.extend(macros::idents(&mac.tokens).iter().map(ToString::to_string));
    }

    // A function inside this one is collected by itself.
    fn visit_item_fn(&mut self, _: &ItemFn) {}
    fn visit_impl_item_fn(&mut self, _: &ImplItemFn) {}
}

/// Whether a path ends in this name.
pub(super) fn ends_in(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}
