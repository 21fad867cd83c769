//! Which expressions can lead to a barrier.

use syn::visit::Visit;
use syn::{Expr, ExprCall, ExprMethodCall, Path};

use super::names::{BLOCK_BARRIERS, POSITIONS, WARP_BARRIER, harmless_method};

/// Could a barrier be waited at inside this expression or block? Everything that is called and not
/// known to be harmless counts: a mark too many only costs time.
pub(super) fn may_wait(visit: impl FnOnce(&mut MayWait)) -> bool {
    let mut search = MayWait { calls: false, barriers: false };
    visit(&mut search);
    search.calls || search.barriers
}

/// Is something called that is neither harmless nor a barrier itself: a helper, which may hold one?
pub(super) fn calls_helper(visit: impl FnOnce(&mut MayWait)) -> bool {
    let mut search = MayWait { calls: false, barriers: false };
    visit(&mut search);
    search.calls
}

/// Is this function a barrier?
pub(super) fn is_barrier(function: &Expr) -> bool {
    matches!(function, Expr::Path(path) if matches!(what(&path.path), Callee::Barrier))
}

pub(super) struct MayWait {
    calls: bool,
    barriers: bool,
}

impl<'ast> Visit<'ast> for MayWait {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        match &*call.func {
            Expr::Path(path) => match what(&path.path) {
                Callee::Barrier => self.barriers = true,
                Callee::Harmless => {}
                Callee::Helper => self.calls = true,
            },
            _ => self.calls = true,
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.calls |= !harmless_method(&call.method.to_string());
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

enum Callee {
    Barrier,
    Harmless,
    Helper,
}

fn what(path: &Path) -> Callee {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let name = names.next().unwrap_or_default();
    let parent = names.next().unwrap_or_default();
    if name.starts_with(BLOCK_BARRIERS) || name == WARP_BARRIER {
        return Callee::Barrier;
    }
    let constructs = |name: &str| name.starts_with(char::is_uppercase);
    let primitive = matches!(
        parent.as_str(),
        "f32"
            | "f64"
            | "bool"
            | "char"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
    );
    let of_thread = matches!(parent.as_str(), "thread" | "warp" | "");
    let harmless_type = matches!(parent.as_str(), "MaybeUninit" | "Option" | "Result" | "Some");
    if constructs(&name)
        || harmless_type
        || primitive
        || (of_thread && POSITIONS.iter().any(|prefix| name.starts_with(prefix)))
    {
        Callee::Harmless
    } else {
        Callee::Helper
    }
}
