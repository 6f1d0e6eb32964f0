//! Real agents from npm, in a terminal, against the real binary: the content of files, and what the model received. The
//! model is a server of the test on 127.0.0.1. `cargo xtask agents` installs the agents; a test without its agent fails.
//!
//! One folder or file for each agent, named `real_*`: `xtask/src/selection.rs` leaves out tests by these names. `hooks` has
//! the hooks of all of them.

#[cfg(test)]
mod hooks;

#[cfg(test)]
mod real_claude;

#[cfg(test)]
mod real_acp_clients;

#[cfg(test)]
mod real_codex;

#[cfg(test)]
mod real_codex_daemon;

#[cfg(test)]
mod real_copilot;

#[cfg(test)]
mod real_engine;

#[cfg(test)]
mod real_gemini;

#[cfg(test)]
mod real_hosted;

#[cfg(test)]
mod real_opencode;

#[cfg(test)]
mod real_qwen;

#[cfg(test)]
use linkspan_testkit as support;
