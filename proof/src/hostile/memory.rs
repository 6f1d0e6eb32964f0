//! How much memory the hub uses, as the kernel reports it.

use std::fs;

#[derive(Debug)]
pub(super) struct Memory {
    pub(super) pid: u32,
    /// In MB, before the attack.
    pub(super) before: u64,
}

impl Memory {
    pub(super) fn of(pid: u32) -> Memory {
        // From here on the peak is that of the attack; if the kernel does not permit this, it is the hub's since its
        // start.
        let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
        let mut memory = Memory { pid, before: 0 };
        memory.before = memory.now();
        memory
    }

    pub(super) fn now(&self) -> u64 {
        self.megabytes("RssAnon:")
    }

    /// The peak, including program text.
    pub(super) fn peak(&self) -> u64 {
        self.megabytes("VmHWM:")
    }

    fn megabytes(&self, line: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("the hub is gone");
        let value = status.lines().find_map(|found| found.strip_prefix(line)).expect("no such line");
        value.trim().trim_end_matches(" kB").parse::<u64>().expect("no number").div_ceil(1000)
    }
}
