//! A terminal coding agent whose changes are reviewed in the editor.
//!
//! A pure conversation ([`conversation`]) in the middle; models, tools and sessions at the edge; a host that runs
//! several agents ([`host`]); and four frontends that know only the host: terminal, headless, HTTP engine, ACP.

pub mod acp;
mod call_line;
pub mod config;
pub mod context;
pub mod conversation;
pub mod engine;
pub mod headless;
pub mod host;
pub mod message;
pub mod models;
pub mod permissions;
pub mod sandbox;
pub mod session;
pub mod tasks;
pub mod terminal;
pub mod tools;
