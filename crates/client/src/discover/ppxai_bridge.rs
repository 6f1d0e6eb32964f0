//! A bridge of ppxai. It writes no lock file, so it is only looked for on request.

use std::time::{Duration, Instant};

use super::candidate::{Candidate, CandidateVerdict, FoundBy, Match, Secret, Wire};
use super::liveness::hello;
use super::reason::Reason;
use super::surroundings::Surroundings;
use crate::http::LoopbackUrl;
use crate::ppxai::{self, DEFAULT_PORT};
use linkspan_editor_api::wire_names::env::PPXAI_BRIDGE_TOKEN;

const PATIENCE: Duration = Duration::from_secs(1);

/// The bridge at this address, or else at `http://127.0.0.1:54321`, and whether it answers. The caller named it, so it
/// fits, whatever its folders are.
pub fn ppxai_bridge(given: Option<&LoopbackUrl>, surroundings: &Surroundings) -> Candidate {
    let bridge = given.cloned().unwrap_or_else(|| LoopbackUrl::of_port(DEFAULT_PORT));
    let token = surroundings.variable(PPXAI_BRIDGE_TOKEN).map(Secret::new);
    let folders =
        |bridge: &LoopbackUrl| ppxai::folders(bridge, token.as_ref().map(|token| token.reveal()), PATIENCE);
    let wire = Wire::Ppxai { bridge: bridge.clone(), token: token.clone() };
    let verdict = match hello(&wire, Instant::now() + PATIENCE) {
        Ok(()) => CandidateVerdict::Usable,
        Err(Reason::BadToken) => CandidateVerdict::Not(Reason::WantsToken),
        Err(reason) => CandidateVerdict::Not(reason),
    };
    Candidate {
        editor: "ppxai bridge".into(),
        folders: if verdict == CandidateVerdict::Usable { folders(&bridge) } else { Vec::new() },
        wire,
        pid: None,
        found: FoundBy::Given,
        matched: Some(Match::OwnTerminal),
        verdict,
    }
}
