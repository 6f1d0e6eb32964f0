//! Gateways for fuzz targets: the translators without the sockets they speak on.

use std::path::Path;

use linkspan_editor_api::Message;

use super::clio::{self, Clio, Disk};
use super::errands::{self, Translator};
use super::gemini::Gemini;
use super::ppxai::Ppxai;
use crate::http::{Answer, HttpError, LoopbackUrl};

/// One translator.
#[derive(Debug)]
pub struct Gateway(Kind);

#[derive(Debug)]
enum Kind {
    Clio(Clio),
    Gemini(Gemini),
    Ppxai(Ppxai),
}

/// What follows from something that was said.
#[derive(Debug)]
pub enum Move {
    /// Our session is told this.
    Tell(Message),
    /// An exchange with the editor begins.
    Go(u64),
    /// A stream of the editor is to be heard.
    Listen,
    /// The editor is asked for a sign of life.
    Probe(i64),
    /// Anything that needs no answer.
    Other,
}

const NO_DISK: Disk = Disk { read: |_| Ok(String::new()), write: |_, _, _| Ok(()) };

impl Gateway {
    /// For one of `clio`, `gemini` and `ppxai`.
    pub fn new(wire: &str) -> Gateway {
        Gateway(match wire {
            "clio" => Kind::Clio(Clio::new("0", &[], NO_DISK)),
            "gemini" => Kind::Gemini(Gemini::new(1, None, &[])),
            _ => Kind::Ppxai(Ppxai::new(&LoopbackUrl::of_port(1), None, |path: &Path| path.has_root())),
        })
    }

    /// Our session says something.
    pub fn ours(&mut self, message: Message) -> Vec<Move> {
        match &mut self.0 {
            Kind::Clio(clio) => spoken(clio.ours(message)),
            Kind::Gemini(gemini) => carried(gemini.ours(message)),
            Kind::Ppxai(ppxai) => carried(ppxai.ours(message)),
        }
    }

    /// The editor says something by itself: on its socket, or on its stream.
    pub fn theirs(&mut self, said: &str) -> Vec<Move> {
        match &mut self.0 {
            Kind::Clio(clio) => {
                serde_json::from_str(said).map(|said| spoken(clio.theirs(&said))).unwrap_or_default()
            }
            Kind::Gemini(gemini) => carried(gemini.heard(said)),
            Kind::Ppxai(ppxai) => carried(ppxai.heard(said)),
        }
    }

    /// The editor gives a sign of life.
    pub fn pong(&mut self, id: i64) -> Vec<Move> {
        match &mut self.0 {
            Kind::Clio(clio) => spoken(clio.pong(id)),
            Kind::Gemini(_) | Kind::Ppxai(_) => vec![],
        }
    }

    /// The stream is open.
    pub fn listening(&mut self) -> Vec<Move> {
        match &mut self.0 {
            Kind::Clio(_) => vec![],
            Kind::Gemini(gemini) => carried(gemini.listening()),
            Kind::Ppxai(ppxai) => carried(ppxai.listening()),
        }
    }

    /// An exchange is over; without an answer, nobody listened.
    pub fn back(&mut self, tag: u64, answer: Option<(u16, &str, Vec<u8>)>) -> Vec<Move> {
        let answer = answer.ok_or(HttpError::NothingListens).map(|(status, content_type, body)| Answer {
            status,
            content_type: content_type.to_owned(),
            session: Some("s".to_owned()),
            body,
        });
        match &mut self.0 {
            Kind::Clio(_) => vec![],
            Kind::Gemini(gemini) => carried(gemini.back(tag, answer)),
            Kind::Ppxai(ppxai) => carried(ppxai.back(tag, answer)),
        }
    }
}

fn spoken(acts: Vec<clio::Act>) -> Vec<Move> {
    let moved = |act| match act {
        clio::Act::Tell(message) => Move::Tell(message),
        clio::Act::Probe(id) => Move::Probe(id),
        clio::Act::Say(_) => Move::Other,
    };
    acts.into_iter().map(moved).collect()
}

fn carried(acts: Vec<errands::Act>) -> Vec<Move> {
    let moved = |act| match act {
        errands::Act::Tell(message) => Move::Tell(message),
        errands::Act::Go(tag, _) => Move::Go(tag),
        errands::Act::Listen(_) => Move::Listen,
        errands::Act::Stop(_) | errands::Act::Close => Move::Other,
    };
    acts.into_iter().map(moved).collect()
}
