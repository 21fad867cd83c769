//! Where a kernel's barriers stand, and how it reaches shared memory.

use std::collections::{BTreeSet, HashSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;

use crate::ast::{Base, Body, Instruction, Module, Operand, PositionId, RegId, Space, Symbol};
use crate::graph::Graph;

/// What was found in a kernel and the functions that it calls by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Barriers of the block, at each call those of the called function again. (A function that calls itself counts
    /// once.)
    pub barriers: usize,
    /// A barrier of the source, or a call of a function with barriers, that has copies on alternative paths: threads of
    /// one block that take different ones wait at different barriers.
    pub split: Option<Split>,
    /// Loads and stores that name shared memory.
    pub shared: usize,
    /// Loads and stores that find out at run time which memory they touch.
    pub generic: usize,
    /// Uses of an address in a shared array by anything but loads, stores and atomics that name shared memory.
    pub leaks: usize,
}

/// A barrier that has copies on alternative paths, or may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The one at this place in the source.
    At(PositionId),
    /// One that the PTX names no place for: any other may be a copy of it.
    Unplaced,
}

/// Audits the kernel or function of this name; `None` if it has no body.
#[must_use]
pub fn audit(module: &Module, name: &str) -> Option<Audit> {
    let start =
        module.functions.iter().position(|function| function.name == name && function.body.is_some())?;
    let calls = Calls::new(module);
    let mut found = Audit { barriers: calls.barriers[start], ..Audit::default() };
    for body in
        calls.reached(start).into_iter().filter_map(|function| module.functions[function].body.as_ref())
    {
        for instruction in body.instructions.iter().filter(|it| matches!(&*it.opcode, "ld" | "st")) {
            match space(instruction) {
                Some(Space::Shared) => found.shared += 1,
                None => found.generic += 1,
                Some(_) => {}
            }
        }
        found.leaks += leaks(module, body);
        found.split = found.split.or_else(|| split(module, &calls, body));
    }
    Some(found)
}

/// Is it a barrier of the block? (`bar.warp.sync` is not.)
fn is_barrier(instruction: &Instruction) -> bool {
    let kind = instruction.modifiers.first().map(String::as_str);
    matches!(&*instruction.opcode, "bar" | "barrier") && matches!(kind, Some("sync" | "red" | "cta"))
}

/// The function that is called by its name.
fn callee(instruction: &Instruction) -> Option<u32> {
    match (&*instruction.opcode, instruction.operands.get(1)) {
        ("call", Some(Operand::Symbol(Symbol::Function(function), _))) => Some(*function),
        _ => None,
    }
}

/// The state space that the instruction names.
fn space(instruction: &Instruction) -> Option<Space> {
    instruction.modifiers.iter().find_map(|word| match word.split("::").next()? {
        "shared" => Some(Space::Shared),
        "global" => Some(Space::Global),
        "local" => Some(Space::Local),
        "const" => Some(Space::Const),
        "param" => Some(Space::Param),
        _ => None,
    })
}

/// Which functions call which.
struct Calls {
    graph: DiGraphMap<usize, ()>,
    /// By function, as in [`Audit::barriers`].
    barriers: Vec<usize>,
}

impl Calls {
    fn new(module: &Module) -> Self {
        let code =
            |function: usize| module.functions[function].body.iter().flat_map(|body| &body.instructions);
        let mut graph = DiGraphMap::new();
        for function in 0..module.functions.len() {
            graph.add_node(function);
            for callee in code(function).filter_map(callee) {
                graph.add_edge(function, callee as usize, ());
            }
        }
        let mut barriers = vec![0_usize; module.functions.len()];
        // Those that are called come first.
        for functions in kosaraju_scc(&graph) {
            let counts: Vec<_> = functions
                .iter()
                .map(|&function| {
                    let counts = code(function).map(|instruction| match callee(instruction) {
                        Some(callee) => barriers[callee as usize],
                        None => usize::from(is_barrier(instruction)),
                    });
                    counts.fold(0, usize::saturating_add)
                })
                .collect();
            for (function, count) in functions.into_iter().zip(counts) {
                barriers[function] = count;
            }
        }
        Self { graph, barriers }
    }

    /// The function and all that it calls.
    fn reached(&self, start: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(function) = open.pop() {
            open.extend(self.graph.neighbors(function).filter(|&callee| reached.insert(callee)));
        }
        reached
    }
}

/// A barrier, or a call of a function with one, that has copies on alternative paths, or may have.
fn split(module: &Module, calls: &Calls, body: &Body) -> Option<Split> {
    let graph = Graph::new(body);
    // Of each such instruction the block, the called function and the place.
    let mut waits = Vec::new();
    for (index, instruction) in body.instructions.iter().enumerate() {
        let callee = callee(instruction);
        if !callee.map_or(is_barrier(instruction), |callee| calls.barriers[callee as usize] > 0) {
            continue;
        }
        let place = instruction.position.map(|id| (id, &module.positions[id.0 as usize]));
        let place = place.filter(|(_, place)| place.line != 0);
        waits.push((
            graph.block_of(index),
            callee,
            place.map(|(id, it)| (id, (it.file, it.line, it.column))),
        ));
    }
    let mut pairs = (0..waits.len()).flat_map(|a| (a + 1..waits.len()).map(move |b| (a, b)));
    pairs.find_map(|(a, b)| {
        let ((a, one, from), (b, other, to)) = (waits[a], waits[b]);
        let split = match (from, to) {
            (Some((id, from)), Some((_, to))) if from == to => Split::At(id),
            (Some(_), Some(_)) => return None,
            _ => Split::Unplaced,
        };
        (one == other && !leads(&graph, a, b) && !leads(&graph, b, a)).then_some(split)
    })
}

/// Whether a way leads from one block to another in the same trip of every loop, or they are the same.
fn leads(graph: &Graph, from: usize, to: usize) -> bool {
    let mut seen = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if block == to {
            return true;
        }
        let edges = graph.blocks()[block].successors.iter();
        let forward = edges.filter(|edge| edge.rank == graph.rank(edge.to)).map(|edge| edge.to);
        open.extend(forward.filter(|&next| seen.insert(next)));
    }
    false
}

/// How many instructions use an address in a shared array otherwise than by naming shared memory.
///
/// Such a one finds out at run time which memory it touches, and is right only if the address was made for that; a
/// compiler was seen to give it an offset in shared memory instead, which is another place (Rust-GPU/rust-cuda#402).
fn leaks(module: &Module, body: &Body) -> usize {
    let is_shared = |symbol: Symbol| match symbol {
        Symbol::Module(variable) => module.variables[variable as usize].space == Space::Shared,
        Symbol::Local(variable) => body.variables[variable as usize].space == Space::Shared,
        _ => false,
    };
    // The registers that hold such an address.
    let mut tainted: HashSet<RegId> = HashSet::new();
    let holds = |operand: &Operand, tainted: &HashSet<RegId>| {
        let mut names = Names::default();
        names.of(operand);
        names.registers.iter().any(|register| tainted.contains(register))
            || names.symbols.into_iter().any(is_shared)
    };
    let is_access = |instruction: &Instruction| matches!(&*instruction.opcode, "ld" | "st" | "atom" | "red");
    // `setp` compares addresses; of what names shared memory, as `ldmatrix` does, only these do more than access it.
    let makes_addresses = |it: &Instruction| match &*it.opcode {
        "cvta" | "mapa" => true,
        opcode => !is_access(it) && opcode != "setp" && space(it) != Some(Space::Shared),
    };
    // A loop hands registers back to instructions above.
    loop {
        let known = tainted.len();
        for instruction in body.instructions.iter().filter(|it| makes_addresses(it)) {
            if let Some((made, from)) = instruction.operands.split_first()
                && from.iter().any(|operand| holds(operand, &tainted))
            {
                let mut names = Names::default();
                names.of(made);
                tainted.extend(names.registers);
            }
        }
        if tainted.len() == known {
            break;
        }
    }
    // A result of `ld` is what lies at the address; in `st.param` an address leaves for another function.
    let uses = body.instructions.iter().filter(|it| is_access(it) && space(it) != Some(Space::Shared));
    uses.filter(|it| it.operands.iter().any(|operand| holds(operand, &tainted))).count()
}

/// The registers and symbols of operands.
#[derive(Default)]
struct Names {
    registers: Vec<RegId>,
    symbols: Vec<Symbol>,
}

impl Names {
    fn of(&mut self, operand: &Operand) {
        match operand {
            Operand::Register(register) | Operand::Negated(register) | Operand::Part(register, _) => {
                self.registers.push(*register);
            }
            Operand::Pair(first, second) => self.registers.extend([*first, *second]),
            Operand::Symbol(symbol, _) => self.symbols.push(*symbol),
            Operand::Address { base: Base::Register(register), .. } => self.registers.push(*register),
            Operand::Address { base: Base::Symbol(symbol), .. } => self.symbols.push(*symbol),
            Operand::List(operands) | Operand::Coordinates(operands) => {
                operands.iter().for_each(|operand| self.of(operand));
            }
            Operand::Address { base: Base::Absolute, .. }
            | Operand::Special(_)
            | Operand::Integer(_)
            | Operand::Float32(_)
            | Operand::Float64(_)
            | Operand::Label(_)
            | Operand::Table(_)
            | Operand::Sink => {}
        }
    }
}
