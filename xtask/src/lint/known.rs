//! What the lint knows about names it cannot look into: `cuda_std`, `core`, and the methods of
//! numbers and of memory. A name that is not here is taken to differ between threads.

/// What a function of `cuda_std` or `core` is to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// A block barrier. The variants with a vote give every thread the same answer.
    Barrier,
    /// The same for every thread of a block.
    Uniform,
    /// Differs between the threads of a block.
    Varying,
    /// Computes from its arguments only.
    Pure,
}

const BARRIERS: &[&str] =
    &["sync_threads", "sync_threads_count", "sync_threads_and", "sync_threads_or", "_syncthreads"];

/// `warp_vote_*` and the like are the same for one warp, not for a block: they are not here.
const UNIFORM: &[&str] = &[
    "block_idx",
    "block_idx_x",
    "block_idx_y",
    "block_idx_z",
    "block_dim",
    "block_dim_x",
    "block_dim_y",
    "block_dim_z",
    "grid_dim",
    "grid_dim_x",
    "grid_dim_y",
    "grid_dim_z",
    "warp_size",
    "grid_fence",
    "device_fence",
    "system_fence",
    "nanosleep",
    "sync_warp",
    "_block_idx_x",
    "_block_idx_y",
    "_block_idx_z",
    "_block_dim_x",
    "_block_dim_y",
    "_block_dim_z",
    "_grid_dim_x",
    "_grid_dim_y",
    "_grid_dim_z",
];

/// These are only named so that the report can call them by name; an unknown function is no better.
const VARYING: &[&str] = &[
    "thread_idx",
    "thread_idx_x",
    "thread_idx_y",
    "thread_idx_z",
    "index",
    "index_1d",
    "index_2d",
    "index_3d",
    "first",
    "lane_id",
    "activemask",
    "_thread_idx_x",
    "_thread_idx_y",
    "_thread_idx_z",
];

const PURE: &[&str] = &["min", "max", "size_of", "align_of", "drop", "swap", "replace", "take"];

const PRIMITIVES: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f16", "f32",
    "f64", "bool", "char",
];

/// Whether a name is a primitive type, which holds no pointer.
pub(super) fn is_primitive(name: &str) -> bool {
    PRIMITIVES.contains(&name)
}

/// What calling the function at the end of this path means.
pub(super) fn function(path: &[String]) -> Option<Known> {
    let name = path.last()?.as_str();
    let parent = path.len().checked_sub(2).map(|index| path[index].as_str());
    if BARRIERS.contains(&name) {
        Some(Known::Barrier)
    } else if UNIFORM.contains(&name) {
        Some(Known::Uniform)
    } else if VARYING.contains(&name) {
        Some(Known::Varying)
    } else if parent.is_some_and(is_primitive)
        || PURE.contains(&name)
        || name.starts_with(|first: char| first.is_ascii_uppercase())
    {
        // Functions of a number type, of `core::cmp` and `core::mem`, and constructors: `Some(x)`.
        Some(Known::Pure)
    } else {
        None
    }
}

/// Whether a name is a block barrier.
pub(super) fn is_barrier(name: &str) -> bool {
    BARRIERS.contains(&name)
}

/// Whether a path names one of `cuda_std`'s own modules, whatever functions the crate has.
pub(super) fn is_cuda_std(path: &[String]) -> bool {
    path.len() > 1 && path.iter().any(|part| matches!(part.as_str(), "thread" | "warp" | "cuda_std"))
}

/// How a method looks at what it is called on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The length or the address of memory: no load. The result is a plain value.
    Measure,
    /// Another address, from an address.
    Address,
    /// Reads memory, whatever it is called on.
    Load,
    /// Computes, and leaves what it is called on alone.
    Compute,
    /// Not known: it may change what it is called on.
    Other,
}

/// What calling a method of this name means.
pub(super) fn method(name: &str) -> Method {
    match name {
        "len" | "is_empty" | "is_null" | "offset_from" | "addr" => Method::Measure,
        "as_ptr" | "as_mut_ptr" | "as_slice" | "as_mut_slice" | "as_ref" | "as_mut" | "add" | "sub"
        | "offset" | "cast" | "cast_mut" | "cast_const" | "wrapping_add" | "wrapping_sub"
        | "wrapping_offset" | "byte_add" | "byte_sub" | "iter" | "iter_mut" | "chunks" | "chunks_exact" => {
            Method::Address
        }
        "assume_init" | "assume_init_read" | "assume_init_ref" | "assume_init_mut" | "read"
        | "read_volatile" | "read_unaligned" | "load" => Method::Load,
        "min" | "max" | "clamp" | "abs" | "pow" | "powi" | "sqrt" | "floor" | "ceil" | "clone" | "into"
        | "unwrap" | "rem_euclid" | "div_euclid" | "div_ceil" | "next_multiple_of" | "is_power_of_two"
        | "next_power_of_two" | "ilog2" | "count_ones" | "leading_zeros" | "trailing_zeros" => {
            Method::Compute
        }
        _ if ["wrapping_", "saturating_", "checked_", "overflowing_", "is_"]
            .iter()
            .any(|prefix| name.starts_with(prefix)) =>
        {
            Method::Compute
        }
        _ => Method::Other,
    }
}
