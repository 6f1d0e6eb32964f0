//! Which file a path of a call means, with all links resolved, and whether the agent may touch it. The files of Linkspan
//! itself are never touched, and the sandbox's folder is never left.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::ToolContext;
use crate::permissions::PermissionMode;

/// What is done with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAccess {
    Read,
    Write,
}

/// The files of Linkspan: its configuration, state and sockets, and those of the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnFiles {
    real: Vec<PathBuf>,
}

impl OwnFiles {
    pub(crate) fn new(folders: impl IntoIterator<Item = PathBuf>) -> OwnFiles {
        let real = folders.into_iter().filter(|folder| folder.is_absolute());
        OwnFiles { real: real.map(|folder| real_path(&folder).unwrap_or(folder)).collect() }
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.real
    }

    pub(crate) fn has(&self, real: &Path) -> bool {
        self.real.iter().any(|own| real.starts_with(own))
    }
}

/// The real path that a call means. An error is for the model.
pub(crate) fn resolve(
    given: &str,
    purpose: FileAccess,
    own: &OwnFiles,
    context: &ToolContext,
) -> Result<PathBuf, String> {
    if given.is_empty() || given.contains('\0') {
        return Err(
            "`path` is not a path; give a path relative to the working directory, or an absolute one".into(),
        );
    }
    let path = context.cwd.join(given);
    let real = real_path(&path).map_err(|error| format!("cannot resolve {given}: {error}"))?;
    if own.has(&real) {
        return Err(format!(
            "{given} belongs to Linkspan itself, and agents may not touch that; leave it to the user"
        ));
    }
    if purpose == FileAccess::Write && context.mode == PermissionMode::Sandboxed {
        let home = real_path(&context.cwd).unwrap_or_else(|_| context.cwd.clone());
        if !real.starts_with(&home) {
            return Err(format!(
                "{given} is outside {}, and in sandboxed mode nothing is written there; choose a path inside, or ask \
                 the user for another mode (/mode)",
                home.display()
            ));
        }
        // What is in it runs outside the sandbox: hooks, and programs that the configuration names.
        if real
            .strip_prefix(&home)
            .is_ok_and(|inside| inside.components().any(|part| part.as_os_str() == ".git"))
        {
            return Err(format!(
                "{given} is in `.git`, which is not written in sandboxed mode; use the git tools"
            ));
        }
    }
    Ok(real)
}

/// All links resolved, for a file that exists or not. `..` after a folder that does not exist is an error.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut here = path.to_owned();
    loop {
        match here.canonicalize() {
            Ok(mut real) => {
                real.extend(rest.iter().rev());
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // A link that leads nowhere: what would be written is where it leads.
        if let Ok(target) = here.read_link() {
            let folder = here.parent().unwrap_or(Path::new("/"));
            let mut target = folder.join(target);
            target.extend(rest.iter().rev());
            // Each turn resolves one link; the system allows about 40.
            return real_path_of_link(&target, 40);
        }
        let last = here.components().next_back();
        let (Some(Component::Normal(name)), Some(parent)) = (last, here.parent()) else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "a folder in the path does not exist"));
        };
        rest.push(name.to_owned());
        here = parent.to_owned();
    }
}

fn real_path_of_link(target: &Path, left: u8) -> io::Result<PathBuf> {
    if left == 0 {
        return Err(io::Error::other("too many links"));
    }
    match target.read_link() {
        Ok(next) => real_path_of_link(&target.parent().unwrap_or(Path::new("/")).join(next), left - 1),
        Err(_) => {
            let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
                return target.canonicalize();
            };
            // One link less than before, so this ends.
            Ok(real_path(parent)?.join(name))
        }
    }
}

/// How a path is shown to the model: relative to the working directory if it is inside.
pub(crate) fn shown(real: &Path, cwd: &Path) -> String {
    let home = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let inside = real.strip_prefix(&home).ok().filter(|inside| !inside.as_os_str().is_empty());
    inside.unwrap_or(real).display().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::tools::testing::ToolScene;

    #[test]
    fn a_path_that_leaves_the_folder_is_not_written_in_the_sandbox() {
        let scene = ToolScene::new(PermissionMode::Sandboxed);
        let outside = tempfile::tempdir().unwrap();
        symlink(outside.path(), scene.path("link")).unwrap();
        symlink(outside.path().join("new"), scene.path("dangling")).unwrap();
        symlink("dangling", scene.path("twice")).unwrap();
        fs::create_dir(scene.path("folder")).unwrap();
        let own = OwnFiles::default();
        let write = |path: &str| resolve(path, FileAccess::Write, &own, &scene.context);
        let absolute = outside.path().join("x").display().to_string();
        for path in
            ["../x", "link/x", "link/no/such/x", "dangling", "twice", "folder/../../x", "/etc/x", &absolute]
        {
            assert!(write(path).unwrap_err().contains("outside"), "{path}");
            assert!(resolve(path, FileAccess::Read, &own, &scene.context).is_ok(), "{path}");
        }
        for path in ["x", "folder/x", "no/such/x", "folder/../x", "./x", "folder/./x"] {
            assert!(write(path).is_ok(), "{path}: {:?}", write(path));
        }
        for path in [".git/hooks/x", "sub/.git/config", "folder/../.git/x"] {
            assert!(write(path).unwrap_err().contains(".git"), "{path}");
        }
        for path in ["", "a\0b", "no/../x"] {
            assert!(write(path).is_err(), "{path}");
        }
    }

    #[test]
    fn the_files_of_linkspan_are_not_touched_in_any_mode_by_any_path() {
        for mode in PermissionMode::ALL {
            let scene = ToolScene::new(mode);
            fs::create_dir(scene.path("own")).unwrap();
            symlink("own", scene.path("link")).unwrap();
            let own = OwnFiles::new([scene.path("own")]);
            for path in ["own/config.toml", "link/agent.toml", "own", "no/../own/x", "own/../own/x"] {
                for purpose in [FileAccess::Read, FileAccess::Write] {
                    assert!(resolve(path, purpose, &own, &scene.context).is_err(), "{path}");
                }
            }
            assert!(resolve("owner", FileAccess::Write, &own, &scene.context).is_ok());
        }
    }

    #[test]
    fn links_in_a_circle_end() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        symlink("b", scene.path("a")).unwrap();
        symlink("a", scene.path("b")).unwrap();
        assert!(resolve("a", FileAccess::Write, &OwnFiles::default(), &scene.context).is_err());
        assert!(resolve("a/x", FileAccess::Write, &OwnFiles::default(), &scene.context).is_err());
    }

    #[test]
    fn a_path_is_shown_as_the_model_would_write_it() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        let home = scene.context.cwd.canonicalize().unwrap();
        assert_eq!(shown(&home.join("a/b"), &scene.context.cwd), "a/b");
        assert_eq!(shown(Path::new("/etc/passwd"), &scene.context.cwd), "/etc/passwd");
    }
}
