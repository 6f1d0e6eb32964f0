//! A tree of files to search.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use linkspan_editor_api::DenyGlobs;
use linkspan_workspace::{
    Cancel, FileList, Found, ListFiles, SearchFiles, Workspace, list_files, search_files,
};

pub(crate) struct Tree {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) workspace: Workspace,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Tree {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace =
            Workspace { folders: vec![root.clone()], deny: DenyGlobs::default(), kept: Vec::new() };
        let tree = Tree { _folder: folder, root, workspace };
        for (path, text) in files {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    pub(crate) fn denying(mut self, globs: &[&str]) -> Tree {
        let globs: Vec<String> = globs.iter().map(|&glob| glob.to_owned()).collect();
        self.workspace.deny = DenyGlobs::new(&globs).unwrap();
        self
    }

    /// With these folders of the tree as the workspace's.
    pub(crate) fn open(mut self, folders: &[&str]) -> Tree {
        self.workspace.folders = folders.iter().map(|folder| self.root.join(folder)).collect();
        self
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn list(&self, asked: &ListFiles) -> FileList {
        list_files(&self.workspace, asked, &Cancel::new()).unwrap()
    }

    pub(crate) fn matching(&self, pattern: &str) -> Vec<String> {
        self.list(&ListFiles { pattern: Some(pattern.into()), ..ListFiles::default() }).paths
    }

    pub(crate) fn search(&self, asked: &SearchFiles) -> Found {
        search_files(&self.workspace, asked, &Cancel::new()).unwrap()
    }

    pub(crate) fn run(&self, program: &str, args: &[&str]) -> Vec<u8> {
        let ran = Command::new(program).current_dir(&self.root).args(args).output().unwrap();
        // `rg` exits with 1 if it finds nothing.
        assert!(ran.status.code() < Some(2), "{program} {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        ran.stdout
    }
}
