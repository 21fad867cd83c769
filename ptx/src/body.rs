//! The code of a function.

use std::collections::{HashMap, HashSet};

use crate::ast::{Body, Function, Guard, Instruction, Operand, PositionId, Symbol, Type};
use crate::constant;
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::header;
use crate::lexer::{Kind, Token};
use crate::operand::{self, operand};
use crate::positions::Positions;
use crate::scopes::{Range, Scopes};
use crate::variable::{self, Declarator, Qualifiers};

/// What a body can name, and where its positions go.
pub(crate) struct Surroundings<'s, 'a> {
    pub(crate) tokens: &'s [Token<'a>],
    /// Variables and functions of the module.
    pub(crate) symbols: &'s HashMap<&'a str, Symbol>,
    /// Where `.reg` stands at module scope, as old PTX has it.
    pub(crate) registers: &'s [usize],
    /// The functions that are declared `.noreturn`.
    pub(crate) noreturn: &'s HashSet<u32>,
}

/// The body whose brace is token number `brace`.
pub(crate) fn body(
    around: &Surroundings<'_, '_>,
    positions: &mut Positions,
    function: &Function,
    brace: usize,
) -> Result<Body, ParseError> {
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let params = function.params.iter().enumerate();
    let returns = function.returns.iter().enumerate();
    let parameters = params
        .map(|(index, param)| (param, Symbol::Param(number(index))))
        .chain(returns.map(|(index, param)| (param, Symbol::Return(number(index)))));
    let names = parameters.filter(|(param, _)| param.register.is_none());
    let names = names.map(|(param, symbol)| (param.name.clone(), symbol)).collect();
    let mut scopes = Scopes::new(around.symbols, names, around.tokens, brace)?;
    // In the order in which the header numbered them.
    for param in function.returns.iter().chain(&function.params).filter(|param| param.register.is_some()) {
        scopes.declare_register(&param.name, param.ty);
    }
    let mut cursor = Cursor::new(around.tokens);
    for &at in around.registers {
        cursor.go(at);
        registers(&mut cursor, &mut scopes)?;
    }
    cursor.go(brace + 1);
    scopes.enter(brace);
    positions.start_function();
    let mut reader = Reader {
        cursor,
        scopes,
        positions,
        noreturn: around.noreturn,
        noreturn_prototypes: HashSet::new(),
        body: Body::default(),
        position: None,
    };
    while reader.statement()? {}
    let Reader { scopes, mut body, .. } = reader;
    body.registers = scopes.registers;
    body.variables = scopes.variables;
    body.labels = scopes.labels;
    Ok(body)
}

/// What stands behind `.reg`.
fn registers<'a>(cursor: &mut Cursor<'_, 'a>, scopes: &mut Scopes<'a, '_>) -> Result<(), ParseError> {
    let qualifiers = Qualifiers::parse(cursor)?;
    let ty = qualifiers.element();
    loop {
        let name = cursor.word("the name of a register")?;
        if cursor.eat(b'<') {
            scopes.declare_range(Range { prefix: name, count: constant::integer(cursor)?, ty });
            cursor.expect(b'>')?;
        } else if qualifiers.vector > 1 {
            scopes.declare_vector(name, ty, qualifiers.vector);
        } else {
            scopes.declare_single(name, ty);
        }
        if !cursor.eat(b',') {
            return cursor.expect(b';');
        }
    }
}

struct Reader<'t, 'a, 'm, 'p> {
    cursor: Cursor<'t, 'a>,
    scopes: Scopes<'a, 'm>,
    positions: &'p mut Positions,
    noreturn: &'m HashSet<u32>,
    noreturn_prototypes: HashSet<String>,
    body: Body,
    position: Option<PositionId>,
}

impl Reader<'_, '_, '_, '_> {
    /// Reads a statement; false behind the brace that closes the body.
    fn statement(&mut self) -> Result<bool, ParseError> {
        let token = self.cursor.peek();
        match token.kind {
            Kind::Sign(b'{') => {
                self.scopes.enter(self.cursor.at());
                self.cursor.next();
            }
            Kind::Sign(b'}') => {
                self.cursor.next();
                return Ok(self.scopes.leave());
            }
            Kind::Sign(b';') => {
                self.cursor.next();
            }
            Kind::Dot => self.directive()?,
            Kind::Word if self.cursor.ahead(1).kind == Kind::Sign(b':') => self.label()?,
            Kind::Word | Kind::Sign(b'@') => self.instruction()?,
            _ => return Err(self.cursor.error("an instruction, a directive, a label or `}`")),
        }
        Ok(true)
    }

    fn directive(&mut self) -> Result<(), ParseError> {
        let word = self.cursor.peek().text;
        match word {
            "reg" => registers(&mut self.cursor, &mut self.scopes),
            "loc" => {
                self.cursor.next();
                self.position = self.positions.loc(&mut self.cursor)?;
                Ok(())
            }
            "pragma" => {
                self.cursor.next();
                header::pragma(&mut self.cursor)
            }
            _ if variable::space(word).is_some() || variable::is_linkage(word) => self.variables(),
            _ => Err(self.cursor.error("a directive that is known in a function")),
        }
    }

    fn variables(&mut self) -> Result<(), ParseError> {
        let qualifiers = Qualifiers::parse(&mut self.cursor)?;
        loop {
            let declarator = Declarator::parse(&mut self.cursor)?;
            let mut variable = qualifiers.variable(&declarator)?;
            if self.cursor.eat(b'=') {
                let scopes = &self.scopes;
                let names = |name: &str| scopes.symbol(name);
                qualifiers.initialiser(&mut self.cursor, &names, &declarator, &mut variable)?;
            }
            self.scopes.declare_variable(declarator.name, variable);
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b';');
            }
        }
    }

    /// A label, or a table or prototype with its name.
    fn label(&mut self) -> Result<(), ParseError> {
        let error = self.cursor.error("a label");
        let name = self.cursor.next().text;
        self.cursor.next();
        if let Some(label) = self.scopes.label_here(name) {
            self.scopes.labels[label.0 as usize].1 = self.body.instructions.len();
            return Ok(());
        }
        let table = self.scopes.table_here(name).ok_or(error)?;
        if self.cursor.eat_dot("callprototype") {
            let (returns, params, noreturn) = header::prototype(&mut self.cursor)?;
            if noreturn {
                self.noreturn_prototypes.insert(table.clone());
            }
            self.body.prototypes.push((table, returns, params));
            return Ok(());
        }
        self.cursor.next();
        let mut entries = Vec::new();
        loop {
            entries.push(operand(&mut self.cursor, &mut self.scopes, (Type::B32, Type::B32))?);
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.body.tables.push((table, entries));
        self.cursor.expect(b';')
    }

    fn instruction(&mut self) -> Result<(), ParseError> {
        let line = self.cursor.line();
        let guard = if self.cursor.eat(b'@') {
            let negated = self.cursor.eat(b'!');
            Some(Guard { register: operand::register(&mut self.cursor, &mut self.scopes)?, negated })
        } else {
            None
        };
        let opcode = self.cursor.word("an instruction")?.to_owned();
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.cursor.dot() {
            modifiers.push(modifier.to_owned());
        }
        let mut instruction =
            Instruction { guard, opcode, modifiers, operands: Vec::new(), line, position: self.position };
        if instruction.opcode == "call" {
            instruction.operands = self.call()?;
            if self.is_noreturn(&instruction.operands) {
                self.body.never_returning.push(self.body.instructions.len());
            }
        } else if !self.cursor.is(b';') {
            self.operands(&mut instruction)?;
        }
        if !self.jumps_somewhere(&instruction) {
            let what = format!("`{}` without a target", instruction.mnemonic());
            let expected = "one label, or for `brx` an index and a declared list of labels".to_owned();
            return Err(ParseError { line, what, expected });
        }
        self.cursor.expect(b';')?;
        self.body.instructions.push(instruction);
        Ok(())
    }

    /// A jump has to have a target, which the control flow goes by.
    fn jumps_somewhere(&self, instruction: &Instruction) -> bool {
        match (&*instruction.opcode, &*instruction.operands) {
            ("bra", [Operand::Label(_)]) => true,
            ("brx", [_, Operand::Table(name)]) => self.scopes.is_labels(name),
            (opcode, _) => !matches!(opcode, "bra" | "brx"),
        }
    }

    fn operands(&mut self, instruction: &mut Instruction) -> Result<(), ParseError> {
        let ty = instruction.ty().unwrap_or(Type::B32);
        let pair = if instruction.opcode == "setp" { (Type::Pred, Type::Pred) } else { (ty, Type::Pred) };
        loop {
            instruction.operands.push(operand(&mut self.cursor, &mut self.scopes, pair)?);
            // `[address].unified` says something of the access, as modifiers do.
            while let Some(modifier) = self.cursor.dot() {
                instruction.modifiers.push(modifier.to_owned());
            }
            if self.cursor.is(b';') {
                return Ok(());
            }
            if !self.cursor.eat(b',') {
                return Err(self.cursor.error("`,` or `;` behind an operand"));
            }
        }
    }

    /// Returned values, function, arguments, and prototype or targets if there are.
    fn call(&mut self) -> Result<Vec<Operand>, ParseError> {
        let Self { cursor, scopes, .. } = self;
        let mut returns = Operand::List(Vec::new());
        if cursor.eat(b'(') {
            returns = operand::list(cursor, scopes, b')')?;
            cursor.expect(b',')?;
        }
        let error = cursor.error("a declared function, or a register that holds the address of one");
        let callee = operand(cursor, scopes, (Type::B64, Type::B64))?;
        if !matches!(callee, Operand::Register(_) | Operand::Symbol(Symbol::Function(_), 0)) {
            return Err(error);
        }
        let mut operands = vec![returns, callee, Operand::List(Vec::new())];
        if cursor.eat(b',') {
            let listed = cursor.eat(b'(');
            if listed {
                operands[2] = operand::list(cursor, scopes, b')')?;
            }
            if !listed || cursor.eat(b',') {
                let error =
                    cursor.error("arguments in parentheses, or a declared prototype or list of targets");
                match operand(cursor, scopes, (Type::B64, Type::B64))? {
                    table @ Operand::Table(_) => operands.push(table),
                    _ => return Err(error),
                }
            }
        }
        Ok(operands)
    }

    fn is_noreturn(&self, operands: &[Operand]) -> bool {
        let declared = matches!(operands.get(1), Some(Operand::Symbol(Symbol::Function(function), _))
            if self.noreturn.contains(function));
        declared
            || matches!(operands.get(3), Some(Operand::Table(name)) if self.noreturn_prototypes.contains(name))
    }
}
