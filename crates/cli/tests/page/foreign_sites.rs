//! Other sites in the browser of a user who has the page open. A cookie is sent to every port of a host, so requests
//! from sites on 127.0.0.1 carry the session; still they read nothing, decide nothing, and use up no link.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::browser::Context;
use crate::support::foreign_site::{ForeignSite, attack_on_page};
use crate::support::review_page::*;
use crate::support::*;

/// A user with one review open, and the secrets that an attacker would like to have.
struct Victim {
    _serve: Serve,
    agent: Agent,
    review: String,
    /// A link that was not used yet.
    link: String,
    context: Context,
    page: Page,
    /// Dropped last: a window without a hub would start one.
    world: World,
}

impl Victim {
    fn of(browser: &Browser) -> Victim {
        let world = World::new();
        let path = world.file("confidential.txt", "one\n");
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        agent.propose(&path, "two\n", "tab");
        let review = world.one_pending();
        let context = browser.context(&json!({}));
        let page = context.page();
        follow(&page, &link(&world));
        page.sees(&row(&review));
        let link = link(&world);
        Victim { world, _serve: serve, agent, review, link, context, page }
    }

    fn origin(&self) -> &str {
        origin(&self.link)
    }

    fn attack(&self, against: &str) -> String {
        let secret = self.link.rsplit('#').next().unwrap();
        attack_on_page(against, secret, &self.review)
    }

    fn refusals(&self) -> u64 {
        let refused = self.world.status()["refused"].clone();
        refused.as_object().unwrap().values().filter_map(Value::as_u64).sum()
    }

    /// Nothing was decided, the link is unused, and the user's own page still works.
    #[track_caller]
    fn stays_unharmed(mut self, browser: &Browser) {
        assert_eq!(self.world.one_pending(), self.review);
        self.agent.is_served();
        assert_eq!(self.agent.next_frame(Duration::from_millis(50)), None, "no answer");
        assert_eq!(self.world.read_text("confidential.txt"), "one\n");
        self.page.sees("body[data-connection='connected']");
        follow(&browser.page(), &self.link);
    }
}

/// The results of the attacker's page, attempt by attempt.
fn report(page: &Page) -> serde_json::Map<String, Value> {
    page.evaluate("all").as_object().unwrap().clone()
}

#[track_caller]
fn got_nothing(report: &serde_json::Map<String, Value>) {
    assert!(report.len() > 25, "{report:#?}");
    let got: Vec<_> =
        report.iter().filter(|(_, what)| !what.as_str().unwrap().starts_with("refused")).collect();
    assert!(got.is_empty(), "{got:#?}");
}

#[test]
fn a_browser_shows_what_a_site_serves_and_the_site_hears_what_it_asks() {
    let browser = Browser::start();
    let site = ForeignSite::serving("<title>t</title><p id=a>one</p><script>console.error('bad')</script>");
    let page = browser.page();
    assert_eq!(page.goto(&site.url()), Ok(200));
    assert_eq!(page.text("#a"), "one");
    assert_eq!(page.attribute("p", "id").as_deref(), Some("a"));
    assert_eq!(page.evaluate("fetch('/x', { method: 'POST', body: 'told' }).then(r => r.status)"), 200);
    assert!(site.heard().iter().any(|heard| heard.starts_with("POST /x ") && heard.ends_with("told")));
    assert_eq!(page.complaints(), ["bad"]);
    assert!(page.requests().contains(&format!("{}x", site.url())));
}

/// A control: an attack that does not work at all would prove nothing.
#[test]
fn the_attacks_work_against_a_site_that_does_not_defend_itself() {
    let browser = Browser::start();
    let head = "Content-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n";
    let naive = ForeignSite::with_head("'private'", head);
    let attacker =
        ForeignSite::serving(attack_on_page(&format!("http://127.0.0.1:{}", naive.port), "s3cret", "r1"));
    let page = browser.page();
    page.goto(&attacker.url()).unwrap();
    let report = report(&page);
    assert_eq!(report["cors omit /session"], "cors 200 'private'");
    assert_eq!(report["no-cors include /"], "opaque 0 ");
    assert_eq!(report["script"], "loaded");
    let heard = naive.heard();
    let posts = heard.iter().filter(|heard| heard.starts_with("POST /session "));
    let bodies: Vec<&str> = posts.filter_map(|post| post.split("\r\n\r\n").nth(1)).collect();
    // From scripts, a beacon and a form.
    assert!(bodies.len() >= 6, "{bodies:?}");
    for body in bodies {
        let body: Value = serde_json::from_str(body.trim()).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(body["secret"], "s3cret");
    }
    assert!(heard.iter().any(|heard| heard.to_lowercase().contains("upgrade: websocket")));
    assert!(heard.iter().any(|heard| heard.to_lowercase().contains("sec-fetch-dest: iframe")));
}

#[test]
fn another_port_of_this_machine_gets_nothing_though_the_cookie_goes_along() {
    let browser = Browser::start();
    let victim = Victim::of(&browser);
    let attacker = ForeignSite::serving(victim.attack(victim.origin()));
    let before = victim.refusals();
    let page = victim.context.page();
    page.goto(&attacker.url()).unwrap();
    got_nothing(&report(&page));
    assert!(
        attacker.heard()[0].contains("linkspan-"),
        "the browser does take the cookie to the attacker's port"
    );
    let frames = page.frames();
    assert!(frames.iter().all(|url| !url.starts_with(victim.origin())), "in no frame: {frames:?}");
    assert!(victim.refusals() > before, "and `linkspan status` counts it");
    victim.stays_unharmed(&browser);
}

#[test]
fn another_name_of_this_machine_gets_nothing() {
    let browser = Browser::start();
    let victim = Victim::of(&browser);
    let attacker = ForeignSite::serving(victim.attack(victim.origin()));
    let page = victim.context.page();
    page.goto(&format!("http://localhost:{}/", attacker.port)).unwrap();
    got_nothing(&report(&page));
    victim.stays_unharmed(&browser);
}

#[test]
fn another_site_gets_nothing() {
    let browser = Browser::with_flags(&["--host-resolver-rules=MAP evil.test 127.0.0.1"]);
    let victim = Victim::of(&browser);
    let attacker = ForeignSite::serving(victim.attack(victim.origin()));
    let page = victim.context.page();
    page.goto(&format!("http://evil.test:{}/", attacker.port)).unwrap();
    got_nothing(&report(&page));
    victim.stays_unharmed(&browser);
}

#[test]
fn a_name_that_was_bound_to_this_machine_afterwards_gets_nothing() {
    // Many browsers are older than the protection of local networks, so the test switches it off.
    let flags =
        ["--host-resolver-rules=MAP evil.test 127.0.0.1", "--disable-features=LocalNetworkAccessChecks"];
    let browser = Browser::with_flags(&flags);
    let victim = Victim::of(&browser);
    let port = victim.origin().rsplit(':').next().unwrap();
    let evil = format!("http://evil.test:{port}");
    let page = victim.context.page();
    assert_eq!(page.goto(&format!("{evil}/")), Ok(421), "not the name of this place");
    assert!(!page.text("body").contains("confidential"));
    // The attacker's page came from there while the name was still bound to the attacker's own machine.
    victim.context.with_answer(&format!("{evil}/attack"), &victim.attack(&evil));
    assert_eq!(page.goto(&format!("{evil}/attack")), Ok(200));
    let report = report(&page);
    let got = |what: &str| !(what.starts_with("refused") || what.starts_with("basic 421 "));
    let got: Vec<_> = report.iter().filter(|(_, what)| got(what.as_str().unwrap())).collect();
    assert!(got.is_empty(), "{got:#?}");
    assert!(report["cors include post"].as_str().unwrap().starts_with("basic 421 "), "{report:#?}");
    victim.stays_unharmed(&browser);
}

#[test]
fn a_window_that_another_site_opened_is_out_of_its_reach() {
    let browser = Browser::start();
    let victim = Victim::of(&browser);
    let attacker = ForeignSite::serving("<button>A prize</button>");
    let page = victim.context.page();
    page.goto(&attacker.url()).unwrap();
    page.evaluate(&format!(
        "document.querySelector('button').onclick = () => {{ window.other = open('{}/'); }}; 0",
        victim.origin()
    ));
    let before = victim.context.pages().len();
    page.click("button");
    let opened = eventually("the window is there", || {
        let mut pages = victim.context.pages();
        (pages.len() > before).then(|| pages.pop().unwrap())
    });
    opened.sees("body[data-connection]");
    assert_eq!(opened.evaluate("window.opener === null"), true);
    page.until("other.closed");
    assert_eq!(page.evaluate("other.length"), 0);
    let told =
        "(() => { try { return String(other.document.body.innerText) } catch (e) { return e.name } })()";
    let told = page.evaluate(told);
    assert!(!told.to_string().contains("confidential"), "{told}");
    victim.stays_unharmed(&browser);
}

#[test]
fn a_form_that_sends_the_whole_window_there_is_refused() {
    let browser = Browser::start();
    let victim = Victim::of(&browser);
    let attacker = ForeignSite::serving(victim.attack(victim.origin()));
    let page = victim.context.page();
    page.goto(&attacker.url()).unwrap();
    page.evaluate("setTimeout(post('_self')); 0");
    page.waits("the answer", |page| page.frames()[0].starts_with(victim.origin()).then_some(()));
    assert_eq!(page.count("body[data-connection]"), 0, "{}", page.text("body"));
    victim.stays_unharmed(&browser);
}

#[test]
fn what_is_in_the_page_can_call_nobody() {
    let browser = Browser::start();
    let victim = Victim::of(&browser);
    let elsewhere = ForeignSite::with_head("", "Access-Control-Allow-Origin: *\r\n");
    let url = elsewhere.url();
    // As if a flaw in the page had admitted a script: the policy still confines it.
    let tried = victim.page.evaluate(&format!(
        "(async () => {{
            const tried = {{}};
            tried.fetch = await fetch('{url}').then(() => 'got out', () => 'held');
            tried.socket = await new Promise(done => {{
                try {{ const line = new WebSocket('{}'); line.onopen = () => done('got out'); line.onerror = () => done('held'); }}
                catch {{ done('held'); }}
            }});
            const tag = (name, attributes) => new Promise(done => {{
                const element = document.createElement(name);
                element.onload = () => done('got out');
                element.onerror = () => done('held');
                try {{ Object.assign(element, attributes); }} catch {{ done('held'); }}
                document.head.append(element);
            }});
            tried.image = await tag('img', {{ src: '{url}' }});
            tried.script = await tag('script', {{ src: '{url}' }});
            tried.style = await tag('link', {{ rel: 'stylesheet', href: '{url}' }});
            window.ran = false;
            try {{ const inline = document.createElement('script'); inline.textContent = 'window.ran = true'; document.head.append(inline); }} catch {{}}
            try {{ document.body.insertAdjacentHTML('beforeend', '<b onclick=1>'); tried.markup = 'got in'; }} catch {{ tried.markup = 'held'; }}
            tried.inline = window.ran ? 'ran' : 'held';
            tried.cookie = document.cookie === '' ? 'held' : document.cookie;
            return tried;
        }})()",
        url.replacen("http", "ws", 1)
    ));
    for (what, came) in tried.as_object().unwrap() {
        assert_eq!(came, "held", "{what}");
    }
    assert_eq!(elsewhere.heard(), Vec::<String>::new());
    victim.stays_unharmed(&browser);
}

#[test]
fn the_session_can_not_be_read_by_scripts_nor_kept_by_the_browser() {
    let browser = Browser::start();
    let victim = Victim::of(&browser);
    let cookies = victim.context.cookies();
    assert_eq!(cookies.len(), 1, "{cookies:?}");
    let port = victim.origin().rsplit(':').next().unwrap();
    assert_eq!(cookies[0]["name"], format!("linkspan-{port}"));
    assert_eq!((&cookies[0]["httpOnly"], &cookies[0]["sameSite"]), (&json!(true), &json!("Strict")));
    assert_eq!(cookies[0]["expires"], -1, "gone with the browser");
    let kept = victim
        .page
        .evaluate("JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])");
    assert!(!kept.to_string().contains(cookies[0]["value"].as_str().unwrap()), "{kept}");
}
