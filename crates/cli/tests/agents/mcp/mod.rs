//! `linkspan mcp` as an agent uses it: the real binary, one JSON document per line on its standard streams.

mod decisions;
mod eras;
mod hostile_clients;
mod reconnection;

mod tools;
mod with_node;
