//! Which folders the agent works in, and what its paths mean: those of the command line, else the roots that the
//! client tells, else the working directory.

#![expect(deprecated, reason = "roots are on their way out of MCP, but a client that has them knows best")]

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use linkspan_editor_api::file_uri;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, InputRequest, InputRequests, InputRequiredResult, ListRootsRequest,
    ListRootsResult, ProtocolVersion,
};
use rmcp::service::RequestContext;

/// A client that does not say its roots in this time has none.
const ROOTS_DEADLINE: Duration = Duration::from_secs(3);
/// What we call the question for the roots where it is part of an answer.
const ROOTS_QUESTION: &str = "roots";

#[derive(Debug)]
pub(super) struct Folders {
    given: Vec<PathBuf>,
    cwd: PathBuf,
    /// `None` until the client was asked.
    roots: Mutex<Option<Vec<PathBuf>>>,
}

/// What is to be done about the roots before a call can go on.
pub(super) enum Next {
    Go(Vec<PathBuf>),
    /// Clients since 2026-07-28 are not asked; they call again with what an answer says is missing.
    AskBack(InputRequiredResult),
}

impl Folders {
    pub(super) fn new(given: Vec<PathBuf>, cwd: PathBuf) -> Folders {
        Folders { given, cwd, roots: Mutex::new(None) }
    }

    /// The client has other roots now.
    pub(super) fn forget_roots(&self) {
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn known(&self) -> Option<Vec<PathBuf>> {
        if !self.given.is_empty() {
            return Some(self.given.clone());
        }
        let roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(if roots.is_empty() { vec![self.cwd.clone()] } else { roots })
    }

    fn learn(&self, roots: Vec<PathBuf>) -> Vec<PathBuf> {
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = Some(roots);
        self.known().unwrap_or_default()
    }

    /// What is known by now, without asking anybody.
    pub(super) fn so_far(&self) -> Vec<PathBuf> {
        self.known().unwrap_or_else(|| vec![self.cwd.clone()])
    }

    /// For one call, asking the client if need be.
    pub(super) async fn of_call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Next {
        if let Some(known) = self.known() {
            return Next::Go(known);
        }
        let has_roots = context.client_capabilities().is_some_and(|client| client.roots.is_some());
        if !has_roots {
            return Next::Go(self.learn(Vec::new()));
        }
        let asks_back =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if asks_back {
            return self.told_with(request);
        }
        let asked = context.peer.list_roots();
        match tokio::time::timeout(ROOTS_DEADLINE, asked).await {
            Ok(Ok(told)) => Next::Go(self.learn(paths(&told))),
            // Not remembered: it may answer the next time.
            Ok(Err(_)) | Err(_) => Next::Go(self.so_far()),
        }
    }

    fn told_with(&self, request: &CallToolRequestParams) -> Next {
        let Some(told) = &request.input_responses else {
            let question = InputRequest::ListRoots(ListRootsRequest::default());
            let questions = InputRequests::from([(ROOTS_QUESTION.to_owned(), question)]);
            return Next::AskBack(InputRequiredResult::from_input_requests(questions));
        };
        let told = told.get(ROOTS_QUESTION).and_then(|told| serde_json::from_value(told.clone()).ok());
        Next::Go(self.learn(told.as_ref().map(paths).unwrap_or_default()))
    }
}

/// Roots that are not folders of this machine are of no use here.
fn paths(told: &ListRootsResult) -> Vec<PathBuf> {
    told.roots.iter().filter_map(|root| file_uri::to_path(&root.uri)).filter(|path| path.is_dir()).collect()
}

/// The absolute path of what a model names.
pub(super) fn absolute(named: &str, folders: &[PathBuf]) -> Result<PathBuf, String> {
    if named.trim().is_empty() {
        return Err("the path is empty: give the path of a file".into());
    }
    let path = file_uri::to_path(named).ok_or_else(|| format!("{named} names no file of this machine"))?;
    if path.is_absolute() {
        return Ok(path);
    }
    let there = folders.iter().map(|folder| folder.join(&path)).find(|path| path.exists());
    there.or_else(|| Some(folders.first()?.join(&path))).ok_or_else(|| {
        format!("{named} is relative, and there is no folder it could be relative to: give an absolute path")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_is_of_the_first_folder_that_has_it() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = [one.path().to_owned(), two.path().to_owned()];
        std::fs::write(two.path().join("a.txt"), "").unwrap();
        assert_eq!(absolute("a.txt", &folders), Ok(two.path().join("a.txt")));
        assert_eq!(absolute("new.txt", &folders), Ok(one.path().join("new.txt")));
        assert_eq!(absolute("/etc/hosts", &folders), Ok("/etc/hosts".into()));
    }

    #[test]
    fn a_file_uri_is_a_path_too() {
        assert_eq!(absolute("file:///a%20b.txt", &[]), Ok("/a b.txt".into()));
        assert!(absolute("file://elsewhere/a.txt", &[]).is_err());
    }

    #[test]
    fn an_empty_path_is_no_folder() {
        assert!(absolute(" ", &["/tmp".into()]).unwrap_err().contains("empty"));
    }
}
