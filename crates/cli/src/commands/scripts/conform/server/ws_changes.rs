//! Points about changes that nobody decides: proposed, shown, withdrawn. Nothing is written.

use serde_json::json;

use super::mcp_answer::text;
use super::peer::{Arrived, SILENCE};
use super::sample::{AFTER, BEFORE};
use super::ws_agent::WsAgent;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, recommended, required};

const AREA: &str = "Changes";

pub(crate) const CHECKS: &[Check<WsAgent>] = &[
    required(AREA, "open-diff", "`openDiff` is not answered before the user decides", open_diff),
    required(AREA, "meanwhile", "Other requests are answered while a change is pending", meanwhile),
    required(AREA, "close-tab", "Closing the tab withdraws the change and accepts nothing", close_tab),
    required(
        AREA,
        "new-file",
        "A change of a file that does not exist is pending, and creates no file",
        new_file,
    ),
    required(AREA, "same-file", "A second change of a file leaves the first one pending", same_file),
    required(AREA, "large", "A change of 2 MB is shown", large),
    recommended(
        AREA,
        "odd-text",
        "Texts with control characters, a byte order mark and CRLF are taken",
        odd_text,
    ),
    required(AREA, "two-clients", "A second client is served, and the first one too", two_clients),
    recommended(AREA, "other-client", "A client withdraws only its own changes", other_client),
    required(AREA, "gone", "A client that ends with a pending change does not disturb the next one", gone),
];

/// Only those that have `CLOSED_n_DIFF_TABS`.
pub(crate) const CLOSE_ALL: &[Check<WsAgent>] = &[
    required(AREA, "close-all", "`closeAllDiffTabs` withdraws what is pending, and counts it", close_all),
    required(AREA, "close-none", "`closeAllDiffTabs` is answered when nothing is pending", close_none),
];

/// Proposes a change of the sample, which must stay pending.
fn pending(agent: &mut WsAgent, conn: u64, tab: &str) -> Outcome<i64> {
    let path = agent.sample.path_text();
    let id = agent.propose(conn, &path, AFTER, tab)?;
    agent.waits(conn, id)?;
    Ok(id)
}

fn is_unchanged(agent: &WsAgent) -> Outcome {
    match agent.sample.holds() {
        text if text == BEFORE => Ok(()),
        text => Err(failed("a file as it was", text)),
    }
}

fn open_diff(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let id = pending(agent, conn, "conform: open-diff")?;
    // Withdrawn so that the next point starts with nothing; whether that works is another point.
    let _ = agent.withdraw(conn, id, "conform: open-diff");
    Ok(())
}

fn meanwhile(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let id = pending(agent, conn, "conform: meanwhile")?;
    let served = agent.is_served(conn);
    let _ = agent.withdraw(conn, id, "conform: meanwhile");
    served
}

fn close_tab(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let id = pending(agent, conn, "conform: close-tab")?;
    agent.withdraw(conn, id, "conform: close-tab")?;
    is_unchanged(agent)
}

fn new_file(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let path = agent.sample.new_file();
    let id = agent.propose(conn, &path.to_string_lossy(), "new\n", "conform: new-file")?;
    agent.waits(conn, id)?;
    agent.withdraw(conn, id, "conform: new-file")?;
    if path.exists() { Err(failed("no file before an accept", "the file was created")) } else { Ok(()) }
}

fn same_file(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let first = pending(agent, conn, "conform: first")?;
    let path = agent.sample.path_text();
    let second = agent.propose(conn, &path, "other\n", "conform: second")?;
    let (first_waits, second_waits) = (agent.waits(conn, first), agent.waits(conn, second));
    let closed = agent.withdraw(conn, second, "conform: second");
    let still = agent.waits(conn, first);
    let _ = agent.withdraw(conn, first, "conform: first");
    first_waits.and(second_waits).and(closed).and(still)
}

fn large(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let path = agent.sample.path_text();
    let text = "a line of a large file\n".repeat(90_000);
    let id = agent.propose(conn, &path, &text, "conform: large")?;
    agent.waits(conn, id)?;
    agent.withdraw(conn, id, "conform: large")?;
    agent.is_served(conn)
}

fn odd_text(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let path = agent.sample.path_text();
    let text = "\u{feff}one\r\n\u{1b}[31mred\u{7}\0\u{202e}\u{2028}\r\nlone\rend\u{10ffff}";
    let id = agent.propose(conn, &path, text, "conform: odd \u{1b}[31m \u{2727}")?;
    agent.waits(conn, id)?;
    agent.withdraw(conn, id, "conform: odd \u{1b}[31m \u{2727}")?;
    agent.is_served(conn)
}

fn two_clients(agent: &mut WsAgent) -> Outcome {
    let first = agent.main()?;
    let second = agent.connect()?;
    let served = agent.is_served(second).and_then(|()| agent.is_served(first));
    agent.peer.close(second);
    served
}

fn other_client(agent: &mut WsAgent) -> Outcome {
    let first = agent.main()?;
    let id = pending(agent, first, "conform: of the first")?;
    let second = agent.connect()?;
    let answer = agent.call(second, "closeAllDiffTabs", &json!({}));
    let waits = agent.waits(first, id);
    agent.peer.close(second);
    let _ = agent.withdraw(first, id, "conform: of the first");
    answer.map(|_| ()).and(waits)
}

fn gone(agent: &mut WsAgent) -> Outcome {
    let conn = agent.connect()?;
    pending(agent, conn, "conform: gone")?;
    agent.peer.close(conn);
    let next = agent.connect()?;
    let served = agent.is_served(next);
    agent.peer.close(next);
    served?;
    is_unchanged(agent)
}

fn close_all(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    let path = agent.sample.path_text();
    let ids = [
        agent.propose(conn, &path, AFTER, "conform: all 1")?,
        agent.propose(conn, &agent.sample.new_file().to_string_lossy(), AFTER, "conform: all 2")?,
    ];
    for id in ids {
        agent.waits(conn, id)?;
    }
    let answer = agent.call(conn, "closeAllDiffTabs", &json!({}))?;
    for id in ids {
        agent.not_accepted(conn, id)?;
    }
    // Servers count further tabs of theirs.
    match closed(text(&answer)?) {
        Some(2..) => is_unchanged(agent),
        _ => Err(failed("CLOSED_2_DIFF_TABS, or more", text(&answer)?)),
    }
}

fn close_none(agent: &mut WsAgent) -> Outcome {
    let conn = agent.main()?;
    // The first closes what an earlier point may have left.
    agent.call(conn, "closeAllDiffTabs", &json!({}))?;
    let answer = agent.call(conn, "closeAllDiffTabs", &json!({}))?;
    match text(&answer)? {
        "CLOSED_0_DIFF_TABS" => Ok(()),
        other => Err(failed("CLOSED_0_DIFF_TABS", other)),
    }
}

/// The number in `CLOSED_n_DIFF_TABS`.
fn closed(text: &str) -> Option<u32> {
    text.strip_prefix("CLOSED_")?.strip_suffix("_DIFF_TABS")?.parse().ok()
}

/// No further message arrives for a while, such as a second answer.
pub(crate) fn is_quiet(agent: &mut WsAgent, conn: u64, id: i64) -> Outcome {
    match agent.peer.wait(conn, SILENCE, |message| super::mcp_answer::answers(message, id)) {
        Arrived::Nothing => Ok(()),
        other => Err(failed("one answer", other.words())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_closed_tabs_is_read() {
        assert_eq!(closed("CLOSED_12_DIFF_TABS"), Some(12));
        assert_eq!(closed("CLOSED__DIFF_TABS"), None);
        assert_eq!(closed("ok"), None);
    }
}
