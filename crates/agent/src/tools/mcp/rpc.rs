//! MCP's messages: what we send, and how an answer is read. Pure.

use serde_json::{Value, json};

use crate::models::ToolSpec;

/// The newest revision that we speak; older ones differ in nothing that we use.
pub(super) const REVISION: &str = "2025-06-18";
/// A server has other tools now.
pub(super) const NEW_TOOLS: &str = "notifications/tools/list_changed";
/// Longer names, and other letters, are refused by models.
const LONGEST_NAME: usize = 100;
const LARGEST_SCHEMA: usize = 64 * 1024;
const MOST_TOOLS: usize = 500;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RpcFailure {
    /// The server answered with an error.
    Refused(String),
    /// The server is gone, or its messages cannot be trusted. Ends the connection.
    Lost(String),
    /// It did not answer in time.
    Late,
    Cancelled,
}

pub(super) fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(super) fn hello() -> Value {
    json!({
        "protocolVersion": REVISION,
        "capabilities": {},
        "clientInfo": { "name": "linkspan-agent", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// A message of a server.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Answer {
        id: i64,
        result: Result<Value, String>,
    },
    /// It wants this answer.
    Reply(Value),
    Notice {
        method: String,
    },
}

/// `None`: not a message.
pub(super) fn read(mut message: Value) -> Option<Incoming> {
    let message = message.as_object_mut()?;
    let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
    match (message.get("id").cloned(), method) {
        (Some(id), Some(method)) => {
            let mut reply = json!({ "jsonrpc": "2.0", "id": id });
            match method.as_str() {
                "ping" => reply["result"] = json!({}),
                _ => {
                    reply["error"] = json!({ "code": -32601, "message": format!("{method} is not offered") })
                }
            }
            Some(Incoming::Reply(reply))
        }
        (None, Some(method)) => Some(Incoming::Notice { method }),
        (Some(id), None) => {
            let id = id.as_i64()?;
            if let Some(error) = message.get("error") {
                let why =
                    error.get("message").and_then(Value::as_str).unwrap_or("an error without a message");
                return Some(Incoming::Answer { id, result: Err(why.to_owned()) });
            }
            Some(Incoming::Answer { id, result: Ok(message.remove("result")?) })
        }
        (None, None) => None,
    }
}

/// One page of `tools/list`: the tools, each with the name that it has for the model, and the next page.
pub(super) fn tools(server: &str, page: &Value) -> (Vec<ToolSpec>, Option<String>) {
    let listed = page.get("tools").and_then(Value::as_array).into_iter().flatten();
    let tools = listed.take(MOST_TOOLS).filter_map(|tool| {
        let name = tool.get("name")?.as_str()?;
        if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
            return None;
        }
        let schema = tool.get("inputSchema").filter(|schema| schema.is_object());
        // Without its parameters the model could not call it.
        if schema.is_some_and(|schema| schema.to_string().len() > LARGEST_SCHEMA) {
            return None;
        }
        let about = tool.get("description").and_then(Value::as_str).unwrap_or_default();
        let about: String = about.chars().take(4000).collect();
        Some(ToolSpec {
            name: format!("{server}.{name}"),
            description: format!("{about} (of the MCP server {server})").trim().to_owned(),
            schema: schema.cloned().unwrap_or_else(|| json!({ "type": "object" })),
        })
    });
    let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
    (tools.collect(), next.map(str::to_owned))
}

/// The result of `tools/call` as text, and whether the tool failed.
pub(super) fn result_text(result: &Value) -> (String, bool) {
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let items = result.get("content").and_then(Value::as_array);
    let mut parts: Vec<String> = items.into_iter().flatten().map(item_text).collect();
    if parts.is_empty()
        && let Some(data) = result.get("structuredContent")
    {
        parts.push(data.to_string());
    }
    if parts.is_empty() {
        parts.push("(no content)".to_owned());
    }
    (parts.join("\n"), is_error)
}

fn item_text(item: &Value) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = text(item, "type").unwrap_or_default();
    if let Some(text) = text(item, "text") {
        return text;
    }
    if let Some(resource) = item.get("resource") {
        return text(resource, "text")
            .unwrap_or_else(|| format!("[a resource: {}]", text(resource, "uri").unwrap_or_default()));
    }
    match text(item, "data") {
        Some(data) => {
            let of = text(item, "mimeType").unwrap_or_default();
            format!("[{kind} {of}, {} bytes in base64, not shown]", data.len())
        }
        None => format!("[{kind} {}]", text(item, "uri").unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_requests_and_notices_are_told_apart() {
        let answer = read(json!({ "jsonrpc": "2.0", "id": 3, "result": { "a": 1 } })).unwrap();
        assert_eq!(answer, Incoming::Answer { id: 3, result: Ok(json!({ "a": 1 })) });
        let refused = read(json!({ "id": 3, "error": { "code": 1, "message": "no" } })).unwrap();
        assert_eq!(refused, Incoming::Answer { id: 3, result: Err("no".into()) });
        let Some(Incoming::Reply(pong)) = read(json!({ "id": "x", "method": "ping" })) else { panic!() };
        assert_eq!(pong, json!({ "jsonrpc": "2.0", "id": "x", "result": {} }));
        let Some(Incoming::Reply(no)) = read(json!({ "id": 1, "method": "sampling/createMessage" })) else {
            panic!()
        };
        assert_eq!(no["error"]["code"], -32601);
        assert_eq!(read(json!({ "method": "n" })), Some(Incoming::Notice { method: "n".into() }));
        for odd in [json!(1), json!([]), json!({}), json!({ "id": "a", "result": 1 }), json!({ "id": 1 })] {
            assert_eq!(read(odd.clone()), None, "{odd}");
        }
    }

    #[test]
    fn tools_are_named_after_their_server() {
        let page = json!({ "tools": [
            { "name": "a", "description": "Does a.", "inputSchema": { "type": "object", "required": ["x"] } },
            { "name": "" }, { "name": 1 }, { "name": "b\n" }, { "name": "c", "inputSchema": [] },
        ], "nextCursor": "2" });
        let (tools, next) = tools("srv", &page);
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((names, next.as_deref()), (vec!["srv.a", "srv.c"], Some("2")));
        assert_eq!(tools[0].description, "Does a. (of the MCP server srv)");
        assert_eq!(
            (&tools[0].schema["required"][0], &tools[1].schema["type"]),
            (&json!("x"), &json!("object"))
        );
    }

    #[test]
    fn a_tool_with_a_schema_that_no_model_reads_is_left_out() {
        let schema = |bytes| json!({ "type": "object", "description": "x".repeat(bytes) });
        let page = json!({ "tools": [
            { "name": "a", "inputSchema": schema(100_000) },
            { "name": "b", "inputSchema": schema(10_000) },
        ] });
        let names: Vec<_> = tools("srv", &page).0.into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["srv.b"]);
    }

    #[test]
    fn each_kind_of_content_becomes_text() {
        let result = json!({ "isError": true, "content": [
            { "type": "text", "text": "one" },
            { "type": "image", "mimeType": "image/png", "data": "aaaa" },
            { "type": "resource", "resource": { "uri": "file:///x", "text": "two" } },
            { "type": "resource_link", "uri": "file:///y" },
            7,
        ] });
        assert_eq!(
            result_text(&result),
            (
                "one\n[image image/png, 4 bytes in base64, not shown]\ntwo\n[resource_link file:///y]\n[ ]"
                    .into(),
                true
            )
        );
        assert_eq!(result_text(&json!({ "structuredContent": { "a": 1 } })), ("{\"a\":1}".into(), false));
        assert_eq!(result_text(&json!(null)), ("(no content)".into(), false));
    }
}
