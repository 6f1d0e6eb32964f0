//! Real agents from npm, in a terminal, against the real binary: what the files hold, and what the model was told. The
//! model is one of our own on 127.0.0.1. `cargo xtask agents` installs the agents; a test without its agent fails.
//!
//! One folder or file for each agent, named `real_*`: `xtask/src/test.rs` leaves out tests by these names.

#[cfg(test)]
mod real_claude;

#[cfg(test)]
mod real_gemini;

#[cfg(test)]
mod real_opencode;

#[cfg(test)]
mod real_qwen;

#[cfg(test)]
use linkspan_testkit as support;
