//! Loops, labelled blocks, and what leaves them.

use std::collections::hash_map::Entry;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprBlock, ExprBreak, ExprContinue, ExprForLoop, ExprLoop, ExprWhile, Label, Lifetime};

use super::super::source::Site;
use super::super::value::{Cause, Reason, Value};
use super::{Breakable, Exit, Flow, Landing};

impl<'a> Flow<'a> {
    pub(super) fn loop_(&mut self, expr: &'a ExprLoop) -> Value<'a> {
        let leaves = self.leaves;
        let value = self.trips(expr.loop_token.span, expr.label.as_ref(), |flow| {
            flow.block(&expr.body);
            None
        });
        if self.leaves == leaves {
            self.leave(Landing::Never, "an endless `loop`", expr.loop_token.span);
        }
        value
    }

    pub(super) fn while_(&mut self, expr: &'a ExprWhile) -> Value<'a> {
        self.trips(expr.while_token.span, expr.label.as_ref(), |flow| {
            let scope = flow.scope.len();
            let condition = flow.eval(&expr.cond);
            let cause = flow.cause("the condition of `while`", expr.cond.span(), &condition);
            flow.block(&expr.body);
            flow.scope.truncate(scope);
            cause
        })
    }

    pub(super) fn for_(&mut self, expr: &'a ExprForLoop) -> Value<'a> {
        let range = self.eval(&expr.expr);
        let cause = self.cause("the range of `for`", expr.expr.span(), &range);
        let mut item = range.flat();
        if item.memory {
            item =
                Value::varying(Reason::unknown("an element loaded from memory", self.site(expr.expr.span())));
            item.targets.clone_from(&range.targets);
        }
        self.trips(expr.for_token.span, expr.label.as_ref(), |flow| {
            let scope = flow.scope.len();
            flow.bind(&expr.pat, &item, None);
            flow.block(&expr.body);
            flow.scope.truncate(scope);
            cause
        })
    }

    /// The trips of a loop. `read` reads one and says why their number differs, if it does.
    fn trips(
        &mut self,
        span: Span,
        label: Option<&Label>,
        read: impl FnOnce(&mut Self) -> Option<Cause>,
    ) -> Value<'a> {
        let site = self.site(span);
        let key = (self.frame(), site);
        let known = self.trips.get(&key).cloned();
        let (own, exits, value) =
            self.breakable(label.map(|label| &label.name), true, |flow| flow.under(known.as_ref(), read));
        // Whoever leaves the loop, to wherever, makes fewer trips than the others. `continue` does not.
        for cause in own.into_iter().chain(exits.into_iter().map(|exit| exit.cause)) {
            self.vary_trips(key, &cause);
        }
        value
    }

    fn vary_trips(&mut self, key: (usize, Site), cause: &Cause) {
        if let Entry::Vacant(entry) = self.trips.entry(key) {
            entry.insert(Reason::next("the number of trips of this loop", key.1, cause));
            self.learnt = true;
        }
    }

    /// `{ … }`, perhaps with a label to `break` out of.
    pub(super) fn labelled(&mut self, expr: &'a ExprBlock) -> Value<'a> {
        let Some(label) = &expr.label else { return self.block(&expr.block) };
        let (mut value, exits, broken) =
            self.breakable(Some(&label.name), false, |flow| flow.block(&expr.block));
        value.absorb(&broken);
        for exit in exits {
            value.taint(Some(&exit.cause));
        }
        value
    }

    /// Reads what `break` may leave; ends the `break`s and `continue`s that land here. Returns what
    /// was read, the exits other than `continue` that were raised, and the value of `break`.
    fn breakable<T>(
        &mut self,
        label: Option<&Lifetime>,
        is_loop: bool,
        read: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Exit>, Value<'a>) {
        let index = self.breakables.len();
        let label = label.map(|label| label.ident.to_string());
        self.breakables.push(Breakable { label, is_loop, value: Value::default() });
        let depth = self.exits.len();
        let result = read(self);
        let value = self.breakables.pop().map(|done| done.value).unwrap_or_default();
        let mut raised = self.exits.split_off(depth);
        raised.retain(|exit| exit.landing != Landing::Continue(index));
        for Exit { landing, cause } in &raised {
            if *landing != Landing::Break(index) {
                self.exits.push(Exit { landing: *landing, cause: Cause::clone(cause) });
            }
        }
        (result, raised, value)
    }

    pub(super) fn break_(&mut self, expr: &'a ExprBreak) {
        let mut value = self.optional(expr.expr.as_deref());
        if let Some(index) = self.landing(expr.label.as_ref()) {
            self.leave(Landing::Break(index), "`break`", expr.break_token.span);
            value.taint(self.control().as_ref());
            self.breakables[index].value.absorb(&value);
        }
    }

    pub(super) fn continue_(&mut self, expr: &ExprContinue) {
        if let Some(index) = self.landing(expr.label.as_ref()) {
            // With a label it may leave the inner loop.
            self.leaves += usize::from(expr.label.is_some());
            self.leave(Landing::Continue(index), "`continue`", expr.continue_token.span);
        }
    }

    /// `return`, and `?`, out of the function or closure that we are in.
    pub(super) fn return_(&mut self, mut value: Value<'a>, what: &str, span: Span) {
        self.leave(Landing::Return(self.calls.len()), what, span);
        value.taint(self.control().as_ref());
        if let Some(call) = self.calls.last_mut() {
            call.returned.absorb(&value);
        }
    }

    /// A macro that is not looked into may leave by any way there is.
    pub(super) fn may_leave(&mut self, cause: &Cause, span: Span) {
        self.under(Some(cause), |flow| {
            if let Some(index) = flow.landing(None) {
                flow.leave(Landing::Break(index), "a `break` there may be", span);
                flow.leave(Landing::Continue(index), "a `continue` there may be", span);
            }
            flow.return_(Value::default(), "a `return` there may be", span);
        });
    }

    /// The loop, or with a label the block, that a `break` or `continue` means.
    fn landing(&self, label: Option<&Lifetime>) -> Option<usize> {
        let base = self.calls.last().map_or(0, |call| call.base);
        let label = label.map(|label| label.ident.to_string());
        let own = self.breakables[base..].iter().rposition(|breakable| match &label {
            Some(_) => breakable.label == label,
            None => breakable.is_loop,
        });
        own.map(|index| base + index)
    }

    pub(super) fn optional(&mut self, expr: Option<&'a Expr>) -> Value<'a> {
        expr.map(|expr| self.eval(expr)).unwrap_or_default()
    }
}
