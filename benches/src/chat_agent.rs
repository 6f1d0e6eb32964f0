//! A hosted agent that says what it is asked to: many items, or words with the time at which each was sent. It is this
//! program in another role, and speaks the Agent Client Protocol.

use std::io::{BufRead, Write};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Not a multiple of a frame, so that words arrive at every phase of one.
const BETWEEN_WORDS: Duration = Duration::from_millis(37);

/// Until standard input ends. `items 5000` and `words 200` are understood.
pub(crate) fn run() -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        let frame: Value = serde_json::from_str(&line?)?;
        let result = match frame.get("method").and_then(Value::as_str) {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            Some("session/new") => json!({ "sessionId": "s1" }),
            Some("session/prompt") => {
                let text = frame.pointer("/params/prompt/0/text").and_then(Value::as_str).unwrap_or_default();
                answer(text)?;
                json!({ "stopReason": "end_turn" })
            }
            _ => continue,
        };
        send(&json!({ "jsonrpc": "2.0", "id": frame.get("id"), "result": result }))?;
    }
    Ok(())
}

fn answer(text: &str) -> Result<()> {
    let (what, count) = text.split_once(' ').context("what, and how many?")?;
    for number in 0..count.trim().parse::<usize>()? {
        if what == "items" {
            // Thoughts and words in turn: each is an item of its own.
            let kind = if number % 2 == 0 { "agent_thought_chunk" } else { "agent_message_chunk" };
            say(kind, &format!("**Item {number}**\n\n- a\n- b\n\n```rust\nlet x = {number};\n```\n"))?;
        } else {
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3;
            say("agent_message_chunk", &format!("@{now:.2} "))?;
            sleep(BETWEEN_WORDS);
        }
    }
    Ok(())
}

fn say(kind: &str, text: &str) -> Result<()> {
    let update = json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    let params = json!({ "sessionId": "s1", "update": update });
    send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
}

fn send(frame: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{frame}")?;
    Ok(out.flush()?)
}
