//! The MCP version of a session. Agents disconnect if they do not know the version in the answer.

/// Oldest first. The names are dates, so they sort as text.
const KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The requested version if it is known, else the newest older one, else the oldest.
pub(crate) fn negotiate(asked: &str) -> &'static str {
    let [oldest, ..] = KNOWN;
    KNOWN.into_iter().rev().find(|known| *known <= asked).unwrap_or(oldest)
}

/// Whether a session may speak this version.
pub fn speaks(version: &str) -> bool {
    KNOWN.contains(&version)
}

/// `serverInfo.title` came with this version.
pub(crate) fn has_titles(version: &str) -> bool {
    version >= "2025-06-18"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_version_is_echoed() {
        for known in KNOWN {
            assert_eq!(negotiate(known), known);
        }
    }

    #[test]
    fn an_unknown_version_gets_the_newest_older_one() {
        assert_eq!(negotiate("2025-07-01"), "2025-06-18");
        assert_eq!(negotiate("2031-01-01"), "2025-11-25");
    }

    #[test]
    fn a_version_before_all_gets_the_oldest() {
        assert_eq!(negotiate("2024-01-01"), "2024-11-05");
        assert_eq!(negotiate(""), "2024-11-05");
    }
}
