//! Pictures of the chat on the browser page, with an agent that plays its part: wide, and on a phone.

use std::fs::OpenOptions;
use std::io::Write;

use linkspan_testkit::hosted::StandIn;
use linkspan_testkit::review_page::{PROPOSED, follow, link, look};
use linkspan_testkit::{Browser, Page, World};
use serde_json::{Value, json};

use crate::{LIMITER, LIMITER_AFTER, write};

const COMPOSER: &str = "[data-field='message']";

pub(crate) fn make() {
    let wide = json!({ "colorScheme": "light", "viewport": { "width": 1280, "height": 900 } });
    take("page-chat.png", &wide);
    let screen = json!({ "width": 390, "height": 780 });
    let phone = json!({
        "colorScheme": "dark", "viewport": screen, "hasTouch": true, "isMobile": true, "deviceScaleFactor": 1.5,
    });
    take("page-chat-phone.png", &phone);
}

fn take(name: &str, options: &Value) {
    let browser = Browser::start();
    let world = World::new();
    let mut agent = StandIn::new(&world);
    let agents = world.config_file().with_file_name("agents.toml");
    OpenOptions::new().append(true).open(agents).unwrap().write_all(b"name = \"Gemini CLI\"\n").unwrap();
    let _serve = world.serve();
    let page = browser.context(options).page();
    follow(&page, &link(&world));
    page.click("[data-action='chat']");
    page.sees(".agent-choice:has-text('Gemini CLI') input:not(:disabled)");
    page.click(".agent-choice:has-text('Gemini CLI') >> nth=-1");
    say(&page, "Which requests does the limiter count?");
    page.sees("#chat .ask [data-action='allowOnce']");
    look();
    page.click("#chat .ask [data-action='allowOnce']");
    agent.begins();
    let (prompt, _) = agent.prompted();
    words(
        &mut agent,
        "It counts every request of the last `window`, also those that it **refused**:\n\n```rust\nself.seen.push_back(now);\nself.seen.len() <= self.limit\n```\n",
    );
    agent.ends(&prompt, "end_turn");
    page.sees(".chat[data-state='idle']");
    say(
        &page,
        "Count only those that it let through, and say in the README that it limits requests per second.",
    );
    let (prompt, _) = agent.prompted();
    let readme = world.file("README.md", "# Gateway\n\nLimits requests.\n");
    let new = "# Gateway\n\nLimits requests per second.\n";
    agent.update(json!({ "sessionUpdate": "plan", "entries": [
        { "content": "Say what is limited", "status": "completed", "priority": "high" },
        { "content": "Count what was let through", "status": "in_progress", "priority": "high" },
    ] }));
    agent.wants(7, &readme, "# Gateway\n\nLimits requests.\n", new);
    page.sees(&format!(".review-card {PROPOSED}"));
    look();
    page.click(".review-card [data-action='accept']");
    agent.option(7);
    world.file("README.md", new);
    agent.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e7", "status": "completed" }));
    agent.update(json!({ "sessionUpdate": "tool_call", "toolCallId": "x1", "kind": "execute", "status": "completed",
        "title": "cargo test limiter", "content": [{ "type": "content", "content": { "type": "text", "text": "ok" } }] }));
    words(&mut agent, "Now the limiter: a refused request leaves no mark.");
    let path = world.file("src/limiter.rs", LIMITER);
    agent.wants(8, &path, LIMITER, LIMITER_AFTER);
    page.sees(&format!(".review-card[data-state='pending'] {PROPOSED}"));
    look();
    write(name, |path| page.picture(path));
    drop(prompt);
}

fn say(page: &Page, text: &str) {
    page.fill(COMPOSER, text);
    page.click(".composer [data-action='send']");
}

fn words(agent: &mut StandIn, text: &str) {
    let content = json!({ "type": "text", "text": text });
    agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
}
