//! The Chat view, with a hosted agent that the test plays: a question about the selection, the permission, the answer as
//! it comes, and a change that is decided in the view.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::hosted::StandIn;
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOwnWindows:
    a_question_about_the_selection_and_a_change_decided_in_the_view
    a_change_is_decided_in_a_view_with_hardly_any_height
    problems_of_a_file_are_put_into_the_message
    each_command_reaches_the_open_conversation_and_a_diff_leads_back_to_it
};

const COMPOSER: &str = "[data-field='message']";
/// A press sooner than this after something appeared does not count.
const LOOK: Duration = Duration::from_millis(600);

fn a_question_about_the_selection_and_a_change_decided_in_the_view(session: &VsCodeSession) {
    let mut agent = StandIn::new(&session.world);
    let path = session.world.file("a.txt", "one\ntwo\nthree\n");
    let window = session.open();
    window.workbench.open_file("a.txt");
    window.workbench.go_to_line(2);
    window.workbench.press("Shift+End");
    window.workbench.run("Linkspan: Ask About Selection");
    let view = window.workbench.page.frame_with(".chat");
    view.says(".composer .files", "a.txt:2");
    view.click(&format!(".agent-choice:has-text('{}')", StandIn::ID));
    view.fill(COMPOSER, "What is this?");
    view.click(".composer [data-action='send']");
    view.sees(".ask [data-action='allowOnce']");
    window.workbench.page.sees(".monaco-list-row[aria-label*='Start stand-in']");
    sleep(LOOK);
    view.click(".ask [data-action='allowOnce']");
    agent.begins();
    let (prompt, text) = agent.prompted();
    assert!(text.starts_with("What is this?"), "{text}");
    // It was answered in the chat, and the list beside it knows that.
    window.workbench.page.sees_no(".monaco-list-row[aria-label*='Start stand-in']");
    let content = json!({ "type": "text", "text": "A **number**." });
    agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    view.says(".from-agent .md strong", "number");
    agent.wants(7, &path, "one\ntwo\nthree\n", "one\n2\nthree\n");
    view.sees(".review-card[data-state='pending']");
    if let Some(folder) = std::env::var_os("LINKSPAN_TEST_PICTURES") {
        sleep(LOOK);
        let name = format!("vscode-chat-{}.png", window.vscode.port);
        window.workbench.page.picture(&std::path::Path::new(&folder).join(name));
    }
    view.sees(".review-card[data-state='pending'] .cm-content");
    sleep(LOOK);
    view.click(".review-card [data-action='accept']");
    assert_eq!(agent.option(7).as_deref(), Some("yes"));
    view.sees(".review-card[data-state='accepted']");
    session.world.file("a.txt", "one\n2\nthree\n");
    agent.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e7", "status": "completed" }));
    agent.ends(&prompt, "end_turn");
    view.sees(".chat[data-state='idle']");
    assert_eq!(
        window.workbench.tabs().iter().filter(|tab| tab.label.contains('↔')).count(),
        0,
        "no diff is left"
    );
}

fn a_change_is_decided_in_a_view_with_hardly_any_height(session: &VsCodeSession) {
    let mut agent = StandIn::new(&session.world);
    let path = session.world.file("a.txt", "one\n");
    let window = session.open();
    window.workbench.open_file("a.txt");
    window.workbench.run("Linkspan: Add File to Chat");
    let view = window.workbench.page.frame_with(".chat");
    let prompt = start(&view, &mut agent, "count");
    // The view shares the side bar with others.
    window.workbench.page.resize(1280, 520);
    agent.wants(7, &path, "one\n", "1\n");
    view.sees(".review-card[data-state='pending'] .cm-content");
    sleep(LOOK);
    view.click(".review-card [data-action='reject']");
    assert_eq!(agent.option(7).as_deref(), Some("no"));
    agent.ends(&prompt, "end_turn");
}

/// A conversation whose agent was allowed to start and has heard the first message; returns its prompt.
fn start(view: &Page, agent: &mut StandIn, message: &str) -> serde_json::Value {
    view.click(&format!(".agent-choice:has-text('{}')", StandIn::ID));
    view.fill(COMPOSER, message);
    view.click(".composer [data-action='send']");
    view.sees(".ask [data-action='allowOnce']");
    sleep(LOOK);
    view.click(".ask [data-action='allowOnce']");
    agent.begins();
    agent.prompted().0
}

/// VS Code moves the focus into a view in steps: a key that is pressed meanwhile reaches nobody, or its answer is closed.
fn has_focus(view: &Page) {
    view.until("document.hasFocus()");
}

/// The next message and the address of the file that is attached to it; the turn ends, and the view has the focus.
fn hears(view: &Page, agent: &mut StandIn) -> (String, String) {
    let prompt = agent.request("session/prompt");
    let blocks = &prompt["params"]["prompt"];
    agent.ends(&prompt["id"], "end_turn");
    has_focus(view);
    (blocks[0]["text"].as_str().unwrap().to_owned(), blocks[1]["uri"].as_str().unwrap().to_owned())
}

fn each_command_reaches_the_open_conversation_and_a_diff_leads_back_to_it(session: &VsCodeSession) {
    let mut agent = StandIn::new(&session.world);
    let path = session.world.file("a.ts", "const count: number = \"many\";\nexport { count };\n");
    let window = session.open();
    window.workbench.open_file("a.ts");
    window.workbench.run("Linkspan: Ask About Selection");
    let view = window.workbench.page.frame_with(".chat");
    view.click(".composer [data-action='detach']");
    let prompt = start(&view, &mut agent, "hello");
    agent.ends(&prompt, "end_turn");
    view.sees(".chat[data-state='idle']");
    window.workbench.open_file("a.ts");
    window.workbench.page.sees(".squiggly-error");
    window.workbench.run("Linkspan: Explain");
    let (text, uri) = hears(&view, &mut agent);
    assert!(text.starts_with("Explain this code.") && uri.ends_with("/a.ts"), "{text} {uri}");
    view.sees(".chat[data-state='idle']");
    window.workbench.open_file("a.ts");
    window.workbench.run("Linkspan: Fix Diagnostics Here");
    let (text, uri) = hears(&view, &mut agent);
    assert!(text.contains("line 1") && text.contains("not assignable") && uri.ends_with("/a.ts"), "{text}");
    view.sees(".chat[data-state='idle']");
    window.workbench.open_file("a.ts");
    window.workbench.run("Linkspan: Add File to Chat");
    view.says(".composer .files", "a.ts");
    has_focus(&view);
    window.workbench.run("Linkspan: Ask About Selection");
    view.fill(COMPOSER, "make it a number");
    view.click(".composer [data-action='send']");
    let (prompt, _) = agent.prompted();
    let words = json!({ "type": "text", "text": "I will count." });
    agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": words }));
    let new = "const count: number = 3;\nexport { count };\n";
    agent.wants(7, &path, "const count: number = \"many\";\nexport { count };\n", new);
    view.sees(".review-card[data-state='pending']");
    // Beside the diff: why it was proposed, and the way back.
    window.workbench.look_at("a.ts ←");
    window.workbench.click_lens("a.ts ←", "Why: “make it a number”", 1);
    view.sees(".item.found:has(.review-card)");
    sleep(LOOK);
    window.workbench.look_at("a.ts ←");
    window.workbench.run("Linkspan: Accept Change");
    assert_eq!(agent.option(7).as_deref(), Some("yes"));
    session.world.file("a.ts", new);
    agent.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e7", "status": "completed" }));
    agent.ends(&prompt, "end_turn");
    view.says(".turn-end", "1 change proposed in this turn");
    view.click(".turn-end [data-action='undo-turn']");
    view.click(".turn-end [data-action='undo-turn']");
    view.says(".turn-outcome", "Undone: 1 change.");
    assert!(session.world.read_text("a.ts").contains("many"));
}

fn problems_of_a_file_are_put_into_the_message(session: &VsCodeSession) {
    let _agent = StandIn::new(&session.world);
    session.world.file("broken.ts", "const count: number = \"many\";\nexport { count };\n");
    let window = session.open();
    window.workbench.open_file("broken.ts");
    window.workbench.page.sees(".squiggly-error");
    window.workbench.run("Linkspan: Fix Diagnostics Here");
    let view = window.workbench.page.frame_with(".chat");
    view.says(".composer .files", "broken.ts");
    let field = format!("document.querySelector(\"{COMPOSER}\").value");
    view.until(&format!("{field}.includes('line 1') && {field}.includes('not assignable')"));
}
