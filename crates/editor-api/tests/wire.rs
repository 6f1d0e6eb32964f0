//! What goes over the wire, letter by letter: shims in other languages depend on it.

use linkspan_editor_api::*;
use serde::{Serialize, de::DeserializeOwned};

/// A value is written as this JSON, and this JSON read as that value.
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, json: &str) {
    assert_eq!(serde_json::to_string(value).ok().as_deref(), Some(json));
    assert_eq!(serde_json::from_str::<T>(json).ok().as_ref(), Some(value));
}

fn range() -> Range {
    Range { start: Position { line: 1, character: 2 }, end: Position { line: 3, character: 0 } }
}

const RANGE: &str = r#"{"start":{"line":1,"character":2},"end":{"line":3,"character":0}}"#;

#[test]
fn attach_names_everything_in_camel_case() {
    let attach = Attach {
        protocol: PROTOCOL,
        version: "0.1.0".into(),
        editor: Editor { name: "Neovim".into(), version: "0.11".into() },
        pid: 7,
        folders: vec!["/w".into()],
        window_id: Some("x".into()),
        claude_config_dir: None,
        capabilities: Capabilities { reviews: true, ..Capabilities::default() },
    };
    check(
        &attach,
        concat!(
            r#"{"protocol":1,"version":"0.1.0","editor":{"name":"Neovim","version":"0.11"},"pid":7,"#,
            r#""folders":["/w"],"windowId":"x","capabilities":{"documents":false,"selection":false,"#,
            r#""diagnostics":false,"reviews":true,"edits":false,"editRanges":false,"format":false,"language":false,"#,
            r#""terminal":false,"messages":false,"questions":false,"executeCode":false}}"#
        ),
    );
}

#[test]
fn an_editor_that_names_no_capabilities_has_none() {
    let json =
        r#"{"protocol":1,"version":"1","editor":{"name":"e","version":"1"},"pid":7,"folders":[],"newer":{}}"#;
    let attach: Attach = serde_json::from_str(json).unwrap();
    assert_eq!(attach.capabilities, Capabilities::default());
    assert_eq!(attach.window_id, None);
    let partial: Capabilities = serde_json::from_str(r#"{"edits":true,"telepathy":true}"#).unwrap();
    assert_eq!(partial, Capabilities { edits: true, ..Capabilities::default() });
}

#[test]
fn each_verdict_is_told_by_its_kind() {
    let decision = |verdict| Decision { verdict, comments: Vec::new(), write_here: false };
    check(&decision(Verdict::Accept), r#"{"verdict":{"kind":"accept"},"comments":[]}"#);
    check(
        &decision(Verdict::AcceptHunks { hunks: vec!["h1".into()] }),
        r#"{"verdict":{"kind":"acceptHunks","hunks":["h1"]},"comments":[]}"#,
    );
    check(
        &decision(Verdict::AcceptEdited { text: "é\n".into() }),
        r#"{"verdict":{"kind":"acceptEdited","text":"é\n"},"comments":[]}"#,
    );
    check(&decision(Verdict::Reject { reason: None }), r#"{"verdict":{"kind":"reject"},"comments":[]}"#);
    check(
        &Decision {
            verdict: Verdict::Reject { reason: Some("no".into()) },
            comments: vec![ReviewComment { line: 1, text: "why?".into() }],
            write_here: false,
        },
        r#"{"verdict":{"kind":"reject","reason":"no"},"comments":[{"line":1,"text":"why?"}]}"#,
    );
    check(
        &Decision { verdict: Verdict::Accept, comments: Vec::new(), write_here: true },
        r#"{"verdict":{"kind":"accept"},"comments":[],"writeHere":true}"#,
    );
}

#[test]
fn a_verdict_and_its_name_are_the_same_word() {
    let verdicts = [
        Verdict::Accept,
        Verdict::AcceptHunks { hunks: Vec::new() },
        Verdict::AcceptEdited { text: String::new() },
        Verdict::Reject { reason: None },
    ];
    for verdict in verdicts {
        assert_eq!(
            serde_json::to_value(&verdict).unwrap()["kind"],
            serde_json::to_value(verdict.kind()).unwrap()
        );
    }
}

#[test]
fn a_decision_without_a_known_verdict_is_not_read() {
    for json in [r#"{}"#, r#"{"verdict":{}}"#, r#"{"verdict":{"kind":"maybe"}}"#, r#"{"verdict":"accept"}"#] {
        assert!(serde_json::from_str::<Decision>(json).is_err(), "{json}");
    }
}

#[test]
fn each_answer_to_a_decision_is_told_by_its_kind() {
    check(&ReviewDecidedResult::Taken, r#"{"kind":"taken"}"#);
    check(&ReviewDecidedResult::Stale { revision: 4 }, r#"{"kind":"stale","revision":4}"#);
    check(
        &ReviewDecidedResult::AlreadyDecided { by: "Neovim".into() },
        r#"{"kind":"alreadyDecided","by":"Neovim"}"#,
    );
    check(&ReviewDecidedResult::NotPending, r#"{"kind":"notPending"}"#);
    check(&ReviewDecidedResult::AskAgain { conflicts: 2 }, r#"{"kind":"askAgain","conflicts":2}"#);
    check(
        &ReviewDecidedResult::Refused { message: "no such hunk".into(), can_write_here: false },
        r#"{"kind":"refused","message":"no such hunk"}"#,
    );
    check(
        &ReviewDecidedResult::Refused { message: "nobody waits".into(), can_write_here: true },
        r#"{"kind":"refused","message":"nobody waits","canWriteHere":true}"#,
    );
}

#[test]
fn a_review_carries_all_that_is_needed_to_show_it() {
    let show = ReviewShow {
        review: "r12".into(),
        revision: 1,
        digest: "af13".into(),
        set: None,
        set_label: None,
        window: "w3".into(),
        agent: "claude-code".into(),
        dialect: "claude".into(),
        path: "/w/a.rs".into(),
        label: "a.rs".into(),
        new_file: false,
        base: "a\n".into(),
        proposed: "b\n".into(),
        encoding: "UTF-8".into(),
        line_endings: None,
        hunks: vec![ReviewHunk {
            id: "h1".into(),
            before_start: 0,
            before_count: 1,
            after_start: 0,
            after_count: 1,
            words: vec![ReviewWords { before: range(), after: range() }],
        }],
        conflicts: vec![ReviewConflict { before_start: 0, before_count: 1, after_start: 0, after_count: 1 }],
        focus: true,
        omitted: false,
        inline: true,
        agent_writes: true,
        owner_gone: false,
        receives: None,
        receives_notes: None,
        origin: None,
    };
    let expected = r#"{"review":"r12","revision":1,"digest":"af13","window":"w3","agent":"claude-code","dialect":"claude","path":"/w/a.rs","label":"a.rs","newFile":false,"base":"a\n","proposed":"b\n","encoding":"UTF-8","hunks":[{"id":"h1","beforeStart":0,"beforeCount":1,"afterStart":0,"afterCount":1,"words":[{"before":RANGE,"after":RANGE}]}],"conflicts":[{"beforeStart":0,"beforeCount":1,"afterStart":0,"afterCount":1}],"focus":true,"omitted":false,"inline":true,"agentWrites":true,"ownerGone":false}"#;
    check(&show, &expected.replace("RANGE", RANGE));
    let notes = ReceivesNotes { all: "x".into(), reason: Some("y".into()), ..ReceivesNotes::default() };
    let receives = Receives { hunks: true, ..Receives::NOTHING };
    let known = ReviewShow { receives: Some(receives), receives_notes: Some(notes), ..show };
    let more = r#""ownerGone":false,"receives":{"reason":false,"comments":false,"hunks":true,"edited":false},"receivesNotes":{"all":"x","reason":"y"}}"#;
    check(&known, &expected.replace("RANGE", RANGE).replace(r#""ownerGone":false}"#, more));
}

#[test]
fn a_hidden_review_says_who_decided_what() {
    check(
        &ReviewHide {
            review: "r1".into(),
            reason: HideReason::Decided { by: "browser".into(), verdict: VerdictKind::AcceptHunks },
        },
        r#"{"review":"r1","reason":{"kind":"decided","by":"browser","verdict":"acceptHunks"}}"#,
    );
}

#[test]
fn a_target_is_a_range_or_a_text() {
    check(
        &OpenTarget::Range { range: range() },
        &r#"{"kind":"range","range":RANGE}"#.replace("RANGE", RANGE),
    );
    check(
        &OpenTarget::Text { start: "fn".into(), end: None, to_end_of_line: true },
        r#"{"kind":"text","start":"fn","toEndOfLine":true}"#,
    );
}

#[test]
fn optional_members_may_be_null_or_missing() {
    let missing: OpenDocument = serde_json::from_str(r#"{"path":"/a","label":"a"}"#).unwrap();
    let null: OpenDocument =
        serde_json::from_str(r#"{"path":"/a","label":"a","language":null,"selection":null}"#).unwrap();
    assert_eq!(missing, null);
    assert!(!serde_json::to_string(&missing).unwrap().contains("null"));
}

#[test]
fn a_greeting_from_any_version_is_understood() {
    let hello: HubHello =
        serde_json::from_str(r#"{"version":"9.0.0","protocol":9,"role":"satellite","more":[1]}"#).unwrap();
    assert_eq!((hello.protocol, hello.role.as_str()), (9, "satellite"));
}

#[test]
fn an_event_says_where_it_happened_and_what() {
    check(
        &HubEvent { window: "w1".into(), what: WindowEvent::Away },
        r#"{"window":"w1","what":{"kind":"away"}}"#,
    );
    let what = WindowEvent::Review {
        review: "r1".into(),
        path: "/w/a".into(),
        change: ReviewChange::Decided { verdict: VerdictKind::Accept, by: "Neovim".into() },
        summary: None,
    };
    check(
        &HubEvent { window: "w1".into(), what },
        concat!(
            r#"{"window":"w1","what":{"kind":"review","review":"r1","path":"/w/a","#,
            r#""change":{"kind":"decided","verdict":"accept","by":"Neovim"}}}"#
        ),
    );
}
