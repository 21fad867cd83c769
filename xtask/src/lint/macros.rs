//! Macros: those of `core` that the lint looks into, and the tokens of all others.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMacro, Macro, Pat, Stmt, StmtMacro, Token, parse_quote_spanned};

/// Macros that only end the program or print: they hand nothing on.
const SILENT: &[&str] = &[
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "print",
    "println",
    "eprint",
    "eprintln",
    "compile_error",
];

/// The name of a macro, without its path.
pub(super) fn name(mac: &Macro) -> String {
    mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
}

/// Whether a macro hands no value on and assigns nothing.
pub(super) fn is_silent(mac: &Macro) -> bool {
    SILENT.contains(&name(mac).as_str())
}

/// Every identifier in a token stream.
pub(super) fn idents(tokens: &TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    let mut open = vec![tokens.clone().into_iter()];
    while let Some(stream) = open.last_mut() {
        match stream.next() {
            None => drop(open.pop()),
            Some(TokenTree::Group(group)) => open.push(group.stream().into_iter()),
            Some(TokenTree::Ident(ident)) => found.push(ident),
            Some(_) => {}
        }
    }
    found
}

/// The first place in a token stream where a path into this crate begins.
pub(super) fn path_to(krate: &str, tokens: &TokenStream) -> Option<Ident> {
    let mut open = vec![tokens.clone().into_iter().peekable()];
    // The token before: `a::std::b` is of `a`.
    let mut before = None;
    while let Some(stream) = open.last_mut() {
        let Some(token) = stream.next() else {
            open.pop();
            continue;
        };
        let colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
        match token {
            TokenTree::Ident(ident)
                if ident == krate && stream.peek().is_some_and(colon) && before != Some(Before::Path) =>
            {
                return Some(ident);
            }
            TokenTree::Group(group) => {
                before = None;
                open.push(group.stream().into_iter().peekable());
            }
            token => {
                before = match (&before, &token) {
                    (Some(Before::Name), token) if colon(token) => Some(Before::Path),
                    (Some(Before::Path), token) if colon(token) => Some(Before::Path),
                    (_, TokenTree::Ident(_)) => Some(Before::Name),
                    _ => None,
                }
            }
        }
    }
    None
}

/// What stands before a name.
#[derive(PartialEq)]
enum Before {
    /// Another name.
    Name,
    /// A path that goes on with it.
    Path,
}

/// Replaces `assert!(a, b)` by `(a, b)` and `matches!(e, p if g)` by a `match`: plain Rust, which the
/// analysis knows how to read.
pub(super) struct Unfold;

impl VisitMut for Unfold {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Macro(ExprMacro { mac, .. }) = expr
            && let Some(plain) = unfold(mac)
        {
            *expr = plain;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(StmtMacro { mac, semi_token, .. }) = stmt
            && let Some(plain) = unfold(mac)
        {
            *stmt = Stmt::Expr(plain, *semi_token);
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }
}

fn unfold(mac: &Macro) -> Option<Expr> {
    let span = mac.path.segments.last()?.ident.span();
    let tokens = mac.tokens.clone();
    match name(mac).as_str() {
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
            let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens).ok()?;
            // `name = value` is an argument of the message, not an assignment.
            let arguments = arguments.iter().filter(|argument| !matches!(argument, Expr::Assign(_)));
            Some(parse_quote_spanned!(span=> (#(#arguments,)*)))
        }
        "matches" => {
            let (subject, pattern, guard) = matches_arguments.parse2(tokens).ok()?;
            let guard = guard.map_or_else(TokenStream::new, |guard| parse_quote_spanned!(span=> if #guard));
            Some(parse_quote_spanned!(span=> match #subject { #pattern #guard => true, _ => false }))
        }
        _ => None,
    }
}

fn matches_arguments(input: ParseStream<'_>) -> syn::Result<(Expr, Pat, Option<Expr>)> {
    let subject = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let guard = if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
    input.parse::<Option<Token![,]>>()?;
    Ok((subject, pattern, guard))
}
