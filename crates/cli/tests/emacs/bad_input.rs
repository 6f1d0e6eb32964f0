//! Unusual conditions: a program that is missing, buffers that disappear, files that are not UTF-8, large, read-only or
//! remote, hostile text. Each is said once, and no review is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;

use crate::support::*;

#[test]
fn without_the_program_there_is_one_message() {
    let world = World::new();
    let config = "(setq linkspan-program \"/nowhere/linkspan\")";
    let emacs = Emacs::builder(&world).config(config).not_attached().start();
    emacs.says("there is no program `/nowhere/linkspan'");
    assert_eq!(emacs.lisp("(linkspan-status)"), " Linkspan:failed");
    assert_eq!(emacs.messages().matches("there is no program").count(), 1);
}

#[test]
fn a_program_that_is_not_linkspan_is_said_to_end() {
    let world = World::new();
    let program = world.path_str("linkspan");
    let config = format!("(setq linkspan-program {program:?})");
    for (code, why) in [(6, "the running hub has a different version"), (2, "ended with code 2")] {
        fs::write(&program, format!("#!/bin/sh\nexit {code}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let emacs = Emacs::builder(&world).config(&config).not_attached().start();
        emacs.says(why);
        assert_eq!(emacs.lisp("(linkspan-status)"), " Linkspan:failed");
    }
}

#[test]
fn a_buffer_killed_under_review_is_made_again() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.types("\u{18}k\r");
    emacs.sees("no buffer", "(not (get-buffer \"*linkspan a.txt*\"))");
    world.one_pending();
    emacs.looks_at_review();
    assert!(emacs.text().contains("\n-one\n+two\n"));
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    emacs.sees_no_review();
}

#[test]
fn a_read_only_buffer_is_not_changed() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    emacs.presses("C-x C-q");
    emacs.sees("read-only", "buffer-read-only");
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    let answer = nexus3.answer(call).to_string();
    assert!(answer.contains("the editor does not let the document be changed"), "{answer}");
    emacs.says("the editor does not let the document be changed");
    assert_eq!(world.read_text("a.txt"), "one\n");
    emacs.is_attached();
}

#[test]
fn a_buffer_that_is_not_utf8_is_changed_in_its_encoding() {
    let world = World::new();
    let path = world.file("a.txt", b"caf\xe9\none\n");
    let mut emacs = Emacs::builder(&world).config("(prefer-coding-system 'latin-1)").file("a.txt").start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "café\ntwo\n", "tab");
    let answer = nexus3.answer_within(call, Duration::from_millis(500));
    if answer.is_none() {
        emacs.looks_at_review();
        emacs.presses("a");
        assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
        assert_eq!(world.read("a.txt"), b"caf\xe9\ntwo\n");
    } else {
        // The hub does not read this encoding, and says so.
        assert_eq!(world.read("a.txt"), b"caf\xe9\none\n");
    }
    emacs.is_attached();
}

#[test]
fn bytes_that_are_not_text_do_not_end_the_connection() {
    let world = World::new();
    world.file("a.txt", b"one \xff\xfe two\n");
    let other = world.file("b.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut claude = emacs.claude();
    emacs.types("\u{18}\u{6}a.txt\r");
    emacs.sees("the file", "(equal (buffer-name) \"a.txt\")");
    emacs.presses("C-SPC M->");
    let found = claude.find(DEADLINE, |message| {
        message["params"]["text"].as_str().is_some_and(|text| text.contains("two"))
    });
    assert!(found.is_some(), "the selection is sent, without the bytes that JSON cannot have");
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&other, "two\n", "tab");
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
}

#[test]
fn an_agent_that_saves_does_not_overwrite_what_others_wrote() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    let mut claude = emacs.claude();
    emacs.presses("mine RET");
    emacs.sees("a change", "(buffer-modified-p)");
    fs::write(&path, "of others, and longer\n").unwrap();
    let answer = claude.call("saveDocument", json!({ "filePath": path })).to_string();
    assert!(answer.contains("changed on disk"), "{answer}");
    assert_eq!(world.read_text("a.txt"), "of others, and longer\n");
    assert_eq!(emacs.text(), "mine\none\n");
    assert_eq!(emacs.lisp("(buffer-modified-p)"), true);
}

#[test]
fn a_newer_proposal_does_not_replace_the_users_text() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\n2\nthree\nfour\nfive\n", "tab");
    emacs.looks_at_review();
    emacs.presses("e");
    emacs.sees("the proposed text", "(eq linkspan--kind 'edit)");
    emacs.presses("M-> mine RET");
    emacs.sees("the text", "(string-suffix-p \"mine\\n\" (buffer-string))");
    // Somewhere else the user accepts, and finds that the file has changed.
    fs::write(&path, "one\nzwei\nthree\nfour\n5\n").unwrap();
    world.run(&["accept", "latest"]);
    emacs.sees(
        "the conflict",
        "(seq-some (lambda (each) (> (length (linkspan--shown each :conflicts)) 0)) linkspan--reviews)",
    );
    assert_eq!(emacs.text(), "one\n2\nthree\nfour\nfive\nmine\n");
    emacs.presses("C-c C-c");
    emacs.tty().sees("Replace it by your text?");
    emacs.types("yes\r");
    emacs.sees("the diff", "(and (eq linkspan--kind 'review) (string-search \"+mine\" (buffer-string)))");
    std::thread::sleep(Duration::from_millis(500));
    emacs.presses("a");
    assert_eq!(nexus3.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\nfour\nfive\nmine\n");
    emacs.sees_no_review();
}

#[test]
fn a_file_of_many_lines_is_reviewed() {
    let world = World::new();
    let lines = 300_000;
    let before: String = (0..lines).map(|line| format!("{line}\n")).collect();
    let after = before.replace("\n150000\n", "\nhere\n");
    let path = world.file("a.txt", &before);
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, &after, "tab");
    emacs.looks_at_review();
    assert!(emacs.text().contains("\n-150000\n+here\n"), "{}", emacs.text());
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), after);
}

#[test]
fn text_of_an_agent_is_shown_and_not_believed() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let mut nexus3 = emacs.nexus3();
    let text = "-*- mode: emacs-lisp; eval: (setq fooled t) -*-\n\u{1b}[31mred\u{1b}]0;title\u{7}\n\u{202e}gnorw\n\
                @@ -1,1 +1,1 @@ hunk 9 of 9: accepted\n";
    let call = nexus3.propose(&path, text, "\u{1b}[2Jtab");
    emacs.looks_at_review();
    emacs.tty().sees("^[[31mred^[]0;title^G");
    emacs.tty().sees("<U+202E>gnorw");
    emacs.presses("e");
    emacs.sees("the proposed text", "(eq linkspan--kind 'edit)");
    assert_eq!(emacs.lisp("(list (boundp 'fooled) major-mode)"), json!([null, "text-mode"]));
    emacs.presses("C-c C-k");
    emacs.sees("the diff", "(eq linkspan--kind 'review)");
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), text);
}

#[test]
fn the_home_folder_is_not_a_project() {
    let world = World::new();
    let mut emacs = Emacs::builder(&world).at(&world.home()).start();
    assert_eq!(world.status()["windows"][0]["folders"], json!([]));
    let project = world.workspace();
    fs::create_dir_all(project.join("deep/er")).unwrap();
    let inside = std::process::Command::new("git").arg("init").arg(&project).output().unwrap();
    assert!(inside.status.success());
    emacs.types(&format!("\u{18}\u{6}\u{1}\u{b}{}\r", project.join("deep/er/a.txt").display()));
    eventually("the project", || (world.status()["windows"][0]["folders"] == json!([project])).then_some(()));
}

#[test]
fn a_narrow_terminal_is_enough() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\n");
    let mut emacs = Emacs::builder(&world).size(40, 16).start();
    let mut nexus3 = emacs.nexus3();
    let call = nexus3.propose(&path, "one\nDEUX\n", "tab");
    emacs.tty().sees("a.txt");
    emacs.looks_at_review();
    emacs.tty().sees("+DEUX");
    emacs.tty().sees("-two");
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    emacs.tty().sees_no("+DEUX");
}

#[test]
fn a_path_of_another_machine_is_never_opened() {
    let world = World::new();
    let emacs = Emacs::builder(&world).start();
    let refused = emacs.lisp(
        "(mapcar (lambda (method)
           (condition-case failed (linkspan--handle method '(:path \"/ssh:nowhere:/a.txt\" :cwd \"/ssh:nowhere:/\" :command \"true\"))
             (jsonrpc-error (alist-get 'jsonrpc-error-message (cdr failed)))))
         '(document/open terminal/run))",
    );
    for message in refused.as_array().unwrap() {
        assert!(message.as_str().unwrap().contains("is not a plain file of this machine"), "{refused}");
    }
    let closed = emacs.lisp("(linkspan--handle 'document/text '(:path \"/ssh:nowhere:/a.txt\"))");
    assert_eq!(closed["open"], false);
}
