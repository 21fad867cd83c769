//! Declarations of variables and parameters, and what variables hold at first.

use crate::ast::{Init, InitValue, Space, Type, Variable};
use crate::constant::{self, Constant, Names};
use crate::cursor::Cursor;
use crate::error::ParseError;
use crate::lexer::Kind;

/// What stands before the names of a declaration: `.extern .shared .align 4 .b8`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Qualifiers {
    /// `None` for `.reg`.
    pub(crate) space: Option<Space>,
    pub(crate) external: bool,
    /// `None` for `.texref` and its like.
    pub(crate) ty: Option<Type>,
    /// Elements of a vector; 1 for none.
    pub(crate) vector: u32,
    pub(crate) align: Option<u32>,
    pub(crate) pointer: bool,
}

/// One name of a declaration.
pub(crate) struct Declarator<'a> {
    pub(crate) name: &'a str,
    pub(crate) line: u32,
    /// `None` for one that is left to the initialiser or the launch.
    dimensions: Vec<Option<u64>>,
}

/// What is declared there: the space that a directive names.
pub(crate) fn space(word: &str) -> Option<Space> {
    Some(match word {
        "global" | "tex" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" => Space::Param,
        _ => return None,
    })
}

/// Is it a word before the space of a declaration?
pub(crate) fn is_linkage(word: &str) -> bool {
    matches!(word, "visible" | "extern" | "weak" | "common" | "linkonce" | "hidden")
}

impl Qualifiers {
    /// Everything up to the first name.
    pub(crate) fn parse(cursor: &mut Cursor<'_, '_>) -> Result<Self, ParseError> {
        let mut this = Self { vector: 1, ..Self::default() };
        let mut typed = false;
        while cursor.peek().kind == Kind::Dot {
            let word = cursor.peek().text;
            match word {
                "align" => {
                    cursor.next();
                    this.align = Some(alignment(cursor)?);
                }
                "attribute" => {
                    cursor.next();
                    skip_parentheses(cursor)?;
                }
                "ptr" => {
                    cursor.next();
                    this.pointer = true;
                    while matches!(
                        cursor.peek().text,
                        "global" | "shared" | "local" | "const" | "param" | "generic"
                    ) {
                        cursor.next();
                    }
                    // Of what the pointer points to.
                    if cursor.eat_dot("align") {
                        alignment(cursor)?;
                    }
                }
                "reg" => {
                    cursor.next();
                }
                "v2" | "v3" | "v4" | "v8" => {
                    cursor.next();
                    this.vector = u32::from(word.as_bytes()[1] - b'0');
                }
                "texref" | "samplerref" | "surfref" => {
                    cursor.next();
                    typed = true;
                }
                _ => {
                    if let Some(ty) = Type::named(word) {
                        this.ty = Some(ty);
                        typed = true;
                    } else if let Some(space) = space(word) {
                        this.space = Some(space);
                    } else if is_linkage(word) {
                        this.external |= word == "extern";
                    } else {
                        return Err(cursor.error("a state space, a type or an alignment"));
                    }
                    cursor.next();
                }
            }
        }
        if typed { Ok(this) } else { Err(cursor.error("a type such as .b32")) }
    }

    /// Of an element; a reference to a texture is as large as a pointer.
    pub(crate) fn element(&self) -> Type {
        self.ty.unwrap_or(Type::B64)
    }

    /// The alignment in bytes that is asked for, or else the natural one.
    pub(crate) fn alignment(&self) -> u32 {
        self.align.unwrap_or_else(|| self.element().size() * self.vector.next_power_of_two())
    }

    /// The size in bytes of all elements; `None` if there is no such memory.
    pub(crate) fn size(&self, declarator: &Declarator<'_>) -> Option<u64> {
        let element = u64::from(self.element().size() * self.vector);
        declarator
            .dimensions
            .iter()
            .try_fold(element, |size, dimension| size.checked_mul(dimension.unwrap_or(0)))
    }

    /// The variable, with nothing in it yet.
    pub(crate) fn variable(&self, declarator: &Declarator<'_>) -> Result<Variable, ParseError> {
        Ok(Variable {
            name: declarator.name.to_owned(),
            space: self.space.unwrap_or(Space::Global),
            ty: self.element(),
            align: self.alignment(),
            size: self.size(declarator).ok_or_else(|| declarator.too_large())?,
            external: self.external,
            init: Vec::new(),
            line: declarator.line,
        })
    }

    /// What stands behind the `=` of a variable.
    pub(crate) fn initialiser(
        &self,
        cursor: &mut Cursor<'_, '_>,
        names: Names<'_>,
        declarator: &Declarator<'_>,
        variable: &mut Variable,
    ) -> Result<(), ParseError> {
        if self.ty.is_none() {
            // How a texture is sampled; no instruction that reads memory sees it.
            return if cursor.eat(b'{') { cursor.skip_braces() } else { constant::integer(cursor).map(drop) };
        }
        let mut dimensions = declarator.dimensions.clone();
        if self.vector > 1 {
            dimensions.push(Some(u64::from(self.vector)));
        }
        let element = u64::from(variable.ty.size());
        let unsized_ = dimensions.first() == Some(&None);
        // The size in bytes of what each level of braces holds an item of.
        let mut strides = vec![element; dimensions.len()];
        for level in (1..dimensions.len()).rev() {
            let stride = strides[level].checked_mul(dimensions[level].unwrap_or(0));
            strides[level - 1] = stride.ok_or_else(|| declarator.too_large())?;
        }
        let mut filler = Filler {
            names,
            ty: variable.ty,
            strides: &strides,
            limit: if unsized_ { u64::MAX } else { variable.size },
            init: &mut variable.init,
        };
        let end = if cursor.eat(b'{') {
            filler.items(cursor, 0, 0)?
        } else {
            filler.item(cursor, 0)?;
            element
        };
        if unsized_ {
            let stride = strides.first().copied().unwrap_or(element);
            variable.size =
                end.checked_next_multiple_of(stride.max(1)).ok_or_else(|| declarator.too_large())?;
        }
        Ok(())
    }
}

fn alignment(cursor: &mut Cursor<'_, '_>) -> Result<u32, ParseError> {
    let error = cursor.error("an alignment: a power of two");
    let align = constant::small(cursor)?;
    if align.is_power_of_two() { Ok(align) } else { Err(error) }
}

/// Passes `(…)`.
pub(crate) fn skip_parentheses(cursor: &mut Cursor<'_, '_>) -> Result<(), ParseError> {
    cursor.expect(b'(')?;
    let mut open = 1_u32;
    while open > 0 {
        match cursor.peek().kind {
            Kind::Sign(b'(') => open += 1,
            Kind::Sign(b')') => open -= 1,
            Kind::End => return Err(cursor.error("`)`")),
            _ => {}
        }
        cursor.next();
    }
    Ok(())
}

impl<'a> Declarator<'a> {
    /// A name and its dimensions.
    pub(crate) fn parse(cursor: &mut Cursor<'_, 'a>) -> Result<Self, ParseError> {
        let line = cursor.line();
        let name = cursor.word("a name")?;
        let mut dimensions = Vec::new();
        while cursor.eat(b'[') {
            if cursor.eat(b']') {
                dimensions.push(None);
                continue;
            }
            dimensions.push(Some(constant::integer(cursor)?));
            cursor.expect(b']')?;
        }
        Ok(Self { name, line, dimensions })
    }

    pub(crate) fn too_large(&self) -> ParseError {
        ParseError {
            line: self.line,
            what: format!("`{}` is larger than any memory", self.name),
            expected: "a size below 2^64 bytes".to_owned(),
        }
    }
}

/// Puts the items of an initialiser in their places.
struct Filler<'f> {
    names: Names<'f>,
    ty: Type,
    /// In bytes, from one item to the next, by depth of the braces.
    strides: &'f [u64],
    /// In bytes.
    limit: u64,
    init: &'f mut Vec<Init>,
}

impl Filler<'_> {
    /// The items up to the closing brace, from byte `start` on; says where the last ends.
    fn items(&mut self, cursor: &mut Cursor<'_, '_>, level: usize, start: u64) -> Result<u64, ParseError> {
        let mut at = start;
        let too_large = cursor.error("an initialiser that fits its variable");
        cursor.list(b'}', |cursor| {
            let length = if cursor.eat(b'{') {
                cursor.nested(|cursor| self.items(cursor, level + 1, at))?;
                self.strides.get(level).copied().unwrap_or(0)
            } else {
                self.item(cursor, at)?;
                u64::from(self.ty.size())
            };
            at = at.checked_add(length).ok_or_else(|| too_large.clone())?;
            Ok(())
        })?;
        Ok(at)
    }

    fn item(&mut self, cursor: &mut Cursor<'_, '_>, offset: u64) -> Result<(), ParseError> {
        let size = self.ty.size();
        if offset.checked_add(u64::from(size)).is_none_or(|end| end > self.limit) {
            return Err(cursor.error("no more items than the variable has elements"));
        }
        let error = cursor.error("a value of the variable's type");
        let value = match constant::expression(cursor, self.names)? {
            Constant::Address { symbol, offset, generic } => {
                InitValue::Address { symbol, offset, generic, size, skip: 0 }
            }
            Constant::Byte { symbol, offset, generic, byte } => {
                InitValue::Address { symbol, offset, generic, size: 1, skip: byte }
            }
            number => {
                let bytes = bytes(self.ty, number).ok_or(error)?;
                if let Some(Init { offset: start, value: InitValue::Bytes(before) }) = self.init.last_mut()
                    && *start + before.len() as u64 == offset
                {
                    before.extend(bytes);
                    return Ok(());
                }
                InitValue::Bytes(bytes)
            }
        };
        self.init.push(Init { offset, value });
        Ok(())
    }
}

/// The number as a variable of this type holds it.
fn bytes(ty: Type, number: Constant) -> Option<Vec<u8>> {
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    let bits = match (ty, number) {
        (Type::F32, Constant::Integer(value)) => u64::from((value.cast_signed() as f32).to_bits()),
        (Type::F64, Constant::Integer(value)) => (value.cast_signed() as f64).to_bits(),
        (Type::F32, Constant::Float64(bits)) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Type::F64, Constant::Float32(bits)) => f64::from(f32::from_bits(bits)).to_bits(),
        (_, Constant::Integer(bits) | Constant::Float64(bits)) => bits,
        (_, Constant::Float32(bits)) => u64::from(bits),
        (_, Constant::Address { .. } | Constant::Byte { .. }) => return None,
    };
    let wide = u128::from(bits).to_le_bytes();
    Some(wide.get(..ty.size() as usize)?.to_vec())
}
