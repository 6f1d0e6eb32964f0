//! The extension in real VS Codes, the oldest we support and the newest, against the real binary and agents: what the
//! user sees, what the agents receive and what the files contain. One file for each theme; `runner.rs` runs the
//! scenarios of all of them.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod context;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod extension_host;
#[cfg(test)]
mod hunks;
#[cfg(test)]
mod inline;
#[cfg(test)]
mod own_agent;
#[cfg(test)]
mod past;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod runner;
#[cfg(test)]
mod several_reviews;
#[cfg(test)]
mod startup;
#[cfg(test)]
use linkspan_testkit as support;
#[cfg(test)]
mod terminal;

#[cfg(test)]
use runner::{Scenarios, run};
#[cfg(test)]
use support::Version;

/// In the order they are run: the themes that most depend on VS Code's interface first.
#[cfg(test)]
const SCENARIOS: &[Scenarios] = &[
    startup::IN_A_NEW_VSCODE,
    decisions::SCENARIOS,
    hunks::SCENARIOS,
    documents::SCENARIOS,
    inline::SCENARIOS,
    inline::INLINE_STYLE,
    several_reviews::SCENARIOS,
    several_reviews::SETTINGS,
    past::SCENARIOS,
    context::SCENARIOS,
    chat::SCENARIOS,
    terminal::SCENARIOS,
    terminal::SETTINGS,
    bad_input::SCENARIOS,
    bad_input::OWN_WINDOWS,
    own_agent::SCENARIOS,
    recovery::SCENARIOS,
    startup::SCENARIOS,
];

#[test]
fn oldest() {
    run(Version::Oldest, SCENARIOS);
}

#[test]
fn newest() {
    run(Version::Newest, SCENARIOS);
}
