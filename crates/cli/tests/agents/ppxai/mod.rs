//! The ppxai dialect from outside: raw HTTP to the real hub, each tool with its successes, errors and limits.

mod access;
mod delivery;
mod editor;
mod edits;
mod examples;
mod git;
mod port;
mod terminal;
mod workspace;
