//! Oclgrind: an OpenCL device made of software, with a check for data races.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs, process};

use anyhow::{Context, Result, ensure};

use super::{Case, ran};

const KERNELS: &str = include_str!("../../peers/reverse_tile.cl");

/// The program, and a folder of this process alone for what it reads.
pub(super) struct Oclgrind {
    /// With its version.
    pub(super) name: String,
    folder: PathBuf,
}

impl Oclgrind {
    pub(super) fn find() -> Result<Self> {
        let version = Command::new("oclgrind-kernel").arg("--version").output().context(
            "no oclgrind-kernel on PATH; `apt-get install oclgrind` on Debian and Ubuntu, elsewhere \
             https://github.com/jrprice/Oclgrind",
        )?;
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
        let name =
            version.lines().find(|line| !line.trim().is_empty()).unwrap_or("Oclgrind").trim().to_owned();
        let folder = env::temp_dir().join(format!("reverse-tile-{}", process::id()));
        let written =
            fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("reverse_tile.cl"), KERNELS));
        written.with_context(|| format!("cannot write into {}", folder.display()))?;
        Ok(Self { name: format!("{name} --data-races"), folder })
    }

    /// Whether it finds races.
    pub(super) fn races(&self, case: Case) -> Result<bool> {
        fs::write(self.folder.join("launch.sim"), simulation(case)).context("cannot write the launch")?;
        let mut oclgrind = Command::new("oclgrind-kernel");
        let output = ran(oclgrind.args(["--data-races", "launch.sim"]).current_dir(&self.folder))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let races = said.contains("data race at local memory address");
        ensure!(races || said.trim().is_empty(), "Oclgrind says something else: {}", said.trim());
        Ok(races)
    }
}

impl Drop for Oclgrind {
    fn drop(&mut self) {
        // What cannot be removed only takes space.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The launch as `oclgrind-kernel` reads it: the file, the kernel, the global and the local size, and then
/// the arguments. A work-group is a block; it has to be whole, so the global size is rounded up.
fn simulation(Case { kernel, block, n }: Case) -> String {
    let (kernel, bytes, global) = (kernel.name(), n * size_of::<f32>(), n.next_multiple_of(block as usize));
    format!(
        "reverse_tile.cl\n{kernel}\n{global} 1 1\n{block} 1 1\n\n\
         <size={bytes} float range=1:1:{n}>\n<size={bytes} fill=0>\n<size=4 uint>\n{n}\n"
    )
}

#[cfg(test)]
mod tests {
    use host::device::Kernel;

    use super::*;

    #[test]
    fn the_last_work_group_is_whole_and_the_buffers_are_not_longer() {
        let text = simulation(Case { kernel: Kernel::ReverseTileRacy, block: 64, n: 100 });
        let expected = "reverse_tile.cl\nreverse_tile_racy\n128 1 1\n64 1 1\n\n\
                        <size=400 float range=1:1:100>\n<size=400 fill=0>\n<size=4 uint>\n100\n";
        assert_eq!(text, expected);
    }
}
