//! What the source engine cannot follow, so that it is refused by name and never misjudged.
//!
//! `#[kernel]` sees tokens and no types: it knows a barrier, an access and a harmless call by its spelling, and the
//! kernel's own pointers by the handles that it puts in their place. What could hide one of these from it, or look
//! like one, is named here with its line. (Sources: emulator/macros/src/emulated/calls.rs, names.rs and flat.rs.)

use std::collections::HashSet;

use proc_macro2::Span;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprCall, ExprMethodCall, FnArg, ImplItemFn, Item, ItemFn, ItemMod, ItemStatic, ItemUse,
    Macro, Pat, Path, StaticMutability, Token, TraitItemFn, Type, UnOp, UseTree,
};

use super::kernel::is_kernel;
use super::names::{BLOCK_BARRIERS, POSITIONS, WARP_BARRIER, harmless_method};

/// What the emulator's `cuda_std` has under a name that the attribute reacts to.
const OWN: &[&str] = &[
    "sync_threads",
    "sync_warp",
    "lane_id",
    "index_1d",
    "thread_idx_x",
    "thread_idx_y",
    "thread_idx_z",
    "block_idx_x",
    "block_idx_y",
    "block_idx_z",
    "block_dim_x",
    "block_dim_y",
    "block_dim_z",
    "grid_dim_x",
    "grid_dim_y",
    "grid_dim_z",
];

/// Whether the attribute takes a function of this name for a barrier, or for one of the calls that never wait.
fn is_known(name: &str) -> bool {
    let mut starts = [BLOCK_BARRIERS, WARP_BARRIER].into_iter().chain(POSITIONS);
    starts.any(|start| name.starts_with(start))
}

/// Macros of core whose arguments are plain expressions.
const CALLING: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "print",
    "println",
    "eprint",
    "eprintln",
    "matches",
];

/// Methods that give a pointer or a reference to memory that the engine would no longer see.
const POINTERS: &[&str] = &[
    "as_ptr",
    "as_mut_ptr",
    "as_ptr_range",
    "as_mut_ptr_range",
    "as_ref",
    "as_mut",
    "as_non_null_ptr",
    "as_slice",
    "as_mut_slice",
    "get_mut",
    "iter_mut",
    "assume_init_ref",
    "assume_init_mut",
];

/// Functions that do.
const MAKERS: &[&str] = &[
    "transmute",
    "transmute_copy",
    "from_raw_parts",
    "from_raw_parts_mut",
    "from_ref",
    "from_mut",
    "slice_from_raw_parts",
    "slice_from_raw_parts_mut",
    "dangling",
    "without_provenance",
    "with_exposed_provenance",
];

/// Something that cannot be followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfollowed {
    pub(super) line: usize,
    pub(super) what: String,
}

/// The first one in a file, from its top.
pub(super) fn first(text: &str) -> Option<Unfollowed> {
    // As it was written: the lint puts plain Rust in the place of some macros.
    let file = syn::parse_file(text).ok()?;
    let mut names = Names::default();
    names.visit_file(&file);
    let mut search = Search { names, found: Vec::new(), conditions: 0 };
    search.visit_file(&file);
    search.found.into_iter().min_by_key(|found| found.line)
}

/// Names that the file gives to functions, methods and local variables.
#[derive(Default)]
struct Names {
    functions: HashSet<String>,
    methods: HashSet<String>,
    variables: HashSet<String>,
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.functions.insert(function.sig.ident.to_string());
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.methods.insert(function.sig.ident.to_string());
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.methods.insert(function.sig.ident.to_string());
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.variables.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

struct Search {
    names: Names,
    found: Vec<Unfollowed>,
    /// How many conditions this place is under: not all lanes need come here.
    conditions: usize,
}

impl Search {
    fn refuse(&mut self, at: Span, what: impl Into<String>) {
        self.found.push(Unfollowed { line: at.start().line, what: what.into() });
    }

    fn under_condition(&mut self, visit: impl FnOnce(&mut Self)) {
        self.conditions += 1;
        visit(self);
        self.conditions -= 1;
    }

    /// A call by a name that the attribute takes to be one of `cuda_std`.
    fn call_by_name(&mut self, path: &Path) {
        let Some(last) = path.segments.last() else { return };
        let name = last.ident.to_string();
        let spelled = is_known(&name);
        let ours = OWN.contains(&name.as_str());
        let declared = self.names.functions.contains(&name)
            || self.names.methods.contains(&name)
            || (path.segments.len() == 1 && self.names.variables.contains(&name));
        if (spelled && (declared || !ours)) || (declared && name.starts_with(char::is_uppercase)) {
            self.refuse(
                last.ident.span(),
                format!("the call of `{name}`, which it would take for one of cuda_std's own by its name"),
            );
        }
        // It does not wait for lanes that go past, and so does not see that they do.
        if name == WARP_BARRIER && self.conditions > 0 {
            self.refuse(last.ident.span(), "`sync_warp` where not every lane need come");
        }
        if MAKERS.contains(&name.as_str()) {
            self.refuse(last.ident.span(), format!("the pointer or reference that `{name}` makes"));
        }
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            let conditional = attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr");
            let text = attribute.meta.to_token_stream().to_string();
            if conditional && text.contains("target") {
                self.refuse(attribute.span(), "code that is another on a card (`cfg` of the target)");
            }
        }
    }
}

/// `*x`, also inside parentheses, fields and elements.
fn is_through_pointer(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
        Expr::Paren(inside) => is_through_pointer(&inside.expr),
        Expr::Group(inside) => is_through_pointer(&inside.expr),
        Expr::Field(field) => is_through_pointer(&field.base),
        Expr::Index(index) => is_through_pointer(&index.expr),
        _ => false,
    }
}

/// A number or a range of numbers that is the same for all: of literals and constants.
fn is_constant(expr: &Expr) -> bool {
    let end = |end: &Option<Box<Expr>>| end.as_deref().is_none_or(is_constant);
    match expr {
        Expr::Lit(_) => true,
        Expr::Paren(inside) => is_constant(&inside.expr),
        Expr::Range(range) => end(&range.start) && end(&range.end),
        Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        }),
        _ => false,
    }
}

/// Does evaluating it call something that is declared in this file, or write somewhere?
struct Calls<'a> {
    names: &'a Names,
    found: bool,
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        let known = match &*call.func {
            Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                let declared = self.names.functions.contains(&name) || self.names.methods.contains(&name);
                !declared
                    && (OWN.contains(&name.as_str()) && !name.starts_with("sync_")
                        || name.starts_with(char::is_uppercase))
            }),
            _ => false,
        };
        self.found |= !known;
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let name = call.method.to_string();
        self.found |= self.names.methods.contains(&name) || !harmless_method(&name);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {
        self.found = true;
    }

    fn visit_macro(&mut self, _: &'ast Macro) {
        self.found = true;
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item(&mut self, item: &'ast Item) {
        // A definition is no call.
        if matches!(item, Item::Macro(it) if it.ident.is_some()) {
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.attributes(std::slice::from_ref(attribute));
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let name = module.ident.to_string();
        if module.content.is_none() {
            self.refuse(module.ident.span(), format!("module `{name}`, which is in another file"));
        } else if matches!(name.as_str(), "thread" | "warp" | "cuda_std") {
            self.refuse(module.ident.span(), format!("module `{name}`, whose name is one of cuda_std's"));
        }
        visit::visit_item_mod(self, module);
    }

    fn visit_item_use(&mut self, import: &'ast ItemUse) {
        self.renamed(&import.tree);
        visit::visit_item_use(self, import);
    }

    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        let shared = item.attrs.iter().any(|attribute| {
            attribute.path().segments.last().is_some_and(|last| last.ident == "address_space")
                && attribute.meta.to_token_stream().to_string().contains("shared")
        });
        let name = &item.ident;
        if !shared && matches!(item.mutability, StaticMutability::Mut(_)) {
            self.refuse(item.span(), format!("`static mut {name}`, which is in global memory"));
        } else if !shared && !is_plain(&item.ty) {
            self.refuse(
                item.span(),
                format!("`static {name}`, which may change: its type is no plain number"),
            );
        }
        // The type of a shared array is for the attribute.
        self.visit_expr(&item.expr);
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let kernel = function.attrs.iter().any(is_kernel);
        self.attributes(&function.attrs);
        for input in &function.sig.inputs {
            match input {
                // The attribute puts a handle in the place of a pointer.
                FnArg::Typed(typed) if kernel => {
                    if let Type::Ptr(pointer) = &*typed.ty {
                        self.visit_type(&pointer.elem);
                    } else {
                        self.visit_type(&typed.ty);
                    }
                }
                other => self.visit_fn_arg(other),
            }
        }
        self.visit_return_type(&function.sig.output);
        if kernel {
            self.visit_block(&function.block);
        } else {
            // Called from anywhere.
            self.under_condition(|this| this.visit_block(&function.block));
        }
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.visit_expr(&branch.cond);
        self.under_condition(|this| {
            this.visit_block(&branch.then_branch);
            if let Some((_, otherwise)) = &branch.else_branch {
                this.visit_expr(otherwise);
            }
        });
    }

    fn visit_expr_match(&mut self, branch: &'ast syn::ExprMatch) {
        self.visit_expr(&branch.expr);
        self.under_condition(|this| branch.arms.iter().for_each(|arm| this.visit_arm(arm)));
    }

    fn visit_expr_while(&mut self, repeated: &'ast syn::ExprWhile) {
        self.under_condition(|this| visit::visit_expr_while(this, repeated));
    }

    fn visit_expr_loop(&mut self, repeated: &'ast syn::ExprLoop) {
        self.under_condition(|this| visit::visit_expr_loop(this, repeated));
    }

    fn visit_expr_for_loop(&mut self, repeated: &'ast syn::ExprForLoop) {
        if is_constant(&repeated.expr) {
            return visit::visit_expr_for_loop(self, repeated);
        }
        self.under_condition(|this| visit::visit_expr_for_loop(this, repeated));
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.under_condition(|this| visit::visit_expr_closure(this, closure));
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        self.visit_expr(&binary.left);
        if matches!(binary.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) {
            self.under_condition(|this| this.visit_expr(&binary.right));
        } else {
            self.visit_expr(&binary.right);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.method(&function.sig.ident);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.method(&function.sig.ident);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_type_ptr(&mut self, pointer: &'ast syn::TypePtr) {
        self.refuse(pointer.span(), "a raw pointer that is no parameter of the kernel");
    }

    fn visit_expr_cast(&mut self, cast: &'ast syn::ExprCast) {
        if matches!(*cast.ty, Type::Ptr(_)) {
            self.refuse(cast.span(), "a cast to a raw pointer");
            self.visit_expr(&cast.expr);
            return;
        }
        visit::visit_expr_cast(self, cast);
    }

    fn visit_expr_raw_addr(&mut self, address: &'ast syn::ExprRawAddr) {
        self.refuse(address.span(), "`&raw`, a raw pointer");
        visit::visit_expr_raw_addr(self, address);
    }

    fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
        if is_through_pointer(&reference.expr) {
            self.refuse(reference.span(), "a reference to what a pointer points to");
        }
        visit::visit_expr_reference(self, reference);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if pattern.by_ref.is_some() {
            self.refuse(pattern.span(), "a pattern with `ref`");
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        visit::visit_pat(self, pattern);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(path) = &*call.func {
            self.call_by_name(&path.path);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let name = call.method.to_string();
        if POINTERS.contains(&name.as_str()) {
            self.refuse(call.method.span(), format!("the pointer or reference of `.{name}()`"));
        }
        let changes = name.ends_with("_assign") || matches!(name.as_str(), "clone_from" | "borrow_mut");
        if changes && is_through_pointer(&call.receiver) {
            self.refuse(call.method.span(), format!("`.{name}()` on what a pointer points to"));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let name = mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let at = mac.path.span();
        if !CALLING.contains(&name.as_str()) || mac.path.segments.len() > 2 {
            self.refuse(at, format!("macro `{name}!`, which it does not look into"));
            return;
        }
        if name == "matches" {
            // A pattern is no expression; its subject is.
            let subject = |input: syn::parse::ParseStream<'_>| {
                let subject: Expr = input.parse()?;
                input.parse::<proc_macro2::TokenStream>()?;
                Ok(subject)
            };
            return self.arguments(
                at,
                &name,
                subject.parse2(mac.tokens.clone()).map(|subject| vec![subject]),
            );
        }
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone());
        self.arguments(at, &name, arguments.map(|arguments| arguments.into_iter().collect()));
    }
}

impl Search {
    fn method(&mut self, name: &syn::Ident) {
        let text = name.to_string();
        if harmless_method(&text) || is_known(&text) {
            self.refuse(
                name.span(),
                format!("method `{text}`, which it would take for one of core's by its name"),
            );
        }
    }

    fn renamed(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.renamed(&path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.renamed(tree)),
            UseTree::Rename(rename) => {
                let (from, to) = (rename.ident.to_string(), rename.rename.to_string());
                let speaks = |name: &str| {
                    is_known(name)
                        || matches!(name, "thread" | "warp" | "cuda_std" | "kernel" | "address_space")
                        || CALLING.contains(&name)
                };
                if speaks(&from) || speaks(&to) {
                    self.refuse(rename.span(), format!("`{from}` under another name"));
                }
            }
            UseTree::Name(_) | UseTree::Glob(_) => {}
        }
    }

    /// Those of a macro of core: nothing in them is put on a thread's path.
    fn arguments(&mut self, at: Span, name: &str, arguments: syn::Result<Vec<Expr>>) {
        let Ok(arguments) = arguments else {
            return self.refuse(at, format!("what stands in `{name}!`"));
        };
        let mut calls = Calls { names: &self.names, found: false };
        for argument in &arguments {
            // `name = value` is an argument of the message.
            calls.visit_expr(argument);
        }
        if calls.found {
            self.refuse(at, format!("a call inside `{name}!`"));
        }
    }
}

/// Numbers, texts, and arrays and tuples of them: nothing in it can change.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_plain(&array.elem),
        Type::Slice(slice) => is_plain(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(is_plain),
        Type::Reference(reference) => reference.mutability.is_none() && is_plain(&reference.elem),
        Type::Path(path) => path.path.get_ident().is_some_and(|ident| {
            let name = ident.to_string();
            matches!(name.as_str(), "str" | "char")
                || super::types::NUMBERS.iter().any(|(number, _)| *number == name)
        }),
        _ => false,
    }
}
