//! The kernel that computes cases, each thread with operands of its own.

use std::fmt::Write as _;

use crate::cases::{Case, Form, Kind};

/// Input words a thread.
pub(crate) const INPUTS: usize = 5;

/// The head of every kernel: the first line tells the host how to launch it. What else is in the module stands before
/// the kernel.
pub(crate) fn head(new: bool, launch: &str, module: &str) -> String {
    let (version, target) = if new { ("8.6", "sm_90") } else { ("7.8", "sm_80") };
    format!(
        "// {launch}\n.version {version}\n.target {target}\n.address_size 64\n\n{module}\
         .visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
    )
}

/// The addresses of the words of this thread: `%in` and `%out`.
pub(crate) fn addresses(inputs: usize, outputs: usize) -> String {
    format!(
        "\t.reg .b32 %thread, %threads, %block, %index, %n;\n\t.reg .b64 %in, %out;\n\t.reg .pred %outside;\n\
         \tmov.u32 %thread, %tid.x;\n\tmov.u32 %threads, %ntid.x;\n\tmov.u32 %block, %ctaid.x;\n\
         \tmad.lo.u32 %index, %block, %threads, %thread;\n\
         \tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tld.param.u32 %n, [n];\n\
         \tsetp.ge.u32 %outside, %index, %n;\n\t@%outside bra DONE;\n\
         \tcvta.to.global.u64 %in, %in;\n\tcvta.to.global.u64 %out, %out;\n\
         \tmad.wide.u32 %in, %index, {}, %in;\n\tmad.wide.u32 %out, %index, {}, %out;\n",
        8 * inputs,
        8 * outputs
    )
}

/// The kernel of these cases, which stores the result of each.
pub(crate) fn text(cases: &[Case], grid: u32, block: u32) -> String {
    let launch = format!("grid {grid} block {block} inputs {INPUTS} outputs {}", cases.len());
    let mut text = head(cases.iter().any(|case| case.new), &launch, "");
    text += &addresses(INPUTS, cases.len());
    let _ = write!(text, "\t.shared .align 8 .b64 slots[{block}];\n\t.reg .b64 %slot, %w<{INPUTS}>;\n");
    text += "\tmov.u64 %slot, slots;\n\tmad.wide.u32 %slot, %thread, 8, %slot;\n";
    for input in 0..INPUTS {
        let _ = writeln!(text, "\tld.global.b64 %w{input}, [%in+{}];", 8 * input);
    }
    for (index, case) in cases.iter().enumerate() {
        text += &one(case, 8 * index);
    }
    text + "DONE:\n\tret;\n}\n"
}

/// One case, in a scope of its own.
fn one(case: &Case, offset: usize) -> String {
    let mut text = format!("\t{{ // {}\n", case.mnemonic);
    let mut names = Vec::new();
    for (index, &kind) in case.operands.iter().enumerate() {
        let (code, name) = operand(kind, index);
        text += &code;
        names.push(name);
    }
    let bits = match case.result {
        Kind::Word(bits) => bits,
        _ => 1,
    };
    let _ =
        writeln!(text, "\t.reg .{} %d, %t;", if bits == 1 { "pred".to_owned() } else { format!("b{bits}") });
    match case.form {
        Form::Plain => {
            let _ = writeln!(text, "\t{} %d, {};", case.mnemonic, names.join(", "));
        }
        Form::Carry(first) => {
            let (head, rest) = names.split_at(2);
            let _ = writeln!(text, "\t{first} %t, {};", head.join(", "));
            let _ = writeln!(text, "\t{} %d, {};", case.mnemonic, rest.join(", "));
        }
        Form::Atomic => {
            let global = case.mnemonic.contains("global");
            let (space, slot) =
                if global { ("global", format!("%out+{offset}")) } else { ("shared", "%slot".to_owned()) };
            let (old, rest) = names.split_at(1);
            let _ = writeln!(text, "\tst.{space}.b{bits} [{slot}], {};", old.join(""));
            let _ = writeln!(text, "\t{} %t, [{slot}], {};", case.mnemonic, rest.join(", "));
            let _ = writeln!(text, "\tld.{space}.b{bits} %d, [{slot}];");
        }
    }
    text + &store(bits, "%d", &format!("%out+{offset}")) + "\t}\n"
}

/// The instructions that make an operand of an input word, and its name.
fn operand(kind: Kind, index: usize) -> (String, String) {
    let name = format!("%s{index}");
    let code = match kind {
        Kind::Constant(value) => return (String::new(), value.to_string()),
        Kind::Predicate => format!(
            "\t.reg .pred {name};\n\t.reg .b64 {name}w;\n\tand.b64 {name}w, %w{index}, 1;\n\
             \tsetp.ne.u64 {name}, {name}w, 0;\n"
        ),
        Kind::Word(64) => format!("\t.reg .b64 {name};\n\tmov.b64 {name}, %w{index};\n"),
        Kind::NonZero(64) => format!("\t.reg .b64 {name};\n\tor.b64 {name}, %w{index}, 1;\n"),
        Kind::Word(bits) => format!("\t.reg .b{bits} {name};\n\tcvt.u{bits}.u64 {name}, %w{index};\n"),
        Kind::NonZero(bits) => format!(
            "\t.reg .b{bits} {name};\n\tcvt.u{bits}.u64 {name}, %w{index};\n\tor.b{bits} {name}, {name}, 1;\n"
        ),
        Kind::Below32 | Kind::Below256 => {
            let mask = if kind == Kind::Below32 { 31 } else { 255 };
            format!(
                "\t.reg .b32 {name};\n\tcvt.u32.u64 {name}, %w{index};\n\tand.b32 {name}, {name}, {mask};\n"
            )
        }
    };
    (code, name)
}

/// The operands of a case, of the words of a thread.
pub(crate) fn operands(case: &Case, words: &[u64]) -> Vec<u64> {
    let of = |(&kind, &word): (&Kind, &u64)| match kind {
        Kind::Constant(value) => value,
        Kind::Predicate => word & 1,
        Kind::Word(bits) => word & u64::MAX >> (64 - bits),
        Kind::NonZero(bits) => word & u64::MAX >> (64 - bits) | 1,
        Kind::Below32 => word & 31,
        Kind::Below256 => word & 255,
    };
    case.operands.iter().zip(words).map(of).collect()
}

/// Stores a register of so many bits, 1 for a predicate, as a 64-bit word.
pub(crate) fn store(bits: u32, name: &str, address: &str) -> String {
    match bits {
        64 => format!("\tst.global.b64 [{address}], {name};\n"),
        1 => {
            format!("\t{{ .reg .b64 %o;\n\tselp.b64 %o, 1, 0, {name};\n\tst.global.b64 [{address}], %o; }}\n")
        }
        _ => format!(
            "\t{{ .reg .b64 %o;\n\tcvt.u64.u{bits} %o, {name};\n\tst.global.b64 [{address}], %o; }}\n"
        ),
    }
}
