//! Against a real server on this machine, which has to be allowed for that.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use super::*;
use crate::message::ToolResult;
use crate::permissions::PermissionMode;
use crate::tools::ToolsConfig;
use crate::tools::testing::ToolScene;

/// ScriptedTerminal each request by its path.
fn server(answer: fn(&str, u16) -> String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap_or(0) == 1 {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let _ = connection.write_all(answer(&path, port).as_bytes());
            });
        }
    });
    port
}

fn answer(path: &str, port: u16) -> String {
    let with = |status: &str, headers: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    match path {
        "/page" => with("200 OK", "content-type: text/html; charset=utf-8\r\n", "<h1>Hällo</h1><p>a<p>b"),
        "/moved" => with("302 Found", "location: page\r\n", ""),
        "/loop" => with("302 Found", "location: /loop\r\n", ""),
        "/private" => with("302 Found", &format!("location: http://127.0.0.1:{port}/page\r\n"), ""),
        "/gone" => with("404 Not Found", "content-type: text/plain\r\n", "no such page"),
        "/image" => with("200 OK", "content-type: image/png\r\n", "\u{89}PNG"),
        "/gzip" => with("200 OK", "content-type: text/plain\r\ncontent-encoding: gzip\r\n", "x"),
        "/large" => with("200 OK", "content-type: text/plain\r\n", &"line\n".repeat(2_000_000)),
        "/broken" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort".to_owned(),
        _ => "nonsense\r\n\r\n".to_owned(),
    }
}

fn fetched(allow_private: bool, url: &str) -> ToolResult {
    let scene = ToolScene::new(PermissionMode::Yolo);
    let mut config = ToolsConfig::new(scene.context.bridge.clone());
    config.fetch = FetchRules { allow_private };
    scene.run_with(&AgentTools::new(config), "fetch_url", json!({ "url": url }))
}

#[test]
fn pages_redirects_and_errors_are_told() {
    let port = server(answer);
    let get = |path: &str| fetched(true, &format!("http://127.0.0.1:{port}{path}"));
    let page = get("/page#part");
    assert!(!page.is_error && page.text.ends_with("text/html)\n\n# Hällo\n\na\n\nb\n"), "{page:?}");
    assert!(get("/moved").text.contains("# Hällo"));
    for (path, wanted) in [
        ("/loop", "redirects"),
        ("/gone", "404 Not Found"),
        ("/image", "not a text"),
        ("/gzip", "compresses"),
        ("/broken", "broke off"),
        ("/nonsense", "not fetched"),
    ] {
        let result = get(path);
        assert!(result.is_error && result.text.contains(wanted), "{path}: {result:?}");
    }
    let large = get("/large");
    assert!(
        !large.is_error && large.text.len() < 52_000 && large.text.contains("Only the first"),
        "{}",
        large.text.len()
    );
}

#[test]
fn this_machine_is_not_reached_by_any_spelling() {
    let port = server(answer);
    let hosts =
        ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0.0.0.0"];
    for host in hosts {
        let result = fetched(false, &format!("http://{host}:{port}/page"));
        assert!(result.is_error && !result.text.contains("Hällo"), "{host}: {result:?}");
    }
    let refused = fetched(false, &format!("http://127.0.0.1:{port}/page"));
    assert!(refused.text.contains("allow_private"), "{refused:?}");
    for url in ["file:///etc/passwd", "ftp://x/y", "http://", "nonsense", "http://user:pass@example.com/"] {
        assert!(fetched(true, url).is_error, "{url}");
    }
}

#[test]
fn a_redirect_may_be_relative() {
    let from: Uri = "https://x.org/a/b?c".parse().unwrap();
    for (target, expected) in [
        ("d", "https://x.org/a/d"),
        ("/d", "https://x.org/d"),
        ("//y.org/d", "https://y.org/d"),
        ("http://y.org", "http://y.org"),
        ("/d?next=https://y.org", "https://x.org/d?next=https://y.org"),
    ] {
        assert_eq!(joined(&from, target), expected);
    }
}
