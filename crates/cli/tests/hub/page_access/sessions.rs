//! Links and cookies: what they give access to, for which user, and until when.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use crate::support::page_client::{
    PageSession, ask, body_lines, cookie, link, offer, plain, serve_page, status, with,
};
use crate::support::raw_http::{exchange, head};
use crate::support::*;

#[test]
fn a_link_is_exchanged_once_for_a_cookie_that_scripts_and_other_sites_do_not_get() {
    let server = serve_page();
    assert_eq!(status(&server.get("/session")), 401);
    let said = offer(server.port, &server.secret);
    assert_eq!(status(&said), 204, "{said}");
    let set = said.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
    assert!(set.starts_with(&format!("set-cookie: linkspan-{}=", server.port)), "{set}");
    assert!(set.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{set}");
    let browser = PageSession { port: server.port, cookie: cookie(&said).unwrap() };
    assert_eq!(browser.session(), 204);

    let body = json!({ "secret": server.secret }).to_string();
    let again = head("POST /session HTTP/1.1", &body_lines(server.port, &body)) + &body;
    server.refuses(403, "wrongLink", &again);
    let body = json!({ "secret": "A".repeat(43) }).to_string();
    let guessed = head("POST /session HTTP/1.1", &body_lines(server.port, &body)) + &body;
    server.refuses(403, "wrongLink", &guessed);
    assert_eq!(browser.session(), 204, "the first is not disturbed");

    let secret = browser.cookie.split_once('=').unwrap().1;
    let kept = fs::read_to_string(server.world.runtime().join("page.json")).unwrap();
    for secret in [secret, &server.secret] {
        assert!(!server.world.log().contains(secret) && !kept.contains(secret));
    }
}

#[test]
fn a_cookie_is_worth_something_only_whole_and_under_its_name() {
    let server = serve_page();
    let browser = server.sign_in();
    let secret = browser.cookie.split_once('=').unwrap().1;
    for cookie in [
        format!("linkspan={secret}"),
        format!("linkspan-{}={secret}", server.port.wrapping_add(1)),
        format!("linkspan-{}=", server.port),
        format!("linkspan-{}=\"{secret}\"", server.port),
        format!("linkspan-{}={}", server.port, secret.split_at(1).1),
        format!("linkspan-{}={}", server.port, server.secret),
    ] {
        let lines = with(&plain(server.port), format!("Cookie: {cookie}"));
        server.refuses(401, "noSession", &head("GET /session HTTP/1.1", &lines));
        let lines = with(&browser.handshake(), format!("Cookie: {cookie}"));
        server.refuses(401, "noSession", &head("GET /socket HTTP/1.1", &lines));
    }
    // A cookie of another port of this machine, next to ours.
    let both = format!("linkspan-{}=tossed; {}", server.port, browser.cookie);
    assert_eq!(PageSession { port: server.port, cookie: both }.session(), 204);
}

#[test]
fn access_that_is_taken_back_ends_at_once_and_for_every_browser() {
    let server = serve_page();
    let (one, other) = (server.sign_in(), server.sign_in());
    let mut pages = [one.open(), other.open()];
    assert_eq!(ask(&server.world, "page/revoke")["result"], json!({ "sessions": 2, "links": 1 }));
    for page in &mut pages {
        assert_eq!(page.end(), Some(4001));
    }
    for browser in [&one, &other] {
        assert_eq!(browser.session(), 401);
        let refused = head("GET /socket HTTP/1.1", &browser.handshake());
        assert_eq!(status(&exchange(server.port, &refused)), 401);
    }
    assert_eq!(status(&offer(server.port, &server.secret)), 403, "links go too");
    let kept = fs::read_to_string(server.world.runtime().join("page.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!((&kept["port"], &kept["sessions"]), (&json!(server.port), &json!([])));
    server.sign_in().open().is_served();
    assert_eq!(ask(&server.world, "page/revoke")["result"], json!({ "sessions": 1, "links": 0 }));
}

#[test]
fn the_oldest_browser_goes_when_there_are_too_many() {
    let server = serve_page();
    let first = server.sign_in();
    let mut page = first.open();
    let others: Vec<PageSession> = (0..32).map(|_| server.sign_in()).collect();
    assert_eq!(page.end(), Some(4001));
    assert_eq!(first.session(), 401);
    assert!(others.iter().all(|browser| browser.session() == 204));
}

#[test]
fn a_hub_that_was_killed_is_continued_at_the_same_port_with_the_same_cookie() {
    let server = serve_page();
    let browser = server.sign_in();
    let mut page = browser.open();
    let kept = server.world.runtime().join("page.json");
    assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0o600);
    for _ in 0..2 {
        server.world.kill_hub();
        assert_eq!(page.end(), None);
        server.world.run(&["hub", "start"]).ok();
        assert_eq!(browser.session(), 204);
        page = browser.open();
        page.is_served();
    }
    assert_eq!(status(&offer(server.port, &server.secret)), 403, "a link is not continued");
    assert_eq!(link(&server.world).0, server.port);
}

#[test]
fn a_hub_that_leaves_takes_access_with_it() {
    let server = serve_page();
    let browser = server.sign_in();
    let mut page = browser.open();
    page.is_served();
    server.world.run(&["hub", "stop"]).ok();
    assert_eq!(page.end(), Some(1012));
    assert!(!server.world.runtime().join("page.json").exists());
    server.world.config(&format!("[page]\nport = {}\n", server.port));
    server.world.run(&["hub", "start"]).ok();
    assert_eq!(link(&server.world).0, server.port);
    assert_eq!(browser.session(), 401);
}

#[test]
fn sessions_are_forgotten_when_somebody_else_has_the_port_meanwhile() {
    let server = serve_page();
    let browser = server.sign_in();
    server.world.kill_hub();
    let taken = eventually("the port is free", || TcpListener::bind(("127.0.0.1", server.port)).ok());
    server.world.run(&["hub", "start"]).ok();
    let (port, _) = link(&server.world);
    assert_ne!(port, server.port);
    drop(taken);
    for name in [server.port, port] {
        let cookie = browser.cookie.replace(&server.port.to_string(), &name.to_string());
        assert_eq!(PageSession { port, cookie }.session(), 401);
    }
}

#[test]
fn sessions_are_forgotten_though_the_chosen_port_comes_free_again() {
    let server = serve_page();
    let browser = server.sign_in();
    server.world.config(&format!("[page]\nport = {}\n", server.port));
    server.world.kill_hub();
    let taken = eventually("the port is free", || TcpListener::bind(("127.0.0.1", server.port)).ok());
    server.world.run(&["hub", "start"]).ok();
    assert!(ask(&server.world, "page/link")["error"]["message"].is_string());
    drop(taken);
    assert_eq!(link(&server.world).0, server.port);
    assert_eq!(browser.session(), 401);
}

#[test]
fn sessions_are_forgotten_for_good_when_another_port_is_chosen() {
    let server = serve_page();
    let browser = server.sign_in();
    server.world.kill_hub();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    server.world.config(&format!("[page]\nport = {free}\n"));
    server.world.run(&["hub", "start"]).ok();
    assert!(ask(&server.world, "page/revoke")["result"].is_object());
    server.world.kill_hub();
    server.world.config(&format!("[page]\nport = {}\n", server.port));
    server.world.run(&["hub", "start"]).ok();
    assert_eq!(link(&server.world).0, server.port);
    assert_eq!(browser.session(), 401);
}

#[test]
fn sessions_do_not_outlive_the_boot_that_they_began_in() {
    let server = serve_page();
    let browser = server.sign_in();
    server.world.kill_hub();
    let path = server.world.runtime().join("page.json");
    let mut kept: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let here = kept["portSpace"].as_str().unwrap();
    kept["portSpace"] = format!("another {here}").into();
    fs::write(&path, kept.to_string()).unwrap();
    server.world.config(&format!("[page]\nport = {}\n", server.port));
    server.world.run(&["hub", "start"]).ok();
    assert_eq!(link(&server.world).0, server.port);
    assert_eq!(browser.session(), 401);
}

#[test]
fn a_damaged_record_of_sessions_keeps_no_hub_from_starting() {
    let world = World::new();
    world.run(&["hub", "start"]).ok();
    let kept = world.runtime().join("page.json");
    for text in ["{", "[1,2]", r#"{"port":80,"sessions":["x"]}"#] {
        world.run(&["hub", "stop"]).ok();
        eventually("it is gone", || (!world.socket().exists()).then_some(()));
        fs::write(&kept, text).unwrap();
        world.run(&["hub", "start"]).ok();
        assert!(!kept.exists(), "{text}");
    }
    link(&world);
}
