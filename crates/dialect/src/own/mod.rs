//! Our own dialect, `linkspan`: MCP in the frames of the hub's own socket, for the client library, commands and
//! `linkspan mcp`. Every result is an object for programs and a text for models; each change says who writes.

mod encode;
mod events;
mod says;
mod tools;

use linkspan_editor_api::{AgentLeave, Limits, Notification};
use linkspan_review::Writer;

use crate::dialect::{Dialect, Door};
use crate::mcp::{Client, Mcp, Session, ToolList};

pub(crate) static DIALECT: Dialect = Dialect {
    name: "linkspan",
    // The socket belongs to its user alone: there is no token, and nothing to find it by but the socket.
    door: Door::Local,
    writer: Writer::Editor,
    relative_paths: false,
    converse: |_dialect, server| Box::new(Session::new(&MCP, server)),
    discovery: |_window, _lookup| Vec::new(),
    terminal_environment: |_window| Vec::new(),
};

/// What the framing of that socket takes.
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
        known_as: Client::as_it_says,
        later: None,
        own_tool: None,
    }
}

#[cfg(test)]
mod tests {
    use linkspan_editor_api::{Capabilities, ReviewComment, Taken};
    use serde_json::{Value, json};

    use super::*;
    use crate::conversation::Conversation;
    use crate::{Accepted, Answer, Server, Step};

    static NARROW: Mcp = mcp(2_000);

    /// What is told of an accepted change of so many bytes over a wire that takes 2000.
    fn told(bytes: usize, written: bool) -> Value {
        let capabilities = Capabilities::default();
        let server = Server { version: "1".into(), editor_name: "Desk".into(), capabilities };
        let mut session = Session::new(&NARROW, server);
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
            taken: Taken::Edited,
            hunks: Vec::new(),
            person_diff: Some("y".repeat(1_500)),
            comments: vec![ReviewComment { line: 1, text: "z".into() }],
        });
        let frame = session.answer(call, &answer).unwrap().text;
        assert!(frame.len() <= 2_000);
        serde_json::from_str::<Value>(&frame).unwrap()["result"]["structuredContent"].clone()
    }

    #[test]
    fn what_is_written_is_told_as_accepted_whatever_has_to_be_left_out() {
        let whole = told(100, true);
        assert_eq!((&whole["outcome"], &whole["personDiff"]), (&json!("accepted"), &Value::Null));
        assert_eq!(whole["text"], "x".repeat(100));
        assert_eq!(whole.get("textOmitted"), None);
        let without = told(3_000, true);
        assert_eq!((&without["outcome"], &without["written"]), (&json!("accepted"), &json!(true)));
        assert_eq!((&without["textOmitted"], without.get("text")), (&json!(true), None));
    }

    #[test]
    fn what_the_agent_has_to_write_is_no_accept_without_its_text() {
        assert_eq!(told(100, false)["outcome"], "accepted");
        let failed = told(3_000, false);
        assert_eq!((&failed["outcome"], &failed["error"]["kind"]), (&Value::Null, &json!("tooLarge")));
    }
}
