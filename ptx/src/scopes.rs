//! The names of a function body.

use std::collections::{HashMap, HashSet};

use crate::ast::{Label, RegId, Register, Symbol, Type, Variable};
use crate::error::ParseError;
use crate::lexer::{Kind, Token};

/// What a name stands for.
pub(crate) enum Named {
    Register(RegId),
    /// Of a register that holds a vector, one for each element.
    Vector(Vec<RegId>),
    /// A variable, parameter or function: [`Scopes::symbol`] says which.
    Symbol,
    Label(Label),
    /// By its name in the body's tables or prototypes.
    Table(String),
}

/// `.reg .b32 %r<7>`
pub(crate) struct Range<'a> {
    /// `%r`
    pub(crate) prefix: &'a str,
    pub(crate) count: u64,
    pub(crate) ty: Type,
}

/// What one pair of braces declares.
#[derive(Default)]
struct Scope<'a> {
    /// The number of the token that opens it.
    brace: usize,
    ranges: Vec<Range<'a>>,
    singles: HashMap<&'a str, Type>,
    /// Those that an instruction has named.
    registers: HashMap<String, RegId>,
    vectors: HashMap<&'a str, Vec<RegId>>,
    variables: HashMap<&'a str, u32>,
}

/// Labels and tables, which may be named before they stand there. By the token that opens their scope.
#[derive(Default)]
struct Marks<'a> {
    labels: HashMap<(usize, &'a str), Label>,
    tables: HashMap<(usize, &'a str), String>,
    /// The names of the tables of labels.
    branches: HashSet<String>,
}

/// The names that are known at a place in a body, and all that was declared up to there.
pub(crate) struct Scopes<'a, 'm> {
    module: &'m HashMap<&'a str, Symbol>,
    parameters: HashMap<String, Symbol>,
    open: Vec<Scope<'a>>,
    marks: Marks<'a>,
    pub(crate) registers: Vec<Register>,
    pub(crate) variables: Vec<Variable>,
    /// Name and instruction of each label; those not reached yet stand behind all instructions.
    pub(crate) labels: Vec<(String, usize)>,
}

impl<'a, 'm> Scopes<'a, 'm> {
    /// For the body whose brace is token number `brace`.
    pub(crate) fn new(
        module: &'m HashMap<&'a str, Symbol>,
        parameters: HashMap<String, Symbol>,
        tokens: &[Token<'a>],
        brace: usize,
    ) -> Result<Self, ParseError> {
        let mut this = Self {
            module,
            parameters,
            open: vec![Scope::default()],
            marks: Marks::default(),
            registers: Vec::new(),
            variables: Vec::new(),
            labels: Vec::new(),
        };
        this.mark(tokens, brace)?;
        Ok(this)
    }

    /// Finds labels and tables.
    fn mark(&mut self, tokens: &[Token<'a>], brace: usize) -> Result<(), ParseError> {
        let mut open = vec![brace];
        let mut taken = HashSet::new();
        for at in brace + 1..tokens.len() - 1 {
            let Token { kind, text, line } = tokens[at];
            match kind {
                Kind::Sign(b'{') => open.push(at),
                Kind::Sign(b'}') => {
                    open.pop();
                }
                Kind::Word if tokens[at + 1].kind == Kind::Sign(b':') => {
                    let Some(&scope) = open.last() else { break };
                    let behind = tokens.get(at + 2).filter(|token| token.kind == Kind::Dot);
                    let is_new = match behind.map(|token| token.text) {
                        Some("branchtargets" | "calltargets" | "callprototype") => {
                            // A number of its own for a name that another scope has too.
                            let mut unique = text.to_owned();
                            while !taken.insert(unique.clone()) {
                                unique = format!("{text}'{at}");
                            }
                            if behind.is_some_and(|token| token.text == "branchtargets") {
                                self.marks.branches.insert(unique.clone());
                            }
                            self.marks.tables.insert((scope, text), unique).is_none()
                        }
                        _ => {
                            let label = Label(u32::try_from(self.labels.len()).unwrap_or(u32::MAX));
                            self.labels.push((text.to_owned(), usize::MAX));
                            self.marks.labels.insert((scope, text), label).is_none()
                        }
                    };
                    if !is_new {
                        let what = format!("the label `{text}` a second time");
                        return Err(ParseError { line, what, expected: "a label that is new".to_owned() });
                    }
                }
                _ => {}
            }
            if open.is_empty() {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn enter(&mut self, brace: usize) {
        self.open.push(Scope { brace, ..Scope::default() });
    }

    /// Leaves the innermost braces; says whether others are open.
    pub(crate) fn leave(&mut self) -> bool {
        self.open.pop();
        self.open.len() > 1
    }

    /// The label of this name in the innermost braces.
    pub(crate) fn label_here(&self, name: &'a str) -> Option<Label> {
        self.marks.labels.get(&(self.open.last()?.brace, name)).copied()
    }

    /// The table of this name in the innermost braces.
    pub(crate) fn table_here(&self, name: &'a str) -> Option<String> {
        self.marks.tables.get(&(self.open.last()?.brace, name)).cloned()
    }

    /// Is it the name of a list of labels?
    pub(crate) fn is_labels(&self, table: &str) -> bool {
        self.marks.branches.contains(table)
    }

    pub(crate) fn declare_range(&mut self, range: Range<'a>) {
        if let Some(scope) = self.open.last_mut() {
            scope.ranges.push(range);
        }
    }

    pub(crate) fn declare_single(&mut self, name: &'a str, ty: Type) {
        if let Some(scope) = self.open.last_mut() {
            scope.singles.insert(name, ty);
        }
    }

    /// Numbers the register now.
    pub(crate) fn declare_register(&mut self, name: &str, ty: Type) {
        let register = self.add(name.to_owned(), ty);
        if let Some(scope) = self.open.last_mut() {
            scope.registers.insert(name.to_owned(), register);
        }
    }

    pub(crate) fn declare_vector(&mut self, name: &'a str, ty: Type, elements: u32) {
        let parts = ["x", "y", "z", "w"].into_iter().take(elements as usize);
        let registers = parts.map(|part| self.add(format!("{name}.{part}"), ty)).collect();
        if let Some(scope) = self.open.last_mut() {
            scope.vectors.insert(name, registers);
        }
    }

    pub(crate) fn declare_variable(&mut self, name: &'a str, variable: Variable) {
        let number = u32::try_from(self.variables.len()).unwrap_or(u32::MAX);
        self.variables.push(variable);
        if let Some(scope) = self.open.last_mut() {
            scope.variables.insert(name, number);
        }
    }

    /// A register that no other instruction names.
    pub(crate) fn add(&mut self, name: String, ty: Type) -> RegId {
        let register = RegId(u32::try_from(self.registers.len()).unwrap_or(u32::MAX));
        self.registers.push(Register { name, ty });
        register
    }

    pub(crate) fn find(&mut self, name: &str) -> Option<Named> {
        for depth in (0..self.open.len()).rev() {
            let scope = &self.open[depth];
            if let Some(&register) = scope.registers.get(name) {
                return Some(Named::Register(register));
            }
            let range = || scope.ranges.iter().find(|range| range.has(name)).map(|range| range.ty);
            if let Some(ty) = scope.singles.get(name).copied().or_else(range) {
                let register = self.add(name.to_owned(), ty);
                self.open[depth].registers.insert(name.to_owned(), register);
                return Some(Named::Register(register));
            }
            if let Some(registers) = scope.vectors.get(name) {
                return Some(Named::Vector(registers.clone()));
            }
            if scope.variables.contains_key(name) {
                return Some(Named::Symbol);
            }
            if let Some(&label) = self.marks.labels.get(&(scope.brace, name)) {
                return Some(Named::Label(label));
            }
            if let Some(table) = self.marks.tables.get(&(scope.brace, name)) {
                return Some(Named::Table(table.clone()));
            }
        }
        let known = self.parameters.contains_key(name) || self.module.contains_key(name);
        known.then_some(Named::Symbol)
    }

    /// The variable, parameter or function of this name.
    pub(crate) fn symbol(&self, name: &str) -> Option<Symbol> {
        let local = self.open.iter().rev().find_map(|scope| scope.variables.get(name));
        let local = local.map(|&variable| Symbol::Local(variable));
        local.or_else(|| self.parameters.get(name).copied()).or_else(|| self.module.get(name).copied())
    }
}

impl Range<'_> {
    fn has(&self, name: &str) -> bool {
        let Some(digits) = name.strip_prefix(self.prefix) else { return false };
        let canonical =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        canonical && digits.parse().is_ok_and(|number: u64| number < self.count)
    }
}
