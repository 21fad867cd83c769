//! The program as it is executed: PTX with everything decided that can be decided before a launch.

use ptx::PositionId;
use race::Scope;

use crate::address::Window;

/// A register of a function's frame, and which of the three kinds it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reg {
    /// 32 bits or fewer a lane.
    W(u32),
    /// 64 bits a lane.
    D(u32),
    /// A predicate: one bit a lane.
    P(u32),
}

/// How many registers of each kind a frame has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) w: u32,
    pub(crate) d: u32,
    pub(crate) p: u32,
}

/// The number of an instruction in [`Program::code`].
pub(crate) type Pc = u32;

/// An instruction with its guard.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Inst {
    pub(crate) op: Op,
    /// The predicate under which it is executed, and whether where it is false.
    pub(crate) guard: Option<(u32, bool)>,
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Two operands and a destination in 32-bit registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Float {
    Add,
    Sub,
    Mul,
    Div,
}

/// An operation of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    MinU,
    MaxU,
}

/// An operation of two predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

/// What an instruction does. Registers are numbered from the start of the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    MovW(u32, u32),
    MovD(u32, u32),
    MovP(u32, u32),
    NotP(u32, u32),
    LogicP(Logic, u32, u32, u32),
    IntW(Integer, u32, u32, u32),
    IntD(Integer, u32, u32, u32),
    /// d = a * b + c, low half.
    MadW(u32, u32, u32, u32),
    MadD(u32, u32, u32, u32),
    /// d = a * b + c with a wider d and c; signed or not. Without c, a register that is zero stands for it.
    MadWide {
        signed: bool,
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    /// 32 to 64 bits.
    Widen {
        signed: bool,
        d: u32,
        a: u32,
    },
    /// 64 to 32 bits.
    Narrow(u32, u32),
    CompareW {
        compare: Compare,
        signed: bool,
        d: u32,
        a: u32,
        b: u32,
    },
    CompareD {
        compare: Compare,
        signed: bool,
        d: u32,
        a: u32,
        b: u32,
    },
    SelectW(u32, u32, u32, u32),
    SelectD(u32, u32, u32, u32),
    /// f32, round to nearest, subnormals kept.
    FloatW(Float, u32, u32, u32),
    FmaW(u32, u32, u32, u32),
    /// f64, round to nearest.
    FloatD(Float, u32, u32, u32),
    FmaD(u32, u32, u32, u32),
    /// Whatever else one lane can compute by itself, of [`Program::scalars`].
    Scalar(u32),
    /// A comparison of any kind, of [`Program::tests`].
    Test(u32),
    /// A special register that a function other than the kernel reads.
    Special(Special, u32),

    /// Of [`Program::accesses`].
    Load(u32),
    Store(u32),
    Atomic(u32),
    Fence(Scope),
    /// An address of the generic space from one of a window, or back: `d = a + base` or `a - base`.
    Convert {
        space: Window,
        to: bool,
        d: u32,
        a: u32,
    },
    IsSpace {
        space: Window,
        d: u32,
        a: u32,
    },

    /// Taken where the guard holds.
    Branch(Pc),
    /// Of [`Program::tables`], by this register.
    BranchTable(u32, u32),
    /// Of [`Program::calls`].
    Call(u32),
    Return,
    Exit,
    Trap,
    /// Of [`Program::barriers`].
    Barrier(u32),
    SyncWarp(Reg),
    /// Of [`Program::collectives`].
    Collective(u32),
    ActiveMask(u32),

    /// Control flow goes into, round and out of loops: of [`Program::edges`].
    Edge(u32),
    /// Several paths lead here: lanes that went apart may be waiting.
    Meet,
    /// All paths from the branch that decides about a barrier have met here: of [`Program::joins`].
    Join(u32),
    /// Nothing that other threads could see.
    Nop,
    /// The end of what is computed once a launch.
    EndPrologue,
}

/// Registers that say who and where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NWarpId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    DynamicSharedSize,
    TotalSharedSize,
    GridId,
    /// A counter that rises with every instruction: `%clock`, `%globaltimer`.
    Clock,
    /// Zero on this machine: `%smid` and its like.
    Zero,
    /// One: `%nsmid`, the cluster's extents.
    One,
}

impl Special {
    /// Is it the same for every block of a launch?
    pub(crate) fn is_fixed(self) -> bool {
        !matches!(self, Self::Ctaid(_) | Self::Clock)
    }
}

/// What one lane computes by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    pub(crate) function: crate::alu::Alu,
    pub(crate) d: Reg,
    pub(crate) operands: [Reg; 4],
    pub(crate) count: u8,
    /// The result is sign-extended from so many bits to the width of `d`; 0: not at all.
    pub(crate) extend: u8,
}

/// A comparison, joined with another predicate if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) function: fn(u64, u64) -> bool,
    /// Gets the result, and the other one its contrary.
    pub(crate) d: Option<u32>,
    pub(crate) not_d: Option<u32>,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
    pub(crate) with: Option<(Logic, u32, bool)>,
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Global,
    Shared,
    Local,
    Const,
    Param,
    Generic,
}

/// What an atomic makes of the old value and its operands.
pub(crate) type Update = fn(u64, u64, u64) -> u64;

/// A load, a store or an atomic.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) target: Target,
    /// The register that holds the address; none for an absolute one.
    pub(crate) base: Option<Reg>,
    pub(crate) offset: i64,
    /// Of an element, in bytes.
    pub(crate) size: u8,
    /// The registers loaded or stored: as many as the vector has elements. `None`: dropped.
    pub(crate) registers: Vec<Option<Reg>>,
    /// The register, if the access is as most are: plain, of one 32-bit register.
    pub(crate) word: Option<u32>,
    /// A load sign-extends.
    pub(crate) signed: bool,
    pub(crate) order: Order,
    /// Of an atomic: what it computes of the old value and these operands.
    pub(crate) atomic: Option<(Update, [Option<Reg>; 2])>,
}

/// How an access takes part in synchronisation (PTX ISA, "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// A strong operation, with its scope; a weak one has none.
    pub(crate) strong: Option<Scope>,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    /// Bytes that go from the caller's frame to the callee's, and back at its return: (offset in the caller's frame,
    /// size), in the order of the callee's parameters and results.
    pub(crate) arguments: Vec<(u32, u32)>,
    pub(crate) results: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// Of [`Program::functions`].
    Function(u32),
    /// The address of one, in this register.
    Register(u32),
    /// Of the run-time system of CUDA.
    System(System),
}

/// Functions that the driver provides, or that nobody does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    Vprintf,
    AssertFail,
    /// One of Rust's library that does not return, by its symbol: its last argument is the place that panics.
    Panic(&'static str),
}

/// A barrier of the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) number: Reg,
    /// How many threads it waits for; `None`: all that have not exited.
    pub(crate) count: Option<Reg>,
    pub(crate) kind: BarrierKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// Counts, joins or intersects a predicate over the threads.
    Count {
        d: u32,
        predicate: u32,
        negated: bool,
    },
    And {
        d: u32,
        predicate: u32,
        negated: bool,
    },
    Or {
        d: u32,
        predicate: u32,
        negated: bool,
    },
}

/// An operation of several lanes of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collective {
    pub(crate) kind: CollectiveKind,
    /// The lanes that have to come.
    pub(crate) members: Reg,
    pub(crate) d: Reg,
    pub(crate) p: Option<u32>,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
    pub(crate) c: Reg,
    pub(crate) negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectiveKind {
    VoteAll,
    VoteAny,
    VoteUni,
    Ballot,
    MatchAny,
    MatchAll,
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    Reduce(Reduce),
    Elect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    Add,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
}

/// What an edge of the control flow does to the loops around.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edge {
    /// So many loops are left.
    pub(crate) leaves: u32,
    /// These loops, of [`Program::loops`], are entered, outermost first.
    pub(crate) enters: Vec<u32>,
    /// This one begins another trip.
    pub(crate) again: Option<u32>,
}

/// A loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// The first instruction of its head.
    pub(crate) head: Pc,
}

/// Where the paths meet again behind a branch that decides whether a barrier is come to.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    /// The barriers, and calls of functions with barriers, that depend on such a branch.
    pub(crate) decides: Vec<Decided>,
    /// The function ends here.
    pub(crate) ends: bool,
}

/// An instruction that lanes may have gone past when they have passed a join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    pub(crate) pc: Pc,
    /// How many loops it has in common with the join.
    pub(crate) common: u32,
    /// The join is the head of the last of these: it stands behind what was in earlier trips.
    pub(crate) earlier_trips: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) entry: Pc,
    pub(crate) counts: Counts,
    /// Local memory of its frame in bytes: its variables, parameters and results.
    pub(crate) local: u32,
    /// Where its parameters and results stand in the frame.
    pub(crate) params: Vec<(u32, u32)>,
    pub(crate) results: Vec<(u32, u32)>,
    /// Registers that hold a constant.
    pub(crate) constants: Vec<(Reg, u64)>,
    /// Registers that stand for special registers.
    pub(crate) specials: Vec<(u32, Special)>,
    /// 64-bit registers that hold an address in the frame's local memory, with the offset.
    pub(crate) frame_addresses: Vec<(Reg, u32)>,
    /// Computed once a launch, for the kernel; ends at `EndPrologue`.
    pub(crate) prologue: Option<Pc>,
}

/// A variable of the module in the memory of a launch.
#[derive(Clone, Debug)]
pub(crate) struct Static {
    pub(crate) name: &'static str,
    pub(crate) writable: bool,
    pub(crate) address: u64,
    pub(crate) bytes: Vec<u8>,
}

/// A shared array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedArray {
    pub(crate) name: &'static str,
    pub(crate) offset: u32,
    /// 0 for the dynamic one.
    pub(crate) size: u32,
}

/// A kernel with all that it calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) code: Vec<Inst>,
    /// For each instruction its line in the PTX, its place in the source, and its rank in the program as written.
    pub(crate) lines: Vec<u32>,
    pub(crate) positions: Vec<Option<PositionId>>,
    pub(crate) order: Vec<u32>,
    /// The lower its rank, the sooner a group of lanes runs, so that lanes meet again.
    pub(crate) ranks: Vec<u32>,
    pub(crate) functions: Vec<Function>,
    /// The function of each instruction.
    pub(crate) function_of: Vec<u32>,
    pub(crate) scalars: Vec<Scalar>,
    pub(crate) tests: Vec<Test>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) tables: Vec<Vec<Pc>>,
    pub(crate) calls: Vec<Call>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) collectives: Vec<Collective>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) joins: Vec<Join>,
    pub(crate) statics: Vec<Static>,
    pub(crate) arrays: Vec<SharedArray>,
    /// Static shared memory, in bytes; the dynamic array begins behind it.
    pub(crate) shared: u32,
    /// (name, offset, size) of the kernel's parameters.
    pub(crate) params: Vec<(String, u32, u32)>,
    /// The kernel has atomics, fences or strong accesses on global memory: what blocks see of each other may count.
    pub(crate) communicates: bool,
    /// It has fences, or accesses that acquire or release.
    pub(crate) orders: bool,
}
