//! How NEXUS3 itself treats an answer, and how its model learns the rest. Its REPL runs the tool after `FILE_SAVED`,
//! whatever the file holds by then. After any other text its model gets "Action cancelled by user" and nothing more.
//! But it asks for diagnostics after each tool and shows errors to the model, so the user's comments are sent there.

use linkspan_editor_api::{
    AcceptedPart, Diagnostic, FileDiagnostics, Position, Range, ReviewComment, Severity,
};

use crate::answer::Answer;
use crate::mcp::McpClient;
use crate::outcome::{Accepted, remark};

/// The name with which NEXUS3 itself introduces itself.
pub(super) const NEXUS3: &str = "nexus3";

/// NEXUS3 cuts everything about the editor at 800 characters.
const LONGEST: usize = 480;

/// The same for people, as the end of a sentence.
pub(super) const LIMIT: &str = "shows its model at most 480 characters of your reason and comments, and none of them \
                                if `inject_diagnostics` is off";

const SAVED: &str =
    "It is saved, although the tool says \"Action cancelled by user\": do not repeat the change.";

/// Other programs that use this dialect leave the writing to the hub, as NEXUS3's protocol specifies.
pub(super) fn is_nexus3_itself(client: &McpClient) -> bool {
    client.name == NEXUS3
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
        AcceptedPart::All => "The user accepted this change.".to_owned(),
        AcceptedPart::Some => {
            let all = accepted.hunks.len();
            format!(
                "The user accepted {taken} of the {all} parts of this change: read the file before you continue."
            )
        }
        AcceptedPart::Edited => {
            "The user accepted this change with edits: read the file before you continue.".to_owned()
        }
    }
}

fn says(reason: Option<&str>, comments: &[ReviewComment]) -> Option<String> {
    let said: Vec<String> =
        reason.map(str::to_owned).into_iter().chain(comments.iter().map(remark)).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// One line, because NEXUS3 shows one line for each diagnostic.
fn shortened(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.chars().nth(LONGEST) {
        Some(_) => line.chars().take(LONGEST).chain(['…']).collect(),
        None => line,
    }
}
