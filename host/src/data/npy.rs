//! Reading numpy's file format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::{Element, Family};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The bytes of the array in a file, whatever its shape; its elements have to be of this type.
pub(super) fn read(path: &Path, element: Element) -> Result<Vec<u8>> {
    let file = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    array(&file, element).with_context(|| path.display().to_string())
}

fn array(file: &[u8], element: Element) -> Result<Vec<u8>> {
    let rest = file.strip_prefix(MAGIC).context("not a file of numpy's format")?;
    // Version 1 gives the length of its header in 2 bytes, 2 and 3 in 4.
    let short = || "the file ends within its header";
    let (version, rest) = rest.split_at_checked(2).with_context(short)?;
    let wide = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => bail!("version {other} of numpy's format is not known here; 1 to 3 are"),
    };
    let (length, rest) = rest.split_at_checked(wide).with_context(short)?;
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let (header, data) = rest.split_at_checked(length).with_context(short)?;
    let header = String::from_utf8_lossy(header);
    let descr = value(&header, "descr")?;
    let descr = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next());
    let descr = descr.context("an array of records; give one of plain numbers")?;
    check(descr, element)?;
    ensure!(!value(&header, "fortran_order")?.starts_with("True"), "in Fortran's order; save it in C's");
    let shape = value(&header, "shape")?;
    let shape = shape.strip_prefix('(').and_then(|rest| rest.split(')').next()).context("it has no shape")?;
    let sides = shape.split(',').map(str::trim).filter(|side| !side.is_empty());
    let count = sides
        .map(|side| side.parse::<usize>().ok())
        .try_fold(1_usize, |count, side| count.checked_mul(side?));
    let bytes = count.and_then(|count| count.checked_mul(element.size())).context("it has no shape")?;
    ensure!(data.len() >= bytes, "it has {} bytes of data and should have {bytes}", data.len());
    Ok(data[..bytes].to_vec())
}

/// What stands behind a key of the header, a dictionary as Python writes it.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str> {
    let quoted = format!("'{key}':");
    let at = header.find(&quoted).with_context(|| format!("its header names no {key}"))?;
    Ok(header[at + quoted.len()..].trim_start())
}

/// `<f4` and its like: the order of bytes, the kind, and the size.
fn check(descr: &str, element: Element) -> Result<()> {
    let other = || format!("its elements are {descr}, and the kernel's are {element}");
    let (order, kind) = descr.split_at_checked(1).with_context(other)?;
    ensure!(order != ">", "its elements are {descr}, the high byte first; save them little-endian");
    let (kind, size) = kind.split_at_checked(1).with_context(other)?;
    let same = match element.family() {
        Family::Float => kind == "f",
        Family::Signed => kind == "i",
        Family::Unsigned => kind == "u",
        Family::Bool => kind == "b",
        Family::Bytes => true,
    };
    ensure!(same && size.parse() == Ok(element.size()), other());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        match version {
            1 => file.extend((header.len() as u16).to_le_bytes()),
            _ => file.extend((header.len() as u32).to_le_bytes()),
        }
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    #[test]
    fn arrays_are_read_in_both_versions() {
        let header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 1), }      \n";
        for version in [1, 2] {
            let file = file(version, header, &[1, 0, 2, 0]);
            assert_eq!(array(&file, Element::U16).expect("an array"), [1, 0, 2, 0]);
            assert!(array(&file, Element::I16).is_err() && array(&file, Element::U8).is_err());
            assert!((0..file.len()).all(|end| array(&file[..end], Element::U16).is_err()));
        }
    }

    #[test]
    fn what_is_ordered_otherwise_is_refused() {
        for (header, data) in [
            ("{'descr': '>u2', 'fortran_order': False, 'shape': (1,), }", [1, 0]),
            ("{'descr': '<u2', 'fortran_order': True, 'shape': (1,), }", [1, 0]),
            ("{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (1,), }", [1, 0]),
            ("{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,), }", [1, 0]),
            ("{}", [1, 0]),
        ] {
            assert!(array(&file(1, header, &data), Element::U16).is_err(), "{header}");
        }
    }
}
