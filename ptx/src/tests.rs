//! What the parser makes of small texts.

use proptest::prelude::*;

use crate::{
    Base, Function, Graph, InitValue, Instruction, Module, Operand, ParseError, Position, RegId, Space,
    Symbol, Type, audit, parse,
};

/// A kernel with registers, a shared array, a helper, and this body.
fn text(body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_75, debug\n.address_size 64\n.file 1 \"a.rs\"\n.file 2 \"core.rs\"\n\
         .shared .align 4 .b8 TILE[128];\n.func (.param .b32 r) helper(.param .b32 a);\n\
         .visible .entry k(.param .u64 .ptr .global .align 4 p, .param .u32 n)\n{{\n.reg .pred %p<4>;\n\
         .reg .b32 %r<9>;\n.reg .f32 %f<3>, %g;\n.reg .b64 %rd<5>;\n{body}\n}}\n"
    )
}

#[track_caller]
fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The kernel with this body.
#[track_caller]
fn kernel(body: &str) -> Function {
    let mut module = module(&text(body));
    module.functions.remove(1)
}

#[track_caller]
fn instructions(body: &str) -> Vec<Instruction> {
    kernel(body).body.expect("a body").instructions
}

/// The operands of the only instruction, and the names of registers by their numbers.
#[track_caller]
fn operands(instruction: &str) -> (Vec<Operand>, Vec<String>) {
    let mut body = kernel(&format!("{instruction};")).body.expect("a body");
    assert_eq!(body.instructions.len(), 1);
    (body.instructions.remove(0).operands, body.registers.into_iter().map(|register| register.name).collect())
}

#[track_caller]
fn error(text: &str) -> ParseError {
    parse(text).expect_err("not PTX")
}

fn reg(number: u32) -> Operand {
    Operand::Register(RegId(number))
}

#[test]
fn a_module_has_its_header_variables_and_functions() {
    let module = module(&text("ret;"));
    assert_eq!((module.version, &*module.target, module.address_size), ((7, 8), "sm_75", 64));
    assert_eq!(module.files, ["a.rs", "core.rs"]);
    let tile = &module.variables[0];
    assert_eq!(
        (&*tile.name, tile.space, tile.ty, tile.align, tile.size),
        ("TILE", Space::Shared, Type::B8, 4, 128)
    );
    let [helper, kernel] = &*module.functions else { panic!() };
    assert!(helper.body.is_none() && !helper.entry && kernel.entry);
    assert_eq!((helper.returns.len(), helper.params.len()), (1, 1));
    let params: Vec<_> =
        kernel.params.iter().map(|param| (&*param.name, param.offset, param.size, param.pointer)).collect();
    assert_eq!(params, [("p", 0, 8, true), ("n", 8, 4, false)]);
}

#[test]
fn parameters_are_aligned_as_they_ask() {
    let text = ".entry k(.param .u8 a, .param .align 16 .b8 b[20], .param .v2 .f32 c, .param .u64 d)\n\
                .maxntid 256, 1, 1\n.minnctapersm 2\n.pragma \"nounroll\";\n{ret;}";
    let kernel = module(text).functions.remove(0);
    let params: Vec<_> = kernel.params.iter().map(|param| (param.offset, param.size, param.align)).collect();
    assert_eq!(params, [(0, 1, 1), (16, 20, 16), (40, 8, 8), (48, 8, 8)]);
    assert_eq!(
        kernel.directives,
        [("maxntid".to_owned(), vec![256, 1, 1]), ("minnctapersm".to_owned(), vec![2])]
    );
}

#[test]
fn parameters_may_lie_in_registers() {
    let text = ".func (.reg .u32 %res) f(.reg .u32 %a) { .reg .u32 %b; add.u32 %res, %a, %b; ret; }";
    let function = module(text).functions.remove(0);
    assert_eq!(function.returns[0].register, Some(RegId(0)));
    assert_eq!(function.params[0].register, Some(RegId(1)));
    assert_eq!(function.body.expect("a body").instructions[0].operands, [reg(0), reg(1), reg(2)]);
}

#[test]
fn variables_hold_what_their_initialisers_say() {
    let text = ".global .align 8 .u64 a[3] = {generic(b)+4, 38, b};\n.global .b8 b[] = {1, 0x2, 03, 0b100U, -1, 'x'};"
        .replace(", 'x'", "");
    let module = module(&text);
    let [a, b] = &*module.variables else { panic!() };
    assert_eq!((b.size, &b.init[0].value), (5, &InitValue::Bytes(vec![1, 2, 3, 4, 255])));
    let address =
        |offset, generic| InitValue::Address { symbol: Symbol::Module(1), offset, generic, size: 8, skip: 0 };
    let values: Vec<_> = a.init.iter().map(|init| (init.offset, init.value.clone())).collect();
    let number = InitValue::Bytes(38_u64.to_le_bytes().to_vec());
    assert_eq!(values, [(0, address(4, true)), (8, number), (16, address(0, false))]);
}

#[test]
fn nested_initialisers_leave_the_rest_of_a_row() {
    let module = module(
        ".const .u16 a[2][3] = {{1, 2}, {(3 + 4) * 2 - 10 / 5}};\n.global .v2 .f32 v[2] = {{1.5, 0f40000000}};",
    );
    let [a, v] = &*module.variables else { panic!() };
    let inits: Vec<_> = a.init.iter().map(|init| (init.offset, init.value.clone())).collect();
    assert_eq!(inits, [(0, InitValue::Bytes(vec![1, 0, 2, 0])), (6, InitValue::Bytes(vec![12, 0]))]);
    assert_eq!((a.size, v.size, v.align), (12, 16, 8));
    assert_eq!(v.init[0].value, InitValue::Bytes(vec![0, 0, 0xc0, 0x3f, 0, 0, 0, 0x40]));
}

#[test]
fn masks_take_single_bytes_of_an_address() {
    let module = module(".global .u8 a[3] = {0xFF(f), 0xFF00(f), 7};\n.func f() { ret; }");
    let part =
        |skip| InitValue::Address { symbol: Symbol::Function(0), offset: 0, generic: false, size: 1, skip };
    let values: Vec<_> = module.variables[0].init.iter().map(|init| init.value.clone()).collect();
    assert_eq!(values, [part(0), part(1), InitValue::Bytes(vec![7])]);
}

#[test]
fn a_definition_takes_the_place_of_a_declaration() {
    let module = module(
        ".extern .func f() .noreturn;\n.extern .global .b8 v[4];\n.extern .shared .align 16 .b8 dynamic[];\n\
         .visible .global .align 4 .b8 v[4] = {1};\n.func f() { trap; }\n.weak .func g();\n.alias g, f;",
    );
    let functions: Vec<_> =
        module.functions.iter().map(|f| (&*f.name, f.body.is_some(), f.is_noreturn())).collect();
    assert_eq!(functions, [("f", true, true), ("g", true, false)]);
    let variables: Vec<_> =
        module.variables.iter().map(|v| (&*v.name, v.size, v.align, v.external)).collect();
    assert_eq!(variables, [("v", 4, 4, false), ("dynamic", 0, 16, true)]);
}

#[test]
fn operands_are_resolved() {
    let cases = [
        ("mov.u32 %r1, %tid.x", vec![reg(0), Operand::Special("%tid.x".to_owned())]),
        ("mov.u32 %r1, WARP_SZ", vec![reg(0), Operand::Special("WARP_SZ".to_owned())]),
        ("mov.u32 %r1, -5", vec![reg(0), Operand::Integer(5_u64.wrapping_neg())]),
        ("mov.u32 %r1, 0xFFu", vec![reg(0), Operand::Integer(255)]),
        ("mov.f32 %g, 0f3F800000", vec![reg(0), Operand::Float32(0x3f80_0000)]),
        ("mov.f64 %rd1, 0d3FF0000000000000", vec![reg(0), Operand::Float64(0x3ff0_0000_0000_0000)]),
        ("mov.f64 %rd1, 1.5e1", vec![reg(0), Operand::Float64(15_f64.to_bits())]),
        ("mov.u64 %rd1, TILE+8", vec![reg(0), Operand::Symbol(Symbol::Module(0), 8)]),
        ("mov.u64 %rd1, helper", vec![reg(0), Operand::Symbol(Symbol::Function(0), 0)]),
        ("and.pred %p1, %p2, !%p3", vec![reg(0), reg(1), Operand::Negated(RegId(2))]),
        ("setp.lt.s32 %p1|%p2, %r1, 4", vec![Operand::Pair(RegId(0), RegId(1)), reg(2), Operand::Integer(4)]),
        (
            "vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1",
            vec![reg(0), Operand::Part(RegId(1), "b0".to_owned()), Operand::Part(RegId(2), "h1".to_owned())],
        ),
        ("mov.b64 {%r1, _}, %rd1", vec![Operand::List(vec![reg(0), Operand::Sink]), reg(1)]),
        (
            "atom.add.u32 _, [%rd1], 1",
            vec![
                Operand::Sink,
                Operand::Address { base: Base::Register(RegId(0)), offset: 0 },
                Operand::Integer(1),
            ],
        ),
    ];
    for (instruction, expected) in cases {
        assert_eq!(operands(instruction).0, expected, "{instruction}");
    }
}

#[test]
fn addresses_have_a_base_and_an_offset() {
    let cases = [
        ("[%rd1]", Base::Register(RegId(1)), 0),
        ("[%rd1+16]", Base::Register(RegId(1)), 16),
        ("[%rd1+-8]", Base::Register(RegId(1)), -8),
        ("[%rd1-8]", Base::Register(RegId(1)), -8),
        ("[p]", Base::Symbol(Symbol::Param(0)), 0),
        ("[n+1]", Base::Symbol(Symbol::Param(1)), 1),
        ("[TILE+4*2]", Base::Symbol(Symbol::Module(0)), 8),
        ("[0x10]", Base::Absolute, 16),
    ];
    for (address, base, offset) in cases {
        let operands = operands(&format!("ld.u32 %r1, {address}")).0;
        assert_eq!(operands[1], Operand::Address { base, offset }, "{address}");
    }
    let operands = operands("tex.2d.v4.f32.s32 {%f0, %f1, %f2, _}, [TILE, {%r1, %r2}]").0;
    let tile = Operand::Address { base: Base::Symbol(Symbol::Module(0)), offset: 0 };
    assert_eq!(operands[1], Operand::Coordinates(vec![tile, Operand::List(vec![reg(3), reg(4)])]));
}

#[test]
fn a_dropped_destination_of_two_is_a_register_of_its_own() {
    let (operands, names) = operands("setp.eq.s32 _|%p1, %r1, 0");
    assert_eq!(operands[0], Operand::Pair(RegId(0), RegId(1)));
    assert_eq!(names, ["_", "%p1", "%r1"]);
}

#[test]
fn modifiers_and_guards_belong_to_the_instruction() {
    let instructions =
        instructions("@!%p1 ld.shared::cta.L1::evict_last.v2.b32 {%r1, %r2}, [%rd1];\n\tbar.sync 0;");
    let [load, barrier] = &*instructions else { panic!() };
    assert_eq!(load.mnemonic(), "ld.shared::cta.L1::evict_last.v2.b32");
    assert_eq!(
        (load.guard.map(|guard| guard.negated), load.ty(), load.line),
        (Some(true), Some(Type::B32), 14)
    );
    assert_eq!((barrier.guard, barrier.line), (None, 15));
}

#[test]
fn inner_scopes_have_their_own_names() {
    let body = kernel(
        "{ .reg .b32 %r1; .param .b32 x; st.param.b32 [x+0], %r1; L: bra L; }\n\
         { .reg .pred %r1; .param .b64 x; ld.param.b64 %rd1, [x+0]; @%r1 bra L; L: ret; }",
    );
    let body = body.body.expect("a body");
    let variables: Vec<_> = body.variables.iter().map(|variable| (&*variable.name, variable.size)).collect();
    assert_eq!(variables, [("x", 4), ("x", 8)]);
    let types: Vec<_> = body.registers.iter().map(|register| (&*register.name, register.ty)).collect();
    assert_eq!(types, [("%r1", Type::B32), ("%rd1", Type::B64), ("%r1", Type::Pred)]);
    assert_eq!(body.labels, [("L".to_owned(), 1), ("L".to_owned(), 4)]);
    let target = |index: usize| body.instructions[index].operands[0].clone();
    assert_eq!((target(1), target(3)), (Operand::Label(crate::Label(0)), Operand::Label(crate::Label(1))));
}

#[test]
fn vector_registers_are_as_many_registers() {
    let (operands, names) = {
        let mut body =
            kernel(".reg .v2 .f32 %v;\nmov.f32 %v.y, %f1;\nld.v2.f32 %v, [%rd1];").body.expect("a body");
        let second = body.instructions.remove(1).operands;
        (body.instructions.remove(0).operands.into_iter().chain(second).collect::<Vec<_>>(), body.registers)
    };
    assert_eq!((&*names[0].name, &*names[1].name), ("%v.x", "%v.y"));
    assert_eq!((&operands[0], &operands[2]), (&reg(1), &Operand::List(vec![reg(0), reg(1)])));
}

#[test]
fn calls_have_three_operands_and_perhaps_a_table() {
    let helper = Operand::Symbol(Symbol::Function(0), 0);
    let none = Operand::List(Vec::new());
    let local = |number| Operand::List(vec![Operand::Symbol(Symbol::Local(number), 0)]);
    let params = ".param .b32 x;\n.param .b32 y;\n";
    let prototype = "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 4 .b8 _[12]);\n";
    let targets = "targets: .calltargets helper;\n";
    let table = |name: &str| Operand::Table(name.to_owned());
    let cases = [
        ("call helper;", vec![none.clone(), helper.clone(), none.clone()]),
        ("call.uni helper, (x);", vec![none.clone(), helper.clone(), local(0)]),
        ("call.uni \n(y), \nhelper, \n(\nx\n);", vec![local(1), helper.clone(), local(0)]),
        ("call (y), %rd1, (x), proto;", vec![local(1), reg(0), local(0), table("proto")]),
        ("call (y), %rd1, (x), targets;", vec![local(1), reg(0), local(0), table("targets")]),
        ("call %rd1, proto;", vec![none.clone(), reg(0), none.clone(), table("proto")]),
    ];
    for (call, expected) in cases {
        let body = kernel(&format!("{params}{prototype}{targets}{call}")).body.expect("a body");
        assert_eq!(body.instructions[0].operands, expected, "{call}");
        assert_eq!(body.prototypes, [("proto".to_owned(), vec![4], vec![4, 12])]);
        assert_eq!(body.tables, [("targets".to_owned(), vec![helper.clone()])]);
    }
}

#[test]
fn calls_that_do_not_return_end_a_block() {
    let text = ".func f() .noreturn;\n.entry k()\n{\ncall f, ();\nL: .callprototype _ () .noreturn;\n.reg .b64 %rd1;\n\
                call %rd1, (), L;\nret;\n}";
    let body = module(text).functions.remove(1).body.expect("a body");
    assert_eq!(body.never_returning, [0, 1]);
    let graph = Graph::new(&body);
    assert_eq!(graph.blocks().len(), 3);
    assert!(graph.blocks().iter().all(|block| block.leaves && block.successors.is_empty()));
}

#[test]
fn a_jump_table_has_labels() {
    let body = kernel("T: .branchtargets A, B, A;\nbrx.idx %r1, T;\nA: ret;\nB: exit;").body.expect("a body");
    let label = |number| Operand::Label(crate::Label(number));
    assert_eq!(body.tables, [("T".to_owned(), vec![label(0), label(1), label(0)])]);
    let graph = Graph::new(&body);
    assert_eq!(graph.blocks()[0].successors.iter().map(|edge| edge.to).collect::<Vec<_>>(), [1, 2, 1]);
    assert_eq!((graph.block_of(0), graph.block_of(2), graph.blocks()[1].predecessors.len()), (0, 2, 1));
}

#[test]
fn labels_that_nothing_jumps_to_part_no_blocks() {
    let body = kernel("mov.u32 %r1, 0;\nL_tmp1:\nmov.u32 %r2, 0;\n@%p1 bra L_end;\nret;\nL_end:")
        .body
        .expect("a body");
    let graph = Graph::new(&body);
    let blocks: Vec<_> =
        graph.blocks().iter().map(|block| (block.instructions.clone(), block.leaves)).collect();
    assert_eq!(blocks, [(0..3, true), (3..4, true)]);
    assert_eq!(Graph::new(&crate::Body::default()).blocks().len(), 1);
}

/// File, line and column of the chain.
fn places(module: &Module, instruction: &Instruction) -> Vec<(String, u32, u32)> {
    let place = |place: &Position| (module.file(place).to_owned(), place.line, place.column);
    instruction.position.map(|id| module.chain(id).map(place).collect()).unwrap_or_default()
}

#[test]
fn locations_may_say_where_they_were_inlined() {
    let module = module(&text(
        "ret;\n.loc 1 24 3\nadd;\n.loc 1 12 33, function_name $L__info_string0, inlined_at 1 24 3\nadd;\n\
         .loc 2 11 34, function_name $L__info_string1+7, inlined_at 1 12 33\nadd;\n.loc 9 1 1\nadd;",
    ));
    let body = module.functions[1].body.as_ref().expect("a body");
    let chain: Vec<_> = body.instructions.iter().map(|instruction| places(&module, instruction)).collect();
    let at = |file: &str, line, column| (file.to_owned(), line, column);
    assert_eq!(chain[0], []);
    assert_eq!(chain[2], [at("a.rs", 12, 33), at("a.rs", 24, 3)]);
    assert_eq!(chain[3], [at("core.rs", 11, 34), at("a.rs", 12, 33), at("a.rs", 24, 3)]);
    // A file without a directive.
    assert_eq!(chain[4], []);
    let place = |library: fn(&str) -> bool| {
        let id = body.instructions[3].position.expect("a position");
        module.place(id, library).map(|place| place.line)
    };
    assert_eq!(place(|file| file == "core.rs"), Some(12));
    assert_eq!((place(|_| false), place(|_| true)), (Some(11), Some(24)));
}

#[test]
fn line_zero_is_the_line_before_in_its_block() {
    let module = module(&text(
        "ret;\n.loc 1 0 0\nadd;\n.loc 1 5 2\nadd;\n.loc 2 0 0\nadd;\n@%p1 ret;\n.loc 1 0 0\nadd;",
    ));
    let body = module.functions[1].body.as_ref().expect("a body");
    let lines: Vec<_> = body
        .instructions
        .iter()
        .map(|instruction| places(&module, instruction).first().map(|p| p.1))
        .collect();
    assert_eq!(lines, [None, Some(0), Some(5), Some(5), Some(5), Some(0)]);
}

#[test]
fn errors_name_the_line_what_stands_there_and_what_could() {
    let cases = [
        ("\n.foo 3", "PTX line 2: `.foo`; expected a directive that is known outside of functions"),
        (
            ".entry k()\n.bar 3\n{ret;}",
            "PTX line 2: `.bar`; expected a directive that is known in a function's header",
        ),
        (".entry k()\n{\n.baz;\n}", "PTX line 3: `.baz`; expected a directive that is known in a function"),
        (
            ".entry k()\n{\nbra $L_9;\n}",
            "PTX line 3: `$L_9`; expected a declared register, variable, function or label, a number, `[`, or `{`",
        ),
        (
            ".entry k()\n{\nret\n}",
            "PTX line 4: `}`; expected a declared register, variable, function or label, a number, `[`, or `{`",
        ),
        (".entry k()\n{\n/* ret;", "PTX line 3: a comment without an end; expected `*/`"),
        (".entry k()\n{\n", "PTX line 3: the end of the text; expected `}`"),
        (
            ".global .b32 a[2] = {1, 2,\n3};",
            "PTX line 2: `3`; expected no more items than the variable has elements",
        ),
        (".global .b32 a, a;", "PTX line 1: `a` a second time; expected a name that is new"),
        (
            ".global .b64 a[0x7fffffffffffffff];",
            "PTX line 1: `a` is larger than any memory; expected a size below 2^64 bytes",
        ),
        (".global .b32 é;", "PTX line 1: the character 'é'; expected PTX"),
        (
            ".entry k() { .reg .b32 %r<2>; mov.b32 %r2, 0; }",
            "PTX line 1: `%r2`; expected a declared register, variable, function or label, a number, `[`, or `{`",
        ),
        (
            ".entry k() { .reg .b32 %r1; bra %r1; }",
            "PTX line 1: `bra` without a target; expected one label, or for `brx` an index and a declared list of labels",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text).to_string(), expected, "{text}");
    }
}

#[test]
fn what_is_nested_too_deep_is_an_error() {
    for (open, close) in [("(", ")"), ("-", ""), ("{", "}"), ("1+(", ")")] {
        let text = format!(".global .b32 a = {}1{};", open.repeat(100_000), close.repeat(100_000));
        assert!(error(&text).expected.starts_with("no more than 100"), "{open}");
    }
    let deep = text(&format!("{}ret;{}", "{".repeat(100_000), "}".repeat(100_000)));
    assert_eq!(module(&deep).functions.len(), 2);
    let operand = text(&format!("mov.b32 {}%r1{}, 0;", "{".repeat(100_000), "}".repeat(100_000)));
    assert!(error(&operand).expected.starts_with("no more than 100"));
}

/// What compilers made of small programs: rustc 1.96 with `line-tables-only`, NVRTC 12.9 with `-lineinfo`, and clang 19.
const FIXTURES: [&str; 3] = [
    include_str!("../fixtures/rustc.ptx"),
    include_str!("../fixtures/nvrtc.ptx"),
    include_str!("../fixtures/clang.ptx"),
];

#[test]
fn accesses_name_a_space_anywhere_among_their_modifiers() {
    let audited = |body: &str| {
        let found = audit(&module(&text(body)), "k").expect("a kernel");
        (found.shared, found.generic, found.leaks)
    };
    let address = "mov.u64 %rd1, TILE;\n";
    assert_eq!(
        audited(&format!(
            "{address}ld.volatile.shared::cta.b32 %r1, [%rd1];\nst.relaxed.gpu.global.b32 [p], %r1;"
        )),
        (1, 0, 0)
    );
    assert_eq!(
        audited(&format!("{address}atom.relaxed.cta.shared.add.u32 %r1, [%rd1], 1;\nst.b32 [%r1], 0;")),
        (0, 1, 0)
    );
    let matrix = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%rd1];\nst.global.b32 [%rd2], %r2;";
    assert_eq!(audited(&format!("{address}{matrix}")), (0, 0, 0));
    assert_eq!(audited(&format!("{address}add.s64 %rd2, %rd1, 4;\natom.add.u32 %r1, [%rd2], 1;")), (0, 0, 1));
}

#[test]
fn what_rustc_writes_says_where_functions_were_inlined() {
    let module = module(FIXTURES[0]);
    let kernel = &module.functions[0];
    let body = kernel.body.as_ref().expect("a body");
    let chain = |opcode: &str| {
        let instruction = body.instructions.iter().find(|instruction| instruction.mnemonic() == opcode);
        let places = places(&module, instruction.expect("such an instruction")).into_iter();
        places
            .map(|(file, line, _)| (file.rsplit('/').next().unwrap_or_default().to_owned(), line))
            .collect::<Vec<_>>()
    };
    let expected = |places: &[(&str, u32)]| {
        places.iter().map(|&(file, line)| (file.to_owned(), line)).collect::<Vec<_>>()
    };
    assert_eq!(
        chain("ld.global.b32"),
        expected(&[("mod.rs", 1721), ("mut_ptr.rs", 1263), ("lib.rs", 12), ("lib.rs", 17), ("lib.rs", 24)])
    );
    assert_eq!(chain("shl.b32"), expected(&[("lib.rs", 12), ("lib.rs", 17), ("lib.rs", 24)]));
    assert_eq!(chain("bar.sync"), expected(&[("mod.rs", 55), ("lib.rs", 26)]));
    assert_eq!(chain("ret"), expected(&[("lib.rs", 32)]));
    let own = |instruction: &Instruction| {
        let place = module.place(instruction.position?, |file| file.starts_with("/rust/"))?;
        Some(module.file(place))
    };
    assert!(body.instructions.iter().all(|instruction| own(instruction) == Some("src/lib.rs")));
    let graph = Graph::new(body);
    assert_eq!((graph.loops().len(), graph.blocks().len()), (1, 7));
}

#[test]
fn what_nvrtc_writes_is_read() {
    let module = module(FIXTURES[1]);
    let kernel = module.functions.iter().find(|function| function.entry).expect("a kernel");
    assert_eq!(
        (&*kernel.name, kernel.params.last().map(|param| (param.offset, param.size))),
        ("k", Some((24, 24)))
    );
    assert_eq!(kernel.directives[0], ("maxntid".to_owned(), vec![256, 1, 1]));
    let body = kernel.body.as_ref().expect("a body");
    let chains = body.instructions.iter().map(|instruction| places(&module, instruction));
    let lines = chains.map(|chain| chain.into_iter().map(|place| place.1).collect::<Vec<_>>());
    assert!(lines.into_iter().any(|lines| lines == [11, 12, 24]));
    let indirect =
        body.instructions.iter().find(|instruction| instruction.operands.len() == 4).expect("a call");
    assert!(matches!(&indirect.operands[3], Operand::Table(name) if body.prototypes[0].0 == *name));
    assert_eq!(body.labels.iter().filter(|(name, _)| name == "LAB_WAIT").count(), 2);
}

#[test]
fn what_clang_writes_is_read() {
    let module = module(FIXTURES[2]);
    assert!(module.functions.iter().all(|function| function.body.is_some() || function.name == "vprintf"));
    let filled = |name: &str| {
        module.variables.iter().find(|variable| variable.name == name).map(|variable| variable.init.len())
    };
    // A byte, padding, two addresses, and numbers.
    assert_eq!(filled("q"), Some(4));
}

/// Everything that reads what the parser made.
fn walk(module: &Module) {
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        let graph = Graph::new(body);
        for (index, instruction) in body.instructions.iter().enumerate() {
            let block = &graph.blocks()[graph.block_of(index)];
            assert!(block.instructions.contains(&index));
            let chain = instruction.position.map(|id| module.chain(id).count());
            assert!(chain.is_none_or(|length| length > 0));
        }
        for index in 0..graph.blocks().len() {
            let (dominator, post_dominator) = (graph.dominator(index), graph.post_dominator(index));
            assert!(dominator != Some(index) && post_dominator != Some(index));
        }
    }
}

/// A text with pieces left out, moved, or replaced by others of it.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..60, 0..4);
    (0..FIXTURES.len(), prop::collection::vec(change, 1..4)).prop_map(|(fixture, changes)| {
        let mut text = FIXTURES[fixture].as_bytes().to_vec();
        for (at, from, length, how) in changes {
            let at = at.index(text.len());
            let from = from.index(text.len());
            let piece = text[from..(from + length).min(text.len())].to_vec();
            match how {
                // The start of a token tells more than its middle.
                0 => drop(text.drain(at..(at + length).min(text.len()))),
                1 => drop(text.splice(at..at, piece)),
                2 => drop(text.splice(at..(at + length).min(text.len()), piece)),
                _ => text[at] = b"\0{}()[]<>;:,.%_|-+@!\"09afx /"[from % 28],
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// Words of PTX in any order.
fn soup() -> impl Strategy<Value = String> {
    const WORDS: [&str; 48] = [
        ".entry",
        ".func",
        "k",
        "f",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        ":",
        "+",
        "-",
        "*",
        "/",
        "%r",
        "%r1",
        "<",
        ">",
        ".reg",
        ".b32",
        ".pred",
        ".param",
        ".shared",
        ".align",
        "0",
        "1",
        "0x10",
        "0f3F800000",
        "1.5",
        "L",
        "bra",
        "call",
        "ret",
        "@",
        "!",
        "|",
        "_",
        "=",
        ".loc",
        ".file",
        ".section",
        ".debug_info",
        ".branchtargets",
        ".callprototype",
        "generic",
    ];
    let word = prop::sample::select(&WORDS[..]);
    (any::<bool>(), prop::collection::vec(word, 0..40)).prop_map(|(inside, words)| {
        let words = words.join(" ");
        if inside { text(&words) } else { words }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_text_makes_the_parser_panic(text in prop_oneof![mutated(), soup(), ".{0,40}"]) {
        if let Ok(module) = parse(&text) {
            walk(&module);
        }
    }
}
