//! The control flow of a function body.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use petgraph::algo::dominators::simple_fast;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use petgraph::visit::{Dfs, IntoNeighbors, NodeCount, Reversed, VisitMap, Visitable};

use crate::ast::{Body, Instruction, Operand};
use crate::nest::{Loop, Nest};

/// Basic blocks, how they follow each other, and what is known from that.
///
/// Blocks are numbered in the order of the text; the first is where the function starts. `ret`, `exit`, `trap`, calls
/// of functions that are declared `.noreturn`, and the end of the body lead to one virtual exit. A loop that nothing
/// leads out of is taken to lead there from its head.
///
/// What fails, by `trap` or by a call that never returns, ends the launch and so says nothing of where lanes meet that go
/// on: post-dominators and control dependences are those of the ways that do not fail, unless all do.
#[derive(Clone, Debug)]
pub struct Graph {
    blocks: Vec<Block>,
    dominators: Vec<Option<usize>>,
    post_dominators: Vec<Option<usize>>,
    controls: Vec<Vec<usize>>,
    nest: Nest,
}

/// Instructions that run one after the other: none but the last jumps, and none but the first is jumped to.
#[derive(Clone, Debug)]
pub struct Block {
    /// The instructions, by their place in [`Body::instructions`].
    pub instructions: Range<usize>,
    /// What may run next.
    pub successors: Vec<Edge>,
    /// The blocks that this one may run after, each once.
    pub predecessors: Vec<usize>,
    /// The function may end behind it.
    pub leaves: bool,
    /// It ends in `trap` or in a call that never returns, and so does the launch.
    fails: bool,
}

/// A way from a block to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block that it leads to.
    pub to: usize,
    /// What leads there.
    pub reason: Reason,
    /// Where a lane stands that took it, among the ranks of blocks: see [`Graph::rank`].
    pub rank: u32,
}

/// Why a block follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the next in the text.
    Fallthrough,
    /// `bra`.
    Branch,
    /// `brx.idx` with this place in the table.
    Table(usize),
}

impl Block {
    /// Can its end be followed by more than one thing, the end of the function among them?
    #[must_use]
    pub fn is_branch(&self) -> bool {
        self.successors.len() + usize::from(self.leaves) > 1
    }
}

/// Where control goes behind an instruction that ends a block.
#[derive(Default)]
struct End {
    jumps: Vec<(usize, Reason)>,
    falls: bool,
    leaves: bool,
    fails: bool,
}

impl End {
    /// `None` if the next instruction follows whatever happens.
    fn of(body: &Body, index: usize, instruction: &Instruction) -> Option<Self> {
        let falls = instruction.guard.is_some();
        let target = |operand: &Operand| match operand {
            Operand::Label(label) => body.labels.get(label.0 as usize).map(|&(_, at)| at),
            _ => None,
        };
        Some(match (&*instruction.opcode, instruction.operands.last()) {
            ("bra", Some(label)) => Self {
                jumps: target(label).map(|at| (at, Reason::Branch)).into_iter().collect(),
                falls,
                ..Self::default()
            },
            ("brx", Some(Operand::Table(name))) => {
                let table =
                    body.tables.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, table)| table);
                let jumps = table.iter().enumerate();
                let jumps = jumps.filter_map(|(place, label)| Some((target(label)?, Reason::Table(place))));
                Self { jumps: jumps.collect(), falls, ..Self::default() }
            }
            ("trap", _) => Self { falls, leaves: true, fails: !falls, ..Self::default() },
            ("ret" | "exit", _) => Self { falls, leaves: true, ..Self::default() },
            ("call", _) if body.never_returning.binary_search(&index).is_ok() => {
                Self { falls, leaves: true, fails: !falls, ..Self::default() }
            }
            _ => return None,
        })
    }
}

/// The ends of blocks by instruction, and the first instruction of each block.
fn bounds(body: &Body) -> (HashMap<usize, End>, Vec<usize>) {
    let count = body.instructions.len();
    let ends = body.instructions.iter().enumerate();
    let ends: HashMap<usize, End> =
        ends.filter_map(|(at, instruction)| Some((at, End::of(body, at, instruction)?))).collect();
    let mut starts = BTreeSet::from([0]);
    for (&at, end) in &ends {
        starts.insert(at + 1);
        starts.extend(end.jumps.iter().map(|&(target, _)| target));
    }
    let starts = starts.into_iter().filter(|&start| start < count.max(1)).collect();
    (ends, starts)
}

/// The instructions of each block, in the order of the text.
pub(crate) fn ranges(body: &Body) -> Vec<Range<usize>> {
    let (_, starts) = bounds(body);
    let stops = starts[1..].iter().copied().chain([body.instructions.len()]);
    starts.iter().copied().zip(stops).map(|(start, stop)| start..stop).collect()
}

/// The blocks, in the order of the text.
fn blocks(body: &Body) -> Vec<Block> {
    let count = body.instructions.len();
    let (ends, starts) = bounds(body);
    let stops = starts[1..].iter().copied().chain([count]);
    let mut blocks = Vec::with_capacity(starts.len());
    for (&start, stop) in starts.iter().zip(stops) {
        let on = End { falls: true, ..End::default() };
        let end = stop.checked_sub(1).and_then(|last| ends.get(&last)).unwrap_or(&on);
        let next = end.falls.then_some((stop, Reason::Fallthrough));
        let ways: Vec<_> = end.jumps.iter().copied().chain(next).collect();
        // A label behind the last instruction is the end of the function.
        let leaves = end.leaves || ways.iter().any(|&(at, _)| at >= count);
        let inside = ways.into_iter().filter_map(|(at, reason)| {
            let to = starts.binary_search(&at).ok()?;
            Some(Edge { to, reason, rank: 0 })
        });
        let successors = inside.collect();
        let predecessors = Vec::new();
        blocks.push(Block { instructions: start..stop, successors, predecessors, leaves, fails: end.fails });
    }
    for index in 0..blocks.len() {
        for edge in blocks[index].successors.clone() {
            let predecessors = &mut blocks[edge.to].predecessors;
            if predecessors.last() != Some(&index) {
                predecessors.push(index);
            }
        }
    }
    blocks
}

impl Graph {
    /// The control flow of this body.
    #[must_use]
    pub fn new(body: &Body) -> Self {
        Self::of(blocks(body))
    }

    fn of(mut blocks: Vec<Block>) -> Self {
        let exit = blocks.len();
        let mut flow = DiGraphMap::<usize, ()>::new();
        for (index, block) in blocks.iter().enumerate() {
            flow.add_node(index);
            for edge in &block.successors {
                flow.add_edge(index, edge.to, ());
            }
        }
        let reached = reached(&flow, 0);
        // What nothing leads to is not run, and says nothing of the others.
        for index in (0..exit).filter(|&index| !reached[index]) {
            for edge in &blocks[index].successors {
                flow.remove_edge(index, edge.to);
            }
        }
        let nest = Nest::new(&flow);
        for (index, block) in blocks.iter_mut().enumerate() {
            for edge in &mut block.successors {
                edge.rank = nest.edge_rank(index, edge.to);
            }
        }
        let dominators = simple_fast(&flow, 0);
        let dominators = (0..exit).map(|block| dominators.immediate_dominator(block)).collect();

        flow.add_node(exit);
        let leaving = |failing: bool| {
            let blocks = blocks.iter().enumerate();
            blocks.filter(move |(_, block)| block.leaves && block.fails == failing).map(|(index, _)| index)
        };
        for index in leaving(false) {
            flow.add_edge(index, exit, ());
        }
        for head in endless(&flow, exit, &nest).into_iter().filter(|&head| !blocks[head].fails) {
            flow.add_edge(head, exit, ());
        }
        // Where it always fails, that is how it ends.
        let fails_always = !self::reached(Reversed(&flow), exit)[0];
        for index in leaving(true).filter(|_| fails_always) {
            flow.add_edge(index, exit, ());
        }
        let post_dominators = simple_fast(Reversed(&flow), exit);
        let post_dominators: Vec<_> = (0..exit)
            .map(|block| post_dominators.immediate_dominator(block).filter(|&block| block != exit))
            .collect();
        let mut controls = vec![Vec::new(); exit];
        for branch in (0..exit).filter(|&index| reached[index] && blocks[index].is_branch()) {
            for edge in &blocks[branch].successors {
                let end = post_dominators[branch];
                for block in chain(&post_dominators, edge.to).take_while(|&block| Some(block) != end) {
                    let known: &mut Vec<usize> = &mut controls[block];
                    if known.last() != Some(&branch) {
                        known.push(branch);
                    }
                }
            }
        }
        Self { blocks, dominators, post_dominators, controls, nest }
    }

    /// The blocks, in the order of the text.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block that an instruction stands in.
    #[must_use]
    pub fn block_of(&self, instruction: usize) -> usize {
        self.blocks.partition_point(|block| block.instructions.start <= instruction).saturating_sub(1)
    }

    /// The nearest block that every way to this one goes through; `None` for the first, and for one that no way
    /// leads to.
    #[must_use]
    pub fn dominator(&self, block: usize) -> Option<usize> {
        self.dominators[block]
    }

    /// The nearest block that every way from this one to the exit goes through; `None` if that is the exit.
    #[must_use]
    pub fn post_dominator(&self, block: usize) -> Option<usize> {
        self.post_dominators[block]
    }

    /// Does every way to `block` go through `other`? A block dominates itself.
    #[must_use]
    pub fn dominates(&self, other: usize, block: usize) -> bool {
        chain(&self.dominators, block).any(|known| known == other)
    }

    /// Does every way from `block` to the exit go through `other`? A block post-dominates itself.
    #[must_use]
    pub fn post_dominates(&self, other: usize, block: usize) -> bool {
        chain(&self.post_dominators, block).any(|known| known == other)
    }

    /// The loops, outer ones before the inner.
    #[must_use]
    pub fn loops(&self) -> &[Loop] {
        &self.nest.loops
    }

    /// The innermost loop that a block is in, by its place in [`Self::loops`].
    #[must_use]
    pub fn loop_of(&self, block: usize) -> Option<usize> {
        self.nest.loop_of[block]
    }

    /// The place of a block in an order in which lanes that went apart meet again if the lowest runs first.
    ///
    /// A block comes behind its predecessors, and the blocks of a loop are contiguous, so what follows a loop comes
    /// behind all of it. A lane that takes an edge stands at the rank of that edge. It is that of the block it leads to,
    /// but where the edge leads back to the head of a loop it is a rank behind the loop's blocks: there it waits for the
    /// lanes that are still in this trip, and only when no other has a lower rank does it begin the next.
    ///
    /// So the lanes of a branch meet at its immediate post-dominator, if they reach it in the same trip of each loop that
    /// it is in (and no irreducible loop is in between).
    ///
    /// Source: Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993 (weak topological order).
    #[must_use]
    pub fn rank(&self, block: usize) -> u32 {
        self.nest.rank[block]
    }

    /// The blocks whose branch decides whether this one runs (Ferrante, Ottenstein, Warren 1987: control dependence), in
    /// the order of the text.
    #[must_use]
    pub fn controls(&self, block: usize) -> &[usize] {
        &self.controls[block]
    }

    /// [`Self::controls`], those of these, and so on; in the order of the text.
    #[must_use]
    pub fn all_controls(&self, block: usize) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            open.extend(self.controls[block].iter().filter(|&&control| found.insert(control)));
        }
        found.into_iter().collect()
    }
}

/// The block and its dominators, nearest first.
fn chain(dominators: &[Option<usize>], block: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(block), |&block| dominators[block])
}

/// By block, whether a way leads to it from this one.
fn reached<G>(flow: G, from: usize) -> Vec<bool>
where
    G: IntoNeighbors<NodeId = usize> + Visitable<Map: VisitMap<usize>> + NodeCount,
{
    let mut reached = vec![false; flow.node_count()];
    let mut search = Dfs::new(flow, from);
    while let Some(block) = search.next(flow) {
        reached[block] = true;
    }
    reached
}

/// The heads of loops without a way to the exit: one for each that nothing leads out of.
fn endless(flow: &DiGraphMap<usize, ()>, exit: usize, nest: &Nest) -> Vec<usize> {
    let ends = reached(Reversed(flow), exit);
    let components = kosaraju_scc(flow).into_iter().filter(|blocks| !ends[blocks[0]]);
    let closed = components.filter(|blocks| {
        blocks.iter().all(|&block| flow.neighbors(block).all(|next| blocks.contains(&next)))
    });
    closed.filter_map(|blocks| blocks.into_iter().min_by_key(|&block| nest.rank[block])).collect()
}

#[cfg(test)]
mod tests;
