//! A whole PTX text.

use std::collections::{HashMap, HashSet};

use crate::ast::{Function, Module, Symbol, Variable};
use crate::body::{self, Surroundings};
use crate::chain;
use crate::constant;
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::header;
use crate::lexer::{self, Kind, Token};
use crate::positions::Positions;
use crate::variable::{self, Declarator, Qualifiers};

/// The sections that say where functions were inlined. (LLVM 22 writes `.debug_aranges` so that nobody can read it.)
const READ_SECTIONS: [&str; 3] = ["debug_info", "debug_abbrev", "debug_str"];

/// Reads PTX.
///
/// Names are resolved, however far behind their use they are declared. What an instruction means is not checked, nor
/// whether there is one of that name.
///
/// # Errors
/// At the first place that is not PTX (ISA 6.0 to 9.0) or names what is not declared.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = lexer::tokens(text)?;
    let mut outline = Outline::new(&tokens);
    while outline.cursor.peek().kind != Kind::End {
        outline.statement()?;
    }
    outline.finish()
}

/// What stands at module scope. Bodies and initialisers may name what is declared below them, and are read when
/// all is known.
struct Outline<'t, 'a> {
    tokens: &'t [Token<'a>],
    cursor: Cursor<'t, 'a>,
    module: Module,
    positions: Positions,
    symbols: HashMap<&'a str, Symbol>,
    /// Where `.reg` stands.
    registers: Vec<usize>,
    /// By function, the token that opens the body.
    bodies: Vec<(usize, usize)>,
    /// By variable, the token behind `=`.
    initialisers: Vec<(usize, usize, Qualifiers, Declarator<'a>)>,
    /// Names of debug sections, and the tokens that open them.
    sections: Vec<(&'a str, usize)>,
    /// An alias and what it stands for, with the line of the directive.
    aliases: Vec<(&'a str, &'a str, u32)>,
}

impl<'t, 'a> Outline<'t, 'a> {
    fn new(tokens: &'t [Token<'a>]) -> Self {
        Self {
            tokens,
            cursor: Cursor::new(tokens),
            // PTX ISA, ".address_size": 32 where it is left out.
            module: Module { address_size: 32, ..Module::default() },
            positions: Positions::default(),
            symbols: HashMap::new(),
            registers: Vec::new(),
            bodies: Vec::new(),
            initialisers: Vec::new(),
            sections: Vec::new(),
            aliases: Vec::new(),
        }
    }

    fn statement(&mut self) -> Result<(), ParseError> {
        let cursor = &mut self.cursor;
        let token = cursor.peek();
        match token.kind {
            Kind::Sign(b';') => {
                cursor.next();
                return Ok(());
            }
            // A label of the debug sections.
            Kind::Word if cursor.ahead(1).kind == Kind::Sign(b':') => {
                cursor.next();
                cursor.next();
                return Ok(());
            }
            Kind::Dot => {}
            _ => return Err(cursor.error("a directive")),
        }
        // Before the words of linkage.
        let mut ahead = 0;
        while cursor.ahead(ahead).kind == Kind::Dot && variable::is_linkage(cursor.ahead(ahead).text) {
            ahead += 1;
        }
        match cursor.ahead(ahead).text {
            "entry" | "func" => {
                cursor.go(cursor.at() + ahead);
                return self.function();
            }
            word if variable::space(word).is_some() => return self.variables(),
            _ if ahead > 0 => {
                cursor.go(cursor.at() + ahead);
                return Err(cursor.error("`.entry`, `.func` or a state space"));
            }
            _ => {}
        }
        match token.text {
            "reg" => {
                self.registers.push(cursor.at());
                while cursor.peek().kind != Kind::End && !cursor.eat(b';') {
                    cursor.next();
                }
                return Ok(());
            }
            "version" | "target" | "address_size" | "file" | "section" | "alias" | "pragma" => {}
            _ => return Err(cursor.error("a directive that is known outside of functions")),
        }
        cursor.next();
        match token.text {
            "version" => self.module.version = version(cursor)?,
            "target" => {
                cursor.word("a target such as sm_75")?.clone_into(&mut self.module.target);
                while cursor.eat(b',') {
                    cursor.word("a target")?;
                }
            }
            "address_size" => self.module.address_size = constant::small(cursor)?,
            "file" => self.positions.file(cursor)?,
            "pragma" => header::pragma(cursor)?,
            "alias" => {
                let line = token.line;
                let name = cursor.word("the name of a function")?;
                cursor.expect(b',')?;
                self.aliases.push((name, cursor.word("the name of a function")?, line));
                cursor.expect(b';')?;
            }
            _ => {
                let name = cursor.dot().ok_or_else(|| cursor.error("the name of a section"))?;
                if READ_SECTIONS.contains(&name) {
                    self.sections.push((name, cursor.at()));
                }
                cursor.expect(b'{')?;
                cursor.skip_braces()?;
            }
        }
        Ok(())
    }

    fn function(&mut self) -> Result<(), ParseError> {
        let (name, function) = header::header(&mut self.cursor)?;
        let functions = &mut self.module.functions;
        let index = match self.symbols.get(name) {
            Some(&Symbol::Function(index)) => {
                let index = index as usize;
                let has_body = self.bodies.iter().any(|&(known, _)| known == index);
                if !has_body {
                    // What a declaration says holds for the definition too.
                    let noreturn = functions[index].is_noreturn() && !function.is_noreturn();
                    functions[index] = function;
                    if noreturn {
                        functions[index].directives.push(("noreturn".to_owned(), Vec::new()));
                    }
                } else if self.cursor.is(b'{') {
                    return Err(twice(&function.name, function.line));
                }
                index
            }
            Some(_) => return Err(twice(&function.name, function.line)),
            None => {
                functions.push(function);
                let index = functions.len() - 1;
                self.symbols.insert(name, Symbol::Function(number(index)));
                index
            }
        };
        if self.cursor.is(b'{') {
            self.bodies.push((index, self.cursor.at()));
            self.cursor.next();
            self.cursor.skip_braces()?;
        }
        Ok(())
    }

    fn variables(&mut self) -> Result<(), ParseError> {
        let qualifiers = Qualifiers::parse(&mut self.cursor)?;
        loop {
            let declarator = Declarator::parse(&mut self.cursor)?;
            let variable = qualifiers.variable(&declarator)?;
            let index = self.variable(declarator.name, variable)?;
            if self.cursor.eat(b'=') {
                self.initialisers.push((index, self.cursor.at(), qualifiers.clone(), declarator));
                self.skip_initialiser()?;
            }
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b';');
            }
        }
    }

    /// The number of this variable, which may be known from a declaration.
    fn variable(&mut self, name: &'a str, variable: Variable) -> Result<usize, ParseError> {
        let variables = &mut self.module.variables;
        match self.symbols.get(name) {
            Some(&Symbol::Module(index)) => {
                let known = &mut variables[index as usize];
                if known.external {
                    *known = variable;
                } else if !variable.external {
                    return Err(twice(name, variable.line));
                }
                Ok(index as usize)
            }
            Some(_) => Err(twice(name, variable.line)),
            None => {
                let index = variables.len();
                variables.push(variable);
                self.symbols.insert(name, Symbol::Module(number(index)));
                Ok(index)
            }
        }
    }

    /// Passes an initialiser up to the `,` or `;` behind it.
    fn skip_initialiser(&mut self) -> Result<(), ParseError> {
        loop {
            match self.cursor.peek().kind {
                Kind::Sign(b',' | b';') => return Ok(()),
                Kind::End => return Err(self.cursor.error("`;`")),
                Kind::Sign(b'{') => {
                    self.cursor.next();
                    self.cursor.skip_braces()?;
                }
                _ => {
                    self.cursor.next();
                }
            }
        }
    }

    /// Reads the bodies and initialisers.
    fn finish(self) -> Result<Module, ParseError> {
        let Self { tokens, mut cursor, mut module, mut positions, symbols, .. } = self;
        let names = |name: &str| symbols.get(name).copied();
        for (index, at, qualifiers, declarator) in &self.initialisers {
            cursor.go(*at);
            qualifiers.initialiser(&mut cursor, &names, declarator, &mut module.variables[*index])?;
            if !cursor.is(b',') && !cursor.is(b';') {
                return Err(cursor.error("`,` or `;` behind an initialiser"));
            }
        }
        let functions = (0..).zip(&module.functions);
        let noreturn: HashSet<u32> =
            functions.filter(|(_, function)| function.is_noreturn()).map(|(index, _)| index).collect();
        let around =
            Surroundings { tokens, symbols: &symbols, registers: &self.registers, noreturn: &noreturn };
        for &(index, brace) in &self.bodies {
            let body = body::body(&around, &mut positions, &module.functions[index], brace)?;
            module.functions[index].body = Some(body);
        }
        chain::attach(&mut module.functions, &mut positions, &mut cursor, &self.sections);
        for &(name, target, line) in &self.aliases {
            alias(&mut module.functions, &symbols, name, target, line)?;
        }
        module.files = positions.files;
        module.positions = positions.list;
        Ok(module)
    }
}

/// Gives the function `name` the body of another.
fn alias(
    functions: &mut [Function],
    symbols: &HashMap<&str, Symbol>,
    name: &str,
    target: &str,
    line: u32,
) -> Result<(), ParseError> {
    let function = |name: &str| match symbols.get(name) {
        Some(&Symbol::Function(index)) => Ok(index as usize),
        _ => Err(ParseError {
            line,
            what: format!("`{name}`"),
            expected: "the name of a declared function".to_owned(),
        }),
    };
    let (alias, target) = (function(name)?, function(target)?);
    let Function { params, returns, body, .. } = functions[target].clone();
    functions[alias] = Function { params, returns, body, ..functions[alias].clone() };
    Ok(())
}

fn version(cursor: &mut Cursor<'_, '_>) -> Result<(u32, u32), ParseError> {
    let error = cursor.error("a version such as 7.8");
    let (major, minor) = cursor.next().text.split_once('.').ok_or_else(|| error.clone())?;
    Ok((major.parse().map_err(|_| error.clone())?, minor.parse().map_err(|_| error)?))
}

fn twice(name: &str, line: u32) -> ParseError {
    ParseError { line, what: format!("`{name}` a second time"), expected: "a name that is new".to_owned() }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
