//! The tools that wait for a decision: a model's proposals become changes. While the user decides, the client receives
//! progress notifications, and may cancel the call.

use std::collections::BTreeSet;
use std::future::pending;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use linkspan_client::connection::{Change, ChangeOutcome};
use linkspan_client::proposal::{self, Edit, LARGEST_FILE, PatchMode};
use linkspan_hub::disk::open_regular;
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, interval_at};

use super::args::{ProposedChange, ProposedChanges, Replacement, TwoTexts};
use super::editor_session::{Caller, EditorSession, PendingChanges};
use super::folders::absolute;
use super::results::{Decision, Decisions, SetMember, shown};
use super::server::Server;
use super::tool_calls::{ToolAnswer, arguments};
use super::tools::Tool;

/// Long enough for a review to exist, short enough for the user to see at once where to look.
const FIRST_PROGRESS: Duration = Duration::from_millis(400);
const PROGRESS_EVERY: Duration = Duration::from_secs(3);
const MAX_CHANGES: usize = 100;

type Call = RequestContext<RoleServer>;

pub(super) async fn one(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<ToolAnswer, String> {
    let proposed: ProposedChange = arguments(Tool::ProposeChange, given)?;
    let change = {
        let (session, caller) = (Arc::clone(&server.session), caller.clone());
        blocking(move || change(&session, &caller, proposed)).await??
    };
    let decided = only(decide(server, vec![change.clone()], caller, call).await?)?;
    ToolAnswer::of(&Decision::of(&change, decided))
}

pub(super) async fn compare(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<ToolAnswer, String> {
    let texts: TwoTexts = arguments(Tool::CompareTexts, given)?;
    let path = absolute(&texts.path, &caller.folders)?;
    let checked = {
        let (session, caller, path) = (Arc::clone(&server.session), caller.clone(), path.clone());
        blocking(move || session.guard(&caller)?.check(&path)).await?
    };
    checked?;
    let mut change = labelled(Change::new(path, texts.new_text), texts.label);
    change.old_text = Some(texts.old_text);
    let decided = only(decide(server, vec![change.clone()], caller, call).await?)?;
    ToolAnswer::of(&Decision::of(&change, decided))
}

pub(super) async fn several(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<ToolAnswer, String> {
    let proposed: ProposedChanges = arguments(Tool::ProposeChanges, given)?;
    if proposed.changes.is_empty() || proposed.changes.len() > MAX_CHANGES {
        return Err(format!("a set has 1 to {MAX_CHANGES} changes; this one has {}", proposed.changes.len()));
    }
    let mut changes = {
        let (session, caller) = (Arc::clone(&server.session), caller.clone());
        let changes =
            move || proposed.changes.into_iter().map(|one| change(&session, &caller, one)).collect();
        blocking::<Result<Vec<Change>, String>>(changes).await??
    };
    let mut paths = BTreeSet::new();
    if let Some(twice) = changes.iter().find(|change| !paths.insert(&change.path)) {
        return Err(format!("{} is in the set twice; give one change for each file", shown(&twice.path)));
    }
    let set = next_set();
    changes.iter_mut().for_each(|change| change.set = Some(set.clone()));
    let decided = decide(server, changes.clone(), caller, call).await?;
    let members = changes.iter().zip(decided).map(|(change, decided)| {
        let path = shown(&change.path);
        match decided {
            Ok(decided) => SetMember { path, decision: Some(Decision::of(change, decided)), error: None },
            Err(error) => SetMember { path, decision: None, error: Some(error) },
        }
    });
    ToolAnswer::of(&Decisions { changes: members.collect() })
}

fn only(decided: Vec<Result<ChangeOutcome, String>>) -> Result<ChangeOutcome, String> {
    decided.into_iter().next().unwrap_or_else(|| Err("an error in Linkspan: there is no decision".into()))
}

/// A name for a set that is unique in this server.
fn next_set() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("set{}", LAST.fetch_add(1, Ordering::Relaxed) + 1)
}

fn labelled(change: Change, label: Option<String>) -> Change {
    match label.filter(|label| !label.trim().is_empty()) {
        Some(label) => change.labelled(label),
        None => change,
    }
}

/// The change that a model proposes. Blocking.
fn change(session: &Arc<EditorSession>, caller: &Caller, proposed: ProposedChange) -> Result<Change, String> {
    let path = absolute(&proposed.path, &caller.folders)?;
    let text = match (proposed.new_text, proposed.edits, proposed.patch) {
        (Some(text), None, None) => {
            session.guard(caller)?.check(&path)?;
            text
        }
        (None, Some(edits), None) => {
            let edits = edits.into_iter().map(replacement).collect();
            edited(session, caller, &path, &Edit::EditFileBatch { edits })?
        }
        (None, None, Some(diff)) => {
            edited(session, caller, &path, &Edit::Patch { diff, mode: PatchMode::Strict })?
        }
        _ => return Err(format!("{}: give exactly one of newText, edits and patch", shown(&path))),
    };
    Ok(labelled(Change::new(path, text), proposed.label))
}

fn replacement(given: Replacement) -> proposal::TextReplacement {
    proposal::TextReplacement {
        old_string: given.old_string,
        new_string: given.new_string,
        replace_all: given.replace_all,
    }
}

/// The content of the file on disk after an edit.
fn edited(session: &Arc<EditorSession>, caller: &Caller, path: &Path, edit: &Edit) -> Result<String, String> {
    let about = |error: String| format!("{}: {error}", shown(path));
    session.guard(caller)?.check(path)?;
    // Before the file is read: an agent that may not use the file must not learn its content from our errors.
    if session.ask(caller, |editor| editor.is_dirty(path))? {
        return Err(about(
            "it has unsaved changes in the editor, and an edit of the file on disk would undo them. Ask the user \
             to save it (or call saveDocument), read it again, then propose the edit"
                .into(),
        ));
    }
    let current = match read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(about(error.to_string())),
    };
    let proposed = proposal::proposed(edit, current.as_deref()).map_err(|error| about(error.to_string()))?;
    if proposed.is_unchanged() {
        return Err(about("the edit changes nothing".into()));
    }
    Ok(proposed.text().to_owned())
}

/// Only regular files: opening or reading a pipe or a device could block.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than allowed, so that a file that is too large is detected.
    open_regular(path)?.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Waits for the decisions, and notifies the client of the progress.
async fn decide(
    server: &Server,
    changes: Vec<Change>,
    caller: Caller,
    call: &Call,
) -> Result<Vec<Result<ChangeOutcome, String>>, String> {
    let paths = changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>();
    let session = Arc::clone(&server.session);
    let pending = blocking(move || session.propose(&caller, &changes)).await??;
    let mut input_end = server.input_end.clone();
    let mut deciding = pin!(decisions(&pending));
    tokio::select! {
        decided = &mut deciding => return decided,
        () = call.ct.cancelled() => {}
        () = input_end.reached() => {}
        () = notify_progress(call, &server.session, &paths) => {}
    }
    pending.withdraw();
    // The answer is not needed, but the changes must be withdrawn before we return.
    deciding.await
}

/// Each on its own thread, because each may be proposed again independently.
async fn decisions(pending: &PendingChanges) -> Result<Vec<Result<ChangeOutcome, String>>, String> {
    let waiting = pending.changes.iter().map(|change| {
        let change = Arc::clone(change);
        spawn_blocking(move || change.wait().map_err(|error| error.to_string()))
    });
    let mut decided = Vec::new();
    for waiting in waiting.collect::<Vec<_>>() {
        decided.push(waiting.await.map_err(|error| format!("an error in Linkspan: {error}"))?);
    }
    Ok(decided)
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    spawn_blocking(work).await.map_err(|error| format!("an error in Linkspan: {error}"))
}

/// Notifies the client every few seconds where the user can decide; never returns.
async fn notify_progress(call: &Call, session: &Arc<EditorSession>, paths: &[PathBuf]) {
    let Some(token) = call.meta.get_progress_token() else { return pending().await };
    let mut due = interval_at(Instant::now() + FIRST_PROGRESS, PROGRESS_EVERY);
    let mut sent = 0.0;
    loop {
        due.tick().await;
        sent += 1.0;
        let (session, paths) = (Arc::clone(session), paths.to_vec());
        let message = blocking(move || session.where_to_look(&paths)).await;
        let progress = ProgressNotificationParam::new(token.clone(), sent)
            .with_message(message.unwrap_or_else(|_| "waiting for your decision".into()));
        // A client that no longer reads disconnects, which is handled elsewhere.
        let _ = call.peer.notify_progress(progress).await;
    }
}
