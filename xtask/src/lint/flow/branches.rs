//! Branches: `if`, `match`, `&&` and `||`.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprBinary, ExprIf, ExprMatch};

use super::super::value::{Cause, Reason, Value};
use super::{Exit, Flow};

impl<'a> Flow<'a> {
    /// The cause that a value of this role is, if it is thread-dependent.
    pub(super) fn cause(&self, role: &str, span: Span, value: &Value<'a>) -> Option<Cause> {
        value.varying.as_ref().map(|from| Reason::next(role, self.site(span), from))
    }

    /// One branch of several. The threads that leave in it are put aside: they are not missing in
    /// the other branches, only after all of them.
    fn branch<T>(
        &mut self,
        condition: Option<&Cause>,
        aside: &mut Vec<Exit>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let depth = self.exits.len();
        let result = self.under(condition, read);
        aside.extend(self.exits.drain(depth..));
        result
    }

    pub(super) fn if_(&mut self, expr: &'a ExprIf) -> Value<'a> {
        let scope = self.scope.len();
        let condition = self.eval(&expr.cond);
        let cause = self.cause("the condition of `if`", expr.cond.span(), &condition);
        let mut aside = Vec::new();
        let mut value = self.branch(cause.as_ref(), &mut aside, |flow| flow.block(&expr.then_branch));
        self.scope.truncate(scope);
        if let Some((_, other)) = &expr.else_branch {
            value.absorb(&self.branch(cause.as_ref(), &mut aside, |flow| flow.eval(other)));
        }
        self.exits.extend(aside);
        value.taint(cause.as_ref());
        value
    }

    pub(super) fn match_(&mut self, expr: &'a ExprMatch) -> Value<'a> {
        let subject = self.eval(&expr.expr);
        let subject = self.inspected(subject, expr.expr.span());
        let mut cause = self.cause("the value of `match`", expr.expr.span(), &subject);
        if expr.arms.len() == 1 {
            // One arm has to take every value: it is no branch.
            cause = None;
        }
        let mut value: Option<Value<'a>> = None;
        let mut aside = Vec::new();
        for arm in &expr.arms {
            let scope = self.scope.len();
            self.bind(&arm.pat, &subject, Some(&expr.expr));
            if let Some((_, guard)) = &arm.guard {
                let guard_value = self.under(cause.as_ref(), |flow| flow.eval(guard));
                cause =
                    cause.or_else(|| self.cause("the guard of a `match` arm", guard.span(), &guard_value));
            }
            let result = self.branch(cause.as_ref(), &mut aside, |flow| flow.eval(&arm.body));
            match &mut value {
                Some(value) => drop(value.absorb(&result)),
                None => value = Some(result),
            }
            self.scope.truncate(scope);
        }
        self.exits.extend(aside);
        let mut value = value.unwrap_or_default();
        value.taint(cause.as_ref());
        value
    }

    /// `a && b`, `a || b`: the right side runs under the left one.
    pub(super) fn lazy(&mut self, expr: &'a ExprBinary) -> Value<'a> {
        let mut value = self.eval(&expr.left).computed();
        let role =
            if matches!(expr.op, syn::BinOp::And(_)) { "the left of `&&`" } else { "the left of `||`" };
        let cause = self.cause(role, expr.left.span(), &value);
        let right = self.under(cause.as_ref(), |flow| flow.eval(&expr.right));
        value.absorb(&right.computed());
        value
    }

    /// A value that is looked at by a pattern or a comparison: what lies in memory is loaded for that.
    pub(super) fn inspected(&mut self, mut value: Value<'a>, span: Span) -> Value<'a> {
        if value.memory {
            value.taint(Some(&Reason::unknown("a value loaded from memory", self.site(span))));
        }
        value
    }

    /// The condition of a `while`, an `if` or a guard: `let` in it binds.
    pub(super) fn let_(&mut self, expr: &'a syn::ExprLet) -> Value<'a> {
        let value = self.eval(&expr.expr);
        let value = self.inspected(value, expr.expr.span());
        self.bind(&expr.pat, &value, Some(&expr.expr));
        value.computed()
    }

    /// Both operands of an operator that computes.
    pub(super) fn operands(&mut self, left: &'a Expr, right: &'a Expr, span: Span) -> Value<'a> {
        let mut value = self.eval(left);
        value = self.inspected(value, span).computed();
        let right = self.eval(right);
        value.absorb(&self.inspected(right, span).computed());
        value
    }
}
