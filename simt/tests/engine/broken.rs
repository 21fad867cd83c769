//! Broken PTX is refused, or runs, and nothing panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;
use race::schedule::Schedule;
use simt::{Kernel, Launch, Memory};

use crate::fuzz;
use crate::support::POLICIES;

/// A change of a program's text.
fn mutated(text: &str, random: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..lines.len());
        let other = random.usize(..lines.len());
        match random.u32(..9) {
            0 => drop(lines.remove(at)),
            1 => {
                let line = lines[other].clone();
                lines.insert(at, line);
            }
            2 => lines.swap(at, other),
            3 => {
                // One word for another of the text.
                let words: Vec<&str> =
                    lines[other].split([' ', '.', ',']).filter(|word| !word.is_empty()).collect();
                let from: Vec<&str> =
                    lines[at].split([' ', '.', ',']).filter(|word| !word.is_empty()).collect();
                if !words.is_empty() && !from.is_empty() {
                    let (from, to) = (from[random.usize(..from.len())], words[random.usize(..words.len())]);
                    lines[at] = lines[at].replacen(from, to, 1);
                }
            }
            4 => {
                let types =
                    ["u8", "u16", "s32", "u32", "u64", "b64", "f32", "f64", "pred", "v2.u32", "v4.u8"];
                let (from, to) = (types[random.usize(..types.len())], types[random.usize(..types.len())]);
                lines[at] = lines[at].replace(from, to);
            }
            5 => {
                let digit = |byte: char| byte.is_ascii_digit();
                let to = ["0", "4294967295", "-1", "7", "18446744073709551615", "1000000"][random.usize(..6)];
                if let Some(found) = lines[at].find(digit) {
                    lines[at].replace_range(found..=found, to);
                }
            }
            6 => {
                let bytes: Vec<char> = lines[at].chars().collect();
                if !bytes.is_empty() {
                    let cut = random.usize(..bytes.len());
                    lines[at] = bytes[..cut].iter().collect();
                }
            }
            7 => {
                let spaces = [".shared", ".global", ".local", ".param", ".const", ""];
                let (from, to) = (spaces[random.usize(..5)], spaces[random.usize(..6)]);
                lines[at] = lines[at].replacen(from, to, 1);
            }
            _ => lines.insert(
                at,
                ["ret;", "exit;", "{", "}", "bra L1;", "@%p0 bra L2;", "call k;", "trap;"][random.usize(..8)]
                    .into(),
            ),
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

/// True if it could be loaded.
fn survives(text: &str, seed: u64) -> bool {
    let Ok(module) = ptx::parse(text) else { return false };
    let Ok(kernel) = Kernel::load(&module, "k", "broken.ptx", |_| false) else { return false };
    let policy = POLICIES[seed as usize % POLICIES.len()];
    let mut memory = Memory::new();
    let arguments: Vec<Vec<u8>> = kernel
        .parameters()
        .iter()
        .map(|parameter| {
            let pointer = memory.alloc("g", &vec![0; 1 << 16], 4).0.to_le_bytes();
            pointer.iter().copied().cycle().take(parameter.size.min(1 << 16) as usize).collect()
        })
        .collect();
    let launch = Launch::new(2, 40).budget(20).schedule(Schedule::seeded(policy, seed)).workers(1);
    let _ = launch.run(&kernel, &mut memory, &arguments);
    true
}

#[test]
fn broken_ptx_does_not_panic() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut loaded = 0;
    let mut broken = None;
    for seed in 0..3000 {
        let text = mutated(&fuzz::program(seed % 100), &mut Rng::with_seed(seed));
        match catch_unwind(AssertUnwindSafe(|| survives(&text, seed))) {
            Ok(whole) => loaded += u32::from(whole),
            Err(payload) => {
                let said = payload.downcast_ref::<String>().cloned();
                let said = said.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).into()));
                broken = Some(format!("{seed}: {}\n{text}", said.unwrap_or_default()));
                break;
            }
        }
    }
    std::panic::set_hook(hook);
    assert_eq!(broken, None);
    assert!(loaded > 300, "{loaded} could be loaded");
}
