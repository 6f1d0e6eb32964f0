//! Names of files for a message: a search for each keystroke, of which only the newest of a connection counts.

use std::path::PathBuf;

use linkspan_dialect::WorkspaceRequest;
use linkspan_editor_api as api;
use linkspan_editor_api::{ChatAttachment, ChatFilesResult, Message, RequestId, RpcError, errors};
use linkspan_review::WindowId;
use linkspan_workspace::{Cancel, Workspace, WorkspaceError};

use super::launch;
use crate::core::Core;
use crate::core::contract::{Action, AgentJob, ConnectionId, JobOutput, Ticket};

/// As many as anyone looks at.
const MOST_FILES: u32 = 200;
pub(super) const LONGEST_WORDS: usize = 200;

/// Each has a thread.
const MOST_SEARCHES: usize = 16;

#[derive(Debug)]
pub(super) struct FileSearch {
    pub(super) connection: ConnectionId,
    request: RequestId,
    /// As the user named it.
    folder: PathBuf,
    window: WindowId,
    pub(super) cancel: Cancel,
}

pub(super) fn search(
    core: &mut Core,
    connection: ConnectionId,
    request: &RequestId,
    asked: api::ChatFiles,
) -> Result<(), RpcError> {
    let folder = PathBuf::from(&asked.folder);
    let id = launch::window_for(core, &folder, linkspan_dialect::ACP)
        .map_err(|why| RpcError::new(errors::UNKNOWN_WINDOW, why))?;
    let Some(window) = core.windows.get(&id) else { return Ok(()) };
    if asked.words.len() > LONGEST_WORDS {
        return Err(RpcError::new(errors::INVALID_PARAMS, "`words` is longer than any name"));
    }
    let workspace = Workspace {
        folders: vec![window.real_path(&folder)],
        deny: window.policy.globs(),
        kept: core.out.info.private_dirs.clone(),
    };
    let older = core.chats.searches.iter().find(|(_, search)| search.connection == connection);
    if let Some(older) = older.map(|(ticket, _)| *ticket) {
        end(core, older, Vec::new());
    }
    if core.chats.searches.len() >= MOST_SEARCHES {
        return Err(RpcError::new(errors::DENIED, "too many searches are running; try again in a moment"));
    }
    let (ticket, cancel) = (core.out.ticket(), Cancel::new());
    let list = WorkspaceRequest::ListFiles {
        pattern: Some(pattern(&asked.words)),
        exclude: None,
        ignored: false,
        limit: Some(MOST_FILES),
    };
    let search =
        FileSearch { connection, request: request.clone(), folder, window: id, cancel: cancel.clone() };
    core.chats.searches.insert(ticket, search);
    core.out.push(Action::RunJob { ticket, job: AgentJob::Workspace { workspace, request: list }, cancel });
    Ok(())
}

/// Returns false if the job was none of these.
pub(in crate::core) fn found(
    core: &mut Core,
    ticket: Ticket,
    result: &Result<JobOutput, WorkspaceError>,
) -> bool {
    if !core.chats.searches.contains_key(&ticket) {
        return false;
    }
    let listed: Option<Vec<String>> = match result {
        Ok(JobOutput::Data { json, .. }) => serde_json::from_str(json).ok(),
        _ => None,
    };
    end(core, ticket, listed.unwrap_or_default());
    true
}

fn end(core: &mut Core, ticket: Ticket, names: Vec<String>) {
    let Some(search) = core.chats.searches.remove(&ticket) else { return };
    search.cancel.cancel();
    let paths = names.into_iter().map(|name| search.folder.join(name).display().to_string()).collect();
    let selection = core.windows.last_selection(search.window).filter(|it| !it.is_empty).map(|it| {
        // A selection that ends at the start of a line does not have that line.
        let (start, end) = (it.range.start.line, it.range.end);
        let last = if end.character == 0 && end.line > start { end.line } else { end.line + 1 };
        ChatAttachment { path: it.path, first_line: Some(start + 1), last_line: Some(last) }
    });
    let result = ChatFilesResult { paths, selection };
    core.out.send(search.connection, &Message::response(search.request, &result));
}

/// A glob for names with these words, in either case.
fn pattern(words: &str) -> String {
    let mut glob = String::from("**/*");
    for letter in words.chars() {
        match letter {
            '/' => glob.push_str("*/*"),
            _ if letter.is_alphabetic() => {
                let (lower, upper): (String, String) =
                    (letter.to_lowercase().collect(), letter.to_uppercase().collect());
                glob.push_str(&format!("{{{lower},{upper}}}"));
            }
            '-' | '_' | '.' | ' ' => glob.push(letter),
            _ if letter.is_numeric() => glob.push(letter),
            _ => glob.push('?'),
        }
    }
    if !words.is_empty() {
        glob.push('*');
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn words_are_part_of_a_name_in_either_case_and_never_a_glob_of_their_own() {
        assert_eq!(pattern(""), "**/*");
        assert_eq!(pattern("a.1"), "**/*{a,A}.1*");
        assert_eq!(pattern("s/m"), "**/*{s,S}*/*{m,M}*");
        assert_eq!(pattern("[*{"), "**/*???*");
    }
}
