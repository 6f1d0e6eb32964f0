//! Gateways for fuzz targets: the translators without their sockets.

use std::path::Path;

use linkspan_editor_api::Message;

use super::clio::{self, Clio, Disk};
use super::gemini::Gemini;
use super::http_gateway::{self, Translator};
use super::ppxai::Ppxai;
use crate::http::{HttpError, HttpResponse, LoopbackUrl};

/// One translator.
#[derive(Debug)]
pub struct Gateway(GatewayKind);

#[derive(Debug)]
enum GatewayKind {
    Clio(Clio),
    Gemini(Gemini),
    Ppxai(Ppxai),
}

/// The result of a message.
#[derive(Debug)]
pub enum Move {
    /// A message to our session.
    ToSession(Message),
    /// An exchange with the editor begins.
    Send(u64),
    /// A stream of the editor is opened.
    Listen,
    /// The editor is pinged.
    Probe(i64),
    /// Anything that needs no answer.
    Other,
}

const NO_DISK: Disk = Disk { read: |_| Ok(String::new()), write: |_, _, _| Ok(()) };

impl Gateway {
    /// For one of `clio`, `gemini` and `ppxai`.
    pub fn new(wire: &str) -> Gateway {
        Gateway(match wire {
            "clio" => GatewayKind::Clio(Clio::new("0", &[], NO_DISK)),
            "gemini" => GatewayKind::Gemini(Gemini::new(1, None, &[])),
            _ => {
                GatewayKind::Ppxai(Ppxai::new(&LoopbackUrl::of_port(1), None, |path: &Path| path.has_root()))
            }
        })
    }

    /// Our session sends a message.
    pub fn ours(&mut self, message: Message) -> Vec<Move> {
        match &mut self.0 {
            GatewayKind::Clio(clio) => spoken(clio.ours(message)),
            GatewayKind::Gemini(gemini) => carried(gemini.ours(message)),
            GatewayKind::Ppxai(ppxai) => carried(ppxai.ours(message)),
        }
    }

    /// The editor sends a message on its socket, or on its stream.
    pub fn theirs(&mut self, said: &str) -> Vec<Move> {
        match &mut self.0 {
            GatewayKind::Clio(clio) => {
                serde_json::from_str(said).map(|said| spoken(clio.theirs(&said))).unwrap_or_default()
            }
            GatewayKind::Gemini(gemini) => carried(gemini.heard(said)),
            GatewayKind::Ppxai(ppxai) => carried(ppxai.heard(said)),
        }
    }

    /// The editor answers a ping.
    pub fn pong(&mut self, id: i64) -> Vec<Move> {
        match &mut self.0 {
            GatewayKind::Clio(clio) => spoken(clio.pong(id)),
            GatewayKind::Gemini(_) | GatewayKind::Ppxai(_) => vec![],
        }
    }

    /// The stream is open.
    pub fn listening(&mut self) -> Vec<Move> {
        match &mut self.0 {
            GatewayKind::Clio(_) => vec![],
            GatewayKind::Gemini(gemini) => carried(gemini.listening()),
            GatewayKind::Ppxai(ppxai) => carried(ppxai.listening()),
        }
    }

    /// An exchange is complete; without an answer, the port was closed.
    pub fn back(&mut self, tag: u64, answer: Option<(u16, &str, Vec<u8>)>) -> Vec<Move> {
        let answer =
            answer.ok_or(HttpError::NothingListens).map(|(status, content_type, body)| HttpResponse {
                status,
                content_type: content_type.to_owned(),
                session: Some("s".to_owned()),
                body,
            });
        match &mut self.0 {
            GatewayKind::Clio(_) => vec![],
            GatewayKind::Gemini(gemini) => carried(gemini.back(tag, answer)),
            GatewayKind::Ppxai(ppxai) => carried(ppxai.back(tag, answer)),
        }
    }
}

fn spoken(steps: Vec<clio::ClioStep>) -> Vec<Move> {
    let moved = |step| match step {
        clio::ClioStep::ToSession(message) => Move::ToSession(message),
        clio::ClioStep::Probe(id) => Move::Probe(id),
        clio::ClioStep::ToEditor(_) => Move::Other,
    };
    steps.into_iter().map(moved).collect()
}

fn carried(steps: Vec<http_gateway::HttpStep>) -> Vec<Move> {
    let moved = |step| match step {
        http_gateway::HttpStep::ToSession(message) => Move::ToSession(message),
        http_gateway::HttpStep::Send(tag, _) => Move::Send(tag),
        http_gateway::HttpStep::Listen(_) => Move::Listen,
        http_gateway::HttpStep::Stop(_) | http_gateway::HttpStep::Close => Move::Other,
    };
    steps.into_iter().map(moved).collect()
}
