//! The chat in the page with a hosted agent that the test plays, through the real hub: what the user sees, what the agent
//! hears, and what the file holds.

use serde_json::json;

use crate::support::hosted::*;
use crate::support::review_page::*;
use crate::support::*;

const COMPOSER: &str = "[data-field='message']";

/// A conversation that was started in the page, and its agent, which waits for the first message's end.
struct HostedChat {
    page: Page,
    world: World,
    agent: StandIn,
    prompt: serde_json::Value,
    _others: (Serve, Browser),
}

impl HostedChat {
    #[track_caller]
    fn started() -> HostedChat {
        let browser = Browser::start();
        let world = World::new();
        let mut agent = StandIn::new(&world);
        let serve = world.serve();
        let page = visit(&world, &browser);
        page.click("[data-action='chat']");
        page.sees(&format!(".agent-choice:has-text('{}')", StandIn::ID));
        page.click(&format!(".agent-choice:has-text('{}')", StandIn::ID));
        page.click(COMPOSER);
        page.types("change a.txt");
        page.press("Enter");
        page.sees("#chat .ask [data-action='allowOnce']");
        look();
        page.click("#chat .ask [data-action='allowOnce']");
        agent.begins();
        let (prompt, text) = agent.prompted();
        assert_eq!(text, "change a.txt");
        page.says(".from-user", "change a.txt");
        HostedChat { page, world, agent, prompt, _others: (serve, browser) }
    }

    fn says(&mut self, text: &str) {
        let content = json!({ "type": "text", "text": text });
        self.agent.update(json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
    }
}

#[test]
fn an_agent_is_allowed_asked_and_its_change_decided_without_leaving_the_chat() {
    let mut chat = HostedChat::started();
    let base: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let path = chat.world.file("a.txt", &base);
    let proposed = base.replace("line 3\n", "three\n").replace("line 27\n", "27\n");
    chat.says("I will **change");
    chat.says("** it.");
    chat.page.says(".from-agent .md strong", "change");
    chat.agent.wants(7, &path, &base, &proposed);
    chat.page.sees(&format!(".review-card[data-state='pending'] {PROPOSED}"));
    chat.page.click(".review-card input[data-hunk] >> nth=0");
    chat.page.says(ACCEPT, "1 of 2 hunks");
    look();
    chat.page.click(ACCEPT);
    // The agent hears a no, so the hub writes what was accepted, and tells the agent afterwards.
    assert_eq!(chat.agent.option(7).as_deref(), Some("no"));
    chat.agent.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e7", "status": "failed" }));
    eventually("one hunk is on disk", || {
        (chat.world.read_text("a.txt") == base.replace("line 27\n", "27\n")).then_some(())
    });
    chat.agent.ends(&chat.prompt, "end_turn");
    let (prompt, told) = chat.agent.prompted();
    assert!(told.contains("a.txt"), "{told}");
    chat.page.sees(".from-user.by-linkspan:has-text('a.txt')");
    chat.agent.ends(&prompt, "end_turn");
    chat.page.sees(".chat[data-state='idle']");
    assert_eq!(chat.page.complaints(), Vec::<String>::new());
}

#[test]
fn stop_ends_the_turn_and_a_reload_shows_the_same_conversation() {
    let mut chat = HostedChat::started();
    chat.says("Still at it.");
    chat.page.says(".from-agent", "Still at it.");
    chat.page.click(".composer [data-action='stop']");
    chat.agent.request("session/cancel");
    chat.agent.ends(&chat.prompt, "cancelled");
    chat.page.sees(".chat[data-state='idle']");
    chat.page.reload();
    chat.page.sees("body[data-connection='connected']");
    chat.page.click("[data-action='chat']");
    chat.page.says(".from-user", "change a.txt");
    chat.page.says(".from-agent", "Still at it.");
}
