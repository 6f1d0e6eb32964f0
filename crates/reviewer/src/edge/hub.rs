//! The hub, on two connections with a thread each: one hears what happens, one asks and tells. Both come back when
//! the hub went away; a decision that was on its way is told again, because it counts once however often it is told.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use linkspan_client::{Control, ControlError};
use linkspan_editor_api::{
    HubEvent, HubStatus, HubWatch, ReviewChange, ReviewsDecide, ReviewsGet, ReviewsList, WindowEvent,
};

use super::Connect;
use crate::screen::{Input, News};
use crate::visible;
use crate::wording::decided;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// The hub tells when it has something to tell.
const LONG: Duration = Duration::from_secs(3600);

/// What is asked of the hub.
#[derive(Debug)]
pub(super) enum Request {
    List,
    Get(String),
    Decide(ReviewsDecide),
}

pub(super) fn start(connect: Connect, news: Sender<Input>) -> Sender<Request> {
    let (requests, asked) = channel();
    let (watching, watching_news) = (Connect::clone(&connect), news.clone());
    thread::spawn(move || watch(&watching, &watching_news));
    let asker = Asker { connect, control: None, news, folders: HashMap::new() };
    thread::spawn(move || asker.serve(&asked));
    requests
}

/// Hears what happens, over restarts of the hub.
fn watch(connect: &Connect, news: &Sender<Input>) {
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

fn listen(control: &mut Control, news: &Sender<Input>) -> ControlError {
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
    let WindowEvent::Review { review, path, change, .. } = event.what else { return None };
    let ended = |how: String| Some(News::Ended { review: review.clone(), how });
    match change {
        ReviewChange::Decided { verdict, by } => {
            ended(format!("{} in {}", decided(verdict), visible::name(&by)))
        }
        ReviewChange::Withdrawn => ended("withdrawn by its agent".into()),
        ReviewChange::Superseded { .. } => ended("superseded by a newer change".into()),
        ReviewChange::Failed { error } => Some(News::Failed { review, path, error }),
        ReviewChange::Proposed
        | ReviewChange::Edited { .. }
        | ReviewChange::Rebased { .. }
        | ReviewChange::Reopened { .. } => Some(News::Changed { review }),
        ReviewChange::Shown { .. } | ReviewChange::Written | ReviewChange::Delivered => None,
    }
}

struct Asker {
    connect: Connect,
    control: Option<Control>,
    news: Sender<Input>,
    folders: HashMap<String, Vec<String>>,
}

impl Asker {
    fn serve(mut self, asked: &Receiver<Request>) {
        while let Ok(request) = asked.recv() {
            let told = match request {
                Request::List => self.list(),
                Request::Get(review) => self.get(review),
                Request::Decide(decide) => self.decide(&decide),
            };
            if self.news.send(Input::Hub(told)).is_err() {
                return;
            }
        }
    }

    fn list(&mut self) -> News {
        let reviews = match self.ask(&ReviewsList { all: false }).0 {
            Ok(list) => list.reviews,
            Err(message) => return News::Lost(message),
        };
        if reviews.iter().any(|review| !self.folders.contains_key(&review.window)) {
            // Without it files have long names, and nothing else is amiss.
            let windows = self.ask(&HubStatus {}).0.map(|status| status.windows).unwrap_or_default();
            self.folders.extend(windows.into_iter().map(|window| (window.window, window.folders)));
        }
        News::Listed { reviews, folders: self.folders.clone() }
    }

    fn get(&mut self, review: String) -> News {
        match self.ask(&ReviewsGet { review: review.clone() }).0 {
            Ok(got) => News::Got(Box::new(got)),
            Err(message) => News::NotGot { review, message },
        }
    }

    fn decide(&mut self, decide: &ReviewsDecide) -> News {
        let (result, repeated) = self.ask(decide);
        News::Decided { review: decide.review.clone(), result, repeated }
    }

    /// Asks until there is an answer, over restarts of the hub; whether it had to be asked again.
    fn ask<R: linkspan_editor_api::Request>(&mut self, request: &R) -> (Result<R::Result, String>, bool) {
        let mut repeated = false;
        let mut pause = FIRST_PAUSE;
        loop {
            if self.control.is_none() {
                self.control = (self.connect)().ok();
            }
            match self.control.as_mut().map(|control| control.request(request)) {
                Some(Ok(answer)) => return (Ok(answer), repeated),
                Some(Err(ControlError::Answer(error))) => return (Err(error.message), repeated),
                Some(Err(ControlError::Closed | ControlError::Io(_) | ControlError::Timeout { .. })) => {
                    self.control = None;
                    repeated = true;
                }
                Some(Err(error)) => return (Err(error.to_string()), repeated),
                None => {}
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
