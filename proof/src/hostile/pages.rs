//! Pages of other sites in a real browser whose user has the review page open: everything that a page can try,
//! against each port, from another port, another name, another site, and a name that was bound to this machine
//! afterwards (DNS rebinding).

use std::time::Duration;

use linkspan_testkit::browser::{Context, Page};
use linkspan_testkit::foreign_site::{ForeignSite, attack_on_agents_port, attack_on_page};
use linkspan_testkit::page_client::{PageSession, link};
use linkspan_testkit::{Agent, Browser};
use serde_json::{Map, Value, json};

use super::fixture::{AttackFixture, SECRET};
use super::{Attack, AttackResult, BY_AGENTS};

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack {
        name: "pages in a real browser",
        endpoints: "window's port, ppxai's own port, page",
        run: pages,
        ..BY_AGENTS
    }]
}

/// The browser's own protection of local networks is newer than many browsers, so it is not relied on.
const FLAGS: [&str; 2] =
    ["--host-resolver-rules=MAP evil.test 127.0.0.1", "--disable-features=LocalNetworkAccessChecks"];

fn pages(fixture: &mut AttackFixture) -> AttackResult {
    if ["LINKSPAN_TEST_BROWSER", "LINKSPAN_TEST_NODE_MODULES"]
        .iter()
        .any(|name| std::env::var_os(name).is_none())
    {
        return AttackResult::skipped("there is no browser here (`LINKSPAN_TEST_BROWSER`)");
    }
    let browser = Browser::with_flags(&FLAGS);
    let path = fixture.world.file("a.txt", "one\n");
    let mut agent = Agent::nexus3(&fixture.world, fixture.port);
    agent.propose(&path, "two\n", "tab");
    let review = fixture.world.one_pending();
    // The user has a session in this very profile, and a link that was not followed yet.
    let context = browser.context(&json!({}));
    let own = context.page();
    let (port, secret) = link(&fixture.world);
    assert_eq!(own.goto(&format!("http://127.0.0.1:{port}/#{secret}")), Ok(200));
    own.sees("body[data-connection='connected']");
    let (_, secret) = link(&fixture.world);

    works_against_a_naive_server(&context, &secret, &review);
    let before = fixture.refusals();
    let mut attackers = Vec::new();
    for against in [format!("http://127.0.0.1:{port}"), format!("http://evil.test:{port}")] {
        let site = ForeignSite::serving(attack_on_page(&against, &secret, &review));
        attackers.push((format!("http://127.0.0.1:{}/", site.port), against.clone()));
        attackers.push((format!("http://localhost:{}/", site.port), against.clone()));
        attackers.push((format!("http://evil.test:{}/", site.port), against));
    }
    for agents in [fixture.port, fixture.ppxai_port] {
        for host in ["127.0.0.1", "evil.test"] {
            let against = format!("http://{host}:{agents}");
            let site = ForeignSite::serving(attack_on_agents_port(&against));
            attackers.push((format!("http://{host}:{}/", site.port), against));
        }
    }
    // A page that was loaded from the very address that is bound to this machine now: same origin as its target.
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
        // An opaque answer tells a page nothing; what it may have done is checked below.
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
    assert!(fixture.refusals() > before, "`linkspan status` counts them");
    assert_eq!(fixture.world.one_pending(), review, "nothing was decided or proposed");
    assert_eq!(agent.next_frame(Duration::from_millis(200)), None, "nothing was answered");
    assert_eq!(fixture.world.read_text("a.txt"), "one\n");
    let nothing_asked = fixture.editor.state().questions.is_empty() && fixture.editor.state().ran.is_empty();
    assert!(nothing_asked, "nothing was asked or run");
    own.sees("body[data-connection='connected']");
    // The link is unused.
    PageSession::with(port, &secret);
    agent.goodbye();
    fixture.world.pending(0);
    AttackResult::new(
        tries,
        format!("{} pages got nothing; nothing decided, proposed or used up", opened.len()),
    )
}

fn report(page: &Page) -> Map<String, Value> {
    page.evaluate("all").as_object().unwrap().clone()
}

/// Without this check, an attack that is broken itself would prove nothing.
fn works_against_a_naive_server(context: &Context, secret: &str, review: &str) {
    let head = "Content-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n";
    let naive = ForeignSite::with_head("'private'", head);
    let against = format!("http://127.0.0.1:{}", naive.port);
    for (attack, read) in [
        (attack_on_page(&against, secret, review), "cors omit /session"),
        (attack_on_agents_port(&against), "cors call"),
    ] {
        let page = context.page();
        page.goto(&ForeignSite::serving(attack).url()).unwrap();
        assert_eq!(report(&page)[read], "cors 200 'private'");
        page.close();
    }
    let heard = naive.heard();
    assert!(heard.iter().any(|heard| heard.starts_with("POST /session ") && heard.contains(secret)));
    assert!(heard.iter().any(|heard| heard.starts_with("POST /ide/execute ") && heard.contains("stolen")));
}
