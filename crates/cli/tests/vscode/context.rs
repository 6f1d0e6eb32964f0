//! What agents learn about the window: the selection, mentions, and diagnostics.

use serde_json::{Value, json};

use crate::runner::{Scenarios, scenarios};
use crate::support::agent::texts;
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    the_selection_arrives
    a_mention_arrives
    the_diagnostics_of_a_file_before_and_after_a_fix
};

fn the_selection_arrives(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\nthree\n");
    let mut claude = window.claude();
    window.workbench.open_file("a.txt");
    window.workbench.go_to_line(2);
    window.workbench.press("Shift+End");
    let selection = claude.find(DEADLINE, |message| {
        message["method"] == "selection_changed" && message["params"]["text"] == "two"
    });
    let params = &selection.expect("no selection")["params"];
    assert_eq!(params["filePath"], path);
    assert_eq!(params["selection"]["start"], json!({ "line": 1, "character": 0 }));
    assert_eq!(params["selection"]["end"], json!({ "line": 1, "character": 3 }));
    let current: Value =
        serde_json::from_str(&texts(&claude.call("getCurrentSelection", json!({})))[0]).unwrap();
    assert_eq!((&current["text"], &current["filePath"]), (&json!("two"), &json!(path)));
}

fn a_mention_arrives(window: &EditorWindow<'_>) {
    let path = window.world.file("a.txt", "one\ntwo\nthree\n");
    let mut claude = window.claude();
    window.workbench.open_file("a.txt");
    window.workbench.go_to_line(2);
    window.workbench.press("Shift+ArrowDown");
    window.workbench.press("Shift+End");
    window.workbench.run("Linkspan: Send to Agent");
    let mention = claude.notification("at_mentioned");
    assert_eq!(mention["params"], json!({ "filePath": path, "lineStart": 1, "lineEnd": 2 }));
    window.workbench.sees_status("Sent a.txt:2–3 to claude-code");
    drop(claude);
    eventually("no agent is left", || {
        window.world.status()["windows"][0]["agents"].as_array().unwrap().is_empty().then_some(())
    });
    window.workbench.run("Linkspan: Send to Agent");
    window.workbench.sees_status("was not sent: no agent");
}

fn the_diagnostics_of_a_file_before_and_after_a_fix(window: &EditorWindow<'_>) {
    let path = window.world.file("broken.ts", "const count: number = \"many\";\nexport { count };\n");
    let mut claude = window.claude();
    window.workbench.open_file("broken.ts");
    let arguments = json!({ "uri": format!("file://{path}") });
    let before = window.workbench.page.waits("the language server has reported", |_| {
        let answer = texts(&claude.call("getDiagnostics", arguments.clone())).remove(0);
        answer.contains("not assignable").then_some(answer)
    });
    assert!(before.contains("broken.ts"), "{before}");
    window.workbench.go_to_line(1);
    window.workbench.press("Shift+End");
    window.workbench.types("const count: number = 3;");
    window.workbench.press("Control+S");
    eventually("the fix is on disk", || window.world.read_text("broken.ts").contains("= 3;").then_some(()));
    let after = texts(&claude.call("getDiagnostics", arguments)).remove(0);
    assert!(!after.contains("not assignable"), "{after}");
}
