//! Bridges to foreign servers on real sockets, found by their lock files.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::connection::tests::server::{FakeServer, Say, ServerKind, texts, tool};
use crate::discover::Wire;

fn surroundings(server: &FakeServer) -> Surroundings {
    let cwd = server.places.home.join("work");
    std::fs::create_dir_all(&cwd).unwrap();
    Surroundings {
        cwd,
        places: server.places.clone(),
        variables: std::collections::BTreeMap::new(),
        uid: rustix::process::geteuid().as_raw(),
        wsl: None,
    }
}

/// A bridge to a server that has a lock file for the working directory.
fn bridge(server: &FakeServer, config: BridgeConfig) -> Bridge {
    let surroundings = surroundings(server);
    let directory = server.places.home.join(".claude/ide");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::set_permissions(&directory, PermissionsExt::from_mode(0o700)).unwrap();
    let lock = json!({
        "pid": std::process::id(), "workspaceFolders": [surroundings.cwd], "ideName": "Fake",
        "transport": "ws", "authToken": "let me in",
    });
    let path = directory.join(format!("{}.lock", server.candidate.wire.port()));
    std::fs::write(&path, lock.to_string()).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    Bridge::new(config, AgentInfo::new("tester", "1"), surroundings)
}

#[track_caller]
fn eventually(what: &str, mut look: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !look() {
        assert!(Instant::now() < until, "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn accepting(request: &Value) -> Vec<Say> {
    match tool(request) {
        Some("openDiff") => vec![texts(request, &["FILE_SAVED", "final"])],
        Some("hangUp") => vec![Say::HangUp],
        Some("mention") => {
            let params = json!({ "filePath": "a" });
            let mention = json!({ "jsonrpc": "2.0", "method": "at_mentioned", "params": params });
            vec![Say::Json(mention), texts(request, &["ok"])]
        }
        _ => vec![],
    }
}

#[test]
fn after_a_loss_it_comes_back_by_itself_and_events_go_on() {
    let server = FakeServer::start(ServerKind::Claude, accepting);
    let bridge = bridge(&server, BridgeConfig::default());
    assert!(!bridge.is_connected());
    let events = bridge.events();
    let cwd = bridge.inner.surroundings.cwd.clone();
    let first = bridge.auto_connect(&cwd).unwrap().unwrap();
    assert!(matches!(first.candidate().wire, Wire::Claude { .. }));
    assert!(bridge.auto_connect(&cwd).unwrap().unwrap().is_same(&first), "it is there already");

    assert!(first.call("hangUp", &json!({})).is_err());
    eventually("it is connected again", || bridge.is_connected());
    let second = bridge.connection().unwrap();
    assert!(!second.is_same(&first));
    second.call("mention", &json!({})).unwrap();
    let mentioned = EditorEvent::Mentioned { path: "a".into(), lines: None };
    assert_eq!(events.iter().take(2).collect::<Vec<_>>(), [EditorEvent::Closed, mentioned]);
    assert!(bridge.review(&Change::new(cwd.join("a"), "b")).unwrap().is_accepted());
}

#[test]
fn one_who_left_does_not_come_back_by_itself() {
    let server = FakeServer::start(ServerKind::Claude, accepting);
    let bridge = bridge(&server, BridgeConfig::default());
    let cwd = bridge.inner.surroundings.cwd.clone();
    bridge.auto_connect(&cwd).unwrap().unwrap();
    bridge.disconnect();
    thread::sleep(Duration::from_millis(300));
    assert!(bridge.connection().is_none());
    let refused = bridge.review(&Change::new(cwd.join("a"), "b"));
    assert!(matches!(refused, Err(BridgeError::NotConnected)));
    assert!(bridge.reconnect_if_dead(None), "but it does when asked to");
    assert!(bridge.is_connected());
}

#[test]
fn a_loss_while_a_foreign_editor_shows_a_change_decides_nothing() {
    let server = FakeServer::start(ServerKind::Claude, |request| match tool(request) {
        Some("openDiff") => vec![Say::HangUp],
        _ => vec![],
    });
    let bridge = bridge(&server, BridgeConfig::default());
    let cwd = bridge.inner.surroundings.cwd.clone();
    bridge.auto_connect(&cwd).unwrap().unwrap();
    assert!(matches!(bridge.review(&Change::new(cwd.join("a"), "b")), Err(BridgeError::Lost)));
}

#[test]
fn a_foreign_editor_is_shown_one_change_at_a_time() {
    let mut open: Vec<Value> = Vec::new();
    let server = FakeServer::start(ServerKind::Claude, move |request| match tool(request) {
        Some("openDiff") => {
            open.push(request.clone());
            vec![]
        }
        Some("decide") => {
            let count = format!("{} open", open.len());
            let decided = open.drain(..).map(|diff| texts(&diff, &["FILE_SAVED", &count]));
            decided.collect::<Vec<_>>().into_iter().chain([texts(request, &["ok"])]).collect()
        }
        _ => vec![],
    });
    let bridge = Arc::new(bridge(&server, BridgeConfig::default()));
    let connection = bridge.connect(&server.candidate).unwrap();
    let askers: Vec<_> = (0..3)
        .map(|number| {
            let bridge = Arc::clone(&bridge);
            thread::spawn(move || bridge.review(&Change::new(format!("/w/a b/{number}"), "new")))
        })
        .collect();
    for _ in &askers {
        server.hears(|message| tool(message) == Some("openDiff"));
        thread::sleep(Duration::from_millis(50));
        connection.call("decide", &json!({})).unwrap();
    }
    for asker in askers {
        assert_eq!(asker.join().unwrap().unwrap().text.as_deref(), Some("1 open"));
    }
}

#[test]
fn a_question_is_taken_back_on_the_screen_and_in_the_queue() {
    let server = FakeServer::start(ServerKind::Claude, |_| vec![]);
    let bridge = bridge(&server, BridgeConfig::default());
    bridge.connect(&server.candidate).unwrap();
    let shown = Arc::new(bridge.asking(&Change::new("/w/a b/1", "new")));
    let queued = Arc::new(bridge.asking(&Change::new("/w/a b/2", "new")));
    let wait = |asking: &Arc<ReviewRequest>| {
        let asking = Arc::clone(asking);
        thread::spawn(move || asking.wait())
    };
    let first = wait(&shown);
    server.hears(|message| tool(message) == Some("openDiff"));
    let waiters = [first, wait(&queued)];
    thread::sleep(Duration::from_millis(50));
    queued.withdraw();
    shown.withdraw();
    for waiter in waiters {
        assert!(matches!(waiter.join().unwrap(), Err(BridgeError::Call(CallError::Withdrawn))));
    }
    let closed = server.hears(|message| tool(message) == Some("close_tab"));
    assert!(closed["params"]["arguments"]["tab_name"].as_str().unwrap().contains("] 1 ("), "{closed}");
    assert!(matches!(shown.wait(), Err(BridgeError::Call(CallError::Withdrawn))));
}

#[test]
fn an_agent_that_wants_no_editor_gets_none() {
    let server = FakeServer::start(ServerKind::Claude, accepting);
    for config in [
        BridgeConfig { enabled: false, ..BridgeConfig::default() },
        BridgeConfig { auto_connect: false, ..BridgeConfig::default() },
    ] {
        let bridge = bridge(&server, config);
        let cwd = bridge.inner.surroundings.cwd.clone();
        assert!(bridge.auto_connect(&cwd).unwrap().is_none());
        assert_eq!(bridge.reconnect_if_dead(None), config.enabled);
    }
    let elsewhere = server.places.home.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let lost = bridge(&server, BridgeConfig::default());
    assert!(lost.auto_connect(&elsewhere).unwrap().is_none(), "no editor has that folder");
}

#[test]
fn after_a_lost_hub_the_window_is_joined_by_its_id_and_no_other() {
    // The other one has the same folder and fits the working directory; ours does not.
    let server = FakeServer::start(ServerKind::Own, |request| match tool(request) {
        Some("hangUp") => vec![Say::HangUp],
        _ if request["method"] == "hub/status" => {
            let other = json!({
                "window": "w2", "port": 2, "editor": { "name": "Fake", "version": "1" }, "editorPid": 1,
                "folders": ["/"], "attached": true, "openReviews": 0, "agents": [], "openedAtMs": 0,
            });
            let status = json!({
                "version": "1", "protocol": 1, "pid": 1, "startedAtMs": 0, "windows": [other], "pendingReviews": 0,
            });
            vec![crate::connection::tests::server::result(request, status)]
        }
        _ => vec![],
    });
    let agent = AgentInfo::new("tester", "1");
    let bridge = Bridge::new(BridgeConfig::default(), agent, surroundings(&server));
    let connection = bridge.connect(&server.candidate).unwrap();
    for _ in 0..2 {
        let join = server.hears(|message| message["method"] == "agent/join");
        assert_eq!(join["params"]["window"], "w1");
        if bridge.connection().is_some_and(|now| now.is_same(&connection)) {
            assert!(connection.call("hangUp", &json!({})).is_err());
        }
    }
    eventually("it is connected again", || bridge.connection().is_some_and(|now| !now.is_same(&connection)));
}

#[test]
fn two_windows_of_one_folder_are_two_editors() {
    let window = |window: &str| Candidate {
        wire: Wire::Hub { window: window.into(), port: 1 },
        editor: "Fake".into(),
        folders: vec!["/w".into()],
        pid: None,
        found: crate::discover::FoundBy::Hub,
        matched: None,
        verdict: crate::discover::CandidateVerdict::Usable,
    };
    assert!(is_same_editor(&window("w1"), &window("w1")));
    assert!(!is_same_editor(&window("w2"), &window("w1")));
}

#[test]
fn an_editor_that_throws_us_out_again_and_again_is_left_alone_until_somebody_asks() {
    let server = FakeServer::start(ServerKind::Claude, |request| match request["method"].as_str() {
        Some("ide_connected") => vec![Say::HangUp],
        _ => vec![],
    });
    let bridge = bridge(&server, BridgeConfig::default());
    let cwd = bridge.inner.surroundings.cwd.clone();
    bridge.auto_connect(&cwd).unwrap().unwrap();
    let visits = |patience: Duration| {
        let until = Instant::now() + patience;
        let mut visits = 0;
        while let Ok(heard) = server.heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
            visits += usize::from(heard["method"] == "ide_connected");
        }
        visits
    };
    let visited = visits(Duration::from_secs(4));
    assert!((2..=4).contains(&visited), "{visited} visits");
    assert_eq!(visits(Duration::from_secs(3)), 0);
    let refused = bridge.review(&Change::new(cwd.join("a"), "b"));
    assert!(matches!(refused, Err(BridgeError::Lost | BridgeError::NotConnected)), "{refused:?}");
    assert!(visits(Duration::from_secs(1)) > 0);
}
