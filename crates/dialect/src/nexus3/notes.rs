//! What NEXUS3 itself does with an answer, and how its model hears the rest. Its REPL runs the tool after `FILE_SAVED`,
//! whatever the file holds by then. After any other text it tells the model "Action cancelled by user" and nothing
//! more. But it asks for diagnostics after each tool, and shows errors to the model: there the user's words fit.

use linkspan_editor_api::{Diagnostic, FileDiagnostics, Position, Range, ReviewComment, Severity, Taken};

use crate::decided::{Accepted, remark};
use crate::mcp::Client;
use crate::meaning::Answer;

/// NEXUS3 cuts all that it tells of the editor at 800 characters.
const LONGEST: usize = 480;

const SAVED: &str =
    "It is saved, although the tool says \"Action cancelled by user\": do not repeat the change.";

/// Other programs that speak this dialect leave the writing to the editor side, as NEXUS3's protocol has it.
pub(super) fn is_nexus3_itself(client: &Client) -> bool {
    client.name == "nexus3"
}

pub(super) fn note(answer: &Answer) -> Option<FileDiagnostics> {
    let (path, said, text) = match answer {
        Answer::Accepted(accepted) => {
            let said = says(None, &accepted.comments);
            let text = match accepted.written {
                true => Some(format!("{} {SAVED}", what_was_accepted(accepted))),
                false => said.as_ref().map(|_| "The user accepted this change.".to_owned()),
            };
            (&accepted.path, said, text?)
        }
        Answer::Rejected(rejected) => {
            let said = says(rejected.reason.as_deref(), &rejected.comments);
            let text = said.as_ref().map(|_| "The user rejected this change.".to_owned());
            (&rejected.path, said, text?)
        }
        _ => return None,
    };
    let message = match said {
        Some(said) => format!("{text} The user says: {said}"),
        None => text,
    };
    let at = Position { line: 0, character: 0 };
    let finding = Diagnostic {
        message: shortened(&message),
        // NEXUS3 shows its model the text of errors only.
        severity: Severity::Error,
        range: Range { start: at, end: at },
        source: Some("linkspan".into()),
        code: None,
    };
    let path = path.to_string_lossy().into_owned();
    Some(FileDiagnostics { path, version: None, settled: true, diagnostics: vec![finding] })
}

fn what_was_accepted(accepted: &Accepted) -> String {
    let taken = accepted.hunks.iter().filter(|hunk| hunk.taken).count();
    match accepted.taken {
        Taken::All => "The user accepted this change.".to_owned(),
        Taken::Some => {
            let all = accepted.hunks.len();
            format!(
                "The user accepted {taken} of the {all} parts of this change: read the file before you go on."
            )
        }
        Taken::Edited => {
            "The user accepted this change with edits: read the file before you go on.".to_owned()
        }
    }
}

fn says(reason: Option<&str>, comments: &[ReviewComment]) -> Option<String> {
    let said: Vec<String> =
        reason.map(str::to_owned).into_iter().chain(comments.iter().map(remark)).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// One line, because NEXUS3 gives each finding one.
fn shortened(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.chars().nth(LONGEST) {
        Some(_) => line.chars().take(LONGEST).chain(['…']).collect(),
        None => line,
    }
}
