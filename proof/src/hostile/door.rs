//! The doors of a hub, and for each the request that is let in: whatever is refused differs from it in one thing.

use linkspan_testkit::page_door::{own, plain};
use linkspan_testkit::raw::{Request, status, upgrade};
use serde_json::json;

use super::stage::{PPXAI_TOKEN, Stage};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    Claude,
    Nexus3,
    Clio,
    Gemini,
    Ppxai,
    /// The port that ppxai's clients know by heart.
    WellKnown,
    /// Whether a browser has a session.
    PageSession,
    PageSocket,
}

impl Door {
    pub(super) const ALL: [Door; 8] = [
        Door::Claude,
        Door::Nexus3,
        Door::Clio,
        Door::Gemini,
        Door::Ppxai,
        Door::WellKnown,
        Door::PageSession,
        Door::PageSocket,
    ];

    /// Where agents come in; the page's rules are others.
    pub(super) const AGENTS: [Door; 6] =
        [Door::Claude, Door::Nexus3, Door::Clio, Door::Gemini, Door::Ppxai, Door::WellKnown];

    /// One for each port.
    pub(super) const PORTS: [Door; 3] = [Door::Claude, Door::WellKnown, Door::PageSession];

    pub(super) const SOCKETS: [Door; 3] = [Door::Claude, Door::Nexus3, Door::Clio];

    pub(super) fn name(self) -> &'static str {
        match self {
            Door::Claude => "claude",
            Door::Nexus3 => "nexus3",
            Door::Clio => "clio",
            Door::Gemini => "gemini",
            Door::Ppxai => "ppxai",
            Door::WellKnown => "ppxai's own port",
            Door::PageSession => "page",
            Door::PageSocket => "page's socket",
        }
    }

    pub(super) fn port(self, stage: &Stage) -> u16 {
        match self {
            Door::WellKnown => stage.well_known,
            Door::PageSession | Door::PageSocket => stage.page,
            _ => stage.port,
        }
    }

    /// Clio's is shut where the person has switched it off.
    pub(super) fn is_open(self, stage: &Stage) -> bool {
        self != Door::Clio || !stage.config_says("clio")
    }

    /// The header line with the token, if it has one.
    pub(super) fn token_line(self, token: &str) -> Option<String> {
        match self {
            Door::Claude => Some(format!("X-Claude-Code-Ide-Authorization: {token}")),
            Door::Nexus3 => Some(format!("X-Nexus3-Ide-Authorization: {token}")),
            Door::Gemini => Some(format!("Authorization: Bearer {token}")),
            Door::Ppxai | Door::WellKnown => Some(format!("X-Ppxai-Token: {token}")),
            Door::Clio | Door::PageSession | Door::PageSocket => None,
        }
    }

    pub(super) fn token(self, stage: &Stage) -> &str {
        match self {
            Door::Ppxai | Door::WellKnown => PPXAI_TOKEN,
            _ => &stage.token,
        }
    }

    /// What is let in, and asks for something that a stranger would like to have done.
    pub(super) fn request(self, stage: &Stage) -> Request {
        let port = self.port(stage);
        let token = self.token_line(self.token(stage));
        let lines = |lines: Vec<String>| lines.into_iter().chain(token).collect::<Vec<_>>();
        match self {
            Door::Claude | Door::Nexus3 | Door::Clio => Request::get(port, "/", &lines(upgrade(port))),
            Door::Gemini => {
                let client = json!({ "name": "attacker", "version": "1" });
                let params =
                    json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
                let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
                Request::post(port, "/mcp", &lines(plain(port)), hello.to_string())
                    .and("Accept: application/json, text/event-stream")
            }
            Door::Ppxai | Door::WellKnown => {
                let args = json!({ "path": "confidential.txt" });
                let call = json!({ "id": "1", "tool": "ide.read_file", "args": args });
                Request::post(port, "/ide/execute", &lines(plain(port)), call.to_string())
            }
            Door::PageSession => Request::get(port, "/session", &plain(port))
                .and(own(port))
                .and(format!("Cookie: {}", stage.browser.cookie)),
            Door::PageSocket => Request::get(port, "/socket", &stage.browser.handshake()),
        }
    }

    /// What it answers to that request.
    pub(super) fn lets_in_with(self) -> u16 {
        match self {
            Door::Claude | Door::Nexus3 | Door::Clio | Door::PageSocket => 101,
            Door::Gemini | Door::Ppxai | Door::WellKnown => 200,
            Door::PageSession => 204,
        }
    }

    pub(super) fn lets_in(self, stage: &Stage) -> bool {
        status(&self.request(stage).send()) == self.lets_in_with()
    }
}

/// `claude, nexus3, …`
pub(super) fn names(doors: &[Door]) -> String {
    doors.iter().map(|door| door.name()).collect::<Vec<_>>().join(", ")
}
