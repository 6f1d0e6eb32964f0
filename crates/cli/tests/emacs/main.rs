//! `linkspan.el` in a real Emacs in a terminal, against the real binary and agents: what the user sees, what the agents
//! receive and what the files contain. One file for each theme.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod context;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod hunks;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod several_reviews;
#[cfg(test)]
mod startup;
#[cfg(test)]
use linkspan_testkit as support;
