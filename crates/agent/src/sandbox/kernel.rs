//! Landlock: which paths get which rights. Rights only add up below a folder, so what is hidden is left out by naming all
//! that is around it.

#[cfg(target_os = "linux")]
pub(super) use linux::{protection, restrict};

use std::io;
use std::path::{Path, PathBuf};

/// What a command may write and not read. Real paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Restrictions {
    pub(super) writable: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
}

/// Each is one rule of the kernel, and a folder with more entries holds no hidden one in practice.
const MOST_RULES: usize = 20_000;

/// The largest folders and files below `root` that neither are nor contain what is hidden. Links are left out: rights
/// depend on where they lead.
fn visible(root: &Path, hidden: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let (mut whole, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_symlink() || hidden.iter().any(|hidden| path.starts_with(hidden)) {
                continue;
            }
            if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                open.push(path);
            } else {
                whole.push(path);
            }
            if whole.len() > MOST_RULES {
                return Err(io::Error::other(format!("{} has too many entries", folder.display())));
            }
        }
    }
    Ok(whole)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };

    use super::{Restrictions, visible};
    use crate::sandbox::Protection;

    /// What is asked for as far as the kernel knows it.
    const NEWEST: ABI = ABI::V9;
    const DEVICES: [&str; 8] = [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
        "/dev/random",
        "/dev/urandom",
    ];

    pub(in crate::sandbox) fn protection() -> Protection {
        let can = |ruleset: Result<Ruleset, RulesetError>| ruleset.and_then(Ruleset::create).is_ok();
        let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        if !can(strict().handle_access(AccessFs::from_write(ABI::V1))) {
            return Protection::Nothing;
        }
        match can(strict().handle_access(AccessNet::from_all(ABI::V4))) {
            true => Protection::FilesAndTcp,
            false => Protection::Files,
        }
    }

    pub(in crate::sandbox) fn restrict(restrictions: &Restrictions) -> Result<(), String> {
        let Restrictions { writable, hidden } = restrictions;
        let everything = AccessFs::from_all(NEWEST);
        let reading = AccessFs::ReadFile | AccessFs::Execute | AccessFs::ReadDir;
        // Devices are written, not made or removed.
        let device = AccessFs::WriteFile | AccessFs::ReadFile | AccessFs::IoctlDev;
        let readable = visible(Path::new("/"), hidden).map_err(|error| format!("cannot list /: {error}"))?;
        let restricted = || {
            Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(everything)?
                .handle_access(AccessNet::from_all(NEWEST))?
                .scope(Scope::from_all(NEWEST))?
                .create()?
                // Names, but no contents.
                .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
                .add_rules(path_beneath_rules(readable, reading))?
                .add_rules(path_beneath_rules(writable, everything))?
                .add_rules(path_beneath_rules(DEVICES, device))?
                .restrict_self()
        };
        match restricted() {
            Ok(status) if status.ruleset != RulesetStatus::NotEnforced => Ok(()),
            Ok(_) => Err("this kernel has no Landlock".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn protection() -> super::Protection {
    super::Protection::Nothing
}

#[cfg(not(target_os = "linux"))]
pub(super) fn restrict(_: &Restrictions) -> Result<(), String> {
    Err("this system has no Landlock".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_around_a_hidden_folder_is_named() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for folder in ["a/b/hidden/deep", "a/b/other", "a/hiddenot", "c"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        std::fs::write(path("a/file"), "").unwrap();
        std::os::unix::fs::symlink("b/hidden", path("a/link")).unwrap();
        let mut found = visible(root.path(), &[path("a/b/hidden")]).unwrap();
        found.sort();
        assert_eq!(found, ["a/b/other", "a/file", "a/hiddenot", "c"].map(path));
        let mut found = visible(root.path(), &[]).unwrap();
        found.sort();
        assert_eq!(found, ["a", "c"].map(path));
    }
}
