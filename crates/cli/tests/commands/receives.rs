//! What a command says about an agent that does not receive every word, before and while the user decides.

use serde_json::json;

use crate::support::*;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn new() -> String {
    OLD.replace("two", "2").replace("seven", "7")
}

const REMEDY: &str = "To change that, run `linkspan hook install claude`.";

#[test]
fn a_claude_agent_receives_only_yes_or_no_and_every_command_says_so() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&path, &new(), "tab");
    let review = world.one_pending();

    let nothing = json!({ "reason": false, "comments": false, "hunks": false, "edited": false });
    assert_eq!(world.json(&["reviews"])["reviews"][0]["receives"], nothing);
    let shown = world.run(&["show", &review]).ok().stdout;
    let said =
        shown.lines().position(|line| line.starts_with("Claude Code receives only yes or no")).unwrap();
    assert!(shown.lines().nth(said).unwrap().ends_with(REMEDY), "{shown}");
    assert!(shown.lines().nth(said + 1).unwrap().starts_with("hunk 1 of 2"), "above the change: {shown}");

    let decided = world.run(&["reject", &review, "--comment", "use the helper"]);
    assert_eq!(decided.code, 0, "{decided:?}");
    assert!(decided.stdout.starts_with("rejected"), "{decided:?}");
    assert_eq!(
        decided.stderr,
        format!("linkspan: Claude Code will not receive your reason.\nlinkspan: {REMEDY}\n")
    );
}

#[test]
fn hunks_text_and_comments_that_do_not_arrive_are_warned_of_and_still_count() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    let call = agent.propose(&path, &new(), "tab");
    let review = world.one_pending();
    let decided = world.run(&["accept", &review, "--hunk", "1", "--comment", "only this"]);
    assert_eq!(decided.code, 0, "{decided:?}");
    assert!(decided.stderr.contains("Claude Code will not receive your choice of hunks."), "{decided:?}");
    assert!(decided.stderr.contains("Claude Code will not receive your comments."), "{decided:?}");
    assert_eq!(agent.texts(call), ["FILE_SAVED", &OLD.replace("two", "2")]);

    agent.propose(&path, &OLD.replace("one", "1"), "tab 2");
    let review = world.one_pending();
    let text = world.file("mine.txt", "mine\n");
    let decided = world.run(&["accept", &review, "--with", &text]);
    assert!(decided.stderr.contains("Claude Code will not receive your edits."), "{decided:?}");
    agent.propose(&path, &OLD.replace("six", "6"), "tab 3");
    let review = world.one_pending();
    let decided = world.run(&["accept", &review]);
    assert_eq!(decided.stderr, "", "nothing is lost of a plain yes");
}

#[test]
fn nothing_is_said_about_an_agent_that_receives_every_word() {
    let world = World::new();
    let path = world.file("a.txt", OLD);
    let _serve = world.serve();
    let mut agent = OwnAgent::join(&world, "k3y");
    let call = agent.propose(&path, &new());
    let review = world.one_pending();
    let everything = json!({ "reason": true, "comments": true, "hunks": true, "edited": true });
    assert_eq!(world.json(&["reviews"])["reviews"][0]["receives"], everything);
    let shown = world.run(&["show", &review]).ok().stdout;
    assert!(!shown.contains("receive"), "{shown}");
    let decided = world.run(&["accept", &review, "--hunk", "1", "--comment", "only this"]);
    assert_eq!((decided.code, decided.stderr.as_str()), (0, ""), "{decided:?}");
    let told = agent.told(call);
    assert_eq!((&told["taken"], &told["comments"][0]["text"]), (&json!("some"), &json!("only this")));
}
