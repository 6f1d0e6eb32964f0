//! Every decision of the user, and what each agent receives.

use std::process::Stdio;

use linkspan_editor_api as api;

use crate::support::*;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const THREE_HUNKS: &str = "one\n2\n3\n4\n5\nsix\n7\n8\n9\n10\n11\ntwelve\n";

#[test]
fn an_accepted_change_is_written_by_the_agent_that_writes_itself() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\n"]);
    assert_eq!(world.read_text("a.txt"), "one\n", "one writer: the agent");
    assert!(world.reviews().is_empty());
}

#[test]
fn an_accepted_change_is_written_before_an_agent_that_does_not_write_hears_of_it() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    world.one_pending();
    world.run(&["accept", "latest"]).ok();
    assert_eq!(world.read_text("a.txt"), "two\n");
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
}

#[test]
fn a_rejection_carries_its_reason_where_the_dialect_has_a_place_for_it() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let (mut claude, mut nexus3) = (Agent::claude(&world, serve.port), Agent::nexus3(&world, serve.port));
    let call = claude.propose(&path, "two\n", "tab of claude");
    let review = world.one_pending();
    world.run(&["reject", &review, "--comment", "not FILE_SAVED today"]).ok();
    assert_eq!(claude.texts(call), ["DIFF_REJECTED", "tab of claude"]);
    let call = nexus3.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    world.run(&["reject", &review, "--comment", "not FILE_SAVED today"]).ok();
    let texts = nexus3.texts(call);
    assert_eq!(texts[0], "DIFF_REJECTED");
    assert!(texts[1].contains("today"), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("FILE_SAVED")), "it would be taken for a yes: {texts:?}");
    assert_eq!(world.read_text("a.txt"), "one\n");
}

#[test]
fn a_comment_stands_at_its_line() {
    let world = World::new();
    let path = world.file("src/a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "one\ntwo\n", "tab");
    let review = world.one_pending();
    let beyond = world.run(&["reject", &review, "--comment", "why?", "--at", "src/a.txt:9"]);
    assert_eq!(beyond.code, 2, "{beyond:?}");
    let other = world.run(&["reject", &review, "--comment", "why?", "--at", "b.txt:1"]);
    assert_eq!(other.code, 2, "{other:?}");
    world.run(&["reject", &review, "--comment", "why?", "--at", "src/a.txt:2"]).ok();
    assert_eq!(agent.texts(call), ["DIFF_REJECTED", "line 2: why?"]);
}

#[test]
fn two_hunks_of_three() {
    let world = World::new();
    let path = world.file("a.txt", BASE);
    let serve = world.serve();
    let expected = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

    let mut claude = Agent::claude(&world, serve.port);
    let call = claude.propose(&path, THREE_HUNKS, "tab");
    let review = world.one_pending();
    world.run(&["accept", &review, "--hunk", "1", "--hunk", "3"]).ok();
    assert_eq!(claude.texts(call), ["FILE_SAVED", expected]);

    let mut nexus3 = Agent::nexus3(&world, serve.port);
    let call = nexus3.propose(&path, THREE_HUNKS, "tab");
    let review = world.one_pending();
    assert_eq!(world.run(&["accept", &review, "--hunk", "4"]).code, 2, "there is no fourth");
    world.run(&["accept", &review, "--hunk", "3", "--hunk", "1"]).ok();
    let told = nexus3.texts(call);
    assert_eq!(told[0], "FILE_SAVED");
    assert!(told[1].contains("\n-six\n+6\n"), "the omitted hunks follow: {told:?}");
    assert_eq!(world.read_text("a.txt"), expected);
}

#[test]
fn a_text_of_the_persons_own() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mine = world.folder("mine").join("text");
    std::fs::write(&mine, "mine\n").unwrap();
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    world.run(&["accept", &review, "--with", mine.to_str().unwrap()]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED", "mine\n"]);

    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    world.run(&["accept", &review, "--with", mine.to_str().unwrap()]).ok();
    let told = agent.texts(call);
    assert_eq!(told[0], "FILE_SAVED");
    assert!(told[1].contains("\n-two\n+mine\n"), "the user's changes follow: {told:?}");
    assert_eq!(world.read_text("a.txt"), "mine\n");
}

#[test]
fn an_edit_on_the_proposed_side_is_what_an_accept_means() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    let edited = editor.edit(&shown, "two and a half\n");
    let stale = editor.decide(&shown, api::Verdict::Accept);
    assert_eq!(stale, api::ReviewDecidedResult::Stale { revision: edited.revision });
    let diff = world.run(&["show", &shown.review]).ok().stdout;
    assert!(diff.contains("two and a half"), "{diff}");
    editor.accept(&edited);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two and a half\n"]);
}

#[test]
fn an_edit_is_answered_with_the_differences_that_are_left() {
    let world = World::new();
    let path = world.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "tab");
    let shown = editor.shown(&path);
    let edited = editor.edit(&shown, "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    assert_eq!(edited.hunks, [shown.hunks[0].clone()], "the hunk that stayed keeps its id");
    let hunks = vec![edited.hunks[0].id.clone()];
    assert_eq!(editor.decide(&edited, api::Verdict::AcceptHunks { hunks }), api::ReviewDecidedResult::Taken);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "one\n2\n3\n4\n5\n6\n7\n8\n9\n"]);
    assert_eq!(editor.state().shown.len(), 1, "the user's own edit was shown again");
}

#[test]
fn an_edit_of_something_older_is_not_taken_and_what_there_is_now_is_shown() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    let edited = editor.edit(&shown, "three\n");
    assert_eq!(editor.try_edit(&shown, "four\n"), api::ReviewEditedResult::Stale);
    assert_eq!(editor.shown_revision(&shown.review, edited.revision).proposed, "three\n");
    assert_eq!(editor.edit(&edited, "three\n").revision, edited.revision, "nothing was edited");
    editor.accept(&edited);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "three\n"]);
    assert_eq!(editor.try_edit(&edited, "four\n"), api::ReviewEditedResult::NotPending);
    let unknown = api::ReviewShow { review: "r99".into(), ..edited };
    assert_eq!(editor.try_edit(&unknown, "four\n"), api::ReviewEditedResult::NotPending);
}

#[test]
fn a_new_file_is_made_with_its_folders() {
    let world = World::new();
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&world.path_str("src/deep/new.rs"), "fn main() {}\n", "tab");
    let review = world.one_pending();
    let shown = world.json(&["show", &review]);
    assert_eq!(shown["shown"]["newFile"], true, "{shown}");
    world.run(&["accept", &review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("src/deep/new.rs"), "fn main() {}\n");
}

#[test]
fn a_closed_tab_is_not_a_rejection() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    editor.send(&api::ReviewClosed { review: shown.review.clone() });
    agent.is_served();
    assert_eq!(world.one_pending(), shown.review);
    editor.accept(&shown);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\n"]);
}

#[test]
fn the_first_decision_wins() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let call = agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    world.run(&["accept", &shown.review]).ok();
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\n"]);
    let reason = editor.hidden(&shown.review);
    assert!(
        matches!(&reason, api::HideReason::Decided { verdict: api::VerdictKind::Accept, .. }),
        "{reason:?}"
    );
    // The agent has the answer, so the hub may have forgotten the review: both codes say that it is closed.
    let decision =
        api::Decision { verdict: api::Verdict::Reject { reason: None }, comments: vec![], write_here: false };
    let late = api::ReviewDecided {
        review: shown.review.clone(),
        revision: shown.revision,
        digest: Some(shown.digest.clone()),
        decision,
    };
    match editor.request(&late) {
        Ok(result) => assert!(
            matches!(
                result,
                api::ReviewDecidedResult::AlreadyDecided { .. } | api::ReviewDecidedResult::NotPending
            ),
            "{result:?}"
        ),
        Err(error) => assert_eq!(error.code, api::errors::UNKNOWN_REVIEW, "{error}"),
    }
    assert_eq!(agent.next_frame(std::time::Duration::from_millis(50)), None, "one answer, not two");
}

#[test]
fn of_ten_deciders_at_once_exactly_one_is_taken() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    let spawn = |verb: &str| {
        world.command(&[verb, &review]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..10).map(|n| spawn(if n % 2 == 0 { "accept" } else { "reject" })).collect();
    let codes: Vec<i32> = children.into_iter().map(|child| world::finish(child).code).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 1, 4].contains(code)), "{codes:?}");
    let accepted = codes.iter().position(|code| *code == 0).unwrap() % 2 == 0;
    assert_eq!(agent.texts(call)[0], if accepted { "FILE_SAVED" } else { "DIFF_REJECTED" });
    assert_eq!(world.read_text("a.txt"), if accepted { "two\n" } else { "one\n" });
}

#[test]
fn an_agent_takes_a_change_back_by_closing_its_tab() {
    let world = World::new();
    let (first, second) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\n"));
    let editor = Editor::attach(&world);
    let mut agent = Agent::nexus3(&world, editor.port());
    let gone = agent.propose(&first, "two\n", "first tab");
    let kept = agent.propose(&second, "two\n", "second tab");
    let (shown, other) = (editor.shown(&first), editor.shown(&second));
    let closed = agent.call("closeTab", serde_json::json!({ "tabName": "first tab" }));
    assert_eq!(agent::texts(&closed), ["ok"]);
    assert_eq!(editor.hidden(&shown.review), api::HideReason::Withdrawn);
    let answer = agent.answer(gone);
    assert!(answer.get("error").is_some(), "no text may look like a decision: {answer}");
    assert_eq!(world.one_pending(), other.review);
    world.run(&["reject", &other.review]).ok();
    assert_eq!(agent.texts(kept), ["DIFF_REJECTED"]);
}

#[test]
fn a_change_taken_back_at_once_leaves_nothing_to_decide() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    for _ in 0..20 {
        agent.propose(&path, "two\n", "tab");
        let closed = agent.call("close_tab", serde_json::json!({ "tab_name": "tab" }));
        assert_eq!(agent::texts(&closed), ["TAB_CLOSED"]);
    }
    agent.is_served();
    eventually("nothing is pending", || world.reviews().is_empty().then_some(()));
}

#[test]
fn an_agent_that_says_goodbye_takes_its_changes_with_it() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    agent.propose(&path, "two\n", "tab");
    let shown = editor.shown(&path);
    agent.goodbye();
    assert_eq!(editor.hidden(&shown.review), api::HideReason::Withdrawn);
    assert!(world.reviews().is_empty());
}
