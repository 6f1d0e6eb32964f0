//! The chat in the page with a hosted agent that the test plays, through the real hub: what the user sees, what the agent
//! hears, and what the file holds.

use serde_json::json;

use crate::accessibility::violations;
use crate::support::hosted::*;
use crate::support::review_page::*;
use crate::support::*;

const COMPOSER: &str = "[data-field='message']";

/// A conversation that was started in the page, and its agent, which waits for the first message's end.
pub(crate) struct HostedChat {
    pub(crate) page: Page,
    pub(crate) agent: StandIn,
    pub(crate) prompt: serde_json::Value,
    _others: (Serve, Browser),
    /// Last, because it stops the hub: an editor that is still attached would start it again.
    pub(crate) world: World,
}

impl HostedChat {
    #[track_caller]
    pub(crate) fn started() -> HostedChat {
        HostedChat::started_in(&json!({}), &[])
    }

    /// In a browser with these options, and scripts that run before the page's own.
    #[track_caller]
    pub(crate) fn started_in(options: &serde_json::Value, scripts: &[std::path::PathBuf]) -> HostedChat {
        HostedChat::started_on(World::new(), options, scripts)
    }

    #[track_caller]
    pub(crate) fn started_on(
        world: World,
        options: &serde_json::Value,
        scripts: &[std::path::PathBuf],
    ) -> HostedChat {
        let browser = Browser::start();
        let mut agent = StandIn::new(&world);
        let serve = world.serve();
        let context = browser.context(options);
        scripts.iter().for_each(|script| context.with_script(script));
        let page = context.page();
        follow(&page, &link(&world));
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

    /// The agent wants to make this of the file, and the user accepts it in the conversation; the agent writes.
    #[track_caller]
    fn accepts(&mut self, tool: u64, path: &str, old: &str, new: &str) {
        self.agent.wants(tool, path, old, new);
        let name = path.rsplit('/').next().unwrap();
        let card = format!(".review-card[data-state='pending']:has-text('{name}')");
        self.page.sees(&format!("{card} {PROPOSED}"));
        look();
        self.page.click(&format!("{card} [data-action='accept']"));
        assert_eq!(self.agent.option(tool).as_deref(), Some("yes"));
        self.world.file(name, new);
        let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": format!("e{tool}"), "status": "completed" });
        self.agent.update(done);
        self.page.sees(&format!(".review-card[data-state='accepted']:has-text('{name}')"));
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

#[test]
fn a_review_says_why_it_was_proposed_and_leads_to_its_tool_call() {
    let mut chat = HostedChat::started();
    let path = chat.world.file("a.txt", "one\ntwo\n");
    chat.says("I will <b>shout</b> the first line.");
    chat.agent.wants(7, &path, "one\ntwo\n", "ONE\ntwo\n");
    let page = &chat.page;
    page.sees(".review-card[data-state='pending']");
    assert!(!page.shows(".review-card .why"), "the conversation around it says it");
    let review = chat.world.one_pending();
    page.click("[data-action='reviews']");
    open(page, &review);
    assert!(!page.shows(".why dl"), "it is folded");
    page.click(".stage .why > summary");
    let why = page.says(".stage .why dl", "change a.txt");
    assert!(why.contains("I will <b>shout</b> the first line."), "{why}");
    page.click(".stage [data-action='open-conversation']");
    page.sees("body[data-view='chat']");
    page.sees(".item.found:has(.review-card)");
    page.sees(".item:focus");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_turn_is_undone_in_the_conversation_and_each_file_says_what_became_of_it() {
    let mut chat = HostedChat::started();
    let one = chat.world.file("one.txt", "one\n");
    let two = chat.world.file("two.txt", "two\n");
    chat.accepts(7, &one, "one\n", "ONE\n");
    chat.accepts(8, &two, "two\n", "TWO\n");
    assert!(!chat.page.shows(".turn-end"), "the turn is not over");
    chat.agent.ends(&chat.prompt, "end_turn");
    let page = &chat.page;
    page.says(".turn-end", "2 changes proposed in this turn");
    chat.world.file("two.txt", "TWO\nand more\n");
    page.click(".turn-end [data-action='undo-turn']");
    page.says(".turn-end [data-action='undo-turn']", "Undo all?");
    assert_eq!(chat.world.read_text("one.txt"), "ONE\n", "it asks first");
    page.click(".turn-end [data-action='undo-turn']");
    page.says(".turn-outcome", "Undone: 1 of 2 changes.");
    assert_eq!(chat.world.read_text("one.txt"), "one\n");
    assert_eq!(chat.world.read_text("two.txt"), "TWO\nand more\n");
    page.says(".undone-files [data-undone='true']", "one.txt");
    page.says(".undone-files [data-undone='false']", "not undone");
    // The rest from the history, once the file is as it was.
    chat.world.file("two.txt", "TWO\n");
    page.click("[data-action='history']");
    page.click("[data-entry] [data-action='of-chat'] >> nth=0");
    page.says(".history-filter", "Only changes of conversation t1");
    page.click(".history-filter [data-action='undo-turn']");
    page.click(".history-filter [data-action='undo-turn']");
    eventually("it is undone", || (chat.world.read_text("two.txt") == "two\n").then_some(()));
    page.sees_no(".history-filter [data-action='undo-turn']");
    page.click(".history-filter [data-action='open-conversation']");
    page.sees("body[data-view='chat'] .turn-end");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn the_history_of_one_conversation_leaves_out_all_others() {
    let mut chat = HostedChat::started();
    let path = chat.world.file("a.txt", "one\n");
    chat.accepts(7, &path, "one\n", "ONE\n");
    chat.agent.ends(&chat.prompt, "end_turn");
    let other = chat.world.file("other.txt", "x\n");
    let mut nexus = Agent::nexus3(&chat.world, chat._others.0.port);
    nexus.propose(&other, "y\n", "tab");
    let review = chat.world.one_pending();
    chat.world.run(&["accept", &review]).ok();
    let page = &chat.page;
    page.click("[data-action='history']");
    page.waits("both are listed", |page| (page.count("[data-entry]") == 2).then_some(()));
    page.click("[data-action='of-chat']");
    page.waits("one is listed", |page| (page.count("[data-entry]") == 1).then_some(()));
    page.says("[data-entry]", "a.txt");
    page.click("[data-action='all-history']");
    page.waits("both are listed again", |page| (page.count("[data-entry]") == 2).then_some(()));
}

#[test]
fn a_mention_completes_files_of_the_folder_that_no_rule_hides() {
    let chat = HostedChat::started();
    for name in ["Makefile", "src/make.rs", "target/make.o", "make.secret"] {
        chat.world.file(name, "x");
    }
    chat.world.file(".gitignore", "target/\n");
    std::fs::create_dir_all(chat.world.workspace().join(".git")).unwrap();
    let page = &chat.page;
    page.click(COMPOSER);
    page.types("@mak");
    page.waits("they are offered", |page| {
        let mut offered = page.texts(".options .name");
        offered.sort();
        (offered == ["Makefile", "make.rs", "make.secret"]).then_some(())
    });
    page.press("Escape");
    page.fill(COMPOSER, "");
    page.types("@src/mak");
    page.waits("a folder may be named", |page| (page.texts(".options .name") == ["make.rs"]).then_some(()));
}

#[test]
fn axe_finds_nothing_wrong_in_the_chat() {
    let axe = prerequisites::node_modules().join("node_modules/axe-core/axe.min.js");
    for scheme in ["light", "dark"] {
        let options = json!({ "colorScheme": scheme, "viewport": { "width": 1280, "height": 800 } });
        let mut chat = HostedChat::started_in(&options, std::slice::from_ref(&axe));
        let one = chat.world.file("one.txt", "one\n");
        chat.says("I will *shout*:\n\n```rust\nlet x = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |");
        chat.agent.wants(7, &one, "one\n", "ONE\n");
        let page = &chat.page;
        page.sees(&format!(".review-card {PROPOSED}"));
        page.fill(COMPOSER, "");
        page.click(COMPOSER);
        page.types("look at @one");
        page.sees(".options [role='option']");
        assert_eq!(violations(page), "", "a change that waits, and names of files, {scheme}");
        page.press("Enter");
        look();
        page.click(".review-card [data-action='accept']");
        assert_eq!(chat.agent.option(7).as_deref(), Some("yes"));
        chat.world.file("one.txt", "ONE\n");
        let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "e7", "status": "completed" });
        chat.agent.update(done);
        chat.agent.ends(&chat.prompt, "end_turn");
        let page = &chat.page;
        page.click(".turn-end [data-action='undo-turn']");
        page.click(".turn-end [data-action='undo-turn']");
        page.says(".turn-outcome", "Undone: 1 change.");
        assert_eq!(violations(page), "", "the end of a turn, {scheme}");
        page.click("[data-action='history']");
        page.click("[data-action='of-chat'] >> nth=0");
        page.sees(".history-filter");
        assert_eq!(violations(page), "", "the history of a conversation, {scheme}");
    }
}
