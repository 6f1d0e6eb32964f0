//! Changes as the model makes them, with a terminal that answers. The texts are tested in `change_result`; the editor in
//! `crates/cli/tests`.

use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use linkspan_client::confirm::TerminalAnswer;
use linkspan_client::connection::AcceptedPart;
use serde_json::json;

use crate::permissions::PermissionMode;
use crate::tools::testing::ToolScene;
use crate::tools::{AgentTools, ToolsConfig};

#[test]
fn yolo_and_sandboxed_write_at_once_and_keep_what_a_file_is() {
    for mode in [PermissionMode::Yolo, PermissionMode::Sandboxed] {
        let scene = ToolScene::new(mode);
        scene.write("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n");
        std::fs::set_permissions(scene.path("a.txt"), std::fs::Permissions::from_mode(0o640)).unwrap();
        let said =
            scene.ok("edit_file", json!({ "path": "a.txt", "old_string": "two", "new_string": "2\n3" }));
        assert_eq!(said, "Changed a.txt: 2 lines added, 1 removed.");
        assert_eq!(std::fs::read(scene.path("a.txt")).unwrap(), b"\xef\xbb\xbfone\r\n2\r\n3\r\n");
        assert_eq!(std::fs::metadata(scene.path("a.txt")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(
            scene.ok("write_file", json!({ "path": "n/new", "content": "x\n" })),
            "Created n/new: 1 line."
        );
        assert!(scene.answers.asked.lock().unwrap().is_empty());
    }
}

#[test]
fn trusted_asks_and_writes_only_what_was_allowed() {
    let scene = ToolScene::new(PermissionMode::Trusted);
    scene.write("a.txt", "one\ntwo\n");
    let change = || json!({ "path": "a.txt", "start_line": 1, "new_content": "ONE" });

    scene.will_answer(TerminalAnswer::Deny { reason: Some("no shouting".into()), comments: vec![] });
    let said = scene.fails("edit_lines", change());
    assert!(said.contains("rejected") && said.contains("no shouting"), "{said}");
    assert_eq!(scene.read("a.txt"), "one\ntwo\n");

    scene.will_answer(TerminalAnswer::AllowText {
        text: "Uno\ntwo\n".into(),
        taken: AcceptedPart::Edited,
        hunks: vec![],
        comments: vec![],
    });
    let said = scene.ok("edit_lines", change());
    assert!(said.contains("with edits of their own") && said.contains("+Uno"), "{said}");
    assert_eq!(scene.read("a.txt"), "Uno\ntwo\n");

    scene.will_answer(TerminalAnswer::Allow);
    assert!(scene.ok("edit_lines", change()).starts_with("The user accepted the change."));
    assert_eq!(scene.read("a.txt"), "ONE\ntwo\n");
    let asked = scene.answers.asked.lock().unwrap();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].label.as_deref(), Some("main: a.txt"));
}

#[test]
fn without_anyone_to_ask_nothing_is_written() {
    let scene = ToolScene::new(PermissionMode::Trusted);
    scene.will_answer(TerminalAnswer::Unavailable { why: "there is no terminal to ask in".into() });
    let said = scene.fails("write_file", json!({ "path": "a", "content": "x" }));
    assert!(said.contains("Nobody decided") && said.contains("no terminal"), "{said}");
    assert!(!scene.path("a").exists());
}

#[test]
fn a_file_that_changes_while_the_user_decides_is_not_overwritten() {
    let scene = ToolScene::new(PermissionMode::Trusted);
    scene.write("a.txt", "one\n");
    thread::scope(|scope| {
        let call = scope.spawn(|| scene.fails("append_file", json!({ "path": "a.txt", "content": "two" })));
        while scene.answers.asked.lock().unwrap().is_empty() {
            thread::sleep(Duration::from_millis(2));
        }
        scene.write("a.txt", "theirs\n");
        scene.will_answer(TerminalAnswer::Allow);
        let said = call.join().unwrap();
        assert!(said.contains("changed by someone else"), "{said}");
    });
    assert_eq!(scene.read("a.txt"), "theirs\n");
}

#[test]
fn a_cancelled_call_leaves_the_file_and_says_that_it_was_cancelled() {
    let scene = ToolScene::new(PermissionMode::Trusted);
    thread::scope(|scope| {
        let call = scope.spawn(|| scene.run("write_file", json!({ "path": "a", "content": "x" })));
        while scene.answers.asked.lock().unwrap().is_empty() {
            thread::sleep(Duration::from_millis(2));
        }
        scene.context.cancelled.cancel();
        let result = call.join().unwrap();
        assert!(result.cancelled && result.is_error, "{result:?}");
    });
    assert!(!scene.path("a").exists());
}

#[test]
fn two_calls_on_one_file_follow_each_other() {
    let scene = ToolScene::new(PermissionMode::Yolo);
    scene.write("a.txt", "");
    let tools = scene.tools();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let call = json!({ "path": "a.txt", "content": "line" });
                    let result = scene.run_with(&tools, "append_file", call);
                    assert!(!result.is_error, "{result:?}");
                }
            });
        }
    });
    assert_eq!(scene.read("a.txt").lines().count(), 40);
}

#[test]
fn what_cannot_be_done_is_not_asked() {
    let scene = ToolScene::new(PermissionMode::Trusted);
    scene.write("a.txt", "one\n");
    scene.write("binary", b"\x00\x01\x02\xff");
    let calls = [
        ("edit_file", json!({ "path": "a.txt", "old_string": "two", "new_string": "x" }), "not in the file"),
        ("edit_file", json!({ "path": "none", "old_string": "two", "new_string": "x" }), "no such file"),
        ("write_file", json!({ "path": "a.txt" }), "needs `content`"),
        ("append_file", json!({ "path": "binary", "content": "x" }), "binary"),
        ("write_file", json!({ "path": ".", "content": "x" }), "."),
        ("patch", json!({ "path": "a.txt", "diff": "@@ -1 +1 @@\n-two\n+x\n" }), "does not apply"),
        (
            "regex_replace",
            json!({ "path": "a.txt", "pattern": "(", "replacement": "" }),
            "pattern is invalid",
        ),
    ];
    for (tool, call, wanted) in calls {
        let said = scene.fails(tool, call);
        assert!(said.contains(wanted), "{tool}: {said}");
    }
    let said = scene.ok("write_file", json!({ "path": "a.txt", "content": "one\n" }));
    assert!(said.contains("already holds this text"), "{said}");
    assert!(scene.answers.asked.lock().unwrap().is_empty());
}

#[test]
fn its_own_files_and_denied_ones_are_not_changed_in_any_mode() {
    for mode in PermissionMode::ALL {
        let scene = ToolScene::new(mode);
        let mut config = ToolsConfig::new(scene.context.bridge.clone());
        config.own = vec![scene.path("own")];
        config.deny = linkspan_editor_api::DenyGlobs::new(&["secrets/**".to_owned()]).unwrap();
        let tools = AgentTools::new(config);
        for (path, wanted) in [("own/agent.toml", "belongs to Linkspan"), ("secrets/key", "`deny`")] {
            let result = scene.run_with(&tools, "write_file", json!({ "path": path, "content": "x" }));
            assert!(result.is_error && result.text.contains(wanted), "{result:?}");
            assert!(!scene.path(path).exists());
        }
    }
}
