//! The endpoints of a hub, and for each the request that is admitted: every refused request differs from it in one
//! thing.

use std::path::PathBuf;

use linkspan_testkit::copilot::locks;
use linkspan_testkit::page_client::{own, plain};
use linkspan_testkit::raw_http::{Request, status, upgrade, with};
use serde_json::{Value, json};

use super::fixture::{AttackFixture, PPXAI_TOKEN};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HubEndpoint {
    Claude,
    Nexus3,
    Clio,
    Gemini,
    /// The window's Unix socket.
    Copilot,
    Ppxai,
    /// The fixed port that ppxai's clients try.
    PpxaiPort,
    /// Whether a browser has a session.
    PageSession,
    PageSocket,
}

impl HubEndpoint {
    pub(super) const ALL: [HubEndpoint; 9] = [
        HubEndpoint::Claude,
        HubEndpoint::Nexus3,
        HubEndpoint::Clio,
        HubEndpoint::Gemini,
        HubEndpoint::Copilot,
        HubEndpoint::Ppxai,
        HubEndpoint::PpxaiPort,
        HubEndpoint::PageSession,
        HubEndpoint::PageSocket,
    ];

    /// Where agents connect; the page has other rules.
    pub(super) const AGENTS: [HubEndpoint; 7] = [
        HubEndpoint::Claude,
        HubEndpoint::Nexus3,
        HubEndpoint::Clio,
        HubEndpoint::Gemini,
        HubEndpoint::Copilot,
        HubEndpoint::Ppxai,
        HubEndpoint::PpxaiPort,
    ];

    /// One for each port.
    pub(super) const PORTS: [HubEndpoint; 3] =
        [HubEndpoint::Claude, HubEndpoint::PpxaiPort, HubEndpoint::PageSession];

    pub(super) const SOCKETS: [HubEndpoint; 3] =
        [HubEndpoint::Claude, HubEndpoint::Nexus3, HubEndpoint::Clio];

    pub(super) fn name(self) -> &'static str {
        match self {
            HubEndpoint::Claude => "claude",
            HubEndpoint::Nexus3 => "nexus3",
            HubEndpoint::Clio => "clio",
            HubEndpoint::Gemini => "gemini",
            HubEndpoint::Copilot => "copilot",
            HubEndpoint::Ppxai => "ppxai",
            HubEndpoint::PpxaiPort => "ppxai's own port",
            HubEndpoint::PageSession => "page",
            HubEndpoint::PageSocket => "page's socket",
        }
    }

    pub(super) fn port(self, fixture: &AttackFixture) -> u16 {
        match self {
            HubEndpoint::PpxaiPort => fixture.ppxai_port,
            HubEndpoint::PageSession | HubEndpoint::PageSocket => fixture.page,
            _ => fixture.port,
        }
    }

    /// Clio's is closed if the user has disabled it.
    pub(super) fn is_open(self, fixture: &AttackFixture) -> bool {
        self != HubEndpoint::Clio || !fixture.config_says("clio")
    }

    /// The header line with the token, if it has one.
    pub(super) fn token_line(self, token: &str) -> Option<String> {
        match self {
            HubEndpoint::Claude => Some(format!("X-Claude-Code-Ide-Authorization: {token}")),
            HubEndpoint::Nexus3 => Some(format!("X-Nexus3-Ide-Authorization: {token}")),
            HubEndpoint::Gemini => Some(format!("Authorization: Bearer {token}")),
            HubEndpoint::Copilot => Some(format!("Authorization: Nonce {token}")),
            HubEndpoint::Ppxai | HubEndpoint::PpxaiPort => Some(format!("X-Ppxai-Token: {token}")),
            HubEndpoint::Clio | HubEndpoint::PageSession | HubEndpoint::PageSocket => None,
        }
    }

    pub(super) fn token(self, fixture: &AttackFixture) -> &str {
        match self {
            HubEndpoint::Ppxai | HubEndpoint::PpxaiPort => PPXAI_TOKEN,
            _ => &fixture.token,
        }
    }

    /// A request that is admitted, and asks for something that an attacker would like to have.
    pub(super) fn request(self, fixture: &AttackFixture) -> Request {
        let port = self.port(fixture);
        let token = self.token_line(self.token(fixture));
        let lines = |lines: Vec<String>| lines.into_iter().chain(token).collect::<Vec<_>>();
        match self {
            HubEndpoint::Claude | HubEndpoint::Nexus3 | HubEndpoint::Clio => {
                Request::get(port, "/", &lines(upgrade(port)))
            }
            HubEndpoint::Gemini => Request::post(port, "/mcp", &lines(plain(port)), hello())
                .and("Accept: application/json, text/event-stream"),
            HubEndpoint::Copilot => {
                Request::post(port, "/mcp", &lines(with(&plain(port), "Host: localhost")), hello())
                    .and("X-Copilot-Session-Id: attacker")
                    .on_socket(copilot_socket(fixture))
            }
            HubEndpoint::Ppxai | HubEndpoint::PpxaiPort => {
                let args = json!({ "path": "confidential.txt" });
                let call = json!({ "id": "1", "tool": "ide.read_file", "args": args });
                Request::post(port, "/ide/execute", &lines(plain(port)), call.to_string())
            }
            HubEndpoint::PageSession => Request::get(port, "/session", &plain(port))
                .and(own(port))
                .and(format!("Cookie: {}", fixture.browser.cookie)),
            HubEndpoint::PageSocket => Request::get(port, "/socket", &fixture.browser.handshake()),
        }
    }

    /// The status of the answer to that request.
    pub(super) fn expected_status(self) -> u16 {
        match self {
            HubEndpoint::Claude | HubEndpoint::Nexus3 | HubEndpoint::Clio | HubEndpoint::PageSocket => 101,
            HubEndpoint::Gemini | HubEndpoint::Copilot | HubEndpoint::Ppxai | HubEndpoint::PpxaiPort => 200,
            HubEndpoint::PageSession => 204,
        }
    }

    pub(super) fn admits(self, fixture: &AttackFixture) -> bool {
        status(&self.request(fixture).send()) == self.expected_status()
    }
}

fn hello() -> String {
    let client = json!({ "name": "attacker", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

fn copilot_socket(fixture: &AttackFixture) -> PathBuf {
    let locks = locks(&fixture.world).into_iter().filter_map(|path| std::fs::read(path).ok());
    let mut locks = locks.filter_map(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let header = format!("Nonce {}", fixture.token);
    let lock = locks.find(|lock| lock["headers"]["Authorization"] == header).unwrap();
    lock["socketPath"].as_str().unwrap().into()
}

/// `claude, nexus3, …`
pub(super) fn names(endpoints: &[HubEndpoint]) -> String {
    endpoints.iter().map(|endpoint| endpoint.name()).collect::<Vec<_>>().join(", ")
}
