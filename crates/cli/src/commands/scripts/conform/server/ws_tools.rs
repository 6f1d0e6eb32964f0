//! Points about the tools of a server that speaks MCP over a WebSocket: the list, and the arguments that agents send.
//! The shapes of the answers differ, so they are in the files of the dialects.

use serde_json::{Value, json};

use super::mcp_answer::{json_text, result};
use super::shape::{Shape, member, optional};
use super::ws_agent::WsAgent;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, required};
use crate::commands::scripts::conform::report::excerpt;

pub(crate) const AREA: &str = "Tools";

pub(crate) const CHECKS: &[Check<WsAgent>] = &[
    required(AREA, "tools-list", "`tools/list` lists tools with names and schemas", tools_list),
    required(AREA, "tool-names", "The tools that agents need are listed", tool_names),
    required(AREA, "arguments", "Listed tools take the arguments that agents send", arguments),
];

const TOOLS: Shape = Shape::Object(&[member("tools", Shape::List(&TOOL))]);
const TOOL: Shape = Shape::Object(&[
    member("name", Shape::Text),
    optional("description", Shape::Text),
    member("inputSchema", Shape::Object(&[member("type", Shape::Word(&["object"]))])),
]);

fn tools_list(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let answer = agent.request(conn, "tools/list", &json!({}))?;
    let result = result(&answer)?;
    TOOLS.check(result)?;
    agent.tools = result.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
    Ok(())
}

fn tool_names(agent: &mut WsAgent) -> Outcome {
    agent.main()?;
    let missing: Vec<&str> = agent.dialect.listed.iter().copied().filter(|tool| !agent.lists(tool)).collect();
    match missing.as_slice() {
        [] => Ok(()),
        missing => Err(failed(
            format!("the tools {}", agent.dialect.listed.join(", ")),
            format!("a list without {}", missing.join(", ")),
        )),
    }
}

fn arguments(agent: &mut WsAgent) -> Outcome {
    agent.main()?;
    for (tool, arguments) in agent.dialect.tools {
        let Some(listed) =
            agent.tools.iter().find(|listed| listed.get("name").and_then(Value::as_str) == Some(tool))
        else {
            continue;
        };
        let properties = listed.pointer("/inputSchema/properties");
        let takes = |name: &&&str| properties.and_then(|properties| properties.get(**name)).is_none();
        if let Some(missing) = arguments.iter().find(takes) {
            let came = excerpt(properties.unwrap_or(&Value::Null));
            return Err(failed(format!("the argument `{missing}` of `{tool}`"), came));
        }
    }
    Ok(())
}

/// Calls a read-only tool and checks the JSON in its answer.
pub(crate) fn answers(agent: &mut WsAgent, tool: &str, arguments: &Value, shape: &Shape) -> Outcome<Value> {
    let conn = agent.main()?;
    agent.needs(tool)?;
    let answer = agent.call(conn, tool, arguments)?;
    let value = json_text(&answer)?;
    shape.check(&value)?;
    Ok(value)
}

/// Fails unless every known folder of the workspace is among these.
pub(crate) fn has_workspace(agent: &WsAgent, folders: &[&str]) -> Outcome {
    let known = agent.folders.first();
    match known {
        Some(known) if !folders.iter().any(|folder| std::path::Path::new(folder) == known) => {
            Err(failed(format!("the workspace folder {}", known.display()), folders.join(", ")))
        }
        _ => Ok(()),
    }
}
