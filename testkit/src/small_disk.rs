//! A small disk, which can be full or read-only.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A journal and its log fit on it.
const SIZE: usize = 1024 * 1024;

/// Fits on the empty disk, but not on a filled one: larger than the space that a write-ahead log may leave free.
pub fn large_text() -> String {
    "x\n".repeat(SIZE / 24)
}

/// The part of a world that is on such a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskScope {
    Workspace,
    /// The journal and the log.
    State,
}

/// Mounted until it is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// The error says why mounting failed.
    pub(crate) fn at(path: &Path) -> Result<SmallDisk, String> {
        fs::create_dir_all(path).unwrap();
        let options = format!("size={SIZE},mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(path).output();
        match mounted {
            Ok(output) if output.status.success() => Ok(SmallDisk(path.to_owned())),
            Ok(output) => {
                // Without the name of the program and the path, which differ each time.
                let said = String::from_utf8_lossy(&output.stderr);
                let why = said.lines().next().and_then(|line| line.rsplit(": ").next());
                Err(format!("cannot mount: {}", why.unwrap_or_default()))
            }
            Err(error) => Err(format!("cannot mount: {error}")),
        }
    }

    /// Uses up all free space, until the result is dropped.
    pub fn fill(&self) -> Filling {
        let path = self.0.join("filling");
        let zeros = vec![0; 4096];
        let file = fs::File::create(&path).unwrap();
        let mut at = 0;
        while let Ok(length) = file.write_at(&zeros, at) {
            at += length as u64;
        }
        Filling(path)
    }

    /// Whether anything on it can be changed from now on.
    pub fn writable(&self, is: bool) {
        let how = if is { "remount,rw" } else { "remount,ro" };
        let remounted = Command::new("mount").args(["-o", how]).arg(&self.0).status().unwrap();
        assert!(remounted.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Takes all the space until it is dropped.
#[derive(Debug)]
pub struct Filling(PathBuf);

impl Drop for Filling {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
