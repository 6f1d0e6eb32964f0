//! Code for the person's notebook: she allows it first, and takes her time; the client may take it back meanwhile.

use std::pin::pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use super::arguments::Code;
use super::desk::Caller;
use super::perform::{Answer, arguments, said};
use super::proposing::blocking;
use super::results::Executed;
use super::server::Server;
use super::stdio::Over;
use super::tools::Tool;

pub(super) async fn execute(
    server: &Server,
    given: Map<String, Value>,
    caller: Caller,
    call: &RequestContext<RoleServer>,
) -> Result<Answer, String> {
    let Code { code } = arguments(Tool::ExecuteCode, given)?;
    let desk = Arc::clone(&server.desk);
    // Not asked again when the connection is lost: it may have run.
    let start = move || {
        let editor = desk.sit_down(&caller)?;
        editor.start("executeCode", &json!({ "code": code })).map_err(|error| error.to_string())
    };
    let pending = blocking(start).await??;
    let waiting = pending.clone();
    let mut executed = pin!(blocking(move || waiting.wait()));
    let mut over = server.over.clone();
    let answer = tokio::select! {
        answer = &mut executed => answer,
        () = taken_back(call, &mut over) => {
            pending.cancel();
            executed.await
        }
    };
    let output = answer?.and_then(said).map_err(|error| error.to_string())?;
    Answer::of(&Executed { output })
}

async fn taken_back(call: &RequestContext<RoleServer>, over: &mut Over) {
    tokio::select! {
        () = call.ct.cancelled() => {}
        () = over.ended() => {}
    }
}
