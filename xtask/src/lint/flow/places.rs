//! Variables: declared by patterns, read by name, assigned.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{Expr, FieldPat, Member, Pat, UnOp};

use super::super::value::{Cause, Reason, Value, Var};
use super::Flow;

impl<'a> Flow<'a> {
    /// Declares the variables of a pattern. `from` is the place that is matched, which `ref mut`
    /// lends out.
    pub(super) fn bind(&mut self, pattern: &'a Pat, value: &Value<'a>, from: Option<&'a Expr>) {
        match pattern {
            Pat::Ident(ident) => {
                let name = ident.ident.to_string();
                let constant = ident.by_ref.is_none()
                    && ident.mutability.is_none()
                    && name.starts_with(|first: char| first.is_ascii_uppercase());
                if !constant {
                    let mut value = value.clone();
                    if ident.by_ref.is_some()
                        && ident.mutability.is_some()
                        && let Some(place) = from
                    {
                        value = self.lent(value, place);
                    }
                    self.declare(&ident.ident, &name, value);
                }
                if let Some((_, inner)) = &ident.subpat {
                    self.bind(inner, value, from);
                }
            }
            Pat::Reference(reference) => self.bind(&reference.pat, value, from),
            Pat::Paren(paren) => self.bind(&paren.pat, value, from),
            Pat::Type(typed) => self.bind(&typed.pat, value, from),
            Pat::Or(or) => {
                // All alternatives declare the same variables: they must not differ by parts.
                let value = self.element(value, pattern.span());
                or.cases.iter().for_each(|case| self.bind(case, &value, from));
            }
            Pat::Tuple(tuple) => {
                let known = !tuple.elems.iter().any(|part| matches!(part, Pat::Rest(_)));
                for (index, part) in tuple.elems.iter().enumerate() {
                    let value = if known { value.part(&index.to_string()) } else { value.flat() };
                    self.bind(part, &value, from);
                }
            }
            Pat::Struct(structure) => {
                for FieldPat { member, pat, .. } in &structure.fields {
                    let value = self.field(value, member);
                    self.bind(pat, &value, from);
                }
            }
            Pat::TupleStruct(structure) => {
                let value = self.element(value, pattern.span());
                structure.elems.iter().for_each(|part| self.bind(part, &value, from));
            }
            Pat::Slice(slice) => {
                let value = self.element(value, pattern.span());
                slice.elems.iter().for_each(|part| self.bind(part, &value, from));
            }
            _ => {}
        }
    }

    /// A piece of a value that a pattern took apart.
    fn element(&mut self, value: &Value<'a>, span: Span) -> Value<'a> {
        self.inspected(value.flat(), span)
    }

    pub(super) fn field(&mut self, value: &Value<'a>, member: &Member) -> Value<'a> {
        let (name, span) = match member {
            Member::Named(ident) => (ident.to_string(), ident.span()),
            Member::Unnamed(index) => (index.index.to_string(), index.span),
        };
        match value.parts.get(&name) {
            Some(part) => part.clone(),
            None => self.inspected(value.flat(), span),
        }
    }

    pub(super) fn declare(&mut self, ident: &Ident, name: &str, mut value: Value<'a>) {
        let var = Var { frame: self.frame(), site: self.site(ident.span()) };
        if let Some(from) = value.varying {
            value.varying = Some(Reason::next(format!("`{name}`"), var.site, &from));
        }
        self.scope.push((name.to_owned(), var));
        self.learn(var, &value);
    }

    fn learn(&mut self, var: Var, value: &Value<'a>) {
        self.learnt |= match self.vars.get_mut(&var) {
            Some(known) => known.absorb(value),
            None => {
                self.vars.insert(var, value.clone());
                true
            }
        };
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Var> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, var)| *var)
    }

    /// The variable that a place is in.
    pub(super) fn root(&self, place: &Expr) -> Option<Var> {
        match place {
            Expr::Path(path) => self.lookup(&path.path.get_ident()?.to_string()),
            Expr::Field(field) => self.root(&field.base),
            Expr::Index(index) => self.root(&index.expr),
            Expr::Paren(paren) => self.root(&paren.expr),
            Expr::Group(group) => self.root(&group.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.root(&unary.expr),
            _ => None,
        }
    }

    /// A value that is lent out from a place: writing through it writes the variable, and with it
    /// whatever the variable itself leads to.
    pub(super) fn lent(&self, value: Value<'a>, place: &Expr) -> Value<'a> {
        match self.root(place) {
            Some(var) => Value { targets: vec![var], ..value },
            None => value,
        }
    }

    /// `place = value`, or `place += value`.
    pub(super) fn assign(&mut self, place: &'a Expr, value: &Value<'a>, whole: bool) {
        let span = place.span();
        match place {
            Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string);
                if let Some(var) = name.and_then(|name| self.lookup(&name)) {
                    self.store(var, value, span, whole);
                }
            }
            Expr::Field(field) => self.assign(&field.base, &value.flat(), false),
            Expr::Paren(paren) => self.assign(&paren.expr, value, whole),
            Expr::Group(group) => self.assign(&group.expr, value, whole),
            Expr::Unary(unary) => self.assign(&unary.expr, &value.flat(), false),
            Expr::Index(index) => {
                let mut value = value.flat();
                let at = self.eval(&index.index);
                value.taint(self.cause("an index", index.index.span(), &at).as_ref());
                self.assign(&index.expr, &value, false);
            }
            Expr::Tuple(tuple) => {
                for (index, part) in tuple.elems.iter().enumerate() {
                    self.assign(part, &value.part(&index.to_string()), whole);
                }
            }
            Expr::Array(array) => array.elems.iter().for_each(|part| self.assign(part, &value.flat(), whole)),
            Expr::Struct(structure) => {
                for field in &structure.fields {
                    self.assign(&field.expr, &value.flat(), whole);
                }
            }
            Expr::Infer(_) => {}
            _ => {
                let targets = self.eval(place).targets;
                self.write(&targets, value, span);
            }
        }
    }

    /// Writes a variable, or through it. What it leads to in memory is not its own value.
    pub(super) fn store(&mut self, var: Var, value: &Value<'a>, span: Span, whole: bool) {
        let mut value = value.clone();
        value.taint(self.control().as_ref());
        if let Some(from) = &value.varying {
            let name =
                self.scope.iter().find(|(_, known)| *known == var).map_or("a variable", |(name, _)| name);
            value.varying = Some(Reason::next(format!("`{name}`"), self.site(span), from));
        }
        let known = self.vars.get(&var);
        let in_memory = known.is_some_and(|known| known.memory && known.parts.is_empty());
        let targets = known.map(|known| known.targets.clone()).unwrap_or_default();
        if whole || !in_memory {
            self.learn(var, &value);
        }
        if !whole {
            self.write(&targets, &value, span);
        }
    }

    /// Writes all that references lead to, and what those lead to in turn.
    pub(super) fn write(&mut self, targets: &[Var], value: &Value<'a>, span: Span) {
        let mut value = value.flat();
        value.taint(self.control().as_ref());
        if let Some(from) = &value.varying {
            value.varying = Some(Reason::next("a write through a reference", self.site(span), from));
        }
        let mut open = targets.to_vec();
        let mut done = HashSet::new();
        while let Some(var) = open.pop() {
            if !self.step() {
                return;
            }
            if done.insert(var) {
                self.learn(var, &value);
                open.extend(self.vars.get(&var).map(|known| known.targets.clone()).unwrap_or_default());
            }
        }
    }

    /// What is not followed may write anything to the variables that it is lent.
    pub(super) fn lend(&mut self, targets: &[Var], cause: &Cause, span: Span) {
        if !targets.is_empty() {
            self.write(targets, &Value::varying(Cause::clone(cause)), span);
        }
    }
}
