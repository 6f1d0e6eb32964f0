//! A small disk of its own, which can be full or read-only.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mounted as long as it is held.
#[derive(Debug)]
pub struct Disk(PathBuf);

impl Disk {
    /// None where one may not mount: the reason is printed.
    pub fn at(path: &Path, size: &str) -> Option<Disk> {
        fs::create_dir_all(path).unwrap();
        let options = format!("size={size},mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(path).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Disk(path.to_owned())),
            Ok(output) => {
                eprintln!("skipped: cannot mount: {}", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                eprintln!("skipped: cannot mount: {error}");
                None
            }
        }
    }

    /// Takes all the space there is; gives it back when dropped.
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

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// What takes the space.
#[derive(Debug)]
pub struct Filling(PathBuf);

impl Drop for Filling {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
