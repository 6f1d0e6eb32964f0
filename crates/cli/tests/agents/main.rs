//! Agents against the real hub: every dialect, captured conversations, the client library and clients in Python and
//! Node that were not written here (`peers`).

#[cfg(test)]
use linkspan_testkit as support;

#[cfg(test)]
mod acp_proxy;
#[cfg(test)]
mod all_dialects;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod captures;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod clio;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod confirmation;
#[cfg(test)]
mod conform;
#[cfg(test)]
mod copilot;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod frames;
#[cfg(test)]
mod gemini;
#[cfg(test)]
mod hook;
#[cfg(test)]
mod library;
#[cfg(test)]
mod library_gateways;
#[cfg(test)]
mod library_hooks;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod nexus3;
#[cfg(test)]
mod own_agent;
#[cfg(test)]
mod ppxai;
#[cfg(test)]
mod two_paths;
