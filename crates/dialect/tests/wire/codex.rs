//! The conversation with Codex's daemon: captured ones are understood, each approval is answered once, and nothing that
//! is not understood is answered at all.

use std::collections::BTreeMap;
use std::path::PathBuf;

use linkspan_dialect::{
    Accepted, Answer, CODEX, CallId, DecidedHunk, Endpoint, Failure, FailureKind, PatchChange, PatchFile,
    Request, Session, Step,
};
use linkspan_editor_api::AcceptedPart;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{self, comment, session};

const THREAD: &str = "t1";

/// What was captured: the results by the method of their request, and everything else that the daemon sent.
struct Capture {
    results: BTreeMap<String, Value>,
    sent: Vec<Value>,
}

fn capture(name: &str) -> Capture {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../testdata/wire/codex/codex-0.166.0-{name}.jsonl"));
    let text = std::fs::read_to_string(path).unwrap();
    let (mut methods, mut results, mut sent) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        // Of two clients, the second one is the stand-in for us.
        let is_ours = line["conn"].is_null() || line["conn"] == "hub";
        let frame = &line["frame"];
        if !is_ours || !frame.is_object() {
            continue;
        }
        let id = frame["id"].to_string();
        match (line["dir"].as_str(), frame["method"].as_str()) {
            (Some("client->agent"), Some(method)) => drop(methods.insert(id, method.to_owned())),
            (Some("agent->client"), None) => {
                if let Some(method) = methods.get(&id) {
                    results.insert(method.clone(), frame["result"].clone());
                }
            }
            (Some("agent->client"), Some(_)) => sent.push(frame.clone()),
            _ => {}
        }
    }
    let thread = results.get("thread/resume").or(results.get("thread/start")).map(|of| of["thread"].clone());
    if let Some(thread) = thread {
        results.insert("thread/read".into(), json!({ "thread": thread.clone() }));
        results.insert("thread/resume".into(), json!({ "thread": thread.clone() }));
        let loaded = json!({ "data": [thread["id"]], "nextCursor": null });
        results.entry("thread/loaded/list".into()).or_insert(loaded);
    }
    Capture { results, sent }
}

/// A session, what it sent, and what it made of the frames.
struct Daemon {
    session: Session,
    sent: Vec<Value>,
    steps: Vec<Step>,
    results: BTreeMap<String, Value>,
}

impl Daemon {
    fn new(results: BTreeMap<String, Value>) -> Daemon {
        let mut daemon = Daemon { session: session("codex"), sent: Vec::new(), steps: Vec::new(), results };
        daemon.session.begin();
        daemon.flush();
        daemon
    }

    /// One that knows a thread in `/w`, which is followed.
    fn following() -> Daemon {
        let thread = json!({ "id": THREAD, "cwd": "/w", "ephemeral": false });
        let results = [
            ("initialize", json!({ "userAgent": "codex-tui/0.166.0 (Linux)" })),
            ("thread/loaded/list", json!({ "data": [THREAD] })),
            ("thread/read", json!({ "thread": thread })),
            ("thread/resume", json!({ "thread": thread })),
            ("turn/steer", json!({ "turnId": "u1" })),
        ];
        Daemon::new(results.into_iter().map(|(method, result)| (method.to_owned(), result)).collect())
    }

    /// Sends what waits, and answers each request as it was captured.
    fn flush(&mut self) {
        for text in self.session.take_frames() {
            let frame: Value = serde_json::from_str(&text).unwrap();
            self.sent.push(frame.clone());
            let result = frame["method"].as_str().and_then(|method| self.results.get(method)).cloned();
            if let Some(result) = result {
                self.receive(&json!({ "id": frame["id"], "result": result }));
            }
        }
    }

    fn receive(&mut self, frame: &Value) {
        let mut step = Some(self.session.receive(&frame.to_string()));
        while let Some(now) = step {
            match &now {
                Step::Introduced { reply, .. } => self.sent.push(serde_json::from_str(reply).unwrap()),
                Step::Thread { thread, .. } => self.session.follow_thread(thread),
                _ => {}
            }
            self.steps.push(now);
            step = self.session.next_step();
        }
        self.flush();
    }

    fn answer(&mut self, call: CallId, answers: Vec<Answer>) {
        let parts = answers.into_iter().map(|answer| (PathBuf::from("/w/a.txt"), answer)).collect();
        if let Some(frame) = self.session.answer(call, &Answer::Set(parts)) {
            self.sent.push(serde_json::from_str(&frame.text).unwrap());
        }
        self.flush();
    }

    fn call(&self) -> Option<(CallId, Request)> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Call { call, request } => Some((*call, request.clone())),
            _ => None,
        })
    }

    fn methods(&self) -> Vec<&str> {
        self.sent.iter().filter_map(|frame| frame["method"].as_str()).collect()
    }

    fn decisions(&self) -> Vec<(&Value, &str)> {
        let results = self.sent.iter().filter(|frame| !frame["result"].is_null());
        results.map(|frame| (&frame["id"], frame["result"]["decision"].as_str().unwrap())).collect()
    }

    fn steered(&self) -> Option<&str> {
        let steer = self.sent.iter().rev().find(|frame| frame["method"] == "turn/steer")?;
        assert_eq!(steer["params"]["expectedTurnId"], "u1");
        steer["params"]["input"][0]["text"].as_str()
    }

    fn has_step(&self, meant: impl Fn(&Step) -> bool) -> bool {
        self.steps.iter().any(meant)
    }
}

fn item(item: &str, status: &str) -> Value {
    let update = json!({ "path": "/w/a.txt", "kind": { "type": "update", "move_path": null },
        "diff": "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n" });
    json!({ "type": "fileChange", "id": item, "changes": [update], "status": status })
}

fn started(id: &str) -> Value {
    json!({ "method": "item/started", "params": { "threadId": THREAD, "turnId": "u1", "item": item(id, "inProgress") } })
}

fn completed(id: &str, status: &str) -> Value {
    json!({ "method": "item/completed", "params": { "threadId": THREAD, "turnId": "u1", "item": item(id, status) } })
}

fn approval(request: u64, item: &str) -> Value {
    let params =
        json!({ "threadId": THREAD, "turnId": "u1", "itemId": item, "startedAtMs": 1, "reason": null });
    json!({ "method": "item/fileChange/requestApproval", "id": request, "params": params })
}

fn resolved(request: u64) -> Value {
    json!({ "method": "serverRequest/resolved", "params": { "threadId": THREAD, "requestId": request } })
}

/// A daemon that asks about one patch.
fn asking() -> (Daemon, CallId) {
    let mut daemon = Daemon::following();
    daemon.receive(&started("i1"));
    daemon.receive(&approval(0, "i1"));
    let (call, _) = daemon.call().unwrap();
    (daemon, call)
}

fn as_proposed() -> Accepted {
    Accepted { written: false, path: "/w/a.txt".into(), ..support::accepted("one\nTWO\n", false) }
}

#[test]
fn the_hub_connects_and_the_agent_writes_a_whole_patch() {
    assert_eq!(CODEX.endpoint, Endpoint::Daemon);
    assert_eq!(CODEX.writer, linkspan_review::Writer::Agent);
    assert_eq!(linkspan_dialect::by_name("codex").unwrap().name, "codex");
}

#[test]
fn captured_approvals_become_patches_and_the_same_answer_goes_back() {
    let names = [
        "plain-tui-own-daemon-hub-answers",
        "real-tui-default-socket-hub-answers",
        "two-clients-hub-answers",
    ];
    for name in names {
        let Capture { results, sent } = capture(name);
        let mut daemon = Daemon::new(results);
        let until = sent.iter().position(|frame| !frame["id"].is_null()).unwrap();
        sent.iter().take(until + 1).for_each(|frame| daemon.receive(frame));
        let introduced = |step: &Step| matches!(step, Step::Introduced { name, version, .. } if name == "Codex" && version == "0.166.0");
        assert!(daemon.has_step(introduced), "{name}: {:?}", daemon.steps);
        let (call, request) = daemon.call().unwrap_or_else(|| panic!("{name}: {:?}", daemon.steps));
        let Request::Patch { files, cwd, .. } = request else { panic!("{request:?}") };
        assert_eq!(cwd, PathBuf::from("/w"));
        let diff = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n".to_owned();
        assert_eq!(
            files[0],
            PatchFile { path: "/w/a.txt".into(), change: PatchChange::Update { diff } },
            "{name}"
        );
        daemon.answer(call, vec![Answer::Accepted(as_proposed()); files.len()]);
        assert_eq!(daemon.decisions(), [(&json!(0), "accept")], "{name}");
        daemon.session.ping(1);
        sent.iter().skip(until + 1).for_each(|frame| daemon.receive(frame));
        assert!(daemon.steps.contains(&Step::Pong(1)), "{name}: it has arrived");
        assert_eq!(daemon.session.open_calls().count(), 0);
        assert_eq!(daemon.decisions().len(), 1);
    }
}

#[test]
fn what_the_terminal_decides_withdraws_the_review() {
    let Capture { results, sent } = capture("two-clients-terminal-answers");
    let mut daemon = Daemon::new(results);
    sent.iter().for_each(|frame| daemon.receive(frame));
    let (call, _) = daemon.call().unwrap();
    assert!(daemon.steps.contains(&Step::Cancelled(call)), "{:?}", daemon.steps);
    assert_eq!(daemon.decisions(), []);
    daemon.answer(call, vec![Answer::Accepted(as_proposed())]);
    assert_eq!(daemon.decisions(), [], "too late");
}

#[test]
fn a_command_is_left_to_the_terminal() {
    let Capture { results, sent } = capture("app-server-command-approval");
    let mut daemon = Daemon::new(results);
    sent.iter().for_each(|frame| daemon.receive(frame));
    assert!(daemon.call().is_none());
    assert_eq!(daemon.decisions(), []);
}

#[test]
fn a_thread_is_followed_without_its_history_and_a_helper_thread_is_not() {
    let mut daemon = Daemon::following();
    let resume = daemon.sent.iter().find(|frame| frame["method"] == "thread/resume").unwrap();
    assert_eq!(resume["params"], json!({ "threadId": THREAD, "excludeTurns": true }));
    let before = daemon.sent.len();
    let helper = json!({ "id": "t2", "cwd": "/w", "ephemeral": true });
    daemon.receive(&json!({ "method": "thread/started", "params": { "thread": helper } }));
    assert_eq!(daemon.sent.len(), before);
    let status = json!({ "threadId": "t9", "status": { "type": "active", "activeFlags": [] } });
    daemon.receive(&json!({ "method": "thread/status/changed", "params": status }));
    assert_eq!(daemon.sent[before]["method"], "thread/read", "a thread that was there before");
}

#[test]
fn a_patch_that_was_announced_before_is_looked_up() {
    let mut daemon = Daemon::following();
    let message = json!({ "type": "userMessage", "id": "m", "content": [] });
    let turns = json!([{ "items": [message, item("i0", "completed"), item("i1", "inProgress")] }]);
    let thread = json!({ "id": THREAD, "cwd": "/w", "turns": turns });
    daemon.results.insert("thread/resume".into(), json!({ "thread": thread }));
    daemon.receive(&approval(0, "i1"));
    assert!(matches!(daemon.call(), Some((_, Request::Patch { .. }))));
    assert_eq!(daemon.sent.last().unwrap()["params"], json!({ "threadId": THREAD }));
    let mut unknown = Daemon::following();
    unknown.receive(&approval(0, "i1"));
    assert!(unknown.call().is_none());
    assert_eq!(unknown.decisions(), []);
}

#[test]
fn a_rejection_with_words_reaches_the_model_in_the_same_turn() {
    let (mut daemon, call) = asking();
    let mut rejected = support::rejected(Some("use the\nexisting helper\nplease"), &[(2, "why?"), (3, "no")]);
    rejected.path = "/w/a.txt".into();
    daemon.answer(call, vec![Answer::Rejected(rejected)]);
    assert_eq!(daemon.decisions(), [(&json!(0), "decline")]);
    let text = "The user reviewed your patch and rejected it. Nothing of it was written.\n\n\
                /w/a.txt: rejected, not written. Reason: use the\nexisting helper\nplease\nline 2: why?\nline 3: no";
    assert_eq!(daemon.steered(), Some(text));
}

#[test]
fn a_rejection_without_a_word_adds_none() {
    let (mut daemon, call) = asking();
    daemon.answer(call, vec![Answer::Rejected(support::rejected(None, &[]))]);
    assert_eq!(daemon.decisions(), [(&json!(0), "decline")]);
    assert_eq!(daemon.steered(), None);
}

#[test]
fn comments_on_an_accepted_patch_follow_it() {
    let (mut daemon, call) = asking();
    let accepted = Accepted { comments: vec![comment(2, "nice")], ..as_proposed() };
    daemon.answer(call, vec![Answer::Accepted(accepted)]);
    assert_eq!(daemon.decisions(), [(&json!(0), "accept")]);
    let text =
        "The user reviewed your patch.\n\n/w/a.txt: accepted as proposed, with comments:\nline 2: nice";
    assert_eq!(daemon.steered(), Some(text));
}

#[test]
fn a_part_is_written_after_the_no_is_confirmed_and_then_the_model_is_told() {
    let (mut daemon, call) = asking();
    let declined = daemon.session.decline(call).unwrap().text;
    assert_eq!(declined, r#"{"id":0,"result":{"decision":"decline"}}"#);
    assert_eq!(daemon.session.decline(call), None, "once");
    daemon.receive(&resolved(0));
    assert!(!daemon.has_step(|step| matches!(step, Step::Declined { .. } | Step::Cancelled(_))));
    daemon.receive(&completed("i1", "declined"));
    assert!(daemon.steps.contains(&Step::Declined { call, applied: false }));
    let hunk = |id: &str, taken| DecidedHunk {
        id: id.into(),
        before_start: 1,
        before_count: 1,
        after_start: 1,
        after_count: 1,
        taken,
    };
    let accepted = Accepted {
        written: true,
        taken: AcceptedPart::Some,
        hunks: vec![hunk("h1", true), hunk("h2", false)],
        person_diff: Some("--- proposed\n+++ accepted\n@@ -1 +1 @@\n-x\n+y\n".into()),
        ..as_proposed()
    };
    daemon.answer(call, vec![Answer::Accepted(accepted)]);
    let text = "The user reviewed your patch file by file. Codex reports the patch as rejected, because the user's \
                editor has written the accepted part itself. Do not apply that part again.\n\n\
                /w/a.txt: 1 of 2 hunks accepted and written.\n\
                From your proposal to the text that is now in the file:\n\
                --- proposed\n+++ accepted\n@@ -1 +1 @@\n-x\n+y";
    assert_eq!(daemon.steered(), Some(text));
    daemon.session.ping(4);
    daemon.receive(&json!({ "method": "noise" }));
    assert!(daemon.steps.contains(&Step::Pong(4)));
}

#[test]
fn a_patch_that_the_terminal_accepted_first_is_not_commented() {
    let (mut daemon, call) = asking();
    daemon.session.decline(call).unwrap();
    daemon.receive(&completed("i1", "completed"));
    assert!(daemon.steps.contains(&Step::Declined { call, applied: true }));
    daemon.answer(call, vec![Answer::Failed(Failure::new(FailureKind::Io, "late"))]);
    assert_eq!(daemon.steered(), None);
    assert_eq!(daemon.session.open_calls().count(), 0);
}

#[test]
fn words_that_come_after_the_turn_begin_the_next_one() {
    let (mut daemon, call) = asking();
    daemon.results.remove("turn/steer");
    daemon.answer(call, vec![Answer::Rejected(support::rejected(Some("no"), &[]))]);
    let id = daemon.sent.last().unwrap()["id"].clone();
    daemon.receive(&json!({ "id": id, "error": { "code": -32600, "message": "no active turn to steer" } }));
    let start = daemon.sent.last().unwrap();
    assert_eq!(start["method"], "turn/start");
    assert_eq!(start["params"]["input"][0]["text"], daemon.steered().unwrap());
}

#[test]
fn what_is_not_understood_is_not_answered() {
    let mut daemon = Daemon::following();
    let before = daemon.sent.len();
    let methods = ["item/permissions/requestApproval", "item/tool/call", "applyPatchApproval", "new/thing"];
    for (id, method) in methods.into_iter().enumerate() {
        daemon.receive(&json!({ "method": method, "id": id, "params": { "threadId": THREAD } }));
    }
    for garbage in [json!([]), json!(7), json!({}), json!({ "id": {} }), json!({ "method": 3 })] {
        daemon.receive(&garbage);
    }
    daemon.session.receive("not json");
    daemon.receive(&json!({ "method": "item/fileChange/requestApproval", "id": 9, "params": {} }));
    assert_eq!(daemon.sent.len(), before);
    assert_eq!(daemon.session.not_text(), None);
}

#[derive(Debug, Clone)]
enum Move {
    Frame(Value),
    Answer(usize, u8),
    Decline(usize),
}

fn moves() -> impl Strategy<Value = Move> {
    let ids = || (0u64..3, "i[1-3]");
    prop_oneof![
        "i[1-3]".prop_map(|id| Move::Frame(started(&id))),
        ("i[1-3]", "completed|declined|failed").prop_map(|(id, status)| Move::Frame(completed(&id, &status))),
        ids().prop_map(|(request, id)| Move::Frame(approval(request, &id))),
        ids().prop_map(|(request, _)| Move::Frame(resolved(request))),
        (10u64..20, "[a-z/]{1,8}")
            .prop_map(|(id, method)| Move::Frame(json!({ "id": id, "method": method }))),
        (0u64..12).prop_map(|id| Move::Frame(json!({ "id": id, "result": {} }))),
        (0u64..12).prop_map(|id| Move::Frame(json!({ "id": id, "error": {} }))),
        Just(Move::Frame(
            json!({ "method": "turn/completed", "params": { "threadId": THREAD, "turn": { "id": "u1" } } })
        )),
        Just(Move::Frame(json!({ "method": "thread/closed", "params": { "threadId": THREAD } }))),
        (0usize..4, 0u8..4).prop_map(|(call, what)| Move::Answer(call, what)),
        (0usize..4).prop_map(Move::Decline),
    ]
}

proptest! {
    #[test]
    fn in_any_order_each_approval_is_answered_once_at_most_and_nothing_else_is(
        moves in proptest::collection::vec(moves(), 0..60),
    ) {
        let mut daemon = Daemon::following();
        let mut asked = std::collections::BTreeSet::new();
        for step in moves {
            let calls: Vec<CallId> = daemon.session.open_calls().collect();
            match step {
                Move::Frame(frame) => {
                    if frame["method"] == "item/fileChange/requestApproval" {
                        asked.insert(frame["id"].to_string());
                    }
                    daemon.receive(&frame);
                }
                Move::Answer(call, what) => {
                    let Some(call) = calls.get(call) else { continue };
                    let failed = Answer::Failed(Failure::new(FailureKind::Io, "x"));
                    let answer = match what {
                        0 => Answer::Accepted(as_proposed()),
                        1 => Answer::Accepted(Accepted { written: true, ..as_proposed() }),
                        2 => Answer::Rejected(support::rejected(Some("no"), &[])),
                        _ => failed,
                    };
                    daemon.answer(*call, vec![answer]);
                }
                Move::Decline(call) => {
                    let Some(call) = calls.get(call) else { continue };
                    if let Some(frame) = daemon.session.decline(*call) {
                        daemon.sent.push(serde_json::from_str(&frame.text).unwrap());
                    }
                }
            }
        }
        let mut answered: Vec<String> = daemon.decisions().iter().map(|(id, _)| id.to_string()).collect();
        prop_assert!(answered.iter().all(|id| asked.contains(id)));
        let count = answered.len();
        answered.sort();
        answered.dedup();
        prop_assert_eq!(answered.len(), count, "twice");
        prop_assert!(daemon.sent.iter().all(|frame| frame["error"].is_null()));
        prop_assert!(!daemon.methods().is_empty());
    }
}
