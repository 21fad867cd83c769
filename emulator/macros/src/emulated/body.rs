//! Marks in a kernel's body: loop trips, arms of branches and the joins after them, calls of helpers.
//!
//! A mark is a call that carries the place of what it marks in the source, by its span.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit::Visit;
use syn::visit_mut::{VisitMut, visit_expr_mut, visit_stmt_mut};
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprForLoop, ExprIf, ExprLoop, ExprUnary, ExprWhile, Item, Stmt, UnOp,
    parse_quote_spanned,
};

use super::calls::{calls_helper, may_wait};
use super::flat::Awaits;

/// Marks the body of a kernel; and puts in where its threads wait, if it is [flat](super::flat).
pub(super) fn mark(body: &mut Block, flat: bool) {
    Marker { made: 0, awaits: flat.then(Awaits::default) }.visit_block_mut(body);
}

struct Marker {
    made: u32,
    awaits: Option<Awaits>,
}

impl Marker {
    /// A name that nothing in the kernel can see.
    fn name(&mut self, what: &str) -> Ident {
        self.made += 1;
        format_ident!("{what}_{}", self.made, span = Span::mixed_site())
    }

    /// Puts the statement's calls of helpers on the thread's path.
    fn mark_call(&mut self, stmt: Stmt, to: &mut Vec<Stmt>) {
        let outer = self.name("outer");
        let at = start(&stmt);
        to.push(parse_quote_spanned! { at => let #outer = ::cuda_std::emulator::marks::enter(); });
        to.push(parse_quote_spanned! { at => ::cuda_std::emulator::marks::call(&#outer); });
        let leave: Stmt = parse_quote_spanned! { at => ::cuda_std::emulator::marks::leave(&#outer); };
        match stmt {
            Stmt::Expr(value, None) => {
                let result = self.name("result");
                to.push(parse_quote_spanned! { at => let #result = #value; });
                to.push(leave);
                to.push(Stmt::Expr(parse_quote_spanned! { at => #result }, None));
            }
            stmt => to.extend([stmt, leave]),
        }
    }

    /// Puts the calls of helpers in a condition on the thread's path. One with `let` cannot be taken apart.
    fn mark_condition(&mut self, condition: &mut Expr) {
        let helper = calls_helper(|search| search.visit_expr(condition));
        if helper && !binds(condition) {
            let stmts = &mut Vec::new();
            self.mark_call(Stmt::Expr(condition.clone(), None), stmts);
            *condition = parse_quote_spanned! { start(condition) => { #(#stmts)* } };
        }
    }

    /// Around a loop: enter, a trip at the head of the body, leave and join behind it.
    fn mark_loop(&mut self, at: Span, body: &mut Block, rebuild: impl FnOnce(Block) -> Expr) -> Expr {
        let outer = self.name("outer");
        let result = self.name("result");
        let join = join(body.brace_token.span.close());
        let mut body = std::mem::replace(body, parse_quote_spanned! { at => {} });
        body.stmts.insert(0, parse_quote_spanned! { at => ::cuda_std::emulator::marks::trip(&mut #outer); });
        let looping = rebuild(body);
        Expr::Verbatim(quote_spanned! { at => {
            let mut #outer = ::cuda_std::emulator::marks::enter();
            let #result = #looping;
            ::cuda_std::emulator::marks::leave(&#outer);
            #join
            #result
        } })
    }

    /// An assignment through a pointer, of which the left side is no read.
    fn assignment(&mut self, expr: &mut Expr) -> Option<Expr> {
        let (left, right, operator) = match expr {
            Expr::Assign(assign) if self.awaits.is_some() => (&mut assign.left, &mut assign.right, None),
            Expr::Binary(either) => (&mut either.left, &mut either.right, Some(operator(&either.op)?)),
            _ => return None,
        };
        let left = through_pointer(left)?;
        self.visit_expr_mut(&mut left.expr);
        self.visit_expr_mut(right);
        Some(match (&mut self.awaits, operator) {
            (Some(awaits), Some(operator)) => awaits.read_and_write(left, &operator, right),
            (Some(awaits), None) => awaits.assign(left, right),
            (None, Some(operator)) => read_and_write(left, &operator, right, |what| self.name(what)),
            (None, None) => return None,
        })
    }

    /// Around a branch, or a block that can be left by a `break`: enter, an arm at the head of each of its
    /// arms, leave and join behind it.
    fn mark_branch(&mut self, branch: &mut Expr, end: Span) -> Expr {
        let (at, outer, result) = (start(branch), self.name("outer"), self.name("result"));
        let join = join(end);
        let mut arms = 0_u32;
        let mut arm = || {
            arms += 1;
            let number = arms - 1;
            quote_spanned! { at => ::cuda_std::emulator::marks::arm(&#outer, #number); }
        };
        match branch {
            Expr::If(branch) => {
                let (then, arm_of_then) = (&branch.then_branch, arm());
                branch.then_branch = parse_quote_spanned! { at => { #arm_of_then #then } };
                if let Some((_, other)) = &mut branch.else_branch {
                    let arm = arm();
                    **other = Expr::Verbatim(quote_spanned! { at => { #arm #other } });
                }
            }
            Expr::Match(branch) => {
                for each in &mut branch.arms {
                    let (arm, body) = (arm(), &each.body);
                    *each.body = Expr::Verbatim(quote_spanned! { at => { #arm #body } });
                }
            }
            _ => {}
        }
        Expr::Verbatim(quote_spanned! { at => {
            let #outer = ::cuda_std::emulator::marks::enter();
            let #result = #branch;
            ::cuda_std::emulator::marks::leave(&#outer);
            #join
            #result
        } })
    }
}

fn join(at: Span) -> TokenStream {
    quote_spanned! { at => ::cuda_std::emulator::marks::join(); }
}

/// The first token's span: what a call's place in the source is taken from.
pub(super) fn start(tokens: &impl ToTokens) -> Span {
    tokens.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}

/// Where the expression ends, as it was written: its closing brace, if it has one. (Tokens made from an
/// expression have the span of a whole group at both of its ends.)
fn end(expr: &Expr) -> Span {
    match expr {
        Expr::If(branch) => match &branch.else_branch {
            Some((_, other)) => end(other),
            None => branch.then_branch.brace_token.span.close(),
        },
        Expr::Match(branch) => branch.brace_token.span.close(),
        Expr::Block(block) => block.block.brace_token.span.close(),
        Expr::Unsafe(block) => block.block.brace_token.span.close(),
        Expr::Binary(either) => end(&either.right),
        Expr::Paren(inside) => inside.paren_token.span.close(),
        Expr::Call(call) => call.paren_token.span.close(),
        Expr::MethodCall(call) => call.paren_token.span.close(),
        other => other.to_token_stream().into_iter().last().map_or_else(Span::call_site, |last| last.span()),
    }
}

/// `*pointer += value` as `*pointer = *pointer + value`: a handle cannot see that the one reads and writes. The
/// value is computed first, as for all numbers, and the pointer once.
fn read_and_write(
    left: &ExprUnary,
    operator: &TokenStream,
    right: &Expr,
    mut name: impl FnMut(&str) -> Ident,
) -> Expr {
    let (at, value, pointer) = (start(left), name("value"), &left.expr);
    Expr::Verbatim(if matches!(**pointer, Expr::Path(_)) {
        quote_spanned! { at => { let #value = #right; *#pointer = *#pointer #operator #value; } }
    } else {
        let place = name("place");
        quote_spanned! { at => {
            let #value = #right;
            let mut #place = #pointer;
            *#place = *#place #operator #value;
        } }
    })
}

/// The `+` of a `+=`.
fn operator(of: &BinOp) -> Option<TokenStream> {
    Some(match of {
        BinOp::AddAssign(_) => quote!(+),
        BinOp::SubAssign(_) => quote!(-),
        BinOp::MulAssign(_) => quote!(*),
        BinOp::DivAssign(_) => quote!(/),
        BinOp::RemAssign(_) => quote!(%),
        BinOp::BitAndAssign(_) => quote!(&),
        BinOp::BitOrAssign(_) => quote!(|),
        BinOp::BitXorAssign(_) => quote!(^),
        BinOp::ShlAssign(_) => quote!(<<),
        BinOp::ShrAssign(_) => quote!(>>),
        _ => return None,
    })
}

/// `*pointer`.
fn through_pointer(expr: &mut Expr) -> Option<&mut ExprUnary> {
    match expr {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => Some(unary),
        Expr::Paren(inside) => through_pointer(&mut inside.expr),
        _ => None,
    }
}

/// `&&` and `||`: the right side is a branch. A condition with `let` cannot be taken apart.
fn is_lazy(either: &ExprBinary) -> bool {
    !binds(&either.left) && !binds(&either.right) && matches!(either.op, BinOp::And(_) | BinOp::Or(_))
}

/// Is this a condition with `let`?
fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(either) => binds(&either.left) || binds(&either.right),
        _ => false,
    }
}

/// A statement whose own statements are marked one by one.
fn is_control_flow(stmt: &Stmt) -> bool {
    let expr = match stmt {
        Stmt::Expr(expr, _) => expr,
        Stmt::Local(syn::Local { init: Some(init), .. }) => &init.expr,
        _ => return false,
    };
    matches!(
        expr,
        Expr::If(_)
            | Expr::Match(_)
            | Expr::ForLoop(_)
            | Expr::While(_)
            | Expr::Loop(_)
            | Expr::Block(_)
            | Expr::Unsafe(_)
    )
}

impl VisitMut for Marker {
    fn visit_item_mut(&mut self, _: &mut Item) {}

    fn visit_block_mut(&mut self, block: &mut Block) {
        for mut stmt in std::mem::take(&mut block.stmts) {
            let helper = !is_control_flow(&stmt) && calls_helper(|search| search.visit_stmt(&stmt));
            visit_stmt_mut(self, &mut stmt);
            if helper {
                self.mark_call(stmt, &mut block.stmts);
            } else {
                block.stmts.push(stmt);
            }
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let waits = may_wait(|search| search.visit_expr(expr));
        let end = end(expr);
        if let Expr::If(ExprIf { cond, .. }) | Expr::While(ExprWhile { cond, .. }) = expr {
            self.mark_condition(cond);
        }
        if let Some(assignment) = self.assignment(expr) {
            *expr = assignment;
            return;
        }
        visit_expr_mut(self, expr);
        if let Some(waiting) = self.awaits.as_mut().and_then(|awaits| awaits.insert(expr)) {
            *expr = waiting;
            return;
        }
        let at = start(expr);
        let marked = match expr {
            Expr::If(_) | Expr::Match(_) if waits => self.mark_branch(expr, end),
            Expr::Block(block) if block.label.is_some() => self.mark_branch(expr, end),
            Expr::Binary(either) if waits && is_lazy(either) => self.mark_branch(expr, end),
            Expr::ForLoop(looping) => {
                let shell = looping.clone();
                self.mark_loop(at, &mut looping.body, |body| Expr::ForLoop(ExprForLoop { body, ..shell }))
            }
            Expr::While(looping) => {
                let shell = looping.clone();
                self.mark_loop(at, &mut looping.body, |body| Expr::While(ExprWhile { body, ..shell }))
            }
            Expr::Loop(looping) => {
                let shell = looping.clone();
                self.mark_loop(at, &mut looping.body, |body| Expr::Loop(ExprLoop { body, ..shell }))
            }
            _ => return,
        };
        *expr = marked;
    }
}
