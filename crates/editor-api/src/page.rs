//! How `linkspan` commands let a browser in, and take that back.

use serde::{Deserialize, Serialize};

/// Asks for a link that lets one browser see and decide reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageLink {}

/// A link that is good once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageLinkResult {
    /// The link; what follows `#` is a secret.
    pub url: String,
    /// Port on 127.0.0.1 where the page is served: the one to forward.
    pub port: u16,
    /// How long it can be used.
    pub expires_in_seconds: u64,
}

/// Takes back the access of every browser, and every link that was not used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageRevoke {}

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "codegen", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct PageRevokeResult {
    /// Browsers that had access.
    pub sessions: u32,
    /// Links that nobody had used.
    pub links: u32,
}
