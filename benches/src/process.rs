//! What the system says about a process: time, memory, how often it woke up; and which core it runs on.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

fn threads(pid: u32) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(format!("/proc/{pid}/task")).with_context(|| format!("process {pid} is gone"))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect())
}

fn sum_over_threads(pid: u32, file: &str, value: impl Fn(&str) -> Option<u64>) -> Result<u64> {
    let mut sum = 0;
    for thread in threads(pid)? {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/{file}")).unwrap_or_default();
        sum += value(&text).unwrap_or_default();
    }
    Ok(sum)
}

/// On a core, in all threads that live. `schedstat` counts nanoseconds where `stat` counts ticks of 10 ms.
pub(crate) fn cpu_time(pid: u32) -> Result<Duration> {
    sum_over_threads(pid, "schedstat", |text| text.split(' ').next()?.parse().ok()).map(Duration::from_nanos)
}

/// How often its threads went to sleep of their own will, each of which needed a wake-up.
pub(crate) fn wake_ups(pid: u32) -> Result<u64> {
    sum_over_threads(pid, "status", |text| field(text, "voluntary_ctxt_switches:"))
}

/// Memory a process occupies, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    /// As much of it as is not pages of program files, which all processes of a program share.
    pub(crate) own: u64,
}

pub(crate) fn memory(pid: u32) -> Result<Memory> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let bytes =
        |name| Ok::<u64, anyhow::Error>(field(&status, name).with_context(|| format!("no {name}"))? * 1024);
    Ok(Memory { resident: bytes("VmRSS:")?, own: bytes("RssAnon:")? })
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Cores {
    First,
    Second,
}

impl Cores {
    fn set(self) -> CpuSet {
        let mut set = CpuSet::new();
        match self {
            Cores::First => set.set(0),
            Cores::Second => set.set(1),
        }
        set
    }
}

pub(crate) fn count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// All threads of a process that live now; later ones inherit it from them.
pub(crate) fn pin(pid: u32, cores: Cores) -> Result<()> {
    for thread in threads(pid)? {
        let thread = thread.parse().ok().and_then(Pid::from_raw);
        sched_setaffinity(thread, &cores.set()).context("cannot choose the core of a process")?;
    }
    Ok(())
}

/// Holds the calling thread on some cores, and lets go when dropped.
#[derive(Debug)]
pub(crate) struct Pinned(CpuSet);

pub(crate) fn pin_here(cores: Cores) -> Result<Pinned> {
    let before = sched_getaffinity(None)?;
    sched_setaffinity(None, &cores.set()).context("cannot choose the core of this thread")?;
    Ok(Pinned(before))
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.0);
    }
}
