//! The data flow: which values, and which control flow, differ between the threads of a block.
//!
//! The bodies are read in program order, calls followed into their functions, as often as something
//! new is learnt. A variable is one value for the whole body, the worst of all its assignments: that
//! needs no joins, and errs on the side of a finding.

mod branches;
mod calls;
mod exprs;
mod loops;
mod places;

use std::collections::{BTreeMap, HashMap, HashSet};

use proc_macro2::Span;

use super::names::{Function, Names};
use super::report::{Finding, Note, Reporter, Rule};
use super::source::Site;
use super::value::{Cause, Reason, Scope, Value, Var};

/// How deep calls are followed. A call beyond that is taken for one that nothing is known of.
const MAX_DEPTH: usize = 16;

/// How many expressions are read, over all passes, before a function is given up: a thousand times
/// what a kernel that people can read takes.
const MAX_STEPS: usize = 500_000;

/// What the analysis of all functions found.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<Note>,
}

/// Analyses every function that may come to a barrier: kernels first, then what no kernel calls.
pub(super) fn analyse(names: &Names<'_>, reporter: &Reporter<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut entered = HashSet::new();
    let relevant = || names.functions.iter().filter(|function| names.synchronises(&function.name));
    let kernels = relevant().filter(|function| function.kernel);
    let uncalled = relevant().filter(|function| !function.kernel && names.is_uncalled(&function.name));
    for function in kernels.chain(uncalled).chain(relevant()) {
        if !entered.contains(&function.site) {
            let mut flow = Flow::new(names, reporter);
            flow.settle(function);
            entered.extend(flow.entered);
            outcome.findings.extend(flow.findings);
            outcome.notes.extend(flow.notes);
        }
    }
    outcome
}

/// Where the threads that leave the normal course go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Landing {
    /// After the loop or block of this index.
    Break(usize),
    /// At the next trip of the loop of this index.
    Continue(usize),
    /// After the call of this depth.
    Return(usize),
    /// Nowhere: an endless loop.
    Never,
}

/// Some threads of the block have left the normal course and not come back yet.
struct Exit {
    landing: Landing,
    cause: Cause,
}

/// A loop or labelled block that we are in.
struct Breakable<'a> {
    label: Option<String>,
    is_loop: bool,
    /// What `break` hands out of it.
    value: Value<'a>,
}

/// A function or closure that we are in.
struct Call<'a> {
    function: Option<Site>,
    name: String,
    file: usize,
    frame: usize,
    /// Where it was called.
    site: Site,
    /// The first breakable of its own.
    base: usize,
    returned: Value<'a>,
}

struct Flow<'a> {
    names: &'a Names<'a>,
    reporter: &'a Reporter<'a>,

    // What is learnt; kept from pass to pass, and only ever added to.
    vars: HashMap<Var, Value<'a>>,
    /// Why the threads make different numbers of trips through a loop.
    trips: HashMap<(usize, Site), Cause>,
    frames: HashMap<(usize, Site, Site), usize>,
    learnt: bool,
    entered: HashSet<Site>,

    // Where a pass is.
    scope: Scope,
    calls: Vec<Call<'a>>,
    breakables: Vec<Breakable<'a>>,
    /// The thread-dependent conditions around us.
    conditions: Vec<Cause>,
    exits: Vec<Exit>,
    /// Whether the outermost function is a kernel, whose `return` ends the thread.
    in_kernel: bool,
    /// Threads that ended by an early `return`.
    ended: Vec<Cause>,
    /// How often code that leaves a loop was seen, to tell endless loops.
    leaves: usize,
    /// What is left of `MAX_STEPS`; at 0 nothing is read any more.
    steps: usize,

    findings: Vec<Finding>,
    notes: Vec<Note>,
}

impl<'a> Flow<'a> {
    fn new(names: &'a Names<'a>, reporter: &'a Reporter<'a>) -> Self {
        Self {
            names,
            reporter,
            vars: HashMap::new(),
            trips: HashMap::new(),
            frames: HashMap::new(),
            learnt: false,
            entered: HashSet::new(),
            scope: Scope::new(),
            calls: Vec::new(),
            breakables: Vec::new(),
            conditions: Vec::new(),
            exits: Vec::new(),
            in_kernel: false,
            ended: Vec::new(),
            leaves: 0,
            steps: MAX_STEPS,
            findings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Passes over a function until nothing new is learnt. What the last pass reports stands.
    fn settle(&mut self, function: &'a Function<'a>) {
        self.in_kernel = function.kernel;
        loop {
            self.learnt = false;
            self.exits.clear();
            self.ended.clear();
            self.findings.clear();
            self.notes.clear();
            let arguments = self.arguments(function);
            self.enter(function, arguments, function.site);
            if self.steps == 0 {
                self.findings.clear();
                let what = format!("the data flow of `{}` is too large to follow", function.name);
                let rule = Rule::UntrackedBarrier;
                self.findings.push(self.reporter.finding(rule, function.site, &function.name, what));
                return;
            }
            if !self.learnt {
                return;
            }
        }
    }

    /// The arguments of the outermost function: a kernel's are the same for every thread; of a
    /// function that nothing here calls, nothing is known.
    fn arguments(&self, function: &'a Function<'a>) -> Vec<Value<'a>> {
        let inputs = function.signature.inputs.iter();
        inputs
            .map(|input| {
                let mut value = match input {
                    syn::FnArg::Receiver(_) => Value { memory: true, ..Value::default() },
                    syn::FnArg::Typed(typed) => self.of_type(&typed.ty, MAX_DEPTH),
                };
                if !function.kernel {
                    let what = format!("an argument of `{}`, which no kernel here calls", function.name);
                    value.taint(Some(&Reason::source(what, function.site)));
                }
                value
            })
            .collect()
    }

    /// A value of a type: plain, or one that leads to memory.
    fn of_type(&self, ty: &syn::Type, depth: usize) -> Value<'a> {
        let memory = Value { memory: true, ..Value::default() };
        let Some(depth) = depth.checked_sub(1) else { return memory };
        match ty {
            syn::Type::Paren(inner) => self.of_type(&inner.elem, depth),
            syn::Type::Group(inner) => self.of_type(&inner.elem, depth),
            syn::Type::Array(array) => self.of_type(&array.elem, depth).flat(),
            syn::Type::Tuple(tuple) => {
                let parts = tuple.elems.iter().enumerate();
                Value::composed(parts.map(|(i, ty)| (i.to_string(), self.of_type(ty, depth))).collect())
            }
            syn::Type::Path(path) => {
                let name = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                match self.names.structs.get(&name) {
                    _ if super::known::is_primitive(&name) => Value::default(),
                    Some(fields) if !fields.named.is_empty() => {
                        let mut parts = BTreeMap::new();
                        for field in &fields.named {
                            let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                            parts.insert(name, self.of_type(&field.ty, depth));
                        }
                        Value::composed(parts)
                    }
                    _ => memory,
                }
            }
            _ => memory,
        }
    }

    fn file(&self) -> usize {
        self.calls.last().map_or(0, |call| call.file)
    }

    fn frame(&self) -> usize {
        self.calls.last().map_or(0, |call| call.frame)
    }

    fn site(&self, span: Span) -> Site {
        Site::new(self.file(), span)
    }

    /// Why not all threads of the block may be at this point of the program.
    fn control(&self) -> Option<Cause> {
        // One by which threads do differ says more than one by which they may.
        let all = || self.conditions.iter().chain(self.exits.iter().map(|exit| &exit.cause));
        all().find(|cause| cause.differs).or_else(|| all().next()).cloned()
    }

    /// Reads code that is reached under a condition, if that is thread-dependent.
    fn under<T>(&mut self, condition: Option<&Cause>, read: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.conditions.len();
        self.conditions.extend(condition.cloned());
        let result = read(self);
        self.conditions.truncate(depth);
        result
    }

    /// Threads leave the normal course here.
    fn leave(&mut self, landing: Landing, what: &str, span: Span) {
        if !matches!(landing, Landing::Continue(_)) {
            self.leaves += 1;
        }
        let Some(control) = self.control() else { return };
        let cause = Reason::next(what, self.site(span), &control);
        if landing == Landing::Return(1) && self.in_kernel {
            // They exit, and an exited thread no longer counts: the barrier is still uniform among
            // those that are left.
            self.ended.push(cause);
        } else {
            self.exits.push(Exit { landing, cause });
        }
    }

    /// A barrier: a finding unless all threads that have not ended come to it.
    fn barrier(&mut self, name: &str, span: Span) {
        let site = self.site(span);
        let path: Vec<_> = self.calls.iter().map(|call| (call.name.clone(), call.site)).collect();
        match self.control() {
            Some(cause) if cause.differs => {
                self.findings.push(self.reporter.non_uniform(name, site, &path, &cause));
            }
            Some(cause) => self.notes.push(self.reporter.not_shown_uniform(site, &cause)),
            None => {}
        }
        for cause in &self.ended {
            self.notes.push(self.reporter.ended(site, cause));
        }
    }
}
