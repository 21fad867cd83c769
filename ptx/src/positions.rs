//! The `.file` and `.loc` directives.

use std::collections::HashMap;

use crate::ast::{Position, PositionId};
use crate::constant;
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::lexer::Kind;

/// The places that a text names.
#[derive(Default)]
pub(crate) struct Positions {
    /// Each path once.
    pub(crate) files: Vec<String>,
    /// Each place once.
    pub(crate) list: Vec<Position>,
    ids: HashMap<Position, PositionId>,
    /// The place in `files` by the number of a `.file` directive.
    numbers: HashMap<u32, u32>,
    /// The last place of this function with such a file, line and column.
    last: HashMap<(u32, u32, u32), PositionId>,
}

impl Positions {
    /// What stands behind `.file`: `1 "path"`, and perhaps a time and a size.
    pub(crate) fn file(&mut self, cursor: &mut Cursor<'_, '_>) -> Result<(), ParseError> {
        let number = constant::small(cursor)?;
        if cursor.peek().kind != Kind::Text {
            return Err(cursor.error("the path of a file in quotes"));
        }
        let path = cursor.next().text;
        while cursor.eat(b',') {
            constant::integer(cursor)?;
        }
        let index = self.path(path);
        self.numbers.insert(number, index);
        Ok(())
    }

    /// The number of a path in `files`.
    pub(crate) fn path(&mut self, path: &str) -> u32 {
        let known = self.files.iter().position(|known| known == path).unwrap_or_else(|| {
            self.files.push(path.to_owned());
            self.files.len() - 1
        });
        u32::try_from(known).unwrap_or(u32::MAX)
    }

    /// A place in `files` by the number of a `.file` directive.
    pub(crate) fn numbered(&self, number: u32) -> Option<u32> {
        self.numbers.get(&number).copied()
    }

    pub(crate) fn start_function(&mut self) {
        self.last.clear();
    }

    /// The number of this place.
    pub(crate) fn id(&mut self, position: &Position) -> PositionId {
        if let Some(&id) = self.ids.get(position) {
            return id;
        }
        let id = PositionId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(position.clone());
        self.ids.insert(position.clone(), id);
        id
    }

    /// What stands behind `.loc`; `None` for a file without a `.file` directive.
    pub(crate) fn loc(&mut self, cursor: &mut Cursor<'_, '_>) -> Result<Option<PositionId>, ParseError> {
        let place = place(cursor)?;
        let mut caller = None;
        while cursor.eat(b',') {
            match cursor.word("`function_name` or `inlined_at`")? {
                "function_name" => {
                    cursor.word("the label of a name")?;
                    if cursor.eat(b'+') {
                        constant::integer(cursor)?;
                    }
                }
                "inlined_at" => caller = Some(self::place(cursor)?),
                _ => return Err(cursor.error("`function_name` or `inlined_at` before it")),
            }
        }
        let Some(file) = self.numbered(place.0) else { return Ok(None) };
        // The place of the call has a directive of its own before this one, which says where that was inlined.
        let caller = caller.and_then(|(number, line, column)| {
            let file = self.numbered(number)?;
            let known = self.last.get(&(file, line, column)).copied();
            Some(known.unwrap_or_else(|| self.id(&Position { file, line, column, caller: None })))
        });
        let (_, line, column) = place;
        let id = self.id(&Position { file, line, column, caller });
        self.last.insert((file, line, column), id);
        Ok(Some(id))
    }
}

/// The number of a file, line and column.
fn place(cursor: &mut Cursor<'_, '_>) -> Result<(u32, u32, u32), ParseError> {
    let mut number = |expected: &str| {
        let error = cursor.error(expected);
        if cursor.peek().kind == Kind::Number { constant::small(cursor) } else { Err(error) }
    };
    Ok((number("the number of a file")?, number("a line")?, number("a column")?))
}
