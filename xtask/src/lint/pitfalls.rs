//! Shared slots that are used in a way nobody can follow, barriers inside macros, and what no GPU has.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprCast, ExprMethodCall, ExprRawAddr, ImplItemFn, ItemExternCrate, ItemFn, ItemMod,
    ItemUse, Macro, Type, UseTree,
};

use super::known;
use super::macros;
use super::names::Names;
use super::report::{Finding, Reporter, Rule};
use super::source::Site;

/// The crate that a GPU does not have.
const STD: &str = "std";

/// Macros that read a file while compiling: any that whoever compiles may read.
const FILES: &[&str] = &["include", "include_bytes", "include_str"];

/// Looks through all files.
pub(super) fn find(files: &[syn::File], names: &Names<'_>, reporter: &Reporter<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, parsed) in files.iter().enumerate() {
        let mut pitfalls =
            Pitfalls { file, names, reporter, function: String::new(), tests: false, findings };
        pitfalls.visit_file(parsed);
        findings = pitfalls.findings;
    }
    findings
}

struct Pitfalls<'r> {
    file: usize,
    names: &'r Names<'r>,
    reporter: &'r Reporter<'r>,
    /// The function that we are in.
    function: String,
    /// We are in tests, which run on the computer.
    tests: bool,
    findings: Vec<Finding>,
}

/// `#[cfg(test)]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}

impl Pitfalls<'_> {
    fn report(&mut self, rule: Rule, at: &impl Spanned, what: String) {
        let site = Site::new(self.file, at.span());
        self.findings.push(self.reporter.finding(rule, site, &self.function, what));
    }

    fn pointer(&mut self, name: &str, at: &impl Spanned) {
        self.report(Rule::UntrackedPointer, at, format!("a raw pointer into the shared `{name}`"));
    }

    fn host_only(&mut self, at: &impl Spanned, what: &str) {
        if self.tests {
            return;
        }
        self.report(Rule::HostOnly, at, format!("`{what}` is of the computer that compiles, not of the GPU"));
    }

    /// The shared static that a place is in.
    fn shared(&self, place: &Expr) -> Option<String> {
        match place {
            Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
            Expr::Index(index) => self.shared(&index.expr),
            Expr::Field(field) => self.shared(&field.base),
            Expr::Paren(paren) => self.shared(&paren.expr),
            Expr::Group(group) => self.shared(&group.expr),
            _ => None,
        }
        .filter(|name| self.names.is_shared(name))
    }

    /// The shared static that a block hands a copy out of: `{ TILE[t] }`, also as `{ TILE }[t]`.
    fn copied(&self, place: &Expr) -> Option<String> {
        let block = match place {
            Expr::Block(block) => &block.block,
            Expr::Unsafe(block) => &block.block,
            Expr::Index(index) => return self.copied(&index.expr),
            Expr::Field(field) => return self.copied(&field.base),
            Expr::Paren(paren) => return self.copied(&paren.expr),
            Expr::Group(group) => return self.copied(&group.expr),
            _ => return None,
        };
        match block.stmts.last() {
            Some(syn::Stmt::Expr(value, None)) => self.shared(value).or_else(|| self.copied(value)),
            _ => None,
        }
    }

    fn inside(&mut self, function: String, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.function, function);
        visit(self);
        self.function = outer;
    }
}

impl Visit<'_> for Pitfalls<'_> {
    fn visit_item_fn(&mut self, item: &ItemFn) {
        self.inside(item.sig.ident.to_string(), |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        self.inside(item.sig.ident.to_string(), |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        let method = call.method.to_string();
        if matches!(method.as_str(), "write" | "write_volatile")
            && let Some(name) = self.copied(&call.receiver)
        {
            let what =
                format!("the block hands out a copy of `{name}`'s slot, and `.{method}()` writes the copy");
            self.report(Rule::WriteToCopy, &call.receiver, what);
        }
        if matches!(method.as_str(), "as_ptr" | "as_mut_ptr")
            && let Some(name) = self.shared(&call.receiver)
        {
            self.pointer(&name, call);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_raw_addr(&mut self, address: &ExprRawAddr) {
        if let Some(name) = self.shared(&address.expr) {
            self.pointer(&name, address);
        }
        visit::visit_expr_raw_addr(self, address);
    }

    fn visit_expr_cast(&mut self, cast: &ExprCast) {
        if let (Expr::Reference(reference), Type::Ptr(_)) = (&*cast.expr, &*cast.ty)
            && let Some(name) = self.shared(&reference.expr)
        {
            self.pointer(&name, cast);
        }
        visit::visit_expr_cast(self, cast);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        if let Some(first) = path.segments.first()
            && path.segments.len() > 1
            && first.ident == STD
        {
            self.host_only(&first.ident, "std::");
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        let mut trees = vec![&item.tree];
        while let Some(tree) = trees.pop() {
            let first = match tree {
                UseTree::Path(path) => &path.ident,
                UseTree::Name(name) => &name.ident,
                UseTree::Rename(rename) => &rename.ident,
                UseTree::Group(group) => {
                    trees.extend(&group.items);
                    continue;
                }
                UseTree::Glob(_) => continue,
            };
            if first == STD {
                self.host_only(first, "std::");
            }
        }
    }

    fn visit_item_extern_crate(&mut self, item: &ItemExternCrate) {
        if item.ident == STD {
            self.host_only(&item.ident, "std::");
        }
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        let outer = self.tests;
        self.tests |= item.attrs.iter().any(is_for_tests);
        visit::visit_item_mod(self, item);
        self.tests = outer;
    }

    fn visit_macro(&mut self, mac: &Macro) {
        let idents = macros::idents(&mac.tokens);
        let name = macros::name(mac);
        if FILES.contains(&name.as_str()) {
            self.host_only(&mac.path, &format!("{name}!"));
        }
        if let Some(first) = macros::path_to(STD, &mac.tokens) {
            self.host_only(&first, "std::");
        }
        // The path of the macro itself.
        self.visit_path(&mac.path);
        if matches!(macros::name(mac).as_str(), "addr_of" | "addr_of_mut")
            && let Some(name) = idents.iter().map(ToString::to_string).find(|name| self.names.is_shared(name))
        {
            self.pointer(&name, mac);
        }
        if let Some(barrier) = idents.iter().find(|ident| known::is_barrier(&ident.to_string())) {
            let what = format!("`{barrier}` stands inside a macro, which is not looked into");
            self.report(Rule::UntrackedBarrier, barrier, what);
        }
    }
}
