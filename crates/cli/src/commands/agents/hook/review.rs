//! Waits for the user's decision on a set of changes, through the loss of the hub, and only as long as the agent waits.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use linkspan_client::bridge::ReviewRequest;
use linkspan_client::discover::Wire;
use linkspan_client::{
    AgentInfo, Bridge, BridgeConfig, BridgeError, CallError, Candidate, Change, ChangeOutcome, HubLauncher,
    Surroundings,
};
use linkspan_editor_api::HubWindows;

use super::caller_watch::CallerWatch;

/// How often we look whether the agent still waits.
const LOOK_PAUSE: Duration = Duration::from_secs(1);
/// How often we look whether the window is still there.
const WINDOW_PAUSE: Duration = Duration::from_secs(5);
/// After this many looks without it, the window is closed. One that is reloaded, or whose hub was restarted, is back
/// sooner.
const AWAY_LOOKS: u32 = 4;
/// How long the answers that have arrived may take to reach us after the requests were withdrawn.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

const CLOSED: &str = "the review was closed";
const EDITOR_CLOSED: &str = "the editor was closed";
const LOST: &str = "the connection to the editor was lost";
const EXPIRED: &str = "the review expired";
const FAILED: &str = "Linkspan failed";

/// How the wait for a decision ended.
#[derive(Debug)]
pub(super) enum ReviewResult {
    /// One decision for each change.
    Decided(Vec<ChangeOutcome>),
    /// Nothing was shown, or only for a moment until one of the files was refused, and this is why.
    NotShown(String),
    /// The user saw the changes and has not decided about all of them, and this is why.
    Undecided { why: &'static str, outcomes: Vec<Option<ChangeOutcome>> },
    /// The agent no longer waits for an answer.
    CallerGone,
}

enum WaitEvent {
    Answered(usize, Result<ChangeOutcome, BridgeError>),
    Signalled,
}

/// Shows the changes in this window and waits, without limit. Nothing stays on the screen when it returns.
pub(super) fn review(window: &Candidate, agent: AgentInfo, changes: &[Change]) -> ReviewResult {
    let not_shown = |why: &dyn std::fmt::Display| ReviewResult::NotShown(why.to_string());
    let (sender, events) = channel();
    let signalled = Sender::clone(&sender);
    // The other end is gone only if we are about to end anyway.
    let caller = match CallerWatch::start(move || drop(signalled.send(WaitEvent::Signalled))) {
        Ok(caller) => caller,
        Err(error) => return not_shown(&format!("cannot handle signals: {error}")),
    };
    let surroundings = match Surroundings::of_this_process(".".as_ref()) {
        Ok(surroundings) => surroundings,
        Err(error) => return not_shown(&error),
    };
    let bridge = Bridge::new(BridgeConfig::default(), agent, surroundings.clone());
    if let Err(error) = bridge.connect(window) {
        return not_shown(&error);
    }
    let requests: Vec<Arc<ReviewRequest>> =
        changes.iter().map(|change| Arc::new(bridge.asking(change))).collect();
    for (index, request) in requests.iter().enumerate() {
        let (request, sender) = (Arc::clone(request), Sender::clone(&sender));
        let waiting = move || drop(sender.send(WaitEvent::Answered(index, request.wait())));
        if let Err(error) = thread::Builder::new().spawn(waiting) {
            withdraw(&requests);
            return not_shown(&format!("cannot start a thread: {error}"));
        }
    }
    let mut outcomes: Vec<Option<ChangeOutcome>> = changes.iter().map(|_| None).collect();
    let mut watch =
        WindowWatch { window, surroundings: &surroundings, looked_at: Instant::now(), away_looks: 0 };
    let mut answered = 0;
    let end = loop {
        let event = events.recv_timeout(LOOK_PAUSE);
        if let Ok(WaitEvent::Answered(..)) = event {
            answered += 1;
        }
        match event {
            Ok(WaitEvent::Answered(index, Ok(outcome))) => {
                if let Some(place) = outcomes.get_mut(index) {
                    *place = Some(outcome);
                }
                if outcomes.iter().all(Option::is_some) {
                    break WaitEnd::Decided;
                }
            }
            Ok(WaitEvent::Answered(_, Err(error))) => break WaitEnd::of(&error),
            Ok(WaitEvent::Signalled) => break WaitEnd::CallerGone,
            Err(RecvTimeoutError::Timeout) if caller.is_caller_gone() => break WaitEnd::CallerGone,
            Err(RecvTimeoutError::Timeout) if watch.is_window_closed() => {
                break WaitEnd::Undecided(EDITOR_CLOSED);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break WaitEnd::Undecided(FAILED),
        }
    };
    if matches!(end, WaitEnd::Decided) {
        // One question and its answer, so that the hub has our receipt for the decision before we leave.
        bridge.is_connected();
    } else {
        withdraw(&requests);
    }
    bridge.disconnect();
    // What was decided in the meantime. Each request is waited for by a thread of its own, so that the end of one may be
    // heard before an earlier decision on another.
    let deadline = Instant::now() + LAST_ANSWERS;
    while answered < requests.len() && !matches!(end, WaitEnd::CallerGone) {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(WaitEvent::Answered(index, result)) => {
                answered += 1;
                if let (Ok(outcome), Some(place)) = (result, outcomes.get_mut(index)) {
                    *place = Some(outcome);
                }
            }
            Ok(WaitEvent::Signalled) => {}
            Err(_) => break,
        }
    }
    match end {
        WaitEnd::CallerGone => ReviewResult::CallerGone,
        _ if outcomes.iter().all(Option::is_some) => {
            ReviewResult::Decided(outcomes.into_iter().flatten().collect())
        }
        WaitEnd::Refused(why) if outcomes.iter().all(Option::is_none) => ReviewResult::NotShown(why),
        WaitEnd::Undecided(why) => ReviewResult::Undecided { why, outcomes },
        WaitEnd::Refused(_) | WaitEnd::Decided => ReviewResult::Undecided { why: CLOSED, outcomes },
    }
}

/// How the wait ended, before what was decided in the same moment is counted.
enum WaitEnd {
    Decided,
    Refused(String),
    Undecided(&'static str),
    CallerGone,
}

impl WaitEnd {
    fn of(error: &BridgeError) -> WaitEnd {
        match error {
            BridgeError::Call(error) => match undecided(error) {
                Some(why) => WaitEnd::Undecided(why),
                None => WaitEnd::Refused(error.to_string()),
            },
            BridgeError::Lost => WaitEnd::Undecided(LOST),
            BridgeError::NotConnected | BridgeError::Open(_) => WaitEnd::Refused(error.to_string()),
            _ => WaitEnd::Undecided(FAILED),
        }
    }
}

/// Why a question that the user may have seen has no answer; `None` if it was refused before it was shown.
pub(super) fn undecided(error: &CallError) -> Option<&'static str> {
    match error {
        CallError::Withdrawn => Some(CLOSED),
        CallError::Closed => Some(LOST),
        CallError::Tool { kind, .. } => match kind.as_deref() {
            Some("timeout") => Some(EXPIRED),
            Some("editorGone") => Some(EDITOR_CLOSED),
            Some("withdrawn") => Some(CLOSED),
            Some("internal") => Some(FAILED),
            _ => None,
        },
        CallError::Unsupported { .. } | CallError::TooLarge { .. } | CallError::NotOnThisWire(_) => None,
        _ => Some(FAILED),
    }
}

/// The window, and whether its editor is still there. The hub keeps a window with pending reviews, but an agent need not
/// wait for an editor that the user closed: it can ask in its own terminal.
struct WindowWatch<'a> {
    window: &'a Candidate,
    surroundings: &'a Surroundings,
    looked_at: Instant,
    away_looks: u32,
}

impl WindowWatch<'_> {
    fn is_window_closed(&mut self) -> bool {
        if self.looked_at.elapsed() < WINDOW_PAUSE {
            return false;
        }
        self.looked_at = Instant::now();
        self.away_looks = if self.is_away() { self.away_looks + 1 } else { 0 };
        self.away_looks >= AWAY_LOOKS
    }

    /// Whether a hub answers, and the window is not there or has no editor.
    fn is_away(&self) -> bool {
        let Wire::Hub { window, .. } = &self.window.wire else { return false };
        let Ok(mut control) = HubLauncher::connect(&self.surroundings.places) else { return false };
        let Ok((_, listed)) = control.hello_and("hook", &HubWindows {}) else { return false };
        !listed.windows.iter().any(|listed| listed.window == *window && listed.attached)
    }
}

/// At once for all: each waits for the hub's answer, and the agent may kill us soon.
fn withdraw(requests: &[Arc<ReviewRequest>]) {
    thread::scope(|scope| {
        for request in requests {
            scope.spawn(|| request.withdraw());
        }
    });
}
