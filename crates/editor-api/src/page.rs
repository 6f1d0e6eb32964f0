//! How `linkspan` commands grant a browser access to the page, and revoke it.

use serde::{Deserialize, Serialize};

/// Asks for a link that gives one browser access to the reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageLink {}

/// A link that can be used once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageLinkResult {
    /// The link. The part after `#` is a secret.
    pub url: String,
    /// Port on 127.0.0.1 where the page is served: the one to forward.
    pub port: u16,
    /// How long it can be used.
    pub expires_in_seconds: u64,
}

/// Revokes the access of every browser, and every unused link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageRevoke {}

/// What was revoked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageRevokeResult {
    /// Browsers that had access.
    pub sessions: u32,
    /// Unused links.
    pub links: u32,
}
