//! Gives every instruction the calls that it was inlined at.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::ast::{Body, Function, Position, PositionId};
use crate::cursor::Cursor;
use crate::graph;
use crate::inlining::{self, Scope};
use crate::positions::Positions;
use crate::section;

/// Adds to the positions what the debug sections say; a section that cannot be read adds nothing. And an instruction
/// of line 0 gets the place of the one before it in its block.
pub(crate) fn attach<'a>(
    functions: &mut [Function],
    positions: &mut Positions,
    cursor: &mut Cursor<'_, 'a>,
    braces: &[(&'a str, usize)],
) {
    // An address for each instruction, and one for each end, so that no function begins where another ends.
    let mut starts = Vec::new();
    let mut next = 0_u64;
    let mut addresses = HashMap::new();
    for function in &*functions {
        starts.push(next);
        let Some(body) = &function.body else { continue };
        addresses.extend(body.labels.iter().map(|(name, at)| (name.as_str(), next + *at as u64)));
        next += body.instructions.len() as u64 + 1;
    }
    let sections = section::sections(cursor, braces, &addresses).unwrap_or_default();
    let scopes = inlining::scopes(&sections).unwrap_or_default();
    let files = files(&scopes, functions, &starts, positions);
    for (function, start) in functions.iter_mut().zip(starts) {
        let Some(body) = &mut function.body else { continue };
        let end = start + body.instructions.len() as u64;
        let of_function =
            (0..scopes.len()).filter(|&scope| start <= scopes[scope].low && scopes[scope].high <= end);
        let tree = Tree { scopes: &scopes, files: &files, of_function: of_function.collect() };
        if !tree.of_function.is_empty() {
            tree.extend(body, start, positions);
        }
        fill(body, positions);
    }
}

/// The file of each function of the scopes, as far as something tells: the file of a call in it, or of an instruction that
/// no inner scope can have.
fn files(
    scopes: &[Scope],
    functions: &[Function],
    starts: &[u64],
    positions: &Positions,
) -> HashMap<usize, u32> {
    let mut files = HashMap::new();
    for scope in scopes {
        if let (Some(parent), Some(file)) = (scope.parent, positions.numbered(scope.call.0)) {
            files.entry(scopes[parent].function).or_insert(file);
        }
    }
    let inner: BTreeSet<_> = scopes.iter().filter_map(|scope| Some((scope.parent?, scope.low))).collect();
    let alone = scopes.iter().enumerate().filter(|&(index, scope)| !inner.contains(&(index, scope.low)));
    for (_, scope) in alone {
        let function = functions
            .iter()
            .zip(starts)
            .rev()
            .find(|&(function, &start)| function.body.is_some() && start <= scope.low);
        let first = function.and_then(|(function, start)| {
            let offset = usize::try_from(scope.low - start).ok()?;
            function.body.as_ref()?.instructions.get(offset)?.position
        });
        let place = first.map(|PositionId(id)| &positions.list[id as usize]);
        if let Some(place) = place.filter(|place| place.line != 0) {
            files.entry(scope.function).or_insert(place.file);
        }
    }
    files
}

/// The scopes of one function.
struct Tree<'s> {
    scopes: &'s [Scope],
    files: &'s HashMap<usize, u32>,
    of_function: Vec<usize>,
}

impl Tree<'_> {
    /// Gives the body's instructions positions with callers.
    fn extend(&self, body: &mut Body, start: u64, positions: &mut Positions) {
        let marks: BTreeSet<u64> = body.labels.iter().map(|&(_, at)| start + at as u64).collect();
        let mut known = HashMap::new();
        for (address, instruction) in (start..).zip(&mut body.instructions) {
            let Some(id) = instruction.position else { continue };
            let place = positions.list[id.0 as usize].clone();
            // The directive itself may have said it.
            if place.caller.is_some() {
                continue;
            }
            let first = marks.range(..=address).next_back().copied().unwrap_or(start);
            let Some(scope) = self.scope(first, place.file, &marks) else { continue };
            let caller = *known.entry(scope).or_insert_with(|| self.caller(scope, positions));
            instruction.position = Some(positions.id(&Position { caller, ..place }));
        }
    }

    /// The scope of the instructions that begin at the label `first`. Compilers put labels where the scope changes.
    ///
    /// One that begins or ends there has them, or a scope in it has, which then begins or ends there too. Else they may stand
    /// in a gap of a range, and scopes that are not around each other can be said to have them: one of the instruction's
    /// file goes before the others, then the smallest.
    fn scope(&self, first: u64, file: u32, marks: &BTreeSet<u64>) -> Option<usize> {
        let behind = marks.range(first + 1..).next().copied();
        let around = self.of_function.iter().copied();
        let around =
            around.filter(|&scope| self.scopes[scope].low <= first && first < self.scopes[scope].high);
        around.max_by_key(|&index| {
            let scope = &self.scopes[index];
            let of_file = match self.files.get(&scope.function) {
                Some(&known) if known == file => 2,
                None => 1,
                Some(_) => 0,
            };
            let at_edge = scope.low == first || Some(scope.high) == behind;
            (at_edge, of_file, std::cmp::Reverse(scope.high - scope.low), index)
        })
    }

    /// The call that this scope was inlined at, with those around it.
    fn caller(&self, scope: usize, positions: &mut Positions) -> Option<PositionId> {
        let mut chain = Vec::new();
        let mut inner = scope;
        while let Some(parent) = self.scopes[inner].parent {
            chain.push(self.scopes[inner].call);
            inner = parent;
        }
        chain.into_iter().rev().fold(None, |caller, (number, line, column)| {
            let Some(file) = positions.numbered(number) else { return caller };
            Some(positions.id(&Position { file, line, column, caller }))
        })
    }
}

/// Gives instructions of line 0 the place of the one before, if there is one in their block.
fn fill(body: &mut Body, positions: &Positions) {
    let ranges: Vec<Range<usize>> = graph::ranges(body);
    for range in ranges {
        let mut before = None;
        for instruction in &mut body.instructions[range] {
            let Some(PositionId(id)) = instruction.position else { continue };
            if positions.list[id as usize].line != 0 {
                before = instruction.position;
            } else if before.is_some() {
                instruction.position = before;
            }
        }
    }
}
