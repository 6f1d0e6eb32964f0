//! Pages of other sites in a real browser, whose owner has the review page open: everything a page can try, against
//! each port, from another port, another name, another site, and a name that was bound to this machine afterwards.

use std::time::Duration;

use linkspan_testkit::browser::{Context, Page};
use linkspan_testkit::page_door::{Browser as Session, link};
use linkspan_testkit::site::{Site, attack_on_agents_port, attack_on_page};
use linkspan_testkit::{Agent, Browser};
use serde_json::{Map, Value, json};

use super::stage::{SECRET, Stage};
use super::{Attack, OF_AGENTS, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack {
        name: "pages in a real browser",
        doors: "window's port, ppxai's own port, page",
        run: pages,
        ..OF_AGENTS
    }]
}

/// The browser's own protection of local networks is newer than many browsers are, so it is not relied on.
const FLAGS: [&str; 2] =
    ["--host-resolver-rules=MAP evil.test 127.0.0.1", "--disable-features=LocalNetworkAccessChecks"];

fn pages(stage: &mut Stage) -> Seen {
    if ["LINKSPAN_TEST_BROWSER", "LINKSPAN_TEST_NODE_MODULES"]
        .iter()
        .any(|name| std::env::var_os(name).is_none())
    {
        return Seen::not_tried("there is no browser here (`LINKSPAN_TEST_BROWSER`)");
    }
    let browser = Browser::with_flags(&FLAGS).expect("the browser starts");
    let path = stage.world.file("a.txt", "one\n");
    let mut agent = Agent::nexus3(&stage.world, stage.port);
    agent.propose(&path, "two\n", "tab");
    let review = stage.world.one_pending();
    // The person, with a session in this very profile, and a link that she has not followed yet.
    let context = browser.context(&json!({}));
    let own = context.page();
    let (port, secret) = link(&stage.world);
    assert_eq!(own.goto(&format!("http://127.0.0.1:{port}/#{secret}")), Ok(200));
    own.sees("body[data-connection='connected']");
    let (_, secret) = link(&stage.world);

    works_against_the_careless(&context, &secret, &review);
    let before = stage.refusals();
    let mut attackers = Vec::new();
    for against in [format!("http://127.0.0.1:{port}"), format!("http://evil.test:{port}")] {
        let site = Site::serving(attack_on_page(&against, &secret, &review));
        attackers.push((format!("http://127.0.0.1:{}/", site.port), against.clone()));
        attackers.push((format!("http://localhost:{}/", site.port), against.clone()));
        attackers.push((format!("http://evil.test:{}/", site.port), against));
    }
    for agents in [stage.port, stage.well_known] {
        for host in ["127.0.0.1", "evil.test"] {
            let against = format!("http://{host}:{agents}");
            let site = Site::serving(attack_on_agents_port(&against));
            attackers.push((format!("http://{host}:{}/", site.port), against));
        }
    }
    // A page that came from the very address that is bound to this machine now: of the same origin as what it asks.
    let evil = format!("http://evil.test:{port}");
    context.with_answer(&format!("{evil}/attack"), &attack_on_page(&evil, &secret, &review));
    attackers.push((format!("{evil}/attack"), evil));
    let opened: Vec<(Page, String)> = attackers
        .into_iter()
        .map(|(from, against)| {
            let page = context.page();
            page.goto(&from).unwrap_or_else(|error| panic!("{from}: {error}"));
            (page, format!("{from} against {against}"))
        })
        .collect();
    let mut tries = 0;
    for (page, what) in &opened {
        let report = report(page);
        assert!(report.len() > 18, "{what}: {report:#?}");
        // Of what is opaque a page learns nothing; what it may have done is looked at below.
        let nothing = |said: &str| {
            said.starts_with("refused")
                || said == "opaque 0 "
                || said.starts_with("basic 421 ") && !said.contains(SECRET)
        };
        let got: Vec<_> = report.iter().filter(|(_, said)| !nothing(said.as_str().unwrap())).collect();
        assert!(got.is_empty(), "{what}: {got:#?}");
        let framed = page.frames();
        assert!(
            framed.iter().skip(1).all(|url| !url.contains(&format!(":{port}"))),
            "in no frame: {framed:?}"
        );
        tries += report.len();
    }
    assert!(stage.refusals() > before, "`linkspan status` counts them");
    assert_eq!(stage.world.one_pending(), review, "nothing was decided or proposed");
    assert_eq!(agent.next_frame(Duration::from_millis(200)), None, "nothing was answered");
    assert_eq!(stage.world.read_text("a.txt"), "one\n");
    let desk_is_empty = stage.editor.desk().questions.is_empty() && stage.editor.desk().ran.is_empty();
    assert!(desk_is_empty, "nothing was asked or run");
    own.sees("body[data-connection='connected']");
    // The link is unspent.
    Session::with(port, &secret);
    agent.goodbye();
    stage.world.pending(0);
    Seen::new(tries, format!("{} pages got nothing; nothing decided, proposed or spent", opened.len()))
}

fn report(page: &Page) -> Map<String, Value> {
    page.evaluate("all").as_object().unwrap().clone()
}

/// Without this, an attack that is broken by itself would prove nothing.
fn works_against_the_careless(context: &Context, secret: &str, review: &str) {
    let head = "Content-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n";
    let naive = Site::with_head("'private'", head);
    let against = format!("http://127.0.0.1:{}", naive.port);
    for (attack, read) in [
        (attack_on_page(&against, secret, review), "cors omit /session"),
        (attack_on_agents_port(&against), "cors call"),
    ] {
        let page = context.page();
        page.goto(&Site::serving(attack).url()).unwrap();
        assert_eq!(report(&page)[read], "cors 200 'private'");
        page.close();
    }
    let heard = naive.heard();
    assert!(heard.iter().any(|heard| heard.starts_with("POST /session ") && heard.contains(secret)));
    assert!(heard.iter().any(|heard| heard.starts_with("POST /ide/execute ") && heard.contains("stolen")));
}
