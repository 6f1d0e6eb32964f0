//! The commands as a user or a script runs them: what they print, what they change, and their exit codes.

#[cfg(test)]
use linkspan_testkit as support;

#[cfg(test)]
mod agent_program;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod editor_queries;
#[cfg(test)]
mod help;
#[cfg(test)]
mod hook_install;
#[cfg(test)]
mod output;
#[cfg(test)]
mod page_link;
#[cfg(test)]
mod ppxai_bridge;
#[cfg(test)]
mod receives;
#[cfg(test)]
mod record;
#[cfg(test)]
mod review_screen;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod try_command;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod window_choice;
