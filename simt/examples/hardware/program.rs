//! Random programs: whole kernels without races whose results PTX defines to the last bit.

use std::fmt::Write as _;

use fastrand::Rng;

use crate::cases::{Case, Class, Form, Kind, is_miscompiled};
use crate::feature::{LOCALS, MODULE};
use crate::writer::{DOUBLES, HALVES, PREDICATES, WORDS, Writer};
use crate::{kernel, operands};

/// A kernel, and the inputs of all its threads.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) inputs: Vec<u64>,
}

/// Input words a thread: the doubles, the words, the halves.
const INPUTS: usize = DOUBLES + WORDS + HALVES;
/// Output words a thread: every register.
const OUTPUTS: usize = INPUTS + PREDICATES;
/// A random program of these cases.
pub(crate) fn program(cases: &[Case], random: &mut Rng) -> Program {
    let new = random.bool();
    let (grid, block) = (random.u32(1..4), 32 * random.u32(1..5));
    let steps = random.usize(20..80);
    let cases = cases.iter().filter(|case| is_exact(case) && (new || !case.new)).collect();
    let mut writer = Writer { text: String::new(), random, cases, block, new, labels: 0 };
    for _ in 0..steps {
        writer.step(0);
    }
    if writer.random.u32(..4) == 0 {
        // Some threads leave early, and with them what they would store.
        let condition = writer.condition();
        writer.line(&format!("@{condition} exit;"));
        for _ in 0..5 {
            writer.plain();
        }
    }
    let Writer { text: body, random, labels, .. } = writer;
    let mut text = kernel::head(
        new,
        &format!("grid {grid} block {block} inputs {INPUTS} outputs {OUTPUTS} dynamic {}", 4 * block),
        MODULE,
    ) + &kernel::addresses(INPUTS, OUTPUTS);
    text += &declarations(block, labels);
    text += &body;
    for (output, (bits, name)) in registers().enumerate() {
        text += &kernel::store(bits, &name, &format!("%out+{}", 8 * output));
    }
    text += "DONE:\n\tret;\n}\n";
    let inputs = (0..(grid * block) as usize * INPUTS).map(|_| {
        let classes = [Class::Integer, Class::Single, Class::Double, Class::Half, Class::Brain];
        operands::word(classes[random.usize(..classes.len())], random)
    });
    Program { text, inputs: inputs.collect() }
}

/// Does PTX define its result to the last bit, wherever it stands? Not a sum or product without a rounding, which
/// may become one fused with another.
fn is_exact(case: &Case) -> bool {
    let instruction = case.instruction();
    let fusible = matches!(instruction.opcode.as_str(), "add" | "sub" | "mul")
        && instruction.types().any(ptx::Type::is_float)
        && !["rn", "rz", "rm", "rp"].into_iter().any(|rounding| instruction.has(rounding));
    !(case.approximate || case.open || fusible || is_miscompiled(&instruction))
}

/// Every register, in the order of the outputs.
fn registers() -> impl Iterator<Item = (u32, String)> {
    let of = |count: usize, bits: u32, letter: char| {
        (0..count).map(move |index| (bits, format!("%{letter}{index}")))
    };
    of(DOUBLES, 64, 'l').chain(of(WORDS, 32, 'r')).chain(of(HALVES, 16, 'h')).chain(of(PREDICATES, 1, 'p'))
}

/// What stands before the steps.
fn declarations(block: u32, labels: usize) -> String {
    let mut text = format!(
        "\t.shared .align 8 .b64 slots[{block}];\n\t.shared .align 4 .b32 total;\n\
         \t.local .align 16 .b8 scratch[{}];\n\
         \t.reg .b16 %h<{HALVES}>;\n\t.reg .b32 %r<{WORDS}>;\n\t.reg .b64 %l<{DOUBLES}>;\n\
         \t.reg .pred %p<{PREDICATES}>;\n\t.reg .b32 %c<{}>;\n\t.reg .pred %q<{}>;\n\
         \t.reg .b64 %slot, %other, %dyn, %mine;\n\t.reg .b32 %lane, %v<2>;\n\t.reg .b16 %v2, %v3;\n\
         \tmov.u64 %slot, slots;\n\tmad.wide.u32 %slot, %thread, 8, %slot;\n\tmov.u32 %lane, %laneid;\n\tmov.u64 %dyn, dynamic;\n\tmad.wide.u32 %dyn, %thread, 4, %dyn;\n\tmov.u64 %mine, scratch;\n",
        8 * LOCALS,
        labels + 1,
        labels + 1
    );
    for (input, (bits, name)) in registers().take(INPUTS).enumerate() {
        let _ = writeln!(text, "\tld.global.b{bits} {name}, [%in+{}];", 8 * input);
    }
    for index in 0..PREDICATES {
        let _ = writeln!(text, "\tsetp.lt.s32 %p{index}, %r{index}, %r{};", index + 1);
    }
    for index in 0..LOCALS {
        let _ = writeln!(text, "\tst.local.b64 [scratch+{}], %l{index};", 8 * index);
    }
    text
}

impl Writer<'_> {
    /// One step, so many branches and loops deep. What needs every thread of the warp or block stands outside of
    /// them.
    fn step(&mut self, depth: u32) {
        match self.random.u32(..100) {
            0..6 if depth < 2 => self.branch(depth),
            6..12 if depth < 2 => self.repeat(depth),
            12..24 if depth == 0 => self.warp(),
            24..32 if depth == 0 => self.block(),
            32..38 => self.copy(),
            38..58 => self.feature(depth),
            _ => self.plain(),
        }
    }

    /// An instruction of one lane, guarded now and then.
    fn plain(&mut self) {
        let case = self.cases[self.random.usize(..self.cases.len())];
        let mut before = String::new();
        let mut names = Vec::new();
        for (index, &kind) in case.operands.iter().enumerate() {
            let (bits, change) = match kind {
                Kind::Word(bits) => (bits, None),
                Kind::Predicate => (1, None),
                Kind::Constant(value) => {
                    names.push(value.to_string());
                    continue;
                }
                Kind::NonZero(bits) => (bits, Some(("or", 1))),
                Kind::Below32 => (32, Some(("and", 31))),
                Kind::Below256 => (32, Some(("and", 255))),
            };
            let source = self.any(bits);
            names.push(match change {
                None => source,
                Some((op, mask)) => {
                    let _ =
                        write!(before, ".reg .b{bits} %s{index}; {op}.b{bits} %s{index}, {source}, {mask}; ");
                    format!("%s{index}")
                }
            });
        }
        let bits = if let Kind::Word(bits) = case.result { bits } else { 1 };
        let result = self.any(bits);
        let mut guard = self.guard();
        if matches!(case.instruction().opcode.as_str(), "set" | "testp") {
            // The driver compiles these wrong under a guard.
            guard.clear();
        }
        let mnemonic = &case.mnemonic;
        match case.form {
            Form::Plain => {
                self.line(&format!("{{ {before}{guard}{mnemonic} {result}, {}; }}", names.join(", ")))
            }
            Form::Carry(first) => {
                let (head, rest) = names.split_at(2);
                let (head, rest) = (head.join(", "), rest.join(", "));
                let line = format!(
                    "{{ .reg .b{bits} %t; {before}{first} %t, {head}; {mnemonic} {result}, {rest}; }}"
                );
                self.line(&line);
            }
            Form::Atomic => {
                // On the thread's own word, which nobody else touches but between two barriers.
                let (old, rest) = names.split_at(1);
                let (space, slot) =
                    if mnemonic.contains("global") { ("global", "%out") } else { ("shared", "%slot") };
                self.line(&format!("st.{space}.b{bits} [{slot}], {};", old.join("")));
                self.line(&format!(
                    "{{ {before}{guard}{mnemonic} {result}, [{slot}], {}; }}",
                    rest.join(", ")
                ));
                let again = self.any(bits);
                self.line(&format!("ld.{space}.b{bits} {again}, [{slot}];"));
            }
        }
    }

    fn steps(&mut self, depth: u32) {
        for _ in 0..self.random.u32(1..6) {
            self.step(depth);
        }
    }

    /// `if` and `else`.
    fn branch(&mut self, depth: u32) {
        let (label, condition) = (self.label(), self.any(1));
        self.line(&format!("@{condition} bra ELSE{label};"));
        self.steps(depth + 1);
        if self.random.bool() {
            self.line(&format!("bra END{label};"));
            self.text += &format!("ELSE{label}:\n");
            self.steps(depth + 1);
            self.text += &format!("END{label}:\n");
        } else {
            self.text += &format!("ELSE{label}:\n");
        }
    }

    /// A loop of one to seven trips, as many as a register of each thread says.
    fn repeat(&mut self, depth: u32) {
        let (label, count) = (self.label(), self.any(32));
        self.line(&format!("and.b32 %c{label}, {count}, 7;"));
        self.text += &format!("LOOP{label}:\n");
        self.steps(depth + 1);
        self.line(&format!("sub.s32 %c{label}, %c{label}, 1;"));
        self.line(&format!("setp.gt.s32 %q{label}, %c{label}, 0;"));
        self.line(&format!("@%q{label} bra LOOP{label};"));
    }

    /// What a warp does together.
    fn warp(&mut self) {
        const ALL: &str = "0xffffffff";
        let (d, a, b) = (self.any(32), self.any(32), self.any(32));
        let (p, q) = self.two(1);
        match self.random.u32(..10) {
            0 | 1 => {
                let mode = ["up", "down", "bfly", "idx"][self.random.usize(..4)];
                // Segments of 32, 16, 8 or 4 lanes; `up` has its bound at the low end.
                let segment = (32 - (4 << self.random.u32(..4))) << 8;
                let bound = segment | if mode == "up" { 0 } else { 31 };
                self.line(&format!("shfl.sync.{mode}.b32 {d}|{p}, {a}, {b}, {bound}, {ALL};"));
            }
            2 => {
                let mode = ["all", "any", "uni"][self.random.usize(..3)];
                self.line(&format!("vote.sync.{mode}.pred {p}, {q}, {ALL};"));
            }
            3 => self.line(&format!("vote.sync.ballot.b32 {d}, {p}, {ALL};")),
            4 => {
                // Few different values, so that some match.
                self.line(&format!(
                    "{{ .reg .b32 %t; and.b32 %t, {a}, 3; match.any.sync.b32 {d}, %t, {ALL}; }}"
                ));
            }
            5 => {
                let wide = self.any(64);
                self.line(&format!(
                    "{{ .reg .b64 %t; and.b64 %t, {wide}, 1; match.all.sync.b64 {d}|{p}, %t, {ALL}; }}"
                ));
            }
            6 | 7 => {
                let op = [
                    "add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32",
                    "xor.b32",
                ][self.random.usize(..9)];
                self.line(&format!("redux.sync.{op} {d}, {a}, {ALL};"));
            }
            8 => {
                // Each half of the warp on a path of its own.
                let label = self.label();
                let distance = self.random.u32(1..16);
                self.line(&format!("setp.lt.u32 %q{label}, %lane, 16;"));
                self.line(&format!("@%q{label} bra ELSE{label};"));
                self.line(&format!("shfl.sync.bfly.b32 {d}|{p}, {a}, {distance}, 31, 0xffff0000;"));
                self.line(&format!("bra END{label};"));
                self.text += &format!("ELSE{label}:\n");
                self.line(&format!("vote.sync.ballot.b32 {d}, {q}, 0x0000ffff;"));
                self.text += &format!("END{label}:\n");
            }
            _ => self.line("bar.warp.sync 0xffffffff;"),
        }
    }

    /// What a block does together.
    fn block(&mut self) {
        let (d, a) = (self.any(32), self.any(32));
        match self.random.u32(..4) {
            0 => {
                // Each thread reads the word of another.
                let (distance, block) = (self.random.u32(1..self.block), self.block);
                let (wide, result) = (self.any(64), self.any(64));
                self.line(&format!("st.shared.b64 [%slot], {wide};"));
                self.line("bar.sync 0;");
                self.line(&format!(
                    "{{ .reg .b32 %t; add.u32 %t, %thread, {distance}; rem.u32 %t, %t, {block}; \
                     mov.u64 %other, slots; mad.wide.u32 %other, %t, 8, %other; }}"
                ));
                self.line(&format!("ld.shared.b64 {result}, [%other];"));
                self.line("bar.sync 0;");
            }
            1 => {
                // A sum whose order nobody sees.
                let op =
                    ["add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32"][self.random.usize(..6)];
                let label = self.label();
                let start = self.random.u32(..);
                self.line(&format!("setp.eq.u32 %q{label}, %thread, 0;"));
                self.line(&format!("@%q{label} st.shared.u32 [total], {start};"));
                self.line("bar.sync 0;");
                self.line(&format!("red.shared.{op} [total], {a};"));
                self.line("bar.sync 0;");
                self.line(&format!("ld.shared.b32 {d}, [total];"));
                self.line("bar.sync 0;");
            }
            2 => {
                let p = self.any(1);
                self.line(&format!("bar.red.popc.u32 {d}, 0, {p};"));
            }
            _ => {
                let (p, q) = self.two(1);
                let op = ["and", "or"][self.random.usize(..2)];
                self.line(&format!("bar.red.{op}.pred {p}, 0, {q};"));
            }
        }
    }

    /// Packs, unpacks, local memory and special registers.
    fn copy(&mut self) {
        let (wide, word) = (self.any(64), self.any(32));
        let (low, high) = self.two(32);
        let (half, other) = self.two(16);
        let at = 8 * self.random.usize(..LOCALS);
        match self.random.u32(..8) {
            0 => self.line(&format!("mov.b64 {wide}, {{{low}, {high}}};")),
            1 => self.line(&format!("mov.b64 {{{low}, {high}}}, {wide};")),
            2 => self.line(&format!("mov.b32 {word}, {{{half}, {other}}};")),
            3 => self.line(&format!("mov.b32 {{{half}, {other}}}, {word};")),
            4 => {
                let special = ["laneid", "tid.x", "ntid.x", "ctaid.x", "nctaid.x", "lanemask_lt"]
                    [self.random.usize(..6)];
                self.line(&format!("mov.u32 {word}, %{special};"));
            }
            5 => self.line(&format!("st.local.v2.b32 [scratch+{at}], {{{low}, {high}}};")),
            6 => self.line(&format!("ld.local.b64 {wide}, [scratch+{at}];")),
            _ => {
                let (ty, step) = [("s8", 1), ("u8", 1), ("s16", 2), ("u16", 2)][self.random.usize(..4)];
                let at = at + step * self.random.usize(..8 / step);
                self.line(&format!("ld.local.{ty} {word}, [scratch+{at}];"));
            }
        }
    }
}
