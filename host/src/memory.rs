//! How much memory there is to use.

/// The bytes that can be had without swapping, where the system says so (Linux does).
///
/// Asking for memory tells too little: a system may promise more than it has and end the program when it
/// is touched.
#[must_use]
pub fn available() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_linux_is_read() {
        assert_eq!(available_in("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2048 * 1024));
        assert_eq!(available_in("MemTotal: 9 kB\n"), None);
    }
}
