//! For a fuzz target only: what each wire makes of the bytes of an answer.

use super::wire::{Target, request};
use super::{ModelError, ModelEvent, ModelRequest, ToolSpec};
use crate::config::WireName;

/// How many wires there are.
pub const WIRES: usize = 4;

/// The events that an answer in these pieces becomes, until the first error.
pub fn read<'a>(
    wire: usize,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<ModelEvent>, Option<ModelError>) {
    let wires = [WireName::Anthropic, WireName::Openai, WireName::Gemini, WireName::Ollama];
    let wire = wires.get(wire % WIRES).copied().unwrap_or(WireName::Openai);
    let schema = serde_json::json!({ "type": "object" });
    let tool =
        |name: &str| ToolSpec { name: name.into(), description: String::new(), schema: schema.clone() };
    let tools = vec![tool("read_file"), tool("ide.open_file")];
    let asked = ModelRequest { system: "be brief".into(), messages: Vec::new(), tools };
    let target = Target { provider: "p", model: "m", context_window: None, max_output_tokens: None };
    let mut decoder = request(wire, &asked, &target).decoder;
    let mut events = Vec::new();
    for piece in pieces {
        for event in decoder.feed(piece) {
            match event {
                Ok(event) => events.push(event),
                Err(error) => return (events, Some(error)),
            }
        }
    }
    for event in decoder.finish() {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}
