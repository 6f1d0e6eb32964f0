//! Losing the server, or taking a question back, in the middle of each call.

use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{FakeServer, KINDS, Say, ServerKind, result, texts, tool};
use crate::connection::{CallError, Change, Connection, EditorEvent};

type Method = (&'static str, fn(&Connection) -> Result<(), CallError>);

const A: &str = "/w/a b/a.rs";

const METHODS: [Method; 14] = [
    ("open_diff", |editor| editor.open_diff(&Change::new(A, "new")).map(drop)),
    ("open_file", |editor| editor.open_file(Path::new(A), None, false).map(drop)),
    ("diagnostics", |editor| editor.diagnostics(None, None).map(drop)),
    ("current_selection", |editor| editor.current_selection().map(drop)),
    ("latest_selection", |editor| editor.latest_selection().map(drop)),
    ("open_editors", |editor| editor.open_editors().map(drop)),
    ("workspace_folders", |editor| editor.workspace_folders().map(drop)),
    ("is_dirty", |editor| editor.is_dirty(Path::new(A)).map(drop)),
    ("save", |editor| editor.save(Path::new(A))),
    ("close_tab", |editor| editor.close_tab("a.rs")),
    ("close_all_diffs", Connection::close_all_diffs),
    ("tools", |editor| editor.tools().map(drop)),
    ("call", |editor| editor.call("anything", &json!({})).map(drop)),
    ("start", |editor| editor.start("anything", &json!({}))?.wait().map(drop)),
];

#[test]
fn a_drop_in_the_middle_of_any_call_is_heard_at_once() {
    for kind in KINDS {
        for (name, method) in METHODS {
            let server = FakeServer::start(kind, |request| match request["method"].as_str() {
                Some("tools/call" | "tools/list") => vec![Say::HangUp],
                _ => vec![],
            });
            let editor = server.connect();
            let asked = Instant::now();
            assert_eq!(method(&editor), Err(CallError::Closed), "{name} over {kind:?}");
            assert!(asked.elapsed() < Duration::from_secs(2), "{name} over {kind:?}");
            assert!(!editor.is_connected());
            assert_eq!(method(&editor), Err(CallError::Closed), "{name} over {kind:?}, again");
            assert_eq!(editor.events().iter().collect::<Vec<_>>(), [EditorEvent::Closed]);
        }
    }
}

#[test]
fn a_change_that_is_taken_back_is_taken_off_the_screen_as_each_wire_has_it() {
    for kind in KINDS {
        let server = FakeServer::start(kind, |_| vec![]);
        let editor = server.connect();
        let pending = editor.propose(&Change::new(A, "new").labelled("my change")).unwrap();
        let asked = server.hears(|message| message["method"] == "tools/call");
        let waiter = {
            let pending = pending.clone();
            thread::spawn(move || pending.wait())
        };
        assert_eq!(pending.wait_timeout(Duration::from_millis(20)), None);
        pending.withdraw();
        assert_eq!(waiter.join().unwrap(), Err(CallError::Withdrawn));
        let taken_back = server.hears(|_| true);
        let tab = &asked["params"]["arguments"]["tab_name"];
        assert!(kind == ServerKind::Own || tab.as_str().unwrap().contains("[tester] my change ("), "{tab}");
        match kind {
            ServerKind::Own => {
                assert_eq!(taken_back["method"], "notifications/cancelled");
                assert_eq!(taken_back["params"]["requestId"], asked["id"]);
            }
            ServerKind::Claude => {
                assert_eq!(tool(&taken_back), Some("close_tab"));
                assert_eq!(taken_back["params"]["arguments"]["tab_name"], *tab);
            }
            ServerKind::Nexus3 | ServerKind::Clio => {
                assert_eq!(tool(&taken_back), Some("closeTab"));
                let titled = format!("NEXUS3: {}", tab.as_str().unwrap());
                assert_eq!(taken_back["params"]["arguments"]["tabName"], titled);
            }
        }
    }
}

#[test]
fn two_changes_of_one_name_have_tabs_of_their_own_on_a_foreign_screen() {
    for kind in [ServerKind::Claude, ServerKind::Nexus3] {
        let server = FakeServer::start(kind, |request| match tool(request) {
            Some("openDiff") => vec![],
            _ => texts_of(request),
        });
        let editor = server.connect();
        let tabs = [(), ()].map(|()| {
            editor.propose(&Change::new(A, "new")).unwrap();
            let asked = server.hears(|message| tool(message) == Some("openDiff"));
            asked["params"]["arguments"]["tab_name"].clone()
        });
        assert_ne!(tabs[0], tabs[1]);
        let label = Change::new(A, "new").label;
        editor.close_tab(&label).unwrap();
        for tab in &tabs {
            let closed = server.hears(|message| {
                let arguments = message["params"]["arguments"].as_object();
                arguments.is_some_and(|arguments| arguments.values().eq([tab]))
            });
            assert!(tool(&closed).unwrap().starts_with("close"), "{closed}");
        }
    }
}

#[test]
fn an_answer_to_a_change_that_was_taken_back_is_ignored() {
    let mut asked = None;
    let server = FakeServer::start(ServerKind::Claude, move |request| match tool(request) {
        Some("openDiff") => {
            asked = Some(request.clone());
            vec![]
        }
        // The tab is closed, so the real extension answers the change as if it had been accepted.
        Some("close_tab") => {
            let late = texts(asked.as_ref().unwrap(), &["FILE_SAVED", "late"]);
            vec![late, texts(request, &["TAB_CLOSED"])]
        }
        _ => texts_of(request),
    });
    let editor = server.connect();
    let pending = editor.propose(&Change::new(A, "new")).unwrap();
    pending.withdraw();
    assert_eq!(editor.open_editors().unwrap(), []);
    assert_eq!(pending.wait(), Err(CallError::Withdrawn));
}

fn texts_of(request: &Value) -> Vec<Say> {
    if tool(request).is_some() { vec![texts(request, &["[]"])] } else { vec![] }
}

#[test]
fn a_change_whose_tab_was_closed_may_stay_without_an_answer_and_ends_with_the_connection() {
    let server = FakeServer::start(ServerKind::Claude, |request| match tool(request) {
        Some("closeAllDiffTabs") => vec![texts(request, &["CLOSED_1_DIFF_TABS"])],
        Some("getOpenEditors") => vec![Say::HangUp],
        _ => vec![],
    });
    let editor = server.connect();
    let pending = editor.propose(&Change::new(A, "new")).unwrap();
    editor.close_all_diffs().unwrap();
    assert_eq!(pending.wait_timeout(Duration::from_millis(50)), None);
    assert_eq!(editor.open_editors(), Err(CallError::Closed));
    assert_eq!(pending.wait(), Err(CallError::Closed));
}

#[test]
fn a_goodbye_goes_out_after_everything_before_it() {
    for kind in KINDS {
        let server = FakeServer::start(kind, |_| vec![]);
        let editor = server.connect();
        let pending = editor.propose(&Change::new(A, "new")).unwrap();
        editor.close();
        assert_eq!(pending.wait(), Err(CallError::Closed));
        server.hears(|message| message["method"] == "tools/call");
        if kind == ServerKind::Own {
            server.hears(|message| message["method"] == "agent/leave");
        }
    }
}

#[test]
fn a_connection_that_nobody_holds_ends() {
    let (ended, end) = channel();
    let server = FakeServer::start(ServerKind::Own, |_| vec![]);
    let events = server.connect().events();
    thread::spawn(move || ended.send(events.iter().last()));
    assert_eq!(end.recv_timeout(Duration::from_secs(5)).unwrap(), Some(EditorEvent::Closed));
}

#[test]
fn being_connected_means_that_the_peer_answers_now() {
    for kind in KINDS {
        let server = FakeServer::start(kind, |request| match request["method"].as_str() {
            Some("ping") => vec![result(request, json!({}))],
            Some("tools/call") => {
                thread::sleep(Duration::from_millis(1500));
                vec![]
            }
            _ => vec![],
        });
        let editor = server.connect();
        assert!(editor.is_connected(), "{kind:?}");
        let _busy = editor.start("anything", &json!({})).unwrap();
        assert!(!editor.is_connected(), "{kind:?}: it does not answer now");
    }
}
