//! What no thread can do, named before it happens; calls; and what the same schedule makes the same.

use race::schedule::{Policy, Schedule};
use simt::{Kernel, Launch};

use crate::support::{FILE, POLICIES, judged, judged_run, launch, module};

/// `%d0`: the thread's element of the buffer, of 8 KiB.
const OWN: &str = "mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %out;";

#[test]
fn out_of_bounds() {
    assert_eq!(judged(&format!("{OWN} st.global.u32 [%d0+8188], %t; ret;"), 1, 1), "clean");
    assert_eq!(judged(&format!("{OWN} st.global.u32 [%d0+8188], %t; ret;"), 1, 64), "out of bounds");
    assert_eq!(judged(&format!("{OWN} st.global.u32 [%d0+-4], %t; ret;"), 1, 64), "out of bounds");
    assert_eq!(judged(&format!("{OWN} ld.global.u32 %w0, [%d0+65536]; ret;"), 1, 64), "out of bounds");
    // The first bytes lie in it, the last do not.
    assert_eq!(judged("ld.global.v4.u32 {%w0,%w1,%w2,%w3}, [%out+8192]; ret;", 1, 32), "out of bounds");
    assert_eq!(judged("ld.shared.u32 %w0, [%s+4096]; ret;", 1, 32), "out of bounds");
}

#[test]
fn addresses_of_nothing() {
    assert_eq!(judged("mov.u64 %d0, 0; ld.global.u32 %w0, [%d0]; ret;", 1, 32), "null");
    assert_eq!(judged("mov.u64 %d0, 8; st.u32 [%d0], %t; ret;", 1, 32), "null");
    assert_eq!(judged("mov.u64 %d0, 0x7000000000000000; ld.u32 %w0, [%d0]; ret;", 1, 32), "unknown pointer");
}

#[test]
fn misaligned() {
    assert_eq!(judged("ld.global.u32 %w0, [%out+2]; ret;", 1, 32), "misaligned");
    assert_eq!(judged("ld.global.u16 %h0, [%out+1]; ret;", 1, 32), "misaligned");
    assert_eq!(judged("ld.global.u64 %d0, [%out+4]; ret;", 1, 32), "misaligned");
    assert_eq!(judged("ld.global.v4.u32 {%w0,%w1,%w2,%w3}, [%out+8]; ret;", 1, 32), "misaligned");
    assert_eq!(judged("ld.global.u8 %h0, [%out+3]; ret;", 1, 32), "clean");
}

#[test]
fn constant_memory() {
    let held = ".const .align 4 .b32 C[4] = {1, 2, 3, 4};";
    let run = |body: &str| launch(held, body, Launch::new(1, 1));
    let read = run("ld.const.u32 %w0, [C+8]; st.global.u32 [%out], %w0; ret;");
    assert_eq!(read.go().buffers[0][..4], [3, 0, 0, 0]);
    assert_eq!(judged_run(read), "clean");
    assert_eq!(
        judged_run(run("mov.u64 %d0, C; cvta.const.u64 %d0, %d0; st.u32 [%d0], %t; ret;")),
        "read only"
    );
    assert_eq!(judged_run(run("ld.const.u32 %w0, [C+16]; ret;")), "out of bounds");
}

#[test]
fn traps_and_endless_loops() {
    assert_eq!(judged("trap;", 1, 32), "trap");
    let budget = |body: &str| judged_run(launch("", body, Launch::new(1, 32).budget(1000)));
    assert_eq!(budget("L: bra L;"), "endless");
    assert_eq!(budget("L: st.shared.u32 [%own], %t; bar.sync 0; bra L;"), "endless");
    // A fault takes no finding of other threads away, and makes none.
    let one = "setp.eq.u32 %p0, %t, 3; @%p0 trap; st.shared.u32 [%own], %t; bar.sync 0; ld.shared.u32 %w0, [%other]; ret;";
    assert_eq!(judged(one, 1, 64), "trap");
}

const FACTORIAL: &str = ".func (.param .u32 r) f(.param .u32 a)
    { .reg .u32 %x<4>; .reg .pred %p; ld.param.u32 %x0, [a]; setp.gt.u32 %p, %x0, 1; @%p bra L;
      mov.u32 %x1, 1; st.param.u32 [r], %x1; ret;
      L: sub.u32 %x2, %x0, 1; { .param .u32 b; .param .u32 s; st.param.u32 [b], %x2; call (s), f, (b); ld.param.u32 %x3, [s]; }
      mul.lo.u32 %x1, %x0, %x3; st.param.u32 [r], %x1; ret; }";

fn called(number: u32) -> crate::support::Run {
    let body = format!(
        "mov.u32 %w0, {number}; {{ .param .u32 b; .param .u32 s; st.param.u32 [b], %w0; call (s), f, (b);
        ld.param.u32 %w1, [s]; }} setp.eq.u32 %p0, %t, 0; @%p0 st.global.u32 [%out], %w1; ret;"
    );
    launch(FACTORIAL, &body, Launch::new(1, 64))
}

#[test]
fn recursion() {
    assert_eq!(called(6).go().buffers[0][..4], 720_u32.to_le_bytes());
    assert_eq!(judged_run(called(6)), "clean");
    assert_eq!(judged_run(called(100_000)), "call depth");
}

#[test]
fn tables_and_pointers_to_functions() {
    let table = "L: .branchtargets A, B; and.b32 %w0, %t, 1; mov.u32 %w1, 0;
        brx.idx %w0, L; A: mov.u32 %w1, 10; bra C; B: mov.u32 %w1, 20;
        C: mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0], %w1; ret;";
    let run = launch("", table, Launch::new(1, 4));
    assert_eq!(run.go().buffers[0][..16], [10, 0, 0, 0, 20, 0, 0, 0, 10, 0, 0, 0, 20, 0, 0, 0]);
    assert_eq!(judged_run(run), "clean");
    let function = |name: &str, value: u32| {
        format!(
            ".func (.param .u32 r) {name}() {{ .reg .u32 %x; mov.u32 %x, {value}; st.param.u32 [r], %x; ret; }}\n"
        )
    };
    let held = function("a", 1) + &function("b", 2);
    let body = "P: .callprototype (.param .u32 _) _ (); and.b32 %w0, %t, 1; setp.eq.u32 %p0, %w0, 0;
        mov.u64 %d1, a; mov.u64 %d2, b; selp.b64 %d3, %d1, %d2, %p0;
        { .param .u32 s; call (s), %d3, (), P; ld.param.u32 %w1, [s]; }
        mul.wide.u32 %d0, %t, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0], %w1; ret;";
    let run = launch(&held, body, Launch::new(1, 4));
    assert_eq!(run.go().buffers[0][..16], [1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(judged_run(run), "clean");
}

#[test]
fn printing() {
    let held = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .align 1 .b8 F[7] = {116, 61, 37, 100, 10, 0, 0};";
    let body = ".local .align 8 .b8 A[8]; mov.u64 %d0, A; st.local.u32 [%d0], %t; cvta.local.u64 %d0, %d0;
        mov.u64 %d1, F; cvta.global.u64 %d1, %d1;
        { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [a], %d0;
        call (r), vprintf, (f, a); ld.param.b32 %w0, [r]; } ret;";
    let run = launch(held, body, Launch::new(1, 3));
    assert_eq!(String::from_utf8_lossy(&run.go().outcome.printed), "t=0\nt=1\nt=2\n");
    assert_eq!(judged_run(run), "clean");
}

#[test]
fn same_seed_same_everything() {
    let body = "st.shared.u32 [%own], %t; ld.shared.u32 %w0, [%other]; mad.lo.u32 %w1, %b, %n, %t;
        and.b32 %w1, %w1, 63; mul.wide.u32 %d0, %w1, 4; add.u64 %d0, %d0, %out; st.global.u32 [%d0], %w0;
        atom.global.add.u32 %w2, [%out+1024], 1; ret;";
    for policy in POLICIES {
        for seed in 0..8 {
            let run = |workers| {
                let schedule = Schedule::seeded(policy, seed);
                launch("", body, Launch::new(5, 96).schedule(schedule).workers(workers)).go()
            };
            let first = run(1);
            for workers in 1..4 {
                let again = run(workers);
                assert_eq!(again.buffers, first.buffers);
                assert_eq!(format!("{:?}", again.outcome.report), format!("{:?}", first.outcome.report));
            }
        }
    }
}

/// Whatever stands in the text: an error, or a verdict.
fn mutated(number: u64) {
    let mut random = fastrand::Rng::with_seed(number);
    let program = crate::fuzz::text(random.u64(..1 << 20));
    let mut lines: Vec<String> = program.lines().map(str::to_owned).collect();
    for _ in 0..random.usize(1..5) {
        let (at, other) = (random.usize(3..lines.len()), random.usize(3..lines.len()));
        match random.u32(..6) {
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => {
                let copy = lines[other].clone();
                lines.insert(at, copy);
            }
            3 => {
                // One digit for another: registers, labels, sizes, types.
                let digits: Vec<usize> =
                    lines[at].match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
                if let Some(&digit) = random.choice(&digits) {
                    lines[at].replace_range(digit..=digit, &random.digit(10).to_string());
                }
            }
            4 => {
                let words: Vec<String> = lines[other].split_inclusive(' ').map(str::to_owned).collect();
                let mut own: Vec<String> = lines[at].split_inclusive(' ').map(str::to_owned).collect();
                if let (Some(word), false) = (random.choice(&words), own.is_empty()) {
                    let place = random.usize(..own.len());
                    own[place].clone_from(word);
                }
                lines[at] = own.concat();
            }
            _ => {
                let middle = random.usize(..=lines[at].len());
                lines[at].truncate(middle);
            }
        }
        if lines.len() < 8 {
            break;
        }
    }
    let text = lines.join("\n");
    if std::env::var("MUTATION").is_ok() {
        eprintln!("{text}");
    }
    let Ok(module) = ptx::parse(&text) else { return };
    let Ok(kernel) = Kernel::load(&module, "k", FILE, |_| false) else { return };
    let policy = POLICIES[random.usize(..POLICIES.len())];
    let launch = Launch::new(2, 48).budget(100).schedule(Schedule::seeded(policy, number)).workers(1);
    let mut memory = simt::Memory::new();
    let arguments: Vec<Vec<u8>> = kernel
        .parameters()
        .iter()
        .map(|parameter| {
            let mut bytes = memory.alloc("g", &[0; 1024], 4).0.to_le_bytes().to_vec();
            bytes.resize(parameter.size as usize, 0);
            bytes
        })
        .collect();
    drop(launch.run(&kernel, &mut memory, &arguments));
}

#[test]
fn nothing_panics() {
    if let Some(one) = std::env::var("MUTATION").ok().and_then(|value| value.parse().ok()) {
        return mutated(one);
    }
    let count = std::env::var("MUTATIONS").ok().and_then(|value| value.parse().ok()).unwrap_or(3000);
    for number in 0..count {
        if let Err(payload) = std::panic::catch_unwind(|| mutated(number)) {
            eprintln!("the mutation of number {number}");
            std::panic::resume_unwind(payload);
        }
    }
}

#[test]
fn operands_of_another_width() {
    // Found by a mutation: a special register of 32 bits in a sum of 64 was taken for another register.
    assert_eq!(judged("add.u64 %d0, %d0, %ctaid.x; ret;", 1, 32), "clean");
}

#[test]
fn exhaustive_blocks() {
    let body = "st.shared.u32 [%own], %t; ld.shared.u32 %w0, [%other]; ret;";
    let text = module("", body);
    let kernel = crate::support::kernel(&text);
    let launch = Launch::new(1, 2).schedule(Schedule::seeded(Policy::Exhaustive, 0));
    let done = crate::support::Run::new(&kernel, launch, &[]).go();
    assert_eq!(crate::support::verdict(&done.outcome.report), "RAW warning");
}
