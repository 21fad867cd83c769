//! What a PTX file says, with names resolved.

use std::fmt;

/// A PTX file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version`, major and minor.
    pub version: (u32, u32),
    /// `.target`, the first word: `sm_75`.
    pub target: String,
    /// `.address_size` in bits: 32 or 64.
    pub address_size: u32,
    /// The source files that positions name.
    pub files: Vec<String>,
    /// Places in the source, each once; instructions name them by number.
    pub positions: Vec<Position>,
    /// Variables at module scope.
    pub variables: Vec<Variable>,
    /// Every function, with a body or only declared.
    pub functions: Vec<Function>,
}

impl Module {
    /// A position, the call that its function was inlined at, the call that this one was inlined at, and so on.
    pub fn chain(&self, position: PositionId) -> impl Iterator<Item = &Position> {
        let of = |id: PositionId| self.positions.get(id.0 as usize);
        std::iter::successors(of(position), move |position| of(position.caller?))
    }

    /// The innermost place of the chain that names a line of a file which is no `library`'s; the outermost if none
    /// does. `None` for a position that is not this module's.
    pub fn place(&self, position: PositionId, library: impl Fn(&str) -> bool) -> Option<&Position> {
        let is_own = |place: &Position| place.line != 0 && !library(self.file(place));
        self.chain(position).find(|&place| is_own(place)).or_else(|| self.chain(position).last())
    }

    /// The path of a position's file.
    #[must_use]
    pub fn file(&self, position: &Position) -> &str {
        self.files.get(position.file as usize).map_or("", String::as_str)
    }
}

/// The number of a position in [`Module::positions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PositionId(pub u32);

/// A place in the source, and where its function was inlined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The file, in [`Module::files`].
    pub file: u32,
    /// The line, from 1; 0 if the compiler names none.
    pub line: u32,
    /// The column, from 1; 0 if the compiler names none.
    pub column: u32,
    /// The call that was inlined: this place belongs to the body of a function called there. `None` for the
    /// function that the instruction stands in.
    pub caller: Option<PositionId>,
}

/// A state space (PTX ISA, "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// `.global`
    Global,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// `.param`
    Param,
}

/// A fundamental type (PTX ISA, "Fundamental Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
}

impl Type {
    const NAMES: [(&'static str, Self); 20] = [
        ("pred", Self::Pred),
        ("b8", Self::B8),
        ("b16", Self::B16),
        ("b32", Self::B32),
        ("b64", Self::B64),
        ("b128", Self::B128),
        ("u8", Self::U8),
        ("u16", Self::U16),
        ("u32", Self::U32),
        ("u64", Self::U64),
        ("s8", Self::S8),
        ("s16", Self::S16),
        ("s32", Self::S32),
        ("s64", Self::S64),
        ("f16", Self::F16),
        ("f16x2", Self::F16x2),
        ("bf16", Self::BF16),
        ("bf16x2", Self::BF16x2),
        ("f32", Self::F32),
        ("f64", Self::F64),
    ];

    /// The type of this name, written without its dot.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|&(known, _)| known == name).map(|(_, ty)| ty)
    }

    /// The name, without its dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|&(_, ty)| ty == self).map_or("", |(name, _)| name)
    }

    /// The size in bytes; a predicate has 1.
    #[must_use]
    pub fn size(self) -> u32 {
        match self {
            Self::Pred | Self::B8 | Self::U8 | Self::S8 => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::BF16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::F16x2 | Self::BF16x2 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
            Self::B128 => 16,
        }
    }

    /// Is it `.s8` to `.s64`?
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Is it a floating-point type?
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F16x2 | Self::BF16 | Self::BF16x2 | Self::F32 | Self::F64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// As in the PTX.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Of an element.
    pub ty: Type,
    /// In bytes; the natural alignment of the element where `.align` is not given.
    pub align: u32,
    /// In bytes, all dimensions multiplied; 0 for an array without a size, as `.extern .shared` ones are.
    pub size: u64,
    /// Declared `.extern`: a dynamic shared array, or a variable of another file.
    pub external: bool,
    /// What it holds at first; the rest is zero.
    pub init: Vec<Init>,
    /// The line of the PTX, from 1.
    pub line: u32,
}

/// A part of an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// In bytes from the start of the variable.
    pub offset: u64,
    /// What stands there.
    pub value: InitValue,
}

/// The value of a part of an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitValue {
    /// As in memory, little-endian.
    Bytes(Vec<u8>),
    /// The address of a variable or function.
    Address {
        /// What.
        symbol: Symbol,
        /// Bytes behind its start.
        offset: i64,
        /// `generic(name)`: its address in the generic space.
        generic: bool,
        /// How many bytes of the address are stored.
        size: u32,
        /// How many low bytes of the address are left out before them: 1 for `0xff00(name)`, nearly always 0.
        skip: u32,
    },
}

/// A kernel or a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// As in the PTX.
    pub name: String,
    /// `.entry`: a launch can start it.
    pub entry: bool,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it returns.
    pub returns: Vec<Param>,
    /// Performance directives and `.noreturn`, without their dots, and their numbers: `("reqntid", [32, 1, 1])`.
    pub directives: Vec<(String, Vec<u64>)>,
    /// `None` if it is only declared.
    pub body: Option<Body>,
    /// The line of the PTX, from 1.
    pub line: u32,
}

impl Function {
    /// Is it declared `.noreturn`?
    #[must_use]
    pub fn is_noreturn(&self) -> bool {
        self.directives.iter().any(|(name, _)| name == "noreturn")
    }
}

/// A parameter or a returned value.
#[derive(Clone, Debug)]
pub struct Param {
    /// As in the PTX.
    pub name: String,
    /// Of an element, if it is an array of bytes.
    pub ty: Type,
    /// In bytes.
    pub align: u32,
    /// In bytes.
    pub size: u64,
    /// Offset in the parameter block, each parameter aligned as it asks for; 0 for returned values.
    pub offset: u64,
    /// Declared `.ptr`.
    pub pointer: bool,
    /// `.reg` instead of `.param` (old PTX): the register of the body that holds it.
    pub register: Option<RegId>,
}

/// The number of a register in [`Body::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegId(pub u32);

/// A virtual register.
#[derive(Clone, Debug)]
pub struct Register {
    /// As in the PTX. Registers of nested scopes may share a name.
    pub name: String,
    /// The declared type.
    pub ty: Type,
}

/// The number of a label in [`Body::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// The code of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The registers that instructions name, of every scope.
    pub registers: Vec<Register>,
    /// Variables declared in the body: `.local`, `.shared`, and `.param` of calls. Those of nested scopes may share a name.
    pub variables: Vec<Variable>,
    /// In the order of the file.
    pub instructions: Vec<Instruction>,
    /// For each label its name and the instruction it stands before; the number of instructions for a label
    /// at the end.
    pub labels: Vec<(String, usize)>,
    /// `.branchtargets` and `.calltargets`: name and entries.
    pub tables: Vec<(String, Vec<Operand>)>,
    /// `.callprototype`s: name, sizes in bytes of the returned values and of the parameters.
    pub prototypes: Vec<(String, Vec<u64>, Vec<u64>)>,
    /// The calls of functions that are declared `.noreturn`, in order.
    pub never_returning: Vec<usize>,
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of [`Module::variables`].
    Module(u32),
    /// A variable of [`Body::variables`].
    Local(u32),
    /// A parameter of the function that the instruction stands in.
    Param(u32),
    /// A returned value of that function.
    Return(u32),
    /// A function of [`Module::functions`].
    Function(u32),
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// `@%p` or `@!%p`.
    pub guard: Option<Guard>,
    /// The first word: `ld`.
    pub opcode: String,
    /// The words behind it, without their dots: `["shared", "f32"]`, `["sync"]`, `["shared::cta", "b32"]`.
    pub modifiers: Vec<String>,
    /// Destinations first, as written. A `call` has three: the list of returned values, the function, the list of
    /// arguments; and a fourth, a [`Operand::Table`], if it names a prototype or targets.
    pub operands: Vec<Operand>,
    /// The line of the PTX, from 1.
    pub line: u32,
    /// Where it comes from in the source, if the PTX says.
    pub position: Option<PositionId>,
}

impl Instruction {
    /// Does it have this modifier?
    #[must_use]
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|known| known == modifier)
    }

    /// The types among its modifiers, in order.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = Type> {
        self.modifiers.iter().filter_map(|word| Type::named(word))
    }

    /// The last type among its modifiers: nearly always that of its operands.
    #[must_use]
    pub fn ty(&self) -> Option<Type> {
        self.types().next_back()
    }

    /// The opcode with its modifiers, as written: `ld.shared.f32`.
    #[must_use]
    pub fn mnemonic(&self) -> String {
        let words = std::iter::once(&self.opcode).chain(&self.modifiers);
        words.map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

/// A predicate that decides whether an instruction is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub register: RegId,
    /// `@!%p`: executed where it is false.
    pub negated: bool,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Register(RegId),
    /// `!%p`, or `-%r` where old PTX allows it.
    Negated(RegId),
    /// A part of a register: `%r1.b0`, `%r1.h1`.
    Part(RegId, String),
    /// `%p|%q`: two destinations. In place of `_` stands a register that nothing reads, of that name.
    Pair(RegId, RegId),
    /// A special register, as written: `%tid.x`, `%laneid`, `WARP_SZ`.
    Special(String),
    /// An integer of 64 bits; a negative one in two's complement.
    Integer(u64),
    /// The bits of `0f…` (32 bits).
    Float32(u32),
    /// The bits of `0d…`, or of a decimal number with a point.
    Float64(u64),
    /// The address of a variable or function, plus so many bytes.
    Symbol(Symbol, i64),
    /// `[base+offset]`.
    Address {
        /// What it starts from.
        base: Base,
        /// In bytes.
        offset: i64,
    },
    /// `[tensor, {x, y}]`, `[texture, sampler, {x, y}]`: an address of several parts.
    Coordinates(Vec<Operand>),
    /// A label of the body.
    Label(Label),
    /// `{a, b, …}`, or the parenthesised list of a call.
    List(Vec<Operand>),
    /// A table or prototype, by its number in [`Body::tables`] or [`Body::prototypes`] under its name.
    Table(String),
    /// `_`: the result is dropped.
    Sink,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A register.
    Register(RegId),
    /// A variable.
    Symbol(Symbol),
    /// Nothing: the offset is the address.
    Absolute,
}
