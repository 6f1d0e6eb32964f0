//! One agent in its own thread that makes small calls, one after the other, while others make the load: it measures what
//! an agent that has nothing to do with the load notices of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::json;

use crate::agent::{Agent, BenchDialect, tool};
use crate::bench_hub::AgentEndpoint;

/// So that it is not a load itself.
const PAUSE: Duration = Duration::from_millis(2);

pub(crate) struct Prober {
    enough: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Duration>>>,
}

impl Prober {
    pub(crate) fn start(endpoint: &AgentEndpoint) -> Result<Prober> {
        let mut agent = Agent::introduced(endpoint, BenchDialect::Claude)?;
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

/// Skips events before the answer.
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
