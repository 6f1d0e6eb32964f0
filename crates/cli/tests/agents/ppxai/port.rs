//! The well-known port: it belongs to one window at a time.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use crate::support::ppxai::Client;
use crate::support::*;

/// A world with another well-known port, so that tests do not collide.
fn world_with_port() -> (World, u16) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    (World::with_config(&format!("ppxai_port = {port}\n")), port)
}

fn window(world: &World, folder: &Path) -> Editor {
    EditorBuilder::new(world).folders(&[folder.to_owned()]).name(&folder.display().to_string()).attach()
}

/// The well-known port of each window in the status, oldest window first.
fn shown(world: &World) -> Vec<Option<u64>> {
    let status = world.status();
    let dialect = |window: &serde_json::Value| {
        let dialects = window["dialects"].as_array().unwrap();
        dialects.iter().find(|dialect| dialect["name"] == "ppxai").unwrap()["port"].as_u64()
    };
    status["windows"].as_array().unwrap().iter().map(dialect).collect()
}

/// A client that connects while the port changes its window is cut off, and connects again.
#[track_caller]
fn leads_to(port: u16, folder: &Path) {
    let head = format!("GET /status HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let here = format!("\"path\":\"{}\"", folder.display());
    eventually(&format!("port {port} leads to {}", folder.display()), || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.write_all(head.as_bytes()).ok()?;
        raw_http::answer(&mut stream).contains(&here).then_some(())
    });
}

#[test]
fn it_leads_to_the_first_window_and_then_to_the_one_that_was_focused_last() {
    let (world, port) = world_with_port();
    let folders = ["one", "two", "three"].map(|name| world.folder(name));
    let [one, mut two, three] = [0, 1, 2].map(|at| window(&world, &folders[at]));
    leads_to(port, &folders[0]);
    assert_eq!(shown(&world), [Some(u64::from(port)), None, None]);
    let text = world.run(&["status"]).ok().stdout;
    assert!(text.contains(&format!("also on port {port}")), "{text}");
    two.send(&linkspan_editor_api::FocusChanged { focused: true });
    // The answer proves that the hub has handled the message before it.
    two.request(&linkspan_editor_api::HubWindows {}).unwrap();
    leads_to(port, &folders[0]);
    one.send(&linkspan_editor_api::Detach {});
    leads_to(port, &folders[1]);
    drop((one, two, three));
}

#[test]
fn only_ppxai_is_spoken_there_and_the_guard_is_the_same() {
    let (world, port) = world_with_port();
    let folder = world.folder("one");
    let _editor = window(&world, &folder);
    leads_to(port, &folder);
    let ask = |first: &str, host: &str, more: &str| {
        let head = format!("{first} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        raw_http::exchange(port, &head).get(..12).unwrap_or_default().to_owned()
    };
    let here = format!("127.0.0.1:{port}");
    assert_eq!(ask("GET /status", &here, ""), "HTTP/1.1 200");
    assert_eq!(ask("GET /status", &format!("localhost:{port}"), ""), "HTTP/1.1 200");
    assert_eq!(ask("GET /status", "evil.example", ""), "HTTP/1.1 421");
    assert_eq!(ask("GET /status", &here, "Origin: http://evil.example\r\n"), "HTTP/1.1 403");
    assert_eq!(ask("GET /status", &here, "X-Ppxai-Token: wrong\r\n"), "HTTP/1.1 401");
    assert_eq!(ask("GET /", &here, ""), "HTTP/1.1 404");
    assert_eq!(ask("GET /ide/execute", &here, ""), "HTTP/1.1 405");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    assert_eq!(ask("GET /", &here, upgrade), "HTTP/1.1 404");
}

#[test]
fn a_port_that_is_taken_is_left_alone_and_had_once_it_is_free() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let world = World::with_config(&format!("ppxai_port = {port}\n"));
    let folder = world.folder("one");
    let editor = window(&world, &folder);
    assert_eq!(shown(&world), [None]);
    assert_eq!(Client::new(editor.port()).send("GET /status", "").0, 200, "the window's own port is there");
    drop(taken);
    editor.send(&linkspan_editor_api::FocusChanged { focused: true });
    leads_to(port, &folder);
}

#[test]
fn without_a_window_and_where_it_is_switched_off_nobody_listens() {
    let (world, port) = world_with_port();
    let folder = world.folder("one");
    std::fs::write(folder.join(".linkspan.toml"), "dialects_off = [\"ppxai\"]\n").unwrap();
    let off = window(&world, &folder);
    assert_eq!(Client::new(off.port()).send("GET /status", "").0, 503);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    let other = world.folder("two");
    let on = window(&world, &other);
    leads_to(port, &other);
    on.send(&linkspan_editor_api::Detach {});
    eventually("the port is closed", || TcpStream::connect(("127.0.0.1", port)).err());
}
