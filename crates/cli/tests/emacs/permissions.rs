//! Questions for permission: they wait until the user goes to them, show all of the command, and what is allowed runs in a
//! buffer.

use serde_json::json;

use crate::support::*;

#[test]
fn a_command_runs_with_permission() {
    let world = World::new();
    let mut emacs = Emacs::builder(&world).config("(setq shell-file-name \"/bin/false\")").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let ran = world.path("ran.txt");
    let arguments = json!({ "command": "echo said | tee ran.txt; false", "waitMs": 20_000 });
    let denied = agent.call("runInTerminal", arguments.clone());
    emacs.sees("a question", "(equal (linkspan-status) \" Linkspan ?1\")");
    emacs.runs("linkspan-answer");
    emacs.tty().sees("echo said | tee ran.txt; false");
    let deny = emacs.lisp("(1+ (seq-position (plist-get linkspan--question :options) \"deny\"))");
    let key = deny.to_string();
    emacs.tty().looks_and_types(&key);
    assert_eq!(agent.told(denied)["error"]["kind"], "denied");
    assert!(!ran.exists());

    let allowed = agent.call("runInTerminal", arguments);
    emacs.sees("a question", "(equal (linkspan-status) \" Linkspan ?1\")");
    emacs.runs("linkspan-answer");
    emacs.tty().sees("echo said | tee ran.txt; false");
    emacs.tty().looks_and_types("1");
    let result = agent.told(allowed);
    assert_eq!((&result["exitCode"], &result["timedOut"]), (&json!(1), &json!(false)), "{result}");
    assert_eq!(result["output"].as_str().unwrap().trim(), "said", "{result}");
    assert_eq!(world.read_text("ran.txt"), "said\n");
}

#[test]
fn a_question_takes_no_keys_until_the_user_goes_to_it() {
    let world = World::new();
    let mut emacs = Emacs::builder(&world).file("mine.txt").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    emacs.types("typing ");
    let first = agent.call("runInTerminal", json!({ "command": "touch ran.txt # the whole command" }));
    emacs.sees("a question", "(equal (linkspan-status) \" Linkspan ?1\")");
    emacs.types("111");
    emacs.tty().sees("typing 111");
    assert!(agent.waits(first));
    // A key that is pressed at once could have been meant for the file.
    emacs.types("\u{1b}xlinkspan-answer\r1");
    emacs.says("Not answered: read the question first");
    emacs.tty().sees("touch ran.txt # the whole command");
    emacs.tty().looks_and_types("q");
    emacs.tty().sees_no("the whole command");
    assert!(agent.waits(first), "to close the buffer answers nothing");
    assert_eq!(emacs.lisp("(linkspan-status)"), " Linkspan ?1");
    emacs.runs("linkspan-answer");
    emacs.tty().sees("the whole command");
    emacs.tty().looks_and_types("1");
    assert_eq!(agent.told(first)["exitCode"], 0);
    assert!(world.path("ran.txt").exists());
    emacs.sees("no question", "(not (get-buffer \"*linkspan question*\"))");
}

#[test]
fn code_is_refused_clearly() {
    let world = World::new();
    let _emacs = Emacs::builder(&world).start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let call = agent.call("executeCode", json!({ "code": "1 + 1" }));
    let result = agent.told(call);
    assert_eq!(result["error"]["kind"], "unsupported", "{result}");
}
