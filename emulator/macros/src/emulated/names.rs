//! The names that `#[kernel]` knows. `cargo xtask check` compiles this file too: what it refuses follows from them.

/// What the names of all barriers of the block begin with.
pub(crate) const BLOCK_BARRIERS: &str = "sync_threads";

/// The barrier of the warp.
pub(crate) const WARP_BARRIER: &str = "sync_warp";

/// What the names of the functions begin with that say which thread this is, and of how many.
pub(crate) const POSITIONS: [&str; 6] =
    ["thread_idx", "block_idx", "block_dim", "grid_dim", "index", "lane_id"];

/// Whether a method has the name of one of slots, pointers, slices, numbers or ranges, none of which waits.
pub(crate) fn harmless_method(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "write",
        "read",
        "assume_init",
        "assume_init_read",
        "add",
        "sub",
        "offset",
        "len",
        "get",
        "get_unchecked",
        "min",
        "max",
        "clamp",
        "abs",
        "sqrt",
        "pow",
        "powi",
        "powf",
        "mul_add",
        "iter",
        "enumerate",
        "step_by",
        "rev",
        "zip",
        "take",
        "skip",
        "contains",
        "count_ones",
        "count_zeros",
        "leading_zeros",
        "trailing_zeros",
        "ilog2",
        "div_ceil",
        "div_euclid",
        "rem_euclid",
        "abs_diff",
        "cast_mut",
        "cast_const",
        "unwrap",
        "unwrap_or",
        "rotate_left",
        "rotate_right",
        "next_power_of_two",
        "copied",
        "cloned",
    ];
    const PREFIXES: &[&str] =
        &["wrapping_", "saturating_", "checked_", "overflowing_", "is_", "to_", "from_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
