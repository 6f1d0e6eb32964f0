//! An agent that sends anything at all: each request is answered once, under its own id, with JSON-RPC.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_dialect::{
    Accepted, Answer, CallId, Failure, FailureKind, Rejected, Request, ServerFacts, Session, Step,
    TerminalContents, WorkspaceRequest, by_name,
};
use linkspan_editor_api::{AcceptedPart, Capabilities, ReviewComment, TerminalRunResult};
use serde_json::Value;

/// One frame per line.
pub(crate) fn conversation(dialect: &str, data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let own = dialect == "linkspan";
    let capabilities = Capabilities {
        execute_code: dialect == "claude",
        terminal: own,
        questions: true,
        language: own,
        documents: own,
        ..Capabilities::default()
    };
    let server = ServerFacts { version: "0.1.0".into(), editor_name: "Neovim".into(), capabilities };
    let mut session = Session::new(by_name(dialect).expect("a dialect"), server);
    let mut open: BTreeMap<CallId, (Option<Value>, Request)> = BTreeMap::new();
    for frame in text.lines() {
        // Stricter than we are: a number too large for it, in a place we do not read, makes it refuse.
        let sent = serde_json::from_str::<Value>(frame).ok();
        match session.receive(frame) {
            Step::Call { call, request } => {
                let id = sent.map(|sent| sent["id"].clone());
                assert!(open.insert(call, (id, request)).is_none(), "a call id came twice");
            }
            Step::Reply(reply) | Step::Malformed(reply) | Step::Introduced { reply, .. } => {
                is_reply_to(&reply, sent.as_ref())
            }
            Step::Cancelled(call) => {
                assert!(open.contains_key(&call), "only an open call is cancelled");
                // Agents of our own dialect are notified whether the user was first; the others no longer expect an answer.
                if !own {
                    open.remove(&call);
                }
            }
            Step::Thread { .. } | Step::Declined { .. } => panic!("no daemon speaks here"),
            // Only an agent of another dialect, which is let go.
            Step::NeedsToken => {}
            Step::Pid(_) | Step::Nothing | Step::Pong(_) | Step::Goodbye | Step::Chat(_) => {
                assert!(!sent.is_some_and(|sent| wants_answer(&sent)), "no answer to {frame}");
            }
        }
        assert!(session.open_calls().eq(open.keys().copied()));
    }
    for (call, (id, request)) in open {
        let shown = session.acknowledge_shown(call);
        let answered = session.answer(call, &answer_to(request));
        let reply = match (shown, answered) {
            // Said to wait, and told later; or not, if the agent asked for silence.
            (Some(shown), told) => {
                told.iter().for_each(|told| is_notification(&told.text));
                valid(&shown.text)
            }
            (None, answered) => valid(&answered.expect("an open call can be answered").text),
        };
        assert!(id.is_none_or(|id| reply["id"] == id), "{reply}");
        assert_eq!(session.answer(call, &Answer::TabClosed { text: None }), None, "answered twice");
    }
    assert_eq!(session.open_calls().count(), 0);
}

fn valid(reply: &str) -> Value {
    let reply: Value = serde_json::from_str(reply).expect("a reply is JSON");
    assert_eq!(reply["jsonrpc"], "2.0");
    assert!(reply.get("result").is_some() != reply.get("error").is_some(), "{reply}");
    reply
}

fn is_notification(told: &str) {
    let told: Value = serde_json::from_str(told).expect("a notification is JSON");
    assert!(told["method"].is_string() && told.get("id").is_none(), "{told}");
}

fn is_reply_to(reply: &str, sent: Option<&Value>) {
    let reply = valid(reply);
    if reply["id"].is_null() {
        // The id could not be read, or the message has none and is none.
        assert!([-32700, -32600].map(Value::from).contains(&reply["error"]["code"]), "{reply}");
    } else if let Some(sent) = sent {
        assert_eq!(reply["id"], sent["id"]);
    }
}

fn wants_answer(sent: &Value) -> bool {
    let id = &sent["id"];
    sent["jsonrpc"] == "2.0" && sent["method"].is_string() && (id.is_string() || id.is_i64() || id.is_u64())
}

/// Of the right kind, made of what was asked, where that is simple; else a failure that quotes it.
pub(crate) fn answer_to(request: Request) -> Answer {
    match request {
        Request::Propose { path, proposed, label, set, .. } if label.len() % 2 == 0 => {
            Answer::Accepted(Accepted {
                review: "r1".into(),
                path,
                text: Some(proposed.into()),
                unsent_mark: false,
                new_file: label.is_empty(),
                written: true,
                taken: AcceptedPart::Edited,
                hunks: Vec::new(),
                person_diff: set,
                comments: vec![ReviewComment { line: 1, text: label }],
            })
        }
        Request::Propose { path, proposed: text, label, .. }
        | Request::Compare { path, after: text, label, .. }
        | Request::Record { path, proposed: text, label, .. } => {
            let comments = vec![ReviewComment { line: u32::MAX, text }];
            let reason = Some(label);
            Answer::Rejected(Rejected { review: "r1".into(), path, new_file: false, reason, comments })
        }
        Request::OpenFile { path, preview, .. } => {
            let language = preview.then(|| path.display().to_string());
            Answer::Opened { path, language, line_count: Some(u32::MAX) }
        }
        Request::CheckDirty { path } => Answer::Dirty { path, open: true, dirty: true, untitled: false },
        Request::Save { path } => Answer::Saved { path, saved: true, open: true },
        Request::WorkspaceFolders => Answer::Folders(vec![PathBuf::from("/w"), PathBuf::from("/ü \u{1}")]),
        Request::CurrentSelection | Request::LatestSelection => Answer::Selection(None),
        Request::OpenEditors => Answer::Editors(Vec::new()),
        Request::CloseTab { .. } => Answer::TabClosed { text: None },
        Request::EditorInfo => Answer::EditorInfo { name: "Neovim".into(), version: "0.11".into() },
        Request::NameSession { .. } => Answer::SessionNamed,
        Request::CloseAllDiffs => Answer::DiffsClosed(usize::MAX),
        Request::ExecuteCode { code } => Answer::Executed(code),
        Request::Permission { command }
        | Request::Consent { what: command }
        | Request::Start { command, .. } => {
            Answer::Permission { allowed: command.len() % 2 == 0, message: Some(command.clone()) }
        }
        Request::RunInTerminal { command, wait_ms, .. } => Answer::Ran(TerminalRunResult {
            terminal: "t1".into(),
            output: command,
            exit_code: None,
            timed_out: wait_ms.is_some(),
        }),
        Request::Message { .. } => Answer::MessageShown,
        Request::Edit { files, label, .. } => {
            let failed = |path: &PathBuf| {
                Answer::Failed(Failure::new(FailureKind::Stale, format!("{label} {path:?}")))
            };
            Answer::Set(files.into_iter().map(|file| (file.path.clone(), failed(&file.path))).collect())
        }
        Request::Patch { files, set, .. } => {
            let rejected = |path: PathBuf| {
                Answer::Rejected(Rejected { reason: Some(set.clone()), path, ..Rejected::default() })
            };
            Answer::Set(files.into_iter().map(|file| (file.path.clone(), rejected(file.path))).collect())
        }
        Request::Language { path, question } => {
            Answer::Failed(Failure::new(FailureKind::Unsupported, format!("{question:?} {path:?}")))
        }
        Request::Workspace(work) => Answer::Data {
            json: serde_json::to_string(&format!("{work:?}")).expect("a string is JSON"),
            truncated: work != WorkspaceRequest::GitStatus { folder: None },
        },
        Request::ReadFile { path, lines } => Answer::Text {
            text: path.display().to_string(),
            path,
            language: "rust".into(),
            dirty: lines.0 > 0,
            truncated: lines.1.is_some(),
        },
        Request::CreateTerminal { name, .. } => {
            Answer::TerminalMade { terminal: "t1".into(), name: name.unwrap_or_default() }
        }
        Request::TerminalOutput { terminal } => Answer::TerminalContents(TerminalContents {
            terminal: terminal.unwrap_or_default(),
            output: "\u{1}".into(),
            running: true,
            exit_code: None,
            truncated: true,
        }),
        Request::Reveal { line, .. } => Answer::Revealed(line > 0),
        Request::Rename { path, new_name, .. } => {
            let failed = Answer::Failed(Failure::new(FailureKind::NotFound, new_name));
            Answer::Set(vec![(path.clone(), failed), (path.clone(), Answer::Unchanged { path })])
        }
        Request::Format { path } => Answer::Unchanged { path },
        Request::ActiveFile(_) => Answer::NoActiveFile,
        Request::Diagnostics { path, .. } => {
            Answer::Failed(Failure::new(FailureKind::NotFound, format!("no diagnostics: {path:?}")))
        }
    }
}
