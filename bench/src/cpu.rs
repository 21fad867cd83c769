//! What machine this is.

use std::process::Command;
use std::{env, fs, thread};

/// The processor and the system, in one line.
pub(crate) fn describe() -> String {
    let cpus = thread::available_parallelism().map_or(1, Into::into);
    let model = model().unwrap_or_else(|| "an unknown processor".into());
    format!("{cpus} CPUs ({model}), {} {}", env::consts::ARCH, env::consts::OS)
}

/// As Linux, Windows and macOS call it.
fn model() -> Option<String> {
    if let Ok(cpuinfo) = fs::read_to_string("/proc/cpuinfo") {
        let line = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        return line.map(|(_, model)| model.trim().to_owned());
    }
    if let Ok(model) = env::var("PROCESSOR_IDENTIFIER") {
        return Some(model);
    }
    let sysctl = Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    Some(String::from_utf8(sysctl.stdout).ok()?.trim().to_owned())
}
