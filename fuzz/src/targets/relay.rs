//! Hubs that come and go between an editor and the relay: an answer reaches only the hub that asked, and only once;
//! what the editor said to nobody is said to the next hub.
//!
//! One thing per line: `s` and what the editor says, `h` and what the hub says, `u` a hub is there, `d` it is gone.

use linkspan_client::fuzzing::{Passed, Relay};
use linkspan_editor_api::{Message, RequestId};
use serde::Deserialize;

#[derive(Deserialize)]
struct Head {
    id: RequestId,
    #[serde(rename = "method")]
    _method: String,
}

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut relay = Relay::default();
    let mut is_up = false;
    // What this hub has asked and was not answered.
    let mut asked: Vec<RequestId> = Vec::new();
    for line in text.lines() {
        let (what, frame) = line.split_at_checked(1).unwrap_or_default();
        let Passed { to_hub, to_shim } = match what {
            "s" => relay.shim_said(frame.as_bytes()),
            "h" if is_up => {
                asked.extend(serde_json::from_str::<Head>(frame).ok().map(|head| head.id));
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
            let Ok(Message::Response { id: Some(id), .. }) = Message::parse(&frame) else { continue };
            let at = asked.iter().position(|asked| *asked == id);
            asked.remove(at.expect("an answer that this hub did not ask for"));
        }
    }
}
