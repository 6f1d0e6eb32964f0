//! Carries out what the screen asks for: of the host, of git, and of the hub. The answers are lines for people.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use linkspan_client::visible::name;
use linkspan_client::{Control, HubLauncher};
use linkspan_editor_api::labels::{age, outcome_in_full};
use linkspan_editor_api::{DenyGlobs, HistoryEntry, HistoryList, HistoryUndo, Places};
use linkspan_workspace::git;
use linkspan_workspace::{Cancel, Workspace};

use super::code::diff_style;
use super::markdown::Markdown;
use super::screen::{NO_EDITOR, Reply, Request};
use super::text::{Line, Style, line, lines, plain, span};
use crate::call_line::call_line;
use crate::host::{
    AgentId, AgentSettings, EditorSummary, HostCommand, HostEnded, HostHandle, SessionSummary,
};
use crate::message::ChatMessage;

/// How many decisions `/ide history` lists.
const MOST_HISTORY: u32 = 20;
/// How many messages of a conversation are shown when it is continued, and how many lines of each.
const MOST_MESSAGES: usize = 8;
const MOST_LINES: usize = 30;

/// The answer to a request; whatever goes wrong becomes [`Reply::Failed`].
pub(super) async fn answer(host: HostHandle, request: Request) -> Reply {
    carry_out(&host, request).await.unwrap_or_else(Reply::Failed)
}

async fn carry_out(host: &HostHandle, request: Request) -> Result<Reply, String> {
    let ended = |error: HostEnded| error.to_string();
    let shown = match request {
        Request::Status => {
            return Ok(Reply::Status(host.ask(|reply| HostCommand::Status { reply }).await.map_err(ended)?));
        }
        Request::Start { settings, instead_of } => return start(host, settings, instead_of).await,
        Request::SetModel { agent, model } => {
            let set =
                host.ask(|reply| HostCommand::SetModel { agent, model, reply }).await.map_err(ended)??;
            lines(Style::Plain, &format!("the model is {set} now"))
        }
        Request::Providers { agent } => {
            let providers = host.ask(|reply| HostCommand::Providers { reply }).await.map_err(ended)?;
            let status = host.ask(|reply| HostCommand::Status { reply }).await.map_err(ended)?;
            let current = status.into_iter().find(|status| status.agent == agent).map(|status| status.model);
            let mut shown = lines(Style::Plain, &format!("the model is {}", current.unwrap_or_default()));
            for provider in providers {
                let key = if provider.has_key { "" } else { "  (no key)" };
                let models = provider.models.join(", ");
                shown.push(vec![
                    span(Style::Bold, format!("{:12}", name(&provider.id))),
                    span(Style::Plain, format!(" {}", plain(&models))),
                    span(Style::Bad, key),
                ]);
            }
            shown.push(line(Style::Dim, "/model MODEL or /model PROVIDER/MODEL uses another one"));
            shown
        }
        Request::Recent { agent } => {
            let messages =
                host.ask(|reply| HostCommand::Messages { agent, reply }).await.map_err(ended)??;
            recent(&messages)
        }
        Request::Tools { agent } => {
            let tools = host.ask(|reply| HostCommand::Tools { agent, reply }).await.map_err(ended)??;
            let shown = tools.iter().map(|tool| {
                let first = plain(tool.description.lines().next().unwrap_or_default());
                vec![span(Style::Bold, name(&tool.name)), span(Style::Dim, format!("  {first}"))]
            });
            shown.collect()
        }
        Request::SystemPrompt { agent } => {
            let prompt =
                host.ask(|reply| HostCommand::SystemPrompt { agent, reply }).await.map_err(ended)??;
            lines(Style::Plain, &prompt)
        }
        Request::Clear { agent } => {
            host.ask(|reply| HostCommand::Clear { agent, reply }).await.map_err(ended)??;
            lines(Style::Plain, "the conversation is forgotten")
        }
        Request::Save { agent, name: wanted } => {
            let saved =
                host.ask(|reply| HostCommand::Save { agent, name: wanted, reply }).await.map_err(ended)??;
            lines(Style::Plain, &format!("saved as {saved}; /load {saved} or --resume {saved} continues it"))
        }
        Request::Sessions => {
            let sessions = host.ask(|reply| HostCommand::Sessions { reply }).await.map_err(ended)??;
            if sessions.is_empty() {
                lines(Style::Dim, "no session is saved yet")
            } else {
                let now = now_ms();
                sessions.iter().map(|session| session_line(session, now)).collect()
            }
        }
        Request::ConnectEditor { which } => {
            // Success is an event of the host, too, which the screen shows.
            host.ask(|reply| HostCommand::ConnectEditor { which, reply }).await.map_err(ended)??;
            Vec::new()
        }
        Request::EditorStatus => {
            let editor = host.ask(|reply| HostCommand::EditorStatus { reply }).await.map_err(ended)?;
            editor.map_or_else(|| lines(Style::Plain, NO_EDITOR), |editor| editor_lines(&editor))
        }
        Request::Diff { cwd } => blocking(move || diff(&cwd)).await?,
        Request::Undo { cwd } => blocking(move || undo(&cwd)).await?,
        Request::History { cwd } => blocking(move || history(&cwd)).await?,
    };
    Ok(Reply::Lines(shown))
}

async fn start(
    host: &HostHandle,
    settings: AgentSettings,
    instead_of: Option<AgentId>,
) -> Result<Reply, String> {
    let agent = host.ask(|reply| HostCommand::New { settings, reply }).await;
    let agent = agent.map_err(|ended| ended.to_string())??;
    let status = host.ask(|reply| HostCommand::Status { reply }).await.map_err(|ended| ended.to_string())?;
    Ok(Reply::Started { agent, status, instead_of })
}

async fn blocking(
    work: impl FnOnce() -> Result<Vec<Line>, String> + Send + 'static,
) -> Result<Vec<Line>, String> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(format!("it failed: {error}")))
}

fn editor_lines(editor: &EditorSummary) -> Vec<Line> {
    let mut shown = lines(Style::Plain, &format!("IDE connected: {}", name(&editor.name)));
    let count = match editor.folders.len() {
        1 => "1 folder".to_owned(),
        folders => format!("{folders} folders"),
    };
    shown.push(line(Style::Dim, format!("  {} ({}), {count}", editor.address, editor.protocol)));
    shown.extend(
        editor
            .folders
            .iter()
            .map(|folder| line(Style::Dim, format!("  {}", name(&folder.to_string_lossy())))),
    );
    shown
}

/// The end of a conversation that is continued.
fn recent(messages: &[ChatMessage]) -> Vec<Line> {
    let earlier = messages.len().saturating_sub(MOST_MESSAGES);
    let mut shown = Vec::new();
    if earlier > 0 {
        shown.push(line(Style::Dim, format!("… {earlier} earlier messages")));
    }
    for message in messages.iter().skip(earlier) {
        match message {
            ChatMessage::User { text, .. } => shown.extend(cut(lines(Style::User, &format!("› {text}")))),
            ChatMessage::Assistant { text, calls } => {
                let mut markdown = Markdown::default();
                let mut answer = markdown.push(text);
                answer.extend(markdown.end());
                shown.extend(cut(answer));
                shown.extend(calls.iter().map(|call| line(Style::Dim, format!("● {}", call_line(call)))));
            }
            ChatMessage::Tools { .. } => {}
            ChatMessage::Summary { text } => shown.extend(cut(lines(Style::Dim, text))),
        }
    }
    shown
}

fn cut(mut lines: Vec<Line>) -> Vec<Line> {
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push(line(Style::Dim, "…"));
    }
    lines
}

fn session_line(session: &SessionSummary, now_ms: u64) -> Line {
    let begun = age(now_ms.saturating_sub(session.created_at_ms));
    let text =
        format!("  {begun} ago, {} messages, {}, {}", session.messages, session.model, session.cwd.display());
    vec![span(Style::Bold, name(&session.name)), span(Style::Dim, plain(&text))]
}

fn diff(cwd: &Path) -> Result<Vec<Line>, String> {
    let failed = |error: linkspan_workspace::WorkspaceError| error.to_string();
    // The user looks at their own files, so none is denied.
    let folder = &cwd.canonicalize().map_err(|error| format!("{}: {error}", cwd.display()))?;
    let workspace = Workspace { folders: vec![folder.clone()], deny: DenyGlobs::default(), kept: Vec::new() };
    let mut shown = Vec::new();
    for staged in [true, false] {
        let diff = git::diff(&workspace, folder, None, staged, &Cancel::new()).map_err(failed)?;
        if !diff.text.is_empty() {
            let title = if staged { "staged:" } else { "not staged:" };
            shown.push(line(Style::Bold, title));
            shown.extend(plain(&diff.text).lines().map(|text| line(diff_style(text), text)));
        }
        if diff.truncated {
            shown.push(line(Style::Bad, "… there is more"));
        }
    }
    Ok(if shown.is_empty() { lines(Style::Dim, "nothing changed since the last commit") } else { shown })
}

fn hub() -> Result<Control, String> {
    let places = Places::from_env(rustix::process::getuid().as_raw()).map_err(|error| error.to_string())?;
    let mut hub = HubLauncher::connect(&places).map_err(|error| error.to_string())?;
    hub.hello("agent").map_err(|error| error.to_string())?;
    Ok(hub)
}

fn in_folder(cwd: &Path) -> HistoryList {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    HistoryList { path: Some(real.to_string_lossy().into_owned()), ..HistoryList::default() }
}

fn history(cwd: &Path) -> Result<Vec<Line>, String> {
    let list = HistoryList { limit: Some(MOST_HISTORY), ..in_folder(cwd) };
    let entries = hub()?.request(&list).map_err(|error| error.to_string())?.entries;
    if entries.is_empty() {
        return Ok(lines(Style::Dim, "nothing was decided in this folder yet"));
    }
    let now = now_ms();
    Ok(entries.iter().map(|entry| history_line(entry, &entries, cwd, now)).collect())
}

fn history_line(entry: &HistoryEntry, all: &[HistoryEntry], cwd: &Path, now_ms: u64) -> Line {
    let begun = age(now_ms.saturating_sub(entry.ended_at_ms));
    let what = match &entry.undoes {
        Some(undone) => {
            // By the name under which it is listed.
            let listed = all.iter().find(|other| other.change.as_ref() == Some(undone));
            format!("undo of {}", name(listed.map_or(undone, id)))
        }
        None => outcome_in_full(&entry.ended),
    };
    let undone = if entry.undone { ", undone" } else { "" };
    vec![
        span(Style::Bold, format!("{:6}", name(id(entry)))),
        span(Style::Dim, format!("{begun:>5}  ")),
        span(Style::Plain, format!("{}  ", name(relative(&entry.path, cwd)))),
        span(Style::Dim, format!("{what}{undone}")),
    ]
}

/// What `linkspan undo` takes: the review's id, or the change's if it is an undo.
fn id(entry: &HistoryEntry) -> &str {
    entry.change.as_deref().filter(|_| entry.undoes.is_some()).unwrap_or(&entry.review)
}

fn relative<'a>(path: &'a str, cwd: &Path) -> &'a str {
    let inside = Path::new(path).strip_prefix(cwd).ok().and_then(Path::to_str);
    inside.filter(|inside| !inside.is_empty()).unwrap_or(path)
}

/// Takes back the newest accepted change in this folder.
fn undo(cwd: &Path) -> Result<Vec<Line>, String> {
    let mut hub = hub()?;
    let list = HistoryList { limit: Some(1), undoable: true, ..in_folder(cwd) };
    let newest = hub.request(&list).map_err(|error| error.to_string())?.entries.into_iter().next();
    let newest = newest.ok_or("there is nothing to undo in this folder")?;
    let change = id(&newest).to_owned();
    let undone = hub.request(&HistoryUndo { change: change.clone() }).map_err(|error| error.to_string())?;
    let place = name(relative(&undone.path, cwd));
    let done = if undone.removed_file { "which removed" } else { "in" };
    let text =
        format!("undid {} {done} {place}; `linkspan undo {}` redoes it", name(&change), name(&undone.redo));
    Ok(lines(Style::Good, &text))
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::ReviewEnded;

    use super::*;
    use crate::host::double::HostDouble;
    use crate::message::{CallArguments, ModelCall};

    fn words(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
    }

    fn asked(request: Request) -> Reply {
        let host = HostDouble::start();
        host.answers.lock().unwrap().sessions.push(SessionSummary {
            name: "old\u{1b}".into(),
            created_at_ms: 0,
            model: "m".into(),
            messages: 3,
            cwd: "/w".into(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(answer(host.handle.clone(), request))
    }

    fn shown(request: Request) -> Vec<String> {
        match asked(request) {
            Reply::Lines(lines) => words(&lines),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_of_the_host_become_lines() {
        let agent = AgentId(1);
        assert_eq!(shown(Request::Tools { agent }), ["read_file  Reads."]);
        assert_eq!(
            shown(Request::SetModel { agent, model: "other".into() }),
            ["the model is script/other now"]
        );
        assert_eq!(shown(Request::SystemPrompt { agent }), ["You are an agent."]);
        assert!(shown(Request::Providers { agent })[2].ends_with("(no key)"));
        assert!(shown(Request::Sessions)[0].starts_with("old\\u{1b}  "), "{:?}", shown(Request::Sessions));
        let Reply::Failed(why) = asked(Request::SetModel { agent, model: "none".into() }) else { panic!() };
        assert_eq!(why, "there is no model none");
    }

    #[test]
    fn the_end_of_a_continued_conversation_is_shown() {
        let user =
            |number: usize| ChatMessage::User { text: format!("prompt {number}"), attachments: vec![] };
        let arguments = CallArguments::Json(serde_json::json!({ "path": "a.rs" }));
        let call = ModelCall { id: "1".into(), name: "read_file".into(), arguments, opaque: None };
        let answer =
            ChatMessage::Assistant { text: format!("# Plan\n{}", "x\n".repeat(100)), calls: vec![call] };
        let messages: Vec<_> = (0..20).map(user).chain([answer]).collect();
        let shown = words(&recent(&messages));
        assert_eq!(shown[..3], ["… 13 earlier messages", "› prompt 13", "› prompt 14"]);
        assert_eq!(shown[shown.len() - 2..], ["…", "● read_file a.rs"]);
        assert!(shown.len() < 45, "{}", shown.len());
    }

    #[test]
    fn a_decision_is_one_line() {
        let entry = HistoryEntry {
            review: "r12".into(),
            change: Some("c17".into()),
            undoes: None,
            set: None,
            window: "w1".into(),
            agent: "a".into(),
            dialect: "linkspan".into(),
            path: "/w/src/a.rs".into(),
            label: "a.rs".into(),
            ended: ReviewEnded::Rejected { reason: Some("no".into()) },
            comments: Vec::new(),
            proposed_at_ms: 0,
            ended_at_ms: 1000,
            decided_by: None,
            added: None,
            removed: None,
            new_file: false,
            undoable: false,
            undone: true,
            on_disk: None,
            origin: None,
        };
        let shown = words(&[history_line(&entry, &[], Path::new("/w"), 62_000)]);
        assert_eq!(shown, ["r12      1m  src/a.rs  rejected: no, undone"]);
    }
}
