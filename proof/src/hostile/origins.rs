//! What browsers send for pages of other sites, byte by byte; what real browsers do is in `pages`.

use linkspan_testkit::raw::{Request, status};

use super::door::{Door, names};
use super::stage::Stage;
use super::tokens::is_refused;
use super::{Attack, OF_STRANGERS, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "Host variants", doors: "all TCP doors", run: hosts, ..OF_STRANGERS },
        Attack { name: "Origin variants", doors: "all TCP doors", run: origins, ..OF_STRANGERS },
        Attack { name: "CORS preflight", doors: "all TCP doors", run: preflights, ..OF_STRANGERS },
        Attack { name: "simple-request forms", doors: "gemini, ppxai, page", run: forms, ..OF_STRANGERS },
    ]
}

fn hosts(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in Door::ALL {
        let (good, port) = (door.request(stage), door.port(stage));
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
            is_refused(
                &good.with(format!("Host: {host}")),
                &[421, 400],
                &format!("{} {host:?}", door.name()),
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
        // The same address in other letters is the same.
        let shouted = good.with(format!("Host: LOCALHOST:{port}"));
        let origin = format!("Origin: http://localhost:{port}");
        let shouted = if door == Door::PageSocket { shouted.with(origin) } else { shouted.without("Origin") };
        let said = shouted.send();
        // That a cookie is for one name is for the browser to see to.
        assert_eq!(status(&said), door.lets_in_with(), "{} {said}", door.name());
        tries += 2;
    }
    Seen::new(tries, "421 (400 where it is no name at all)")
}

fn origins(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in Door::ALL {
        let (good, port) = (door.request(stage), door.port(stage));
        let page = !Door::AGENTS.contains(&door);
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
        // The page's own is the page itself; for an agent there is none.
        variants.extend((!page).then_some(own));
        for origin in variants {
            is_refused(
                &good.with(format!("Origin: {origin}")),
                &[403],
                &format!("{} {origin:?}", door.name()),
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
    Seen::new(tries, "403 by each door, token and cookie or not")
}

fn preflights(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in Door::ALL {
        let good = door.request(stage);
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
            is_refused(&asking(&good, origin), &[401, 403, 404, 405, 426], door.name());
            tries += 1;
        }
    }
    Seen::new(tries, "401–405 or 426, and no `Access-Control-` header in any answer")
}

/// What a form can send without asking first: here even with the right token, and from an old browser that says not
/// where it comes from.
fn forms(stage: &mut Stage) -> Seen {
    let doors = [Door::Gemini, Door::Ppxai, Door::WellKnown];
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
    for door in doors {
        let good = door.request(stage);
        for kind in kinds {
            is_refused(
                &good.with(format!("Content-Type: {kind}")),
                &[415],
                &format!("{} {kind}", door.name()),
            );
            tries += 1;
        }
        is_refused(&good.without("Content-Type"), &[415], "no type");
        is_refused(&good.and("Content-Type: text/plain"), &[415], "two types");
        tries += 2;
    }
    let (port, secret) = linkspan_testkit::page_door::link(&stage.world);
    let body = serde_json::json!({ "secret": secret }).to_string();
    let lines = linkspan_testkit::page_door::body_lines(port, &body);
    let session = Request { port, first: "POST /session HTTP/1.1".into(), lines, body };
    for kind in kinds {
        is_refused(&session.with(format!("Content-Type: {kind}")), &[400], kind);
        tries += 1;
    }
    is_refused(&session.without("Origin"), &[403], "a session that no page begins");
    assert_eq!(status(&session.send()), 204, "the link was not spent by any of them");
    Seen::new(tries + 1, format!("415 ({}), 400 (page); the link is unspent", names(&doors)))
}
