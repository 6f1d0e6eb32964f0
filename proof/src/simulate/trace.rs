//! What happened in a simulated world: the same for the same seed, and in words if somebody wants to read it.

use std::collections::VecDeque;

use linkspan_hub::core::Event;

/// What happened, as a number that is the same for the same history, and in words if somebody wants to read it.
pub(super) struct Trace {
    pub(super) hash: u64,
    pub(super) last: Option<VecDeque<String>>,
}

const TOLD: usize = 30;
const LONGEST_LINE: usize = 300;

impl Trace {
    pub(super) fn mix(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(super) fn tell(&mut self, now: u64, line: impl FnOnce() -> String) {
        self.mix(&now.to_le_bytes());
        if let Some(last) = &mut self.last {
            if last.len() == TOLD {
                last.pop_front();
            }
            let line: String = line().chars().take(LONGEST_LINE).collect();
            last.push_back(format!("{now} ms: {line}"));
        }
    }
}

pub(super) fn told(event: &Event) -> String {
    match event {
        Event::FileRead { ticket, result: Ok(file) } => {
            format!(
                "the edge: {ticket:?} {} holds {:?}",
                file.path.display(),
                String::from_utf8_lossy(&file.bytes)
            )
        }
        other => format!("the edge: {other:?}"),
    }
}
