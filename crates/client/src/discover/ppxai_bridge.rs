//! A bridge of ppxai: it writes no lock file, so it is looked for only where somebody asks for it.

use std::time::{Duration, Instant};

use super::candidate::{Candidate, Found, Match, Secret, Verdict, Wire};
use super::hello::hello;
use super::reason::Reason;
use super::surroundings::{PPXAI_BRIDGE_TOKEN, Surroundings};
use crate::http::LoopbackUrl;
use crate::ppxai::{self, DEFAULT_PORT};

const PATIENCE: Duration = Duration::from_secs(1);

/// The bridge at this address, or else at `http://127.0.0.1:54321`, and whether it answers. Who named it has said that
/// it fits, whatever folders it has.
pub fn ppxai_bridge(given: Option<&LoopbackUrl>, surroundings: &Surroundings) -> Candidate {
    let bridge = given.cloned().unwrap_or_else(|| LoopbackUrl::of_port(DEFAULT_PORT));
    let token = surroundings.variable(PPXAI_BRIDGE_TOKEN).map(Secret::new);
    let folders =
        |bridge: &LoopbackUrl| ppxai::folders(bridge, token.as_ref().map(|token| token.reveal()), PATIENCE);
    let wire = Wire::Ppxai { bridge: bridge.clone(), token: token.clone() };
    let verdict = match hello(&wire, Instant::now() + PATIENCE) {
        Ok(()) => Verdict::Usable,
        Err(Reason::BadToken) => Verdict::Not(Reason::WantsToken),
        Err(reason) => Verdict::Not(reason),
    };
    Candidate {
        editor: "ppxai bridge".into(),
        folders: if verdict == Verdict::Usable { folders(&bridge) } else { Vec::new() },
        wire,
        pid: None,
        found: Found::Given,
        matched: Some(Match::OwnTerminal),
        verdict,
    }
}
