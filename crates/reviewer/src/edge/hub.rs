//! The hub, on two connections with a thread each: one receives events, one sends requests. Both reconnect when the hub
//! went away.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use linkspan_client::backoff::Backoff;
use linkspan_client::{Control, ControlError};
use linkspan_editor_api::{
    AsksAnswer, AsksList, HubEvent, HubStatus, HubWatch, ReviewChange, ReviewDecidedResult, ReviewsDecide,
    ReviewsGet, ReviewsList, WindowEvent,
};

use super::wake::LoopSender;
use crate::retrying_client::{Connect, RetryingControl};
use crate::screen::{HubUpdate, Input};
use linkspan_editor_api::labels;

/// How long to wait for an event: the hub sends one only when something happens.
const LONG: Duration = Duration::from_secs(3600);

/// A request to the hub.
#[derive(Debug)]
pub(super) enum Request {
    List,
    Get(String),
    Decide(ReviewsDecide),
    Answer(AsksAnswer),
}

pub(super) fn start(connect: Connect, news: LoopSender) -> Sender<Request> {
    let (requests, asked) = channel();
    let (watching, watching_news) = (Connect::clone(&connect), news.clone());
    thread::spawn(move || watch(&watching, &watching_news));
    let requester = Requester { hub: RetryingControl::new(connect), news, folders: HashMap::new() };
    thread::spawn(move || requester.serve(&asked));
    requests
}

/// Receives events, across restarts of the hub.
fn watch(connect: &Connect, news: &LoopSender) {
    let mut was_lost = false;
    let mut backoff = Backoff::to_hub();
    loop {
        let ended = match connect() {
            Err(why) => why,
            Ok(mut control) => match control.request(&HubWatch::default()) {
                Err(error) => error.to_string(),
                Ok(()) => {
                    backoff.reset();
                    if news.send(Input::Hub(HubUpdate::Listening { again: was_lost })).is_err() {
                        return;
                    }
                    listen(&mut control, news).to_string()
                }
            },
        };
        was_lost = true;
        if news.send(Input::Hub(HubUpdate::Lost(ended))).is_err() {
            return;
        }
        thread::sleep(backoff.pause());
    }
}

fn listen(control: &mut Control, news: &LoopSender) -> ControlError {
    loop {
        match control.notification::<HubEvent>(LONG) {
            Err(error) => return error,
            Ok(None) => {}
            Ok(Some(event)) => {
                if let Some(told) = to_update(event)
                    && news.send(Input::Hub(told)).is_err()
                {
                    return ControlError::Closed;
                }
            }
        }
    }
}

/// Converts an event to an update of the screen.
fn to_update(event: HubEvent) -> Option<HubUpdate> {
    let (review, path, change) = match event.what {
        WindowEvent::Review { review, path, change, .. } => (review, path, change),
        WindowEvent::Asked { .. } | WindowEvent::AskOver { .. } => return Some(HubUpdate::AsksChanged),
        _ => return None,
    };
    let ended = |how: String| Some(HubUpdate::Ended { review: review.clone(), how });
    match change {
        ReviewChange::Decided { verdict, by } => ended(labels::decided_in(verdict, &by)),
        ReviewChange::Withdrawn => ended(labels::WITHDRAWN.into()),
        ReviewChange::Superseded { .. } => ended(labels::SUPERSEDED.into()),
        ReviewChange::Failed { error } => Some(HubUpdate::Failed { review, path, error }),
        ReviewChange::NotOnDisk => Some(HubUpdate::NotOnDisk { review, path }),
        ReviewChange::Proposed
        | ReviewChange::Edited { .. }
        | ReviewChange::Rebased { .. }
        | ReviewChange::AgentGone
        | ReviewChange::AgentBack
        | ReviewChange::Reopened { .. } => Some(HubUpdate::Changed { review }),
        ReviewChange::Shown { .. }
        | ReviewChange::Written
        | ReviewChange::OnDisk
        | ReviewChange::Delivered => None,
    }
}

struct Requester {
    hub: RetryingControl,
    news: LoopSender,
    folders: HashMap<String, Vec<String>>,
}

impl Requester {
    fn serve(mut self, asked: &Receiver<Request>) {
        while let Ok(request) = asked.recv() {
            let told = match request {
                Request::List => [Some(self.list()), self.asks()],
                Request::Get(review) => [Some(self.get(review)), None],
                Request::Decide(decide) => [Some(self.decide(&decide)), None],
                Request::Answer(answer) => [Some(self.answer(answer)), None],
            };
            if told.into_iter().flatten().any(|told| self.news.send(Input::Hub(told)).is_err()) {
                return;
            }
        }
    }

    fn list(&mut self) -> HubUpdate {
        let reviews = match self.ask(&ReviewsList { all: false }) {
            Ok(list) => list.reviews,
            Err(message) => return HubUpdate::Lost(message),
        };
        if reviews.iter().any(|review| !self.folders.contains_key(&review.window)) {
            // Without it files only have longer names.
            let windows = self.ask(&HubStatus {}).map(|status| status.windows).unwrap_or_default();
            self.folders.extend(windows.into_iter().map(|window| (window.window, window.folders)));
        }
        HubUpdate::Listed { reviews, folders: self.folders.clone() }
    }

    /// A failure is not reported here: the list fails too then, and reports it.
    fn asks(&mut self) -> Option<HubUpdate> {
        self.ask(&AsksList {}).ok().map(|list| HubUpdate::Asks(list.asks))
    }

    fn answer(&mut self, answer: AsksAnswer) -> HubUpdate {
        let result = self.ask(&answer).map(|result| result.taken);
        HubUpdate::Answered { answer, result }
    }

    fn get(&mut self, review: String) -> HubUpdate {
        match self.ask(&ReviewsGet { review: review.clone() }) {
            Ok(got) => HubUpdate::Got(Box::new(got)),
            Err(message) => HubUpdate::NotGot { review, message },
        }
    }

    fn decide(&mut self, decide: &ReviewsDecide) -> HubUpdate {
        let result = self.ask(decide);
        let outcome = match &result {
            // The hub still knows how it was decided; a decision sent before the connection was lost may have been
            // the first one.
            Ok(ReviewDecidedResult::AlreadyDecided { .. }) => {
                let got = self.ask(&ReviewsGet { review: decide.review.clone() });
                got.ok().and_then(|got| got.outcome)
            }
            _ => None,
        };
        HubUpdate::Decided { review: decide.review.clone(), result, outcome }
    }

    fn ask<R: linkspan_editor_api::Request>(&mut self, request: &R) -> Result<R::Result, String> {
        self.hub.ask(request).map_err(|error| match error {
            ControlError::Answer(error) => error.message,
            other => other.to_string(),
        })
    }
}
