//! What the system knows about a process: time, memory, how often it woke up; and which core it runs on.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

fn threads(pid: u32) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(format!("/proc/{pid}/task")).with_context(|| format!("process {pid} is gone"))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect())
}

fn by_thread(pid: u32, file: &str, value: impl Fn(&str) -> Option<u64>) -> Result<BTreeMap<String, u64>> {
    let read = |thread: String| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/{file}")).ok()?;
        Some((thread, value(&text)?))
    };
    Ok(threads(pid)?.into_iter().filter_map(read).collect())
}

/// Processor time of all current threads. `schedstat` counts nanoseconds where `stat` counts ticks of 10 ms.
pub(crate) fn cpu_time(pid: u32) -> Result<Duration> {
    let times = by_thread(pid, "schedstat", |text| text.split(' ').next()?.parse().ok())?;
    Ok(Duration::from_nanos(times.values().sum()))
}

/// Processor time since the process started, including threads that have ended; in ticks of 10 ms.
pub(crate) fn cpu_time_of_all(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("the process is gone")?;
    // The name may contain anything, and ends with the last parenthesis.
    let (_, after) = stat.rsplit_once(") ").context("an odd /proc/PID/stat")?;
    let ticks = after.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    Ok(Duration::from_millis(10 * ticks))
}

pub(crate) fn thread_count(pid: u32) -> Result<usize> {
    Ok(threads(pid)?.len())
}

/// Open files, sockets and the like.
pub(crate) fn descriptors(pid: u32) -> Result<usize> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).with_context(|| format!("process {pid} is gone"))?;
    Ok(open.count())
}

/// How often each thread slept voluntarily; each time needs a wake-up.
#[derive(Debug)]
pub(crate) struct Sleeps(BTreeMap<String, u64>);

impl Sleeps {
    pub(crate) fn of(pid: u32) -> Result<Sleeps> {
        Ok(Sleeps(by_thread(pid, "status", |text| field(text, "voluntary_ctxt_switches:"))?))
    }

    /// Wake-ups from then to now. A thread that has ended woke up at least once for that.
    pub(crate) fn since(&self, before: &Sleeps) -> u64 {
        let before_of = |thread| before.0.get(thread).copied().unwrap_or_default();
        let alive: u64 = self.0.iter().map(|(thread, now)| now - before_of(thread)).sum();
        let gone = before.0.keys().filter(|thread| !self.0.contains_key(*thread)).count();
        alive + gone as u64
    }
}

/// Memory a process occupies, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) resident: u64,
    /// Without pages of program files, which all processes of a program share.
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

/// Pins all current threads of a process; later ones inherit it.
pub(crate) fn pin(pid: u32, cores: Cores) -> Result<()> {
    for thread in threads(pid)? {
        let thread = thread.parse().ok().and_then(Pid::from_raw);
        sched_setaffinity(thread, &cores.set()).context("cannot choose the core of a process")?;
    }
    Ok(())
}

/// Pins the calling thread until it is dropped.
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
