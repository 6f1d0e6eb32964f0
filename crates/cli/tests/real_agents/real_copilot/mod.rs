//! Copilot CLI without a hook and without an editor: what its terminal asks is decided there.

use serde_json::json;

use crate::support::model::{ModelText, Role};
use crate::support::real_agent::EditorProtocol;
use crate::support::{RealAgent, Turn, World};

#[test]
fn an_edit_that_is_allowed_in_the_terminal_is_written() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let view = Turn::calls("view", json!({ "path": path }));
    let edit = Turn::calls("edit", json!({ "path": path, "old_str": "two", "new_str": "2" }));
    let mut copilot = RealAgent::copilot(&world, EditorProtocol::Off, [view, edit]);
    copilot.prompt("please change it");
    copilot.answers("Do you want to edit", "\r");
    let updated = format!("File {path} updated with changes.");
    assert_eq!(copilot.model.told_about(1), [ModelText { role: Role::Tool, text: updated }]);
    assert_eq!(world.read_text("a.txt"), "one\n2\nthree\n");
    assert_eq!(copilot.model.outside(), [""; 0], "Copilot CLI must use nothing but the model of the test");
}
