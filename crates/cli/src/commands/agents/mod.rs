//! Agents: our own, the permissions they ask for, the ones they have, the hook that asks before they edit, the editor as an
//! MCP server for them, and what stands between them and an editor of their own.

pub(crate) mod acp;
pub(crate) mod agent;
pub(crate) mod allow;
pub(crate) mod asks;
pub(crate) mod clients;
pub(crate) mod deny;
pub(crate) mod hook;
pub(crate) mod mcp;
