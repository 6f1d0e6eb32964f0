//! The tools that wait for a person: what a model proposes becomes changes, and while the person thinks, the
//! client hears that we wait, and may take the question back.

use std::collections::BTreeSet;
use std::future::pending;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use linkspan_client::connection::{Change, Decided};
use linkspan_client::proposal::{self, Edit, LARGEST_FILE, PatchMode};
use linkspan_hub::files::open_regular;
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, interval_at};

use super::arguments::{ProposedChange, ProposedChanges, Replacement, TwoTexts};
use super::desk::{Caller, Desk, Questions};
use super::folders::absolute;
use super::perform::{Answer, arguments};
use super::results::{Decision, Decisions, SetMember, shown};
use super::server::Server;
use super::tools::Tool;

/// Long enough for a review to exist, short enough for a person to see at once where to look.
const FIRST_PROGRESS: Duration = Duration::from_millis(400);
const PROGRESS_EVERY: Duration = Duration::from_secs(3);
const MOST_CHANGES: usize = 100;

type Call = RequestContext<RoleServer>;

pub(super) async fn one(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<Answer, String> {
    let proposed: ProposedChange = arguments(Tool::ProposeChange, given)?;
    let change = {
        let (desk, caller) = (Arc::clone(&server.desk), caller.clone());
        blocking(move || change(&desk, &caller, proposed)).await??
    };
    let decided = only(decide(server, vec![change.clone()], caller, call).await?)?;
    Answer::of(&Decision::of(&change, decided))
}

pub(super) async fn compare(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<Answer, String> {
    let texts: TwoTexts = arguments(Tool::CompareTexts, given)?;
    let path = absolute(&texts.path, &caller.folders)?;
    let checked = {
        let (desk, caller, path) = (Arc::clone(&server.desk), caller.clone(), path.clone());
        blocking(move || desk.guard(&caller)?.check(&path)).await?
    };
    checked?;
    let mut change = labelled(Change::new(path, texts.new_text), texts.label);
    change.old_text = Some(texts.old_text);
    let decided = only(decide(server, vec![change.clone()], caller, call).await?)?;
    Answer::of(&Decision::of(&change, decided))
}

pub(super) async fn several(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<Answer, String> {
    let proposed: ProposedChanges = arguments(Tool::ProposeChanges, given)?;
    if proposed.changes.is_empty() || proposed.changes.len() > MOST_CHANGES {
        return Err(format!(
            "a set has 1 to {MOST_CHANGES} changes; this one has {}",
            proposed.changes.len()
        ));
    }
    let mut changes = {
        let (desk, caller) = (Arc::clone(&server.desk), caller.clone());
        let changes = move || proposed.changes.into_iter().map(|one| change(&desk, &caller, one)).collect();
        blocking::<Result<Vec<Change>, String>>(changes).await??
    };
    let mut paths = BTreeSet::new();
    if let Some(twice) = changes.iter().find(|change| !paths.insert(&change.path)) {
        return Err(format!("{} is in the set twice: give one change for each file", shown(&twice.path)));
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
    Answer::of(&Decisions { changes: members.collect() })
}

fn only(decided: Vec<Result<Decided, String>>) -> Result<Decided, String> {
    decided.into_iter().next().unwrap_or_else(|| Err("a fault in Linkspan: there is no decision".into()))
}

/// A word for a set that no other set of this server has.
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

/// The change that a model means. Blocking.
fn change(desk: &Arc<Desk>, caller: &Caller, proposed: ProposedChange) -> Result<Change, String> {
    let path = absolute(&proposed.path, &caller.folders)?;
    let text = match (proposed.new_text, proposed.edits, proposed.patch) {
        (Some(text), None, None) => {
            desk.guard(caller)?.check(&path)?;
            text
        }
        (None, Some(edits), None) => {
            let edits = edits.into_iter().map(replacement).collect();
            edited(desk, caller, &path, &Edit::EditFileBatch { edits })?
        }
        (None, None, Some(diff)) => {
            edited(desk, caller, &path, &Edit::Patch { diff, mode: PatchMode::Strict })?
        }
        _ => return Err(format!("{}: give exactly one of newText, edits and patch", shown(&path))),
    };
    Ok(labelled(Change::new(path, text), proposed.label))
}

fn replacement(asked: Replacement) -> proposal::Replacement {
    proposal::Replacement {
        old_string: asked.old_string,
        new_string: asked.new_string,
        replace_all: asked.replace_all,
    }
}

/// What the file would hold after an edit of what is on disk.
fn edited(desk: &Arc<Desk>, caller: &Caller, path: &Path, edit: &Edit) -> Result<String, String> {
    let about = |error: String| format!("{}: {error}", shown(path));
    desk.guard(caller)?.check(path)?;
    // Asked first: whoever may not speak of the file at all must not learn from our errors what is in it.
    if desk.ask(caller, |editor| editor.is_dirty(path))? {
        return Err(about(
            "it has unsaved changes in the editor, so an edit of what is on disk would undo them. Ask the person \
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

/// A name may lead to a pipe or a device, where opening or reading would wait.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than may be, so that what is too large is seen to be.
    open_regular(path)?.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Waits for the person, and tells the client so.
async fn decide(
    server: &Server,
    changes: Vec<Change>,
    caller: Caller,
    call: &Call,
) -> Result<Vec<Result<Decided, String>>, String> {
    let paths = changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>();
    let desk = Arc::clone(&server.desk);
    let questions = blocking(move || desk.asking(&caller, &changes)).await??;
    let mut over = server.over.clone();
    let mut deciding = pin!(decisions(&questions));
    tokio::select! {
        decided = &mut deciding => return decided,
        () = call.ct.cancelled() => {}
        () = over.ended() => {}
        () = tell(call, &server.desk, &paths) => {}
    }
    questions.withdraw();
    // Nobody hears the answer, but we go only once it was taken back.
    deciding.await
}

/// Each on a thread of its own, because each may be asked again by itself.
async fn decisions(questions: &Questions) -> Result<Vec<Result<Decided, String>>, String> {
    let waiting = questions.asked.iter().map(|asked| {
        let asked = Arc::clone(asked);
        spawn_blocking(move || asked.wait().map_err(|error| error.to_string()))
    });
    let mut decided = Vec::new();
    for waiting in waiting.collect::<Vec<_>>() {
        decided.push(waiting.await.map_err(|error| format!("a fault in Linkspan: {error}"))?);
    }
    Ok(decided)
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    spawn_blocking(work).await.map_err(|error| format!("a fault in Linkspan: {error}"))
}

/// Tells the client every few seconds that we wait and where the person finds it; never ends.
async fn tell(call: &Call, desk: &Arc<Desk>, paths: &[PathBuf]) {
    let Some(token) = call.meta.get_progress_token() else { return pending().await };
    let mut due = interval_at(Instant::now() + FIRST_PROGRESS, PROGRESS_EVERY);
    let mut told = 0.0;
    loop {
        due.tick().await;
        told += 1.0;
        let (desk, paths) = (Arc::clone(desk), paths.to_vec());
        let message = blocking(move || desk.where_to_look(&paths)).await;
        let progress = ProgressNotificationParam::new(token.clone(), told)
            .with_message(message.unwrap_or_else(|_| "waiting for your decision".into()));
        // A client that does not hear us hangs up, and that is noticed elsewhere.
        let _ = call.peer.notify_progress(progress).await;
    }
}
