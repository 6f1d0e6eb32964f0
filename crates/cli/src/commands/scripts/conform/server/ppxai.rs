//! The points of ppxai's protocol: tools over plain HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::decider::WantedDecision;
use super::peer::{Arrived, HttpAnswer, SILENCE, ServerPeer};
use super::sample::{AFTER, BEFORE};
use super::shape::{Shape, member, optional};
use super::{Decider, Sample, Stand, Walked};
use crate::commands::scripts::conform::point::{
    Check, Outcome, failed, recommended, required, skipped, walk,
};
use crate::commands::scripts::conform::report::excerpt;

const CONNECTION: &str = "Connection";
const TOOLS: &str = "Tools";
const CHANGES: &str = "Changes";
const MISTAKES: &str = "Mistakes";

struct PpxaiAgent {
    peer: ServerPeer,
    token: Option<String>,
    folders: Vec<std::path::PathBuf>,
    sample: Sample,
    decider: Decider,
    name: Option<String>,
}

const CHECKS: &[Check<PpxaiAgent>] = &[
    required(CONNECTION, "status", "GET /status answers with a status, a version and capabilities", status),
    required(CONNECTION, "no-token", "A call without the token is refused if there is one", |agent| {
        refused_with(agent, None)
    }),
    required(CONNECTION, "wrong-token", "A call with a wrong token is refused if there is one", |agent| {
        refused_with(agent, Some("no-such-token"))
    }),
    recommended(CONNECTION, "web-page", "A call from a web page (`Origin`) is refused", web_page),
    recommended(CONNECTION, "no-cors", "No web page is allowed to read an answer", no_cors),
    required(CONNECTION, "id", "An answer repeats the id of its call, a text or a number", id),
    required(TOOLS, "workspace-info", "`ide.get_workspace_info` lists the workspace", workspace_info),
    required(TOOLS, "list-files", "`ide.list_files` lists files relative to the workspace", list_files),
    required(TOOLS, "read-file", "`ide.read_file` answers with the content and the language", read_file),
    required(TOOLS, "search-files", "`ide.search_files` finds lines, counted from 1", search_files),
    required(TOOLS, "open-files", "`ide.get_open_files` lists the tabs", |agent| {
        answers(agent, "ide.get_open_files", &json!({}), &OPEN_FILES).map(|_| ())
    }),
    required(TOOLS, "active-file", "`ide.get_active_file` answers with the file or null", |agent| {
        answers(agent, "ide.get_active_file", &json!({}), &ACTIVE_FILE).map(|_| ())
    }),
    required(TOOLS, "selection", "`ide.get_selection` answers with the selection or null", |agent| {
        answers(agent, "ide.get_selection", &json!({}), &SELECTION).map(|_| ())
    }),
    required(TOOLS, "diagnostics", "`ide.get_diagnostics` answers with a list", |agent| {
        answers(agent, "ide.get_diagnostics", &json!({}), &DIAGNOSTICS).map(|_| ())
    }),
    required(CHANGES, "apply-edit", "`ide.apply_edit` is not answered before the user decides", apply_edit),
    required(CHANGES, "show-diff", "`ide.show_diff` is not answered before the user decides", show_diff),
    required(CHANGES, "confirmed", "`confirmed: true` from the caller is not the user's consent", confirmed),
    required(CHANGES, "meanwhile", "Other calls are answered while a change is pending", meanwhile),
    required(CHANGES, "unchanged", "What nobody accepted is not written", unchanged),
    required(MISTAKES, "unknown-tool", "A call of an unknown tool fails with status 200", unknown_tool),
    required(MISTAKES, "no-arguments", "A call without its arguments fails", no_arguments),
    required(MISTAKES, "outside", "A file outside the workspace is not read", outside),
    required(MISTAKES, "bad-json", "A body that is not JSON gets status 400", bad_json),
    required(MISTAKES, "no-call", "JSON that is not a call gets status 400", no_call),
    recommended(MISTAKES, "content-type", "A body that is not declared as JSON is refused", content_type),
    required(MISTAKES, "unknown-path", "Another path is refused", unknown_path),
    required("Decisions", "accept", "An accepted change succeeds, and the server has written it", accept),
    required("Decisions", "reject", "A rejected change fails, and nothing is written", reject),
    required("Time", "deadlines", "Every answer that needs no user came in time", |agent| {
        agent.peer.deadlines_kept()
    }),
];

pub(crate) fn walk_through(stand: Stand) -> Walked {
    let Stand { peer, token, folders, sample, decider } = stand;
    let mut agent = PpxaiAgent { peer, token, folders, sample, decider, name: None };
    let findings = walk(&mut agent, &[CHECKS]);
    (findings, agent.name)
}

impl PpxaiAgent {
    fn headers(&self, token: Option<&str>) -> Vec<(&'static str, String)> {
        let token = token.map(|token| ("X-Ppxai-Token", token.to_owned()));
        token.into_iter().chain([("Content-Type", "application/json".to_owned())]).collect()
    }

    fn own_headers(&self) -> Vec<(&'static str, String)> {
        self.headers(self.token.as_deref())
    }

    fn execute(&mut self, headers: &[(&'static str, String)], body: &str) -> Outcome<HttpAnswer> {
        self.peer.exchange("POST /ide/execute", headers, Some(body))
    }

    /// The whole answer of a tool, whether it failed or not.
    fn call(&mut self, tool: &str, args: &Value) -> Outcome<Value> {
        let answer = self.execute(&self.own_headers(), &call(tool, args))?;
        if answer.status != 200 {
            return Err(failed("status 200", answer.words()));
        }
        CALL_ANSWER.check(&answer.body)?;
        Ok(answer.body)
    }

    /// Sends a call that waits for the user.
    fn start(&mut self, tool: &str, args: &Value) -> Outcome<u64> {
        let headers = self.own_headers();
        self.peer.open("POST /ide/execute", &headers, Some(&call(tool, args)))
    }

    fn waits(&mut self, conn: u64) -> Outcome {
        match self.peer.wait(conn, SILENCE, |_| true) {
            Arrived::Nothing => Ok(()),
            other => Err(failed("no answer before the user decides", other.words())),
        }
    }

    /// Proposes the change of the sample.
    fn propose(&mut self, more: Value) -> Outcome<u64> {
        let mut args = json!({ "path": self.sample.path_text(), "content": AFTER });
        if let (Some(args), Value::Object(more)) = (args.as_object_mut(), more) {
            args.extend(more);
        }
        self.start("ide.apply_edit", &args)
    }
}

fn call(tool: &str, args: &Value) -> String {
    json!({ "id": "conform", "tool": tool, "args": args }).to_string()
}

const CALL_ANSWER: Shape =
    Shape::Object(&[member("id", Shape::Word(&["conform"])), member("success", Shape::Bool)]);
const STATUS: Shape = Shape::Object(&[
    member("status", Shape::Text),
    member("version", Shape::Text),
    member("capabilities", Shape::Anything),
]);

fn status(agent: &mut PpxaiAgent) -> Outcome {
    let answer = agent.peer.exchange("GET /status", &agent.own_headers(), None)?;
    if answer.status != 200 {
        return Err(failed("status 200", answer.words()));
    }
    STATUS.check(&answer.body)?;
    agent.name =
        answer.body.get("version").and_then(Value::as_str).map(|version| format!("version {version}"));
    Ok(())
}

fn refused_with(agent: &mut PpxaiAgent, token: Option<&str>) -> Outcome {
    if agent.token.is_none() {
        return Err(skipped("the server has no token, or PPXAI_BRIDGE_TOKEN is not set here"));
    }
    is_refused(agent, &agent.headers(token))
}

fn is_refused(agent: &mut PpxaiAgent, headers: &[(&'static str, String)]) -> Outcome {
    let answer = agent.execute(headers, &call("ide.get_workspace_info", &json!({})))?;
    match answer.status {
        400..=499 => Ok(()),
        _ => Err(failed("a status from 400 to 499", answer.words())),
    }
}

fn web_page(agent: &mut PpxaiAgent) -> Outcome {
    let mut headers = agent.own_headers();
    headers.push(("Origin", "https://example.com".to_owned()));
    is_refused(agent, &headers)
}

fn no_cors(agent: &mut PpxaiAgent) -> Outcome {
    let answer = agent.execute(&agent.own_headers(), &call("ide.get_workspace_info", &json!({})))?;
    match answer.head.header("access-control-allow-origin") {
        None => Ok(()),
        Some(origin) => Err(failed("no Access-Control-Allow-Origin", origin)),
    }
}

fn id(agent: &mut PpxaiAgent) -> Outcome {
    for id in [json!("a text"), json!(17)] {
        let body = json!({ "id": id, "tool": "ide.get_workspace_info", "args": {} });
        let answer = agent.execute(&agent.own_headers(), &body.to_string())?;
        if answer.body.get("id") != Some(&id) {
            return Err(failed(format!("the id {id}"), answer.words()));
        }
    }
    Ok(())
}

/// The result of a tool that succeeds, in its shape.
fn answers(agent: &mut PpxaiAgent, tool: &str, args: &Value, shape: &Shape) -> Outcome<Value> {
    let answer = agent.call(tool, args)?;
    if answer.get("success") != Some(&Value::Bool(true)) {
        return Err(failed("a success", excerpt(&answer)));
    }
    let result = answer.get("result").cloned().unwrap_or(Value::Null);
    shape.check(&result)?;
    Ok(result)
}

const FOLDER: Shape = Shape::Object(&[member("name", Shape::Text), member("path", Shape::Text)]);
const INFO: Shape =
    Shape::Object(&[member("name", Shape::OrNull(&Shape::Text)), member("folders", Shape::List(&FOLDER))]);

fn workspace_info(agent: &mut PpxaiAgent) -> Outcome {
    let info = answers(agent, "ide.get_workspace_info", &json!({}), &INFO)?;
    let listed = info.get("folders").and_then(Value::as_array).into_iter().flatten();
    let paths: Vec<&str> = listed.filter_map(|folder| folder.get("path")?.as_str()).collect();
    match agent.folders.first() {
        Some(known) if !paths.iter().any(|path| std::path::Path::new(path) == known) => {
            Err(failed(format!("the workspace folder {}", known.display()), paths.join(", ")))
        }
        _ => Ok(()),
    }
}

fn list_files(agent: &mut PpxaiAgent) -> Outcome {
    let args = json!({ "pattern": "**/linkspan-conform-*/sample.txt" });
    let files = answers(agent, "ide.list_files", &args, &Shape::List(&Shape::Text))?;
    let path = agent.sample.path_text();
    let listed: Vec<&str> = files.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match listed.iter().any(|file| !file.starts_with('/') && path.ends_with(file)) {
        true => Ok(()),
        false => Err(failed(format!("a list with {path}, relative to the workspace"), excerpt(&files))),
    }
}

const FILE: Shape = Shape::Object(&[
    member("content", Shape::Text),
    member("language", Shape::Text),
    optional("dirty", Shape::Bool),
]);

fn read_file(agent: &mut PpxaiAgent) -> Outcome {
    let args = json!({ "path": agent.sample.path_text() });
    let file = answers(agent, "ide.read_file", &args, &FILE)?;
    match file.get("content").and_then(Value::as_str) {
        Some(BEFORE) => Ok(()),
        _ => Err(failed(format!("{BEFORE:?}"), excerpt(&file))),
    }
}

const MATCH: Shape =
    Shape::Object(&[member("path", Shape::Text), member("line", Shape::Count), member("text", Shape::Text)]);

fn search_files(agent: &mut PpxaiAgent) -> Outcome {
    let args = json!({ "query": "two", "pattern": "**/linkspan-conform-*/sample.txt" });
    let found = answers(agent, "ide.search_files", &args, &Shape::List(&MATCH))?;
    match found.pointer("/0/line").and_then(Value::as_u64) {
        Some(2) => Ok(()),
        _ => Err(failed("line 2 of the sample", excerpt(&found))),
    }
}

const OPEN_FILES: Shape = Shape::List(&Shape::Object(&[member("path", Shape::Text)]));
const ACTIVE_FILE: Shape = Shape::OrNull(&Shape::Object(&[
    member("path", Shape::Text),
    member("content", Shape::Text),
    member("language", Shape::Text),
]));
const PLACE: Shape = Shape::Object(&[member("line", Shape::Count), member("column", Shape::Count)]);
const SELECTION: Shape = Shape::OrNull(&Shape::Object(&[
    member("text", Shape::Text),
    member("file", Shape::Text),
    member("start", PLACE),
    member("end", PLACE),
]));
const DIAGNOSTICS: Shape = Shape::List(&Shape::Object(&[
    member("path", Shape::Text),
    member("severity", Shape::Word(&["Error", "Warning", "Information", "Hint"])),
    member("message", Shape::Text),
    member("line", Shape::Count),
    member("column", Shape::Count),
]));

fn apply_edit(agent: &mut PpxaiAgent) -> Outcome {
    let conn = agent.propose(json!({}))?;
    let waits = agent.waits(conn);
    agent.peer.close(conn);
    waits
}

fn show_diff(agent: &mut PpxaiAgent) -> Outcome {
    let args = json!({ "path": agent.sample.path_text(), "content": AFTER });
    let conn = agent.start("ide.show_diff", &args)?;
    let waits = agent.waits(conn);
    agent.peer.close(conn);
    waits
}

fn confirmed(agent: &mut PpxaiAgent) -> Outcome {
    let conn = agent.propose(json!({ "confirmed": true }))?;
    let waits = agent.waits(conn);
    agent.peer.close(conn);
    waits
}

fn meanwhile(agent: &mut PpxaiAgent) -> Outcome {
    let conn = agent.propose(json!({}))?;
    let served = agent.waits(conn).and_then(|()| agent.call("ide.get_workspace_info", &json!({})));
    agent.peer.close(conn);
    served.map(|_| ())
}

fn unchanged(agent: &mut PpxaiAgent) -> Outcome {
    match agent.sample.holds() {
        text if text == BEFORE => Ok(()),
        text => Err(failed("a file as it was", text)),
    }
}

fn fails(answer: &Value) -> Outcome {
    let has_reason = answer.get("error").is_some_and(Value::is_string);
    match answer.get("success") == Some(&Value::Bool(false)) && has_reason {
        true => Ok(()),
        false => Err(failed("`success` false with an `error`", excerpt(answer))),
    }
}

fn unknown_tool(agent: &mut PpxaiAgent) -> Outcome {
    fails(&agent.call("ide.no_such_tool_of_conform", &json!({}))?)
}

fn no_arguments(agent: &mut PpxaiAgent) -> Outcome {
    fails(&agent.call("ide.read_file", &json!({}))?)
}

fn outside(agent: &mut PpxaiAgent) -> Outcome {
    fails(&agent.call("ide.read_file", &json!({ "path": "/etc/hosts" }))?)
}

fn has_status(answer: &HttpAnswer, status: u16) -> Outcome {
    match answer.status == status {
        true => Ok(()),
        false => Err(failed(format!("status {status}"), answer.words())),
    }
}

fn bad_json(agent: &mut PpxaiAgent) -> Outcome {
    has_status(&agent.execute(&agent.own_headers(), "{\"id\": ")?, 400)
}

fn no_call(agent: &mut PpxaiAgent) -> Outcome {
    for body in ["[]", "{}", "{\"id\": \"1\", \"args\": {}}"] {
        has_status(&agent.execute(&agent.own_headers(), body)?, 400)?;
    }
    Ok(())
}

fn content_type(agent: &mut PpxaiAgent) -> Outcome {
    let mut headers = agent.own_headers();
    headers.retain(|(name, _)| *name != "Content-Type");
    headers.push(("Content-Type", "text/plain".to_owned()));
    is_refused(agent, &headers)
}

fn unknown_path(agent: &mut PpxaiAgent) -> Outcome {
    let answer = agent.peer.exchange("POST /no/such/path", &agent.own_headers(), Some("{}"))?;
    match answer.status {
        400..=499 => Ok(()),
        _ => Err(failed("a status from 400 to 499", answer.words())),
    }
}

fn decided(agent: &mut PpxaiAgent, verdict: WantedDecision, file: &str) -> Outcome<(Value, String)> {
    agent.decider.is_there()?;
    // A server may keep the changes of calls that were cut off, because a client may ask again.
    agent.sample.renew(file);
    let conn = agent.propose(json!({}))?;
    agent.waits(conn)?;
    let path = agent.sample.path.clone();
    let time: Duration = agent.decider.decide(verdict, &path, agent.peer.timeout)?;
    let arrived = agent.peer.wait(conn, time, |_| true);
    let holds = agent.sample.holds();
    agent.peer.close(conn);
    match arrived {
        Arrived::Message(answer) => Ok((answer, holds)),
        other => Err(failed("an answer", other.words())),
    }
}

fn accept(agent: &mut PpxaiAgent) -> Outcome {
    let (answer, holds) = decided(agent, WantedDecision::Accept, "accepted.txt")?;
    match (answer.get("success") == Some(&Value::Bool(true)), holds == AFTER) {
        (true, true) => Ok(()),
        (false, _) => Err(failed("a success", excerpt(&answer))),
        (true, false) => Err(failed(format!("a file that holds {AFTER:?}"), format!("{holds:?}"))),
    }
}

fn reject(agent: &mut PpxaiAgent) -> Outcome {
    let (answer, holds) = decided(agent, WantedDecision::Reject, "rejected.txt")?;
    fails(&answer)?;
    if holds == BEFORE { Ok(()) } else { Err(failed("a file as it was", holds)) }
}
