//! Points about decisions of the user, for agents that speak MCP over a WebSocket. Skipped if nobody decides.

use super::decider::WantedDecision;
use super::mcp_answer::texts;
use super::sample::{AFTER, BEFORE};
use super::ws_agent::WsAgent;
use super::ws_changes::is_quiet;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, required};
use crate::commands::scripts::conform::report::excerpt;

const AREA: &str = "Decisions";

pub(crate) const CHECKS: &[Check<WsAgent>] = &[
    required(
        AREA,
        "accept",
        "An accepted change is answered with FILE_SAVED, and the right party writes",
        accept,
    ),
    required(
        AREA,
        "reject",
        "A rejected change is answered with DIFF_REJECTED, and nothing is written",
        reject,
    ),
];

/// The texts of the answer to a change of the sample that the user decided.
fn decided(agent: &mut WsAgent, verdict: WantedDecision, tab: &str) -> Outcome<Vec<String>> {
    agent.decider.is_there()?;
    let conn = agent.main()?;
    let path = agent.sample.path.clone();
    let id = agent.propose(conn, &path.to_string_lossy(), AFTER, tab)?;
    agent.waits(conn, id)?;
    let timeout = agent.decider.decide(verdict, &path, agent.peer.timeout)?;
    let answer = agent.answer(conn, id, timeout)?;
    let texts = texts(&answer)?.into_iter().map(str::to_owned).collect();
    is_quiet(agent, conn, id)?;
    Ok(texts)
}

fn accept(agent: &mut WsAgent) -> Outcome {
    let texts = decided(agent, WantedDecision::Accept, "conform: accept")?;
    let (holds, server_writes) = (agent.sample.holds(), agent.dialect.server_writes);
    agent.sample.restore();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let is_right = match texts.as_slice() {
        ["FILE_SAVED", text] => server_writes || *text == AFTER,
        ["FILE_SAVED", ..] => server_writes,
        _ => false,
    };
    if !is_right {
        let expected = if server_writes { "FILE_SAVED" } else { "FILE_SAVED and the final text" };
        return Err(failed(expected, excerpt(&texts.into())));
    }
    let expected = if server_writes { AFTER } else { BEFORE };
    match holds == expected {
        true => Ok(()),
        false => {
            Err(failed(format!("a file that holds {expected:?} before the answer"), format!("{holds:?}")))
        }
    }
}

fn reject(agent: &mut WsAgent) -> Outcome {
    const TAB: &str = "conform: reject";
    let texts = decided(agent, WantedDecision::Reject, TAB)?;
    let holds = agent.sample.holds();
    agent.sample.restore();
    let is_right = match texts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["DIFF_REJECTED", rest @ ..] => {
            agent.dialect.server_writes || rest == [(agent.dialect.tab_name)(TAB)]
        }
        _ => false,
    };
    match (is_right, holds == BEFORE) {
        (true, true) => Ok(()),
        (false, _) => Err(failed("DIFF_REJECTED and the name of the tab", excerpt(&texts.into()))),
        (true, false) => Err(failed("a file as it was", holds)),
    }
}
