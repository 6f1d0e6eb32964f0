//! A repository of its own for each test, worked on with the real `git`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use linkspan_editor_api::DenyGlobs;
use linkspan_workspace::git::{GitStatus, status};
use linkspan_workspace::{Cancel, Workspace, WorkspaceError};

pub(crate) struct Scene {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) workspace: Workspace,
    pub(crate) cancel: Cancel,
}

impl Scene {
    /// An empty folder, without a repository.
    pub(crate) fn bare_folder() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace =
            Workspace { folders: vec![root.clone()], deny: DenyGlobs::default(), kept: Vec::new() };
        Scene { _folder: folder, root, workspace, cancel: Cancel::new() }
    }

    /// A repository without a commit, and with a configured committer.
    pub(crate) fn empty() -> Scene {
        let scene = Scene::bare_folder();
        scene.git(&["init", "--quiet", "--initial-branch=main"]);
        scene.git(&["config", "user.name", "Ann"]);
        scene.git(&["config", "user.email", "ann@example.com"]);
        scene.git(&["config", "commit.gpgSign", "false"]);
        scene
    }

    /// With one commit of one file.
    pub(crate) fn new() -> Scene {
        let scene = Scene::empty();
        scene.write("a.txt", "one\n");
        scene.commit_all("First");
        scene
    }

    pub(crate) fn denying(mut self, glob: &str) -> Scene {
        self.workspace.deny = DenyGlobs::new(&[glob.to_owned()]).unwrap();
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    pub(crate) fn hook(&self, name: &str, script: &str) {
        program(&self.root.join(".git/hooks").join(name), script);
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let (output, is_well) = self.try_git(args);
        assert!(is_well, "git {args:?}: {output}");
        output
    }

    pub(crate) fn try_git(&self, args: &[&str]) -> (String, bool) {
        let ran = Command::new("git").current_dir(&self.root).args(args).output().unwrap();
        let output = [ran.stdout, ran.stderr].concat();
        (String::from_utf8_lossy(&output).trim().to_owned(), ran.status.success())
    }

    pub(crate) fn status(&self) -> Result<GitStatus, WorkspaceError> {
        status(&self.workspace, &self.root, &self.cancel)
    }
}

pub(crate) fn program(path: &Path, script: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
