//! Who may come in: decided from the connection and the request head alone, before anything else is read.
//!
//! Pure: the edge hands in what it saw and carries out the refusal.

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, StatusCode};
use linkspan_dialect::Dialect;

use crate::token::Token;

/// Why someone was turned away; also the name of the counter in `linkspan status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    NotLoopback,
    OtherUser,
    TooManyConnections,
    BadHead,
    SlowHead,
    WrongHost,
    FromBrowser,
    NoToken,
    WrongToken,
    TwoTokens,
    NotWebSocket,
    UnknownPath,
    OtherOrigin,
    NoSession,
    WrongLink,
    WrongMethod,
    BadBody,
}

impl Refusal {
    pub fn name(self) -> &'static str {
        match self {
            Refusal::NotLoopback => "notLoopback",
            Refusal::OtherUser => "otherUser",
            Refusal::TooManyConnections => "tooManyConnections",
            Refusal::BadHead => "badHead",
            Refusal::SlowHead => "slowHead",
            Refusal::WrongHost => "wrongHost",
            Refusal::FromBrowser => "fromBrowser",
            Refusal::NoToken => "noToken",
            Refusal::WrongToken => "wrongToken",
            Refusal::TwoTokens => "twoTokens",
            Refusal::NotWebSocket => "notWebSocket",
            Refusal::UnknownPath => "unknownPath",
            Refusal::OtherOrigin => "otherOrigin",
            Refusal::NoSession => "noSession",
            Refusal::WrongLink => "wrongLink",
            Refusal::WrongMethod => "wrongMethod",
            Refusal::BadBody => "badBody",
        }
    }

    pub fn status(self) -> StatusCode {
        match self {
            Refusal::NoToken | Refusal::WrongToken | Refusal::NoSession => StatusCode::UNAUTHORIZED,
            Refusal::NotLoopback
            | Refusal::OtherUser
            | Refusal::FromBrowser
            | Refusal::OtherOrigin
            | Refusal::WrongLink => StatusCode::FORBIDDEN,
            Refusal::WrongHost => StatusCode::MISDIRECTED_REQUEST,
            Refusal::TooManyConnections => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::BadHead | Refusal::TwoTokens | Refusal::BadBody => StatusCode::BAD_REQUEST,
            Refusal::SlowHead => StatusCode::REQUEST_TIMEOUT,
            Refusal::NotWebSocket => StatusCode::UPGRADE_REQUIRED,
            Refusal::UnknownPath => StatusCode::NOT_FOUND,
            Refusal::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
        }
    }

    /// What a person who looks at the answer is told.
    pub fn message(self) -> &'static str {
        match self {
            Refusal::NotLoopback => "only this machine may connect",
            Refusal::OtherUser => "only processes of the user who owns this hub may connect",
            Refusal::TooManyConnections => "too many connections to this port; close some",
            Refusal::BadHead => "the request head is malformed or too large",
            Refusal::SlowHead => "the request head did not arrive in time",
            Refusal::WrongHost => "the Host header must name 127.0.0.1 or localhost and this port",
            Refusal::FromBrowser => "requests with an Origin (web pages) are not served",
            Refusal::NoToken => {
                "no token: send the authToken of the discovery file in the dialect's own header"
            }
            Refusal::WrongToken => "wrong token: read the discovery file again",
            Refusal::TwoTokens => "tokens of two dialects in one request",
            Refusal::NotWebSocket => "this is a WebSocket endpoint: connect with a WebSocket client",
            Refusal::UnknownPath => "nothing is served at this path",
            Refusal::OtherOrigin => "only the page itself may ask for this, and no page of another site",
            Refusal::NoSession => "this browser has no access: get a link with `linkspan page`",
            Refusal::WrongLink => {
                "this link was used already, or has expired: get another with `linkspan page`"
            }
            Refusal::WrongMethod => "this path is not asked for in this way",
            Refusal::BadBody => "the body must be JSON of at most 1 KiB, with the secret of a link",
        }
    }
}

/// What is known of a request when only its head was read.
#[derive(Debug)]
pub struct Head<'a> {
    pub method: &'a Method,
    pub path: &'a str,
    pub headers: &'a HeaderMap,
}

/// Which dialect the caller speaks, if it may come in at all. The order matters: what tells least about us is
/// checked first.
pub fn admit(
    head: &Head<'_>,
    port: u16,
    token: &Token,
    dialects: &[&'static Dialect],
) -> Result<&'static Dialect, Refusal> {
    let Head { method, path, headers } = head;
    host(headers, port)?;
    if headers.contains_key(header::ORIGIN) {
        return Err(Refusal::FromBrowser);
    }
    let mut spoken = None;
    for dialect in dialects.iter().copied() {
        let name = HeaderName::from_static(dialect.token_header);
        if !headers.contains_key(&name) {
            continue;
        }
        if spoken.is_some() {
            return Err(Refusal::TwoTokens);
        }
        let offered = only(headers, &name).ok_or(Refusal::TwoTokens)?;
        spoken = Some((dialect, token.matches(offered)));
    }
    let dialect = match spoken {
        None => return Err(Refusal::NoToken),
        Some((_, false)) => return Err(Refusal::WrongToken),
        Some((dialect, true)) => dialect,
    };
    if *path != "/" {
        return Err(Refusal::UnknownPath);
    }
    if upgrades(method, headers) { Ok(dialect) } else { Err(Refusal::NotWebSocket) }
}

/// By which of our names the caller knows this port. A DNS name that was bound to our address is none.
pub(crate) fn host(headers: &HeaderMap, port: u16) -> Result<String, Refusal> {
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let host = only(headers, &header::HOST).ok_or(Refusal::WrongHost)?;
    let known = hosts.into_iter().find(|known| known.as_bytes().eq_ignore_ascii_case(host));
    known.ok_or(Refusal::WrongHost)
}

/// Whether this asks for a WebSocket.
pub(crate) fn upgrades(method: &Method, headers: &HeaderMap) -> bool {
    let is = |name: &HeaderName, value: &str| {
        headers
            .get(name)
            .and_then(|found| found.to_str().ok())
            .is_some_and(|found| found.split(',').any(|part| part.trim().eq_ignore_ascii_case(value)))
    };
    method == Method::GET
        && is(&header::CONNECTION, "upgrade")
        && is(&header::UPGRADE, "websocket")
        && is(&header::SEC_WEBSOCKET_VERSION, "13")
        && headers.contains_key(header::SEC_WEBSOCKET_KEY)
}

/// The value of a header that may stand there only once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.as_bytes();
    values.next().is_none().then_some(first)
}
