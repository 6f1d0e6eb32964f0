//! What agents learn of the window: the selection, what she sends them, and what the editor thinks of a file.

use serde_json::{Value, json};

use crate::on_both;
use crate::person::*;
use crate::support::agent::texts;
use crate::support::*;

on_both! {
    the_selection_arrives
    what_she_sends_arrives
    the_diagnostics_of_a_file_before_and_after_a_fix
}

fn the_selection_arrives(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\ntwo\nthree\n");
    let mut claude = desk.claude();
    desk.workbench.open_file("a.txt");
    desk.workbench.go_to_line(2);
    desk.workbench.press("Shift+End");
    let told = claude.find(DEADLINE, |message| {
        message["method"] == "selection_changed" && message["params"]["text"] == "two"
    });
    let params = &told.expect("no selection")["params"];
    assert_eq!(params["filePath"], path);
    assert_eq!(params["selection"]["start"], json!({ "line": 1, "character": 0 }));
    assert_eq!(params["selection"]["end"], json!({ "line": 1, "character": 3 }));
    let current: Value =
        serde_json::from_str(&texts(&claude.call("getCurrentSelection", json!({})))[0]).unwrap();
    assert_eq!((&current["text"], &current["filePath"]), (&json!("two"), &json!(path)));
}

fn what_she_sends_arrives(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("a.txt", "one\ntwo\nthree\n");
    let mut claude = desk.claude();
    desk.workbench.open_file("a.txt");
    desk.workbench.go_to_line(2);
    desk.workbench.press("Shift+ArrowDown");
    desk.workbench.press("Shift+End");
    desk.workbench.run("Linkspan: Send to Agent");
    let told = claude.notification("at_mentioned");
    assert_eq!(told["params"], json!({ "filePath": path, "lineStart": 1, "lineEnd": 2 }));
}

fn the_diagnostics_of_a_file_before_and_after_a_fix(version: Version) {
    let Some(desk) = Desk::new(version) else { return };
    let path = desk.world.file("broken.ts", "const count: number = \"many\";\nexport { count };\n");
    let mut claude = desk.claude();
    desk.workbench.open_file("broken.ts");
    let asked = json!({ "uri": format!("file://{path}") });
    let before = desk.workbench.page.waits("the language server has looked", |_| {
        let answer = texts(&claude.call("getDiagnostics", asked.clone())).remove(0);
        answer.contains("not assignable").then_some(answer)
    });
    assert!(before.contains("broken.ts"), "{before}");
    desk.workbench.go_to_line(1);
    desk.workbench.press("Shift+End");
    desk.workbench.types("const count: number = 3;");
    desk.workbench.press("Control+S");
    eventually("the fix is on disk", || desk.world.read_text("broken.ts").contains("= 3;").then_some(()));
    let after = texts(&claude.call("getDiagnostics", asked)).remove(0);
    assert!(!after.contains("not assignable"), "{after}");
}
