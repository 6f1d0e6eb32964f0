//! Codex's daemon: a patch is one question for all its files, and exactly one party writes.

use linkspan_dialect::CODEX;
use linkspan_review::{AgentId, Phase, WindowId, Writer};
use serde_json::{Value, json};

use super::NEW;
use super::hooks::{HOOK, attached_hub, join_hook_of, lose, propose, receive_all};
use super::support::{COMMAND, EDITOR};
use crate::core::Event;
use crate::core::harness::CoreHarness;

const CODEX_AGENT: u64 = 7;

impl CoreHarness {
    /// A daemon with one thread in `/ws`, which is followed.
    fn codex(&mut self, agent: u64) -> AgentId {
        let agent = AgentId(agent);
        self.event(Event::AgentOpened { agent, window: WindowId(1), dialect: CODEX, called: None });
        self.reply(agent, "initialize", json!({ "userAgent": "codex-tui/0.166.0 (Linux)" }));
        self.reply(agent, "thread/loaded/list", json!({ "data": ["t1"] }));
        self.reply(
            agent,
            "thread/read",
            json!({ "thread": { "id": "t1", "cwd": "/ws", "ephemeral": false } }),
        );
        agent
    }

    fn said(&self, agent: AgentId, method: &str) -> Option<&Value> {
        self.to_agents
            .iter()
            .rev()
            .find(|(to, frame)| *to == agent && frame["method"] == method)
            .map(|(_, it)| it)
    }

    fn reply(&mut self, agent: AgentId, method: &str, result: Value) {
        let id =
            self.said(agent, method).unwrap_or_else(|| panic!("no {method}: {:?}", self.to_agents))["id"]
                .clone();
        self.frame(agent, &json!({ "id": id, "result": result }));
    }

    /// Codex asks about a patch of these files.
    fn asks(&mut self, agent: AgentId, request: u64, changes: &Value) {
        let item = json!({ "type": "fileChange", "id": "i1", "changes": changes, "status": "inProgress" });
        let params = json!({ "threadId": "t1", "turnId": "u1", "item": item });
        self.frame(agent, &json!({ "method": "item/started", "params": params }));
        self.asks_again(agent, request);
    }

    fn asks_again(&mut self, agent: AgentId, request: u64) {
        let params = json!({ "threadId": "t1", "turnId": "u1", "itemId": "i1", "startedAtMs": 1 });
        self.frame(
            agent,
            &json!({ "method": "item/fileChange/requestApproval", "id": request, "params": params }),
        );
    }

    fn item_done(&mut self, agent: AgentId, status: &str) {
        let item = json!({ "type": "fileChange", "id": "i1", "changes": [], "status": status });
        self.frame(
            agent,
            &json!({ "method": "item/completed", "params": { "threadId": "t1", "item": item } }),
        );
    }

    fn decisions(&self) -> Vec<&str> {
        self.to_agents.iter().filter_map(|(_, frame)| frame["result"]["decision"].as_str()).collect()
    }

    fn steered(&self) -> Option<&str> {
        let (_, frame) = self.to_agents.iter().rfind(|(_, frame)| frame["method"] == "turn/steer")?;
        frame["params"]["input"][0]["text"].as_str()
    }

    fn decides(&mut self, review: &str, verdict: Value) -> i64 {
        let decision = json!({ "verdict": verdict, "comments": [] });
        self.request(EDITOR, "reviews/decide", json!({ "review": review, "decision": decision }))
    }

    /// Of the first review, only this hunk.
    fn takes_hunk(&mut self, index: usize) {
        let hunk = self.reviews()[0].hunks()[index].id.to_string();
        self.decides("r1", json!({ "kind": "acceptHunks", "hunks": [hunk] }));
    }

    fn text_of(&self, path: &str) -> Option<&str> {
        self.files.get(std::path::Path::new(path)).map(|bytes| std::str::from_utf8(bytes).unwrap())
    }
}

fn update() -> Value {
    json!({ "path": "/ws/a.txt", "kind": { "type": "update", "move_path": null },
        "diff": "@@ -1,2 +1,3 @@\n-one\n+ONE\n two\n+three\n" })
}

fn add() -> Value {
    json!({ "path": "/ws/b.txt", "kind": { "type": "add" }, "diff": "new\n" })
}

fn hub() -> (CoreHarness, AgentId) {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({}));
    let agent = hub.codex(CODEX_AGENT);
    (hub, agent)
}

#[test]
fn a_thread_in_another_folder_is_not_followed() {
    let mut hub = CoreHarness::new();
    hub.attach(EDITOR, json!({}));
    let agent = AgentId(CODEX_AGENT);
    hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect: CODEX, called: None });
    hub.reply(agent, "initialize", json!({ "userAgent": "codex-tui/0.166.0" }));
    hub.reply(agent, "thread/loaded/list", json!({ "data": ["t1"] }));
    hub.reply(agent, "thread/read", json!({ "thread": { "id": "t1", "cwd": "/elsewhere" } }));
    assert!(hub.said(agent, "thread/resume").is_none());
}

#[test]
fn a_patch_that_is_accepted_as_proposed_is_written_by_codex_alone() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update(), add()]));
    assert_eq!(hub.reviews().len(), 2);
    assert!(hub.reviews().iter().all(|review| review.writer == Writer::Agent && review.set.is_some()));
    let first = hub.decides("r1", json!({ "kind": "accept" }));
    assert_eq!(
        hub.response_to(EDITOR, first).unwrap()["result"]["kind"],
        "taken",
        "nobody waits for the rest"
    );
    assert_eq!(hub.decisions(), Vec::<&str>::new());
    hub.decides("r2", json!({ "kind": "accept" }));
    assert_eq!(hub.decisions(), ["accept"]);
    assert_eq!((hub.writes, hub.steered()), (0, None));
    hub.files.insert("/ws/a.txt".into(), b"ONE\ntwo\nthree\n".to_vec());
    hub.files.insert("/ws/b.txt".into(), b"new\n".to_vec());
    hub.item_done(codex, "completed");
    assert_eq!(hub.reviews().len(), 0, "delivered");
    hub.wait_seconds(2);
    assert_eq!(hub.on_disk.len(), 2);
    assert_eq!(hub.writes, 0);
}

#[test]
fn a_part_is_written_by_the_hub_after_codex_confirmed_the_no() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update(), add()]));
    hub.decides("r2", json!({ "kind": "accept" }));
    hub.takes_hunk(1);
    assert_eq!(hub.decisions(), ["decline"]);
    assert_eq!((hub.writes, hub.steered()), (0, None), "Codex may still apply it");
    hub.item_done(codex, "declined");
    assert_eq!(hub.text_of("/ws/a.txt"), Some("one\ntwo\nthree\n"));
    assert_eq!(hub.text_of("/ws/b.txt"), Some("new\n"));
    let told = hub.steered().unwrap();
    assert!(told.contains("/ws/a.txt: 1 of 2 hunks accepted and written."), "{told}");
    assert!(told.contains("/ws/b.txt: accepted as proposed and written."), "{told}");
    hub.reply(codex, "turn/steer", json!({ "turnId": "u1" }));
    assert_eq!(hub.reviews().len(), 0, "delivered");
    assert_eq!((hub.decisions().len(), hub.writes), (1, 2));
}

#[test]
fn a_rejection_carries_its_reason() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update()]));
    hub.decides("r1", json!({ "kind": "reject", "reason": "use the helper" }));
    assert_eq!(hub.decisions(), ["decline"]);
    assert!(hub.steered().unwrap().contains("/ws/a.txt: rejected, not written. Reason: use the helper"));
    hub.item_done(codex, "declined");
    hub.reply(codex, "turn/steer", json!({}));
    assert_eq!((hub.reviews().len(), hub.writes), (0, 0));
}

#[test]
fn what_the_terminal_decides_withdraws_every_review() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update(), add()]));
    hub.decides("r1", json!({ "kind": "accept" }));
    let resolved = json!({ "threadId": "t1", "requestId": 0 });
    hub.frame(codex, &json!({ "method": "serverRequest/resolved", "params": resolved }));
    hub.item_done(codex, "declined");
    assert_eq!(hub.reviews().len(), 0);
    assert_eq!(hub.decisions(), Vec::<&str>::new());
    hub.wait_seconds(10);
    assert_eq!(hub.writes, 0, "the terminal said no");
}

#[test]
fn an_accept_that_is_being_recorded_when_the_terminal_decides_is_not_taken() {
    for part in [false, true] {
        let (mut hub, codex) = hub();
        hub.asks(codex, 0, &json!([update()]));
        hub.hold_records = true;
        let accepted = match part {
            true => {
                hub.takes_hunk(0);
                hub.next_request
            }
            false => hub.decides("r1", json!({ "kind": "accept" })),
        };
        let resolved = json!({ "threadId": "t1", "requestId": 0 });
        hub.frame(codex, &json!({ "method": "serverRequest/resolved", "params": resolved }));
        hub.item_done(codex, "declined");
        hub.hold_records = false;
        hub.release_records(Ok(()));
        assert_eq!(hub.response_to(EDITOR, accepted).unwrap()["result"]["kind"], "refused", "part: {part}");
        assert_eq!((hub.decisions(), hub.writes), (Vec::<&str>::new(), 0), "part: {part}");
    }
}

#[test]
fn a_patch_that_does_not_fit_is_left_to_the_terminal() {
    let (mut hub, codex) = hub();
    let other = json!({ "path": "/ws/a.txt", "kind": { "type": "update" }, "diff": "@@ -1 +1 @@\n-x\n+y\n" });
    for changes in [json!([add(), other]), json!([]), json!([update(), update()])] {
        hub.asks(codex, 0, &changes);
        assert_eq!((hub.reviews().len(), hub.decisions().len()), (0, 0), "{changes}");
    }
}

#[test]
fn a_deletion_and_a_move_can_only_be_taken_as_a_whole() {
    let (mut hub, codex) = hub();
    let delete = json!({ "path": "/ws/a.txt", "kind": { "type": "delete" }, "diff": "one\ntwo\n" });
    hub.asks(codex, 0, &json!([delete, add()]));
    assert_eq!(hub.reviews()[0].writer, Writer::Nobody);
    hub.decides("r1", json!({ "kind": "accept" }));
    hub.decides("r2", json!({ "kind": "reject" }));
    assert_eq!(hub.decisions(), ["decline"]);
    hub.item_done(codex, "declined");
    assert_eq!(hub.writes, 0);
    let told = hub.steered().unwrap();
    assert!(told.contains("/ws/a.txt: accepted as proposed, but not carried out"), "{told}");
}

#[test]
fn unsaved_text_is_never_lost_to_a_patch_of_the_file_on_disk() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update()]));
    // Somebody changed another line meanwhile: Codex would write something else than what was accepted.
    hub.files.insert("/ws/a.txt".into(), b"one\ntwo\nmine\n".to_vec());
    hub.decides("r1", json!({ "kind": "accept" }));
    assert_ne!(hub.decisions(), ["accept"]);
}

#[test]
fn a_daemon_that_was_lost_gets_the_same_answer_without_a_second_question() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update(), add()]));
    hub.takes_hunk(0);
    hub.disconnect(codex);
    let codex = hub.codex(9);
    hub.asks(codex, 0, &json!([update(), add()]));
    assert_eq!(hub.reviews().len(), 2, "the same reviews");
    hub.decides("r2", json!({ "kind": "accept" }));
    assert_eq!(hub.decisions(), ["decline"]);
    hub.item_done(codex, "declined");
    assert_eq!(hub.text_of("/ws/a.txt"), Some("ONE\ntwo\n"));
    assert_eq!(hub.text_of("/ws/b.txt"), Some("new\n"));
}

#[test]
fn a_daemon_that_is_lost_after_the_no_does_not_lose_what_was_accepted() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update()]));
    hub.takes_hunk(0);
    assert_eq!((hub.decisions(), hub.writes), (vec!["decline"], 0));
    hub.disconnect(codex);
    hub.wait_seconds(5);
    assert_eq!(hub.writes, 0, "its no may not have arrived: the terminal may still say yes");
    // It did not: Codex asks again, hears it, and confirms it.
    let codex = hub.codex(9);
    hub.asks(codex, 0, &json!([update()]));
    assert_eq!((hub.decisions(), hub.writes), (vec!["decline", "decline"], 0));
    hub.item_done(codex, "declined");
    assert_eq!(hub.text_of("/ws/a.txt"), Some("ONE\ntwo\n"));
    assert!(hub.steered().unwrap().contains("/ws/a.txt: 1 of 2 hunks accepted and written."));
    assert_eq!(hub.writes, 1, "nothing is written twice");
}

#[test]
fn a_daemon_that_stays_away_after_the_no_may_have_applied_its_patch() {
    for restart in [false, true] {
        let (mut hub, codex) = hub();
        hub.asks(codex, 0, &json!([update()]));
        hub.takes_hunk(0);
        if restart {
            hub = hub.restart();
            hub.attach(EDITOR, json!({}));
        } else {
            hub.disconnect(codex);
        }
        // Somebody said yes in the terminal.
        hub.files.insert("/ws/a.txt".into(), b"ONE\ntwo\nthree\n".to_vec());
        hub.wait_seconds(24 * 3600);
        assert_eq!((hub.writes, hub.reviews().len()), (0, 0), "restart {restart}");
        assert_eq!(hub.text_of("/ws/a.txt"), Some("ONE\ntwo\nthree\n"));
        let ended = format!("{:?}", hub.journal);
        assert!(restart || ended.contains("did not come back to confirm"), "{ended}");
    }
}

#[test]
fn what_is_being_recorded_when_the_daemon_is_lost_waits_for_it() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update()]));
    hub.hold_records = true;
    hub.takes_hunk(0);
    hub.release_records(Ok(()));
    hub.disconnect(codex);
    hub.hold_records = false;
    hub.release_records(Ok(()));
    assert_eq!(hub.writes, 0);
    let codex = hub.codex(9);
    hub.asks(codex, 0, &json!([update()]));
    hub.item_done(codex, "declined");
    assert_eq!((hub.text_of("/ws/a.txt"), hub.writes), (Some("ONE\ntwo\n"), 1));
}

#[test]
fn a_hub_that_was_killed_after_the_decision_writes_it_and_tells_the_model_later() {
    let (mut hub, codex) = hub();
    hub.asks(codex, 0, &json!([update()]));
    hub.takes_hunk(1);
    assert_eq!(hub.decisions(), ["decline"]);
    let mut hub = hub.restart();
    assert!(matches!(hub.reviews()[0].phase, Phase::Writing(_)), "{:?}", hub.reviews()[0].phase);
    hub.attach(EDITOR, json!({}));
    assert_eq!(hub.writes, 0, "Codex has not confirmed the no");
    let codex = hub.codex(9);
    hub.asks(codex, 0, &json!([update()]));
    assert_eq!((hub.decisions(), hub.writes), (vec!["decline"], 0));
    hub.item_done(codex, "declined");
    assert_eq!(hub.text_of("/ws/a.txt"), Some("one\ntwo\nthree\n"));
    assert!(hub.steered().unwrap().contains("/ws/a.txt: 1 of 2 hunks accepted and written."));
    assert_eq!(hub.reviews().len(), 1, "no second question");
}

#[test]
fn an_unknown_request_is_not_answered() {
    let (mut hub, codex) = hub();
    let before = hub.to_agents.len();
    hub.frame(codex, &json!({ "method": "item/tool/call", "id": 3, "params": {} }));
    hub.event(Event::AgentFrame { agent: codex, text: "nonsense".into(), exchange: None });
    hub.event(Event::AgentBinary { agent: codex });
    assert_eq!(hub.to_agents.len(), before);
}

#[test]
fn codex_is_told_what_is_open_and_selected_except_for_what_is_denied() {
    let mut hub = CoreHarness::new();
    let document =
        |path: &str, active: bool| json!({ "path": path, "label": "x", "active": active, "dirty": false });
    let documents = [document("/ws/a.txt", true), document("/ws/.env", false), document("/ws/b.txt", false)];
    hub.editor_answers.insert("documents/list", json!({ "documents": documents }));
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } });
    let selection = json!({ "path": "/ws/a.txt", "text": "one", "range": range, "isEmpty": false });
    hub.editor_answers.insert("selection/latest", selection);
    hub.attach(EDITOR, json!({ "documents": true, "selection": true }));
    hub.event(Event::IdeAsked { question: 1, root: "/ws".into() });
    let context = hub.ide_answers[0].clone().expect("this window has the folder");
    let (active, selected) = context.active.unwrap();
    assert_eq!((active.relative, selected.unwrap().1), ("a.txt".into(), "one".to_owned()));
    let open: Vec<String> = context.open.iter().map(|file| file.relative.display().to_string()).collect();
    assert_eq!(open, ["a.txt", "b.txt"]);
    hub.event(Event::IdeAsked { question: 2, root: "/elsewhere".into() });
    assert_eq!(hub.ide_answers[1], None);
}

#[test]
fn what_the_hook_was_allowed_to_write_is_approved_without_a_question() {
    let mut hub = attached_hub();
    join_hook_of(&mut hub, HOOK, "p1", "codex", "s1");
    propose(&mut hub, HOOK, NEW);
    hub.decide(COMMAND, "accept");
    receive_all(&mut hub, HOOK);
    lose(&mut hub, HOOK);
    let codex = hub.codex(CODEX_AGENT);
    let diff = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let update = json!({ "path": "/ws/a.txt", "kind": { "type": "update" }, "diff": diff });
    hub.asks(codex, 0, &json!([update]));
    assert_eq!((hub.decisions(), hub.reviews().len()), (vec!["accept"], 0));
    // With another file, only that one is asked about.
    let mut hub = attached_hub();
    join_hook_of(&mut hub, HOOK, "p1", "codex", "s1");
    propose(&mut hub, HOOK, NEW);
    hub.decide(COMMAND, "accept");
    receive_all(&mut hub, HOOK);
    let codex = hub.codex(CODEX_AGENT);
    let update = json!({ "path": "/ws/a.txt", "kind": { "type": "update" }, "diff": diff });
    hub.asks(codex, 0, &json!([update, add()]));
    assert_eq!((hub.decisions().len(), hub.reviews().len()), (0, 1));
    hub.decides("r2", json!({ "kind": "accept" }));
    assert_eq!((hub.decisions(), hub.writes), (vec!["accept"], 0));
}
