//! Who may come in: decided from the connection and the request head alone, before anything else is read.
//!
//! Pure: the edge hands in what it saw and carries out the refusal.

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, StatusCode, Uri};
use linkspan_dialect::{Dialect, Door, Route};

use crate::token::Token;

/// Why someone was turned away; also the name of the counter in `linkspan status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    NotLoopback,
    OtherUser,
    NoDescriptors,
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
    NotJson,
    TooLarge,
    BrokenBody,
    SlowBody,
    NoRoom,
    NoSessionId,
    UnknownSession,
    UnknownProtocol,
    NotAcceptable,
}

impl Refusal {
    pub fn name(self) -> &'static str {
        match self {
            Refusal::NotLoopback => "notLoopback",
            Refusal::OtherUser => "otherUser",
            Refusal::NoDescriptors => "noDescriptors",
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
            Refusal::NotJson => "notJson",
            Refusal::TooLarge => "tooLarge",
            Refusal::BrokenBody => "brokenBody",
            Refusal::SlowBody => "slowBody",
            Refusal::NoRoom => "noRoom",
            Refusal::NoSessionId => "noSessionId",
            Refusal::UnknownSession => "unknownSession",
            Refusal::UnknownProtocol => "unknownProtocol",
            Refusal::NotAcceptable => "notAcceptable",
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
            Refusal::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Refusal::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }

    /// What a person who looks at the answer is told.
    pub fn message(self) -> &'static str {
        match self {
            Refusal::NotLoopback => "only this machine may connect",
            Refusal::OtherUser => "only processes of the user who owns this hub may connect",
            Refusal::NoDescriptors => {
                "the hub has no file descriptors left to find out who connects; close windows or agents, or start the hub \
                 with a larger `ulimit -n`"
            }
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
            Refusal::BrokenBody => "the body did not arrive whole, or is no UTF-8",
            Refusal::SlowBody => "the body did not arrive in time",
            Refusal::NoRoom => "too many large messages are on their way to the hub at once; send it later",
            Refusal::NotJson => "send JSON, with `Content-Type: application/json`",
            Refusal::TooLarge => "the body is larger than `limits.message_mib` allows",
            Refusal::NoSessionId => {
                "no session: begin with `initialize`, then send the Mcp-Session-Id of its answer"
            }
            Refusal::UnknownSession => "this session is over, or was never here: begin with `initialize`",
            Refusal::UnknownProtocol => "the MCP-Protocol-Version is none that this server speaks",
            Refusal::NotAcceptable => {
                "answers are application/json or text/event-stream, and a stream is the latter: accept that"
            }
            Refusal::BadBody => "the body must be JSON of at most 1 KiB, with the secret of a link",
        }
    }
}

/// What is known of a request when only its head was read.
#[derive(Debug)]
pub struct Head<'a> {
    pub method: &'a Method,
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
}

/// The secrets of one port.
#[derive(Debug)]
pub struct Tokens {
    /// The window's own, which its discovery files name.
    pub window: Token,
    /// The one that the person has set for the dialects that ask for a token only then.
    pub set: Option<Token>,
}

/// How the caller comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    WebSocket,
    /// One request to a stream, or for it.
    Stream,
    Call(&'static Route),
}

/// Which dialect the caller speaks, if it may come in at all. The order matters: what tells least about us is
/// checked first.
pub fn admit(
    head: &Head<'_>,
    port: u16,
    tokens: &Tokens,
    dialects: &[&'static Dialect],
) -> Result<(&'static Dialect, Way), Refusal> {
    let Head { method, uri, headers } = head;
    let path = uri.path();
    host(headers, uri, port)?;
    if headers.contains_key(header::ORIGIN) || fetched_by_a_page(headers) {
        return Err(Refusal::FromBrowser);
    }
    for dialect in dialects.iter().copied() {
        match dialect.door {
            Door::Stream { path: ours } if ours == path => {
                bearer(headers, &tokens.window)?;
                return stream(method, headers).map(|way| (dialect, way));
            }
            Door::Calls { token_header, routes } => {
                if let Some(route) = routes.iter().find(|route| route.path == path) {
                    optional_token(headers, token_header, tokens)?;
                    return call(method, headers, route).map(|way| (dialect, way));
                }
            }
            _ => {}
        }
    }
    web_socket(head, &tokens.window, dialects).map(|dialect| (dialect, Way::WebSocket))
}

/// Browsers send no `Origin` with a picture, a script or a frame, but they say that a page asked for it. Libraries
/// send some of these headers too; not this one.
fn fetched_by_a_page(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "none")
}

fn web_socket(
    head: &Head<'_>,
    token: &Token,
    dialects: &[&'static Dialect],
) -> Result<&'static Dialect, Refusal> {
    let Head { method, uri, headers } = head;
    let at_root = uri.path() == "/";
    let has_socket =
        |dialect: &&Dialect| matches!(dialect.door, Door::WebSocket { .. } | Door::OpenWebSocket);
    if !dialects.iter().any(has_socket) {
        return Err(Refusal::UnknownPath);
    }
    let mut spoken = None;
    for dialect in dialects.iter().copied() {
        let Door::WebSocket { token_header, .. } = dialect.door else { continue };
        let name = HeaderName::from_static(token_header);
        if !headers.contains_key(&name) {
            continue;
        }
        if spoken.is_some() {
            return Err(Refusal::TwoTokens);
        }
        let offered = only(headers, &name).ok_or(Refusal::TwoTokens)?;
        spoken = Some((dialect, token.matches(offered)));
    }
    let without_token = || {
        let open = dialects.iter().copied().find(|dialect| dialect.door == Door::OpenWebSocket);
        open.filter(|_| at_root && upgrades(method, headers)).ok_or(Refusal::NoToken)
    };
    let dialect = match spoken {
        None => without_token()?,
        Some((_, false)) => return Err(Refusal::WrongToken),
        Some((dialect, true)) => dialect,
    };
    if !at_root {
        return Err(Refusal::UnknownPath);
    }
    if upgrades(method, headers) { Ok(dialect) } else { Err(Refusal::NotWebSocket) }
}

fn bearer(headers: &HeaderMap, token: &Token) -> Result<(), Refusal> {
    if !headers.contains_key(header::AUTHORIZATION) {
        return Err(Refusal::NoToken);
    }
    let offered = only(headers, &header::AUTHORIZATION).ok_or(Refusal::TwoTokens)?;
    let (scheme, offered) = offered.split_at_checked(b"Bearer ".len()).ok_or(Refusal::WrongToken)?;
    let matches = scheme.eq_ignore_ascii_case(b"Bearer ") && token.matches(offered);
    if matches { Ok(()) } else { Err(Refusal::WrongToken) }
}

/// Asked for only where the person has set one; a wrong one is wrong all the same.
fn optional_token(headers: &HeaderMap, name: &'static str, tokens: &Tokens) -> Result<(), Refusal> {
    let name = HeaderName::from_static(name);
    if !headers.contains_key(&name) {
        return if tokens.set.is_some() { Err(Refusal::NoToken) } else { Ok(()) };
    }
    let offered = only(headers, &name).ok_or(Refusal::TwoTokens)?;
    let mut known = tokens.set.iter().chain([&tokens.window]);
    if known.any(|token| token.matches(offered)) { Ok(()) } else { Err(Refusal::WrongToken) }
}

fn stream(method: &Method, headers: &HeaderMap) -> Result<Way, Refusal> {
    match *method {
        Method::POST if !is_json(headers) => Err(Refusal::NotJson),
        Method::POST | Method::GET | Method::DELETE => Ok(Way::Stream),
        _ => Err(Refusal::WrongMethod),
    }
}

fn call(method: &Method, headers: &HeaderMap, route: &'static Route) -> Result<Way, Refusal> {
    let wanted = if route.frame.is_some() { Method::GET } else { Method::POST };
    match *method == wanted {
        false => Err(Refusal::WrongMethod),
        true if route.frame.is_none() && !is_json(headers) => Err(Refusal::NotJson),
        true => Ok(Way::Call(route)),
    }
}

/// Whether the body says that it is JSON. A form cannot: what it may claim without asking first is another type.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, &header::CONTENT_TYPE).and_then(|kind| std::str::from_utf8(kind).ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// By which of our names the caller knows this port. A DNS name that was bound to our address is none. An address in
/// the request line would count instead of `Host`: only proxies are sent one.
pub(crate) fn host(headers: &HeaderMap, uri: &Uri, port: u16) -> Result<String, Refusal> {
    if uri.authority().is_some() {
        return Err(Refusal::WrongHost);
    }
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
