//! Kernels whose every access and barrier stands in the body where `#[kernel]` can see it: their threads
//! can wait there by `await`, and need no stacks of their own.
//!
//! Whether an access is one is left to the types: anything that looks like one asks.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::visit::{Visit, visit_expr, visit_local, visit_stmt};
use syn::{Block, Expr, ExprMethodCall, ExprUnary, Pat, Stmt, UnOp, parse_quote_spanned};

use super::body::start;
use super::calls::{calls_helper, is_barrier};

/// Is this body one that can wait by `await`?
pub(super) fn is_flat(body: &Block) -> bool {
    if calls_helper(|search| search.visit_block(body)) {
        return false;
    }
    let mut search = Search { flat: true };
    search.visit_block(body);
    search.flat
}

/// Looks for what cannot.
struct Search {
    flat: bool,
}

impl Search {
    /// What is not read here but referred to: a `*pointer` in it would be replaced by a value.
    fn place(&mut self, expr: &Expr) {
        match peel(expr) {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.flat = false,
            Expr::Field(field) => self.place(&field.base),
            Expr::Index(index) => self.place(&index.expr),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Reference(reference) => self.place(&reference.expr),
            Expr::RawAddr(address) => self.place(&address.expr),
            Expr::Field(field) => self.place(&field.base),
            Expr::Index(index) => self.place(&index.expr),
            Expr::MethodCall(call) => self.flat &= !is_access(call) || receives(call),
            Expr::Match(each) => self.flat &= each.arms.iter().all(|arm| arm.guard.is_none()),
            // The length is a constant, where nobody can wait.
            Expr::Repeat(repeat) => self.flat &= matches!(*repeat.len, Expr::Lit(_) | Expr::Path(_)),
            Expr::Call(call) => {
                // A value of a type of one's own may have operators of its own.
                if let Expr::Path(path) = &*call.func
                    && let Some(name) = path.path.segments.last()
                {
                    let constructs = name.ident.to_string().starts_with(char::is_uppercase);
                    self.flat &= !constructs || matches!(&*name.ident.to_string(), "Some" | "Ok" | "Err");
                }
            }
            Expr::Array(_)
            | Expr::Assign(_)
            | Expr::Binary(_)
            | Expr::Block(_)
            | Expr::Break(_)
            | Expr::Cast(_)
            | Expr::Continue(_)
            | Expr::ForLoop(_)
            | Expr::If(_)
            | Expr::Let(_)
            | Expr::Lit(_)
            | Expr::Loop(_)
            | Expr::Paren(_)
            | Expr::Path(_)
            | Expr::Range(_)
            | Expr::Return(_)
            | Expr::Tuple(_)
            | Expr::Unary(_)
            | Expr::Unsafe(_)
            | Expr::While(_) => {}
            _ => self.flat = false,
        }
        visit_expr(self, expr);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        self.flat &= !matches!(stmt, Stmt::Macro(_));
        visit_stmt(self, stmt);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.flat &= !by_reference(&local.pat);
        visit_local(self, local);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}
}

fn by_reference(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(name) if name.by_ref.is_some())
}

fn peel(mut expr: &Expr) -> &Expr {
    while let Expr::Paren(inside) = expr {
        expr = &inside.expr;
    }
    expr
}

/// Does this look like an access to a cell or through a pointer?
fn is_access(call: &ExprMethodCall) -> bool {
    reads(call) || writes(call)
}

fn reads(call: &ExprMethodCall) -> bool {
    let known = ["read", "assume_init", "assume_init_read"];
    call.args.is_empty() && known.iter().any(|name| call.method == name)
}

fn writes(call: &ExprMethodCall) -> bool {
    call.args.len() == 1 && call.method == "write"
}

/// Can the receiver be asked? A local variable can, without being used up; a cell of an array that is a
/// `static`; and what an expression makes.
fn receives(call: &ExprMethodCall) -> bool {
    match peel(&call.receiver) {
        Expr::Path(_) | Expr::MethodCall(_) | Expr::Unsafe(_) | Expr::Block(_) => true,
        cell @ Expr::Index(_) => reads(call) || is_of_static(cell),
        _ => reads(call),
    }
}

/// `TILE[i][j]`.
fn is_of_static(cell: &Expr) -> bool {
    match cell {
        Expr::Index(index) => is_of_static(&index.expr),
        Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            name.starts_with(char::is_uppercase) && name == name.to_uppercase()
        }),
        _ => false,
    }
}

/// Names for what is kept while a thread waits.
#[derive(Default)]
pub(super) struct Awaits {
    made: u32,
}

impl Awaits {
    /// In the context of the code around, so that a place in the source is still that of the whole expression.
    fn name(&mut self, what: &str, at: Span) -> Ident {
        self.made += 1;
        format_ident!("{what}_of_await_{}", self.made, span = at)
    }

    /// The expression, if it is an access or a barrier, with an `await` before or behind it. What is in it has
    /// been through here already.
    pub(super) fn insert(&mut self, expr: &Expr) -> Option<Expr> {
        let at = start(expr);
        Some(Expr::Verbatim(match expr {
            Expr::Call(call) if is_barrier(&call.func) => quote_spanned! { at => ({
                let result = #call;
                if ::cuda_std::emulator::futures::waits() {
                    ::cuda_std::emulator::futures::turn().await;
                }
                result
            }) },
            Expr::MethodCall(call) if writes(call) => {
                let argument = &call.args[0];
                let value = self.name("value", start(argument));
                let mut access = call.clone();
                access.args[0] = parse_quote_spanned! { start(argument) => #value };
                if let Expr::Path(receiver) = peel(&call.receiver) {
                    let wait = wait(at, &quote!(#receiver), "write_waits");
                    quote_spanned! { at => ({ let #value = #argument; #wait #access }) }
                } else {
                    let (through, receiver) = (self.name("through", at), &call.receiver);
                    *access.receiver = parse_quote_spanned! { at => #through };
                    let wait = wait(at, &quote!(*#through), "write_waits");
                    quote_spanned! { at => ({
                        let #through = &#receiver;
                        let #value = #argument;
                        #wait
                        #access
                    }) }
                }
            }
            Expr::MethodCall(call) if reads(call) => {
                let (through, receiver) = (self.name("through", at), &call.receiver);
                let mut access = call.clone();
                *access.receiver = parse_quote_spanned! { at => #through };
                let wait = wait(at, &quote!(*#through), "read_waits");
                quote_spanned! { at => ({ let #through = &#receiver; #wait #access }) }
            }
            Expr::Unary(read) if matches!(read.op, UnOp::Deref(_)) => {
                let (bind, read, pointer) = self.bind(read);
                let wait = wait(at, &pointer, "read_waits");
                quote_spanned! { at => ({ #bind #wait #read }) }
            }
            _ => return None,
        }))
    }

    /// `*pointer = value`, with an `await` between the two sides.
    pub(super) fn assign(&mut self, left: &ExprUnary, right: &Expr) -> Expr {
        let at = start(left);
        let value = self.name("value", start(right));
        let (bind, left, pointer) = self.bind(left);
        let wait = wait(at, &pointer, "write_waits");
        Expr::Verbatim(quote_spanned! { at => ({ let #value = #right; #bind #wait #left = #value; }) })
    }

    /// `*pointer += value`: a read, and a write.
    pub(super) fn read_and_write(&mut self, left: &ExprUnary, operator: &TokenStream, right: &Expr) -> Expr {
        let at = start(left);
        let (value, old) = (self.name("value", start(right)), self.name("old", at));
        let (bind, left, pointer) = self.bind(left);
        let (before, between) = (wait(at, &pointer, "read_waits"), wait(at, &pointer, "write_waits"));
        Expr::Verbatim(quote_spanned! { at => ({
            let #value = #right;
            #bind
            #before
            let #old = #left;
            #between
            #left = #old #operator #value;
        }) })
    }

    /// Computes the pointer once: a statement that does, `*pointer` from there on, and the pointer.
    fn bind(&mut self, deref: &ExprUnary) -> (TokenStream, ExprUnary, TokenStream) {
        let pointer = &deref.expr;
        if matches!(peel(pointer), Expr::Path(_)) {
            return (TokenStream::new(), deref.clone(), quote!(#pointer));
        }
        let at = start(pointer);
        let through = self.name("through", at);
        let mut bound = deref.clone();
        *bound.expr = parse_quote_spanned! { at => #through };
        let bind = quote_spanned! { at => #[allow(unused_mut)] let mut #through = #pointer; };
        (bind, bound, quote!(#through))
    }
}

/// Gives the turn back before the access through this, if it has to.
fn wait(at: Span, through: &TokenStream, before: &str) -> TokenStream {
    let before = Ident::new(before, at);
    quote_spanned! { at =>
        while ::cuda_std::emulator::futures::Through(&#through).#before() {
            ::cuda_std::emulator::futures::turn().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_flat;

    fn flat(body: &str) -> bool {
        is_flat(&syn::parse_str(&format!("{{ {body} }}")).expect("a body"))
    }

    #[test]
    fn accesses_and_barriers_in_the_body_can_be_waited_at() {
        assert!(flat(
            "TILE[t].write(1); thread::sync_threads(); *out.add(t) = TILE[b - 1 - t].assume_init();"
        ));
        assert!(flat("if t < n { *out += 1; } for i in 0..n { unsafe { warp::sync_warp(!0) }; }"));
        assert!(flat("let p = out.add(t); let x = *input.get_unchecked(t); p.write(x.max(2));"));
    }

    #[test]
    fn what_may_hide_one_takes_a_stack() {
        assert!(!flat("helper();"));
        assert!(!flat("let f = |x: u32| x + 1;"));
        assert!(!flat("assert!(t < n);"));
        assert!(!flat("let guard = Guard { t };"));
        assert!(!flat("let guard = Guard(t);"));
    }

    #[test]
    fn what_would_not_compile_as_one_takes_a_stack() {
        assert!(!flat("let p = &mut *out.add(t);"));
        assert!(!flat("(*p).x = 1;"));
        assert!(!flat("own[t].write(1);"));
        assert!(!flat("match x { y if *out == y => {} _ => {} }"));
    }
}
