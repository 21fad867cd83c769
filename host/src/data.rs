//! What slices, buffers and numbers hold before a launch: for both engines, so that both see the same.

mod npy;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// The type of an element or of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "Rust's own names")]
pub enum Element {
    F32,
    F64,
    U8,
    U16,
    U32,
    U64,
    U128,
    Usize,
    I8,
    I16,
    I32,
    I64,
    I128,
    Isize,
    Bool,
    /// Of a type that is not looked into, so many bytes long.
    Bytes(usize),
}

/// What kinds of number there are, to make one or read one.
enum Family {
    Float,
    Signed,
    Unsigned,
    Bool,
    Bytes,
}

impl Element {
    /// In bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::F64 | Self::U64 | Self::I64 | Self::Usize | Self::Isize => 8,
            Self::U128 | Self::I128 => 16,
            Self::Bytes(size) => size,
        }
    }

    fn family(self) -> Family {
        match self {
            Self::F32 | Self::F64 => Family::Float,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::I128 | Self::Isize => Family::Signed,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::U128 | Self::Usize => Family::Unsigned,
            Self::Bool => Family::Bool,
            Self::Bytes(_) => Family::Bytes,
        }
    }

    fn whole(self, number: u128) -> Vec<u8> {
        number.to_le_bytes().into_iter().chain(std::iter::repeat(0)).take(self.size()).collect()
    }

    fn float(self, number: f64) -> Vec<u8> {
        match self {
            Self::F32 => (number as f32).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        }
    }

    /// Element `i` of a buffer if nothing else is asked for: 0, 1, 2, … for whole numbers, so that each is a valid
    /// index; 1, 2, 3, … for floating-point ones; zeros for what is not looked into.
    fn counted(self, i: usize) -> Vec<u8> {
        match self.family() {
            Family::Float => self.float(i as f64 + 1.0),
            Family::Signed | Family::Unsigned => self.whole(i as u128),
            Family::Bool => vec![u8::from(i % 2 == 1)],
            Family::Bytes => vec![0; self.size()],
        }
    }

    fn one(self) -> Vec<u8> {
        match self.family() {
            Family::Float => self.float(1.0),
            _ => self.whole(1),
        }
    }

    fn random(self, random: &mut fastrand::Rng, n: usize) -> Vec<u8> {
        match self {
            Self::F32 => (random.f32() * 2.0 - 1.0).to_le_bytes().to_vec(),
            Self::F64 => (random.f64() * 2.0 - 1.0).to_le_bytes().to_vec(),
            Self::Bool => vec![u8::from(random.bool())],
            Self::Bytes(size) => (0..size).map(|_| random.u8(..)).collect(),
            whole => whole.whole(random.usize(..n.max(1)) as u128),
        }
    }

    /// The bytes of a number that a command line gives. Those of a type that is not looked into are given as
    /// `0x…`, in the order of memory.
    ///
    /// # Errors
    ///
    /// If it is no number of this type.
    pub fn parse(self, text: &str) -> Result<Vec<u8>> {
        let not_one = || format!("{text} is not {self}");
        if let Self::Bytes(size) = self {
            let digits = text.strip_prefix("0x").with_context(|| {
                format!("{text}: the type is not looked into here; give its {size} bytes as 0x…")
            })?;
            let pairs: Vec<_> = digits.as_bytes().chunks(2).collect();
            ensure!(pairs.len() == size, "{text} has {} bytes and not {size}", pairs.len());
            let byte = |pair: &&[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            return pairs.iter().map(byte).collect::<Option<_>>().with_context(not_one);
        }
        match self {
            Self::F32 => text.parse::<f32>().ok().map(|number| number.to_le_bytes().to_vec()),
            Self::F64 => text.parse::<f64>().ok().map(|number| number.to_le_bytes().to_vec()),
            Self::Bool => text.parse::<bool>().ok().map(|truth| vec![u8::from(truth)]),
            _ => self.parse_whole(text),
        }
        .with_context(not_one)
    }

    fn parse_whole(self, text: &str) -> Option<Vec<u8>> {
        let bits = self.size() as u32 * 8;
        if let Some(digits) = text.strip_prefix("0x") {
            let number = u128::from_str_radix(digits, 16).ok()?;
            return (number.checked_shr(bits).unwrap_or(0) == 0).then(|| self.whole(number));
        }
        if matches!(self.family(), Family::Unsigned) {
            let number: u128 = text.parse().ok()?;
            return (number.checked_shr(bits).unwrap_or(0) == 0).then(|| self.whole(number));
        }
        let number: i128 = text.parse().ok()?;
        let beyond = number >> (bits - 1);
        (beyond == 0 || beyond == -1).then(|| self.whole(number as u128))
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(size) => write!(f, "{size} bytes"),
            number => f.write_str(&format!("{number:?}").to_lowercase()),
        }
    }
}

/// What a buffer is filled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filling {
    /// 0, 1, 2, … or 1, 2, 3, …
    Iota,
    /// From this seed: floating-point numbers in [-1, 1), whole ones below n.
    Random(u64),
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// What a file of numpy's format holds, as many elements as it has.
    File(PathBuf),
}

impl Filling {
    /// Reads `iota`, `random:SEED`, `zeros`, `ones` or the name of a file that ends in `.npy`.
    ///
    /// # Errors
    ///
    /// If it is none of them.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "iota" => Self::Iota,
            "zeros" => Self::Zeros,
            "ones" => Self::Ones,
            _ => match text.split_once(':') {
                Some(("random", seed)) => {
                    Self::Random(seed.parse().with_context(|| format!("random:{seed}: no number"))?)
                }
                _ if Path::new(text).extension().is_some_and(|extension| extension == "npy") => {
                    Self::File(text.into())
                }
                _ => bail!("{text}: give a FILE.npy, iota, random:SEED, zeros or ones"),
            },
        })
    }

    /// What it is called in a report, for elements of this type.
    #[must_use]
    pub fn describe(&self, element: Element) -> String {
        match (self, element.family()) {
            (Self::Iota, Family::Float) => "iota (1, 2, 3, ...)".into(),
            (Self::Iota, Family::Bool) => "iota (false, true, ...)".into(),
            (Self::Iota | Self::Zeros, Family::Bytes) => "zeros".into(),
            (Self::Iota, _) => "iota (0, 1, 2, ...)".into(),
            (Self::Random(seed), _) => format!("random:{seed}"),
            (Self::Zeros, _) => "zeros".into(),
            (Self::Ones, _) => "ones".into(),
            (Self::File(path), _) => path.display().to_string(),
        }
    }

    /// The bytes of a buffer of `n` elements, or of as many as the file has.
    ///
    /// # Errors
    ///
    /// If there is no memory for it, or if the file cannot be read or holds another type.
    pub fn bytes(&self, element: Element, n: usize) -> Result<Vec<u8>> {
        if let Self::File(path) = self {
            return npy::read(path, element);
        }
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(n.saturating_mul(element.size()))
            .with_context(|| format!("no memory for {n} elements; give a smaller --n"))?;
        let mut random = match self {
            Self::Random(seed) => fastrand::Rng::with_seed(*seed),
            _ => fastrand::Rng::with_seed(0),
        };
        for i in 0..n {
            match self {
                Self::Iota => bytes.extend(element.counted(i)),
                Self::Random(_) => bytes.extend(element.random(&mut random, n)),
                Self::Ones => bytes.extend(element.one()),
                _ => bytes.extend(std::iter::repeat_n(0, element.size())),
            }
        }
        Ok(bytes)
    }
}

/// The last of these `NAME=VALUE` that speaks of this parameter, by its name or its index.
#[must_use]
pub fn given<'a>(all: &'a [String], name: &str, index: Option<usize>) -> Option<&'a str> {
    let index = index.map(|index| index.to_string());
    let of = |known: &str| known == name || index.as_deref() == Some(known);
    all.iter()
        .rev()
        .filter_map(|one| one.split_once('='))
        .find(|(known, _)| of(known))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_within_their_range() {
        assert_eq!(Element::I16.parse("-2").expect("a number"), [0xfe, 0xff]);
        assert_eq!(Element::U16.parse("0xffff").expect("a number"), [0xff, 0xff]);
        assert_eq!(Element::F32.parse("1.5").expect("a number"), 1.5_f32.to_le_bytes());
        assert_eq!(Element::U128.parse("0x1").expect("a number").len(), 16);
        assert_eq!(Element::Bytes(2).parse("0x0102").expect("bytes"), [1, 2]);
        for (element, text) in [
            (Element::U8, "256"),
            (Element::U8, "0x100"),
            (Element::I8, "128"),
            (Element::I8, "-129"),
            (Element::U32, "-1"),
            (Element::Bool, "2"),
            (Element::Bytes(2), "0x01"),
            (Element::Bytes(1), "7"),
        ] {
            assert!(element.parse(text).is_err(), "{element} {text}");
        }
    }

    #[test]
    fn buffers_are_filled() {
        let bytes =
            |filling: &str, element| Filling::parse(filling).expect("one").bytes(element, 3).expect("bytes");
        assert_eq!(bytes("iota", Element::U8), [0, 1, 2]);
        assert_eq!(bytes("iota", Element::Bool), [0, 1, 0]);
        assert_eq!(bytes("ones", Element::I16), [1, 0, 1, 0, 1, 0]);
        assert_eq!(bytes("iota", Element::F32)[..4], 1.0_f32.to_le_bytes());
        assert_eq!(bytes("random:7", Element::F64), bytes("random:7", Element::F64));
        assert_ne!(bytes("random:7", Element::F64), bytes("random:8", Element::F64));
        assert!(Filling::parse("sevens").is_err());
    }
}
