//! `linkspan.el` in a real Emacs in a terminal, against the real binary and agents: what the user sees, what the agents
//! receive and what the files contain. One file for each theme.

#[cfg(test)]
mod decisions;
#[cfg(test)]
use linkspan_testkit as support;
