//! The chat in the page. `scripted_hub.js` says what agents do, so that each moment can be looked at; reviews, permission
//! requests and files are real.

use std::time::{Duration, Instant};

use linkspan_editor_api as api;
use serde_json::{Value, json};

use crate::support::editor::all_capabilities;
use crate::support::review_page::*;
use crate::support::*;

const COMPOSER: &str = "[data-field='message']";
const SEND: &str = ".composer [data-action='send']";
const STOP: &str = ".composer [data-action='stop']";
/// The agent's words on the screen.
const WORDS: &str = ".from-agent .md";

struct Chat {
    page: Page,
    serve: Serve,
    _browser: Browser,
    /// Last, because it stops the hub: an editor that is still attached would start it again.
    world: World,
}

impl Chat {
    /// The page with the Chat tab open, and what this script adds to the conversations before.
    #[track_caller]
    fn open(prepare: &str) -> Chat {
        Chat::open_with(&json!({}), prepare)
    }

    #[track_caller]
    fn open_with(options: &Value, prepare: &str) -> Chat {
        let browser = Browser::start();
        let world = World::new();
        let serve = world.serve();
        let context = browser.context(options);
        context.with_script(&paths::root().join("crates/cli/tests/page/scripted_hub.js"));
        let page = context.page();
        follow(&page, &link(&world));
        page.evaluate(&format!("{prepare}; 0"));
        page.click("[data-action='chat']");
        page.sees(COMPOSER);
        page.sees(".agent-choice");
        Chat { page, world, serve, _browser: browser }
    }

    /// Opens the first conversation.
    #[track_caller]
    fn opens(prepare: &str) -> Chat {
        let chat = Chat::open(prepare);
        chat.page.click("[data-chat='t1']");
        chat.page.sees(".transcript");
        chat
    }

    #[track_caller]
    fn does(&self, script: &str) {
        self.page.evaluate(&format!("{script}; 0"));
    }

    /// The parameters of the requests of this method.
    #[track_caller]
    fn requests(&self, method: &str) -> Vec<Value> {
        let all =
            format!("chatHub.requests.filter(each => each.method === '{method}').map(each => each.params)");
        self.page.evaluate(&all).as_array().unwrap().clone()
    }
}

#[test]
fn a_conversation_is_started_with_an_agent_in_a_folder_and_its_answer_streams_in() {
    let Chat { page, world, .. } = &Chat::open("");
    assert_eq!(page.attribute(SEND, "aria-disabled").as_deref(), Some("true"), "nothing is typed yet");
    assert_eq!(page.count(".agent-choice input:disabled"), 1, "an agent that is not installed");
    page.click(".agent-choice:has-text('Claude Code')");
    page.click(COMPOSER);
    page.types("Explain **this**");
    page.press("Shift+Enter");
    page.types("please");
    page.press("Enter");
    page.says(".from-user", "Explain this");
    let said = page.evaluate("chatHub.requests.map(each => [each.method, each.params])");
    let said: Vec<(String, Value)> = serde_json::from_value(said).unwrap();
    let start = said.iter().find(|(method, _)| method == "chat/start").unwrap();
    assert_eq!(start.1, json!({ "agent": "claude", "folder": world.workspace() }));
    let prompt = said.iter().find(|(method, _)| method == "chat/prompt").unwrap();
    assert_eq!(
        prompt.1,
        json!({ "chat": "t1", "text": "Explain **this**\nplease", "attachments": [], "pictures": [] })
    );
    page.evaluate("chatHub.item('t1', { kind: 'agent', text: '' }); 0");
    for word in ["It ", "is `one", "`.\n\n```rust\nlet x", " = 1;\n```"] {
        page.evaluate(&format!("chatHub.text('t1', 1, {}); 0", json!(word)));
    }
    page.says(WORDS, "It is one.");
    page.says(".doing", "Claude Code is working");
    page.evaluate("chatHub.summary('t1', { state: { kind: 'idle' } }); 0");
    page.sees(&format!("{WORDS} .c-keyword:has-text('let')"));
    page.says(SEND, "Send");
    page.waits("the end is announced", |page| {
        page.text("#status").contains("Claude Code finished").then_some(())
    });
    page.says("[data-chat='t1']", "Explain **this**");
}

#[test]
fn text_of_an_agent_is_never_markup_and_no_link_in_it_runs_anything() {
    let hostile = "<img src=x onerror=\"window.owned=1\"><script>window.owned=1</script>\n\n[click](javascript:window.owned=1) \
                   [x](data:text/html,1) [good.org](https://evil.example/) \u{202e}txet \u{1b}[2J";
    let prepare = format!(
        "chatHub.add({{ title: '<b>x</b>\\u202e' }}, [
            {{ kind: 'agent', text: {text} }},
            {{ kind: 'thought', text: {text} }},
            {{ kind: 'tool', title: {text}, state: 'done', output: {text}, paths: ['/w/<b>.rs'] }},
            {{ kind: 'notice', text: {text}, isError: true }},
            {{ kind: 'plan', steps: [{{ text: {text}, state: 'done' }}] }},
            {{ kind: 'user', text: {text}, queued: false, byLinkspan: false }},
            {{ kind: 'newer', text: {text} }},
        ])",
        text = json!(hostile)
    );
    let chat = Chat::opens(&prepare);
    let page = &chat.page;
    page.says(WORDS, "<img src=x");
    page.click(".call > summary");
    page.click(".thought > summary");
    page.says(".call .code", "<script>");
    assert_eq!(page.count(".items :is(img, script, iframe, object, form)"), 0);
    let links =
        page.evaluate("[...document.querySelectorAll('.items a')].map(a => [a.href, a.rel, a.target])");
    for link in links.as_array().unwrap() {
        assert_eq!(link, &json!(["https://evil.example/", "noopener noreferrer", "_blank"]));
    }
    assert!(page.text(WORDS).contains("(evil.example)"), "a text that names another host");
    for hidden in ["\u{202e}", "\u{1b}"] {
        assert!(!page.text("#chat").contains(hidden), "{hidden:?}");
    }
    assert_eq!(page.evaluate("window.owned ?? 0"), json!(0));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_review_is_decided_in_the_conversation_by_hunks_and_the_list_is_in_step() {
    let chat = Chat::opens("chatHub.add({ state: { kind: 'working' } })");
    let Chat { page, world, serve, .. } = &chat;
    let base: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let path = world.file("a.txt", &base);
    let mut agent = Agent::nexus3(world, serve.port);
    let call = agent.propose(&path, &base.replace("line 3\n", "three\n").replace("line 27\n", "27\n"), "tab");
    let review = world.one_pending();
    chat.does(&format!(
        "chatHub.item('t1', {{ kind: 'tool', title: 'Edit a.txt', toolKind: 'edit', state: 'pending', paths: ['{path}'], reviews: ['{review}'] }})"
    ));
    let card = format!("[data-review-card='{review}']");
    page.sees(&format!("{card}[data-state='pending'] {PROPOSED}"));
    page.says(&format!("{card} .card-head"), "a.txt");
    page.click(&format!("{card} input[data-hunk] >> nth=0"));
    page.says(ACCEPT, "1 of 2 hunks");
    look();
    page.click(&format!("{card} [data-action='accept']"));
    page.sees(&format!("{card}[data-state='accepted'] .card-head[aria-expanded='false']"));
    eventually("one hunk is on disk", || {
        (world.read_text("a.txt") == base.replace("line 27\n", "27\n")).then_some(())
    });
    assert!(!agent.texts(call).is_empty());
    page.click("[data-action='reviews']");
    page.sees(&row_in(&review, "accepted"));
}

/// As in a view of VS Code that shares its side bar with others.
#[test]
fn a_review_is_built_and_the_messages_keep_some_room_where_there_is_hardly_any() {
    let chat = Chat::opens("chatHub.add({ state: { kind: 'working' } })");
    let Chat { page, world, serve, .. } = &chat;
    page.resize(320, 230);
    let path = world.file("a.txt", "one\n");
    let mut agent = Agent::nexus3(world, serve.port);
    agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    chat.does(&format!(
        "chatHub.item('t1', {{ kind: 'tool', title: 'Edit', state: 'pending', reviews: ['{review}'] }})"
    ));
    page.sees(&format!("[data-review-card='{review}'] {PROPOSED}"));
    let height = page.evaluate("document.querySelector('.transcript').clientHeight").as_u64().unwrap();
    assert!(height >= 120, "{height} px for the messages");
    // Nothing covers them.
    page.click(&format!("[data-review-card='{review}'] [data-action='reject']"));
    page.click(COMPOSER);
    page.types("still here");
    page.click(SEND);
    page.says(".from-user", "still here");
}

#[test]
fn a_review_that_is_decided_elsewhere_closes_in_the_conversation() {
    let chat = Chat::opens("chatHub.add()");
    let Chat { page, world, serve, .. } = &chat;
    let path = world.file("a.txt", "one\n");
    let mut agent = Agent::nexus3(world, serve.port);
    agent.propose(&path, "two\n", "tab");
    let review = world.one_pending();
    chat.does(&format!(
        "chatHub.item('t1', {{ kind: 'tool', title: 'Edit', state: 'pending', reviews: ['{review}'] }})"
    ));
    let card = format!("[data-review-card='{review}']");
    page.sees(&format!("{card} {PROPOSED}"));
    // What is typed in the one place is there in the other.
    page.fill(&format!("{card} [data-field='reason']"), "not like this");
    page.click("[data-action='reviews']");
    page.click(&row(&review));
    page.waits("the reason moved", |page| {
        (page.evaluate(&format!("document.querySelector(\"{REASON}\")?.value")) == json!("not like this"))
            .then_some(())
    });
    page.click("[data-action='chat']");
    world.run(&["reject", &review]).ok();
    page.sees(&format!("{card}[data-state='rejected']"));
    assert_eq!(page.count(&format!("{card} {PROPOSED}")), 0);
}

#[test]
fn a_message_is_queued_while_the_agent_works_and_stop_ends_the_turn() {
    let chat =
        Chat::opens("chatHub.add({ state: { kind: 'working' } }, [{ kind: 'agent', text: 'Working' }])");
    let page = &chat.page;
    page.says(SEND, "Queue");
    page.fill(COMPOSER, "and a test");
    page.click(SEND);
    page.says(".from-user", "sent when this turn ends");
    page.says(".doing", "1 message waits");
    page.click(STOP);
    page.says(SEND, "Send");
    assert_eq!(chat.requests("chat/cancel"), [json!({ "chat": "t1" })]);
    page.sees_no(&format!("{STOP}:not([hidden])"));
}

#[test]
fn a_message_that_the_hub_refuses_comes_back_to_the_composer() {
    let chat = Chat::opens("chatHub.add(); chatHub.refusals['chat/prompt'] = 'the agent is not logged in'");
    let page = &chat.page;
    page.fill(COMPOSER, "hello");
    page.click(SEND);
    page.says("[data-toast]", "the agent is not logged in");
    page.waits("it is back", |page| {
        (page.evaluate(&format!("document.querySelector(\"{COMPOSER}\").value")) == json!("hello"))
            .then_some(())
    });
}

#[test]
fn what_was_typed_and_which_conversation_is_open_survive_a_reload() {
    let chat = Chat::opens("chatHub.add({ title: 'First' }); chatHub.add({ title: 'Second' })");
    let page = &chat.page;
    page.fill(COMPOSER, "half a thought");
    page.click("[data-chat='t2']");
    assert_eq!(page.evaluate(&format!("document.querySelector(\"{COMPOSER}\").value")), json!(""));
    page.click("[data-chat='t1']");
    page.reload();
    page.sees("body[data-connection='connected']");
    chat.does("chatHub.add({ title: 'First' }); chatHub.add({ title: 'Second' })");
    page.click("[data-action='chat']");
    page.says(".conversation-head h2", "First");
    assert_eq!(
        page.evaluate(&format!("document.querySelector(\"{COMPOSER}\").value")),
        json!("half a thought")
    );
}

#[test]
fn the_keyboard_alone_is_enough() {
    let prepare = "chatHub.add({ title: 'First' }, [{ kind: 'tool', title: 'Edit', state: 'done', paths: ['/w/src/main.rs'] }]);
        chatHub.add({ title: 'Second' })";
    let chat = Chat::open(prepare);
    let page = &chat.page;
    page.press("Escape");
    page.press("h");
    page.sees("body[data-view='history']");
    page.press("t");
    page.sees("body[data-view='chat']");
    page.press("Escape");
    page.evaluate("document.activeElement.blur(); 0");
    page.press("j");
    page.sees(".conversation-head:not(.is-new)");
    page.press("Escape");
    page.click("[data-chat='t1']");
    page.sees(".transcript [data-kind='tool']");
    page.types("look at @mai");
    page.sees(".options [aria-selected='true']:has-text('main.rs')");
    page.press("Enter");
    page.says(".composer .files", "main.rs");
    page.types("now");
    page.press("Enter");
    page.says(".from-user", "look at @main.rs now");
    assert_eq!(chat.requests("chat/prompt")[0]["attachments"], json!([{ "path": "/w/src/main.rs" }]));
}

#[test]
fn five_thousand_items_open_at_once_and_every_one_can_be_found_and_reached() {
    let prepare = "chatHub.add({ title: 'Long' }, Array.from({ length: 5000 }, (_, i) =>
        i % 3 === 0 ? { kind: 'user', text: `question ${i}`, queued: false, byLinkspan: false }
        : i % 3 === 1 ? { kind: 'agent', text: `**answer** ${i}\\n\\n- a\\n- b\\n\\n\\`\\`\\`rust\\nlet x = ${i};\\n\\`\\`\\`` }
        : { kind: 'tool', title: `cargo test ${i}`, state: 'done', output: `line ${i}\\n`.repeat(50) }))";
    let chat = Chat::open(prepare);
    let page = &chat.page;
    page.evaluate("document.querySelector('[data-chat=t1]').addEventListener('click', () => window.begun = performance.now(), true); 0");
    page.evaluate(
        "new MutationObserver((_, observer) => document.querySelector('[data-item=\"4999\"]') && (observer.disconnect(),
            requestAnimationFrame(() => setTimeout(() => window.took = performance.now() - window.begun)))
        ).observe(document.querySelector('#chat'), { childList: true, subtree: true }); 0",
    );
    page.click("[data-chat='t1']");
    page.until("window.took !== undefined");
    let took = page.evaluate("window.took").as_f64().unwrap();
    assert!(took < 1_000.0, "it took {took} ms; the target is 300 ms on a machine of its own");
    eprintln!("5,000 items: {took:.0} ms");
    assert!(page.count(".item") <= 200, "{} elements", page.count(".item"));
    page.evaluate("document.activeElement.blur(); 0");
    page.press("/");
    page.fill("[data-field='find']", "question 2499");
    page.says(".find-bar", "1 of 1");
    page.sees(".item.found:has-text('question 2499')");
    // Upwards until the first one.
    let until = Instant::now() + Duration::from_secs(30);
    while page.count("[data-item='0']") == 0 {
        assert!(Instant::now() < until, "the first item was never reached");
        page.evaluate("new Promise(done => { document.querySelector('.transcript').scrollTop -= 3000; requestAnimationFrame(() => done(0)); })");
        assert!(page.count(".item") <= 240);
    }
    page.click("[data-action='to-end']");
    page.sees("[data-item='4999']");
}

#[test]
fn a_token_is_on_the_screen_within_a_frame() {
    let chat = Chat::opens(
        "chatHub.add({ state: { kind: 'working' } }, [{ kind: 'agent', text: '# Long\\n\\n' + 'word '.repeat(4000) + '\\n\\n' }])",
    );
    let page = &chat.page;
    page.says(WORDS, "Long");
    let took = page.evaluate(
        "(async () => {
            const took = [];
            for (let step = 0; step < 100; step++) {
                const begun = performance.now();
                chatHub.text('t1', 0, `t${step} `);
                await new Promise(done => requestAnimationFrame(done));
                if (!document.querySelector('.from-agent').textContent.includes(`t${step}`)) return [-1];
                document.querySelector('.transcript').getBoundingClientRect();
                took.push(performance.now() - begun);
                await new Promise(done => setTimeout(done, 5));
            }
            return took.sort((one, other) => one - other);
        })()",
    );
    let took: Vec<f64> = serde_json::from_value(took).unwrap();
    assert_eq!(took.len(), 100, "a token missed its frame");
    eprintln!("tokens: median {:.1} ms, p95 {:.1} ms", took[50], took[95]);
}

#[test]
fn a_hub_that_left_something_out_is_asked_for_the_whole_conversation() {
    let chat = Chat::opens("chatHub.add({}, [{ kind: 'agent', text: 'one' }])");
    let page = &chat.page;
    page.says(WORDS, "one");
    chat.does(
        "chatHub.chats.get('t1').items.push({ kind: 'agent', text: 'two' }, { kind: 'agent', text: 'three' });
         chatHub.update('t1', { kind: 'item', index: 2, item: { kind: 'agent', text: 'three' } })",
    );
    page.waits("all are there", |page| (page.texts(WORDS) == ["one", "two", "three"]).then_some(()));
}

#[test]
fn a_permission_request_is_answered_in_the_conversation_that_it_belongs_to() {
    let chat = Chat::opens("chatHub.add({ state: { kind: 'working' } })");
    let Chat { page, world, serve, _browser } = chat;
    drop(serve);
    let capabilities = api::Capabilities { terminal: true, questions: true, ..all_capabilities() };
    let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
    let mut agent = OwnAgent::join(&world, "k3y");
    let call = agent.call("runInTerminal", json!({ "command": "make" }));
    let asked = editor.question(1);
    page.says("#chat .questions .ask", "make");
    let tool = json!({ "kind": "tool", "title": "make", "toolKind": "execute", "state": "pending", "ask": asked.ask });
    page.evaluate(&format!("chatHub.item('t1', {tool}); 0"));
    page.says(".decide .ask .detail", "make");
    page.waits("it is shown once", |page| (!page.shows("#chat .questions")).then_some(()));
    look();
    page.click(".decide .ask [data-action='allowOnce']");
    assert_eq!(agent.told(call)["exitCode"], 3);
    page.sees_no(".decide .ask");
}

#[test]
fn a_mention_completes_the_selection_of_the_editor_and_a_message_goes_back_with_all_that_belongs_to_it() {
    let chat = Chat::opens(
        "chatHub.add(); chatHub.files = ['/w/src/selector.rs']; chatHub.selection = { path: '/w/a.rs', firstLine: 3, lastLine: 9 }",
    );
    let page = &chat.page;
    page.click(COMPOSER);
    page.types("what is @sel");
    page.waits("both are offered", |page| (page.count(".options [role='option']") == 2).then_some(()));
    page.says(".options [aria-selected='true']", "selection");
    page.press("Enter");
    page.says(".composer .files", "a.rs:3-9");
    page.press("Enter");
    page.says(".from-user", "what is @selection");
    let selection = json!([{ "path": "/w/a.rs", "firstLine": 3, "lastLine": 9 }]);
    assert_eq!(chat.requests("chat/prompt")[0]["attachments"], selection);
    let again = ".from-user [data-action='again']";
    assert!(page.attribute(again, "title").unwrap().contains("sent as a new message"));
    page.evaluate(&format!("document.querySelector(\"{again}\").click(); 0"));
    page.says(".composer .files", "a.rs:3-9");
    page.press("End");
    page.types("?");
    page.press("Enter");
    page.waits("it is a new message", |page| (page.count(".from-user") == 2).then_some(()));
    let second = &chat.requests("chat/prompt")[1];
    assert_eq!((&second["attachments"], &second["text"]), (&selection, &json!("what is @selection ?")));
}

/// Drops files on the composer; `pictures` have these many pixels on each side.
#[track_caller]
fn drop_files(page: &Page, pictures: &[(&str, u32)], others: &[&str]) {
    let dropped = format!(
        "(async () => {{
            const data = new DataTransfer();
            for (const [name, side] of {pictures}) {{
                const canvas = new OffscreenCanvas(side, side);
                canvas.getContext('2d').fillRect(0, 0, side, side);
                data.items.add(new File([await canvas.convertToBlob()], name, {{ type: 'image/png' }}));
            }}
            for (const name of {others}) data.items.add(new File(['text'], name, {{ type: name.endsWith('.png') ? 'image/png' : 'text/plain' }}));
            document.querySelector('.composer').dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }}));
            return 0;
        }})()",
        pictures = json!(pictures),
        others = json!(others)
    );
    page.evaluate(&dropped);
}

#[test]
fn a_dropped_picture_is_made_small_shown_and_sent() {
    let chat = Chat::opens("chatHub.add({ pictures: true })");
    let page = &chat.page;
    drop_files(page, &[("large.png", 3000)], &[]);
    page.sees(".composer canvas.picture[aria-label='Picture: large.png']");
    page.click(SEND);
    page.sees(".from-user canvas.picture");
    let picture = chat.requests("chat/prompt")[0]["pictures"][0].clone();
    assert_eq!((&picture["name"], &picture["mimeType"]), (&json!("large.png"), &json!("image/png")));
    let side = page.evaluate(&format!(
        "fetchSide({})",
        json!(picture["data"])
    ).replace("fetchSide(", "(async (data) => (await createImageBitmap(new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))]))).width)("));
    assert_eq!(side, json!(1568));
    page.sees_no(".composer canvas.picture");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_dropped_says_why() {
    let chat = Chat::opens(
        "chatHub.add({ pictures: false }); chatHub.files = ['/w/a.txt', '/w/b/c.txt', '/w/d/c.txt']",
    );
    let page = &chat.page;
    drop_files(page, &[("a.png", 4)], &[]);
    page.says("[data-toast]", "Gemini CLI takes no pictures");
    drop_files(page, &[], &["a.txt"]);
    page.says(".composer .files", "a.txt");
    drop_files(page, &[], &["c.txt", "elsewhere.txt"]);
    page.says("#toasts", "Several files are named c.txt");
    page.says("#toasts", "elsewhere.txt is not in the folder");
    chat.does("chatHub.summary('t1', { pictures: true })");
    drop_files(page, &[], &["broken.png"]);
    page.says("#toasts", "broken.png is not a picture");
    assert_eq!(page.count(".composer .picture"), 0);
}

#[test]
fn new_items_that_come_faster_than_frames_are_followed_until_the_user_scrolls_up() {
    let chat = Chat::opens(
        "chatHub.add({ state: { kind: 'working' } }, Array.from({ length: 60 }, (_, i) => ({ kind: 'notice', text: `note ${i}`, isError: false })))",
    );
    let page = &chat.page;
    // In bursts within a frame, so that the scroll event of one comes after the next is known.
    page.evaluate(
        "(async () => {
            for (let step = 0; step < 120; step++) {
                chatHub.item('t1', { kind: 'notice', text: `more ${step}\\n`.repeat(4), isError: false });
                if (step % 3 === 2) await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
                else await Promise.resolve();
            }
            return 0;
        })()",
    );
    page.sees("[data-item='179']");
    page.waits("the end is on the screen", |page| (!page.shows("[data-action='to-end']")).then_some(()));
    page.evaluate("document.querySelector('.transcript').scrollTop -= 400; 0");
    page.sees("[data-action='to-end']:not([hidden])");
    chat.does("chatHub.item('t1', { kind: 'notice', text: 'unseen', isError: false })");
    page.says("[data-action='to-end']", "Latest");
    // One's own message is always shown.
    page.fill(COMPOSER, "and now?");
    page.click(SEND);
    page.says(".from-user", "and now?");
    page.waits("the end is on the screen again", |page| {
        (!page.shows("[data-action='to-end']")).then_some(())
    });
}
