//! Runs lanes of a warp from one thing that others can see to the next.

use race::FaultKind;
use race::judge::Judge;
use race::schedule;

use crate::access::{Does, Fault, Memories, copy_local};
use crate::arithmetic::{self, Lanes};
use crate::code::{Callee, Op, Pc, Program, Special};
use crate::dim::Shape;
use crate::frame::Frame;
use crate::paths::{NOTHING, Paths};
use crate::register::{Affine, LANES};
use crate::system;
use crate::view::View;
use crate::warp::{Group, Warp, put, put_affine};

/// Calls within each other.
const MAX_DEPTH: u32 = 256;

/// Why lanes stopped.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// They have done something that others can see.
    Visible,
    /// They went apart, or came to where others may join them: who goes on is to be decided anew.
    Regroup,
    /// They wait at a barrier of the block.
    Barrier,
    /// They wait for lanes of their warp.
    Warp,
    /// They have exited.
    Exit,
}

/// What executing lanes need besides their warp.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) sites: &'a [race::Site],
    pub(crate) paths: Paths,
    pub(crate) memories: Memories<'a>,
    pub(crate) shape: Shape,
    /// The running block, linear in the grid.
    pub(crate) block: u64,
    /// Trips of loops that a thread may make in a block.
    pub(crate) budget: u32,
    pub(crate) clock: u32,
    /// What `vprintf` has printed.
    pub(crate) printed: Vec<u8>,
}

impl Machine<'_> {
    /// The judge, with the program as it sees it.
    pub(crate) fn judge(&mut self) -> Option<(&mut Judge, View<'_>)> {
        let Self { program, sites, paths, memories, .. } = self;
        let view = View { program, sites, paths, buffers: memories.buffers };
        memories.judge.as_mut().map(|judge| (judge, view))
    }
}

/// A warp's number, and whether its lanes go on together at the end of a trip and where paths meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) warp: u32,
    pub(crate) together: bool,
}

/// Runs the group of this number until it stops. What it leaves of itself stands in the warp's groups: after a fault, it
/// stands before the instruction that a lane cannot do, and nothing of that has happened.
#[inline]
pub(crate) fn run(
    machine: &mut Machine<'_>,
    warp: &mut Warp,
    at: usize,
    turn: Turn,
) -> Result<Stop, Box<Fault>> {
    let mut group = warp.groups[at];
    let result = go(machine, warp, &mut group, turn);
    if result.is_err() {
        group.pc -= 1;
    }
    warp.groups[at] = group;
    result
}

fn go(cx: &mut Machine<'_>, warp: &mut Warp, group: &mut Group, turn: Turn) -> Result<Stop, Box<Fault>> {
    let program = cx.program;
    let code = &program.code[..];
    loop {
        let pc = group.pc;
        let inst = &code[pc as usize];
        let mut mask = group.mask;
        group.pc += 1;
        if let Some((p, negated)) = inst.guard {
            let holds = warp.p[(group.frame.p + p) as usize] ^ if negated { u32::MAX } else { 0 };
            mask &= holds;
            if mask == 0 {
                continue;
            }
        }
        let lanes = Lanes { mask, all: mask == warp.alive };
        match inst.op {
            Op::Load(access) | Op::Store(access) | Op::Atomic(access) => {
                let view = View { program, sites: cx.sites, paths: &cx.paths, buffers: cx.memories.buffers };
                let (memories, by) = (&mut cx.memories, turn.warp);
                let (does, row) = match inst.op {
                    Op::Load(_) if mask == u32::MAX => {
                        (Does::Load, memories.access_row::<false>(view, (warp, by), group, access, pc))
                    }
                    Op::Store(_) if mask == u32::MAX => {
                        (Does::Store, memories.access_row::<true>(view, (warp, by), group, access, pc))
                    }
                    Op::Load(_) => (Does::Load, false),
                    Op::Store(_) => (Does::Store, false),
                    _ => (Does::Atomic, false),
                };
                if row || memories.access(view, (warp, by), group, (access, does), pc, lanes)? {
                    commit(group, mask, warp);
                    return Ok(Stop::Visible);
                }
            }
            Op::Branch(to) => {
                if mask == group.mask {
                    group.pc = to;
                    continue;
                }
                let mut other = *group;
                other.mask &= !mask;
                (group.mask, group.pc) = (mask, to);
                warp.groups.push(other);
                return Ok(Stop::Regroup);
            }
            Op::BranchTable(table, index) => {
                if branch_by_table(warp, group, &program.tables[table as usize], index, mask)? {
                    return Ok(Stop::Regroup);
                }
            }
            Op::Edge(edge) => {
                let edge = &program.edges[edge as usize];
                group.path = cx.paths.follow(group.path, edge);
                if edge.again.is_some() {
                    group.trips += 1;
                    if group.trips > cx.budget {
                        return Err(Box::new((mask.trailing_zeros(), FaultKind::TickLimit(cx.budget))));
                    }
                }
            }
            Op::Meet if warp.groups.len() > 1 && turn.together => return Ok(Stop::Regroup),
            Op::Meet => {}
            Op::Join(join) => {
                if let Some(other) = split(group, mask, pc + 1) {
                    warp.groups.push(other);
                }
                // Who only returns from here has exited above the barrier, unless its caller goes on to more.
                group.passed = cx.paths.pass(group.passed, join, group.path);
                if !program.joins[join as usize].ends {
                    commit(group, group.mask, warp);
                }
            }
            Op::Special(special, d) => {
                let values = special_form(cx, special, turn.warp);
                give(warp, (group.frame.w + d) as usize, &values, lanes);
            }
            Op::ActiveMask(d) => {
                let mask = Values::Affine(Affine::uniform(group.mask));
                give(warp, (group.frame.w + d) as usize, &mask, lanes);
            }
            Op::Call(number) => call(cx, (warp, turn.warp), group, (pc, number), mask)?,
            Op::Return => {
                if let Some(other) = split(group, mask, pc + 1) {
                    warp.groups.push(other);
                }
                leave(cx, warp, group);
            }
            Op::Exit => {
                if let Some(other) = split(group, mask, pc + 1) {
                    warp.groups.push(other);
                }
                return Ok(Stop::Exit);
            }
            Op::Trap => return Err(Box::new((mask.trailing_zeros(), FaultKind::Trap))),
            Op::Barrier(_) | Op::SyncWarp(_) | Op::Collective(_) => {
                if let Some(other) = split(group, mask, pc + 1) {
                    warp.groups.push(other);
                }
                group.pc = pc;
                commit(group, mask, warp);
                if matches!(inst.op, Op::Barrier(_)) {
                    return Ok(Stop::Barrier);
                }
                return Ok(Stop::Warp);
            }
            Op::Fence(scope) => {
                if let Some((judge, view)) = cx.judge() {
                    judge.fence(&view, turn.warp, mask, scope);
                }
            }
            Op::EndPrologue => return Ok(Stop::Exit),
            op => {
                if !lanes.all || !arithmetic::affine(warp, &group.frame, op) {
                    arithmetic::execute(warp, &group.frame, program, &inst.op, lanes);
                }
            }
        }
    }
}

/// These lanes take the branch that their register names; the register of the others that have come with them may name
/// another. Returns whether they have gone apart.
#[inline(never)]
fn branch_by_table(
    warp: &mut Warp,
    group: &mut Group,
    table: &[Pc],
    index: u32,
    mask: u32,
) -> Result<bool, Fault> {
    let pc = group.pc - 1;
    let indices = *warp.w[(group.frame.w + index) as usize].lanes();
    let index = |lane: u32| table.get(indices[lane as usize] as usize).copied();
    let first = mask.trailing_zeros();
    let Some(to) = index(first) else { return Err((first, FaultKind::Trap)) };
    let same = schedule::lanes(mask).filter(|&lane| index(lane) == Some(to));
    let taken = same.fold(0, |set, lane| set | 1 << lane);
    if taken == group.mask {
        group.pc = to;
        return Ok(false);
    }
    let mut other = *group;
    other.mask &= !taken;
    other.pc = if mask == group.mask { pc } else { pc + 1 };
    // Lanes of the guard that go elsewhere look at the table again.
    if mask != group.mask && mask & !taken != 0 {
        other.mask = mask & !taken;
        other.pc = pc;
        let mut rest = *group;
        rest.mask &= !mask;
        warp.groups.push(rest);
    }
    (group.mask, group.pc) = (taken, to);
    warp.groups.push(other);
    Ok(true)
}

/// Calls a function, with the lanes of the mask.
#[inline(never)]
fn call(
    cx: &mut Machine<'_>,
    (warp, number): (&mut Warp, u32),
    group: &mut Group,
    (pc, call): (Pc, u32),
    mask: u32,
) -> Result<(), Fault> {
    let program = cx.program;
    if let Some(other) = split(group, mask, pc + 1) {
        warp.groups.push(other);
    }
    let call = &program.calls[call as usize];
    let callee = match call.callee {
        Callee::System(system) => {
            return system::call(system, cx.memories.buffers, warp, group, call, &mut cx.printed);
        }
        Callee::Function(number) => number,
        Callee::Register(register) => {
            let addresses = *warp.d[(group.frame.d + register) as usize].lanes();
            let first = mask.trailing_zeros();
            let address = addresses[first as usize];
            let same = schedule::lanes(mask).filter(|&lane| addresses[lane as usize] == address);
            let taken = same.fold(0, |set, lane| set | 1 << lane);
            if let Some(other) = split(group, taken, pc) {
                warp.groups.push(other);
            }
            let known = crate::address::function_at(address).filter(|&at| at < program.functions.len());
            match known {
                Some(number) => number as u32,
                None => return Err((first, FaultKind::UnknownPointer)),
            }
        }
    };
    if group.frame.depth + 1 > MAX_DEPTH {
        return Err((mask.trailing_zeros(), FaultKind::CallDepth(MAX_DEPTH)));
    }
    enter(cx, (warp, number), group, pc, callee, call);
    Ok(())
}

/// Gives a 32-bit register of these lanes its values.
#[inline(never)]
pub(crate) fn give(warp: &mut Warp, register: usize, values: &Values, lanes: Lanes) {
    let register = &mut warp.w[register];
    match values {
        Values::Affine(form) => put_affine(register, *form, lanes.mask, lanes.all),
        Values::Each(values) => put(register, values, lanes.mask, lanes.all),
    }
}

/// The lanes outside of `mask`, which go on at `pc`; the group keeps the others.
fn split(group: &mut Group, mask: u32, pc: u32) -> Option<Group> {
    let rest = group.mask & !mask;
    if rest == 0 {
        return None;
    }
    let other = Group { mask: rest, pc, ..*group };
    group.mask = mask;
    Some(other)
}

/// These lanes of the group do something after joins that they have passed: from here on that counts.
#[inline(always)]
fn commit(group: &mut Group, mask: u32, warp: &mut Warp) {
    if group.passed != NOTHING {
        warp.passed.push((mask, group.passed));
        if mask == group.mask {
            group.passed = NOTHING;
        }
    }
}

/// The registers that hold something when a function begins.
pub(crate) fn begin_frame(
    program: &Program,
    warp: &mut Warp,
    frame: &Frame,
    lanes: Lanes,
    special: impl Fn(Special) -> Values,
) {
    let function = &program.functions[frame.function as usize];
    let counts = function.counts;
    warp.reserve(frame.w + counts.w, frame.d + counts.d, frame.p + counts.p, frame.local + function.local);
    for &(register, value) in &function.constants {
        warp.set_uniform(frame, register, value, lanes.mask, lanes.all);
    }
    for &(register, offset) in &function.frame_addresses {
        warp.set_uniform(frame, register, u64::from(frame.local + offset), lanes.mask, lanes.all);
    }
    for &(register, which) in &function.specials {
        give(warp, (frame.w + register) as usize, &special(which), lanes);
    }
}

#[inline(never)]
fn enter(
    cx: &mut Machine<'_>,
    (warp, number): (&mut Warp, u32),
    group: &mut Group,
    pc: u32,
    callee: u32,
    call: &crate::code::Call,
) {
    let program = cx.program;
    let own = &program.functions[group.frame.function as usize];
    let function = &program.functions[callee as usize];
    let old = group.frame;
    let frame = Frame {
        w: old.w + own.counts.w,
        d: old.d + own.counts.d,
        p: old.p + own.counts.p,
        local: old.local + own.local,
        function: callee,
        depth: old.depth + 1,
    };
    let lanes = Lanes { mask: group.mask, all: group.mask == warp.alive };
    let shape = cx.shape;
    let block = cx.block;
    begin_frame(program, warp, &frame, lanes, |special| special_values(special, shape, block, number));
    for (&(from, size), &(to, _)) in call.arguments.iter().zip(&function.params) {
        copy_local(warp, old.local + from, frame.local + to, size, group.mask);
    }
    group.path = cx.paths.call(group.path, pc);
    cx.paths.set_frame(group.path, frame);
    group.frame = frame;
    group.pc = function.entry;
}

#[inline(never)]
fn leave(cx: &mut Machine<'_>, warp: &mut Warp, group: &mut Group) {
    let Some((path, pc)) = cx.paths.caller(group.path) else { return };
    let program = cx.program;
    let frame = cx.paths.frame(path);
    if let Op::Call(call) = program.code[pc as usize].op {
        let results = &program.functions[group.frame.function as usize].results;
        for (&(to, size), &(from, _)) in program.calls[call as usize].results.iter().zip(results) {
            copy_local(warp, group.frame.local + from, frame.local + to, size, group.mask);
        }
    }
    (group.path, group.frame, group.pc) = (path, frame, pc + 1);
}

/// What the lanes' special registers hold.
pub(crate) enum Values {
    Affine(Affine<u32>),
    Each([u32; LANES]),
}

#[inline(never)]
fn special_form(cx: &mut Machine<'_>, special: Special, warp: u32) -> Values {
    if special == Special::Clock {
        cx.clock = cx.clock.wrapping_add(1);
        return Values::Affine(Affine::uniform(cx.clock));
    }
    special_values(special, cx.shape, cx.block, warp)
}

/// What a special register holds in the lanes of this warp of this block.
pub(crate) fn special_values(special: Special, shape: Shape, block: u64, warp: u32) -> Values {
    let uniform = |value: u32| Values::Affine(Affine::uniform(value));
    let axis = |dim: race::limits::Dim3, axis: u8| [dim.x, dim.y, dim.z][usize::from(axis)];
    let each = |value: &dyn Fn(u32) -> u32| {
        let values = std::array::from_fn(|lane| value(lane as u32));
        Affine::of(&values).map_or(Values::Each(values), Values::Affine)
    };
    match special {
        Special::Tid(which) => each(&|lane| {
            let linear = u64::from(warp) * LANES as u64 + u64::from(lane);
            axis(shape.block.point(linear), which)
        }),
        Special::Ntid(which) => uniform(axis(shape.block, which)),
        Special::Ctaid(which) => uniform(axis(shape.grid.point(block), which)),
        Special::Nctaid(which) => uniform(axis(shape.grid, which)),
        Special::LaneId => Values::Affine(Affine { base: 0, stride: 1 }),
        Special::WarpId => uniform(warp),
        Special::NWarpId => uniform((shape.block.count() as u32).div_ceil(32)),
        Special::LaneMaskEq => each(&|lane| 1 << lane),
        Special::LaneMaskLe => each(&|lane| u32::MAX >> (31 - lane)),
        Special::LaneMaskLt => each(&|lane| (1 << lane) - 1),
        Special::LaneMaskGe => each(&|lane| u32::MAX << lane),
        Special::LaneMaskGt => each(&|lane| (u32::MAX << lane) << 1),
        Special::DynamicSharedSize => uniform(shape.dynamic_shared),
        Special::TotalSharedSize => uniform(shape.shared),
        Special::GridId | Special::Zero | Special::Clock => uniform(0),
        Special::One => uniform(1),
    }
}
