//! Reading PTX: the control flow of each function, and where its barriers stand in it.

use std::collections::HashMap;
use std::fmt;

use anyhow::{Context, Result};

use super::lines;
use super::shared::Shared;

/// A `.entry` or a `.func` with a body.
pub(crate) struct Function {
    pub(crate) name: String,
    /// A launch can start it.
    pub(crate) entry: bool,
    /// The first is where it starts.
    pub(crate) blocks: Vec<Block>,
    /// Loads and stores of shared memory.
    pub(crate) shared: usize,
    /// Loads and stores that find out at run time which memory they touch.
    pub(crate) generic: usize,
    /// Uses of a shared array that are neither `ld.shared` nor `st.shared`.
    pub(crate) leaks: usize,
}

/// Instructions that run one after the other.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) events: Vec<Event>,
    /// The blocks that may run next.
    pub(crate) next: Vec<usize>,
}

/// What an audit of barriers wants to know of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// Where it comes from in the source, if the PTX says.
    pub(crate) place: Option<Place>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Barrier,
    /// The function of this name is called.
    Call(String),
}

/// A position in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    file: String,
    line: u32,
    column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Every function of the PTX that has a body.
pub(crate) fn parse(ptx: &str) -> Result<Vec<Function>> {
    let files = ptx.lines().filter_map(lines::file).collect();
    let mut functions = Vec::new();
    let mut outside = String::new();
    let mut shared = Shared::default();
    let mut body: Option<Body> = None;
    let mut depth = 0;
    for line in ptx.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if ends_with_its_line(line) {
            if let Some(body) = &mut body {
                body.directive(line, &files);
            }
            continue;
        }
        for c in line.chars() {
            match c {
                '{' => {
                    if depth == 0 {
                        body = name(&outside)
                            .map(|name| Body::new(name, outside.contains(".entry"), shared.clone()));
                        outside.clear();
                    }
                    depth += 1;
                }
                '}' => {
                    depth -= 1;
                    if depth == 0
                        && let Some(body) = body.take()
                    {
                        functions.push(body.finish()?);
                    }
                }
                _ => match &mut body {
                    Some(body) => body.take(c),
                    None if c == ';' => {
                        shared.declare(&outside);
                        outside.clear();
                    }
                    None => outside.push(c),
                },
            }
        }
        // A line's end parts words.
        match &mut body {
            Some(body) => body.take(' '),
            None => outside.push(' '),
        }
    }
    Ok(functions)
}

/// Most of PTX ends at a semicolon; these directives do not.
fn ends_with_its_line(line: &str) -> bool {
    [".loc", ".file", ".version", ".target", ".address_size"].iter().any(|word| line.starts_with(word))
}

/// The name in `.visible .entry name(…)` and `.func (.param …) name(…)`.
fn name(header: &str) -> Option<&str> {
    let rest = header.split_once(".entry").or_else(|| header.split_once(".func"))?.1.trim();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim(),
        None => rest,
    };
    rest.split(|c: char| c == '(' || c.is_whitespace()).next()
}

/// How a block ends, with labels not resolved yet.
#[derive(Default)]
struct End {
    jumps: Vec<String>,
    /// The next block follows.
    falls: bool,
}

/// A function that is being read.
struct Body {
    function: Function,
    ends: Vec<End>,
    labels: HashMap<String, usize>,
    /// The jump tables of `brx.idx`, by name.
    tables: HashMap<String, Vec<String>>,
    last_label: String,
    place: Option<Place>,
    statement: String,
    shared: Shared,
}

impl Body {
    fn new(name: &str, entry: bool, shared: Shared) -> Self {
        Self {
            function: Function {
                name: name.to_owned(),
                entry,
                blocks: vec![Block::default()],
                shared: 0,
                generic: 0,
                leaks: 0,
            },
            ends: Vec::new(),
            labels: HashMap::new(),
            tables: HashMap::new(),
            last_label: String::new(),
            place: None,
            statement: String::new(),
            shared,
        }
    }

    fn directive(&mut self, line: &str, files: &HashMap<u32, &str>) {
        let Some(loc) = line.strip_prefix(".loc") else { return };
        let mut numbers = loc.split([' ', '\t', ',']).filter(|word| !word.is_empty()).map(str::parse);
        let mut number = || numbers.next().and_then(std::result::Result::ok).unwrap_or(0);
        let (file, line, column) = (number(), number(), number());
        // Line 0 says that the instruction comes from no line in particular.
        self.place = files.get(&file).filter(|_| line != 0).map(|file| Place {
            file: (*file).to_owned(),
            line,
            column,
        });
    }

    fn take(&mut self, c: char) {
        match c {
            ';' => {
                let statement = std::mem::take(&mut self.statement);
                self.statement(statement.trim());
            }
            ':' if is_label(self.statement.trim()) => {
                let label = std::mem::take(&mut self.statement).trim().to_owned();
                self.end(End { jumps: Vec::new(), falls: true });
                self.labels.insert(label.clone(), self.ends.len());
                self.last_label = label;
            }
            _ => self.statement.push(c),
        }
    }

    fn statement(&mut self, statement: &str) {
        let (falls, statement) = match statement.strip_prefix('@') {
            Some(guarded) => (true, guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest)),
            None => (false, statement),
        };
        let (opcode, operands) = statement.trim().split_once(char::is_whitespace).unwrap_or((statement, ""));
        self.shared.declare(statement);
        self.shared.instruction(opcode, operands);
        let mut parts = opcode.split('.');
        match (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()) {
            ("bra", _) => self.end(End { jumps: vec![operands.trim().to_owned()], falls }),
            ("brx", _) => {
                let table = operands.rsplit(',').next().unwrap_or_default().trim();
                let jumps = self.tables.get(table).cloned().unwrap_or_default();
                self.end(End { jumps, falls });
            }
            ("ret" | "exit" | "trap", _) => self.end(End { jumps: Vec::new(), falls }),
            // Of these, `bar.warp.sync` is not the block's.
            ("bar" | "barrier", "sync" | "red" | "cta") => self.event(Kind::Barrier),
            ("call", _) => {
                if let Some(callee) = callee(operands) {
                    self.event(Kind::Call(callee.to_owned()));
                }
            }
            ("ld" | "st", "shared") => self.function.shared += 1,
            ("ld" | "st", "global" | "param" | "local" | "const") => {}
            ("ld" | "st", _) => self.function.generic += 1,
            ("", "branchtargets") => {
                let targets = operands.split(',').map(|label| label.trim().to_owned()).collect();
                self.tables.insert(self.last_label.clone(), targets);
            }
            _ => {}
        }
    }

    fn event(&mut self, kind: Kind) {
        if let Some(block) = self.function.blocks.last_mut() {
            block.events.push(Event { kind, place: self.place.clone() });
        }
    }

    /// Ends the block and opens the next.
    fn end(&mut self, end: End) {
        self.ends.push(end);
        self.function.blocks.push(Block::default());
    }

    fn finish(mut self) -> Result<Function> {
        for (index, end) in self.ends.iter().enumerate() {
            let mut next = Vec::new();
            for label in &end.jumps {
                let target = self.labels.get(label);
                next.push(*target.with_context(|| {
                    format!("{} jumps to {label}, which the PTX does not have", self.function.name)
                })?);
            }
            if end.falls {
                next.push(index + 1);
            }
            self.function.blocks[index].next = next;
        }
        self.function.leaks = self.shared.leaks();
        Ok(self.function)
    }
}

fn is_label(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_$%".contains(c))
}

/// The name in `(result), name, (arguments)`, if it is not in a register.
fn callee(operands: &str) -> Option<&str> {
    let operands = operands.trim();
    let rest = match operands.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start_matches([',', ' ', '\t']),
        None => operands,
    };
    let name = rest.split([',', ' ', '\t']).next()?;
    (!name.is_empty() && !name.starts_with('%')).then_some(name)
}
