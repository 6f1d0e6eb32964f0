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
    problems_of_a_file_are_put_into_the_message
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
    sleep(LOOK);
    view.click(".ask [data-action='allowOnce']");
    agent.begins();
    let (prompt, text) = agent.prompted();
    assert!(text.starts_with("What is this?"), "{text}");
    let content = json!({ "type": "text", "text": "A **number**." });
    agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    view.says(".from-agent .md strong", "number");
    agent.wants(7, &path, "one\ntwo\nthree\n", "one\n2\nthree\n");
    view.sees(".review-card[data-state='pending'] .cm-content");
    sleep(LOOK);
    if let Some(folder) = std::env::var_os("LINKSPAN_TEST_PICTURES") {
        let name = format!("vscode-chat-{}.png", window.vscode.port);
        window.workbench.page.picture(&std::path::Path::new(&folder).join(name));
    }
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
