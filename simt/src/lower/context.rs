//! What lowering a function needs at hand: its registers, constants and frame.

use ptx::{Body, Instruction, Module, Operand, RegId, Symbol, Type};
use rustc_hash::FxHashMap;

use super::layout::Layout;
use crate::code::{Counts, Inst, Op, Program, Reg, Special};
use crate::error::LoadError;

/// The function that is being lowered.
pub(super) struct Context<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a ptx::Function,
    pub(super) body: &'a Body,
    pub(super) layout: &'a Layout,
    /// The function's number in the layout.
    pub(super) number: usize,
    pub(super) program: &'a mut Program,
    /// The instruction at hand.
    pub(super) at: usize,
    pub(super) counts: Counts,
    registers: Vec<Option<Reg>>,
    constants: FxHashMap<(bool, u64), Reg>,
    /// Predicates that are always false and always true.
    truths: [Option<u32>; 2],
    specials: FxHashMap<Special, u32>,
    frame_addresses: FxHashMap<u32, Reg>,
    carry: Option<u32>,
    /// The guard of the instruction at hand.
    pub(super) guard: Option<(u32, bool)>,
    /// Functions give themselves their special registers when they are called; the kernel's are there from the start.
    pub(super) rank: u32,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        module: &'a Module,
        layout: &'a Layout,
        number: usize,
        program: &'a mut Program,
    ) -> Option<Self> {
        let function = &module.functions[layout.functions[number].source];
        let body = function.body.as_ref()?;
        let mut counts = Counts::default();
        let registers =
            body.registers.iter().map(|register| new_register(&mut counts, register.ty)).collect();
        Some(Self {
            module,
            function,
            body,
            layout,
            number,
            program,
            at: 0,
            counts,
            registers,
            constants: FxHashMap::default(),
            truths: [None; 2],
            specials: FxHashMap::default(),
            frame_addresses: FxHashMap::default(),
            carry: None,
            guard: None,
            rank: 0,
        })
    }

    /// The instruction at hand.
    pub(super) fn instruction(&self) -> &'a Instruction {
        &self.body.instructions[self.at]
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> LoadError {
        LoadError::Unsupported {
            function: self.function.name.clone(),
            line: self.instruction().line,
            what: what.into(),
        }
    }

    /// The instruction at hand has a form that is not supported.
    pub(super) fn no(&self) -> LoadError {
        self.unsupported(format!("`{}`", self.instruction().mnemonic()))
    }

    pub(super) fn emit(&mut self, op: Op) {
        let at = self.at.min(self.body.instructions.len().saturating_sub(1));
        let instruction = self.body.instructions.get(at);
        let program = &mut *self.program;
        program.code.push(Inst { op, guard: self.guard });
        program.lines.push(instruction.map_or(self.function.line, |instruction| instruction.line));
        program.positions.push(instruction.and_then(|instruction| instruction.position));
        program.ranks.push(self.rank);
        program.function_of.push(self.number as u32);
    }

    /// A register without a name.
    pub(super) fn temporary(&mut self, wide: bool) -> Reg {
        let ty = if wide { Type::B64 } else { Type::B32 };
        new_register(&mut self.counts, ty).unwrap_or(Reg::W(0))
    }

    pub(super) fn temporary_predicate(&mut self) -> u32 {
        self.counts.p += 1;
        self.counts.p - 1
    }

    pub(super) fn register(&self, id: RegId) -> Result<Reg, LoadError> {
        self.registers[id.0 as usize].ok_or_else(|| self.unsupported("a 128-bit register"))
    }

    /// The predicate register that holds the carry of `.cc` instructions.
    pub(super) fn carry(&mut self) -> u32 {
        if let Some(flag) = self.carry {
            return flag;
        }
        let flag = self.temporary_predicate();
        self.carry = Some(flag);
        flag
    }

    /// A register that holds this constant.
    pub(super) fn constant(&mut self, wide: bool, value: u64) -> Reg {
        let value = if wide { value } else { value & u64::from(u32::MAX) };
        if let Some(&known) = self.constants.get(&(wide, value)) {
            return known;
        }
        let register = self.temporary(wide);
        self.constants.insert((wide, value), register);
        register
    }

    /// A predicate that is always true or always false.
    pub(super) fn constant_predicate(&mut self, value: bool) -> u32 {
        if let Some(known) = self.truths[usize::from(value)] {
            return known;
        }
        let register = self.temporary_predicate();
        self.truths[usize::from(value)] = Some(register);
        register
    }

    /// A register that holds the address of so many bytes behind the start of the frame in local memory.
    pub(super) fn frame_address(&mut self, offset: u32) -> Reg {
        if let Some(&known) = self.frame_addresses.get(&offset) {
            return known;
        }
        let register = self.temporary(true);
        self.frame_addresses.insert(offset, register);
        register
    }

    fn special(&mut self, name: &str) -> Result<Reg, LoadError> {
        let (special, wide) =
            special(name).ok_or_else(|| self.unsupported(format!("the special register {name}")))?;
        if wide || matches!(special, Special::Clock) {
            let register = self.temporary(false);
            let Reg::W(low) = register else { return Ok(register) };
            self.emit(Op::Special(special, low));
            if !wide {
                return Ok(register);
            }
            let d = self.temporary(true);
            if let Reg::D(d) = d {
                self.emit(Op::Widen { signed: false, d, a: low });
            }
            return Ok(d);
        }
        if let Some(&known) = self.specials.get(&special) {
            return Ok(Reg::W(known));
        }
        let register = self.temporary(false);
        if let Reg::W(number) = register {
            self.specials.insert(special, number);
        }
        Ok(register)
    }

    /// A register that holds this operand, of a type that is 64 bits wide or not.
    pub(super) fn operand(&mut self, operand: &Operand, wide: bool) -> Result<Reg, LoadError> {
        match operand {
            Operand::Register(id) => self.register(*id),
            Operand::Integer(value) => Ok(self.constant(wide, *value)),
            Operand::Float32(bits) => Ok(self.constant(false, u64::from(*bits))),
            Operand::Float64(bits) if wide => Ok(self.constant(true, *bits)),
            Operand::Float64(bits) => {
                Ok(self.constant(false, u64::from((f64::from_bits(*bits) as f32).to_bits())))
            }
            Operand::Special(name) if name == "WARP_SZ" => Ok(self.constant(wide, 32)),
            Operand::Special(name) => self.special(name),
            Operand::Symbol(symbol, offset) => self.symbol(*symbol, *offset, wide),
            _ => Err(self.no()),
        }
    }

    /// A register that holds the address of a variable in its own state space.
    pub(super) fn symbol(&mut self, symbol: Symbol, offset: i64, wide: bool) -> Result<Reg, LoadError> {
        if let Some(frame) = self.frame_offset(symbol) {
            let register = self.frame_address((i64::from(frame) + offset) as u32);
            if wide {
                return Ok(register);
            }
            let narrow = self.temporary(false);
            if let (Reg::W(d), Reg::D(a)) = (narrow, register) {
                self.emit(Op::Narrow(d, a));
            }
            return Ok(narrow);
        }
        let address = self.layout.address(self.number, symbol).ok_or_else(|| self.no())?;
        Ok(self.constant(wide, address.wrapping_add(offset as u64)))
    }

    /// Where a variable stands in the frame's local memory, if it does.
    pub(super) fn frame_offset(&self, symbol: Symbol) -> Option<u32> {
        let frame = &self.layout.functions[self.number];
        match symbol {
            Symbol::Local(number) => frame.variables[number as usize],
            Symbol::Param(number) if !self.function.entry => {
                frame.params.get(number as usize).map(|param| param.0)
            }
            Symbol::Return(number) => frame.results.get(number as usize).map(|result| result.0),
            _ => None,
        }
    }

    /// What the function's frame begins with.
    pub(super) fn inits(&self) -> Inits {
        let mut constants: Vec<_> =
            self.constants.iter().map(|(&(_, value), &register)| (register, value)).collect();
        constants.extend((0..).zip(self.truths).filter_map(|(value, truth)| Some((Reg::P(truth?), value))));
        constants.sort_by_key(|&(register, _)| match register {
            Reg::W(number) => (0, number),
            Reg::D(number) => (1, number),
            Reg::P(number) => (2, number),
        });
        let mut specials: Vec<_> =
            self.specials.iter().map(|(&special, &register)| (register, special)).collect();
        specials.sort_by_key(|&(register, _)| register);
        let mut frame_addresses: Vec<_> =
            self.frame_addresses.iter().map(|(&offset, &register)| (register, offset)).collect();
        frame_addresses.sort_by_key(|&(_, offset)| offset);
        Inits { constants, specials, frame_addresses }
    }
}

/// Registers that hold something when a function begins.
pub(super) struct Inits {
    pub(super) constants: Vec<(Reg, u64)>,
    pub(super) specials: Vec<(u32, Special)>,
    pub(super) frame_addresses: Vec<(Reg, u32)>,
}

fn new_register(counts: &mut Counts, ty: Type) -> Option<Reg> {
    let next = |count: &mut u32| {
        *count += 1;
        *count - 1
    };
    match (ty, ty.size()) {
        (Type::Pred, _) => Some(Reg::P(next(&mut counts.p))),
        (_, 16) => None,
        (_, 8) => Some(Reg::D(next(&mut counts.d))),
        _ => Some(Reg::W(next(&mut counts.w))),
    }
}

/// The special register of this name, and whether it has 64 bits.
fn special(name: &str) -> Option<(Special, bool)> {
    let axis = |name: &str| match name {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    let narrow = |special| Some((special, false));
    if let Some((head, tail)) = name.split_once('.') {
        let axis = axis(tail)?;
        return match head {
            "%tid" => narrow(Special::Tid(axis)),
            "%ntid" => narrow(Special::Ntid(axis)),
            "%ctaid" => narrow(Special::Ctaid(axis)),
            "%nctaid" => narrow(Special::Nctaid(axis)),
            "%cluster_ctaid" => narrow(Special::Zero),
            "%cluster_nctaid" => narrow(Special::One),
            _ => None,
        };
    }
    match name {
        "%laneid" => narrow(Special::LaneId),
        "%warpid" => narrow(Special::WarpId),
        "%nwarpid" => narrow(Special::NWarpId),
        "%lanemask_eq" => narrow(Special::LaneMaskEq),
        "%lanemask_le" => narrow(Special::LaneMaskLe),
        "%lanemask_lt" => narrow(Special::LaneMaskLt),
        "%lanemask_ge" => narrow(Special::LaneMaskGe),
        "%lanemask_gt" => narrow(Special::LaneMaskGt),
        "%dynamic_smem_size" => narrow(Special::DynamicSharedSize),
        "%total_smem_size" => narrow(Special::TotalSharedSize),
        "%clock" | "%clock_hi" | "%globaltimer_lo" | "%globaltimer_hi" => narrow(Special::Clock),
        "%clock64" | "%globaltimer" => Some((Special::Clock, true)),
        "%gridid" => Some((Special::GridId, true)),
        "%smid" | "%cluster_ctarank" => narrow(Special::Zero),
        "%nsmid" | "%cluster_nctarank" => narrow(Special::One),
        _ => None,
    }
}
