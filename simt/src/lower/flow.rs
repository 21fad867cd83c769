//! Control flow: blocks, the edges between them, loops, and where paths meet again.

use std::ops::Range;

use ptx::{Graph, Label, Module, Operand, Symbol};
use rustc_hash::FxHashMap;

use super::context::Context;
use super::layout::Layout;
use crate::code::{Decided, Edge, Inst, Join, Loop, Op, Pc, Reg};
use crate::error::LoadError;

/// For each function of the layout: does it wait at a barrier of the block, itself or in what it calls?
pub(super) fn synchronising(module: &Module, layout: &Layout) -> Vec<bool> {
    let body = |number: usize| module.functions[layout.functions[number].source].body.as_ref();
    let count = layout.functions.len();
    let is_barrier = |instruction: &ptx::Instruction| {
        matches!(instruction.opcode.as_str(), "bar" | "barrier")
            && !instruction.has("warp")
            && !instruction.has("arrive")
    };
    let mut known: Vec<bool> = (0..count)
        .map(|number| body(number).is_some_and(|body| body.instructions.iter().any(is_barrier)))
        .collect();
    loop {
        let before = known.clone();
        for (number, known) in known.iter_mut().enumerate() {
            let calls = |instruction: &ptx::Instruction| calls_one_of(module, layout, &before, instruction);
            *known |= body(number).is_some_and(|body| body.instructions.iter().any(calls));
        }
        if known == before {
            return known;
        }
    }
}

/// Does this instruction call one of the functions that are marked?
fn calls_one_of(module: &Module, layout: &Layout, marked: &[bool], instruction: &ptx::Instruction) -> bool {
    if instruction.opcode != "call" {
        return false;
    }
    match instruction.operands.get(1) {
        Some(Operand::Symbol(Symbol::Function(number), _)) => {
            layout.function(module, *number as usize).is_some_and(|number| marked[number])
        }
        // Through a register: any function but the kernel.
        _ => marked.iter().skip(1).any(|&marked| marked),
    }
}

/// Where paths that come by a block meet those that a branch has led round it; and whether the function may end without
/// they have met. Who passes such a point without the block, and does more, has gone past it; but who returns in between
/// has not. Of each block, `loops` are those around it.
fn meeting_points(graph: &Graph, loops: &[Vec<usize>], block: usize) -> (Vec<usize>, bool) {
    let controls = graph.all_controls(block);
    if controls.is_empty() {
        return (Vec::new(), false);
    }
    let behind = behind(graph, loops, block);
    let (mut met, mut ends) = (Vec::new(), false);
    let mut seen = vec![false; graph.blocks().len()];
    seen[block] = true;
    let mut open = controls;
    while let Some(at) = open.pop() {
        ends |= graph.blocks()[at].leaves;
        for way in &graph.blocks()[at].successors {
            // What surely leads to the block leads not round it.
            if std::mem::replace(&mut seen[way.to], true) || graph.post_dominates(block, way.to) {
                continue;
            }
            if behind[way.to] {
                met.push(way.to);
            } else {
                open.push(way.to);
            }
        }
    }
    (met, ends)
}

/// Of each block, whether a path leads to it from this one: without another trip of a loop that both are in, or to the
/// head of such a loop.
fn behind(graph: &Graph, loops: &[Vec<usize>], block: usize) -> Vec<bool> {
    let mut behind = vec![false; graph.blocks().len()];
    let around = &loops[block];
    for common in 0..=around.len() {
        // Within the loop at this depth, trips of the loops in it may follow.
        let heads: Vec<usize> = around[..common].iter().map(|&number| graph.loops()[number].head).collect();
        let mut seen = vec![false; behind.len()];
        let mut open = vec![block];
        while let Some(at) = open.pop() {
            for way in &graph.blocks()[at].successors {
                let shared = loops[way.to].iter().zip(around).take_while(|(a, b)| a == b).count();
                if std::mem::replace(&mut seen[way.to], true) || shared < common && common > 0 {
                    continue;
                }
                behind[way.to] |= shared == common;
                if !heads.contains(&way.to) {
                    open.push(way.to);
                }
            }
        }
    }
    behind[block] = false;
    behind
}

/// The control flow of the function that is being lowered.
pub(super) struct Flow {
    graph: Graph,
    /// For each block the loops around it, outermost first.
    loops: Vec<Vec<usize>>,
    /// The number of the first loop in the program.
    first_loop: u32,
    /// Blocks where paths meet behind a branch that decides about barriers: these instructions, with what
    /// [`Decided`] says of them.
    joins: FxHashMap<usize, Vec<(usize, u32, bool)>>,
    /// Of a called function: instructions that it may return without having come to.
    returning: Vec<(usize, u32, bool)>,
    /// Instructions that wait for others, or call what does, under a predicate: they are branch and barrier at once.
    guarded: Vec<usize>,
    starts: Vec<Pc>,
    /// The operation that each instruction ends with.
    pcs: Vec<Pc>,
    /// Jumps whose goal is not known yet.
    jumps: Vec<(Jump, Goal)>,
    /// Code of edges that a jump goes along.
    ways: Vec<(Edge, (usize, usize))>,
    /// Joins, with their block; none: a return.
    joins_emitted: Vec<(u32, Joined)>,
}

/// Where paths meet.
#[derive(Clone, Copy)]
enum Joined {
    /// Where this block begins.
    Block(usize),
    /// Where the function returns.
    Return,
    /// Behind this instruction, which has a predicate.
    Behind(usize),
}

/// What jumps.
#[derive(Clone, Copy)]
enum Jump {
    Branch(Pc),
    Table(u32, usize),
}

/// Where to.
#[derive(Clone, Copy)]
enum Goal {
    Block(usize),
    /// By way of an edge's code.
    Way(usize),
    End,
}

impl Flow {
    pub(super) fn new(cx: &mut Context<'_>, synchronising: &[bool]) -> Self {
        let graph = Graph::new(cx.body);
        let first_loop = cx.program.loops.len() as u32;
        let mut loops = vec![Vec::new(); graph.blocks().len()];
        for (block, around) in loops.iter_mut().enumerate() {
            let parent = |&number: &usize| graph.loops()[number].parent;
            around.extend(std::iter::successors(graph.loop_of(block), parent));
            around.reverse();
        }
        cx.program.loops.extend(graph.loops().iter().map(|_| Loop { head: 0 }));
        let mut joins: FxHashMap<usize, Vec<(usize, u32, bool)>> = FxHashMap::default();
        let (mut returning, mut guarded) = (Vec::new(), Vec::new());
        for (at, instruction) in cx.body.instructions.iter().enumerate() {
            let waits = matches!(instruction.opcode.as_str(), "bar" | "barrier")
                || instruction.has("sync")
                    && matches!(instruction.opcode.as_str(), "shfl" | "vote" | "match" | "redux");
            if !waits && !calls_one_of(cx.module, cx.layout, synchronising, instruction) {
                continue;
            }
            let block = graph.block_of(at);
            if instruction.guard.is_some() {
                guarded.push(at);
            }
            let (met, returns) = meeting_points(&graph, &loops, block);
            for join in met {
                let common = loops[join].iter().filter(|number| loops[block].contains(number)).count();
                let earlier_trips = graph.dominates(join, block);
                joins.entry(join).or_default().push((at, common as u32, earlier_trips));
            }
            if returns && !cx.function.entry {
                returning.push((at, 0, false));
            }
        }
        Self {
            starts: vec![0; graph.blocks().len()],
            pcs: vec![0; cx.body.instructions.len()],
            graph,
            loops,
            first_loop,
            joins,
            returning,
            guarded,
            jumps: Vec::new(),
            ways: Vec::new(),
            joins_emitted: Vec::new(),
        }
    }

    pub(super) fn blocks(&self) -> usize {
        self.graph.blocks().len()
    }

    pub(super) fn instructions(&self, block: usize) -> Range<usize> {
        self.graph.blocks()[block].instructions.clone()
    }

    pub(super) fn begin_block(&mut self, cx: &mut Context<'_>, block: usize) {
        cx.at = self.instructions(block).start;
        cx.rank = self.graph.rank(block);
        self.starts[block] = cx.program.code.len() as u32;
        if self.graph.blocks()[block].predecessors.len() > 1 {
            cx.emit(Op::Meet);
        }
        if self.joins.contains_key(&block) {
            let number = cx.program.joins.len() as u32;
            cx.program.joins.push(Join { decides: Vec::new(), ends: false });
            self.joins_emitted.push((number, Joined::Block(block)));
            cx.emit(Op::Join(number));
        }
    }

    /// The function at hand returns.
    pub(super) fn returns(&mut self, cx: &mut Context<'_>) {
        if !self.returning.is_empty() {
            let number = cx.program.joins.len() as u32;
            cx.program.joins.push(Join { decides: Vec::new(), ends: true });
            self.joins_emitted.push((number, Joined::Return));
            cx.emit(Op::Join(number));
        }
        cx.emit(Op::Return);
    }

    /// The instruction at hand is lowered, under this predicate.
    pub(super) fn end_instruction(&mut self, cx: &mut Context<'_>, guard: Option<(u32, bool)>) {
        self.pcs[cx.at] = (cx.program.code.len() as u32).saturating_sub(1);
        if self.guarded.contains(&cx.at) {
            let number = cx.program.joins.len() as u32;
            cx.program.joins.push(Join { decides: Vec::new(), ends: false });
            self.joins_emitted.push((number, Joined::Behind(cx.at)));
            cx.guard = guard.map(|(predicate, negated)| (predicate, !negated));
            cx.emit(Op::Join(number));
            cx.guard = None;
        }
    }

    /// Control may go on into the next block.
    pub(super) fn end_block(&mut self, cx: &mut Context<'_>, block: usize) {
        let last = self.instructions(block).end.checked_sub(1).map(|last| &cx.body.instructions[last]);
        let falls = last.is_none_or(|last| {
            last.guard.is_some() || !matches!(last.opcode.as_str(), "bra" | "brx" | "ret" | "exit" | "trap")
        });
        if !falls {
            return;
        }
        if block + 1 == self.blocks() {
            self.emit_end(cx);
        } else if let Some(edge) = self.edge(block, block + 1) {
            self.emit_edge(cx, (block, block + 1), edge);
        }
    }

    /// The end of the body is the end of the function.
    fn emit_end(&mut self, cx: &mut Context<'_>) {
        if cx.function.entry { cx.emit(Op::Exit) } else { self.returns(cx) }
    }

    fn goal(&mut self, cx: &Context<'_>, from: usize, label: Label) -> Goal {
        let at = cx.body.labels[label.0 as usize].1;
        if at >= cx.body.instructions.len() {
            return Goal::End;
        }
        let to = self.graph.block_of(at);
        match self.edge(from, to) {
            None => Goal::Block(to),
            Some(edge) => {
                self.ways.push((edge, (from, to)));
                Goal::Way(self.ways.len() - 1)
            }
        }
    }

    pub(super) fn branch(&mut self, cx: &mut Context<'_>, block: usize, label: Label) {
        let goal = self.goal(cx, block, label);
        self.jumps.push((Jump::Branch(cx.program.code.len() as u32), goal));
        cx.emit(Op::Branch(0));
    }

    pub(super) fn branch_table(&mut self, cx: &mut Context<'_>, block: usize) -> Result<(), LoadError> {
        let [index, Operand::Table(name)] = &cx.instruction().operands[..] else { return Err(cx.no()) };
        let Reg::W(index) = cx.operand(index, false)? else { return Err(cx.no()) };
        let table = cx.body.tables.iter().find(|(known, _)| known == name).ok_or_else(|| cx.no())?;
        let number = cx.program.tables.len() as u32;
        cx.program.tables.push(vec![0; table.1.len()]);
        for (entry, label) in table.1.iter().enumerate() {
            let Operand::Label(label) = label else { return Err(cx.no()) };
            let goal = self.goal(cx, block, *label);
            self.jumps.push((Jump::Table(number, entry), goal));
        }
        cx.emit(Op::BranchTable(number, index));
        Ok(())
    }

    /// What it means for the loops around to go from one block to another.
    fn edge(&self, from: usize, to: usize) -> Option<Edge> {
        let (from, around) = (&self.loops[from], &self.loops[to]);
        let leaves = from.iter().filter(|number| !around.contains(number)).count() as u32;
        let number = |number: usize| self.first_loop + number as u32;
        let enters: Vec<u32> =
            around.iter().filter(|number| !from.contains(number)).map(|&it| number(it)).collect();
        let again = around
            .last()
            .filter(|&&inner| from.contains(&inner) && self.graph.loops()[inner].head == to)
            .map(|&inner| number(inner));
        let edge = Edge { leaves, enters, again };
        (edge != Edge::default()).then_some(edge)
    }

    /// An edge has a rank of its own: at the end of a trip lanes wait for the others of their loop.
    fn emit_edge(&self, cx: &mut Context<'_>, (from, to): (usize, usize), edge: Edge) {
        let way = self.graph.blocks()[from].successors.iter().find(|way| way.to == to);
        cx.rank = way.map_or(self.graph.rank(to), |way| way.rank);
        if edge.again.is_some() {
            cx.emit(Op::Meet);
        }
        let number = cx.program.edges.len() as u32;
        cx.program.edges.push(edge);
        cx.emit(Op::Edge(number));
    }

    /// Emits the code of edges, and lets every jump find its goal.
    pub(super) fn finish(mut self, cx: &mut Context<'_>) {
        let mut ways = Vec::new();
        for (edge, (from, to)) in std::mem::take(&mut self.ways) {
            cx.at = self.instructions(to).start;
            ways.push(cx.program.code.len() as u32);
            self.emit_edge(cx, (from, to), edge);
            cx.emit(Op::Branch(self.starts[to]));
        }
        let end = cx.program.code.len() as u32;
        if self.jumps.iter().any(|(_, goal)| matches!(goal, Goal::End)) {
            self.emit_end(cx);
        }
        for (jump, goal) in self.jumps {
            let to = match goal {
                Goal::Block(block) => self.starts[block],
                Goal::Way(way) => ways[way],
                Goal::End => end,
            };
            match jump {
                Jump::Branch(pc) => cx.program.code[pc as usize].op = Op::Branch(to),
                Jump::Table(table, entry) => cx.program.tables[table as usize][entry] = to,
            }
        }
        for (number, found) in self.graph.loops().iter().enumerate() {
            cx.program.loops[self.first_loop as usize + number].head = self.starts[found.head];
        }
        for (number, place) in self.joins_emitted {
            let of_guarded;
            let (decided, start) = match place {
                Joined::Block(block) => (&self.joins[&block], Some(self.starts[block])),
                Joined::Return => (&self.returning, None),
                Joined::Behind(at) => {
                    of_guarded = vec![(at, self.loops[self.graph.block_of(at)].len() as u32, false)];
                    (&of_guarded, Some(self.pcs[at] + 2))
                }
            };
            let decides = decided.iter().map(|&(at, common, earlier_trips)| Decided {
                pc: self.pcs[at],
                common,
                earlier_trips,
            });
            let decides = decides.collect();
            let ends = start.is_none_or(|start| ends_at_once(&cx.program.code, start));
            cx.program.joins[number as usize] = Join { decides, ends };
        }
    }
}

/// Does the function end here, without a decision or an effect before?
fn ends_at_once(code: &[Inst], start: Pc) -> bool {
    let mut at = start;
    for _ in 0..code.len() {
        match code.get(at as usize) {
            Some(Inst { op: Op::Exit | Op::Return, guard: None }) => return true,
            Some(Inst { op: Op::Branch(to), guard: None }) => at = *to,
            Some(Inst { op: Op::Meet | Op::Join(_) | Op::Edge(_) | Op::Nop, .. }) => at += 1,
            _ => return false,
        }
    }
    false
}
