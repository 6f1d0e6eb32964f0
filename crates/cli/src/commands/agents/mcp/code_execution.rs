//! Runs code in the user's notebook. The user allows it first, which may take any time; the client may cancel it.

use std::pin::pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use super::args::Code;
use super::editor_session::Caller;
use super::proposals::blocking;
use super::results::Executed;
use super::server::Server;
use super::stdio::InputEnd;
use super::tool_calls::{ToolAnswer, arguments, text_of};
use super::tools::Tool;

pub(super) async fn execute(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &RequestContext<RoleServer>,
) -> Result<ToolAnswer, String> {
    let Code { code } = arguments(Tool::ExecuteCode, given)?;
    let session = Arc::clone(&server.session);
    // Not repeated when the connection is lost: it may have run.
    let start = move || {
        let editor = session.connect(&caller)?;
        editor.start("executeCode", &json!({ "code": code })).map_err(|error| error.to_string())
    };
    let pending = blocking(start).await??;
    let waiting = pending.clone();
    let mut executed = pin!(blocking(move || waiting.wait()));
    let mut input_end = server.input_end.clone();
    let answer = tokio::select! {
        answer = &mut executed => answer,
        () = cancelled(call, &mut input_end) => {
            pending.cancel();
            executed.await
        }
    };
    let output = answer?.and_then(text_of).map_err(|error| error.to_string())?;
    ToolAnswer::of(&Executed { output })
}

async fn cancelled(call: &RequestContext<RoleServer>, input_end: &mut InputEnd) {
    tokio::select! {
        () = call.ct.cancelled() => {}
        () = input_end.reached() => {}
    }
}
