//! One file per target: what holds of every input.

mod addresses;
mod agent_request;
mod client_answers;
mod config;
mod decisions;
mod decode;
mod encodings;
mod event_stream;
mod framing;
mod gateways;
mod hooks;
mod hub_socket;
mod hunks;
mod lifecycle;
mod lock_files;
mod merge;
mod model_answers;
mod page_file;
mod page_request;
mod proposal;
mod relay;
mod rpc;

use crate::{conversation, messages, requests};

/// What is done with an input.
type Target = fn(&[u8]);

/// Every target by its name.
const TARGETS: [(&str, Target); 29] = [
    ("addresses", addresses::run),
    ("agent_request", agent_request::run),
    ("client_answers", client_answers::run),
    ("config", config::run),
    ("decisions", decisions::run),
    ("decode", decode::run),
    ("encodings", encodings::run),
    ("event_stream", event_stream::run),
    ("framing", framing::run),
    ("gateways", gateways::run),
    ("hooks", hooks::run),
    ("hub_socket", hub_socket::run),
    ("hunks", hunks::run),
    ("lifecycle", lifecycle::run),
    ("lock_files", lock_files::run),
    ("merge", merge::run),
    ("model_answers", model_answers::run),
    ("page_file", page_file::run),
    ("page_request", page_request::run),
    ("proposal", proposal::run),
    ("relay", relay::run),
    ("rpc", rpc::run),
    ("session_claude", |data| conversation("claude", data)),
    ("session_clio", |data| messages("clio", data)),
    ("session_copilot", |data| conversation("copilot", data)),
    ("session_gemini", |data| conversation("gemini", data)),
    ("session_linkspan", |data| conversation("linkspan", data)),
    ("session_nexus3", |data| conversation("nexus3", data)),
    ("session_ppxai", requests),
];

/// The name of every target.
pub fn names() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|(name, _)| *name)
}

/// Gives an input to the target of that name.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, target) = target.unwrap_or_else(|| panic!("there is no target `{name}`"));
    target(data);
}
