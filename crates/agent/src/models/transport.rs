//! HTTP to a model's server.

use std::time::Duration;

use super::{ModelError, ModelEvent, ModelRequest};
use crate::config::WireName;

/// Where a model is, and what is known about it.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) provider: String,
    pub(super) wire: WireName,
    pub(super) base_url: String,
    pub(super) model: String,
    /// The variable's name, and the key.
    pub(super) key: Option<(String, String)>,
    pub(super) context_window: Option<u64>,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) connect: Duration,
    pub(super) first_byte: Duration,
    pub(super) idle: Duration,
}

#[derive(Debug)]
pub(super) struct HttpModel {}

impl HttpModel {
    pub(super) fn new(_: Endpoint) -> Result<HttpModel, String> {
        Ok(HttpModel {})
    }

    pub(super) async fn answer(
        &self,
        _: &ModelRequest,
        _: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<(), ModelError> {
        Err(ModelError::Permanent { message: "not built yet".to_owned(), too_long: false })
    }
}
