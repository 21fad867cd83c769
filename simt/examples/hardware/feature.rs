//! Steps about memory, calls, control flow and barriers.

use crate::writer::Writer;

/// Eight-byte words of local memory a thread.
pub(crate) const LOCALS: usize = 4;

/// Variables and functions that stand before the kernel of every program.
pub(crate) const MODULE: &str = "\
.const .align 8 .b64 table[4] = {0x0123456789abcdef, 0xfedcba9876543210, 0x8000000000000001, 0x3ff0000000000000};
.const .align 4 .f32 numbers[4] = {0f3F800000, 0f40490FDB, 0fBF000000, 0f7F7FFFFF};
.global .align 4 .u32 seeds[8] = {1, 2, 3, 0xffffffff, 0x80000000, 6, 7, 8};
.global .align 8 .b8 letters[16] = {1, 2, 3, 4, 5, 6, 7, 8, 250, 251, 252, 253, 254, 255, 0, 128};
.global .align 8 .u64 pointer = generic(seeds);
.extern .shared .align 16 .b8 dynamic[];

.func (.param .b32 result) mix(.param .b32 a, .param .b32 b)
{
	.reg .b32 %a, %b;
	ld.param.b32 %a, [a];
	ld.param.b32 %b, [b];
	shf.l.wrap.b32 %a, %a, %a, 5;
	xor.b32 %a, %a, %b;
	mul.lo.u32 %a, %a, 0x9e3779b9;
	st.param.b32 [result], %a;
	ret;
}

.func (.param .b32 result) less(.param .b32 a, .param .b32 b)
{
	.reg .b32 %a, %b;
	.reg .pred %p;
	ld.param.b32 %a, [a];
	ld.param.b32 %b, [b];
	setp.ge.s32 %p, %a, %b;
	@%p bra OTHER;
	st.param.b32 [result], %a;
	ret;
OTHER:
	st.param.b32 [result], %b;
	ret;
}

.func (.param .align 8 .b8 result[16]) turn(.param .align 8 .b8 pair[16], .param .b32 by)
{
	.reg .b64 %x, %y;
	.reg .b32 %by;
	.reg .b16 %h;
	ld.param.v2.b64 {%x, %y}, [pair];
	ld.param.b32 %by, [by];
	ld.param.u8 %h, [pair+3];
	and.b32 %by, %by, 63;
	shl.b64 %x, %x, %by;
	st.param.b64 [result], %y;
	st.param.b64 [result+8], %x;
	st.param.b8 [result+5], %h;
	ret;
}

.func (.param .b64 result) climb(.param .b32 n, .param .b64 x)
{
	.reg .b32 %n;
	.reg .b64 %x, %y;
	.reg .pred %p;
	ld.param.b32 %n, [n];
	ld.param.b64 %x, [x];
	setp.eq.u32 %p, %n, 0;
	@%p bra DONE;
	sub.u32 %n, %n, 1;
	{
	.param .b32 first;
	.param .b64 second;
	.param .b64 back;
	st.param.b32 [first], %n;
	mad.lo.u64 %y, %x, 3, 1;
	st.param.b64 [second], %y;
	call (back), climb, (first, second);
	ld.param.b64 %y, [back];
	}
	xor.b64 %x, %x, %y;
DONE:
	st.param.b64 [result], %x;
	ret;
}

";

impl Writer<'_> {
    /// A step that is no single instruction of a lane, so many branches and loops deep.
    pub(crate) fn feature(&mut self, depth: u32) {
        match self.random.u32(..14) {
            0 | 1 => self.vector(),
            2 => self.part(),
            3 => self.indexed(),
            4 => self.generic(),
            5 => self.constant(),
            6 | 7 => self.call(),
            8 => self.table(),
            9 => self.immediate(),
            10 => self.predicates(),
            11 => self.reduction(),
            12 if depth == 0 => self.barrier(),
            13 if depth == 0 && self.random.bool() => self.some_lanes(),
            _ => self.order(),
        }
    }

    /// Vectors of registers, in each space.
    fn vector(&mut self) {
        let (a, b) = self.two(32);
        let (x, y) = self.two(64);
        let (h, i) = self.two(16);
        let guard = self.guard();
        match self.random.u32(..6) {
            0 => {
                self.line(&format!("st.shared.v2.b32 [%slot], {{{a}, {b}}};"));
                self.line(&format!("{guard}ld.shared.v2.u16 {{{h}, {i}}}, [%slot+4];"));
            }
            1 => {
                self.line(&format!("{guard}st.local.v2.b64 [scratch+16], {{{x}, {y}}};"));
                self.line(&format!("ld.local.v4.b32 {{%v0, {a}, %v1, {b}}}, [scratch];"));
            }
            2 => self.line(&format!("{guard}ld.global.v2.b64 {{{x}, {y}}}, [%in+16];")),
            3 => self.line(&format!("{guard}ld.global.nc.v4.b32 {{{a}, %v0, %v1, {b}}}, [%in+32];")),
            4 => {
                self.line(&format!("{guard}st.global.v4.b16 [%out+8], {{{h}, {i}, {i}, {h}}};"));
                self.line(&format!("ld.global.v2.b32 {{{a}, {b}}}, [%out+8];"));
            }
            _ => self.line(&format!("{guard}ld.global.v4.u8 {{{h}, {i}, %v2, %v3}}, [%in+20];")),
        }
    }

    /// Types narrower than a register.
    fn part(&mut self) {
        let (word, half, wide, result) = (self.any(32), self.any(16), self.any(64), self.any(64));
        let (guard, at) = (self.guard(), self.random.u32(..8));
        self.line(&format!("st.shared.b64 [%slot], {wide};"));
        match self.random.u32(..4) {
            0 => self.line(&format!("{guard}st.shared.u8 [%slot+{at}], {word};")),
            1 => self.line(&format!("{guard}st.shared.b16 [%slot+{}], {half};", at & 6)),
            2 => self.line(&format!("{guard}atom.shared.cas.b16 {half}, [%slot+2], {half}, {half};")),
            _ => self.line(&format!("{guard}st.shared.s8 [%slot+7], {half};")),
        }
        let (ty, step) =
            [("s8", 1), ("u8", 1), ("s16", 2), ("u16", 2), ("s32", 4), ("u32", 4)][self.random.usize(..6)];
        let at = step * self.random.u32(..8 / step);
        self.line(&format!("ld.shared.{ty} {result}, [%slot+{at}];"));
        let at = step * self.random.u32(..8 / step);
        self.line(&format!("{guard}ld.global.{ty} {wide}, [%in+{at}];"));
    }

    /// A local array at an index that is computed.
    fn indexed(&mut self) {
        let (index, wide, result) = (self.any(32), self.any(64), self.any(64));
        let guard = self.guard();
        self.line(&format!(
            "{{ .reg .b32 %t; .reg .b64 %a; and.b32 %t, {index}, 3; mad.wide.u32 %a, %t, 8, %mine; \
             {guard}st.local.b64 [%a], {wide}; xor.b32 %t, %t, 1; shl.b32 %t, %t, 3; cvt.u64.u32 %a, %t; \
             add.u64 %a, %a, %mine; ld.local.b64 {result}, [%a]; }}"
        ));
    }

    /// Addresses of the generic space.
    fn generic(&mut self) {
        let (space, from) =
            [("shared", "%slot"), ("local", "%mine"), ("global", "%out")][self.random.usize(..3)];
        let asked = ["shared", "local", "global"][self.random.usize(..3)];
        let (wide, word, p) = (self.any(64), self.any(32), self.any(1));
        let guard = self.guard();
        // Atomics do not work on local memory.
        let sum = if space == "local" { "" } else { "atom.add.u32 {word}, [%a+4], {word};" }
            .replace("{word}", &word);
        self.line(&format!(
            "{{ .reg .b64 %a, %b; cvta.{space}.u64 %a, {from}; st.b64 [%a], {wide}; isspacep.{asked} {p}, %a; \
             {guard}st.u16 [%a+2], {word}; ld.s32 {wide}, [%a]; cvta.to.{space}.u64 %b, %a; \
             ld.{space}.u32 {word}, [%b+4]; {sum} ld.u32 {word}, [%a+4]; }}"
        ));
    }

    /// Variables with initial values.
    fn constant(&mut self) {
        let (wide, word, index) = (self.any(64), self.any(32), self.any(32));
        let (guard, at) = (self.guard(), self.random.u32(..16));
        match self.random.u32(..6) {
            0 => self.line(&format!("{guard}ld.const.b64 {wide}, [table+{}];", (at & 3) << 3)),
            1 => self.line(&format!(
                "{{ .reg .b32 %t; .reg .b64 %a, %b; and.b32 %t, {index}, 3; mul.wide.u32 %a, %t, 4; \
                 mov.u64 %b, numbers; add.u64 %a, %a, %b; {guard}ld.const.f32 {word}, [%a]; }}"
            )),
            2 => self.line(&format!("{guard}ld.global.u32 {word}, [seeds+{}];", (at & 7) << 2)),
            3 => self.line(&format!("{guard}ld.global.s8 {word}, [letters+{at}];")),
            4 => self.line(&format!(
                "{{ .reg .b32 %t; .reg .b64 %a; ld.global.u64 %a, [pointer]; and.b32 %t, {index}, 7; \
                 mad.wide.u32 %a, %t, 4, %a; {guard}ld.u32 {word}, [%a]; }}"
            )),
            _ => self.line(&format!(
                "{{ .reg .b64 %a; mov.u64 %a, table; cvta.const.u64 %a, %a; {guard}ld.u64 {wide}, [%a+16]; }}"
            )),
        }
    }

    /// Direct, indirect and recursive calls, some of which pass a structure.
    fn call(&mut self) {
        let (d, a, b) = (self.any(32), self.any(32), self.any(32));
        let (x, y) = self.two(64);
        let (p, guard) = (self.any(1), self.guard());
        match self.random.u32(..4) {
            0 => {
                let name = ["mix", "less"][self.random.usize(..2)];
                self.line(&format!(
                    "{{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], {a}; st.param.b32 [b], {b}; \
                     call (c), {name}, (a, b); .reg .b32 %t; ld.param.b32 %t, [c]; {guard}mov.b32 {d}, %t; }}"
                ));
            }
            1 => {
                let label = self.label();
                self.line(&format!(
                    "{{ .reg .b64 %f, %g; mov.u64 %f, mix; mov.u64 %g, less; selp.b64 %f, %f, %g, {p}; \
                     .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], {a}; st.param.b32 [b], {b}; \
                     proto{label}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _); \
                     call (c), %f, (a, b), proto{label}; ld.param.b32 {d}, [c]; }}"
                ));
            }
            2 => self.line(&format!(
                "{{ .param .align 8 .b8 a[16]; .param .b32 b; .param .align 8 .b8 c[16]; \
                 st.param.b64 [a], {x}; st.param.b64 [a+8], {y}; st.param.b32 [b], {a}; call (c), turn, (a, b); \
                 ld.param.v2.b64 {{{x}, {y}}}, [c]; }}"
            )),
            _ => self.line(&format!(
                "{{ .reg .b32 %t; .param .b32 a; .param .b64 b; .param .b64 c; and.b32 %t, {a}, 7; \
                 st.param.b32 [a], %t; st.param.b64 [b], {x}; call (c), climb, (a, b); ld.param.b64 {y}, [c]; }}"
            )),
        }
    }

    /// A branch with more than two ways.
    fn table(&mut self) {
        let (index, label) = (self.any(32), self.label());
        self.line(&format!("and.b32 %c{label}, {index}, 3;"));
        self.line(&format!(
            "TABLE{label}: .branchtargets WAY{label}a, WAY{label}b, WAY{label}c, WAY{label}b;"
        ));
        self.line(&format!("brx.idx %c{label}, TABLE{label};"));
        for way in ["a", "b", "c"] {
            self.text += &format!("WAY{label}{way}:\n");
            let (d, a, b) = (self.any(32), self.any(32), self.any(32));
            let op = ["add.u32", "sub.u32", "xor.b32", "mul.lo.u32"][self.random.usize(..4)];
            self.line(&format!("{op} {d}, {a}, {b};"));
            if way != "c" {
                self.line(&format!("bra END{label};"));
            }
        }
        self.text += &format!("END{label}:\n");
    }

    /// Numbers in the text.
    fn immediate(&mut self) {
        let (d, a, x, y, h) = (self.any(32), self.any(32), self.any(64), self.any(64), self.any(16));
        let (p, guard) = (self.any(1), self.guard());
        let number = self.random.u32(..);
        let line = match self.random.u32(..10) {
            0 => format!("{guard}add.s32 {d}, {a}, {};", number.cast_signed()),
            1 => format!("{guard}mul.rn.f32 {d}, {a}, 0f{number:08X};"),
            2 => format!("{guard}fma.rz.f64 {x}, {y}, 0d400921FB54442D18, {x};"),
            3 => format!("{guard}xor.b64 {x}, {y}, 0x{number:x}{number:08x};"),
            4 => format!("setp.gt.u32 {p}, {a}, {number};"),
            5 => format!("{guard}shr.s64 {x}, {y}, {};", number % 70),
            6 => format!("{guard}mov.b32 {d}, 0f{number:08X};"),
            7 => format!("{guard}selp.b32 {d}, {a}, -1, {p};"),
            8 => format!("{guard}mad.lo.u16 {h}, {h}, 77, {h};"),
            _ => format!("{guard}mad.lo.s32 {d}, {a}, WARP_SZ, -3;"),
        };
        self.line(&line);
    }

    /// Two results at once, and negated predicates.
    fn predicates(&mut self) {
        let (d, a, b, c) = (self.any(32), self.any(32), self.any(32), self.any(32));
        let ((p, q), r) = (self.two(1), self.any(1));
        let (condition, guard) = (self.condition(), self.guard());
        let joined = ["and", "or", "xor"][self.random.usize(..3)];
        let line = match self.random.u32(..8) {
            0 => format!("{guard}setp.lt.s32 {p}|{q}, {a}, {b};"),
            1 => format!("{guard}setp.ge.{joined}.u32 {p}|{q}, {a}, {b}, {condition};"),
            2 => format!("{guard}setp.neu.{joined}.f32 {p}, {a}, {b}, {condition};"),
            3 => format!("{guard}selp.b32 {d}, {a}, {b}, {r};"),
            4 => format!("{guard}mov.pred {p}, {r};"),
            5 => format!("{guard}{joined}.pred {p}, {q}, {r};"),
            6 if self.new => {
                let op = ["and", "or"][self.random.usize(..2)];
                let table = self.random.u32(..256);
                format!("{guard}lop3.{op}.b32 {d}|{p}, {a}, {b}, {c}, {table}, {condition};")
            }
            _ => {
                let (first, second) =
                    [("add.cc", "subc"), ("sub.cc", "addc"), ("sub.cc", "subc.cc")][self.random.usize(..3)];
                format!(
                    "{{ .reg .b32 %t; {first}.u32 %t, {a}, {b}; {second}.u32 {d}, {c}, %t; addc.u32 {d}, {d}, 0; }}"
                )
            }
        };
        self.line(&line);
    }

    /// Reductions into the thread's own words.
    fn reduction(&mut self) {
        let (a, b) = self.two(32);
        let (x, result, guard) = (self.any(64), self.any(64), self.guard());
        let (space, slot) = [("shared", "%slot"), ("global", "%out")][self.random.usize(..2)];
        self.line(&format!("st.{space}.b64 [{slot}], {x};"));
        let op = [
            "add.u32", "add.u64", "min.s32", "max.u64", "min.s64", "and.b32", "or.b64", "xor.b32", "inc.u32",
            "dec.u32", "add.f32", "add.f64",
        ][self.random.usize(..12)];
        let operand = if op.ends_with("64") { x } else { a.clone() };
        let line = match self.random.u32(..4) {
            0 if self.new => format!("{guard}red.global.add.v2.f32 [%out], {{{a}, {b}}};"),
            1 if self.new => format!("{guard}atom.global.add.v2.f32 {{{a}, {b}}}, [%out], {{{b}, {a}}};"),
            2 => format!("{guard}red.relaxed.cta.{space}.{op} [{slot}], {operand};"),
            _ => format!("{guard}red.{space}.{op} [{slot}], {operand};"),
        };
        if line.contains("%out") && space != "global" {
            self.line(&format!("st.global.v2.b32 [%out], {{{a}, {b}}};"));
            self.line(&line);
            self.line(&format!("ld.global.b64 {result}, [%out];"));
        } else {
            self.line(&line);
            self.line(&format!("ld.{space}.b64 {result}, [{slot}];"));
        }
    }

    /// Barriers that count, barriers of some warps, and dynamic shared memory.
    fn barrier(&mut self) {
        let (d, a, p, block) = (self.any(32), self.any(32), self.any(1), self.block);
        let label = self.label();
        match self.random.u32(..5) {
            0 => {
                let condition = self.condition();
                let number = self.random.u32(5..14);
                self.line(&format!("bar.red.popc.u32 {d}, {number}, {block}, {condition};"));
            }
            1 => {
                // The words of dynamic shared memory, reversed.
                self.line(&format!("st.shared.b32 [%dyn], {a};"));
                self.line(&format!("barrier.sync 1, {block};"));
                self.line(&format!(
                    "{{ .reg .b32 %t; .reg .b64 %a; sub.u32 %t, {}, %thread; mov.u64 %a, dynamic; \
                     mad.wide.u32 %a, %t, 4, %a; ld.shared.b32 {d}, [%a]; }}",
                    block - 1
                ));
                self.line("barrier.sync 1;");
            }
            2 => {
                // The first warp gives, the others take.
                self.line(&format!("setp.ge.u32 %q{label}, %thread, 32;"));
                self.line(&format!("@%q{label} bra ELSE{label};"));
                self.line(&format!("st.shared.b32 [%dyn], {a};"));
                self.line(&format!("bar.arrive 3, {block};"));
                self.line(&format!("bra END{label};"));
                self.text += &format!("ELSE{label}:\n");
                self.line(&format!("bar.sync 3, {block};"));
                self.line(&format!(
                    "{{ .reg .b64 %a; mov.u64 %a, dynamic; mad.wide.u32 %a, %lane, 4, %a; \
                     ld.shared.b32 {d}, [%a]; }}"
                ));
                self.text += &format!("END{label}:\n");
                self.line("bar.sync 0;");
            }
            3 => {
                // One warp with itself.
                self.line(&format!("setp.ge.u32 %q{label}, %thread, 32;"));
                self.line(&format!("@%q{label} bra END{label};"));
                self.line(&format!("bar.red.or.pred {p}, 14, 32, {p};"));
                self.text += &format!("END{label}:\n");
            }
            _ => self.line("barrier.sync 15;"),
        }
    }

    /// What some lanes of a warp do together.
    fn some_lanes(&mut self) {
        let (d, a, b, p) = (self.any(32), self.any(32), self.any(32), self.any(1));
        let label = self.label();
        // Every fourth lane, or those below 8.
        let (test, mask) = if self.random.bool() {
            ("and.b32 %t, %lane, 3", "0x11111111")
        } else {
            ("shr.u32 %t, %lane, 3", "0x000000ff")
        };
        self.line(&format!("{{ .reg .b32 %t; {test}; setp.ne.u32 %q{label}, %t, 0; }}"));
        self.line(&format!("@%q{label} bra END{label};"));
        let condition = self.condition();
        let line = match self.random.u32(..8) {
            0 => format!("redux.sync.add.s32 {d}, {a}, {mask};"),
            1 => format!("vote.sync.ballot.b32 {d}, {condition}, {mask};"),
            2 => format!("vote.sync.any.pred {p}, {condition}, {mask};"),
            3 => format!("{{ .reg .b32 %t; and.b32 %t, {a}, 1; match.any.sync.b32 {d}, %t, {mask}; }}"),
            4 if self.new => format!(
                "{{ .reg .b32 %t; .reg .pred %e; elect.sync %t|%e, {mask}; vote.sync.ballot.b32 %t, %e, {mask}; \
                 popc.b32 {d}, %t; }}"
            ),
            // Lane 4 is one of either mask.
            5 => format!("shfl.sync.idx.b32 {d}, {a}, 4, 31, {mask};"),
            6 => format!(
                "{{ .reg .b32 %t, %u; activemask.b32 %t; mov.u32 %u, %lanemask_eq; and.b32 {d}, %t, %u; }}"
            ),
            _ => format!("bar.warp.sync {mask}; add.u32 {d}, {a}, {b};"),
        };
        self.line(&line);
        self.text += &format!("END{label}:\n");
        self.line("bar.warp.sync 0xffffffff;");
    }

    /// Strong accesses, fences, and what does nothing here.
    fn order(&mut self) {
        let (a, d, x) = (self.any(32), self.any(32), self.any(64));
        match self.random.u32(..9) {
            0 => {
                self.line(&format!("st.volatile.shared.b32 [%slot], {a};"));
                self.line(&format!("ld.volatile.shared.b32 {d}, [%slot];"));
            }
            1 => {
                self.line(&format!("st.release.cta.global.b64 [%out+16], {x};"));
                self.line(&format!("ld.acquire.gpu.global.b32 {d}, [%out+20];"));
            }
            2 => self.line("membar.cta;"),
            3 => self.line("fence.acq_rel.gpu;"),
            4 => self.line("fence.sc.cta;"),
            5 => self.line("prefetch.global.L2 [%in];"),
            6 => self.line("nanosleep.u32 20;"),
            7 => {
                let name = [
                    "tid.y",
                    "ntid.z",
                    "ctaid.y",
                    "nctaid.z",
                    "lanemask_eq",
                    "lanemask_le",
                    "lanemask_ge",
                    "lanemask_gt",
                    "dynamic_smem_size",
                ][self.random.usize(..9)];
                self.line(&format!("mov.u32 {d}, %{name};"));
            }
            _ => {
                let (h, i) = (self.any(16), self.any(16));
                self.line(&format!(
                    "{{ .reg .b16 %w<3>; mov.b64 {{%w0, %w1, %w2, {h}}}, {x}; mov.b64 {x}, {{%w2, %w0, {i}, %w1}}; }}"
                ));
            }
        }
    }
}
