//! The folders that the agent works in, and how its paths are resolved: those of the command line, else the roots of the
//! client, else the working directory.

#![expect(deprecated, reason = "roots are deprecated in MCP, but a client that has them knows best")]

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

/// A client that does not answer in this time counts as one without roots.
const ROOTS_DEADLINE: Duration = Duration::from_secs(3);
/// The key of the request for roots in a result that requires input.
const ROOTS_QUESTION: &str = "roots";

#[derive(Debug)]
pub(super) struct Folders {
    given: Vec<PathBuf>,
    cwd: PathBuf,
    /// `None` until the client has answered.
    roots: Mutex<Option<Vec<PathBuf>>>,
}

/// The folders of a call, or what the client has to send first.
pub(super) enum CallFolders {
    Known(Vec<PathBuf>),
    /// Clients since 2026-07-28 get no request; they call again with the input that the result requires.
    InputRequired(InputRequiredResult),
}

impl Folders {
    pub(super) fn new(given: Vec<PathBuf>, cwd: PathBuf) -> Folders {
        Folders { given, cwd, roots: Mutex::new(None) }
    }

    /// The roots of the client have changed.
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

    /// The folders that are known now, without a request.
    pub(super) fn known_now(&self) -> Vec<PathBuf> {
        self.known().unwrap_or_else(|| vec![self.cwd.clone()])
    }

    /// The folders for one call; requests the roots if necessary.
    pub(super) async fn of_call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallFolders {
        if let Some(known) = self.known() {
            return CallFolders::Known(known);
        }
        let has_roots = context.client_capabilities().is_some_and(|client| client.roots.is_some());
        if !has_roots {
            return CallFolders::Known(self.learn(Vec::new()));
        }
        let by_input =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if by_input {
            return self.folders_in_input(request);
        }
        let roots = context.peer.list_roots();
        match tokio::time::timeout(ROOTS_DEADLINE, roots).await {
            Ok(Ok(roots)) => CallFolders::Known(self.learn(paths(&roots))),
            // Not stored: it may answer the next time.
            Ok(Err(_)) | Err(_) => CallFolders::Known(self.known_now()),
        }
    }

    fn folders_in_input(&self, request: &CallToolRequestParams) -> CallFolders {
        let Some(responses) = &request.input_responses else {
            let question = InputRequest::ListRoots(ListRootsRequest::default());
            let questions = InputRequests::from([(ROOTS_QUESTION.to_owned(), question)]);
            return CallFolders::InputRequired(InputRequiredResult::from_input_requests(questions));
        };
        let roots =
            responses.get(ROOTS_QUESTION).and_then(|roots| serde_json::from_value(roots.clone()).ok());
        CallFolders::Known(self.learn(roots.as_ref().map(paths).unwrap_or_default()))
    }
}

/// Skips roots that are not folders of this machine.
fn paths(result: &ListRootsResult) -> Vec<PathBuf> {
    result.roots.iter().filter_map(|root| file_uri::to_path(&root.uri)).filter(|path| path.is_dir()).collect()
}

/// The absolute path for a path that a model sends.
pub(super) fn absolute(named: &str, folders: &[PathBuf]) -> Result<PathBuf, String> {
    if named.trim().is_empty() {
        return Err("the path is empty; give the path of a file".into());
    }
    let path = file_uri::to_path(named).ok_or_else(|| format!("{named} is not a file of this machine"))?;
    if path.is_absolute() {
        return Ok(path);
    }
    let existing = folders.iter().map(|folder| folder.join(&path)).find(|path| path.exists());
    existing
        .or_else(|| Some(folders.first()?.join(&path)))
        .ok_or_else(|| format!("{named} is relative, and there is no project folder; give an absolute path"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_is_resolved_in_the_first_folder_that_has_it() {
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
    fn an_empty_path_is_refused() {
        assert!(absolute(" ", &["/tmp".into()]).unwrap_err().contains("empty"));
    }
}
