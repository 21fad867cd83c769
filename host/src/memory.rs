//! How much memory there is to use.
//!
//! Asking the system for memory tells too little: it may promise more than it has and end the program when it is
//! touched.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

/// Refuses so many elements of so many bytes each where there is no memory for them.
///
/// # Errors
///
/// One line that says what to do.
pub fn ask(elements: usize, bytes: usize) -> Result<()> {
    if (elements as u64).saturating_mul(bytes as u64) > available().unwrap_or(u64::MAX) {
        bail!("no memory for {elements} elements; give a smaller --n");
    }
    Ok(())
}

/// The bytes that can be had without swapping, where the system says so (Linux does): of the machine, and of every
/// control group that this program is in, such as that of a container.
#[must_use]
pub fn available() -> Option<u64> {
    let machine = available_in(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(left_in_groups(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |left| left.min(machine)))
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// What the strictest of the groups leaves, if any has a limit. `groups` has a line `ID:CONTROLLERS:PATH` for each;
/// a group's own limit holds, and that of each group above it.
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    groups
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
            match controllers {
                // The one hierarchy of version 2.
                "" => left_below(root, path, "memory.max", "memory.current", "inactive_file"),
                _ if controllers.split(',').any(|controller| controller == "memory") => left_below(
                    &root.join("memory"),
                    path,
                    "memory.limit_in_bytes",
                    "memory.usage_in_bytes",
                    "total_inactive_file",
                ),
                _ => None,
            }
        })
        .min()
}

/// What is left in a group and in those above it. What the system keeps of files and can drop counts as free.
fn left_below(root: &Path, path: &str, limit: &str, used: &str, dropped: &str) -> Option<u64> {
    let left = |group: &Path| {
        let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        let (limit, used) = (number(limit)?, number(used)?);
        let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let dropped: u64 = statistics
            .lines()
            .find_map(|line| line.strip_prefix(dropped)?.strip_prefix(' ')?.trim().parse().ok())
            .unwrap_or(0);
        Some(limit.saturating_sub(used.saturating_sub(dropped)))
    };
    // In a container its own group may be the root of what it sees, and the path is then not there.
    root.join(path).ancestors().take_while(|group| group.starts_with(root)).filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_linux_is_read() {
        assert_eq!(available_in("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2048 * 1024));
        assert_eq!(available_in("MemTotal: 9 kB\n"), None);
    }

    /// The files of made-up groups below a folder, which goes when this is done.
    fn groups(name: &str, files: &[(&str, &str)], test: impl FnOnce(&Path)) {
        let root = std::env::temp_dir().join(format!("host-memory-{}-{name}", std::process::id()));
        for (file, text) in files {
            let file = root.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("a file");
        }
        test(&root);
        let _ = fs::remove_dir_all(root);
    }

    #[test]
    fn the_strictest_group_counts_and_what_can_be_dropped_is_free() {
        let files = [
            ("a/memory.max", "1000\n"),
            ("a/memory.current", "600\n"),
            ("a/memory.stat", "anon 1\ninactive_file 100\n"),
            ("a/b/memory.max", "max\n"),
            ("a/b/memory.current", "5\n"),
            ("memory/c/memory.limit_in_bytes", "300"),
            ("memory/c/memory.usage_in_bytes", "400"),
        ];
        groups("nested", &files, |root| {
            assert_eq!(left_in_groups("0::/a/b\n", root), Some(500));
            assert_eq!(left_in_groups("0::/a/b\n4:cpu,memory:/c\n", root), Some(0));
            assert_eq!(left_in_groups("2:cpu:/a\n", root), None);
        });
    }

    #[test]
    fn a_container_sees_its_group_as_the_root() {
        let files = [("memory.max", "64"), ("memory.current", "14")];
        groups("container", &files, |root| {
            assert_eq!(left_in_groups("0::/docker/1234\n", root), Some(50));
        });
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(ask(1, 4).is_ok());
        let refused = ask(usize::MAX, 4).map_err(|error| error.to_string());
        let wanted = if available().is_some() { Err(()) } else { Ok(()) };
        assert_eq!(refused.map_err(drop), wanted);
    }
}
