//! Our own dialect, `linkspan`: MCP in the frames of the hub's own socket, for the client library, commands and
//! `linkspan mcp`. Every result is an object for programs and a text for models; each change names its writer. Being
//! MCP like the others, it makes an agent on the hub's socket an agent like any other. Must not know the socket.

mod encode;
mod events;
mod text;
mod tools;

use linkspan_editor_api::{AgentLeave, Limits, Notification};
use linkspan_review::Writer;

use crate::dialect::{Dialect, Endpoint};
use crate::mcp::{Mcp, McpClient, McpSession, ToolList};
use crate::receives::DialectReceives;

pub(crate) static DIALECT: Dialect = Dialect {
    name: "linkspan",
    // Only its user can open the socket, so there is no token, and no discovery file besides the socket.
    endpoint: Endpoint::Local,
    writer: Writer::Hub,
    relative_paths: false,
    receives: DialectReceives::EVERYTHING,
    converse: |_dialect, server| Box::new(McpSession::new(&MCP, server)),
    discovery: |_window, _lookup| Vec::new(),
    terminal_environment: |_window| Vec::new(),
};

/// The limit of the framing on that socket.
static MCP: Mcp = mcp(Limits::OF_A_HUB.body);

const fn mcp(frame_limit: usize) -> Mcp {
    Mcp {
        tools: tools::TOOLS,
        list: ToolList::new(),
        frame_limit: Some(frame_limit),
        encode: encode::encode,
        event: events::event,
        goodbye: Some(AgentLeave::METHOD),
        answers_cancelled: true,
        known_as: McpClient::as_it_says,
        later: None,
        own_tool: None,
    }
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::{AcceptedPart, Capabilities, ReviewComment};
    use serde_json::{Value, json};

    use super::*;
    use crate::conversation::Conversation;
    use crate::{Accepted, Answer, ServerFacts, Step};

    static NARROW: Mcp = mcp(2_000);

    /// The answer to an accepted change of this many bytes over a wire that accepts 2000.
    fn told(bytes: usize, written: bool) -> Value {
        let capabilities = Capabilities::default();
        let server = ServerFacts { version: "1".into(), editor_name: "Editor".into(), capabilities };
        let mut session = McpSession::new(&NARROW, server);
        let arguments = json!({ "path": "/w/a", "newText": "" });
        let params = json!({ "name": "proposeChange", "arguments": arguments });
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let Step::Call { call, .. } = session.receive(&asked.to_string(), None) else { panic!("no call") };
        let answer = Answer::Accepted(Accepted {
            review: "r1".into(),
            path: "/w/a".into(),
            text: Some("x".repeat(bytes).into()),
            unsent_mark: false,
            new_file: false,
            written,
            taken: AcceptedPart::Edited,
            hunks: Vec::new(),
            person_diff: Some("y".repeat(1_500)),
            comments: vec![ReviewComment { line: 1, text: "z".into() }],
        });
        let frame = session.answer(call, &answer).unwrap().text;
        assert!(frame.len() <= 2_000);
        serde_json::from_str::<Value>(&frame).unwrap()["result"]["structuredContent"].clone()
    }

    #[test]
    fn a_written_change_is_reported_as_accepted_whatever_has_to_be_omitted() {
        let whole = told(100, true);
        assert_eq!((&whole["outcome"], &whole["personDiff"]), (&json!("accepted"), &Value::Null));
        assert_eq!(whole["text"], "x".repeat(100));
        assert_eq!(whole.get("textOmitted"), None);
        let without = told(3_000, true);
        assert_eq!((&without["outcome"], &without["written"]), (&json!("accepted"), &json!(true)));
        assert_eq!((&without["textOmitted"], without.get("text")), (&json!(true), None));
    }

    #[test]
    fn a_change_that_the_agent_writes_is_not_accepted_without_its_text() {
        assert_eq!(told(100, false)["outcome"], "accepted");
        let failed = told(3_000, false);
        assert_eq!((&failed["outcome"], &failed["error"]["kind"]), (&Value::Null, &json!("tooLarge")));
    }
}
