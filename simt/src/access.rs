//! Loads, stores and atomics of a warp: where they go, whether they may, and what the judge hears of them.

use race::FaultKind;
use race::judge::{Addresses, At, How, Judge, Lines, Sync, WarpAccess, Written};
use race::schedule;

use crate::address::{WINDOW, Window, base, window};
use crate::arithmetic::{Lanes, address_form, widened};
use crate::code::{Access, Pc, Reg, Target};
use crate::frame::Frame;
use crate::memory::Buffer;
use crate::register::{Affine, LANES};
use crate::view::View;
use crate::warp::{Group, Warp, put, put_affine};

/// A fault of a lane.
pub(crate) type Fault = (u32, FaultKind);

/// The memory of the running block, and its judge.
#[derive(Debug)]
pub(crate) struct Memories<'a> {
    /// In words of four bytes.
    pub(crate) shared: Vec<u32>,
    pub(crate) params: &'a [u8],
    pub(crate) buffers: &'a [Buffer],
    /// `None`: nothing is judged.
    pub(crate) judge: Option<Judge>,
    pub(crate) lines: &'a Lines,
    /// For each access of the program, the buffer that it went to last.
    pub(crate) last: Vec<u32>,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Load,
    Store,
    Atomic,
}

/// Bytes of a row: a word for each lane of a warp.
const ROW: u64 = 4 * LANES as u64;

/// The addresses of an access. They stand on the stack for as long as it takes.
#[expect(clippy::large_enum_variant, reason = "to allocate the vector would cost more than the room")]
enum Places {
    Affine(Affine<u64>),
    Each([u64; LANES]),
}

impl Places {
    fn lane(&self, lane: u32) -> u64 {
        match self {
            Self::Affine(form) => form.lane(lane as usize),
            Self::Each(addresses) => addresses[lane as usize],
        }
    }
}

/// Where lanes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Shared,
    Local,
    Param,
    Buffer(usize),
}

/// Some bytes of words: so many at this offset, which is a multiple of their number; at most 8.
#[inline]
fn bytes_of(word: impl Fn(usize) -> u32, offset: u64, size: u32) -> u64 {
    let at = (offset / 4) as usize;
    match size {
        8 => u64::from(word(at)) | u64::from(word(at + 1)) << 32,
        4 => u64::from(word(at)),
        _ => u64::from(word(at)) >> (8 * (offset % 4)) & ((1 << (8 * size)) - 1),
    }
}

impl Memories<'_> {
    /// How many bytes of shared memory there are.
    fn shared_end(&self) -> u64 {
        4 * self.shared.len() as u64
    }

    /// Makes an access, of this number in the program. Returns whether other threads could see it.
    #[inline(never)]
    pub(crate) fn access(
        &mut self,
        view: View<'_>,
        warp: (&mut Warp, u32),
        group: &Group,
        (of, does): (u32, Does),
        at: Pc,
        lanes: Lanes,
    ) -> Result<bool, Fault> {
        let (warp, number) = warp;
        let frame = &group.frame;
        let access = &view.program.accesses[of as usize];
        let places = places(warp, frame, access);
        let size = u32::from(access.size) * access.registers.len().max(1) as u32;
        let region = match self.region(of, access.target, &places, size, lanes.mask, does) {
            Some(region) => region,
            None => return self.access_each(view, (warp, number), group, (access, does), at, lanes, &places),
        };
        match region {
            Region::Local => {
                local(warp, frame, access, does, &places, lanes)?;
                return Ok(false);
            }
            Region::Param => {
                self.load_param(warp, frame, access, &places, lanes)?;
                return Ok(false);
            }
            Region::Shared | Region::Buffer(_) => {}
        }
        self.visible(view, (warp, number), group, (access, does), at, lanes, (&places, region))?;
        Ok(true)
    }

    /// Makes an access as most are: all lanes of a warp go to words next to each other, or to the same one, in shared
    /// memory or in a buffer. False if it is not one of these; then nothing has happened.
    #[inline(never)]
    pub(crate) fn access_row<const STORE: bool>(
        &mut self,
        view: View<'_>,
        (warp, number): (&mut Warp, u32),
        group: &Group,
        of: u32,
        at: Pc,
    ) -> bool {
        let store = STORE;
        let access = &view.program.accesses[of as usize];
        let Some(register) = access.word else { return false };
        let frame = &group.frame;
        let form = match access.base {
            Some(Reg::D(base)) => warp.d[(frame.d + base) as usize].affine(),
            Some(Reg::W(base)) => {
                warp.w[(frame.w + base) as usize].affine().and_then(|form| widened(form, false))
            }
            _ => None,
        };
        let Some(form) = form else { return false };
        let base_address = form.base.wrapping_add_signed(access.offset);
        let stride = form.stride.cast_signed();
        let (low, bytes) = match stride {
            4 => (base_address, ROW),
            -4 => (base_address.wrapping_sub(ROW - 4), ROW),
            0 if !store => (base_address, 4),
            _ => return false,
        };
        if low % 4 != 0 {
            return false;
        }
        // Where it lies in its memory: in words.
        let (offset, object, shift) = match access.target {
            Target::Shared => (low, 0, base(Window::Shared)),
            Target::Generic if window(low) == Window::Shared => (low - base(Window::Shared), 0, 0),
            Target::Global | Target::Generic => {
                let Some(buffer) = self.buffers.get(self.last[of as usize] as usize) else { return false };
                if store && !buffer.writable {
                    return false;
                }
                (low.wrapping_sub(buffer.address), self.last[of as usize] + 1, 0)
            }
            _ => return false,
        };
        let end = if object == 0 { self.shared_end() } else { self.buffers[object as usize - 1].len };
        if offset >= end || end - offset < bytes {
            return false;
        }
        let word = (offset / 4) as usize;
        let mut early = 0;
        if let Some(judge) = &mut self.judge {
            let values = if store {
                let register = &mut warp.w[(frame.w + register) as usize];
                match register.affine() {
                    Some(form) => Written::Affine(form.base, form.stride),
                    None => Written::Words(register.lanes()),
                }
            } else {
                Written::Nothing
            };
            let access = WarpAccess {
                at: At { instruction: at, path: group.path },
                warp: number,
                mask: u32::MAX,
                addresses: Addresses::Affine { base: base_address.wrapping_add(shift), stride },
                size: 4,
                how: if store { How::WRITE } else { How::READ },
                sync: Sync { reads: !store, acquires: false, releases: false },
                object,
                values,
            };
            early = judge.access(|| view, self.lines, &access);
        }
        let register = &mut warp.w[(frame.w + register) as usize];
        if store {
            let row = register.lanes();
            if object == 0 {
                set_words(&mut self.shared, word, stride < 0, row);
            } else {
                self.buffers[object as usize - 1].set_row(word, stride < 0, row);
            }
            return true;
        }
        if stride == 0 {
            let value =
                if object == 0 { self.shared[word] } else { self.buffers[object as usize - 1].word(word) };
            register.set_affine(Affine::uniform(value));
        } else if object == 0 {
            words(&self.shared, word, stride < 0, register.fill());
        } else {
            self.buffers[object as usize - 1].row(word, stride < 0, register.fill());
        }
        if early != 0 {
            register.set_some(&[0; LANES], early);
        }
        true
    }

    /// The one region that the lanes' addresses lie in, if that is plain and nothing is wrong with them.
    #[inline(always)]
    fn region(
        &mut self,
        number: u32,
        target: Target,
        places: &Places,
        size: u32,
        mask: u32,
        does: Does,
    ) -> Option<Region> {
        let Places::Affine(form) = places else { return None };
        let (first, last) = (mask.trailing_zeros() as usize, 31 - mask.leading_zeros() as usize);
        let (a, b) = (form.lane(first), form.lane(last));
        let (low, high) = (a.min(b), a.max(b));
        let span = u128::from(form.stride.cast_signed().unsigned_abs()) * (last - first) as u128;
        if u128::from(high - low) != span || (low | form.stride) % u64::from(size) != 0 {
            return None;
        }
        let end = high.checked_add(size.into())?;
        match target {
            Target::Param => return Some(Region::Param),
            Target::Local => return Some(Region::Local),
            Target::Shared => return (end <= self.shared_end()).then_some(Region::Shared),
            Target::Generic => match window(low) {
                Window::Shared => {
                    return (end <= base(Window::Shared) + self.shared_end()).then_some(Region::Shared);
                }
                Window::Local if end <= base(Window::Local) + WINDOW => return Some(Region::Local),
                Window::Param if end <= base(Window::Param) + WINDOW => return Some(Region::Param),
                Window::Global | Window::Const => {}
                _ => return None,
            },
            Target::Global | Target::Const => {}
        }
        let holds = |buffer: &Buffer| buffer.holds(low, end - low) && (does == Does::Load || buffer.writable);
        let last = self.last[number as usize];
        if self.buffers.get(last as usize).is_none_or(|buffer| !holds(buffer)) {
            self.last[number as usize] = self.buffers.iter().position(holds)? as u32;
        }
        Some(Region::Buffer(self.last[number as usize] as usize))
    }

    /// Lanes that go to several regions, or in no affine form, or wrong.
    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "they are those of `access`, and the addresses")]
    fn access_each(
        &mut self,
        view: View<'_>,
        (warp, number): (&mut Warp, u32),
        group: &Group,
        (access, does): (&Access, Does),
        at: Pc,
        lanes: Lanes,
        places: &Places,
    ) -> Result<bool, Fault> {
        let size = u32::from(access.size) * access.registers.len().max(1) as u32;
        let mut regions: [Option<Region>; LANES] = [None; LANES];
        for lane in schedule::lanes(lanes.mask) {
            let address = places.lane(lane);
            let region = self.find(view, access.target, address, size, does).map_err(|what| (lane, what))?;
            regions[lane as usize] = Some(region);
        }
        let mut rest = lanes.mask;
        let mut visible = false;
        while rest != 0 {
            let region = regions[rest.trailing_zeros() as usize];
            let some = schedule::lanes(rest).filter(|&lane| regions[lane as usize] == region);
            let mask = some.fold(0, |mask, lane| mask | 1 << lane);
            rest &= !mask;
            let lanes = Lanes { mask, all: lanes.all && mask == lanes.mask };
            match region {
                Some(Region::Local) => local(warp, &group.frame, access, does, places, lanes)?,
                Some(Region::Param) => self.load_param(warp, &group.frame, access, places, lanes)?,
                Some(region) => {
                    visible = true;
                    self.visible(view, (warp, number), group, (access, does), at, lanes, (places, region))?;
                }
                None => {}
            }
        }
        Ok(visible)
    }

    /// Where one address leads, or what is wrong with it.
    fn find(
        &self,
        view: View<'_>,
        target: Target,
        address: u64,
        size: u32,
        does: Does,
    ) -> Result<Region, FaultKind> {
        let generic = match target {
            Target::Shared => Window::Shared,
            Target::Local => return Ok(Region::Local),
            Target::Param => return Ok(Region::Param),
            Target::Global | Target::Const => Window::Global,
            Target::Generic => window(address),
        };
        let own_base = if target == Target::Shared { 0 } else { base(generic) };
        if !address.is_multiple_of(size.into()) {
            return Err(FaultKind::Misaligned { address, size });
        }
        match generic {
            Window::Local => Ok(Region::Local),
            Window::Param => Ok(Region::Param),
            Window::Shared => {
                let offset = address - own_base;
                if offset.checked_add(size.into()).is_some_and(|end| end <= self.shared_end()) {
                    return Ok(Region::Shared);
                }
                let array = view.program.arrays.iter().rev().find(|array| u64::from(array.offset) <= offset);
                let (name, start, bytes) =
                    array.map_or(("shared memory", 0, self.shared_end() as u32), |array| {
                        let end = if array.size == 0 {
                            self.shared_end() as u32
                        } else {
                            array.offset + array.size
                        };
                        (array.name, array.offset, end - array.offset)
                    });
                let index = ((offset - u64::from(start)) / u64::from(size)) as i64;
                Err(FaultKind::OutOfBounds { name, index, len: u64::from(bytes / size) })
            }
            Window::Global | Window::Const => {
                let found = self.buffers.iter().position(|buffer| buffer.holds(address, size.into()));
                match found {
                    Some(number) if does == Does::Load || self.buffers[number].writable => {
                        Ok(Region::Buffer(number))
                    }
                    Some(number) => Err(FaultKind::ReadOnly { name: self.buffers[number].name, address }),
                    None => Err(self.outside(address, size)),
                }
            }
        }
    }

    /// An address in no buffer: which is the nearest?
    fn outside(&self, address: u64, size: u32) -> FaultKind {
        if address < 4096 {
            return FaultKind::Null { address };
        }
        let distance = |buffer: &&Buffer| {
            let end = buffer.address + buffer.len;
            if address < buffer.address { buffer.address - address } else { address.saturating_sub(end) }
        };
        match self.buffers.iter().min_by_key(distance).filter(|buffer| distance(buffer) < 1 << 30) {
            Some(buffer) => {
                let index = (address.wrapping_sub(buffer.address) as i64).div_euclid(size.into());
                FaultKind::OutOfBounds { name: buffer.name, index, len: buffer.len / u64::from(size) }
            }
            None => FaultKind::UnknownPointer,
        }
    }

    /// An access that other threads can see.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "they are those of `access`, and where it goes")]
    fn visible(
        &mut self,
        view: View<'_>,
        (warp, number): (&mut Warp, u32),
        group: &Group,
        (access, does): (&Access, Does),
        at: Pc,
        lanes: Lanes,
        (places, region): (&Places, Region),
    ) -> Result<(), Fault> {
        let frame = &group.frame;
        let size = u32::from(access.size) * access.registers.len().max(1) as u32;
        let shift = if access.target == Target::Shared { base(Window::Shared) } else { 0 };
        let object = match region {
            Region::Buffer(number) => number as u32 + 1,
            _ => 0,
        };
        let mut early = 0;
        if let Some(judge) = &mut self.judge {
            let each;
            let addresses = match places {
                Places::Affine(form) => Addresses::Affine {
                    base: form.base.wrapping_add(shift),
                    stride: form.stride.cast_signed(),
                },
                Places::Each(addresses) => {
                    each = addresses.map(|address| address.wrapping_add(shift));
                    Addresses::Each(&each)
                }
            };
            let digests;
            let values = match (does, &access.registers[..]) {
                (Does::Store, &[Some(Reg::W(a))]) => {
                    let register = &mut warp.w[(frame.w + a) as usize];
                    match register.affine() {
                        Some(form) => Written::Affine(form.base, form.stride),
                        None => Written::Words(register.lanes()),
                    }
                }
                (Does::Store, _) => {
                    digests = stored(warp, frame, access);
                    Written::Each(&digests)
                }
                _ => Written::Nothing,
            };
            early = judge.access(
                || view,
                self.lines,
                &WarpAccess {
                    at: At { instruction: at, path: group.path },
                    warp: number,
                    mask: lanes.mask,
                    addresses,
                    size,
                    how: How { writes: does != Does::Load, strong: access.order.strong },
                    sync: Sync {
                        reads: does != Does::Store,
                        acquires: access.order.acquire,
                        releases: access.order.release,
                    },
                    object,
                    values,
                },
            );
        }
        match does {
            Does::Load => self.load(warp, frame, access, lanes, (places, region), early),
            Does::Store => self.store(warp, frame, access, lanes, (places, region)),
            Does::Atomic => self.atomic(warp, frame, access, lanes, (places, region), early),
        }
        Ok(())
    }

    /// The bytes at an address of this region.
    #[inline]
    fn get(&self, region: Region, address: u64, size: u32) -> u64 {
        match region {
            Region::Buffer(number) => {
                let buffer = &self.buffers[number];
                bytes_of(|at| buffer.word(at), address - buffer.address, size)
            }
            _ => bytes_of(|at| self.shared[at], address & (WINDOW - 1), size),
        }
    }

    #[inline]
    fn set(&mut self, region: Region, address: u64, size: u32, value: u64) {
        match region {
            Region::Buffer(number) => {
                let buffer = &self.buffers[number];
                buffer.store(address - buffer.address, size, value);
            }
            _ => {
                let offset = address & (WINDOW - 1);
                let at = (offset / 4) as usize;
                match size {
                    8 => self.shared[at..at + 2].copy_from_slice(&[value as u32, (value >> 32) as u32]),
                    4 => self.shared[at] = value as u32,
                    _ => {
                        let shift = 8 * (offset % 4);
                        let mask = ((1_u32 << (8 * size)) - 1) << shift;
                        self.shared[at] = self.shared[at] & !mask | (value as u32) << shift & mask;
                    }
                }
            }
        }
    }

    /// The lanes of `early` read what nothing has written: they get zero, whatever lies there.
    #[inline(always)]
    fn load(
        &self,
        warp: &mut Warp,
        frame: &Frame,
        access: &Access,
        lanes: Lanes,
        (places, region): (&Places, Region),
        early: u32,
    ) {
        if let (Places::Affine(form), [Some(Reg::W(d))], 4, 0) =
            (places, &access.registers[..], access.size, early)
        {
            let register = &mut warp.w[(frame.w + d) as usize];
            if form.is_uniform() {
                let value = self.get(region, form.base, 4) as u32;
                return put_affine(register, Affine::uniform(value), lanes.mask, lanes.all);
            }
        }
        self.load_each(warp, frame, access, lanes, (places, region), early);
    }

    #[inline(never)]
    fn load_each(
        &self,
        warp: &mut Warp,
        frame: &Frame,
        access: &Access,
        lanes: Lanes,
        (places, region): (&Places, Region),
        early: u32,
    ) {
        let size = u32::from(access.size);
        for (number, register) in (0_u64..).zip(&access.registers) {
            let Some(register) = *register else { continue };
            let mut values = [0; LANES];
            for lane in schedule::lanes(lanes.mask & !early) {
                let value = self.get(region, places.lane(lane) + number * u64::from(size), size);
                values[lane as usize] = extended(value, access);
            }
            warp.set_lanes(frame, register, &values, lanes.mask, lanes.all);
        }
    }

    #[inline(always)]
    fn store(
        &mut self,
        warp: &mut Warp,
        frame: &Frame,
        access: &Access,
        lanes: Lanes,
        (places, region): (&Places, Region),
    ) {
        let size = u32::from(access.size);
        for (number, register) in (0_u64..).zip(&access.registers) {
            let Some(register) = *register else { continue };
            for lane in schedule::lanes(lanes.mask) {
                let value = warp.lane(frame, register, lane as usize);
                self.set(region, places.lane(lane) + number * u64::from(size), size, value);
            }
        }
    }

    /// One lane after the other, the lowest first. The lanes of `early` find zero, whatever lies there.
    #[inline(never)]
    fn atomic(
        &mut self,
        warp: &mut Warp,
        frame: &Frame,
        access: &Access,
        lanes: Lanes,
        (places, region): (&Places, Region),
        early: u32,
    ) {
        let Some((function, operands)) = access.atomic else { return };
        let size = u32::from(access.size);
        let mut old = [0; LANES];
        for lane in schedule::lanes(lanes.mask) {
            let operand = |number: usize| {
                operands[number].map_or(0, |register| warp.lane(frame, register, lane as usize))
            };
            let address = places.lane(lane);
            let (b, c) = (operand(0), operand(1));
            if let Region::Buffer(number) = region {
                let buffer = &self.buffers[number];
                old[lane as usize] = buffer.update(address - buffer.address, size, |old| function(old, b, c));
            } else {
                let before = if early >> lane & 1 == 1 { 0 } else { self.get(region, address, size) };
                self.set(region, address, size, function(before, b, c));
                old[lane as usize] = before;
            }
        }
        if let [Some(register)] = access.registers[..] {
            warp.set_lanes(frame, register, &old, lanes.mask, lanes.all);
        }
    }

    fn load_param(
        &self,
        warp: &mut Warp,
        frame: &Frame,
        access: &Access,
        places: &Places,
        lanes: Lanes,
    ) -> Result<(), Fault> {
        let size = usize::from(access.size);
        for (number, register) in (0..).zip(&access.registers) {
            let Some(register) = *register else { continue };
            let mut values = [0; LANES];
            for lane in schedule::lanes(lanes.mask) {
                let address = places.lane(lane);
                let at = (address & (WINDOW - 1)) as usize + number * size;
                let Some(found) = self.params.get(at..at + size) else {
                    let len = (self.params.len() / size) as u64;
                    return Err((
                        lane,
                        FaultKind::OutOfBounds {
                            name: "the kernel's parameters",
                            index: (at / size) as i64,
                            len,
                        },
                    ));
                };
                let mut bytes = [0; 8];
                bytes[..size].copy_from_slice(found);
                values[lane as usize] = extended(u64::from_le_bytes(bytes), access);
            }
            match (places, values[lanes.mask.trailing_zeros() as usize]) {
                (Places::Affine(form), value) if form.is_uniform() => {
                    warp.set_uniform(frame, register, value, lanes.mask, lanes.all);
                }
                _ => warp.set_lanes(frame, register, &values, lanes.mask, lanes.all),
            }
        }
        Ok(())
    }
}

/// 32 words of shared memory from this one on, or from the last of them back.
#[inline(always)]
fn words(shared: &[u32], at: usize, backwards: bool, row: &mut [u32; LANES]) {
    if let Some(words) = shared[at..].first_chunk() {
        *row = *words;
    }
    if backwards {
        row.reverse();
    }
}

#[inline(always)]
fn set_words(shared: &mut [u32], at: usize, backwards: bool, row: &[u32; LANES]) {
    if let Some(words) = shared[at..].first_chunk_mut() {
        *words = *row;
        if backwards {
            words.reverse();
        }
    }
}

/// What a load of a narrow type leaves in a wider register.
#[inline]
fn extended(value: u64, access: &Access) -> u64 {
    if !access.signed {
        return value;
    }
    let unused = 64 - 8 * u32::from(access.size);
    ((value << unused) as i64 >> unused) as u64
}

/// What each lane stores: a digest, if it is more than 64 bits.
fn stored(warp: &mut Warp, frame: &Frame, access: &Access) -> [u64; LANES] {
    if let [Some(register)] = access.registers[..] {
        return warp.lanes(frame, register);
    }
    let mut digest = [0_u64; LANES];
    let shift = if access.registers.len() as u32 * u32::from(access.size) <= 8 {
        8 * u32::from(access.size)
    } else {
        0
    };
    for (number, register) in (0..).zip(&access.registers) {
        let Some(register) = *register else { continue };
        let values = warp.lanes(frame, register);
        for (digest, value) in digest.iter_mut().zip(values) {
            *digest = if shift == 0 {
                (digest.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            } else {
                *digest | value << (shift * number)
            };
        }
    }
    digest
}

/// The addresses of an access, in the space that it names.
#[inline(always)]
fn places(warp: &mut Warp, frame: &Frame, access: &Access) -> Places {
    let Some(register) = access.base else {
        let start = if access.target == Target::Local { u64::from(frame.local) } else { 0 };
        return Places::Affine(Affine::uniform(start.wrapping_add_signed(access.offset)));
    };
    match address_form(warp, frame, register) {
        Some(form) => Places::Affine(Affine { base: form.base.wrapping_add_signed(access.offset), ..form }),
        None => {
            let addresses = warp.lanes(frame, register);
            Places::Each(addresses.map(|address| address.wrapping_add_signed(access.offset)))
        }
    }
}

/// An access to the lanes' own memory.
fn local(
    warp: &mut Warp,
    frame: &Frame,
    access: &Access,
    does: Does,
    places: &Places,
    lanes: Lanes,
) -> Result<(), Fault> {
    let size = u64::from(access.size);
    let total = size * access.registers.len().max(1) as u64;
    let end = 4 * warp.local.len() as u64;
    for lane in schedule::lanes(lanes.mask) {
        let at = places.lane(lane) & (WINDOW - 1);
        if !at.is_multiple_of(total.next_power_of_two().min(8).min(size)) {
            return Err((lane, FaultKind::Misaligned { address: places.lane(lane), size: size as u32 }));
        }
        if at + total > end {
            let what =
                FaultKind::OutOfBounds { name: "local memory", index: (at / size) as i64, len: end / size };
            return Err((lane, what));
        }
    }
    let uniform = match places {
        Places::Affine(form) if form.is_uniform() => Some(form.base & (WINDOW - 1)),
        _ => None,
    };
    for (number, register) in (0_u64..).zip(&access.registers) {
        let address = |lane: u32| (places.lane(lane) & (WINDOW - 1)) + number * size;
        match does {
            Does::Load => {
                let Some(register) = *register else { continue };
                if let (Some(at), Reg::W(d), 4) = (uniform, register, size) {
                    let values = warp.local[((at + number * size) / 4) as usize];
                    put(&mut warp.w[(frame.w + d) as usize], &values, lanes.mask, lanes.all);
                    continue;
                }
                let mut values = [0; LANES];
                for lane in schedule::lanes(lanes.mask) {
                    values[lane as usize] = extended(local_load(warp, address(lane), size, lane), access);
                }
                warp.set_lanes(frame, register, &values, lanes.mask, lanes.all);
            }
            Does::Store => {
                let Some(register) = *register else { continue };
                for lane in schedule::lanes(lanes.mask) {
                    let value = warp.lane(frame, register, lane as usize);
                    local_store(warp, address(lane), size, lane, value);
                }
            }
            Does::Atomic => {
                let Some((function, operands)) = access.atomic else { continue };
                for lane in schedule::lanes(lanes.mask) {
                    let operand = |number: usize| {
                        operands[number].map_or(0, |register| warp.lane(frame, register, lane as usize))
                    };
                    let (b, c) = (operand(0), operand(1));
                    let old = local_load(warp, address(lane), size, lane);
                    local_store(warp, address(lane), size, lane, function(old, b, c));
                    if let Some(register) = *register {
                        let mut values = warp.lanes(frame, register);
                        values[lane as usize] = old;
                        warp.set_lanes(frame, register, &values, 1 << lane, false);
                    }
                }
            }
        }
    }
    Ok(())
}

fn local_load(warp: &Warp, at: u64, size: u64, lane: u32) -> u64 {
    let word = |at: u64| u64::from(warp.local[(at / 4) as usize][lane as usize]);
    match size {
        8 => word(at) | word(at + 4) << 32,
        4 => word(at),
        _ => word(at) >> (8 * (at % 4)) & ((1 << (8 * size)) - 1),
    }
}

fn local_store(warp: &mut Warp, at: u64, size: u64, lane: u32, value: u64) {
    let word = |warp: &mut Warp, at: u64, value: u32| warp.local[(at / 4) as usize][lane as usize] = value;
    match size {
        8 => {
            word(warp, at, value as u32);
            word(warp, at + 4, (value >> 32) as u32);
        }
        4 => word(warp, at, value as u32),
        _ => {
            let shift = 8 * (at % 4);
            let mask = ((1_u32 << (8 * size)) - 1) << shift;
            let old = warp.local[(at / 4) as usize][lane as usize];
            word(warp, at, old & !mask | (value as u32) << shift & mask);
        }
    }
}

/// Bytes that go from one frame to another, of these lanes.
pub(crate) fn copy_local(warp: &mut Warp, from: u32, to: u32, size: u32, mask: u32) {
    for at in (0..size).step_by(4) {
        let values = warp.local[((from + at) / 4) as usize];
        let target = &mut warp.local[((to + at) / 4) as usize];
        for lane in schedule::lanes(mask) {
            target[lane as usize] = values[lane as usize];
        }
    }
}
