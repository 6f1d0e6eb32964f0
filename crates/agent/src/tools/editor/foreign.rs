//! What editors without Linkspan and without ppxai's bridge can do: Claude Code's, NEXUS3's, Gemini's and Clio's
//! protocols, as far as the client library translates them.

use std::path::Path;

use linkspan_client::connection::{Connection, EditorDiagnostic, OpenAt};
use serde_json::json;

use crate::tools::answer::{Answer, ToolFailure};
use crate::tools::arguments::ToolArguments;

pub(super) fn not_offered(connection: &Connection, tool: &str) -> String {
    let candidate = connection.candidate();
    format!(
        "{} does not offer `{tool}` to agents over the protocol of {}; use another tool",
        candidate.editor,
        candidate.wire.dialect()
    )
}

pub(super) fn run(connection: &Connection, tool: &str, arguments: &ToolArguments<'_>) -> Answer {
    let failed = |error: linkspan_client::CallError| ToolFailure::Error(error.to_string());
    let pretty = |value| serde_json::to_string_pretty(&value).unwrap_or_default();
    match tool {
        "ide.get_workspace_info" => {
            let folders = connection.workspace_folders().map_err(failed)?;
            let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
            Ok(pretty(json!({ "folders": folders })))
        }
        "ide.get_open_files" => Ok(pretty(json!(connection.open_editors().map_err(failed)?))),
        "ide.get_selection" => match connection.current_selection().map_err(failed)? {
            Some(selection) => Ok(pretty(json!(selection))),
            None => Ok("Nothing is selected.".to_owned()),
        },
        "ide.get_diagnostics" => {
            let found =
                connection.diagnostics(arguments.text("path").map(Path::new), None).map_err(failed)?;
            Ok(if found.is_empty() { "No problems.".to_owned() } else { lines(&found, usize::MAX) })
        }
        "ide.open_file" => {
            let at = arguments.count("line").map(|line| OpenAt {
                line: u32::try_from(line.saturating_sub(1)).unwrap_or(u32::MAX),
                character: u32::try_from(arguments.count("column").unwrap_or(0)).unwrap_or(u32::MAX),
                end_line: None,
            });
            connection.open_file(Path::new(arguments.needed("path")), at, false).map_err(failed)?;
            Ok("Opened.".to_owned())
        }
        other => Err(not_offered(connection, other).into()),
    }
}

/// `path:line: severity: message`, lines from 1.
pub(super) fn lines(found: &[EditorDiagnostic], most: usize) -> String {
    let mut text: String = found
        .iter()
        .take(most)
        .map(|found| {
            let message = found.message.split_whitespace().collect::<Vec<_>>().join(" ");
            let code = found.code.as_deref().map_or_else(String::new, |code| format!(" [{code}]"));
            let severity = format!("{:?}", found.severity).to_lowercase();
            let line = found.line.saturating_add(1);
            format!("{}:{line}: {severity}: {message}{code}\n", found.file_path.display())
        })
        .collect();
    if found.len() > most {
        text += &format!("[and {} more]\n", found.len() - most);
    }
    text
}
