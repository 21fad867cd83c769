//! The table of the exhibits, in teaching order.
//!
//! The verdicts were written down from CUDA's rules, before any of the kernels was run.

use cuda_std::emulator::Kind::{Raw, War, Waw};
use cuda_std::emulator::Level::{Error, Info, Warning};
use cuda_std::emulator::Policy;
use kernels::exhibits::*;
use kernels::lesson::*;

use super::expected::{CLEAN, DIVERGENT, Expected, LOST, UNINITIALISED, race};
use super::{Blocks, Call, Exhibit, Kernel, Page, Shape, reference};

macro_rules! page {
    ($path:literal) => {
        Page {
            path: concat!("kernels-gpu/src/", $path),
            text: include_str!(concat!("../../../kernels-gpu/src/", $path)),
        }
    };
}

macro_rules! kernel {
    ($name:ident) => {
        Kernel { name: stringify!($name), function: $name }
    };
}

/// The sizes to show where only one warp or more makes a difference.
const SIZES: Blocks = Blocks::WholeWarps(&[32, 64, 128, 256]);

/// What most exhibits share; each says where it differs.
const USUAL: Exhibit = Exhibit {
    name: "",
    proves: "",
    question: "",
    page: Page { path: "", text: "" },
    marks: ["unsafe { TILE[tid].write(", "unsafe { *out.add(i) = TILE["],
    call: Call::Grid(&[]),
    shape: Shape::Whole,
    blocks: SIZES,
    one_warp: CLEAN,
    more_warps: CLEAN,
    reference: Some(reference::reversed),
    in_ptx: None,
    policy: Policy::Lockstep,
    terminates: true,
};

/// The usual one, with a verdict that does not depend on the block size.
const fn always(verdict: Expected) -> Exhibit {
    Exhibit { one_warp: verdict, more_warps: verdict, ..USUAL }
}

/// The usual one, with a race between the threads of a block: a warning within a warp, else an error.
const fn racy(kind: cuda_std::emulator::Kind) -> Exhibit {
    Exhibit { one_warp: race(kind, Warning), more_warps: race(kind, Error), ..USUAL }
}

/// The usual one, with a barrier that is undefined: nobody knows whether a launch ends.
const fn divergent() -> Exhibit {
    Exhibit { terminates: false, ..always(DIVERGENT) }
}

/// Every exhibit.
pub static EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "block-32-hides-it",
        proves: "A right answer proves nothing: one warp hides the race, and it is a race all the same.",
        question: "One warp, no barrier, and the answer comes out right. Is the kernel right?",
        page: page!("lesson/reverse_tile_racy.rs"),
        call: Call::Tile(kernel!(reverse_tile_racy)),
        shape: Shape::Partial,
        blocks: Blocks::Only(&[32]),
        ..racy(Raw)
    },
    Exhibit {
        name: "needs-a-barrier",
        proves: "Without a barrier nothing puts one warp's write before another warp's read.",
        question: "The same kernel with more warps a block: who sees to it that a cell is written before it is read?",
        page: page!("lesson/reverse_tile_racy.rs"),
        call: Call::Tile(kernel!(reverse_tile_racy)),
        shape: Shape::Partial,
        blocks: Blocks::WholeWarps(&[64, 128, 256]),
        ..racy(Raw)
    },
    Exhibit {
        name: "barrier-below-the-read",
        proves: "A kernel does not have a barrier: a barrier stands between two accesses, or it is of no use to them.",
        question: "Now there is a barrier. Which two accesses does it put in order?",
        page: page!("exhibits/barrier_below_the_read.rs"),
        marks: ["unsafe { TILE[tid].write(", "let y = unsafe { TILE["],
        call: Call::Tile(kernel!(barrier_below_the_read)),
        ..racy(Raw)
    },
    Exhibit {
        name: "barrier-in-the-right-place",
        proves: "Between the write and the read, one barrier is all it takes, at every block size.",
        question: "One line has moved. At which block sizes can the answer still be wrong?",
        page: page!("lesson/reverse_tile_synced.rs"),
        call: Call::Tile(kernel!(reverse_tile_synced)),
        shape: Shape::Partial,
        ..always(CLEAN)
    },
    Exhibit {
        name: "early-return",
        proves: "The barrier waits for the threads that have not exited, so a return above it does not hang.",
        question: "Most threads of the block return and never come to the barrier. Do the others wait for ever?",
        page: page!("lesson/reverse_tile_prefix.rs"),
        marks: ["if tid >= keep {", "thread::sync_threads();"],
        call: Call::Prefix(kernel!(reverse_tile_prefix)),
        shape: Shape::Partial,
        reference: Some(reference::prefixes),
        ..always(CLEAN)
    },
    Exhibit {
        name: "exited-writer",
        proves: "A thread that has exited takes no part in the barrier: nothing orders what it wrote.",
        question: "The threads that return have written first, and the barrier is there. Are their writes before the reads?",
        page: page!("exhibits/exited_writer.rs"),
        call: Call::Tile(kernel!(exited_writer)),
        reference: Some(reference::lower_halves),
        ..racy(Raw)
    },
    Exhibit {
        name: "loop-one-barrier",
        proves: "One barrier in a loop leaves this trip's read and the next trip's write of a cell without an order.",
        question: "A barrier between the write and the read, in every trip. What is missing?",
        page: page!("exhibits/loop_one_barrier.rs"),
        marks: ["unsafe { TILE[tid].write(", "sum += unsafe { TILE["],
        call: Call::Tile(kernel!(loop_one_barrier)),
        shape: Shape::Trips,
        reference: Some(reference::summed),
        ..racy(War)
    },
    Exhibit {
        name: "loop-two-barriers",
        proves: "A tile that is filled again needs a barrier after it is filled and another after it is read.",
        question: "What would the second barrier be for, if every thread read only the cell that it writes?",
        page: page!("exhibits/loop_two_barriers.rs"),
        marks: ["thread::sync_threads(); // the write", "thread::sync_threads(); // the read"],
        call: Call::Tile(kernel!(loop_two_barriers)),
        shape: Shape::Trips,
        reference: Some(reference::summed),
        ..always(CLEAN)
    },
    Exhibit {
        name: "uniform-if",
        proves: "A barrier in an `if` is legal where the condition is the same for every thread of the block.",
        question: "A barrier inside an `if`, and some blocks never come to it. Is that allowed?",
        page: page!("exhibits/uniform_if.rs"),
        marks: ["if thread::block_idx_x()", "thread::sync_threads();"],
        call: Call::Tile(kernel!(uniform_if)),
        reference: Some(reference::every_second),
        ..always(CLEAN)
    },
    Exhibit {
        name: "thread-dependent-if",
        proves: "A barrier that living threads of the block go past is undefined: it may hang, or seem to work.",
        question: "Half of the block goes into the `if`, the rest goes past. How does this differ from an early return?",
        page: page!("exhibits/thread_dependent_if.rs"),
        marks: ["if tid < dim / 2 {", "thread::sync_threads();"],
        call: Call::Tile(kernel!(thread_dependent_if)),
        reference: Some(reference::mirrored),
        // To skip the barrier, write and exit is there to exit above the barrier, which orders nothing.
        in_ptx: Some([race(Raw, Warning), race(Raw, Error)]),
        ..divergent()
    },
    Exhibit {
        name: "barrier-in-both-arms",
        proves: "All threads have to come to the same barrier; two calls are two barriers.",
        question: "Every thread of the block comes to a barrier, whichever arm it takes. Is that enough?",
        page: page!("exhibits/barrier_in_both_arms.rs"),
        marks: ["thread::sync_threads(); // the lower", "thread::sync_threads(); // the upper"],
        call: Call::Tile(kernel!(barrier_in_both_arms)),
        ..divergent()
    },
    Exhibit {
        name: "ragged-loop",
        proves: "A barrier in a loop needs every living thread of the block in every trip.",
        question: "Half of the block leaves the loop one trip early, and lives on. Whom does the last trip wait for?",
        page: page!("exhibits/ragged_loop.rs"),
        marks: ["let trips = if", "for trip in 0..trips {"],
        call: Call::Tile(kernel!(ragged_loop)),
        shape: Shape::Trips,
        reference: None,
        ..divergent()
    },
    Exhibit {
        name: "warp-scope",
        proves: "A warp is not in lockstep: its lanes, too, need an order between a write and a read.",
        question: "Each thread reads what its neighbour in the same warp writes. Does that need a barrier?",
        page: page!("exhibits/warp_scope.rs"),
        call: Call::Tile(kernel!(warp_scope)),
        reference: Some(reference::swapped),
        ..always(race(Raw, Warning))
    },
    Exhibit {
        name: "warp-scope-synced",
        proves: "`sync_warp` is the barrier of one warp, and enough where only its own lanes are concerned.",
        question: "The block has many warps, the barrier is one warp's. Why is that enough here?",
        page: page!("exhibits/warp_scope_synced.rs"),
        marks: ["unsafe { TILE[tid].write(", "unsafe { warp::sync_warp("],
        call: Call::Tile(kernel!(warp_scope_synced)),
        reference: Some(reference::swapped),
        ..always(CLEAN)
    },
    Exhibit {
        name: "two-writers",
        proves: "A barrier does not make two writes to one cell safe: it orders neither before the other.",
        question: "All threads write one cell, then a barrier, then all read it. What do they read?",
        page: page!("exhibits/two_writers.rs"),
        marks: ["unsafe { CELL[0].write(", "unsafe { *out.add(i) = CELL["],
        call: Call::Tile(kernel!(two_writers)),
        reference: None,
        ..always(race(Waw, Error))
    },
    Exhibit {
        name: "same-value-writers",
        proves: "Writers of the same value race as well, but the cell holds that value whoever is last: an info.",
        question: "All threads write the same value to one cell. Is that a race?",
        page: page!("exhibits/same_value_writers.rs"),
        marks: ["unsafe { CELL[0].write(", "unsafe { *out.add(i) = CELL["],
        call: Call::Tile(kernel!(same_value_writers)),
        reference: Some(reference::first_of_tile),
        ..always(race(Waw, Info))
    },
    Exhibit {
        name: "uninitialised-slot",
        proves: "A barrier says nothing of what shared memory holds at the start, and that is nothing in particular.",
        question: "The barrier is in the right place. What does a thread read from a cell that nobody has written?",
        page: page!("exhibits/uninitialised_slot.rs"),
        call: Call::Tile(kernel!(uninitialised_slot)),
        reference: None,
        ..always(UNINITIALISED)
    },
    Exhibit {
        name: "write-to-a-copy",
        proves: "`unsafe { TILE[tid] }.write(x)` writes to a copy: the tile stays as it was.",
        question: "Look at the braces. What does the marked write change?",
        page: page!("exhibits/write_to_a_copy.rs"),
        marks: ["unsafe { TILE[tid] }.write(", "unsafe { *out.add(i) = TILE["],
        call: Call::Tile(kernel!(write_to_a_copy)),
        // A write to a copy is no access to memory.
        in_ptx: Some([UNINITIALISED; 2]),
        ..always(LOST)
    },
    Exhibit {
        name: "two-blocks",
        proves: "A block barrier orders nothing across the grid.",
        question: "Every block has its barrier between the write and the read. May one block read what another wrote?",
        page: page!("exhibits/two_blocks.rs"),
        marks: ["unsafe { *cells.add(i) = x };", "unsafe { *out.add(i) = *cells"],
        call: Call::Grid(&[kernel!(two_blocks)]),
        reference: Some(reference::all_reversed),
        ..always(race(Raw, Error))
    },
    Exhibit {
        name: "two-launches",
        proves: "What one launch wrote, every block of the next may read: the end of a launch orders the grid.",
        question: "No barrier at all. Why may a block now read what another wrote?",
        page: page!("exhibits/two_launches.rs"),
        marks: ["unsafe { *cells.add(i) = x };", "unsafe { *out.add(i) = *cells"],
        call: Call::Grid(&[kernel!(first_launch), kernel!(second_launch)]),
        reference: Some(reference::all_reversed),
        ..always(CLEAN)
    },
    Exhibit {
        name: "guard-by-return",
        proves: "Guard the loads and the stores, not the barrier: who returns early leaves cells unwritten.",
        question: "The threads behind the end of the input return, and that is legal. Who reads their cells?",
        page: page!("exhibits/guard_by_return.rs"),
        marks: ["if i >= input.len() {", "unsafe { *out.add(i) = TILE["],
        call: Call::Tile(kernel!(guard_by_return)),
        shape: Shape::Partial,
        ..always(UNINITIALISED)
    },
    Exhibit {
        name: "compiler-split-barrier",
        proves: "The source is right, and a compiler may still make two barriers of its one: `cargo xtask ptx --jump-threading` shows it.",
        question: "The same condition above and below the barrier. What could an optimiser do with that?",
        page: page!("exhibits/split_barrier.rs"),
        marks: ["unsafe { TILE[tid].write(if i < n", "if i < n {"],
        call: Call::Tile(kernel!(reverse_tile_textbook)),
        shape: Shape::Partial,
        // The source is judged here. What a card runs is the PTX of some compiler, which may have two
        // barriers: by the rules such a launch need not end.
        terminates: false,
        ..always(CLEAN)
    },
    Exhibit {
        name: "odd-warp",
        proves: "Of three warps the middle one reads what it wrote itself: right by luck, in a kernel that is not.",
        question: "Three warps, no barrier. Which warp's elements come out right?",
        page: page!("lesson/reverse_tile_racy.rs"),
        call: Call::Tile(kernel!(reverse_tile_racy)),
        blocks: Blocks::Only(&[96]),
        ..racy(Raw)
    },
    Exhibit {
        name: "partial-block",
        proves: "One warp hides the race only while its lanes go one way: a branch that splits them brings it out.",
        question: "Again one warp and no barrier, but the guard is a branch. Will the answer be right this time?",
        page: page!("exhibits/partial_block.rs"),
        marks: ["unsafe { TILE[tid].write(*input", "unsafe { *out.add(i) = TILE["],
        call: Call::Tile(kernel!(partial_block)),
        shape: Shape::Partial,
        // Lanes that run apart, as they may since compute capability 7.0.
        policy: Policy::Independent,
        ..racy(Raw)
    },
    Exhibit {
        name: "in-place-scan",
        proves: "A barrier between the trips does not help within one: read, wait, and only then write.",
        question: "There is a barrier in every trip. Do all threads add cells of the same trip?",
        page: page!("exhibits/in_place_scan.rs"),
        marks: ["let sum = unsafe { TILE[tid]", "unsafe { TILE[tid].write(sum)"],
        call: Call::Tile(kernel!(in_place_scan)),
        reference: Some(reference::running_sums),
        ..racy(War)
    },
    Exhibit {
        name: "tiled-multiply",
        proves: "The second barrier of a loop is missed in earnest: tiles are loaded over what others still add up.",
        question: "The tiles are loaded, and a barrier follows. May a warp load the next ones when it is done?",
        page: page!("exhibits/tiled_multiply.rs"),
        marks: ["unsafe { B[ty][tx].write(", "sum += unsafe {"],
        call: Call::Product(kernel!(tiled_multiply)),
        shape: Shape::Square,
        blocks: Blocks::Only(&[64, 256, 1024]),
        reference: Some(reference::product),
        ..racy(War)
    },
    Exhibit {
        name: "typed-tile",
        proves: "Rust can hold you to the order: with a typed tile the missing barrier does not compile, as docs/why-rust-does-not-stop-this.md shows.",
        question: "Leave out one of the two marked calls. What does the compiler say?",
        page: page!("exhibits/typed_tile.rs"),
        marks: ["let readable = tile.write(", "tile = readable.sync();"],
        call: Call::Tile(kernel!(typed_tile)),
        shape: Shape::Trips,
        reference: Some(reference::summed),
        ..always(CLEAN)
    },
];
