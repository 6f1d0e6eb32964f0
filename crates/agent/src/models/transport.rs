//! HTTP to a model's server: one request, its streamed answer, and a deadline for each step. Knows no wire from inside.

use std::error::Error as _;
use std::sync::OnceLock;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

use super::status::{Refusal, retry_after};
use super::wire::{self, ModelHttpRequest, Target};
use super::{ModelError, ModelEvent, ModelRequest};
use crate::config::WireName;

/// Of one answer.
const LARGEST_ANSWER: usize = 10 * 1024 * 1024;
/// Of an error.
const LARGEST_ERROR: usize = 64 * 1024;
/// Connections without a request are closed after this time.
const IDLE_CONNECTION: Duration = Duration::from_secs(90);

/// Where a model is, and what is known about it.
#[derive(Clone)]
pub(super) struct ModelEndpoint {
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

type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A model on a server.
pub(super) struct HttpModel {
    endpoint: ModelEndpoint,
    host: String,
    /// Made with the first request: reading the root certificates takes a moment.
    client: OnceLock<HttpClient>,
}

impl std::fmt::Debug for HttpModel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the key.
        out.debug_struct("HttpModel").field("host", &self.host).finish_non_exhaustive()
    }
}

impl HttpModel {
    pub(super) fn new(endpoint: ModelEndpoint) -> Result<HttpModel, String> {
        let ModelEndpoint { provider, base_url, .. } = &endpoint;
        let wrong = |what: &str| {
            format!("the `base_url` of {provider}, {base_url}, {what}: correct it in agent.toml")
        };
        let uri: Uri = base_url.parse().map_err(|_| wrong("is not a URL"))?;
        let Some(host) = uri.host() else { return Err(wrong("names no server")) };
        let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if endpoint.key.is_none() || is_local => {}
            Some("http") => return Err(wrong("would carry the key unencrypted; use https")),
            _ => return Err(wrong("does not begin with https:// or http://")),
        }
        if let Some((variable, key)) = &endpoint.key
            && HeaderValue::from_str(key.trim()).is_err()
        {
            return Err(format!("the key in {variable} has characters that no key has: set it again"));
        }
        let host = uri.authority().map_or(host, |authority| authority.as_str()).to_owned();
        Ok(HttpModel { host, endpoint, client: OnceLock::new() })
    }

    fn client(&self) -> &HttpClient {
        self.client.get_or_init(|| {
            let mut connector = HttpConnector::new();
            connector.set_connect_timeout(Some(self.endpoint.connect));
            connector.set_nodelay(true);
            connector.enforce_http(false);
            let connector = HttpsConnectorBuilder::new()
                .with_webpki_roots()
                .https_or_http()
                .enable_http1()
                .wrap_connector(connector);
            Client::builder(TokioExecutor::new()).pool_idle_timeout(IDLE_CONNECTION).build(connector)
        })
    }

    pub(super) async fn answer(
        &self,
        request: &ModelRequest,
        emit: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<(), ModelError> {
        let target = Target {
            provider: &self.endpoint.provider,
            model: &self.endpoint.model,
            context_window: self.endpoint.context_window,
            max_output_tokens: self.endpoint.max_output_tokens,
        };
        let mut wire = wire::request(self.endpoint.wire, request, &target);
        let request = self.request(&wire)?;
        let answered = timeout(self.endpoint.first_byte, self.client().request(request)).await;
        let response = match answered {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.unreachable(&error)),
            Err(_) => return Err(self.silent(self.endpoint.first_byte)),
        };
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let mut body = response.into_body();
        let mut received = 0usize;
        let mut patience = self.endpoint.first_byte;
        loop {
            let frame = match timeout(patience, body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(_))) => return Err(wire::ended_early()),
                Ok(None) => break,
                Err(_) => return Err(self.silent(patience)),
            };
            let Ok(bytes) = frame.into_data() else { continue };
            patience = self.endpoint.idle;
            received = received.saturating_add(bytes.len());
            if received > LARGEST_ANSWER {
                return Err(self.too_large());
            }
            if pass_on(wire.decoder.feed(&bytes), emit)? {
                return Ok(());
            }
        }
        if pass_on(wire.decoder.finish(), emit)? { Ok(()) } else { Err(wire::ended_early()) }
    }

    fn request(&self, wire: &ModelHttpRequest) -> Result<Request<Full<Bytes>>, ModelError> {
        let url = format!("{}{}", self.endpoint.base_url.trim_end_matches('/'), wire.path);
        let mut request = Request::post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("linkspan-agent/", env!("CARGO_PKG_VERSION")));
        for (name, value) in wire.headers {
            request = request.header(HeaderName::from_static(name), *value);
        }
        if let Some((_, key)) = &self.endpoint.key {
            let (name, before) = wire.key_header;
            let mut value =
                HeaderValue::from_str(&format!("{before}{}", key.trim())).map_err(|_| self.wrong_model())?;
            value.set_sensitive(true);
            request = request.header(HeaderName::from_static(name), value);
        }
        request.body(Full::from(wire.body.to_string())).map_err(|_| self.wrong_model())
    }

    /// Only the model's name can make a URL wrong that was right.
    fn wrong_model(&self) -> ModelError {
        let model = &self.endpoint.model;
        let message = format!("`{model}` cannot be the name of a model: choose another one with /model.");
        ModelError::Permanent { message, too_long: false }
    }

    fn unreachable(&self, error: &hyper_util::client::legacy::Error) -> ModelError {
        let mut cause = error.source();
        let mut why = error.to_string();
        while let Some(inner) = cause {
            why = inner.to_string();
            cause = inner.source();
        }
        if why.contains("certificate") {
            let host = &self.host;
            let message = format!(
                "{host} shows a certificate that is not trusted ({why}). Only the root certificates of Mozilla are \
                 used: correct its `base_url`, or reach it over http on this machine."
            );
            return ModelError::Permanent { message, too_long: false };
        }
        let hint = if self.endpoint.wire == WireName::Ollama {
            " (is Ollama running? `ollama serve` starts it)"
        } else {
            ""
        };
        let doing = if error.is_connect() { "cannot be reached" } else { "closed the connection" };
        let message = format!("{} {doing}: {why}{hint}", self.host);
        ModelError::Transient { message, retry_after: None }
    }

    fn silent(&self, time: Duration) -> ModelError {
        let message = format!("{} sent nothing for {} s", self.host, time.as_secs());
        ModelError::Transient { message, retry_after: None }
    }

    fn too_large(&self) -> ModelError {
        let message = format!(
            "{} sent more than {} MB in one answer, which is cut off. Ask for less at a time.",
            self.host,
            LARGEST_ANSWER / (1024 * 1024)
        );
        ModelError::Permanent { message, too_long: false }
    }

    async fn refused(&self, response: Response<Incoming>) -> ModelError {
        let status = response.status().as_u16();
        let header = |headers: &HeaderMap, name: &str| {
            headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (seconds, milliseconds) =
            (header(response.headers(), "retry-after"), header(response.headers(), "retry-after-ms"));
        let body = http_body_util::Limited::new(response.into_body(), LARGEST_ERROR);
        let body = match timeout(self.endpoint.idle, body.collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            _ => Bytes::new(),
        };
        let refusal = Refusal {
            provider: &self.endpoint.provider,
            model: &self.endpoint.model,
            key_variable: self.endpoint.key.as_ref().map(|(variable, _)| variable.as_str()),
            status,
            retry_after: retry_after(seconds.as_deref(), milliseconds.as_deref()),
            body: &body,
        };
        refusal.error()
    }
}

/// Whether the answer is complete.
fn pass_on(
    events: Vec<Result<ModelEvent, ModelError>>,
    emit: &(dyn Fn(ModelEvent) + Send + Sync),
) -> Result<bool, ModelError> {
    for event in events {
        let event = event?;
        let is_done = matches!(event, ModelEvent::Done(_));
        emit(event);
        if is_done {
            return Ok(true);
        }
    }
    Ok(false)
}
