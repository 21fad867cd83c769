//! Counting the barriers of each kernel in the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use syn::visit::{self, Visit};

/// How many barriers a kernel has, those of the functions it calls included.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Barriers {
    /// Those that stand in no loop.
    pub(crate) straight: usize,
    /// Those in a loop, or in a closure, which may be called more than once.
    pub(crate) looped: usize,
}

/// Every kernel of a crate, by name; `lib` is its root.
pub(crate) fn read(lib: &Path) -> Result<BTreeMap<String, Barriers>> {
    let mut functions = Vec::new();
    // A file, and the directory in which its modules lie.
    let mut open = vec![(lib.to_owned(), lib.parent().unwrap_or(Path::new("")).to_owned())];
    while let Some((path, dir)) = open.pop() {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = syn::parse_file(&text).with_context(|| format!("{} is not valid Rust", path.display()))?;
        let mut reader =
            Reader { path: &path, dir, functions, stack: Vec::new(), loops: 0, modules: Vec::new() };
        reader.visit_file(&file);
        functions = reader.functions;
        for module in reader.modules {
            open.push(module_file(&module)?);
        }
    }
    let kernels = functions.iter().filter(|function| function.kernel);
    Ok(kernels.map(|kernel| (kernel.name.clone(), barriers(&functions, kernel, &mut Vec::new()))).collect())
}

/// Where `mod name;` leads: `dir/name.rs` or `dir/name/mod.rs`.
fn module_file(dir: &Path) -> Result<(PathBuf, PathBuf)> {
    for file in [dir.with_extension("rs"), dir.join("mod.rs")] {
        if file.is_file() {
            return Ok((file, dir.to_owned()));
        }
    }
    bail!("the module {} has no file", dir.display())
}

struct Function {
    name: String,
    file: PathBuf,
    kernel: bool,
    calls: Vec<Call>,
}

struct Call {
    name: String,
    looped: bool,
}

fn barriers<'a>(functions: &'a [Function], of: &'a Function, callers: &mut Vec<&'a str>) -> Barriers {
    let mut sum = Barriers::default();
    if callers.contains(&&*of.name) {
        return sum;
    }
    callers.push(&of.name);
    for call in &of.calls {
        // `sync_threads_or` and its like are barriers, too.
        let called = if call.name.starts_with("sync_threads") {
            Barriers { straight: 1, looped: 0 }
        } else if let Some(callee) = called(functions, of, &call.name) {
            barriers(functions, callee, callers)
        } else {
            continue;
        };
        if call.looped {
            sum.looped += called.straight + called.looped;
        } else {
            sum.straight += called.straight;
            sum.looped += called.looped;
        }
    }
    callers.pop();
    sum
}

/// The function of that name in the caller's file, or else in another.
fn called<'a>(functions: &'a [Function], caller: &Function, name: &str) -> Option<&'a Function> {
    let named = || functions.iter().filter(|function| function.name == name);
    named().find(|function| function.file == caller.file).or_else(|| named().next())
}

/// Collects the functions and the modules of one file.
struct Reader<'a> {
    path: &'a Path,
    dir: PathBuf,
    functions: Vec<Function>,
    /// The functions that we are inside of.
    stack: Vec<Function>,
    /// How many loops and closures of the innermost function we are inside of.
    loops: usize,
    modules: Vec<PathBuf>,
}

impl Reader<'_> {
    fn function(&mut self, name: &syn::Ident, kernel: bool, visit: impl FnOnce(&mut Self)) {
        let loops = std::mem::take(&mut self.loops);
        self.stack.push(Function {
            name: name.to_string(),
            file: self.path.to_owned(),
            kernel,
            calls: Vec::new(),
        });
        visit(self);
        self.functions.extend(self.stack.pop());
        self.loops = loops;
    }

    fn call(&mut self, name: &syn::Ident) {
        let looped = self.loops > 0;
        if let Some(function) = self.stack.last_mut() {
            function.calls.push(Call { name: name.to_string(), looped });
        }
    }

    fn looped(&mut self, visit: impl FnOnce(&mut Self)) {
        self.loops += 1;
        visit(self);
        self.loops -= 1;
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let dir = self.dir.join(item.ident.to_string());
        if item.content.is_none() {
            self.modules.push(dir);
        } else {
            let outer = std::mem::replace(&mut self.dir, dir);
            visit::visit_item_mod(self, item);
            self.dir = outer;
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let is_kernel =
            |attr: &syn::Attribute| attr.path().segments.last().is_some_and(|s| s.ident == "kernel");
        let kernel = item.attrs.iter().any(is_kernel);
        self.function(&item.sig.ident, kernel, |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig.ident, false, |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func
            && let Some(last) = function.path.segments.last()
        {
            self.call(&last.ident);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.call(&call.method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_for_loop(&mut self, expr: &'ast syn::ExprForLoop) {
        self.visit_expr(&expr.expr);
        self.looped(|this| this.visit_block(&expr.body));
    }

    fn visit_expr_while(&mut self, expr: &'ast syn::ExprWhile) {
        self.looped(|this| visit::visit_expr_while(this, expr));
    }

    fn visit_expr_loop(&mut self, expr: &'ast syn::ExprLoop) {
        self.looped(|this| visit::visit_expr_loop(this, expr));
    }

    fn visit_expr_closure(&mut self, expr: &'ast syn::ExprClosure) {
        self.looped(|this| visit::visit_expr_closure(this, expr));
    }
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    /// The kernels of a crate with a module in each of the three places where one may be.
    fn kernels(root: &str, a: &str, b: &str) -> BTreeMap<String, Barriers> {
        let dir = env::temp_dir().join(format!("xtask-source-{}-{}", process::id(), root.len()));
        fs::create_dir_all(dir.join("b")).expect("a directory");
        fs::write(dir.join("lib.rs"), root).expect("a file");
        fs::write(dir.join("a.rs"), a).expect("a file");
        fs::write(dir.join("b/mod.rs"), b).expect("a file");
        let kernels = read(&dir.join("lib.rs"));
        fs::remove_dir_all(&dir).expect("it was just made");
        kernels.expect("a valid crate")
    }

    #[test]
    fn barriers_are_counted_through_modules_helpers_and_loops() {
        let kernels = kernels(
            "mod a; mod b; mod c { #[cuda_std::kernel] fn in_c() { thread::sync_threads(); } }",
            "#[kernel] fn in_a() {
                sync_threads();
                helper();
                for _ in bounds(sync_threads()) { helper(); }
                while go() { sync_threads(); }
                fn inner() { sync_threads(); }
            }
            fn helper() { thread::sync_threads(); if cold() { helper(); } }",
            "#[kernel] fn in_b(t: T) { t.wait(); (0..3).for_each(|_| cuda_std::thread::sync_threads()); }
            impl T { fn wait(&self) { thread::sync_threads(); loop { thread::sync_threads(); } } }",
        );
        let of = |name: &str| kernels.get(name).map(|b| (b.straight, b.looped));
        assert_eq!(kernels.len(), 3);
        assert_eq!(of("in_a"), Some((3, 2)));
        assert_eq!(of("in_b"), Some((1, 2)));
        assert_eq!(of("in_c"), Some((1, 0)));
    }

    #[test]
    fn the_lesson_has_the_barriers_it_says() {
        let lib = crate::cargo::root().join("kernels-gpu/src/lib.rs");
        let kernels = read(&lib).expect("the lesson's kernels");
        let of = |name: &str| kernels.get(name).map(|b| (b.straight, b.looped));
        assert_eq!(of("reverse_tile_racy"), Some((0, 0)));
        assert_eq!(of("reverse_tile_synced"), Some((1, 0)));
        assert_eq!(of("reverse_tile_prefix"), Some((1, 0)));
    }
}
