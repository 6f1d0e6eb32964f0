//! What the kernel knows about a process.

use std::fs;
use std::time::Duration;

/// The processor time of that process. The kernel counts hundredths of a second.
pub(crate) fn processor_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process is gone");
    let (_, fields) = stat.rsplit_once(") ").expect("no fields");
    let ticks = |field: usize| fields.split(' ').nth(field).and_then(|ticks| ticks.parse::<u64>().ok());
    // Counted from the state, the third field: utime is the 14th, stime the 15th.
    let both = ticks(11).zip(ticks(12)).map(|(user, system)| user + system).expect("no times");
    Duration::from_millis(both * 10)
}
