//! The hub, on two connections with a thread each: one hears what happens, one asks and tells. Both come back when
//! the hub went away.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use linkspan_client::{Control, ControlError};
use linkspan_editor_api::{
    AsksAnswer, AsksList, HubEvent, HubStatus, HubWatch, ReviewChange, ReviewDecidedResult, ReviewsDecide,
    ReviewsGet, ReviewsList, WindowEvent,
};

use super::wake::Teller;
use crate::patient::{Connect, FIRST_PAUSE, LONGEST_PAUSE, Patient};
use crate::screen::{Input, News};
use crate::visible;
use crate::wording::decided;

/// The hub tells when it has something to tell.
const LONG: Duration = Duration::from_secs(3600);

/// What is asked of the hub.
#[derive(Debug)]
pub(super) enum Request {
    List,
    Get(String),
    Decide(ReviewsDecide),
    Answer(AsksAnswer),
}

pub(super) fn start(connect: Connect, news: Teller) -> Sender<Request> {
    let (requests, asked) = channel();
    let (watching, watching_news) = (Connect::clone(&connect), news.clone());
    thread::spawn(move || watch(&watching, &watching_news));
    let asker = Asker { hub: Patient::new(connect), news, folders: HashMap::new() };
    thread::spawn(move || asker.serve(&asked));
    requests
}

/// Hears what happens, over restarts of the hub.
fn watch(connect: &Connect, news: &Teller) {
    let mut was_lost = false;
    let mut pause = FIRST_PAUSE;
    loop {
        let ended = match connect() {
            Err(why) => why,
            Ok(mut control) => match control.request(&HubWatch::default()) {
                Err(error) => error.to_string(),
                Ok(()) => {
                    pause = FIRST_PAUSE;
                    if news.send(Input::Hub(News::Listening { again: was_lost })).is_err() {
                        return;
                    }
                    listen(&mut control, news).to_string()
                }
            },
        };
        was_lost = true;
        if news.send(Input::Hub(News::Lost(ended))).is_err() {
            return;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn listen(control: &mut Control, news: &Teller) -> ControlError {
    loop {
        match control.notification::<HubEvent>(LONG) {
            Err(error) => return error,
            Ok(None) => {}
            Ok(Some(event)) => {
                if let Some(told) = told(event)
                    && news.send(Input::Hub(told)).is_err()
                {
                    return ControlError::Closed;
                }
            }
        }
    }
}

/// What an event means to a reviewer.
fn told(event: HubEvent) -> Option<News> {
    let (review, path, change) = match event.what {
        WindowEvent::Review { review, path, change, .. } => (review, path, change),
        WindowEvent::Asked { .. } | WindowEvent::AskOver { .. } => return Some(News::AsksChanged),
        _ => return None,
    };
    let ended = |how: String| Some(News::Ended { review: review.clone(), how });
    match change {
        ReviewChange::Decided { verdict, by } => {
            ended(format!("{} in {}", decided(verdict), visible::name(&by)))
        }
        ReviewChange::Withdrawn => ended("withdrawn by its agent".into()),
        ReviewChange::Superseded { .. } => ended("superseded by a newer change".into()),
        ReviewChange::Failed { error } => Some(News::Failed { review, path, error }),
        ReviewChange::NotOnDisk => Some(News::NotOnDisk { review, path }),
        ReviewChange::Proposed
        | ReviewChange::Edited { .. }
        | ReviewChange::Rebased { .. }
        | ReviewChange::AgentGone
        | ReviewChange::AgentBack
        | ReviewChange::Reopened { .. } => Some(News::Changed { review }),
        ReviewChange::Shown { .. }
        | ReviewChange::Written
        | ReviewChange::OnDisk
        | ReviewChange::Delivered => None,
    }
}

struct Asker {
    hub: Patient,
    news: Teller,
    folders: HashMap<String, Vec<String>>,
}

impl Asker {
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

    fn list(&mut self) -> News {
        let reviews = match self.ask(&ReviewsList { all: false }) {
            Ok(list) => list.reviews,
            Err(message) => return News::Lost(message),
        };
        if reviews.iter().any(|review| !self.folders.contains_key(&review.window)) {
            // Without it files have long names, and nothing else is amiss.
            let windows = self.ask(&HubStatus {}).map(|status| status.windows).unwrap_or_default();
            self.folders.extend(windows.into_iter().map(|window| (window.window, window.folders)));
        }
        News::Listed { reviews, folders: self.folders.clone() }
    }

    /// If that cannot be had, the list could not either, and it is said there.
    fn asks(&mut self) -> Option<News> {
        self.ask(&AsksList {}).ok().map(|list| News::Asks(list.asks))
    }

    fn answer(&mut self, answer: AsksAnswer) -> News {
        let result = self.ask(&answer).map(|result| result.taken);
        News::Answered { answer, result }
    }

    fn get(&mut self, review: String) -> News {
        match self.ask(&ReviewsGet { review: review.clone() }) {
            Ok(got) => News::Got(Box::new(got)),
            Err(message) => News::NotGot { review, message },
        }
    }

    fn decide(&mut self, decide: &ReviewsDecide) -> News {
        let result = self.ask(decide);
        let outcome = match &result {
            // How it was decided the hub still knows; what was told before it went away may have been first.
            Ok(ReviewDecidedResult::AlreadyDecided { .. }) => {
                let got = self.ask(&ReviewsGet { review: decide.review.clone() });
                got.ok().and_then(|got| got.outcome)
            }
            _ => None,
        };
        News::Decided { review: decide.review.clone(), result, outcome }
    }

    fn ask<R: linkspan_editor_api::Request>(&mut self, request: &R) -> Result<R::Result, String> {
        self.hub.ask(request).map_err(|error| match error {
            ControlError::Answer(error) => error.message,
            other => other.to_string(),
        })
    }
}
