//! The values of the analysis: whether all threads of a block hold the same one, and if not, why.

use std::collections::BTreeMap;
use std::rc::Rc;

use syn::ExprClosure;

use super::source::Site;

/// One step of the way from a thread-dependent value to what depends on it.
#[derive(Debug)]
pub(super) struct Reason {
    pub(super) what: String,
    pub(super) site: Site,
    /// The step before; none at the source.
    pub(super) from: Option<Cause>,
    /// Threads do hold different values; else they may, for what lies in memory is not known here.
    pub(super) differs: bool,
}

/// The newest step of a way.
pub(super) type Cause = Rc<Reason>;

impl Reason {
    pub(super) fn source(what: impl Into<String>, site: Site) -> Cause {
        Rc::new(Self { what: what.into(), site, from: None, differs: true })
    }

    /// A value that may differ between threads, or not.
    pub(super) fn unknown(what: impl Into<String>, site: Site) -> Cause {
        Rc::new(Self { what: what.into(), site, from: None, differs: false })
    }

    pub(super) fn next(what: impl Into<String>, site: Site, from: &Cause) -> Cause {
        Rc::new(Self { what: what.into(), site, from: Some(Rc::clone(from)), differs: from.differs })
    }
}

/// A variable: its declaration, in one of the calls that the analysis follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Var {
    pub(super) frame: usize,
    pub(super) site: Site,
}

/// The variables a piece of code sees, innermost last.
pub(super) type Scope = Vec<(String, Var)>;

/// A closure, with what it captures.
pub(super) struct Closure<'a> {
    pub(super) expr: &'a ExprClosure,
    pub(super) scope: Scope,
    pub(super) file: usize,
    pub(super) frame: usize,
}

/// What is known of a value. More is only ever added, so that the analysis comes to an end.
#[derive(Clone, Default)]
pub(super) struct Value<'a> {
    /// Why the threads of a block may hold different values; none if they all hold the same.
    pub(super) varying: Option<Cause>,
    /// It leads to memory: what is read through it differs between threads.
    pub(super) memory: bool,
    /// The parts of a tuple or struct, each judged on its own.
    pub(super) parts: BTreeMap<String, Value<'a>>,
    /// The variables that may be written through it.
    pub(super) targets: Vec<Var>,
    /// The closures that it may be.
    pub(super) closures: Vec<Rc<Closure<'a>>>,
}

impl<'a> Value<'a> {
    pub(super) fn varying(cause: Cause) -> Self {
        Self { varying: Some(cause), ..Self::default() }
    }

    /// A tuple or a struct.
    pub(super) fn composed(parts: BTreeMap<String, Self>) -> Self {
        let mut whole = Self::default();
        for part in parts.values() {
            whole.absorb(part);
        }
        Self { parts, ..whole }
    }

    /// One part, or the whole where the parts are not known.
    pub(super) fn part(&self, name: &str) -> Self {
        self.parts.get(name).cloned().unwrap_or_else(|| self.flat())
    }

    /// The same value with its parts forgotten.
    pub(super) fn flat(&self) -> Self {
        Self { parts: BTreeMap::new(), ..self.clone() }
    }

    /// A number computed from this value.
    pub(super) fn computed(&self) -> Self {
        Self { memory: false, ..self.flat() }
    }

    /// Would this cause say more of why the value differs between threads?
    fn knows_less_than(&self, cause: &Cause) -> bool {
        self.varying.as_ref().is_none_or(|known| cause.differs && !known.differs)
    }

    /// Makes it thread-dependent if there is a cause.
    pub(super) fn taint(&mut self, cause: Option<&Cause>) {
        if let Some(cause) = cause {
            if self.knows_less_than(cause) {
                self.varying = Some(Rc::clone(cause));
            }
            for part in self.parts.values_mut() {
                part.taint(Some(cause));
            }
        }
    }

    /// Either this value or the other. Says whether that was news.
    pub(super) fn absorb(&mut self, other: &Self) -> bool {
        let mut news = false;
        if let Some(cause) = other.varying.as_ref().filter(|cause| self.knows_less_than(cause)) {
            self.varying = Some(Rc::clone(cause));
            news = true;
        }
        if other.memory && !self.memory {
            self.memory = true;
            news = true;
        }
        if self.parts.keys().eq(other.parts.keys()) {
            for (mine, theirs) in self.parts.values_mut().zip(other.parts.values()) {
                news |= mine.absorb(theirs);
            }
        } else {
            news |= !self.parts.is_empty();
            self.parts.clear();
        }
        for target in &other.targets {
            if !self.targets.contains(target) {
                self.targets.push(*target);
                news = true;
            }
        }
        for closure in &other.closures {
            if !self.closures.iter().any(|mine| mine.is(closure)) {
                self.closures.push(Rc::clone(closure));
                news = true;
            }
        }
        news
    }
}

impl Closure<'_> {
    fn is(&self, other: &Self) -> bool {
        self.frame == other.frame && std::ptr::eq(self.expr, other.expr)
    }
}
