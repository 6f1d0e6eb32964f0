//! What browsers send for pages of other sites, byte by byte; real browsers are in `pages`.

use linkspan_testkit::raw_http::{Request, status};

use super::endpoint::{HubEndpoint, names};
use super::fixture::AttackFixture;
use super::tokens::is_refused;
use super::{Attack, AttackResult, BY_STRANGERS};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "Host variants", endpoints: "all endpoints", run: hosts, ..BY_STRANGERS },
        Attack { name: "Origin variants", endpoints: "all endpoints", run: origins, ..BY_STRANGERS },
        Attack { name: "CORS preflight", endpoints: "all endpoints", run: preflights, ..BY_STRANGERS },
        Attack {
            name: "simple-request forms",
            endpoints: "gemini, copilot, ppxai, page",
            run: forms,
            ..BY_STRANGERS
        },
    ]
}

fn hosts(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in HubEndpoint::ALL {
        let (good, port) = (endpoint.request(fixture), endpoint.port(fixture));
        let own = format!("127.0.0.1:{port}");
        for host in [
            "127.0.0.1".to_owned(),
            "localhost".into(),
            format!("localhost.:{port}"),
            format!("127.0.0.1.:{port}"),
            format!("localhost.evil.example:{port}"),
            format!("127.0.0.1.evil.example:{port}"),
            format!("evil.example:{port}"),
            format!("user@{own}"),
            format!("evil@{own}"),
            format!("{own}@evil.example"),
            format!("[::1]:{port}"),
            format!("[::ffff:127.0.0.1]:{port}"),
            format!("0.0.0.0:{port}"),
            format!("127.0.0.2:{port}"),
            format!("127.1:{port}"),
            format!("2130706433:{port}"),
            format!("0x7f.0.0.1:{port}"),
            "127.0.0.1:1".into(),
            format!("127.0.0.1:0{port}"),
            format!("127.0.0.1:{}", u32::from(port) + 65_536),
            format!("http://{own}"),
            format!("{own}/"),
            format!("{own}, {own}"),
            format!("{own}\u{e9}"),
            String::new(),
        ] {
            // A Unix socket has no other name.
            if endpoint == HubEndpoint::Copilot && host == "localhost" {
                continue;
            }
            is_refused(
                &good.with(format!("Host: {host}")),
                &[421, 400],
                &format!("{} {host:?}", endpoint.name()),
            );
            tries += 1;
        }
        let two = format!("Host: {own}");
        for request in [good.without("Host"), good.and(&two), good.and("Host: evil.example")] {
            is_refused(&request, &[421, 400], "no Host, or two");
            tries += 1;
        }
        let named = |scheme: &str| good.first.replacen(" /", &format!(" {scheme}://evil.example/"), 1);
        is_refused(&good.asking(&named("http")), &[421, 400], "another host in the request line");
        // The same address in other letter case is the same.
        let shouted = match endpoint {
            HubEndpoint::Copilot => good.with("Host: LOCALHOST"),
            _ => good.with(format!("Host: LOCALHOST:{port}")),
        };
        let origin = format!("Origin: http://localhost:{port}");
        let shouted = if endpoint == HubEndpoint::PageSocket {
            shouted.with(origin)
        } else {
            shouted.without("Origin")
        };
        let said = shouted.send();
        // That a cookie is for one name only is the browser's job.
        assert_eq!(status(&said), endpoint.expected_status(), "{} {said}", endpoint.name());
        tries += 2;
    }
    AttackResult::new(tries, "421 (400 if it is not a name at all)")
}

fn origins(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in HubEndpoint::ALL {
        let (good, port) = (endpoint.request(fixture), endpoint.port(fixture));
        let page = !HubEndpoint::AGENTS.contains(&endpoint);
        let own = format!("http://127.0.0.1:{port}");
        let mut variants = vec![
            "null".to_owned(),
            "https://evil.example".into(),
            "http://127.0.0.1".into(),
            "http://localhost".into(),
            format!("{own}.evil.example"),
            format!("http://evil.example:{port}"),
            format!("http://127.0.0.1:{}", port ^ 1),
            format!("https://127.0.0.1:{port}"),
            format!("http://user@127.0.0.1:{port}"),
            format!("http://127.0.0.1.:{port}"),
            format!("http://[::1]:{port}"),
            format!("{own}/"),
            format!("{own} {own}"),
            format!("{own}, https://evil.example"),
            format!("file://{own}"),
            "vscode-webview://x".into(),
            String::new(),
        ];
        // The page's own origin is the page itself; an agent has none.
        variants.extend((!page).then_some(own));
        for origin in variants {
            is_refused(
                &good.with(format!("Origin: {origin}")),
                &[403],
                &format!("{} {origin:?}", endpoint.name()),
            );
            tries += 1;
        }
        is_refused(&good.and("Origin: null").and("Origin: null"), &[403], "many Origins");
        let sites: &[&str] =
            if page { &["cross-site", "same-site", "x"] } else { &["cross-site", "same-origin"] };
        for site in sites {
            is_refused(&good.and(format!("Sec-Fetch-Site: {site}")), &[403], site);
            tries += 1;
        }
        tries += 1;
    }
    AttackResult::new(tries, "403 from each endpoint, with and without token or cookie")
}

fn preflights(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in HubEndpoint::ALL {
        let good = endpoint.request(fixture);
        let first = good.first.replacen(good.first.split(' ').next().unwrap(), "OPTIONS", 1);
        let asking = |request: &Request, origin: Option<&str>| {
            let mut request = request.asking(&first).without("Upgrade").without("Origin");
            request.body.clear();
            let request = request.without("Content-Length");
            let request = request
                .and("Access-Control-Request-Method: POST")
                .and("Access-Control-Request-Headers: authorization, x-ppxai-token, content-type")
                .and("Access-Control-Request-Private-Network: true");
            origin.map_or(request.clone(), |origin| request.and(format!("Origin: {origin}")))
        };
        for origin in [Some("https://evil.example"), Some("null"), None] {
            is_refused(&asking(&good, origin), &[401, 403, 404, 405, 426], endpoint.name());
            tries += 1;
        }
    }
    AttackResult::new(tries, "401–405 or 426, and no `Access-Control-` header in any answer")
}

/// What a form can send without a preflight request: here even with the right token, and from an old browser that
/// does not say where it comes from.
fn forms(fixture: &mut AttackFixture) -> AttackResult {
    let endpoints = [HubEndpoint::Gemini, HubEndpoint::Copilot, HubEndpoint::Ppxai, HubEndpoint::PpxaiPort];
    let mut tries = 0;
    let kinds = [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "application/jsonp",
        "application/json2",
        "*/*",
        "",
    ];
    for endpoint in endpoints {
        let good = endpoint.request(fixture);
        for kind in kinds {
            is_refused(
                &good.with(format!("Content-Type: {kind}")),
                &[415],
                &format!("{} {kind}", endpoint.name()),
            );
            tries += 1;
        }
        is_refused(&good.without("Content-Type"), &[415], "no type");
        is_refused(&good.and("Content-Type: text/plain"), &[415], "two types");
        tries += 2;
    }
    let (port, secret) = linkspan_testkit::page_client::link(&fixture.world);
    let body = serde_json::json!({ "secret": secret }).to_string();
    let lines = linkspan_testkit::page_client::body_lines(port, &body);
    let session = Request { port, socket: None, first: "POST /session HTTP/1.1".into(), lines, body };
    for kind in kinds {
        is_refused(&session.with(format!("Content-Type: {kind}")), &[400], kind);
        tries += 1;
    }
    is_refused(&session.without("Origin"), &[403], "a session that no page begins");
    assert_eq!(status(&session.send()), 204, "none of them used up the link");
    AttackResult::new(tries + 1, format!("415 ({}), 400 (page); the link is unused", names(&endpoints)))
}
