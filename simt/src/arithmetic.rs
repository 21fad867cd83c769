//! Operations of registers alone, for the lanes of a warp at once.

use race::schedule;

use crate::address::{WINDOW, Window, base};
use crate::code::{Compare, Float, Integer, Logic, Op, Program, Reg};
use crate::frame::Frame;
use crate::register::{Affine, LANES, Word};
use crate::warp::{Warp, put, put_affine};

/// The lanes that execute an operation, and whether they are all that matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    pub(crate) mask: u32,
    pub(crate) all: bool,
}

macro_rules! registers {
    ($warp:expr, $frame:expr, $bank:ident, $number:expr) => {
        $warp.$bank[($frame.$bank + $number) as usize]
    };
}

/// One operation of two operands: once if both are uniform, else lane by lane.
macro_rules! binary {
    ($warp:expr, $frame:expr, $lanes:expr, $d:ident $dn:expr, $a:ident $an:expr, $b:ident $bn:expr, $f:expr) => {{
        let (x, y) =
            (registers!($warp, $frame, $a, $an).uniform(), registers!($warp, $frame, $b, $bn).uniform());
        if let (Some(x), Some(y)) = (x, y) {
            let form = Affine::uniform($f(x, y));
            put_affine(&mut registers!($warp, $frame, $d, $dn), form, $lanes.mask, $lanes.all);
        } else {
            registers!($warp, $frame, $a, $an).lanes();
            let y = *registers!($warp, $frame, $b, $bn).lanes();
            let x = registers!($warp, $frame, $a, $an).known_lanes();
            let result = std::array::from_fn(|lane| $f(x[lane], y[lane]));
            put(&mut registers!($warp, $frame, $d, $dn), &result, $lanes.mask, $lanes.all);
        }
    }};
}

macro_rules! ternary {
    ($warp:expr, $frame:expr, $lanes:expr, $bank:ident, $d:expr, $a:expr, $b:expr, $c:expr, $f:expr) => {{
        let uniform = |number| registers!($warp, $frame, $bank, number).uniform();
        if let (Some(x), Some(y), Some(z)) = (uniform($a), uniform($b), uniform($c)) {
            let form = Affine::uniform($f(x, y, z));
            put_affine(&mut registers!($warp, $frame, $bank, $d), form, $lanes.mask, $lanes.all);
        } else {
            let x = *registers!($warp, $frame, $bank, $a).lanes();
            let y = *registers!($warp, $frame, $bank, $b).lanes();
            let z = *registers!($warp, $frame, $bank, $c).lanes();
            let result = std::array::from_fn(|lane| $f(x[lane], y[lane], z[lane]));
            put(&mut registers!($warp, $frame, $bank, $d), &result, $lanes.mask, $lanes.all);
        }
    }};
}

/// An operation of integers of one width, with what it does to affine operands.
macro_rules! integer {
    ($warp:expr, $frame:expr, $lanes:expr, $bank:ident, $ty:ty, $kind:expr, $d:expr, $a:expr, $b:expr) => {{
        let (x, y) = (&registers!($warp, $frame, $bank, $a), &registers!($warp, $frame, $bank, $b));
        if x.is_affine() && y.is_affine() {
            let (x, y) = (x.form(), y.form());
            let uniform = x.is_uniform() && y.is_uniform();
            let form = match $kind {
                Integer::Add => Some(Affine { base: x.base.plus(y.base), stride: x.stride.plus(y.stride) }),
                Integer::Sub => Some(Affine { base: x.base.minus(y.base), stride: x.stride.minus(y.stride) }),
                Integer::Mul => product(x, y),
                _ if !uniform => None,
                Integer::And => Some(Affine::uniform(x.base & y.base)),
                Integer::Or => Some(Affine::uniform(x.base | y.base)),
                Integer::Xor => Some(Affine::uniform(x.base ^ y.base)),
                Integer::MinU => Some(Affine::uniform(x.base.min(y.base))),
                Integer::MaxU => Some(Affine::uniform(x.base.max(y.base))),
                Integer::Shl | Integer::Shr => None,
            };
            if let Some(form) = form {
                put_affine(&mut registers!($warp, $frame, $bank, $d), form, $lanes.mask, $lanes.all);
                return;
            }
        }
        match $kind {
            Integer::Add => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, <$ty>::wrapping_add),
            Integer::Sub => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, <$ty>::wrapping_sub),
            Integer::Mul => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, <$ty>::wrapping_mul),
            Integer::And => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, |x: $ty, y: $ty| x & y),
            Integer::Or => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, |x: $ty, y: $ty| x | y),
            Integer::Xor => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, |x: $ty, y: $ty| x ^ y),
            Integer::MinU => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, Ord::min),
            Integer::MaxU => binary!($warp, $frame, $lanes, $bank $d, $bank $a, $bank $b, Ord::max),
            Integer::Shl | Integer::Shr => shift!($warp, $frame, $lanes, $bank, $ty, $kind, $d, $a, $b),
        }
    }};
}

/// The amount of a shift is a 32-bit register; from the width on, nothing is left.
macro_rules! shift {
    ($warp:expr, $frame:expr, $lanes:expr, $bank:ident, $ty:ty, $kind:expr, $d:expr, $a:expr, $b:expr) => {{
        let left = $kind == Integer::Shl;
        let shifted = |x: $ty, by: u32| {
            if left { x.checked_shl(by).unwrap_or(0) } else { x.checked_shr(by).unwrap_or(0) }
        };
        let amount = registers!($warp, $frame, w, $b).uniform();
        match (amount, registers!($warp, $frame, $bank, $a).affine()) {
            (Some(by), Some(x)) if left || x.is_uniform() => {
                let form = Affine { base: shifted(x.base, by), stride: shifted(x.stride, by) };
                put_affine(&mut registers!($warp, $frame, $bank, $d), form, $lanes.mask, $lanes.all);
            }
            (Some(by), _) => {
                let x = *registers!($warp, $frame, $bank, $a).lanes();
                let result = x.map(|x| shifted(x, by));
                put(&mut registers!($warp, $frame, $bank, $d), &result, $lanes.mask, $lanes.all);
            }
            (None, _) => {
                let x = *registers!($warp, $frame, $bank, $a).lanes();
                let by = *registers!($warp, $frame, w, $b).lanes();
                let result = std::array::from_fn(|lane| shifted(x[lane], by[lane]));
                put(&mut registers!($warp, $frame, $bank, $d), &result, $lanes.mask, $lanes.all);
            }
        }
    }};
}

#[inline(always)]
fn product<T: Word>(x: Affine<T>, y: Affine<T>) -> Option<Affine<T>> {
    let scaled = |form: Affine<T>, by: T| Affine { base: form.base.times(by), stride: form.stride.times(by) };
    if y.is_uniform() {
        Some(scaled(x, y.base))
    } else if x.is_uniform() {
        Some(scaled(y, x.base))
    } else {
        None
    }
}

/// The form in 64 bits, if no lane wraps around in 32.
#[inline(always)]
pub(crate) fn widened(form: Affine<u32>, signed: bool) -> Option<Affine<u64>> {
    let stride = i64::from(form.stride as i32);
    let first = if signed { i64::from(form.base as i32) } else { i64::from(form.base) };
    let last = first + 31 * stride;
    let fits = if signed { i32::try_from(last).is_ok() } else { u32::try_from(last).is_ok() };
    fits.then_some(Affine { base: first as u64, stride: stride as u64 })
}

fn widen(value: u32, signed: bool) -> u64 {
    if signed { i64::from(value as i32) as u64 } else { value.into() }
}

macro_rules! singles {
    ($warp:expr, $frame:expr, $lanes:expr, $kind:expr, $d:expr, $a:expr, $b:expr) => {
        match $kind {
            Float::Add => binary!($warp, $frame, $lanes, w $d, w $a, w $b,
                |x, y| canonical(f32::from_bits(x) + f32::from_bits(y))),
            Float::Sub => binary!($warp, $frame, $lanes, w $d, w $a, w $b,
                |x, y| canonical(f32::from_bits(x) - f32::from_bits(y))),
            Float::Mul => binary!($warp, $frame, $lanes, w $d, w $a, w $b,
                |x, y| canonical(f32::from_bits(x) * f32::from_bits(y))),
            Float::Div => binary!($warp, $frame, $lanes, w $d, w $a, w $b,
                |x, y| canonical(f32::from_bits(x) / f32::from_bits(y))),
        }
    };
}

/// "The NaN of single precision is 0x7fffffff" (PTX ISA, "Floating Point").
#[inline(always)]
fn canonical(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

/// An operation of `.f64`: once if all operands are uniform, else lane by lane. The operands whose NaN comes through
/// sooner stand first.
#[inline(always)]
fn doubles<const N: usize>(
    warp: &mut Warp,
    frame: &Frame,
    lanes: Lanes,
    d: u32,
    operands: [u32; N],
    function: impl Fn([f64; N]) -> f64,
) {
    let uniform = operands.map(|number| registers!(warp, frame, d, number).uniform());
    if uniform.iter().all(Option::is_some) {
        let operands = uniform.map(Option::unwrap_or_default);
        let mut result = [function(operands.map(f64::from_bits)).to_bits()];
        if f64::from_bits(result[0]).is_nan() {
            nans(&mut result, &operands.map(|bits| [bits]));
        }
        put_affine(&mut registers!(warp, frame, d, d), Affine::uniform(result[0]), lanes.mask, lanes.all);
        return;
    }
    let operands = operands.map(|number| *registers!(warp, frame, d, number).lanes());
    let of = |lane: usize| std::array::from_fn(|number| f64::from_bits(operands[number][lane]));
    let mut result: [u64; LANES] = std::array::from_fn(|lane| function(of(lane)).to_bits());
    if result.iter().fold(false, |any, &bits| any | f64::from_bits(bits).is_nan()) {
        nans(&mut result, &operands);
    }
    put(&mut registers!(warp, frame, d, d), &result, lanes.mask, lanes.all);
}

/// Makes NaN results those that a card gives: the first operand that is one, made quiet, or else one of its own.
#[cold]
#[inline(never)]
fn nans<const LANES: usize>(result: &mut [u64; LANES], operands: &[[u64; LANES]]) {
    for (lane, bits) in result.iter_mut().enumerate() {
        if f64::from_bits(*bits).is_nan() {
            let nan = operands.iter().map(|lanes| lanes[lane]).find(|&bits| f64::from_bits(bits).is_nan());
            *bits = nan.map_or(0xfff8 << 48, |bits| bits | 1 << 51);
        }
    }
}

#[inline(always)]
fn compares<T: Ord>(compare: Compare, x: T, y: T) -> bool {
    match compare {
        Compare::Eq => x == y,
        Compare::Ne => x != y,
        Compare::Lt => x < y,
        Compare::Le => x <= y,
        Compare::Gt => x > y,
        Compare::Ge => x >= y,
    }
}

/// Each lane's comparison, as a mask.
#[inline(always)]
fn compare_lanes<T: Copy + Ord>(compare: Compare, x: &[T; LANES], y: &[T; LANES]) -> u32 {
    #[inline(always)]
    fn mask<T: Copy>(x: &[T; LANES], y: &[T; LANES], test: impl Fn(T, T) -> bool) -> u32 {
        (0..LANES).fold(0, |mask, lane| mask | u32::from(test(x[lane], y[lane])) << lane)
    }
    match compare {
        Compare::Eq => mask(x, y, |x, y| x == y),
        Compare::Ne => mask(x, y, |x, y| x != y),
        Compare::Lt => mask(x, y, |x, y| x < y),
        Compare::Le => mask(x, y, |x, y| x <= y),
        Compare::Gt => mask(x, y, |x, y| x > y),
        Compare::Ge => mask(x, y, |x, y| x >= y),
    }
}

/// The comparison of two affine operands, if both ends of the warp agree: in between, the difference is monotonic. Each
/// is given by its values in the first and the last lane, as numbers that do not wrap around in between.
#[inline(always)]
fn compare_ends(compare: Compare, x: (i64, i64), y: (i64, i64)) -> Option<u32> {
    let (first, last) = (compares(compare, x.0, y.0), compares(compare, x.1, y.1));
    let parallel = x.1.wrapping_sub(x.0) == y.1.wrapping_sub(y.0);
    if matches!(compare, Compare::Eq | Compare::Ne) && !parallel {
        return None;
    }
    (first == last).then_some(if first { u32::MAX } else { 0 })
}

/// The values of the first lane and the last, if they do not wrap around, and if they compare as signed numbers do.
#[inline(always)]
fn ends64(form: Affine<u64>, signed: bool) -> Option<(i64, i64)> {
    let (first, (by, over)) = (form.base as i64, (form.stride as i64).overflowing_mul(31));
    let (last, wraps) = first.overflowing_add(by);
    (!over && !wraps && (signed || first >= 0 && last >= 0)).then_some((first, last))
}

#[inline(always)]
fn ends32(form: Affine<u32>, signed: bool) -> Option<(i64, i64)> {
    let first = if signed { i64::from(form.base as i32) } else { i64::from(form.base) };
    let last = first + 31 * i64::from(form.stride as i32);
    let fits = if signed { i32::try_from(last).is_ok() } else { u32::try_from(last).is_ok() };
    fits.then_some((first, last))
}

/// Executes an operation of registers for all lanes at once, if it can: its operands are affine, and so is its result.
/// False if not; then nothing has happened.
#[inline(always)]
pub(crate) fn affine(warp: &mut Warp, frame: &Frame, op: Op) -> bool {
    /// The forms of registers of one kind; without one of them, the operation is none of these.
    macro_rules! forms {
        ($bank:ident, $($number:expr),*) => {
            ($(match registers!(warp, frame, $bank, $number).affine() {
                Some(form) => form,
                None => return false,
            }),*)
        };
    }
    macro_rules! give {
        ($bank:ident, $number:expr, $form:expr) => {{
            let form = $form;
            registers!(warp, frame, $bank, $number).set_affine(form);
        }};
    }
    macro_rules! integer {
        ($bank:ident, $kind:expr, $d:expr, $a:expr, $b:expr) => {{
            let (x, y) = forms!($bank, $a, $b);
            let uniform = x.is_uniform() && y.is_uniform();
            let form = match $kind {
                Integer::Add => sum(x, y),
                Integer::Sub => Affine { base: x.base.minus(y.base), stride: x.stride.minus(y.stride) },
                Integer::Mul => match product(x, y) {
                    Some(form) => form,
                    None => return false,
                },
                Integer::And if uniform => Affine::uniform(x.base & y.base),
                Integer::Or if uniform => Affine::uniform(x.base | y.base),
                Integer::Xor if uniform => Affine::uniform(x.base ^ y.base),
                _ => return false,
            };
            give!($bank, $d, form);
        }};
    }
    macro_rules! compare {
        ($bank:ident, $ends:ident, $compare:expr, $signed:expr, $d:expr, $a:expr, $b:expr) => {{
            let (x, y) = forms!($bank, $a, $b);
            let ends = $ends(x, $signed).zip($ends(y, $signed));
            let Some(bits) = ends.and_then(|(x, y)| compare_ends($compare, x, y)) else { return false };
            registers!(warp, frame, p, $d) = bits;
        }};
    }
    macro_rules! shift {
        ($bank:ident, $kind:expr, $d:expr, $a:expr, $b:expr) => {{
            let x = forms!($bank, $a);
            let Some(by) = registers!(warp, frame, w, $b).uniform() else { return false };
            let form = match $kind {
                Integer::Shl => Affine {
                    base: x.base.checked_shl(by).unwrap_or(0),
                    stride: x.stride.checked_shl(by).unwrap_or(0),
                },
                _ if x.is_uniform() => Affine::uniform(x.base.checked_shr(by).unwrap_or(0)),
                _ => return false,
            };
            give!($bank, $d, form);
        }};
    }
    match op {
        Op::MovW(d, a) => give!(w, d, forms!(w, a)),
        Op::MovD(d, a) => give!(d, d, forms!(d, a)),
        Op::NotP(d, a) => registers!(warp, frame, p, d) = !registers!(warp, frame, p, a),
        Op::IntW(kind @ (Integer::Shl | Integer::Shr), d, a, b) => shift!(w, kind, d, a, b),
        Op::IntD(kind @ (Integer::Shl | Integer::Shr), d, a, b) => shift!(d, kind, d, a, b),
        Op::IntW(kind, d, a, b) => integer!(w, kind, d, a, b),
        Op::IntD(kind, d, a, b) => integer!(d, kind, d, a, b),
        Op::MadW(d, a, b, c) => {
            let (x, y, z) = forms!(w, a, b, c);
            let Some(product) = product(x, y) else { return false };
            give!(w, d, sum(product, z));
        }
        Op::MadD(d, a, b, c) => {
            let (x, y, z) = forms!(d, a, b, c);
            let Some(product) = product(x, y) else { return false };
            give!(d, d, sum(product, z));
        }
        Op::MadWide { signed, d, a, b, c } => {
            let (x, y) = forms!(w, a, b);
            let z = forms!(d, c);
            let factors = widened(x, signed).zip(widened(y, signed));
            let Some(product) = factors.and_then(|(x, y)| product(x, y)) else { return false };
            give!(d, d, sum(product, z));
        }
        Op::Widen { signed, d, a } => {
            let Some(form) = widened(forms!(w, a), signed) else { return false };
            give!(d, d, form);
        }
        Op::Narrow(d, a) => {
            let form = forms!(d, a);
            give!(w, d, Affine { base: form.base as u32, stride: form.stride as u32 });
        }
        Op::CompareW { compare, signed, d, a, b } => compare!(w, ends32, compare, signed, d, a, b),
        Op::CompareD { compare, signed, d, a, b } => compare!(d, ends64, compare, signed, d, a, b),
        Op::SelectD(d, a, b, p) => {
            let Some(one) = chosen(registers!(warp, frame, p, p), warp.alive, a, b) else { return false };
            give!(d, d, forms!(d, one));
        }
        Op::SelectW(d, a, b, p) => {
            let Some(one) = chosen(registers!(warp, frame, p, p), warp.alive, a, b) else { return false };
            give!(w, d, forms!(w, one));
        }
        Op::Nop => {}
        _ => return false,
    }
    true
}

#[inline(always)]
fn sum<T: Word>(x: Affine<T>, y: Affine<T>) -> Affine<T> {
    Affine { base: x.base.plus(y.base), stride: x.stride.plus(y.stride) }
}

/// Executes an operation of registers, lane by lane if need be; any other does nothing.
#[inline(never)]
pub(crate) fn execute(warp: &mut Warp, frame: &Frame, program: &Program, op: &Op, lanes: Lanes) {
    match *op {
        Op::MovW(d, a) => copy_w(warp, frame, d, a, lanes),
        Op::MovD(d, a) => copy_d(warp, frame, d, a, lanes),
        Op::MovP(d, a) => {
            let bits = registers!(warp, frame, p, a);
            warp.set_predicate(frame, d, bits, lanes.mask);
        }
        Op::NotP(d, a) => {
            let bits = !registers!(warp, frame, p, a);
            warp.set_predicate(frame, d, bits, lanes.mask);
        }
        Op::LogicP(logic, d, a, b) => {
            let bits = join(logic, registers!(warp, frame, p, a), registers!(warp, frame, p, b));
            warp.set_predicate(frame, d, bits, lanes.mask);
        }
        Op::IntW(kind, d, a, b) => integer!(warp, frame, lanes, w, u32, kind, d, a, b),
        Op::IntD(kind, d, a, b) => {
            if matches!(kind, Integer::Shl | Integer::Shr) {
                shift!(warp, frame, lanes, d, u64, kind, d, a, b);
            } else {
                integer!(warp, frame, lanes, d, u64, kind, d, a, b);
            }
        }
        Op::MadW(d, a, b, c) => {
            let form = |number| registers!(warp, frame, w, number).affine();
            let product = form(a).zip(form(b)).and_then(|(x, y)| product(x, y));
            match product.zip(form(c)) {
                Some((x, y)) => {
                    let form = Affine { base: x.base.plus(y.base), stride: x.stride.plus(y.stride) };
                    put_affine(&mut registers!(warp, frame, w, d), form, lanes.mask, lanes.all);
                }
                None => ternary!(warp, frame, lanes, w, d, a, b, c, |x: u32, y: u32, z: u32| x
                    .wrapping_mul(y)
                    .wrapping_add(z)),
            }
        }
        Op::MadD(d, a, b, c) => {
            let form = |number| registers!(warp, frame, d, number).affine();
            let product = form(a).zip(form(b)).and_then(|(x, y)| product(x, y));
            match product.zip(form(c)) {
                Some((x, y)) => {
                    let form = Affine { base: x.base.plus(y.base), stride: x.stride.plus(y.stride) };
                    put_affine(&mut registers!(warp, frame, d, d), form, lanes.mask, lanes.all);
                }
                None => ternary!(warp, frame, lanes, d, d, a, b, c, |x: u64, y: u64, z: u64| x
                    .wrapping_mul(y)
                    .wrapping_add(z)),
            }
        }
        Op::MadWide { signed, d, a, b, c } => mad_wide(warp, frame, lanes, signed, [d, a, b, c]),
        Op::Widen { signed, d, a } => {
            let form = registers!(warp, frame, w, a).affine().and_then(|form| widened(form, signed));
            match form {
                Some(form) => put_affine(&mut registers!(warp, frame, d, d), form, lanes.mask, lanes.all),
                None => {
                    let values = registers!(warp, frame, w, a).lanes().map(|value| widen(value, signed));
                    put(&mut registers!(warp, frame, d, d), &values, lanes.mask, lanes.all);
                }
            }
        }
        Op::Narrow(d, a) => match registers!(warp, frame, d, a).affine() {
            Some(form) => {
                let form = Affine { base: form.base as u32, stride: form.stride as u32 };
                put_affine(&mut registers!(warp, frame, w, d), form, lanes.mask, lanes.all);
            }
            None => {
                let values = registers!(warp, frame, d, a).lanes().map(|value| value as u32);
                put(&mut registers!(warp, frame, w, d), &values, lanes.mask, lanes.all);
            }
        },
        Op::CompareW { compare, signed, d, a, b } => {
            let ends =
                |number| registers!(warp, frame, w, number).affine().and_then(|form| ends32(form, signed));
            let known = ends(a).zip(ends(b)).and_then(|(x, y)| compare_ends(compare, x, y));
            let bits = match known {
                Some(bits) => bits,
                None => {
                    let x = *registers!(warp, frame, w, a).lanes();
                    let y = *registers!(warp, frame, w, b).lanes();
                    if signed {
                        compare_lanes(compare, &x.map(|x| x as i32), &y.map(|y| y as i32))
                    } else {
                        compare_lanes(compare, &x, &y)
                    }
                }
            };
            warp.set_predicate(frame, d, bits, lanes.mask);
        }
        Op::CompareD { compare, signed, d, a, b } => {
            let ends =
                |number| registers!(warp, frame, d, number).affine().and_then(|form| ends64(form, signed));
            let known = ends(a).zip(ends(b)).and_then(|(x, y)| compare_ends(compare, x, y));
            let bits = match known {
                Some(bits) => bits,
                None => {
                    let x = *registers!(warp, frame, d, a).lanes();
                    let y = *registers!(warp, frame, d, b).lanes();
                    if signed {
                        compare_lanes(compare, &x.map(|x| x as i64), &y.map(|y| y as i64))
                    } else {
                        compare_lanes(compare, &x, &y)
                    }
                }
            };
            warp.set_predicate(frame, d, bits, lanes.mask);
        }
        Op::SelectW(d, a, b, p) => {
            let bits = registers!(warp, frame, p, p);
            match chosen(bits, lanes.mask, a, b) {
                Some(one) => copy_w(warp, frame, d, one, lanes),
                None => {
                    let x = *registers!(warp, frame, w, a).lanes();
                    let y = *registers!(warp, frame, w, b).lanes();
                    let pick = |lane: usize| if bits >> lane & 1 == 1 { x[lane] } else { y[lane] };
                    put(
                        &mut registers!(warp, frame, w, d),
                        &std::array::from_fn(pick),
                        lanes.mask,
                        lanes.all,
                    );
                }
            }
        }
        Op::SelectD(d, a, b, p) => {
            let bits = registers!(warp, frame, p, p);
            match chosen(bits, lanes.mask, a, b) {
                Some(one) => copy_d(warp, frame, d, one, lanes),
                None => {
                    let x = *registers!(warp, frame, d, a).lanes();
                    let y = *registers!(warp, frame, d, b).lanes();
                    let pick = |lane: usize| if bits >> lane & 1 == 1 { x[lane] } else { y[lane] };
                    put(
                        &mut registers!(warp, frame, d, d),
                        &std::array::from_fn(pick),
                        lanes.mask,
                        lanes.all,
                    );
                }
            }
        }
        Op::FloatW(kind, d, a, b) => singles!(warp, frame, lanes, kind, d, a, b),
        // Which NaN comes through is what `alu::float` says.
        Op::FloatD(kind, d, a, b) => match kind {
            Float::Add => doubles(warp, frame, lanes, d, [b, a], |[y, x]| x + y),
            Float::Sub => doubles(warp, frame, lanes, d, [b, a], |[y, x]| x - y),
            Float::Mul => doubles(warp, frame, lanes, d, [b, a], |[y, x]| x * y),
            Float::Div => doubles(warp, frame, lanes, d, [a, b], |[x, y]| x / y),
        },
        Op::FmaW(d, a, b, c) => ternary!(warp, frame, lanes, w, d, a, b, c, |x, y, z| canonical(
            f32::from_bits(x).mul_add(f32::from_bits(y), f32::from_bits(z))
        )),
        Op::FmaD(d, a, b, c) => doubles(warp, frame, lanes, d, [b, c, a], |[y, z, x]| x.mul_add(y, z)),
        Op::Scalar(number) => scalar(warp, frame, program, number, lanes),
        Op::Test(number) => test(warp, frame, program, number, lanes),
        Op::Convert { space, to, d, a } => {
            let base = base(space);
            let shift = if to { base.wrapping_neg() } else { base };
            match registers!(warp, frame, d, a).affine() {
                Some(form) => {
                    let form = Affine { base: form.base.wrapping_add(shift), ..form };
                    put_affine(&mut registers!(warp, frame, d, d), form, lanes.mask, lanes.all);
                }
                None => {
                    let values = registers!(warp, frame, d, a).lanes().map(|value| value.wrapping_add(shift));
                    put(&mut registers!(warp, frame, d, d), &values, lanes.mask, lanes.all);
                }
            }
        }
        Op::IsSpace { space, d, a } => {
            let addresses = *registers!(warp, frame, d, a).lanes();
            let bits =
                (0..LANES).fold(0, |bits, lane| bits | u32::from(is_in(addresses[lane], space)) << lane);
            warp.set_predicate(frame, d, bits, lanes.mask);
        }
        _ => {}
    }
}

#[inline(always)]
fn copy_w(warp: &mut Warp, frame: &Frame, d: u32, a: u32, lanes: Lanes) {
    match registers!(warp, frame, w, a).affine() {
        Some(form) => put_affine(&mut registers!(warp, frame, w, d), form, lanes.mask, lanes.all),
        None => {
            let values = *registers!(warp, frame, w, a).lanes();
            put(&mut registers!(warp, frame, w, d), &values, lanes.mask, lanes.all);
        }
    }
}

#[inline(always)]
fn copy_d(warp: &mut Warp, frame: &Frame, d: u32, a: u32, lanes: Lanes) {
    match registers!(warp, frame, d, a).affine() {
        Some(form) => put_affine(&mut registers!(warp, frame, d, d), form, lanes.mask, lanes.all),
        None => {
            let values = *registers!(warp, frame, d, a).lanes();
            put(&mut registers!(warp, frame, d, d), &values, lanes.mask, lanes.all);
        }
    }
}

fn is_in(address: u64, space: Window) -> bool {
    match space {
        Window::Global => crate::address::window(address) == Window::Global,
        Window::Const => false,
        space => address.wrapping_sub(base(space)) < WINDOW,
    }
}

/// Of two registers the one that all lanes choose, if they do.
#[inline(always)]
fn chosen(bits: u32, mask: u32, a: u32, b: u32) -> Option<u32> {
    if bits & mask == mask {
        Some(a)
    } else if bits & mask == 0 {
        Some(b)
    } else {
        None
    }
}

fn join(logic: Logic, a: u32, b: u32) -> u32 {
    match logic {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
    }
}

#[inline(always)]
fn mad_wide(warp: &mut Warp, frame: &Frame, lanes: Lanes, signed: bool, [d, a, b, c]: [u32; 4]) {
    let form = |number| registers!(warp, frame, w, number).affine().and_then(|form| widened(form, signed));
    let product = form(a).zip(form(b)).and_then(|(x, y)| product(x, y));
    if let Some((x, y)) = product.zip(registers!(warp, frame, d, c).affine()) {
        let form = Affine { base: x.base.plus(y.base), stride: x.stride.plus(y.stride) };
        put_affine(&mut registers!(warp, frame, d, d), form, lanes.mask, lanes.all);
        return;
    }
    let x = *registers!(warp, frame, w, a).lanes();
    let y = *registers!(warp, frame, w, b).lanes();
    let z = *registers!(warp, frame, d, c).lanes();
    let result = std::array::from_fn(|lane| {
        widen(x[lane], signed).wrapping_mul(widen(y[lane], signed)).wrapping_add(z[lane])
    });
    put(&mut registers!(warp, frame, d, d), &result, lanes.mask, lanes.all);
}

/// Whatever has no operation of its own.
#[inline(never)]
fn scalar(warp: &mut Warp, frame: &Frame, program: &Program, number: u32, lanes: Lanes) {
    use crate::alu::Alu;
    let scalar = &program.scalars[number as usize];
    let count = usize::from(scalar.count);
    let compute = |operand: &dyn Fn(usize) -> u64| {
        let value = match scalar.function {
            Alu::One(function) => function(operand(0)),
            Alu::Two(function) => function(operand(0), operand(1)),
            Alu::Three(function) => function(operand(0), operand(1), operand(2)),
            Alu::Four(function) => function(operand(0), operand(1), operand(2), operand(3)),
        };
        match scalar.extend {
            0 | 64 => value,
            bits => ((value << (64 - bits)) as i64 >> (64 - bits)) as u64,
        }
    };
    let mut uniform = [0; 4];
    let mut all_uniform = true;
    for (value, &register) in uniform.iter_mut().zip(&scalar.operands[..count]) {
        match warp.uniform(frame, register) {
            Some(known) => *value = known,
            None => all_uniform = false,
        }
    }
    if all_uniform {
        let value = compute(&|operand| uniform[operand]);
        warp.set_uniform(frame, scalar.d, value, lanes.mask, lanes.all);
        return;
    }
    let mut operands = [[0; LANES]; 4];
    for (values, &register) in operands.iter_mut().zip(&scalar.operands[..count]) {
        *values = warp.lanes(frame, register);
    }
    let mut result = [0; LANES];
    for lane in schedule::lanes(lanes.mask).map(|lane| lane as usize) {
        result[lane] = compute(&|operand| operands[operand][lane]);
    }
    warp.set_lanes(frame, scalar.d, &result, lanes.mask, lanes.all);
}

#[inline(never)]
fn test(warp: &mut Warp, frame: &Frame, program: &Program, number: u32, lanes: Lanes) {
    let test = &program.tests[number as usize];
    let (x, y) = (warp.lanes(frame, test.a), warp.lanes(frame, test.b));
    let holds = (0..LANES).fold(0, |bits, lane| bits | u32::from((test.function)(x[lane], y[lane])) << lane);
    let (mut bits, mut contrary) = (holds, !holds);
    if let Some((logic, other, negated)) = test.with {
        let other = registers!(warp, frame, p, other) ^ if negated { u32::MAX } else { 0 };
        (bits, contrary) = (join(logic, bits, other), join(logic, contrary, other));
    }
    for (d, bits) in [(test.d, bits), (test.not_d, contrary)] {
        if let Some(d) = d {
            warp.set_predicate(frame, d, bits, lanes.mask);
        }
    }
}

/// The register's form in 64 bits: an address. `None` if it has none.
#[inline(always)]
pub(crate) fn address_form(warp: &mut Warp, frame: &Frame, register: Reg) -> Option<Affine<u64>> {
    match register {
        Reg::D(number) => registers!(warp, frame, d, number).find_form(),
        Reg::W(number) => {
            registers!(warp, frame, w, number).find_form().and_then(|form| widened(form, false))
        }
        Reg::P(_) => None,
    }
}
