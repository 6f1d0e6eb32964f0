//! Permission prompts on the page: shown in full, answered once, and not by a key that was meant for something else.

use linkspan_editor_api as api;
use serde_json::json;

use crate::support::editor::all_capabilities;
use crate::support::review_page::*;
use crate::support::*;

fn willing(world: &World) -> Editor {
    let capabilities = api::Capabilities { terminal: true, questions: true, ..all_capabilities() };
    EditorBuilder::new(world).capabilities(capabilities).attach()
}

fn answer(option: &str) -> String {
    format!("#asks li.ask:first-child [data-action='{option}']")
}

#[test]
fn a_question_is_read_whole_and_answered_on_the_page() {
    let browser = Browser::start();
    let world = World::new();
    let editor = willing(&world);
    let mut agent = OwnAgent::join(&world, "k3y");
    let page = visit(&world, &browser);
    let long = format!("echo '<img src=x onerror=alert(1)>' \u{202e}{}\nlast line", "x".repeat(4000));
    let call = agent.call("runInTerminal", json!({ "command": long }));
    let asked = editor.question(1);
    page.sees(&answer("allowOnce"));
    page.until("document.title === '(1) Linkspan'");
    page.says("[role='status']", "run this command");
    let shown = page.text("#asks .detail");
    assert_eq!(shown, long.replace('\u{202e}', "\\u{202e}"), "nothing is cut or hidden");
    assert!(page.text("#asks .from").contains(world.workspace().to_str().unwrap()));
    assert_eq!(page.count("#asks img"), 0);
    look();
    page.click(&answer("allowOnce"));
    assert_eq!(agent.told(call)["exitCode"], 3);
    page.sees_no("#asks li");
    page.until("document.title === 'Linkspan'");
    assert_eq!(editor.until("it is taken back", |state| state.unasked.pop()), asked.ask);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn an_early_press_answers_nothing_and_the_keyboard_does_all() {
    let browser = Browser::start();
    let world = World::new();
    let editor = willing(&world);
    let mut agent = OwnAgent::join(&world, "k3y");
    let page = visit(&world, &browser);
    // Pressed in the moment in which it appears.
    page.evaluate(
        "new MutationObserver(() => document.querySelector('#asks button')?.click())
            .observe(document.getElementById('asks'), { childList: true }); 0",
    );
    let call = agent.call("runInTerminal", json!({ "command": "one" }));
    page.says("#toasts", "Ignored");
    assert!(agent.waits(call));
    look();
    page.press("q");
    page.until("document.activeElement.dataset.ask !== undefined");
    // The text, then its answers.
    for _ in 0..3 {
        page.press("Tab");
    }
    page.until("document.activeElement.dataset.action === 'allowSession'");
    look();
    page.press("Enter");
    assert_eq!(agent.told(call)["output"], "one");
    let call = agent.call("runInTerminal", json!({ "command": "two" }));
    assert_eq!(agent.told(call)["output"], "two");
    assert_eq!(editor.state().ran.len(), 2);
}

#[test]
fn a_question_that_was_answered_elsewhere_goes_with_a_word_and_one_that_waited_is_there_after_a_reload() {
    let browser = Browser::start();
    let world = World::new();
    let mut editor = willing(&world);
    let mut agent = OwnAgent::join(&world, "k3y");
    let call = agent.call("runInTerminal", json!({ "command": "one" }));
    let asked = editor.question(1);
    let page = visit(&world, &browser);
    page.sees(&answer("deny"));
    page.reload();
    page.sees(&answer("deny"));
    editor.reply(&asked, Some(api::AskOption::Deny));
    page.sees_no("#asks li");
    page.says("#toasts", "denied in Test Editor");
    assert_eq!(agent.told(call)["error"]["kind"], "denied");
    assert_eq!(editor.state().ran, []);
}
