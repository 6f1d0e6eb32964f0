//! Hubs that come and go between an editor and the relay: an answer reaches only the hub that asked, and only once;
//! what the editor said to nobody is said to the next hub.
//!
//! One thing per line: `s` and what the editor says, `h` and what the hub says, `u` a hub is there, `d` it is gone.

use linkspan_client::fuzzing::{Passed, Relay};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: Option<String>,
}

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut relay = Relay::default();
    let mut is_up = false;
    // What this hub has asked and was not answered.
    let mut asked: Vec<Value> = Vec::new();
    for line in text.lines() {
        let (what, frame) = line.split_at_checked(1).unwrap_or_default();
        let Passed { to_hub, to_shim } = match what {
            "s" => relay.shim_said(frame.as_bytes()),
            "h" if is_up => {
                if let Some(Head { id, method: Some(_) }) =
                    head(frame.as_bytes()).filter(|head| !head.id.is_null())
                {
                    asked.push(id);
                }
                match relay.hub_said(frame.as_bytes()) {
                    Ok(passed) => passed,
                    Err(_) => return,
                }
            }
            "u" if !is_up => {
                (is_up, asked) = (true, Vec::new());
                relay.hub_up()
            }
            "d" => {
                is_up = false;
                relay.hub_down();
                Passed::default()
            }
            _ => continue,
        };
        assert!(is_up || to_hub.is_empty(), "said to nobody");
        assert!(is_up || to_shim.is_empty(), "nobody said it");
        for frame in to_hub {
            let Some(Head { id, method: None }) = head(&frame).filter(|head| !head.id.is_null()) else {
                continue;
            };
            let at = asked.iter().position(|asked| *asked == id);
            asked.remove(at.expect("an answer that this hub did not ask for"));
        }
    }
}

fn head(frame: &[u8]) -> Option<Head> {
    serde_json::from_slice(frame).ok()
}
