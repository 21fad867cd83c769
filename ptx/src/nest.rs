//! Loops in each other, and the order of blocks that follows from them.

use std::collections::HashSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;

/// A loop: blocks that lead to each other.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Where it is entered; of several such blocks the first in the text.
    pub head: usize,
    /// It is entered at other blocks too.
    pub irreducible: bool,
    /// All blocks, those of inner loops among them, in the order of the text.
    pub blocks: Vec<usize>,
    /// The loop around it, by its place in the list of loops.
    pub parent: Option<usize>,
}

/// The loops of a graph and the ranks of its blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nest {
    /// Outer loops before the inner.
    pub(crate) loops: Vec<Loop>,
    /// By block.
    pub(crate) loop_of: Vec<Option<usize>>,
    /// By block.
    pub(crate) rank: Vec<u32>,
    /// By loop: behind the ranks of all its blocks.
    end: Vec<u32>,
}

/// What is left to be put in order.
enum Work {
    /// These blocks, in this loop, without the edges to its head.
    Blocks(Vec<usize>, Option<usize>),
    /// The strongly connected part of the blocks of this loop.
    Part(Vec<usize>, Option<usize>),
    /// All blocks of this loop are in order.
    End(usize),
}

impl Nest {
    /// Of a graph whose blocks have the numbers 0 to its size; it starts at 0.
    pub(crate) fn new(flow: &DiGraphMap<usize, ()>) -> Self {
        let count = flow.node_count();
        let mut this = Self { loop_of: vec![None; count], rank: vec![0; count], ..Self::default() };
        let mut heads = HashSet::new();
        let mut next = 0;
        let mut work = vec![Work::Blocks((0..count).collect(), None)];
        while let Some(item) = work.pop() {
            match item {
                Work::Blocks(blocks, parent) => {
                    // The last is what nothing leads to; popped from the stack it comes first.
                    let parts = parts(flow, &blocks, &heads);
                    work.extend(parts.into_iter().map(|blocks| Work::Part(blocks, parent)));
                }
                Work::Part(blocks, parent) => {
                    let single = blocks.len() == 1 && !flow.contains_edge(blocks[0], blocks[0]);
                    if single || heads.contains(&blocks[0]) {
                        this.loop_of[blocks[0]] = parent;
                        this.rank[blocks[0]] = next;
                        next += 1;
                        continue;
                    }
                    let index = this.loops.len();
                    let found = found(flow, blocks.clone(), parent);
                    heads.insert(found.head);
                    this.loops.push(found);
                    this.end.push(0);
                    work.push(Work::End(index));
                    work.push(Work::Blocks(blocks, Some(index)));
                }
                Work::End(index) => {
                    this.end[index] = next;
                    next += 1;
                }
            }
        }
        this
    }

    /// The rank of a lane that went from one block to another.
    pub(crate) fn edge_rank(&self, from: usize, to: usize) -> u32 {
        let mut around = self.loop_of[from];
        while let Some(index) = around {
            if self.loops[index].head == to {
                return self.end[index];
            }
            around = self.loops[index].parent;
        }
        self.rank[to]
    }
}

/// The strongly connected parts of these blocks, each before those that lead to it. Edges to `heads` are left out.
fn parts(flow: &DiGraphMap<usize, ()>, blocks: &[usize], heads: &HashSet<usize>) -> Vec<Vec<usize>> {
    let among: HashSet<_> = blocks.iter().copied().collect();
    let mut inner = DiGraphMap::<usize, ()>::with_capacity(blocks.len(), blocks.len());
    for &block in blocks {
        inner.add_node(block);
        for next in flow.neighbors(block).filter(|next| among.contains(next) && !heads.contains(next)) {
            inner.add_edge(block, next, ());
        }
    }
    kosaraju_scc(&inner)
}

/// The loop of these blocks.
fn found(flow: &DiGraphMap<usize, ()>, mut blocks: Vec<usize>, parent: Option<usize>) -> Loop {
    blocks.sort_unstable();
    let among: HashSet<_> = blocks.iter().copied().collect();
    let from_outside = |&block: &usize| {
        let mut before = flow.neighbors_directed(block, petgraph::Direction::Incoming);
        block == 0 || before.any(|before| !among.contains(&before))
    };
    let mut entries = blocks.iter().copied().filter(from_outside);
    // A loop that nothing leads to has no entry.
    let head = entries.next().unwrap_or(blocks[0]);
    let irreducible = entries.next().is_some();
    Loop { head, irreducible, blocks, parent }
}
