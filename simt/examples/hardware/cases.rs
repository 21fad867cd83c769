//! Every instruction to compare, with the widths of its operands.

use simt::alu::{self, Alu};

/// What an operand or a result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A register of so many bits.
    Word(u32),
    /// A predicate register.
    Predicate,
    /// A number in the text.
    Constant(u64),
    /// A register of so many bits that is not zero: its lowest bit is set.
    NonZero(u32),
    /// A 32-bit register with a number below 32.
    Below32,
    /// A 32-bit register with a number below 256.
    Below256,
}

/// What the inputs of a case are drawn from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    Integer,
    Single,
    Double,
    Half,
    Brain,
}

/// How a case calls its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// `op d, a, b, c;`
    Plain,
    /// `first t, a, b; op d, …;`: `first` leaves the carry flag that `op` reads.
    Carry(&'static str),
    /// `op d, [slot], b, c;` on a word of its own that holds `a`; the result is what it holds then.
    Atomic,
}

/// An instruction to compare.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// As written in PTX.
    pub(crate) mnemonic: String,
    /// The source operands.
    pub(crate) operands: Vec<Kind>,
    /// The destination.
    pub(crate) result: Kind,
    /// The inputs.
    pub(crate) class: Class,
    /// How it is called.
    pub(crate) form: Form,
    /// PTX gives it with a bounded error.
    pub(crate) approximate: bool,
    /// PTX leaves some of its results open.
    pub(crate) open: bool,
    /// It needs `.target sm_90`.
    pub(crate) new: bool,
}

impl Case {
    /// The instruction, as a parser would read it.
    pub(crate) fn instruction(&self) -> ptx::Instruction {
        read(&self.mnemonic, self.operands.len() + 1)
    }

    /// What the card must give for these operands; `None` if the instruction is not supported.
    pub(crate) fn expected(&self, operands: &[u64]) -> Option<u64> {
        let instruction = self.instruction();
        let at = |index: usize| operands.get(index).copied().unwrap_or(0);
        match self.form {
            Form::Atomic => return Some(alu::atomic(&instruction)?(at(0), at(1), at(2))),
            Form::Carry(first) => {
                let flag = call(alu::carry(&read(first, 3))?, &[at(0), at(1)])?;
                let rest = [&operands[2..], &[flag]].concat();
                return call(alu::scalar(&instruction)?, &rest);
            }
            Form::Plain => {}
        }
        if let Some(compare) = alu::comparison(&instruction) {
            let mut holds = compare(at(0), at(1));
            let third = at(2) != 0;
            if instruction.has("and") {
                holds &= third;
            } else if instruction.has("or") {
                holds |= third;
            } else if instruction.has("xor") {
                holds ^= third;
            }
            if instruction.opcode == "setp" {
                return Some(holds.into());
            }
            if let Some(value) = alu::set_value(&instruction) {
                return Some(if holds { value } else { 0 });
            }
        }
        let result = call(alu::scalar(&instruction)?, operands)?;
        let narrow = instruction.types().next().map_or(64, |ty| ty.size() * 8);
        match self.result {
            Kind::Word(bits) if alu::extends_signed(&instruction) && narrow < bits => {
                let above = 64 - narrow;
                Some(
                    (result << above).cast_signed().wrapping_shr(above).cast_unsigned()
                        & u64::MAX >> (64 - bits),
                )
            }
            _ => Some(result),
        }
    }
}

fn read(mnemonic: &str, operands: usize) -> ptx::Instruction {
    let mut words = mnemonic.split('.').map(str::to_owned);
    ptx::Instruction {
        guard: None,
        opcode: words.next().unwrap_or_default(),
        modifiers: words.collect(),
        operands: vec![ptx::Operand::Sink; operands],
        line: 0,
        position: None,
    }
}

fn call(function: Alu, operands: &[u64]) -> Option<u64> {
    Some(match (function, operands) {
        (Alu::One(f), &[a]) => f(a),
        (Alu::Two(f), &[a, b]) => f(a, b),
        (Alu::Three(f), &[a, b, c]) => f(a, b, c),
        (Alu::Four(f), &[a, b, c, d]) => f(a, b, c, d),
        _ => return None,
    })
}

/// Does the driver's compiler (580, CUDA 13.0) make of it what PTX does not say? Two faults of it are known:
///
/// - `set` with an `.f32` result stores the integer 1 instead of 1.0 where its result goes on as an integer, and a guarded
///   one changes the register where the guard is false; a guarded `set` of 16-bit operands clears its upper half there.
/// - A guarded `testp` writes its predicate where the guard is false.
///
/// Of 200 random programs, 110 agree with the engine, of the 17 without any of these all but one, in which two operands of
/// an `.f64` operation are NaN.
pub(crate) fn is_miscompiled(instruction: &ptx::Instruction) -> bool {
    let guarded = instruction.guard.is_some();
    match instruction.opcode.as_str() {
        "set" => guarded || instruction.types().next() == Some(ptx::Type::F32),
        "testp" => guarded,
        _ => false,
    }
}

/// Collects cases.
struct Cases {
    all: Vec<Case>,
    class: Class,
    new: bool,
}

impl Cases {
    fn add(&mut self, mnemonic: impl Into<String>, operands: &[Kind], result: Kind) -> &mut Case {
        let at = self.all.len();
        self.all.push(Case {
            mnemonic: mnemonic.into(),
            operands: operands.to_vec(),
            result,
            class: self.class,
            form: Form::Plain,
            approximate: false,
            open: false,
            new: self.new,
        });
        &mut self.all[at]
    }
}

const P: Kind = Kind::Predicate;
const H: Kind = Kind::Word(16);
const W: Kind = Kind::Word(32);
const D: Kind = Kind::Word(64);

fn width(ty: &str) -> u32 {
    ty.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).parse().unwrap_or(32)
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Cases { all: Vec::new(), class: Class::Integer, new: false };
    integers(&mut cases);
    bits(&mut cases);
    between_integers(&mut cases);
    atomics(&mut cases);
    numbers(&mut cases, Class::Single, "f32");
    numbers(&mut cases, Class::Double, "f64");
    halves(&mut cases, Class::Half, "f16");
    halves(&mut cases, Class::Brain, "bf16");
    conversions(&mut cases);
    cases.all
}

fn integers(cases: &mut Cases) {
    for ty in ["u16", "u32", "u64", "s16", "s32", "s64"] {
        let word = Kind::Word(width(ty));
        for op in ["add", "sub", "mul.lo", "mul.hi", "min", "max"] {
            cases.add(format!("{op}.{ty}"), &[word; 2], word);
        }
        for op in ["mad.lo", "mad.hi", "sad"] {
            cases.add(format!("{op}.{ty}"), &[word; 3], word);
        }
        for op in ["div", "rem"] {
            cases.add(format!("{op}.{ty}"), &[word, Kind::NonZero(width(ty))], word);
            cases.add(format!("{op}.{ty}"), &[word; 2], word).open = true;
        }
        if width(ty) < 64 {
            let wide = Kind::Word(2 * width(ty));
            cases.add(format!("mul.wide.{ty}"), &[word; 2], wide);
            cases.add(format!("mad.wide.{ty}"), &[word, word, wide], wide);
        }
        if ty.starts_with('s') {
            cases.add(format!("abs.{ty}"), &[word], word);
            cases.add(format!("neg.{ty}"), &[word], word);
        }
    }
    for op in ["add.sat.s32", "sub.sat.s32"] {
        cases.add(op, &[W; 2], W);
    }
    cases.add("mad.hi.sat.s32", &[W; 3], W);
    for ty in ["u32", "s32"] {
        for half in ["lo", "hi"] {
            cases.add(format!("mul24.{half}.{ty}"), &[W; 2], W);
            cases.add(format!("mad24.{half}.{ty}"), &[W; 3], W);
        }
        for other in ["u32", "s32"] {
            cases.add(format!("dp4a.{ty}.{other}"), &[W; 3], W);
            cases.add(format!("dp2a.lo.{ty}.{other}"), &[W; 3], W);
            cases.add(format!("dp2a.hi.{ty}.{other}"), &[W; 3], W);
        }
    }
    cases.add("mad24.hi.sat.s32", &[W; 3], W);
    for (first, op, count) in [
        ("add.cc.u32", "addc.u32", 4),
        ("sub.cc.u32", "subc.u32", 4),
        ("add.cc.u32", "madc.lo.u32", 5),
        ("add.cc.s32", "madc.hi.s32", 5),
        ("sub.cc.s32", "addc.s32", 4),
    ] {
        cases.add(op, &vec![W; count], W).form = Form::Carry(first);
    }
    for (first, op) in [("add.cc.u64", "addc.u64"), ("sub.cc.u64", "subc.u64")] {
        cases.add(op, &[D; 4], D).form = Form::Carry(first);
    }
    cases.new = true;
    for op in
        ["add.u16x2", "min.u16x2", "max.u16x2", "min.s16x2", "max.s16x2", "min.relu.s16x2", "max.relu.s16x2"]
    {
        cases.add(op, &[W; 2], W);
    }
    for op in ["min.relu.s32", "max.relu.s32"] {
        cases.add(op, &[W; 2], W);
    }
    cases.new = false;
}

fn bits(cases: &mut Cases) {
    for ty in ["b16", "b32", "b64"] {
        let word = Kind::Word(width(ty));
        for op in ["and", "or", "xor"] {
            cases.add(format!("{op}.{ty}"), &[word; 2], word);
        }
        for op in ["not", "cnot"] {
            cases.add(format!("{op}.{ty}"), &[word], word);
        }
        cases.add(format!("shl.{ty}"), &[word, W], word);
        cases.add(format!("shl.{ty}"), &[word, Kind::Below256], word);
        cases.add(format!("mov.{ty}"), &[word], word);
        cases.add(format!("selp.{ty}"), &[word, word, P], word);
        cases.add(format!("slct.{ty}.s32"), &[word, word, W], word);
        for compare in ["eq", "ne"] {
            cases.add(format!("setp.{compare}.{ty}"), &[word; 2], P);
        }
    }
    for op in ["and", "or", "xor"] {
        cases.add(format!("{op}.pred"), &[P; 2], P);
        cases.add(format!("setp.lt.{op}.s32"), &[W, W, P], P);
        cases.add(format!("set.lt.{op}.u32.s32"), &[W, W, P], W);
    }
    cases.add("not.pred", &[P], P);
    for ty in ["u16", "u32", "u64", "s16", "s32", "s64"] {
        let word = Kind::Word(width(ty));
        cases.add(format!("shr.{ty}"), &[word, W], word);
        cases.add(format!("shr.{ty}"), &[word, Kind::Below256], word);
        let unsigned: &[&str] = if ty.starts_with('u') { &["lo", "ls", "hi", "hs"] } else { &[] };
        for compare in ["eq", "ne", "lt", "le", "gt", "ge"].iter().chain(unsigned) {
            cases.add(format!("setp.{compare}.{ty}"), &[word; 2], P);
            cases.add(format!("set.{compare}.u32.{ty}"), &[word; 2], W);
            cases.add(format!("set.{compare}.f32.{ty}"), &[word; 2], W);
        }
    }
    for table in [0x80, 0xfe, 0x1a, 0x96, 0xca, 0xe8, 0x01, 0x3f] {
        cases.add("lop3.b32", &[W, W, W, Kind::Constant(table)], W);
    }
    for mode in ["l.wrap", "l.clamp", "r.wrap", "r.clamp"] {
        cases.add(format!("shf.{mode}.b32"), &[W; 3], W);
        cases.add(format!("shf.{mode}.b32"), &[W, W, Kind::Below256], W);
    }
    for (ty, word) in [("b32", W), ("b64", D)] {
        cases.add(format!("popc.{ty}"), &[word], W);
        cases.add(format!("clz.{ty}"), &[word], W);
        cases.add(format!("brev.{ty}"), &[word], word);
        cases.add(format!("bfi.{ty}"), &[word, word, Kind::Below256, Kind::Below256], word);
        cases.add(format!("bfi.{ty}"), &[word, word, Kind::Below32, Kind::Below32], word);
    }
    for (ty, word) in [("u32", W), ("s32", W), ("u64", D), ("s64", D)] {
        cases.add(format!("bfind.{ty}"), &[word], W);
        cases.add(format!("bfind.shiftamt.{ty}"), &[word], W);
        cases.add(format!("bfe.{ty}"), &[word, Kind::Below256, Kind::Below256], word);
        cases.add(format!("bfe.{ty}"), &[word, Kind::Below32, Kind::Below32], word);
    }
    cases.add("fns.b32", &[W, Kind::Below32, W], W);
    for mode in ["clamp", "wrap"] {
        cases.add(format!("szext.{mode}.u32"), &[W; 2], W);
        cases.add(format!("szext.{mode}.s32"), &[W; 2], W);
        cases.add(format!("bmsk.{mode}.b32"), &[W; 2], W);
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        cases.add(format!("prmt.b32{mode}"), &[W; 3], W);
    }
}

const INTEGERS: [&str; 8] = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"];

/// The register that holds this type.
fn register(ty: &str) -> Kind {
    Kind::Word(width(ty).max(16))
}

fn between_integers(cases: &mut Cases) {
    for to in INTEGERS {
        for from in INTEGERS {
            cases.add(format!("cvt.{to}.{from}"), &[register(from)], register(to));
            // ptxas refuses `.sat` where every value fits.
            let fits = match (from.starts_with('s'), to.starts_with('s')) {
                (true, false) => false,
                (false, true) => width(from) < width(to),
                _ => width(from) <= width(to),
            };
            if !fits {
                cases.add(format!("cvt.sat.{to}.{from}"), &[register(from)], register(to));
            }
        }
        if width(to) < 32 {
            // A destination wider than the type.
            cases.add(format!("cvt.{to}.u64"), &[D], W);
        }
    }
    for from in ["u32", "s32"] {
        for to in ["u16", "s16"] {
            cases.add(format!("cvt.pack.sat.{to}.{from}"), &[W; 2], W);
        }
        for to in ["u8", "s8", "u4", "s4", "u2", "s2"] {
            cases.add(format!("cvt.pack.sat.{to}.{from}.b32"), &[W; 3], W);
        }
    }
    // Only these source types are in PTX.
    cases.all.retain(|case| !(case.mnemonic.starts_with("cvt.pack") && case.mnemonic.contains(".u32")));
}

fn atomics(cases: &mut Cases) {
    let mut atomic = |mnemonic: String, word: Kind, operands: usize| {
        cases.add(mnemonic, &vec![word; operands], word).form = Form::Atomic;
    };
    for space in ["global", "shared"] {
        for ty in ["u32", "s32", "u64"] {
            atomic(format!("atom.{space}.add.{ty}"), Kind::Word(width(ty)), 2);
        }
        for ty in ["u32", "s32", "u64", "s64"] {
            atomic(format!("atom.{space}.min.{ty}"), Kind::Word(width(ty)), 2);
            atomic(format!("atom.{space}.max.{ty}"), Kind::Word(width(ty)), 2);
        }
        for ty in ["b32", "b64"] {
            for op in ["and", "or", "xor", "exch"] {
                atomic(format!("atom.{space}.{op}.{ty}"), Kind::Word(width(ty)), 2);
            }
            atomic(format!("atom.{space}.cas.{ty}"), Kind::Word(width(ty)), 3);
        }
        atomic(format!("atom.{space}.inc.u32"), W, 2);
        atomic(format!("atom.{space}.dec.u32"), W, 2);
    }
}

/// `.f32` and `.f64`.
fn numbers(cases: &mut Cases, class: Class, ty: &str) {
    cases.class = class;
    let single = class == Class::Single;
    let word = Kind::Word(width(ty));
    let flushes: &[&str] = if single { &["", ".ftz"] } else { &[""] };
    let saturates: &[&str] = if single { &["", ".sat"] } else { &[""] };
    for flush in flushes {
        for rounding in ["rn", "rz", "rm", "rp"] {
            for saturate in saturates {
                for (op, operands) in [("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("mad", 3)] {
                    let mnemonic = format!("{op}.{rounding}{flush}{saturate}.{ty}");
                    cases.add(mnemonic, &vec![word; operands], word);
                }
            }
            cases.add(format!("div.{rounding}{flush}.{ty}"), &[word; 2], word);
            cases.add(format!("rcp.{rounding}{flush}.{ty}"), &[word], word);
            cases.add(format!("sqrt.{rounding}{flush}.{ty}"), &[word], word);
        }
        for op in ["add", "sub", "mul"] {
            cases.add(format!("{op}{flush}.{ty}"), &[word; 2], word);
        }
        cases.add(format!("neg{flush}.{ty}"), &[word], word).open = true;
        cases.add(format!("abs{flush}.{ty}"), &[word], word).open = true;
        let modes: &[&str] = if single { &["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] } else { &[""] };
        for mode in modes {
            cases.new = mode.contains("xorsign");
            cases.add(format!("min{flush}{mode}.{ty}"), &[word; 2], word);
            cases.add(format!("max{flush}{mode}.{ty}"), &[word; 2], word);
            cases.new = false;
        }
        compare_numbers(cases, flush, ty, word);
        for compare in ["lt", "neu"] {
            cases.add(format!("set.{compare}{flush}.u32.{ty}"), &[word; 2], W);
            cases.add(format!("set.{compare}{flush}.f32.{ty}"), &[word; 2], W);
        }
    }
    cases.add(format!("copysign.{ty}"), &[word; 2], word);
    for property in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"] {
        cases.add(format!("testp.{property}.{ty}"), &[word], P);
    }
    if single {
        cases.add("slct.b32.f32", &[W; 3], W);
        cases.add("slct.ftz.b64.f32", &[D, D, W], D);
    }
    for space in ["global", "shared"] {
        cases.add(format!("atom.{space}.add.{ty}"), &[word; 2], word).form = Form::Atomic;
    }
    approximate_numbers(cases, single);
}

fn compare_numbers(cases: &mut Cases, flush: &str, ty: &str, word: Kind) {
    for compare in
        ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
    {
        cases.add(format!("setp.{compare}{flush}.{ty}"), &[word; 2], P);
    }
}

fn approximate_numbers(cases: &mut Cases, single: bool) {
    let mut approximate = |mnemonic: String, word: Kind, operands: usize| {
        cases.add(mnemonic, &vec![word; operands], word).approximate = true;
    };
    if !single {
        approximate("rcp.approx.ftz.f64".to_owned(), D, 1);
        approximate("rsqrt.approx.f64".to_owned(), D, 1);
        approximate("rsqrt.approx.ftz.f64".to_owned(), D, 1);
        return;
    }
    for flush in ["", ".ftz"] {
        for op in ["rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"] {
            approximate(format!("{op}.approx{flush}.f32"), W, 1);
        }
        approximate(format!("div.approx{flush}.f32"), W, 2);
        approximate(format!("div.full{flush}.f32"), W, 2);
    }
    approximate("tanh.approx.f32".to_owned(), W, 1);
}

/// `.f16` and `.bf16`, and two of them in a word.
fn halves(cases: &mut Cases, class: Class, ty: &str) {
    cases.class = class;
    let brain = class == Class::Brain;
    let packed = format!("{ty}x2");
    for (ty, word) in [(ty, H), (packed.as_str(), W)] {
        // `.bf16` has neither `.ftz` nor `.sat`, and most of its arithmetic came with sm_90.
        let modes: &[&str] = if brain { &[""] } else { &["", ".ftz", ".sat", ".ftz.sat"] };
        cases.new = brain;
        for mode in modes {
            for op in ["add", "sub", "mul"] {
                cases.add(format!("{op}.rn{mode}.{ty}"), &[word; 2], word);
                cases.add(format!("{op}{mode}.{ty}"), &[word; 2], word);
            }
        }
        cases.new = false;
        for mode in modes {
            cases.add(format!("fma.rn{mode}.{ty}"), &[word; 3], word);
        }
        cases.add(format!("fma.rn.relu.{ty}"), &[word; 3], word);
        cases.add(format!("neg.{ty}"), &[word], word).open = true;
        cases.add(format!("abs.{ty}"), &[word], word).open = true;
        for mode in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] {
            cases.new = mode.contains("xorsign");
            cases.add(format!("min{mode}.{ty}"), &[word; 2], word);
            cases.add(format!("max{mode}.{ty}"), &[word; 2], word);
        }
        cases.new = false;
        cases.new = brain;
        cases.add(format!("tanh.approx.{ty}"), &[word], word).approximate = true;
        cases.new = true;
        let flush = if brain { ".ftz" } else { "" };
        cases.add(format!("ex2.approx{flush}.{ty}"), &[word], word).approximate = true;
        cases.new = false;
        if !ty.ends_with("x2") {
            cases.new = brain;
            compare_numbers(cases, "", ty, word);
            cases.add(format!("set.lt.{ty}.{ty}"), &[word; 2], word);
            cases.add(format!("set.neu.u32.{ty}"), &[word; 2], W);
            cases.new = false;
        } else {
            cases.new = brain;
            for compare in ["lt", "neu", "ge"] {
                cases.add(format!("set.{compare}.{ty}.{ty}"), &[word; 2], word);
            }
            cases.new = false;
        }
        cases.new = brain;
        cases.add(format!("atom.global.add.noftz.{ty}"), &[word; 2], word).form = Form::Atomic;
        cases.new = false;
    }
}

/// To and from floating-point types.
fn conversions(cases: &mut Cases) {
    let formats =
        [("f16", Class::Half), ("bf16", Class::Brain), ("f32", Class::Single), ("f64", Class::Double)];
    for (float, class) in formats {
        for integer in INTEGERS {
            cases.new = class == Class::Brain;
            if cases.new && width(integer) == 8 {
                continue;
            }
            for rounding in ["rn", "rz", "rm", "rp"] {
                cases.class = Class::Integer;
                cases.add(format!("cvt.{rounding}.{float}.{integer}"), &[register(integer)], register(float));
            }
            for rounding in ["rni", "rzi", "rmi", "rpi"] {
                cases.class = class;
                cases.add(format!("cvt.{rounding}.{integer}.{float}"), &[register(float)], register(integer));
                if class == Class::Single {
                    cases.add(format!("cvt.{rounding}.ftz.{integer}.{float}"), &[W], register(integer));
                }
            }
        }
        cases.class = class;
        for rounding in ["rni", "rzi", "rmi", "rpi"] {
            let word = register(float);
            cases.add(format!("cvt.{rounding}.{float}.{float}"), &[word], word);
            if class == Class::Single {
                cases.add(format!("cvt.{rounding}.ftz.sat.{float}.{float}"), &[word], word);
            }
        }
        cases.new = false;
    }
    for (from, class, to, modes) in [
        ("f32", Class::Single, "f16", &["rn", "rz", "rm", "rp", "rn.ftz", "rn.sat"][..]),
        ("f64", Class::Double, "f16", &["rn", "rz", "rm", "rp"]),
        ("f64", Class::Double, "f32", &["rn", "rz", "rm", "rp", "rn.ftz", "rn.sat", "rz.ftz.sat"]),
        ("f32", Class::Single, "bf16", &["rn", "rz", "rn.relu", "rz.relu"]),
        ("f32", Class::Single, "f16", &["rn.relu", "rz.relu"]),
        ("f16", Class::Half, "f32", &["", "ftz", "sat"]),
        ("f16", Class::Half, "f64", &["", "sat"]),
        ("f32", Class::Single, "f64", &["", "ftz", "sat"]),
        ("f32", Class::Single, "f32", &["ftz", "sat", "ftz.sat"]),
    ] {
        cases.class = class;
        for mode in modes {
            let dot = if mode.is_empty() { "" } else { "." };
            cases.add(format!("cvt{dot}{mode}.{to}.{from}"), &[register(from)], register(to));
        }
    }
    cases.new = true;
    for (from, class, to, modes) in [
        ("bf16", Class::Brain, "f32", &[""][..]),
        ("bf16", Class::Brain, "f64", &[""]),
        ("bf16", Class::Brain, "f16", &["rn", "rz", "rm", "rp"]),
        ("f16", Class::Half, "bf16", &["rn", "rz", "rm", "rp"]),
        ("f64", Class::Double, "bf16", &["rn", "rz", "rm", "rp"]),
        ("f32", Class::Single, "bf16", &["rm", "rp", "rn.satfinite", "rz.relu.satfinite"]),
        ("f32", Class::Single, "f16", &["rn.satfinite", "rz.relu.satfinite"]),
    ] {
        cases.class = class;
        for mode in modes {
            let dot = if mode.is_empty() { "" } else { "." };
            cases.add(format!("cvt{dot}{mode}.{to}.{from}"), &[register(from)], register(to));
        }
    }
    cases.class = Class::Single;
    for mode in ["rn", "rz", "rn.relu", "rz.relu", "rn.satfinite"] {
        cases.new = mode.contains("satfinite");
        cases.add(format!("cvt.{mode}.f16x2.f32"), &[W; 2], W);
        cases.add(format!("cvt.{mode}.bf16x2.f32"), &[W; 2], W);
    }
    cases.new = false;
    cases.add("cvt.rna.tf32.f32", &[W], W);
    cases.new = true;
    for mode in ["rn", "rz", "rn.relu", "rz.relu"] {
        cases.add(format!("cvt.{mode}.tf32.f32"), &[W], W);
    }
    cases.new = false;
}
