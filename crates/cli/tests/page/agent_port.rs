//! Pages of other sites against the port for agents: endpoints without a token are closed to them, too.

use std::time::Duration;

use serde_json::Value;

use crate::support::foreign_site::{ForeignSite, attack_on_agents_port};
use crate::support::*;

fn report(page: &Page) -> serde_json::Map<String, Value> {
    page.evaluate("all").as_object().unwrap().clone()
}

/// A control: an attack that does not work at all would prove nothing.
#[test]
fn the_attacks_on_the_agents_port_work_against_a_server_that_does_not_defend_itself() {
    let browser = Browser::start();
    let head = "Content-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n";
    let naive = ForeignSite::with_head("'private'", head);
    let attacker = ForeignSite::serving(attack_on_agents_port(&format!("http://127.0.0.1:{}", naive.port)));
    let page = browser.page();
    page.goto(&attacker.url()).unwrap();
    let report = report(&page);
    assert_eq!(report["cors /status"], "cors 200 'private'");
    assert_eq!(report["cors call"], "cors 200 'private'");
    assert_eq!(report["script"], "loaded");
    let heard = naive.heard();
    let calls =
        heard.iter().filter(|heard| heard.starts_with("POST /ide/execute ") && heard.contains("stolen"));
    assert!(calls.count() >= 4, "{heard:#?}");
}

#[test]
fn no_page_reads_or_changes_anything_through_the_agents_port() {
    // Many browsers are older than the protection of local networks, so the test switches it off.
    let flags =
        ["--host-resolver-rules=MAP evil.test 127.0.0.1", "--disable-features=LocalNetworkAccessChecks"];
    let browser = Browser::with_flags(&flags);
    let world = World::new();
    world.file("confidential.txt", "one\n");
    let editor = Editor::attach(&world);
    let port = editor.port();
    let attacker = |against: &str| ForeignSite::serving(attack_on_agents_port(against));
    let direct = attacker(&format!("http://127.0.0.1:{port}"));
    // Bound to this machine after its page was loaded.
    let rebound = attacker(&format!("http://evil.test:{port}"));
    for site in [direct.url(), format!("http://evil.test:{}/", rebound.port)] {
        let page = browser.page();
        page.goto(&site).unwrap();
        let report = report(&page);
        assert!(report.len() > 18, "{report:#?}");
        // A page learns nothing from an opaque answer; its possible effects are checked below.
        let nothing = |what: &str| what.starts_with("refused") || what == "opaque 0 ";
        let got: Vec<_> = report.iter().filter(|(_, what)| !nothing(what.as_str().unwrap())).collect();
        assert!(got.is_empty(), "{site}: {got:#?}");
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(editor.state().shown.is_empty(), "nothing was proposed");
    assert_eq!(world.read_text("confidential.txt"), "one\n");
    let status = world.status();
    assert_eq!(status["windows"][0]["agents"], serde_json::json!([]));
    assert!(status["refused"]["fromBrowser"].as_u64().unwrap() > 5, "{status}");
}
