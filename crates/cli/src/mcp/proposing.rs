//! The tools that wait for a person: what a model proposes becomes changes, and while the person thinks, the
//! client hears that we wait, and may take the question back.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use linkspan_client::connection::{Change, Decided};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, interval_at};

use super::arguments::{ProposedChange, ProposedChanges, TwoTexts};
use super::desk::{Caller, Desk};
use super::folders::absolute;
use super::perform::{Answer, arguments};
use super::results::{Decision, Decisions, SetMember, shown};
use super::server::Server;
use super::waiting::{Withdrawal, decisions};

/// Long enough for a review to exist, short enough for a person to see at once where to look.
const FIRST_PROGRESS: Duration = Duration::from_millis(400);
const PROGRESS_EVERY: Duration = Duration::from_secs(3);
const MOST_CHANGES: usize = 200;

type Call = RequestContext<RoleServer>;

pub(super) async fn one(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<Answer, String> {
    let proposed: ProposedChange = arguments(given)?;
    let change = change(&server.desk, &caller, proposed).await?;
    let decided = only(decide(server, vec![change.clone()], caller, call).await?)?;
    Answer::of(&Decision::of(&change, decided))
}

pub(super) async fn compare(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &Call,
) -> Result<Answer, String> {
    let texts: TwoTexts = arguments(given)?;
    let path = absolute(&texts.path, &caller.folders)?;
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
    let proposed: ProposedChanges = arguments(given)?;
    if proposed.changes.is_empty() || proposed.changes.len() > MOST_CHANGES {
        return Err(format!(
            "a set has 1 to {MOST_CHANGES} changes; this one has {}",
            proposed.changes.len()
        ));
    }
    let set = next_set();
    let mut changes: Vec<Change> = Vec::new();
    for proposed in proposed.changes {
        let change = Change { set: Some(set.clone()), ..change(&server.desk, &caller, proposed).await? };
        if changes.iter().any(|other| other.path == change.path) {
            return Err(format!(
                "{} is in the set twice: give one change for each file",
                shown(&change.path)
            ));
        }
        changes.push(change);
    }
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

/// The change that a model means.
async fn change(desk: &Arc<Desk>, caller: &Caller, proposed: ProposedChange) -> Result<Change, String> {
    let path = absolute(&proposed.path, &caller.folders)?;
    let text = match (proposed.new_text, proposed.edits, proposed.patch) {
        (Some(text), None, None) => text,
        _ => return Err(format!("{}: give exactly one of newText, edits and patch", proposed.path)),
    };
    Ok(labelled(Change::new(path, text), proposed.label))
}

/// Waits for the person, and tells the client so.
async fn decide(
    server: &Server,
    changes: Vec<Change>,
    caller: Caller,
    call: &Call,
) -> Result<Vec<Result<Decided, String>>, String> {
    let withdrawal = Arc::new(Withdrawal::default());
    let waits_for = changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>();
    let mut deciding = {
        let (desk, withdrawal) = (Arc::clone(&server.desk), Arc::clone(&withdrawal));
        spawn_blocking(move || decisions(&desk, &caller, &changes, &withdrawal))
    };
    let token = call.meta.get_progress_token();
    let mut over = server.over.clone();
    let mut progress = interval_at(Instant::now() + FIRST_PROGRESS, PROGRESS_EVERY);
    let mut told = 0.0;
    loop {
        tokio::select! {
            decided = &mut deciding => {
                return decided.map_err(|error| format!("a fault in Linkspan: {error}"));
            }
            () = call.ct.cancelled() => break,
            () = over.ended() => break,
            _ = progress.tick(), if token.is_some() => {
                told += 1.0;
                let message = waits(&server.desk, &waits_for).await;
                tell(call, token.clone(), told, message).await;
            }
        }
    }
    let taken_back = spawn_blocking(move || withdrawal.now());
    let _ = taken_back.await;
    // Nobody is left to hear it, but what was said goodbye to must have been said.
    deciding.await.map_err(|error| format!("a fault in Linkspan: {error}"))
}

async fn tell(call: &Call, token: Option<ProgressToken>, told: f64, message: String) {
    let Some(token) = token else { return };
    let progress = ProgressNotificationParam::new(token, told).with_message(message);
    // A client that does not hear us hangs up, and that is noticed elsewhere.
    let _ = call.peer.notify_progress(progress).await;
}

/// Where the person finds what we wait for.
async fn waits(desk: &Arc<Desk>, paths: &[PathBuf]) -> String {
    let (desk, paths) = (Arc::clone(desk), paths.to_vec());
    let waits = spawn_blocking(move || desk.where_to_look(&paths)).await;
    waits.unwrap_or_else(|_| "waiting for your decision".into())
}
