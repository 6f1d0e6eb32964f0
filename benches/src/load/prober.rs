//! One agent in a thread of its own that makes small calls, one after the other, while others make the load: what
//! an agent that has nothing to do with the load feels of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::json;

use crate::agent::{Agent, Dialect, tool};
use crate::world::Door;

/// So that it is no load itself.
const PAUSE: Duration = Duration::from_millis(2);

pub(crate) struct Prober {
    enough: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Duration>>>,
}

impl Prober {
    pub(crate) fn start(door: &Door) -> Result<Prober> {
        let mut agent = Agent::introduced(door, Dialect::Claude)?;
        let enough: Arc<AtomicBool> = Arc::default();
        let until = Arc::clone(&enough);
        let thread = std::thread::spawn(move || {
            let mut times = Vec::new();
            while !until.load(Ordering::Relaxed) {
                times.push(small_call(&mut agent)?);
                sleep(PAUSE);
            }
            Ok(times)
        });
        Ok(Prober { enough, thread })
    }

    /// An error means that a call was not answered.
    pub(crate) fn stop(self) -> Result<Vec<Duration>> {
        self.enough.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the prober panicked"))?
    }
}

/// Events that come before the answer are passed over.
pub(crate) fn small_call(agent: &mut Agent) -> Result<Duration> {
    let frame = tool("getWorkspaceFolders", json!({}));
    let start = Instant::now();
    agent.send(&frame)?;
    loop {
        let answer = agent.receive()?;
        let bytes = agent.bytes(&answer.payload);
        if bytes.starts_with(br#"{"jsonrpc":"2.0","id":1,"#) {
            return Ok(start.elapsed());
        }
    }
}
