//! Where the variables of a module lie, and what a function's frame holds.

use ptx::{Function, InitValue, Module, Operand, Space, Symbol};
use rustc_hash::FxHashMap;

use crate::address::{STATIC_GAP, STATICS, function_address, generic_shared};
use crate::code::{SharedArray, Static};

/// A function that the kernel may call, or the kernel itself.
#[derive(Debug)]
pub(super) struct Frame {
    /// In [`Module::functions`].
    pub(super) source: usize,
    /// Offset and size in the frame of each parameter, result, and variable of the body.
    pub(super) params: Vec<(u32, u32)>,
    pub(super) results: Vec<(u32, u32)>,
    pub(super) variables: Vec<Option<u32>>,
    /// In bytes.
    pub(super) size: u32,
    /// Shared arrays that are declared in the body.
    shared: FxHashMap<u32, u64>,
}

/// Addresses of everything that has a name.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The kernel is the first.
    pub(super) functions: Vec<Frame>,
    variables: FxHashMap<u32, u64>,
    pub(super) statics: Vec<Static>,
    pub(super) arrays: Vec<SharedArray>,
    /// Static shared memory in bytes.
    pub(super) shared: u32,
}

impl Layout {
    /// Of the kernel, by its number in the module, and of all that it may reach.
    pub(super) fn new(module: &Module, kernel: usize) -> Self {
        let mut layout = Self::default();
        let mut todo = vec![kernel];
        let mut variables = Vec::new();
        while let Some(source) = todo.pop() {
            if layout.functions.iter().any(|frame| frame.source == source) {
                continue;
            }
            let function = &module.functions[source];
            layout.functions.push(Frame::new(source, function));
            let mut symbols = Vec::new();
            if let Some(body) = &function.body {
                body.instructions.iter().flat_map(|instruction| &instruction.operands).for_each(|operand| {
                    symbols_of(operand, &mut symbols);
                });
                body.tables
                    .iter()
                    .flat_map(|(_, entries)| entries)
                    .for_each(|entry| symbols_of(entry, &mut symbols));
            }
            // A variable may hold addresses of others.
            while let Some(symbol) = symbols.pop() {
                match symbol {
                    Symbol::Function(number) => todo.push(defined(module, number as usize)),
                    Symbol::Module(number) if !variables.contains(&number) => {
                        variables.push(number);
                        symbols.extend(module.variables[number as usize].init.iter().filter_map(|init| {
                            match init.value {
                                InitValue::Address { symbol, .. } => Some(symbol),
                                InitValue::Bytes(_) => None,
                            }
                        }));
                    }
                    _ => {}
                }
            }
        }
        variables.sort_unstable();
        layout.place_variables(module, &variables);
        layout
    }

    fn place_variables(&mut self, module: &Module, numbers: &[u32]) {
        let mut next = STATICS;
        let mut dynamic = Vec::new();
        for &number in numbers {
            let variable = &module.variables[number as usize];
            let align = u64::from(variable.align.max(1));
            match variable.space {
                Space::Shared if variable.size == 0 => dynamic.push((None, number)),
                Space::Shared => {
                    let offset = self.place_shared(&variable.name, variable.size as u32, variable.align);
                    self.variables.insert(number, offset);
                }
                _ => {
                    next = next.next_multiple_of(align.max(16));
                    self.variables.insert(number, next);
                    next += variable.size + STATIC_GAP;
                }
            }
        }
        for number in 0..self.functions.len() {
            let Some(body) = &module.functions[self.functions[number].source].body else { continue };
            for (local, variable) in (0..).zip(&body.variables) {
                if variable.space == Space::Shared {
                    if variable.size == 0 {
                        dynamic.push((Some(number), local));
                    } else {
                        let offset = self.place_shared(&variable.name, variable.size as u32, variable.align);
                        self.functions[number].shared.insert(local, offset);
                    }
                }
            }
        }
        // All dynamic arrays begin at one address (CUDA Programming Guide, `extern __shared__`).
        let variable = |&(function, number): &(Option<usize>, u32)| match function {
            None => &module.variables[number as usize],
            Some(function) => {
                let body = module.functions[self.functions[function].source].body.as_ref();
                &body.expect("it declares the variable").variables[number as usize]
            }
        };
        let align = dynamic.iter().map(|at| variable(at).align).max().unwrap_or(16).max(16);
        if let Some(first) = dynamic.first().map(variable) {
            let offset = self.shared.next_multiple_of(align);
            let name = race::intern(short(&first.name));
            self.shared = offset;
            self.arrays.push(SharedArray { name, offset, size: 0 });
            for (function, number) in dynamic {
                match function {
                    None => self.variables.insert(number, u64::from(offset)),
                    Some(function) => self.functions[function].shared.insert(number, u64::from(offset)),
                };
            }
        }
        self.fill_statics(module, numbers);
    }

    fn place_shared(&mut self, name: &str, size: u32, align: u32) -> u64 {
        let offset = self.shared.next_multiple_of(align.max(1));
        self.shared = offset + size;
        self.arrays.push(SharedArray { name: race::intern(short(name)), offset, size });
        u64::from(offset)
    }

    fn fill_statics(&mut self, module: &Module, numbers: &[u32]) {
        for &number in numbers {
            let variable = &module.variables[number as usize];
            if !matches!(variable.space, Space::Global | Space::Const) {
                continue;
            }
            let mut bytes = vec![0; variable.size as usize];
            for init in &variable.init {
                let value = match &init.value {
                    InitValue::Bytes(value) => value.clone(),
                    InitValue::Address { symbol, offset, generic, size, skip } => {
                        let mut address = self.address(0, *symbol).unwrap_or(0).wrapping_add(*offset as u64);
                        let shared = matches!(symbol, Symbol::Module(number)
                            if module.variables[*number as usize].space == Space::Shared);
                        if *generic && shared {
                            address = generic_shared(address);
                        }
                        (address >> (8 * skip)).to_le_bytes()[..(*size as usize).min(8)].to_vec()
                    }
                };
                let start = init.offset as usize;
                if let Some(to) = bytes.get_mut(start..start + value.len()) {
                    to.copy_from_slice(&value);
                }
            }
            self.statics.push(Static {
                name: race::intern(short(&variable.name)),
                writable: variable.space == Space::Global,
                address: self.variables[&number],
                bytes,
            });
        }
    }

    /// The number of a function of the module in this layout.
    pub(super) fn function(&self, module: &Module, source: usize) -> Option<usize> {
        let source = defined(module, source);
        self.functions.iter().position(|frame| frame.source == source)
    }

    /// The address of a symbol that does not lie in a frame, in its own state space.
    pub(super) fn address(&self, function: usize, symbol: Symbol) -> Option<u64> {
        match symbol {
            Symbol::Module(number) => self.variables.get(&number).copied(),
            Symbol::Local(number) => self.functions[function].shared.get(&number).copied(),
            Symbol::Function(number) => {
                let at = self.functions.iter().position(|frame| frame.source == number as usize)?;
                Some(function_address(at))
            }
            Symbol::Param(_) | Symbol::Return(_) => None,
        }
    }
}

impl Frame {
    fn new(source: usize, function: &Function) -> Self {
        let mut size = 0_u32;
        let mut place = |bytes: u64, align: u32| {
            let offset = size.next_multiple_of(align.clamp(4, 16));
            size = offset + bytes as u32;
            (offset, bytes as u32)
        };
        let params = if function.entry {
            Vec::new()
        } else {
            function.params.iter().map(|param| place(param.size, param.align)).collect()
        };
        let results = function.returns.iter().map(|result| place(result.size, result.align)).collect();
        let variables = function.body.as_ref().map_or(&[][..], |body| &body.variables);
        let variables = variables
            .iter()
            .map(|variable| {
                let in_frame = matches!(variable.space, Space::Local | Space::Param);
                in_frame.then(|| place(variable.size, variable.align).0)
            })
            .collect();
        Self {
            source,
            params,
            results,
            variables,
            size: size.next_multiple_of(16),
            shared: FxHashMap::default(),
        }
    }
}

/// The definition of a function that may only be declared under this number.
fn defined(module: &Module, number: usize) -> usize {
    if module.functions[number].body.is_some() {
        return number;
    }
    let name = &module.functions[number].name;
    let with_body = |function: &Function| function.body.is_some() && function.name == *name;
    module.functions.iter().position(with_body).unwrap_or(number)
}

fn symbols_of(operand: &Operand, to: &mut Vec<Symbol>) {
    match operand {
        Operand::Symbol(symbol, _) => to.push(*symbol),
        Operand::Address { base: ptx::Base::Symbol(symbol), .. } => to.push(*symbol),
        Operand::List(list) => list.iter().for_each(|operand| symbols_of(operand, to)),
        _ => {}
    }
}

/// A name as the source has it: `#[address_space(shared)]` declares `TILE` as `TILE$0$file`.
fn short(name: &str) -> &str {
    match name.split_once('$') {
        Some((name, _)) if !name.is_empty() => name,
        _ => mangled(name),
    }
}

/// The last name of a symbol that rustc has mangled: `_RNv…5COUNT`.
fn mangled(name: &str) -> &str {
    if !name.starts_with("_R") {
        return name;
    }
    let tail_is_name = |at: usize| {
        let digits: String = name[..at].chars().rev().take_while(char::is_ascii_digit).collect();
        let length = name.len() - at;
        let count: String = digits.chars().rev().collect();
        (1..=count.len()).any(|taken| count[count.len() - taken..].parse() == Ok(length))
    };
    let boundary = |&at: &usize| name.is_char_boundary(at) && tail_is_name(at);
    match (1..name.len()).rev().find(boundary) {
        Some(at) => name[at..].trim_start_matches('_'),
        None => name,
    }
}
