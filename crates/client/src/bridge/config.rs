//! Which parts of an editor an agent uses.

use serde::{Deserialize, Serialize};

/// Which parts of an editor an agent uses; all of them by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BridgeConfig {
    /// Use an editor at all.
    pub enabled: bool,
    /// Look for one automatically.
    pub auto_connect: bool,
    /// Tell the model about errors and warnings.
    pub inject_diagnostics: bool,
    /// Tell the model which files are open.
    pub inject_open_editors: bool,
    /// Let the user decide on changes in the editor.
    pub use_ide_diffs: bool,
}

impl Default for BridgeConfig {
    fn default() -> BridgeConfig {
        BridgeConfig {
            enabled: true,
            auto_connect: true,
            inject_diagnostics: true,
            inject_open_editors: true,
            use_ide_diffs: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_on() {
        let said: BridgeConfig = serde_json::from_str(r#"{ "use_ide_diffs": false }"#).unwrap();
        assert_eq!(said, BridgeConfig { use_ide_diffs: false, ..BridgeConfig::default() });
        assert!(said.enabled && said.auto_connect);
    }
}
