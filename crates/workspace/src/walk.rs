//! Walks the files of a workspace on all cores: respects ignore files, never enters denied and excluded folders, never
//! follows links, visits each file once.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use linkspan_editor_api::DenyGlobs;

use crate::cancel::{Cancel, Deadline};
use crate::error::WorkspaceError;
use crate::folders::Workspace;
use crate::glob::Pattern;

const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Which files to visit.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(crate) pattern: Option<Pattern>,
    pub(crate) exclude: Option<Pattern>,
    pub(crate) ignored: bool,
}

/// When all threads stop, and whether the result is incomplete because of it.
#[derive(Debug)]
pub(crate) struct Stop<'a> {
    cancel: &'a Cancel,
    deadline: Deadline,
    full: AtomicBool,
    /// One file was not read to its end; the others were.
    incomplete: AtomicBool,
}

impl Stop<'_> {
    pub(crate) fn leave_something_out(&self) {
        self.incomplete.store(true, Ordering::Relaxed);
    }

    /// The limit is reached.
    pub(crate) fn leave_out_the_rest(&self) {
        self.full.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_due(&self) -> bool {
        if self.deadline.has_passed() {
            self.leave_out_the_rest();
        }
        self.full.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }
}

/// A file's path and display name.
#[derive(Debug)]
pub(crate) struct File<'a> {
    pub(crate) path: &'a Path,
    pub(crate) from_folder: &'a Path,
    pub(crate) prefix: &'a str,
}

impl File<'_> {
    pub(crate) fn name(&self) -> String {
        let path = self.from_folder.to_string_lossy();
        if self.prefix.is_empty() { path.into_owned() } else { format!("{}{path}", self.prefix) }
    }
}

/// The work of one thread; it collects its own results, which are merged when it ends.
pub(crate) trait Worker: Send {
    type Item: Send;
    fn visit(&mut self, file: &File<'_>, found: &mut Vec<Self::Item>, stop: &Stop<'_>);
}

/// The results of all workers, unordered, and whether they are incomplete.
pub(crate) fn walk<W: Worker>(
    workspace: &Workspace,
    selection: &Selection,
    cancel: &Cancel,
    worker: impl Fn() -> W + Sync,
) -> Result<(Vec<W::Item>, bool), WorkspaceError> {
    if workspace.folders.is_empty() {
        return Err(WorkspaceError::NoFolder);
    }
    let stop = Stop {
        cancel,
        deadline: Deadline::after(TIME_LIMIT),
        full: AtomicBool::new(false),
        incomplete: AtomicBool::new(false),
    };
    let found = Mutex::new(Vec::new());
    for (index, folder) in workspace.folders.iter().enumerate() {
        let is_again = workspace.folders.iter().take(index).any(|earlier| earlier == folder);
        if is_again || workspace.denies(folder) {
            continue;
        }
        std::fs::read_dir(folder)
            .map_err(|error| WorkspaceError::system(format!("list {}", folder.display()), error))?;
        let root = WalkRoot::new(workspace, selection, folder, &stop);
        let mut threads = Threads { root: &root, worker: &worker, found: &found };
        walker(folder, selection).visit(&mut threads);
    }
    if cancel.is_cancelled() {
        return Err(WorkspaceError::Cancelled);
    }
    let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok((found, stop.full.load(Ordering::Relaxed) || stop.incomplete.load(Ordering::Relaxed)))
}

fn walker(folder: &Path, selection: &Selection) -> ignore::WalkParallel {
    let respect = !selection.ignored;
    let mut walker = WalkBuilder::new(folder);
    walker.standard_filters(respect).hidden(false).follow_links(false).current_dir(folder);
    if respect {
        walker.add_custom_ignore_filename(".rgignore");
    }
    walker.build_parallel()
}

/// One folder of the workspace, and what to skip in it.
struct WalkRoot<'a> {
    folder: &'a Path,
    prefix: String,
    selection: &'a Selection,
    deny: &'a DenyGlobs,
    kept: &'a [PathBuf],
    /// Workspace folders that contain this one; deny globs are relative to each of them.
    around: Vec<&'a Path>,
    /// Workspace folders inside this one, which are walked on their own.
    within: Vec<&'a PathBuf>,
    stop: &'a Stop<'a>,
}

impl<'a> WalkRoot<'a> {
    fn new(
        workspace: &'a Workspace,
        selection: &'a Selection,
        folder: &'a Path,
        stop: &'a Stop<'a>,
    ) -> WalkRoot<'a> {
        let others = || workspace.folders.iter().filter(|other| *other != folder);
        WalkRoot {
            folder,
            prefix: workspace.prefix(folder),
            selection,
            deny: &workspace.deny,
            kept: &workspace.kept,
            around: others().map(PathBuf::as_path).filter(|other| folder.starts_with(other)).collect(),
            within: others().filter(|other| other.starts_with(folder)).collect(),
            stop,
        }
    }

    /// Parent folders were checked on the way here, so only the path itself is matched.
    fn is_left_out(&self, path: &Path, from_folder: &Path) -> bool {
        let from_around = self.around.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        let from_root = path.strip_prefix("/").unwrap_or(path);
        [from_folder, from_root].into_iter().chain(from_around).any(|path| self.deny.is_match(path))
            || self.kept.iter().any(|kept| kept == path)
            || self.selection.exclude.as_ref().is_some_and(|exclude| exclude.is_match(from_folder))
    }
}

struct Threads<'a, W: Worker, F> {
    root: &'a WalkRoot<'a>,
    worker: &'a F,
    found: &'a Mutex<Vec<W::Item>>,
}

impl<'s, W: Worker + 's, F: Fn() -> W> ParallelVisitorBuilder<'s> for Threads<'s, W, F> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(Thread { root: self.root, worker: (self.worker)(), own: Vec::new(), found: self.found })
    }
}

struct Thread<'a, W: Worker> {
    root: &'a WalkRoot<'a>,
    worker: W,
    own: Vec<W::Item>,
    found: &'a Mutex<Vec<W::Item>>,
}

impl<W: Worker> ParallelVisitor for Thread<'_, W> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.root.stop.is_due() {
            return WalkState::Quit;
        }
        // Unreadable entries are skipped, as ripgrep does after a warning.
        let Ok(entry) = entry else { return WalkState::Continue };
        let (path, kind) = (entry.path(), entry.file_type());
        let Ok(from_folder) = path.strip_prefix(self.root.folder) else { return WalkState::Skip };
        if entry.depth() == 0 {
            return WalkState::Continue;
        }
        let selection = self.root.selection;
        let is_folder = kind.is_some_and(|kind| kind.is_dir());
        let is_meant = match &selection.pattern {
            Some(pattern) if is_folder => pattern.may_match_in(from_folder),
            Some(pattern) => pattern.is_match(from_folder),
            None => true,
        };
        // The pattern is checked first: for most files nothing else is needed.
        if !is_meant || entry.file_name() == ".git" || self.root.is_left_out(path, from_folder) {
            return WalkState::Skip;
        }
        if is_folder && self.root.within.iter().any(|folder| *folder == path) {
            return WalkState::Skip;
        }
        if kind.is_some_and(|kind| kind.is_file()) {
            let file = File { path, from_folder, prefix: &self.root.prefix };
            self.worker.visit(&file, &mut self.own, self.root.stop);
        }
        WalkState::Continue
    }
}

impl<W: Worker> Drop for Thread<'_, W> {
    fn drop(&mut self) {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.append(&mut self.own);
    }
}
