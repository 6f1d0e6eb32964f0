//! Anything on the hub's own socket and from agents, in any order: every question is answered at most once, and those
//! of editors, commands and the page also at last; nothing is written that nobody accepted; and the page gets nothing
//! that is not for it.
//!
//! One thing per line: `e` and what the editor says, `c` a command, `p` the page, `o` an agent of our own dialect, `a`
//! one of Claude Code's, `n` one of NEXUS3's; `.` the next thing becomes due, `x` the editor goes and comes back.

use linkspan_dialect::by_name;
use linkspan_hub::core::{ConnectionId, Event};
use linkspan_review::{AgentId, WindowId};

use crate::hub::{COMMAND, Hub, OWN, PAGE};
use crate::questions::Asker;

const CLAUDE: AgentId = AgentId(1);
const NEXUS3: AgentId = AgentId(3);
/// Longer than any machine may take.
const PATIENCE_SECONDS: u64 = 60;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut hub = Hub::new();
    for (agent, name) in [(CLAUDE, "claude"), (NEXUS3, "nexus3")] {
        let dialect = by_name(name).expect("a dialect");
        hub.event(Event::AgentOpened { agent, window: WindowId(1), dialect, called: None });
    }
    hub.event(Event::ConnectionOpened { connection: OWN });
    let join = r#"{"jsonrpc":"2.0","id":"join","method":"agent/join",
        "params":{"window":"w1","session":"k3y","name":"tester","version":"1"}}"#;
    hub.connection(OWN, join.as_bytes());
    for line in text.lines() {
        let (who, said) = line.split_at_checked(1).unwrap_or_default();
        match who {
            "e" => {
                let editor = hub.editor;
                decides(&mut hub, editor, said);
            }
            "c" => decides(&mut hub, COMMAND, said),
            "p" => decides(&mut hub, PAGE, said),
            "o" => hub.connection(OWN, said.as_bytes()),
            "a" => hub.agent(CLAUDE, said),
            "n" => hub.agent(NEXUS3, said),
            "." => hub.wait(),
            "x" => {
                let editor = hub.editor;
                hub.event(Event::ConnectionClosed { connection: editor });
                hub.questions.gone(Asker::Connection(editor));
                hub.attach();
            }
            _ => {}
        }
    }
    hub.wait_seconds(PATIENCE_SECONDS);
    // Who has become an agent may have asked a person.
    let may_have_joined = text.contains("agent/join") || text.contains("\\u");
    if !hub.is_stopped() && !may_have_joined {
        for connection in [hub.editor, COMMAND, PAGE] {
            assert_eq!(hub.questions.open(Asker::Connection(connection)), [""; 0], "{connection:?} waits");
        }
    }
}

fn decides(hub: &mut Hub, connection: ConnectionId, said: &str) {
    // Words can be hidden behind escapes.
    hub.accepted |= ["accept", "allow", "\\u"].iter().any(|word| said.contains(word));
    hub.connection(connection, said.as_bytes());
}
