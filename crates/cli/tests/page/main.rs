//! The browser page in a real Chromium, against the real binary and agents: what the person sees, what the agents
//! hear and what the files hold. This file has what a person does first; the others, one theme each.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod comfort;
#[cfg(test)]
mod deciding;
#[cfg(test)]
mod endpoints;
#[cfg(test)]
mod history;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod keyboard;
#[cfg(test)]
mod many;
#[cfg(test)]
mod nobody_waits;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod restart;
#[cfg(test)]
use linkspan_testkit as support;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod together;

#[cfg(test)]
mod person {
    use std::thread::sleep;
    use std::time::Duration;

    use linkspan_editor_api::PROTOCOL;
    use serde_json::{Value, json};

    use crate::support::*;

    /// A click that comes sooner than this after what it decides on is taken for one meant for something else.
    const LOOK: Duration = Duration::from_millis(450);

    pub(crate) const PROPOSED: &str = ".cm-content[aria-label='Proposed text']";
    pub(crate) const ACCEPT: &str = "article [data-action='accept']";
    pub(crate) const REJECT: &str = "article [data-action='reject']";
    pub(crate) const REASON: &str = "article [data-field='reason']";
    pub(crate) const OUTCOME: &str = "article [data-outcome]";

    /// One-time link to the page of this world's hub.
    #[track_caller]
    pub(crate) fn link(world: &World) -> String {
        ask(world, "page/link")["url"].as_str().unwrap().to_owned()
    }

    /// Everything up to the path.
    pub(crate) fn origin(link: &str) -> &str {
        link.split("/#").next().unwrap()
    }

    #[track_caller]
    pub(crate) fn ask(world: &World, method: &str) -> Value {
        let mut line = Line::to(world);
        line.ask("hub/hello", json!({ "version": "1", "protocol": PROTOCOL, "role": "tester" }));
        let answer = line.ask(method, json!({}));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// A person who was given a link and has followed it, in a profile of her own.
    #[track_caller]
    pub(crate) fn visit(world: &World, browser: &Browser) -> Page {
        let page = browser.page();
        follow(&page, &link(world));
        page
    }

    /// One change to `a.txt` that waits, open before the person's eyes.
    pub(crate) struct Asked {
        pub(crate) world: World,
        pub(crate) agent: Agent,
        pub(crate) call: i64,
        pub(crate) review: String,
        pub(crate) page: Page,
        /// What has to live on until the test ends. Named behind the world, so that it goes before it.
        pub(crate) _others: (Serve, Browser),
    }

    impl Asked {
        /// `None` where there is no browser.
        #[track_caller]
        pub(crate) fn about(join: fn(&World, u16) -> Agent, base: &str, proposed: &str) -> Option<Asked> {
            let browser = Browser::start()?;
            let world = World::new();
            let path = world.file("a.txt", base);
            let serve = world.serve();
            let mut agent = join(&world, serve.port);
            let call = agent.propose(&path, proposed, "tab");
            let review = world.one_pending();
            let page = visit(&world, &browser);
            open(&page, &review);
            Some(Asked { world, agent, call, review, page, _others: (serve, browser) })
        }
    }

    #[track_caller]
    pub(crate) fn follow(page: &Page, link: &str) {
        assert_eq!(page.goto(link), Ok(200));
        page.sees("body[data-connection='connected']");
    }

    pub(crate) fn row(review: &str) -> String {
        format!("nav[aria-label='Reviews'] button[data-review='{review}']")
    }

    pub(crate) fn row_in(review: &str, state: &str) -> String {
        format!("{}[data-state='{state}']", row(review))
    }

    pub(crate) fn article(review: &str) -> String {
        format!("article[data-open='{review}']")
    }

    /// Opens a review and takes the time to look at it.
    #[track_caller]
    pub(crate) fn open(page: &Page, review: &str) {
        page.click(&row(review));
        page.sees(&format!("{} [data-diff] {PROPOSED}", article(review)));
        look();
    }

    pub(crate) fn look() {
        sleep(LOOK);
    }

    /// From here on the page's requests of this method wait on their way to the hub, until they are let go.
    pub(crate) fn hold(page: &Page, method: &str) {
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
    pub(crate) fn holds_one(page: &Page) {
        page.until("held.length === 1");
    }

    pub(crate) fn let_go(page: &Page) {
        page.evaluate("const waiting = held; held = null; waiting.forEach(go => go()); 0");
    }

    /// The ids of all rows, from top to bottom.
    pub(crate) fn rows(page: &Page) -> Vec<String> {
        let all = "[...document.querySelectorAll(\"nav[aria-label='Reviews'] button[data-review]\")]";
        let ids = page.evaluate(&format!("{all}.map(row => row.dataset.review)"));
        ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    /// Nothing went wrong in the page, and it asked nobody else for anything.
    #[track_caller]
    pub(crate) fn is_well(page: &Page, origin: &str) {
        assert_eq!(page.complaints(), Vec::<String>::new());
        let socket = origin.replacen("http", "ws", 1);
        let ours =
            |url: &String| url.starts_with(&format!("{origin}/")) || url.starts_with(&format!("{socket}/"));
        let foreign: Vec<String> = page.requests().into_iter().filter(|url| !ours(url)).collect();
        assert_eq!(foreign, Vec::<String>::new(), "asked elsewhere");
    }
}
