//! An editor that an agent might use: how it is reached, why it fits, and whether it can be used. Plain data.

use std::fmt;
use std::path::PathBuf;

use super::reason::Reason;
use crate::http::LoopbackUrl;

/// An editor that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The name of the editor.
    pub editor: String,
    /// How it is reached.
    pub wire: Wire,
    /// Its workspace folders, as this machine names them.
    pub folders: Vec<PathBuf>,
    /// Process id of the editor, if known. Does not prove that it is running.
    pub pid: Option<u32>,
    /// How it was found.
    pub found: FoundBy,
    /// Why it fits the working directory; `None` when it does not.
    pub matched: Option<Match>,
    /// Whether it can be used.
    pub verdict: CandidateVerdict,
}

impl Candidate {
    /// The editor answers, accepts our token and fits.
    pub fn is_usable(&self) -> bool {
        self.verdict == CandidateVerdict::Usable
    }
}

/// How an editor is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wire {
    /// Through our hub.
    Hub {
        /// Id of the window, such as `w3`.
        window: String,
        /// The window's port for agents that do not know the hub.
        port: u16,
    },
    /// A server with the protocol of Claude Code.
    Claude {
        /// Its port on 127.0.0.1.
        port: u16,
        /// Its token, if it needs one.
        token: Option<Secret>,
    },
    /// A server with the protocol of NEXUS3.
    Nexus3 {
        /// Its port on 127.0.0.1.
        port: u16,
        /// Its token, if it needs one.
        token: Option<Secret>,
    },
    /// A server with the protocol of Gemini CLI and Qwen Code.
    Gemini {
        /// Its port on 127.0.0.1.
        port: u16,
        /// Its token, if it needs one.
        token: Option<Secret>,
    },
    /// A server with the protocol of Clio, which has no tokens.
    Clio {
        /// Its port on 127.0.0.1.
        port: u16,
    },
    /// A bridge of ppxai.
    Ppxai {
        /// Its address.
        bridge: LoopbackUrl,
        /// Its token, if it needs one.
        token: Option<Secret>,
    },
}

impl Wire {
    /// The port on this machine.
    pub fn port(&self) -> u16 {
        match self {
            Wire::Hub { port, .. }
            | Wire::Claude { port, .. }
            | Wire::Nexus3 { port, .. }
            | Wire::Gemini { port, .. }
            | Wire::Clio { port } => *port,
            Wire::Ppxai { bridge, .. } => bridge.port(),
        }
    }

    /// The token, if it is known and needed.
    pub fn token(&self) -> Option<&Secret> {
        match self {
            Wire::Claude { token, .. }
            | Wire::Nexus3 { token, .. }
            | Wire::Gemini { token, .. }
            | Wire::Ppxai { token, .. } => token.as_ref(),
            Wire::Hub { .. } | Wire::Clio { .. } => None,
        }
    }

    /// The name of its protocol.
    pub fn dialect(&self) -> &'static str {
        match self {
            Wire::Hub { .. } => "linkspan",
            Wire::Claude { .. } => "claude",
            Wire::Nexus3 { .. } => "nexus3",
            Wire::Gemini { .. } => "gemini",
            Wire::Clio { .. } => "clio",
            Wire::Ppxai { .. } => "ppxai",
        }
    }
}

/// A token. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a token.
    pub fn new(token: impl Into<String>) -> Secret {
        Secret(token.into())
    }

    /// The token itself, to send it to the editor.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// How an editor was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundBy {
    /// Our hub has it.
    Hub,
    /// It is in a lock file.
    LockFile(PathBuf),
    /// The terminal that we run in names it, in this variable.
    Variable(&'static str),
    /// The caller named it.
    Given,
}

/// Why an editor fits a working directory; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// We run in a terminal of that window.
    OwnTerminal,
    /// The working directory is in one of its folders.
    Folder {
        /// How far below the folder.
        depth: usize,
    },
    /// The window has another worktree of the same repository.
    Worktree {
        /// How far below the folder the working directory would be in that worktree.
        depth: usize,
    },
    /// One of its folders is below the working directory.
    Parent {
        /// How far below the working directory.
        depth: usize,
    },
}

/// Whether an editor can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateVerdict {
    /// It fits, and answered a moment ago.
    Usable,
    /// It cannot be used.
    Not(Reason),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_printed() {
        let wire = Wire::Claude { port: 1, token: Some(Secret::new("hunter2")) };
        assert!(!format!("{wire:?}").contains("hunter2"));
        assert!(!Secret::new("hunter2").to_string().contains("hunter2"));
    }

    #[test]
    fn the_better_match_is_the_smaller() {
        let best_first = [
            Match::OwnTerminal,
            Match::Folder { depth: 0 },
            Match::Folder { depth: 3 },
            Match::Worktree { depth: 0 },
            Match::Parent { depth: 1 },
        ];
        assert!(best_first.is_sorted());
    }
}
