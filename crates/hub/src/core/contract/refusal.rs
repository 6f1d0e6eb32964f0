//! Why a connection or a request was rejected before it reached `core`. The guard adds the HTTP status of each.

/// Why a connection or a request was rejected. Its name is also the name of a counter in `linkspan status`.
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
    SessionInUse,
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
            Refusal::SessionInUse => "sessionInUse",
            Refusal::UnknownProtocol => "unknownProtocol",
            Refusal::NotAcceptable => "notAcceptable",
        }
    }

    /// For a person who reads the response.
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
            Refusal::WrongHost => {
                "the Host header must name 127.0.0.1 or localhost and this port; on a Unix socket, localhost"
            }
            Refusal::FromBrowser => "requests with an Origin (web pages) are not served",
            Refusal::NoToken => {
                "no token: send the authToken of the discovery file in the dialect's own header"
            }
            Refusal::WrongToken => "wrong token: read the discovery file again",
            Refusal::TwoTokens => "tokens of two dialects in one request",
            Refusal::NotWebSocket => "this is a WebSocket endpoint: connect with a WebSocket client",
            Refusal::UnknownPath => "nothing is served at this path",
            Refusal::OtherOrigin => "only the page itself may request this, not a page of another site",
            Refusal::NoSession => "this browser has no access: get a link with `linkspan page`",
            Refusal::WrongLink => {
                "this link was already used or has expired: get another with `linkspan page`"
            }
            Refusal::WrongMethod => "method not allowed for this path",
            Refusal::BrokenBody => "the body is incomplete or not valid UTF-8",
            Refusal::SlowBody => "the body did not arrive in time",
            Refusal::NoRoom => "too many large messages are on their way to the hub at once; send it later",
            Refusal::NotJson => "send JSON, with `Content-Type: application/json`",
            Refusal::TooLarge => "the body is larger than `limits.message_mib` allows",
            Refusal::NoSessionId => {
                "no session: begin with `initialize`, then send the Mcp-Session-Id of its answer"
            }
            Refusal::UnknownSession => "this session has ended or never existed: begin with `initialize`",
            Refusal::SessionInUse => {
                "an agent with this session id is connected: end its session with DELETE, or choose another id"
            }
            Refusal::UnknownProtocol => "this server does not support that MCP-Protocol-Version",
            Refusal::NotAcceptable => {
                "responses are application/json, or text/event-stream for a stream: list them in Accept"
            }
            Refusal::BadBody => "the body must be JSON of at most 1 KiB, with the secret of a link",
        }
    }
}
