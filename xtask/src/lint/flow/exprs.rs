//! Statements and expressions.

use std::collections::BTreeMap;
use std::rc::Rc;

use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprPath, ExprReference, Local, Macro, Member, Stmt, Type, UnOp};

use super::super::macros;
use super::super::value::{Closure, Reason, Value};
use super::Flow;

impl<'a> Flow<'a> {
    pub(super) fn block(&mut self, block: &'a Block) -> Value<'a> {
        let scope = self.scope.len();
        let mut value = Value::default();
        for statement in &block.stmts {
            value = match statement {
                Stmt::Local(local) => self.local(local),
                Stmt::Expr(expr, None) => self.eval(expr),
                Stmt::Expr(expr, Some(_)) => {
                    self.eval(expr);
                    Value::default()
                }
                Stmt::Macro(statement) => self.macro_(&statement.mac),
                Stmt::Item(_) => Value::default(),
            };
        }
        self.scope.truncate(scope);
        value
    }

    fn local(&mut self, local: &'a Local) -> Value<'a> {
        let Some(init) = &local.init else {
            self.bind(&local.pat, &Value::default(), None);
            return Value::default();
        };
        let mut value = self.eval(&init.expr);
        if let Some((_, otherwise)) = &init.diverge {
            value = self.inspected(value, init.expr.span());
            let cause = self.cause("the value of `let … else`", init.expr.span(), &value);
            self.under(cause.as_ref(), |flow| flow.eval(otherwise));
        }
        self.bind(&local.pat, &value, Some(&init.expr));
        Value::default()
    }

    /// Takes one of the steps that are left.
    pub(super) fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }

    pub(super) fn eval(&mut self, expr: &'a Expr) -> Value<'a> {
        if !self.step() {
            return Value::default();
        }
        match expr {
            Expr::Lit(_) | Expr::Infer(_) => Value::default(),
            Expr::Path(path) => self.path(path),
            Expr::Paren(paren) => self.eval(&paren.expr),
            Expr::Group(group) => self.eval(&group.expr),
            Expr::Block(block) => self.labelled(block),
            Expr::Unsafe(block) => self.block(&block.block),
            Expr::Const(block) => self.block(&block.block),
            Expr::If(branch) => self.if_(branch),
            Expr::Match(branch) => self.match_(branch),
            Expr::Let(condition) => self.let_(condition),
            Expr::Loop(repeat) => self.loop_(repeat),
            Expr::While(repeat) => self.while_(repeat),
            Expr::ForLoop(repeat) => self.for_(repeat),
            Expr::Break(exit) => {
                self.break_(exit);
                Value::default()
            }
            Expr::Continue(exit) => {
                self.continue_(exit);
                Value::default()
            }
            Expr::Return(exit) => {
                let value = self.optional(exit.expr.as_deref());
                self.return_(value, "`return`", exit.return_token.span);
                Value::default()
            }
            Expr::Try(exit) => {
                let value = self.eval(&exit.expr);
                let value = self.inspected(value, exit.expr.span());
                let cause = self.cause("the value before `?`", exit.expr.span(), &value);
                self.under(cause.as_ref(), |flow| {
                    flow.return_(value.clone(), "`?`", exit.question_token.span());
                });
                value
            }
            Expr::Binary(binary) => match binary.op {
                BinOp::And(_) | BinOp::Or(_) => self.lazy(binary),
                BinOp::Eq(_)
                | BinOp::Lt(_)
                | BinOp::Le(_)
                | BinOp::Ne(_)
                | BinOp::Ge(_)
                | BinOp::Gt(_)
                | BinOp::Add(_)
                | BinOp::Sub(_)
                | BinOp::Mul(_)
                | BinOp::Div(_)
                | BinOp::Rem(_)
                | BinOp::BitXor(_)
                | BinOp::BitAnd(_)
                | BinOp::BitOr(_)
                | BinOp::Shl(_)
                | BinOp::Shr(_) => self.operands(&binary.left, &binary.right, binary.op.span()),
                // `a += b` and the like.
                _ => {
                    let value = self.eval(&binary.right);
                    let value = self.inspected(value, binary.right.span()).computed();
                    self.assign(&binary.left, &value, true);
                    Value::default()
                }
            },
            Expr::Assign(assign) => {
                let value = self.eval(&assign.right);
                self.assign(&assign.left, &value, true);
                Value::default()
            }
            Expr::Unary(unary) => {
                let value = self.eval(&unary.expr);
                if matches!(unary.op, UnOp::Deref(_)) {
                    return self.inspected(value, unary.span());
                }
                self.inspected(value, unary.span()).computed()
            }
            Expr::Cast(cast) => {
                let value = self.eval(&cast.expr);
                let pointer = matches!(*cast.ty, Type::Ptr(_) | Type::Reference(_));
                Value { memory: pointer, ..value.flat() }
            }
            Expr::Index(index) => {
                let value = self.memory_or_value(&index.expr);
                let mut value = self.inspected(value.flat(), index.span());
                let at = self.eval(&index.index);
                value.taint(self.cause("an index", index.index.span(), &at).as_ref());
                value
            }
            Expr::Field(field) => {
                let value = self.eval(&field.base);
                self.field(&value, &field.member)
            }
            Expr::Reference(reference) => self.reference(reference),
            Expr::RawAddr(address) => {
                let value = self.eval(&address.expr).flat();
                Value { memory: true, ..self.lent(value, &address.expr) }
            }
            Expr::Range(range) => {
                let mut value = self.optional(range.start.as_deref()).computed();
                value.absorb(&self.optional(range.end.as_deref()).computed());
                value
            }
            Expr::Tuple(tuple) => {
                let parts = tuple.elems.iter().enumerate();
                Value::composed(parts.map(|(index, part)| (index.to_string(), self.eval(part))).collect())
            }
            Expr::Struct(structure) => {
                let mut parts = BTreeMap::new();
                for field in &structure.fields {
                    let name = match &field.member {
                        Member::Named(ident) => ident.to_string(),
                        Member::Unnamed(index) => index.index.to_string(),
                    };
                    parts.insert(name, self.eval(&field.expr));
                }
                let mut value = Value::composed(parts);
                if let Some(rest) = &structure.rest {
                    value = value.flat();
                    value.absorb(&self.eval(rest).flat());
                }
                value
            }
            Expr::Array(array) => self.all(array.elems.iter()),
            Expr::Repeat(array) => {
                self.eval(&array.len);
                self.eval(&array.expr).flat()
            }
            Expr::Closure(closure) => {
                let (scope, file, frame) = (self.scope.clone(), self.file(), self.frame());
                let closure = Rc::new(Closure { expr: closure, scope, file, frame });
                Value { closures: vec![closure], ..Value::default() }
            }
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Macro(mac) => self.macro_(&mac.mac),
            Expr::Await(wait) => self.unread(|flow| drop(flow.eval(&wait.base)), expr),
            Expr::Async(block) => self.unread(|flow| drop(flow.block(&block.block)), expr),
            Expr::TryBlock(block) => self.unread(|flow| drop(flow.block(&block.block)), expr),
            _ => self.unread(|_| {}, expr),
        }
    }

    /// What is indexed, or has a method called on it. A static of a file that was not read looks like
    /// a constant by itself; here it counts as memory.
    pub(super) fn memory_or_value(&mut self, expr: &'a Expr) -> Value<'a> {
        let mut value = self.eval(expr);
        if let Expr::Path(path) = expr
            && self.root(expr).is_none()
            && let Some(name) = self.names.path(self.file(), &path.path).last()
        {
            value.memory |= self.names.is_shared(name);
        }
        value
    }

    /// The join of several values.
    pub(super) fn all(&mut self, exprs: impl Iterator<Item = &'a Expr>) -> Value<'a> {
        let mut value = Value::default();
        for expr in exprs {
            value.absorb(&self.eval(expr).flat());
        }
        value
    }

    /// Code whose control flow is not followed: it may run or not.
    fn unread(&mut self, read: impl FnOnce(&mut Self), expr: &Expr) -> Value<'a> {
        let cause = Reason::source("an expression that is not followed", self.site(expr.span()));
        self.under(Some(&cause), read);
        Value::varying(cause)
    }

    fn reference(&mut self, reference: &'a ExprReference) -> Value<'a> {
        let value = self.eval(&reference.expr);
        if reference.mutability.is_some() { self.lent(value, &reference.expr) } else { value }
    }

    fn path(&mut self, expr: &'a ExprPath) -> Value<'a> {
        let path = self.names.path(self.file(), &expr.path);
        let name = path.last().map(String::as_str).unwrap_or_default();
        if let Some(ident) = expr.path.get_ident()
            && let Some(var) = self.lookup(&ident.to_string())
        {
            return self.vars.get(&var).cloned().unwrap_or_default();
        }
        let site = self.site(expr.span());
        match self.names.statics.get(name) {
            Some(item) if item.array => Value { memory: true, ..Value::default() },
            Some(_) => Value::varying(Reason::unknown(format!("`{name}`, loaded from memory"), site)),
            None if self.names.is_function(&path) => {
                let value = Value::varying(Reason::source(format!("`{name}`, a function as a value"), site));
                if self.names.synchronises(name) {
                    self.lost_barrier(&format!("`{name}` is passed on as a value"), site);
                }
                value
            }
            // Constants and unit variants.
            None => Value::default(),
        }
    }

    /// A macro that is not looked into: it may assign every variable it mentions, and leave.
    fn macro_(&mut self, mac: &Macro) -> Value<'a> {
        if macros::is_silent(mac) {
            return Value::default();
        }
        let span = mac.path.span();
        let cause =
            Reason::source(format!("`{}!`, which is not looked into", macros::name(mac)), self.site(span));
        for ident in macros::idents(&mac.tokens) {
            if let Some(var) = self.lookup(&ident.to_string()) {
                self.lend(&[var], &cause, ident.span());
            }
        }
        self.may_leave(&cause, span);
        Value::varying(cause)
    }
}
