//! Every refusal of the page, and the protective headers of each answer.

use std::io::{Read, Write};
use std::time::Instant;

use serde_json::json;

use crate::support::page_client::{PageSession, body_lines, own, plain, serve_page, status, with};
use crate::support::raw_http::{another_user, answer, connect, exchange, exchange_as_another_user, head};
use crate::support::*;

#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let server = serve_page();
    let browser = server.sign_in();
    let lines = with(&plain(server.port), format!("Cookie: {}", browser.cookie));
    let mut answers: Vec<String> =
        ["/", "/app.js", "/chat.js", "/diff.js", "/style.css", "/chat.css", "/icon.svg", "/session", "/nope"]
            .map(|path| exchange(server.port, &head(&format!("GET {path} HTTP/1.1"), &lines)))
            .to_vec();
    answers.push(exchange(server.port, &head("GET / HTTP/1.1", &with(&lines, "Host: evil.example"))));
    answers.push(exchange(server.port, &head("OPTIONS /session HTTP/1.1", &lines)));
    for said in &answers {
        for line in [
            "x-frame-options: DENY",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(said.lines().any(|found| found == line), "{line}: {said}");
        }
        let policy = said.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
        assert!(policy.contains("default-src 'none'"), "{said}");
        assert!(policy.contains("frame-ancestors 'none'"), "{said}");
        assert!(!said.to_lowercase().contains("access-control"), "{said}");
    }
    let [document, app] = [&answers[0], &answers[1]];
    assert!(document.contains("cache-control: no-store\r\n"), "{document}");
    assert!(app.contains("cache-control: no-cache\r\n"), "{app}");
    let tag = app.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let known = with(&lines, format!("If-None-Match: {tag}"));
    assert_eq!(status(&exchange(server.port, &head("GET /app.js HTTP/1.1", &known))), 304);
}

#[test]
fn the_documents_nonce_is_fresh_and_its_policy_names_only_ourselves() {
    let server = serve_page();
    let nonce = |said: &str| {
        let (_, after) = said.split_once("'nonce-").unwrap();
        after.split_once('\'').unwrap().0.to_owned()
    };
    let (one, other) = (server.get("/"), server.get("/"));
    assert_ne!(nonce(&one), nonce(&other));
    assert!(one.contains(&format!("content=\"{}\"", nonce(&one))), "{one}");
    assert!(!one.contains("__NONCE__"));
    let policy = one.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
    let connect = format!("connect-src 'self' ws://127.0.0.1:{};", server.port);
    for part in [&connect, "script-src 'self';", "base-uri 'none';", "form-action 'none';"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let by_name = with(&plain(server.port), format!("Host: localhost:{}", server.port));
    let said = exchange(server.port, &head("GET / HTTP/1.1", &by_name));
    assert!(said.contains(&format!("ws://localhost:{}", server.port)), "{said}");
}

#[test]
fn only_requests_to_this_very_address_are_served() {
    let server = serve_page();
    let lines = plain(server.port);
    for host in ["evil.example", "127.0.0.2", "[::1]", "0.0.0.0", "127.0.0.1.evil.example"] {
        let lines = with(&lines, format!("Host: {host}:{}", server.port));
        server.refuses(421, "wrongHost", &head("GET / HTTP/1.1", &lines));
    }
    for host in ["127.0.0.1", "localhost", "127.0.0.1:1", ""] {
        server.refuses(421, "wrongHost", &head("GET / HTTP/1.1", &with(&lines, format!("Host: {host}"))));
    }
    let twice = [lines.clone(), vec![format!("Host: 127.0.0.1:{}", server.port)]].concat();
    server.refuses(421, "wrongHost", &head("GET / HTTP/1.1", &twice));
    server.refuses(421, "wrongHost", &head("GET http://evil.example/ HTTP/1.1", &lines));
}

#[test]
fn a_page_of_another_site_gets_nothing_with_the_right_cookie_either() {
    let server = serve_page();
    let browser = server.sign_in();
    let lines = with(&plain(server.port), format!("Cookie: {}", browser.cookie));
    let other_port = format!("http://127.0.0.1:{}", server.port.wrapping_add(1));
    for origin in ["null", "https://evil.example", "http://127.0.0.1", &other_port] {
        let line = format!("Origin: {origin}");
        for path in ["/", "/app.js", "/session"] {
            let first = format!("GET {path} HTTP/1.1");
            server.refuses(403, "otherOrigin", &head(&first, &with(&lines, line.clone())));
        }
        let socket = with(&browser.handshake(), line.clone());
        server.refuses(403, "otherOrigin", &head("GET /socket HTTP/1.1", &socket));
        let body = json!({ "secret": server.secret }).to_string();
        let form = with(&body_lines(server.port, &body), line);
        server.refuses(403, "otherOrigin", &(head("POST /session HTTP/1.1", &form) + &body));
    }
    for site in ["cross-site", "same-site"] {
        let told = with(&lines, format!("Sec-Fetch-Site: {site}"));
        server.refuses(403, "otherOrigin", &head("GET /session HTTP/1.1", &told));
        let told = with(&browser.handshake(), format!("Sec-Fetch-Site: {site}"));
        server.refuses(403, "otherOrigin", &head("GET /socket HTTP/1.1", &told));
    }
    let framed = with(&with(&lines, "Sec-Fetch-Mode: navigate"), "Sec-Fetch-Dest: iframe");
    server.refuses(403, "otherOrigin", &head("GET / HTTP/1.1", &framed));
    let silent: Vec<String> =
        browser.handshake().into_iter().filter(|line| !line.starts_with("Origin")).collect();
    server.refuses(403, "otherOrigin", &head("GET /socket HTTP/1.1", &silent));
    PageSession::with(server.port, &server.secret);
}

#[test]
fn other_paths_and_methods_are_refused() {
    let server = serve_page();
    let lines = plain(server.port);
    for path in ["/index.html", "/..", "//", "/%2e", "/app.js.map", "/session/", "/protocol.ts"] {
        server.refuses(404, "unknownPath", &head(&format!("GET {path} HTTP/1.1"), &lines));
    }
    for (method, path) in
        [("OPTIONS", "/"), ("OPTIONS", "/session"), ("HEAD", "/"), ("PUT", "/session"), ("POST", "/socket")]
    {
        server.refuses(405, "wrongMethod", &head(&format!("{method} {path} HTTP/1.1"), &lines));
    }
    let said = exchange(server.port, &head("DELETE /session HTTP/1.1", &lines));
    assert!(said.contains("allow: POST, GET\r\n"), "{said}");
    let browser = server.sign_in();
    let plain = with(&with(&lines, own(server.port)), format!("Cookie: {}", browser.cookie));
    server.refuses(426, "notWebSocket", &head("GET /socket HTTP/1.1", &plain));
}

#[test]
fn a_body_is_small_and_json_and_comes_in_time_or_is_not_read() {
    let server = serve_page();
    let post = |lines: &[String], body: &str| head("POST /session HTTP/1.1", lines) + body;
    let good = json!({ "secret": server.secret }).to_string();
    for body in ["", "{}", "secret", "[1]", r#"{"secret":1}"#, &format!("{good}{good}")] {
        server.refuses(400, "badBody", &post(&body_lines(server.port, body), body));
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let lines = with(&body_lines(server.port, &good), format!("Content-Type: {kind}"));
        server.refuses(400, "badBody", &post(&lines, &good));
    }
    let large = format!("{good}{}", " ".repeat(1100));
    server.refuses(400, "badBody", &post(&body_lines(server.port, &large), &large));
    let mut chunked = with(&plain(server.port), own(server.port));
    chunked.extend(["Content-Type: application/json", "Transfer-Encoding: chunked"].map(String::from));
    let endless = format!("{:x}\r\n{}\r\n", 2000, "x".repeat(2000)).repeat(50);
    server.refuses(400, "badBody", &post(&chunked, &endless));
    let begun = Instant::now();
    server.refuses(400, "badBody", &post(&with(&body_lines(server.port, &good), "Content-Length: 900"), "{"));
    assert!(begun.elapsed() < DEADLINE);
    PageSession::with(server.port, &server.secret);
}

mod as_root {
    use super::*;

    #[test]
    fn another_user_is_refused_with_the_right_cookie_and_the_right_link_too() {
        let server = serve_page();
        let browser = server.sign_in();
        let body = json!({ "secret": server.secret }).to_string();
        let lines = with(&plain(server.port), format!("Cookie: {}", browser.cookie));
        let requests = [
            head("GET / HTTP/1.1", &plain(server.port)),
            head("GET /session HTTP/1.1", &lines),
            head("GET /socket HTTP/1.1", &browser.handshake()),
            head("POST /session HTTP/1.1", &body_lines(server.port, &body)) + &body,
        ];
        for (index, request) in requests.iter().enumerate() {
            let said = exchange_as_another_user(server.port, request);
            assert_eq!(status(&said), 403, "{said}");
            let counted = index as u64 + 1;
            eventually("it is counted", || (server.refused("otherUser") == counted).then_some(()));
        }
        PageSession::with(server.port, &server.secret);
    }

    #[test]
    fn another_user_who_knocks_without_end_keeps_nobody_out() {
        let server = serve_page();
        let browser = server.sign_in();
        let knocking =
            format!("for i in {{1..600}}; do exec {{fd}}<>/dev/tcp/127.0.0.1/{}; done; sleep 1", server.port);
        let mut stranger = another_user(&knocking).spawn().unwrap();
        let mut asked = 0;
        while stranger.try_wait().unwrap().is_none() {
            assert_eq!(browser.session(), 204);
            asked += 1;
        }
        assert!(asked > 1);
        eventually("they are counted", || (server.refused("otherUser") == 600).then_some(()));
    }
}

#[test]
fn refusals_without_end_are_a_few_lines_in_the_log_and_all_are_counted() {
    let server = serve_page();
    let lines = with(&plain(server.port), "Host: evil.example");
    for _ in 0..30 {
        exchange(server.port, &head("GET / HTTP/1.1", &lines));
    }
    eventually("they are counted", || (server.refused("wrongHost") == 30).then_some(()));
    let logged = server.world.log().matches("refused a connection: wrongHost").count();
    assert!((1..10).contains(&logged), "{logged}");
}

#[test]
fn what_is_no_head_is_refused_and_a_connection_made_ahead_of_need_is_no_offence() {
    let server = serve_page();
    let silent = connect(server.port);
    server.refuses(400, "badHead", "\u{1}\u{2} not http at all\r\n\r\n");
    let many = [plain(server.port), (0..200).map(|n| format!("X-{n}: 1")).collect()].concat();
    server.refuses(431, "badHead", &head("GET / HTTP/1.1", &many));
    let mut slow = connect(server.port);
    slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    // A browser keeps a connection open for its next request.
    let mut kept = connect(server.port);
    let lines = vec![format!("Host: 127.0.0.1:{}", server.port)];
    kept.write_all(head("GET /icon.svg HTTP/1.1", &lines).as_bytes()).unwrap();
    assert_eq!(status(&answer(&mut kept)), 200, "and then it is closed");
    for mut waiting in [silent, slow] {
        assert!(waiting.read_to_end(&mut Vec::new()).is_ok(), "it is closed");
    }
    eventually("the slow one is counted", || (server.refused("slowHead") == 1).then_some(()));
}

#[test]
fn too_many_connections_are_told_so_and_there_is_room_again() {
    let server = serve_page();
    let browser = server.sign_in();
    let mut open: Vec<Agent> = Vec::new();
    let refused = loop {
        match browser.session() {
            204 => open.push(browser.open()),
            refused => break refused,
        }
        assert!(open.len() < 1000, "connections without end");
    };
    assert_eq!(refused, 503);
    open[0].is_served();
    for page in open {
        page.goodbye();
    }
    eventually("there is room again", || (browser.session() == 204).then_some(()));
}
