//! Where the barrier stands, by the source.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, File, Item, ItemFn, ItemStatic};

use super::measured::Measured;

pub(super) const KERNEL: &str = "reverse_tile_synced";

/// Where the one barrier of the exercise stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Placement {
    /// Between the write and the read.
    InPlace,
    /// Nowhere.
    Missing,
    /// Below the read.
    Below,
    /// Above the write.
    Above,
    /// The file is not one of the exercise's versions; why, in words.
    Other(String),
}

impl Placement {
    /// By the source, and not against what the runs showed.
    pub(super) fn of(source: &str, measured: &Measured) -> Self {
        let placement = match syn::parse_file(source) {
            Ok(file) => by_source(&file),
            Err(error) => Self::Other(format!("the source cannot be followed: {error}")),
        };
        let ordered = placement == Self::InPlace;
        match &placement {
            Self::Other(_) => placement,
            _ if ordered && !measured.clean() => {
                Self::Other("the barrier is in its place, but the checker finds something else".into())
            }
            _ if ordered && !measured.failed().is_empty() => {
                Self::Other("the barrier is in its place, but the kernel computes something else".into())
            }
            _ if !ordered && measured.clean() => Self::Other(
                "the write and the read are not ordered by a block barrier, yet the checker finds no race"
                    .into(),
            ),
            _ => placement,
        }
    }

    /// In a few words.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::InPlace => "between the write and the read",
            Self::Missing => "missing",
            Self::Below => "below the read",
            Self::Above => "above the write",
            Self::Other(why) => why,
        }
    }
}

fn by_source(file: &File) -> Placement {
    let other = |why: &str| Placement::Other(why.into());
    let kernel = file.items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == KERNEL => Some(function),
        _ => None,
    });
    let Some(kernel) = kernel else {
        return Placement::Other(format!("there is no function {KERNEL}"));
    };
    let order = Order::of(kernel);
    let at = |wanted: fn(&Step) -> bool| {
        order
            .steps
            .iter()
            .enumerate()
            .filter(move |(_, step)| wanted(step))
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    let (writes, reads) = (at(|step| *step == Step::Write), at(|step| *step == Step::Read));
    let barriers = at(|step| matches!(step, Step::Barrier { .. }));
    let (&[first_write, ..], &[.., last_read]) = (&writes[..], &reads[..]) else {
        return other("the kernel no longer writes and reads the tile");
    };
    let (last_write, first_read) = (writes[writes.len() - 1], reads[0]);
    match barriers[..] {
        [] => Placement::Missing,
        [barrier] if order.steps[barrier] == (Step::Barrier { conditional: true }) => {
            other("the barrier stands inside an `if` or a loop; not every thread of the block may come to it")
        }
        [barrier] if last_write < barrier && barrier < first_read => Placement::InPlace,
        [barrier] if barrier > last_read => Placement::Below,
        [barrier] if barrier < first_write => Placement::Above,
        [_] => other("the tile is written or read on both sides of the barrier"),
        _ => other("there is more than one barrier; this exercise is about one"),
    }
}

/// What the kernel does to the tile, in the order of the source.
#[derive(Default)]
struct Order {
    tiles: BTreeSet<String>,
    steps: Vec<Step>,
    nested: usize,
}

#[derive(Debug, PartialEq)]
enum Step {
    Write,
    Read,
    Barrier { conditional: bool },
}

impl Order {
    fn of(kernel: &ItemFn) -> Self {
        let mut order = Self::default();
        order.visit_block(&kernel.block);
        order
    }

    fn is_cell(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Index(index) => match &*index.expr {
                Expr::Path(path) => {
                    path.path.get_ident().is_some_and(|name| self.tiles.contains(&name.to_string()))
                }
                _ => false,
            },
            Expr::Paren(inner) => self.is_cell(&inner.expr),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Order {
    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        if item.attrs.iter().any(|attribute| attribute.path().is_ident("address_space")) {
            self.tiles.insert(item.ident.to_string());
        }
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        let nests = matches!(
            expr,
            Expr::If(_)
                | Expr::Match(_)
                | Expr::Loop(_)
                | Expr::While(_)
                | Expr::ForLoop(_)
                | Expr::Closure(_)
        );
        self.nested += usize::from(nests);
        visit::visit_expr(self, expr);
        self.nested -= usize::from(nests);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        if self.is_cell(&call.receiver) {
            self.steps.extend(match call.method.to_string().as_str() {
                "write" => Some(Step::Write),
                "assume_init" | "assume_init_read" => Some(Step::Read),
                _ => None,
            });
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        visit::visit_expr_call(self, call);
        if let Expr::Path(path) = &*call.func
            && path.path.segments.last().is_some_and(|last| last.ident == "sync_threads")
        {
            self.steps.push(Step::Barrier { conditional: self.nested > 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::texts::START;
    use super::*;

    const BARRIER: &str = "    thread::sync_threads();\n";

    #[track_caller]
    fn says(source: &str, expected: &str) {
        assert_eq!(by_source(&syn::parse_file(source).expect("it parses")).words(), expected, "{source}");
    }

    fn without() -> String {
        START.replace(BARRIER, "")
    }

    #[test]
    fn every_version_of_the_exercise_is_recognised() {
        says(START, "between the write and the read");
        says(&without(), "missing");
        says(&START.replace("    thread::sync_threads();", "    // thread::sync_threads();"), "missing");
        let end = without().trim_end().trim_end_matches('}').to_owned();
        says(&format!("{end}{BARRIER}}}"), "below the read");
        says(&without().replace("    let x =", &format!("{BARRIER}    let x =")), "above the write");
    }

    #[test]
    fn anything_else_is_said_in_words() {
        let inside = without().replace("    if i < n {\n", &format!("    if i < n {{\n{BARRIER}"));
        says(
            &inside,
            "the barrier stands inside an `if` or a loop; not every thread of the block may come to it",
        );
        let twice = START.replace(BARRIER, &BARRIER.repeat(2));
        says(&twice, "there is more than one barrier; this exercise is about one");
        says(&START.replace(".assume_init()", ".other()"), "the kernel no longer writes and reads the tile");
        says(&START.replace("fn reverse_tile_synced", "fn mine"), "there is no function reverse_tile_synced");
    }

    #[test]
    fn the_start_is_the_kernel_of_the_lesson() {
        use quote::ToTokens;
        let body = |source: &str| {
            let file = syn::parse_file(source).expect("it parses");
            let kernel = file.items.iter().find_map(|item| match item {
                Item::Fn(function) => Some(function.to_token_stream().to_string()),
                _ => None,
            });
            kernel.expect("it has a kernel")
        };
        let lesson = include_str!("../../../kernels-gpu/src/lesson/reverse_tile_synced.rs");
        assert_eq!(body(START), body(lesson));
    }
}
