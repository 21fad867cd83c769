//! Runs PTX and tells what was found, by lines of the PTX.

use race::schedule::{Policy, Schedule};
use race::{FaultKind, Kind, Level, Report};
use simt::{DevicePointer, Kernel, Launch, Memory, Outcome};

/// What reports call the PTX.
pub(crate) const FILE: &str = "test.ptx";

/// Every policy that any block can run under.
pub(crate) const POLICIES: [Policy; 3] = [Policy::Lockstep, Policy::Independent, Policy::Random];

/// The kernel `k` of this PTX.
#[track_caller]
pub(crate) fn kernel(text: &str) -> Kernel {
    let module = ptx::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Kernel::load(&module, "k", FILE, |_| false).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A module with the kernel `k`, of these parameters and this body.
pub(crate) fn module(params: &str, body: &str) -> String {
    declared("", params, body)
}

/// The same, behind these declarations.
fn declared(held: &str, params: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n{held}\n\
         .visible .entry k({params}) {{\n{REGISTERS}\n{body}\n}}\n"
    )
}

/// `%t` is the thread, `%n` the threads of the block, `%r` those behind it, `%b` the block.
const REGISTERS: &str = "\
.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %w<40>; .reg .b64 %d<40>; .reg .f32 %f<10>;
.reg .b32 %t; .reg .b32 %n; .reg .b32 %r; .reg .b32 %b; .reg .b64 %s; .reg .b64 %own; .reg .b64 %other; .reg .b64 %out;
.shared .align 16 .b8 S[4096];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %ctaid.x;
sub.u32 %r, %n, %t; sub.u32 %r, %r, 1;
mov.u64 %s, S;
mul.wide.u32 %own, %t, 4; add.u64 %own, %own, %s;
mul.wide.u32 %other, %r, 4; add.u64 %other, %other, %s;";

/// A launch to be made, and what it works on.
pub(crate) struct Run {
    pub(crate) kernel: Kernel,
    pub(crate) launch: Launch,
    /// Contents of the buffers, whose addresses are the kernel's arguments.
    pub(crate) buffers: Vec<Vec<u8>>,
}

/// What came of it.
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    pub(crate) buffers: Vec<Vec<u8>>,
}

impl Run {
    pub(crate) fn new(kernel: &Kernel, launch: Launch, buffers: &[Vec<u8>]) -> Self {
        Self { kernel: kernel.clone(), launch, buffers: buffers.to_vec() }
    }

    pub(crate) fn go(&self) -> Done {
        let mut memory = Memory::new();
        let names = ["g", "h", "i", "j"];
        let pointers: Vec<DevicePointer> =
            self.buffers.iter().zip(names).map(|(bytes, name)| memory.alloc(name, bytes, 4)).collect();
        let arguments: Vec<Vec<u8>> =
            pointers.iter().map(|pointer| pointer.0.to_le_bytes().to_vec()).collect();
        let outcome =
            self.launch.run(&self.kernel, &mut memory, &arguments).expect("a launch that CUDA accepts");
        let buffers = pointers.iter().map(|&pointer| memory.read(pointer).expect("a buffer")).collect();
        Done { outcome, buffers }
    }
}

/// The verdict as a line of text: races with kind and level, then everything else.
pub(crate) fn verdict(report: &Report) -> String {
    let mut words: Vec<String> = Vec::new();
    for hazard in &report.hazards {
        let kind = match hazard.kind {
            Kind::Raw => "RAW",
            Kind::War => "WAR",
            Kind::Waw => "WAW",
        };
        let level = match hazard.level {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        let word = format!("{kind} {level}");
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.sort();
    if !report.uninitialised.is_empty() {
        words.push("uninitialised".into());
    }
    if report.divergence.is_some() {
        words.push("divergent".into());
    }
    if !report.warp_misuse.is_empty() {
        words.push("misuse".into());
    }
    if let Some(fault) = &report.fault {
        let what = match &fault.what {
            FaultKind::OutOfBounds { .. } => "out of bounds",
            FaultKind::UnknownPointer => "unknown pointer",
            FaultKind::Null { .. } => "null",
            FaultKind::Misaligned { .. } => "misaligned",
            FaultKind::ReadOnly { .. } => "read only",
            FaultKind::Trap => "trap",
            FaultKind::Assert(_) => "assert",
            FaultKind::CallDepth(_) => "call depth",
            FaultKind::TickLimit(_) => "endless",
            FaultKind::Stuck(_) => "stuck",
            FaultKind::Panic(_) => "panic",
            _ => "other fault",
        };
        words.push(what.into());
    }
    if words.is_empty() { "clean".into() } else { words.join(", ") }
}

/// A launch of the kernel with this body, behind these declarations, on a buffer of 8 KiB whose address is in `%out`.
#[track_caller]
pub(crate) fn launch(held: &str, body: &str, launch: Launch) -> Run {
    let text = declared(held, ".param .u64 g", &format!("ld.param.u64 %out, [g];\n{body}"));
    Run::new(&kernel(&text), launch, &[vec![0; 8192]])
}

/// The verdict on a body, the same under every policy, several seeds, and 1 to 3 workers.
#[track_caller]
pub(crate) fn judged(body: &str, blocks: u32, threads: u32) -> String {
    judged_run(launch("", body, Launch::new(blocks, threads)))
}

/// The verdict of this launch, the same under every policy and several seeds.
#[track_caller]
pub(crate) fn judged_run(mut run: Run) -> String {
    let mut first: Option<String> = None;
    for policy in POLICIES {
        for seed in 0..3 {
            run.launch =
                run.launch.clone().schedule(Schedule::seeded(policy, seed)).workers(1 + seed as usize);
            let now = verdict(&run.go().outcome.report);
            match &first {
                None => first = Some(now),
                Some(first) => assert_eq!(*first, now, "under {}:{seed}", policy.name()),
            }
        }
    }
    first.unwrap_or_default()
}
