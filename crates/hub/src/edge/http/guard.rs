//! Access control: decided from the connection and the request head alone, before anything else is read.
//!
//! Pure: the caller passes in what it saw and carries out the refusal. The checks and their order are documented in
//! docs/security.md.

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, StatusCode, Uri};
use linkspan_dialect::{Dialect, Endpoint, Route};

use crate::core::contract::Refusal;
use crate::token::Token;

impl Refusal {
    pub fn status(self) -> StatusCode {
        match self {
            Refusal::NoToken | Refusal::WrongToken | Refusal::NoSession => StatusCode::UNAUTHORIZED,
            Refusal::NotLoopback
            | Refusal::OtherUser
            | Refusal::FromBrowser
            | Refusal::OtherOrigin
            | Refusal::WrongLink => StatusCode::FORBIDDEN,
            Refusal::WrongHost => StatusCode::MISDIRECTED_REQUEST,
            Refusal::TooManyConnections | Refusal::NoRoom | Refusal::NoDescriptors => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Refusal::BadHead
            | Refusal::TwoTokens
            | Refusal::BadBody
            | Refusal::NoSessionId
            | Refusal::UnknownProtocol => StatusCode::BAD_REQUEST,
            Refusal::SlowHead | Refusal::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Refusal::BrokenBody => StatusCode::BAD_REQUEST,
            Refusal::NotWebSocket => StatusCode::UPGRADE_REQUIRED,
            Refusal::UnknownPath | Refusal::UnknownSession => StatusCode::NOT_FOUND,
            Refusal::SessionInUse => StatusCode::CONFLICT,
            Refusal::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Refusal::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }
}

/// A request of which only the head was read.
#[derive(Debug)]
pub struct RequestHead<'a> {
    pub method: &'a Method,
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
}

/// The tokens that are valid on one port.
#[derive(Debug)]
pub struct Tokens {
    /// The window's own, which is in its discovery files.
    pub window: Token,
    /// The one that the user has configured, for dialects that require a token only then.
    pub configured: Option<Token>,
}

/// What an admitted request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    WebSocket,
    /// A request of a Streamable HTTP session.
    Stream,
    Call(&'static Route),
}

/// Which dialect the caller speaks, if it is admitted at all. The order matters: checks that reveal least about us
/// come first.
pub fn admit(
    head: &RequestHead<'_>,
    port: u16,
    tokens: &Tokens,
    dialects: &[&'static Dialect],
) -> Result<(&'static Dialect, RequestKind), Refusal> {
    let RequestHead { method, uri, headers } = head;
    let path = uri.path();
    host(headers, uri, port)?;
    no_browser(headers)?;
    for dialect in dialects.iter().copied() {
        match dialect.endpoint {
            Endpoint::Stream { path: ours } if ours == path => {
                authorized(headers, b"Bearer ", &tokens.window)?;
                return stream(method, headers).map(|way| (dialect, way));
            }
            Endpoint::HttpRpc { token_header, routes } => {
                if let Some(route) = routes.iter().find(|route| route.path == path) {
                    optional_token(headers, token_header, tokens)?;
                    return call(method, headers, route).map(|way| (dialect, way));
                }
            }
            _ => {}
        }
    }
    web_socket(head, &tokens.window, dialects).map(|dialect| (dialect, RequestKind::WebSocket))
}

/// The same on a window's Unix socket, which the file system keeps other users from. A browser cannot connect to it;
/// what looks like a browser's request was passed on by another program, and is refused all the same.
pub fn admit_on_socket(
    head: &RequestHead<'_>,
    tokens: &Tokens,
    dialects: &[&'static Dialect],
) -> Result<(&'static Dialect, RequestKind), Refusal> {
    let RequestHead { method, uri, headers } = head;
    socket_host(headers, uri)?;
    no_browser(headers)?;
    authorized(headers, b"Nonce ", &tokens.window)?;
    let at_path =
        |dialect: &Dialect| matches!(dialect.endpoint, Endpoint::SocketStream { path } if path == uri.path());
    let dialect = dialects.iter().copied().find(|dialect| at_path(dialect)).ok_or(Refusal::UnknownPath)?;
    stream(method, headers).map(|way| (dialect, way))
}

fn no_browser(headers: &HeaderMap) -> Result<(), Refusal> {
    let from_browser = headers.contains_key(header::ORIGIN) || is_page_subresource(headers);
    if from_browser { Err(Refusal::FromBrowser) } else { Ok(()) }
}

/// Browsers send no `Origin` with a picture, a script or a frame, but this header says that a page loads it. HTTP
/// libraries send some `Sec-Fetch` headers too, but not this one.
fn is_page_subresource(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "none")
}

fn web_socket(
    head: &RequestHead<'_>,
    token: &Token,
    dialects: &[&'static Dialect],
) -> Result<&'static Dialect, Refusal> {
    let RequestHead { method, uri, headers } = head;
    let at_root = uri.path() == "/";
    let has_socket =
        |dialect: &&Dialect| matches!(dialect.endpoint, Endpoint::WebSocket { .. } | Endpoint::OpenWebSocket);
    if !dialects.iter().any(has_socket) {
        return Err(Refusal::UnknownPath);
    }
    let mut spoken = None;
    for dialect in dialects.iter().copied() {
        let Endpoint::WebSocket { token_header, .. } = dialect.endpoint else { continue };
        let name = HeaderName::from_static(token_header);
        if !headers.contains_key(&name) {
            continue;
        }
        if spoken.is_some() {
            return Err(Refusal::TwoTokens);
        }
        let offered = single_value(headers, &name).ok_or(Refusal::TwoTokens)?;
        spoken = Some((dialect, token.matches(offered)));
    }
    let without_token = || {
        let open = dialects.iter().copied().find(|dialect| dialect.endpoint == Endpoint::OpenWebSocket);
        open.filter(|_| at_root && is_websocket_upgrade(method, headers)).ok_or(Refusal::NoToken)
    };
    let dialect = match spoken {
        None => without_token()?,
        Some((_, false)) => return Err(Refusal::WrongToken),
        Some((dialect, true)) => dialect,
    };
    if !at_root {
        return Err(Refusal::UnknownPath);
    }
    if is_websocket_upgrade(method, headers) { Ok(dialect) } else { Err(Refusal::NotWebSocket) }
}

/// `scheme` is the word before the token, with its space.
fn authorized(headers: &HeaderMap, scheme: &[u8], token: &Token) -> Result<(), Refusal> {
    if !headers.contains_key(header::AUTHORIZATION) {
        return Err(Refusal::NoToken);
    }
    let offered = single_value(headers, &header::AUTHORIZATION).ok_or(Refusal::TwoTokens)?;
    let (offered_scheme, offered) = offered.split_at_checked(scheme.len()).ok_or(Refusal::WrongToken)?;
    let matches = offered_scheme.eq_ignore_ascii_case(scheme) && token.matches(offered);
    if matches { Ok(()) } else { Err(Refusal::WrongToken) }
}

/// Required only if the user has configured one; a wrong token is refused in any case.
fn optional_token(headers: &HeaderMap, name: &'static str, tokens: &Tokens) -> Result<(), Refusal> {
    let name = HeaderName::from_static(name);
    if !headers.contains_key(&name) {
        return if tokens.configured.is_some() { Err(Refusal::NoToken) } else { Ok(()) };
    }
    let offered = single_value(headers, &name).ok_or(Refusal::TwoTokens)?;
    let mut known = tokens.configured.iter().chain([&tokens.window]);
    if known.any(|token| token.matches(offered)) { Ok(()) } else { Err(Refusal::WrongToken) }
}

fn stream(method: &Method, headers: &HeaderMap) -> Result<RequestKind, Refusal> {
    match *method {
        Method::POST if !is_json(headers) => Err(Refusal::NotJson),
        Method::POST | Method::GET | Method::DELETE => Ok(RequestKind::Stream),
        _ => Err(Refusal::WrongMethod),
    }
}

fn call(method: &Method, headers: &HeaderMap, route: &'static Route) -> Result<RequestKind, Refusal> {
    let wanted = if route.frame.is_some() { Method::GET } else { Method::POST };
    match *method == wanted {
        false => Err(Refusal::WrongMethod),
        true if route.frame.is_none() && !is_json(headers) => Err(Refusal::NotJson),
        true => Ok(RequestKind::Call(route)),
    }
}

/// Whether the body is declared as JSON. An HTML form cannot do that: without a preflight request it can only use
/// other types.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = single_value(headers, &header::CONTENT_TYPE).and_then(|kind| std::str::from_utf8(kind).ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The name by which the caller addresses this port. A DNS name that resolves to our address is refused. So is an
/// address in the request line, which would override `Host`: only proxies are sent one.
pub(crate) fn host(headers: &HeaderMap, uri: &Uri, port: u16) -> Result<String, Refusal> {
    if uri.authority().is_some() {
        return Err(Refusal::WrongHost);
    }
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let host = single_value(headers, &header::HOST).ok_or(Refusal::WrongHost)?;
    let known = hosts.into_iter().find(|known| known.as_bytes().eq_ignore_ascii_case(host));
    known.ok_or(Refusal::WrongHost)
}

/// A Unix socket has no address, so only one name makes sense.
fn socket_host(headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
    let host = single_value(headers, &header::HOST).ok_or(Refusal::WrongHost)?;
    let known = uri.authority().is_none() && host.eq_ignore_ascii_case(b"localhost");
    if known { Ok(()) } else { Err(Refusal::WrongHost) }
}

/// Whether this requests a WebSocket.
pub(crate) fn is_websocket_upgrade(method: &Method, headers: &HeaderMap) -> bool {
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

/// The value of a header that may occur only once.
pub(crate) fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.as_bytes();
    values.next().is_none().then_some(first)
}
