//! One number for the text of many files, to tell that something was made of these and not of others.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// FNV-1a of 64 bits: it need not withstand anybody.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// The fingerprint of every file below a folder, names included, as 16 hexadecimal digits. It is the same whether
/// lines end as on Unix or as on Windows.
///
/// # Errors
///
/// If a file or folder cannot be read.
pub fn folder(folder: &Path) -> Result<String> {
    let mut state = START;
    add(folder, "", &mut state)?;
    Ok(format!("{state:016x}"))
}

fn add(folder: &Path, name: &str, state: &mut u64) -> Result<()> {
    let what = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(what)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().with_context(what)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let inside = format!("{name}/{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            add(&path, &inside, state)?;
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = bytes.into_iter().filter(|&byte| byte != b'\r');
        for byte in inside.bytes().chain([0]).chain(text).chain([0]) {
            *state = (*state ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_letter_changes_it_and_a_line_ending_does_not() {
        let of = |name: &str, text: &str| {
            let made = tempfile::tempdir().expect("a folder");
            fs::create_dir(made.path().join("a")).expect("a folder");
            fs::write(made.path().join("a").join(name), text).expect("a file");
            folder(made.path()).expect("it can be read")
        };
        assert_eq!(of("b", "x\n"), of("b", "x\r\n"));
        assert_ne!(of("b", "x\n"), of("b", "y\n"));
        assert_ne!(of("b", "x\n"), of("c", "x\n"));
    }
}
