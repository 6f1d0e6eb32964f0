//! The tabs of changes in editors that know a change by its tab: closed once nobody waits for a decision.

use serde_json::Value;

use super::server::{FakeServer, ServerKind, texts, tool};
use crate::connection::{Change, DiffOutcome};

const A: &str = "/w/a b/a.rs";

/// The names of the tabs that each wire is asked to close, for a change of that tab.
fn names(kind: ServerKind, tab: &str) -> Vec<String> {
    match kind {
        ServerKind::Nexus3 => vec![format!("NEXUS3: {tab}"), tab.to_owned()],
        _ => vec![tab.to_owned()],
    }
}

/// What the server was told to close after the change was shown, until the connection ended.
fn closed(server: &FakeServer, kind: ServerKind) -> (String, Vec<String>) {
    let shown = server.hears(|message| tool(message) == Some("openDiff"));
    let tab = shown["params"]["arguments"]["tab_name"].as_str().unwrap().to_owned();
    let (close, argument) = match kind {
        ServerKind::Nexus3 => ("closeTab", "tabName"),
        _ => ("close_tab", "tab_name"),
    };
    let named = |message: Value| {
        (tool(&message) == Some(close))
            .then(|| message["params"]["arguments"][argument].as_str().unwrap().to_owned())
    };
    let wanted = names(kind, &tab).len();
    let heard = std::iter::from_fn(|| server.heard.recv_timeout(std::time::Duration::from_secs(5)).ok());
    (tab, heard.filter_map(named).take(wanted).collect())
}

#[test]
fn the_tab_of_a_decided_change_is_closed() {
    for (kind, answer, outcome) in [
        (ServerKind::Claude, &["FILE_SAVED", "new"][..], DiffOutcome::FileSaved),
        (ServerKind::Claude, &["DIFF_REJECTED", "tab"], DiffOutcome::DiffRejected),
        (ServerKind::Nexus3, &["FILE_SAVED"], DiffOutcome::FileSaved),
    ] {
        let server = FakeServer::start(kind, |request| match tool(request) {
            Some("openDiff") => vec![texts(request, answer)],
            _ => vec![texts(request, &["ok"])],
        });
        let editor = server.connect();
        assert_eq!(editor.open_diff(&Change::new(A, "new")).unwrap().outcome, outcome);
        let (tab, closed) = closed(&server, kind);
        assert_eq!(closed, names(kind, &tab), "{kind:?}");
        editor.close();
        assert!(!server.heard.try_iter().any(|message| tool(&message).is_some()), "closed once");
    }
}

#[test]
fn who_leaves_closes_the_tabs_of_what_nobody_decided() {
    for kind in [ServerKind::Claude, ServerKind::Nexus3] {
        let server = FakeServer::start(kind, |request| match tool(request) {
            Some("openDiff") | None => vec![],
            Some(_) => vec![texts(request, &["ok"])],
        });
        let editor = server.connect();
        let _pending = editor.propose(&Change::new(A, "new")).unwrap();
        editor.close();
        let (tab, closed) = closed(&server, kind);
        assert_eq!(closed, names(kind, &tab), "{kind:?}");
    }
}

#[test]
fn an_editor_that_does_not_answer_keeps_nobody_from_leaving() {
    let server = FakeServer::start(ServerKind::Claude, |_| vec![]);
    let editor = server.connect();
    let _pending = editor.propose(&Change::new(A, "new")).unwrap();
    let asked = std::time::Instant::now();
    editor.close();
    assert!(asked.elapsed() < std::time::Duration::from_secs(8));
}
