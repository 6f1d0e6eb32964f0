//! The browser page as its tests drive it: selectors, and the steps that most of them take.

use std::thread::sleep;
use std::time::Duration;

use linkspan_editor_api::PROTOCOL;
use serde_json::{Value, json};

use super::{Agent, Browser, HubSocket, Page, Serve, World};

/// A click sooner than this after a change appeared is ignored: it may have been meant for something else.
const LOOK: Duration = Duration::from_millis(450);

pub const PROPOSED: &str = ".cm-content[aria-label='Proposed text']";
pub const ACCEPT: &str = "article [data-action='accept']";
pub const REJECT: &str = "article [data-action='reject']";
pub const REASON: &str = "article [data-field='reason']";
pub const OUTCOME: &str = "article [data-outcome]";

/// One-time link to the page of this world's hub.
#[track_caller]
pub fn link(world: &World) -> String {
    ask(world, "page/link")["url"].as_str().unwrap().to_owned()
}

/// Everything up to the path.
pub fn origin(link: &str) -> &str {
    link.split("/#").next().unwrap()
}

#[track_caller]
pub fn ask(world: &World, method: &str) -> Value {
    let mut socket = HubSocket::connect(world);
    socket.request("hub/hello", json!({ "version": "1", "protocol": PROTOCOL, "role": "tester" }));
    let answer = socket.request(method, json!({}));
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

/// The page of this world's hub, opened by a fresh link in a browser profile of its own.
#[track_caller]
pub fn visit(world: &World, browser: &Browser) -> Page {
    let page = browser.page();
    follow(&page, &link(world));
    page
}

/// One pending change to `a.txt`, open in the page.
pub struct ReviewFixture {
    pub world: World,
    pub agent: Agent,
    pub call: i64,
    pub review: String,
    pub page: Page,
    /// Kept until the test ends. Declared after the world, so that a test that takes this apart drops it before the world.
    pub _others: (Serve, Browser),
}

impl ReviewFixture {
    #[track_caller]
    pub fn about(join: fn(&World, u16) -> Agent, base: &str, proposed: &str) -> ReviewFixture {
        let browser = Browser::start();
        let world = World::new();
        let path = world.file("a.txt", base);
        let serve = world.serve();
        let mut agent = join(&world, serve.port);
        let call = agent.propose(&path, proposed, "tab");
        let review = world.one_pending();
        let page = visit(&world, &browser);
        open(&page, &review);
        ReviewFixture { world, agent, call, review, page, _others: (serve, browser) }
    }
}

#[track_caller]
pub fn follow(page: &Page, link: &str) {
    assert_eq!(page.goto(link), Ok(200));
    page.sees("body[data-connection='connected']");
}

pub fn row(review: &str) -> String {
    format!("nav[aria-label='Reviews'] button[data-review='{review}']")
}

pub fn row_in(review: &str, state: &str) -> String {
    format!("{}[data-state='{state}']", row(review))
}

pub fn article(review: &str) -> String {
    format!("article[data-open='{review}']")
}

/// From here on the page remembers how its connection changes: it may be back before anyone looks.
pub fn watch_connection(page: &Page) {
    page.evaluate(
        "window.states = []; new MutationObserver(() => states.push(document.body.dataset.connection))
            .observe(document.body, { attributes: true, attributeFilter: ['data-connection'] }); 0",
    );
}

/// Waits until the connection that is watched was lost and is back.
#[track_caller]
pub fn reconnects(page: &Page) {
    page.until("states.includes('lost') && states.at(-1) === 'connected'");
}

/// Opens a review and waits until it may be decided.
#[track_caller]
pub fn open(page: &Page, review: &str) {
    page.click(&row(review));
    page.sees(&format!("{} [data-diff] {PROPOSED}", article(review)));
    look();
}

pub fn look() {
    sleep(LOOK);
}

/// From here on the page's requests of this method are held back, until they are released.
pub fn hold(page: &Page, method: &str) {
    page.evaluate(&format!(
        "window.held = [];
        const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (text) {{
            window.lastSocket = this;
            if (held !== null && text.includes('\"{method}\"')) held.push(() => send.call(this, text));
            else send.call(this, text);
        }}; 0"
    ));
}

#[track_caller]
pub fn holds_one(page: &Page) {
    page.until("held.length === 1");
}

pub fn release(page: &Page) {
    page.evaluate("const waiting = held; held = null; waiting.forEach(go => go()); 0");
}

/// The ids of all rows, from top to bottom.
pub fn rows(page: &Page) -> Vec<String> {
    let all = "[...document.querySelectorAll(\"nav[aria-label='Reviews'] button[data-review]\")]";
    let ids = page.evaluate(&format!("{all}.map(row => row.dataset.review)"));
    ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// No error occurred in the page, and it made no request to other servers.
#[track_caller]
pub fn is_well(page: &Page, origin: &str) {
    assert_eq!(page.complaints(), Vec::<String>::new());
    let socket = origin.replacen("http", "ws", 1);
    let ours =
        |url: &String| url.starts_with(&format!("{origin}/")) || url.starts_with(&format!("{socket}/"));
    let foreign: Vec<String> = page.requests().into_iter().filter(|url| !ours(url)).collect();
    assert_eq!(foreign, Vec::<String>::new(), "asked elsewhere");
}
