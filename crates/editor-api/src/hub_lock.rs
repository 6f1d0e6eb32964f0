//! The contents of the lock file in the state directory. A process with a different runtime directory finds the hub by
//! it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Which hub holds the state directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HubLock {
    /// Process id of the hub.
    pub pid: u32,
    /// Path of its socket.
    pub socket: PathBuf,
}

impl HubLock {
    /// More than the longest path of a socket needs.
    pub const LARGEST: u64 = 4096;

    /// The content of the file; an error for a path that is not UTF-8.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// `None` for anything that `to_bytes` does not write, such as the empty file of a hub that is just starting.
    pub fn from_bytes(bytes: &[u8]) -> Option<HubLock> {
        serde_json::from_slice(bytes).ok().filter(|lock: &HubLock| lock.socket.is_absolute())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_reads_back_and_nothing_else_is_taken_for_one() {
        let lock = HubLock { pid: 7, socket: "/run/u/linkspan/hub.sock".into() };
        assert_eq!(HubLock::from_bytes(&lock.to_bytes().unwrap()), Some(lock));
        for bad in ["", "{}", "7", "{\"pid\":7,\"socket\":\"hub.sock\"}", "{\"pid\":-7,\"socket\":\"/s\"}"] {
            assert_eq!(HubLock::from_bytes(bad.as_bytes()), None, "{bad}");
        }
    }
}
