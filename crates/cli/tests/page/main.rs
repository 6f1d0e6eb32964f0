//! The browser page in a real Chromium, against the real binary and agents: what the user sees, what the agents
//! receive and what the files hold. `testkit/src/review_page.rs` has the steps that most of these tests take.

#[cfg(test)]
use linkspan_testkit as support;

#[cfg(test)]
mod absent_writer;
#[cfg(test)]
mod accessibility;
#[cfg(test)]
mod agent_port;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod chat_messages;
#[cfg(test)]
mod chat_with_agent;
#[cfg(test)]
mod chat_with_engine;
#[cfg(test)]
mod comments;
#[cfg(test)]
mod deceptive_texts;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod foreign_sites;
#[cfg(test)]
mod history;
#[cfg(test)]
mod keyboard;
#[cfg(test)]
mod large_reviews;
#[cfg(test)]
mod own_agent;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod receives;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod two_pages;
#[cfg(test)]
mod unsent_work;
