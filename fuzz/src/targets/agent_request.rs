//! Whatever head a request to a window's port has, nobody from a browser and nobody without the token comes in, but
//! by the doors that know no token.
//!
//! The input is a method and a target, and header lines.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Uri};
use linkspan_dialect::{ALL, Endpoint};
use linkspan_hub::guard::{RequestHead, RequestKind, Tokens, admit, admit_on_socket};
use linkspan_hub::token::Token;

use crate::header;

const PORT: u16 = 4711;
const TOKEN: &str = "t0ken";

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut lines = text.lines();
    let Some((method, target)) = lines.next().and_then(|first| first.split_once(' ')) else { return };
    let (Ok(method), Ok(uri)) = (method.parse::<Method>(), target.parse::<Uri>()) else { return };
    let headers: HeaderMap = lines.filter_map(header).collect();
    let token = |text: &str| Token::remembered(text.to_owned());
    for set in [None, Some("set")] {
        let tokens = Tokens { window: token(TOKEN), configured: set.map(token) };
        let head = RequestHead { method: &method, uri: &uri, headers: &headers };
        on_socket(&head, &tokens);
        let Ok((dialect, way)) = admit(&head, PORT, &tokens, ALL) else { continue };
        assert_eq!(headers.get_all(HOST).iter().count(), 1);
        assert!(!headers.contains_key(ORIGIN));
        let sites = headers.get_all("sec-fetch-site").iter();
        assert!(sites.take(1).all(|site| site == "none"));
        let offers = |name: &str, wanted: &[&str]| {
            let offered: Vec<&HeaderValue> = headers.get_all(name).iter().collect();
            offered.len() == 1 && wanted.iter().any(|wanted| offered[0] == wanted)
        };
        match dialect.endpoint {
            Endpoint::WebSocket { token_header, .. } => {
                assert!(way == RequestKind::WebSocket && offers(token_header, &[TOKEN]));
            }
            Endpoint::OpenWebSocket => assert_eq!(way, RequestKind::WebSocket),
            Endpoint::Stream { path } => {
                assert_eq!(uri.path(), path);
                let bearer = headers[AUTHORIZATION].as_bytes();
                assert!(bearer[..7].eq_ignore_ascii_case(b"bearer ") && &bearer[7..] == TOKEN.as_bytes());
            }
            Endpoint::HttpRpc { token_header, .. } => {
                let known = offers(token_header, &[TOKEN, "set"]);
                assert!(known || (set.is_none() && !headers.contains_key(token_header)));
            }
            Endpoint::SocketStream { .. } | Endpoint::Local | Endpoint::Daemon | Endpoint::Child => {
                panic!("these have no door on a port")
            }
        }
    }
}

/// The same head on a window's Unix socket.
fn on_socket(head: &RequestHead<'_>, tokens: &Tokens) {
    let Ok((dialect, way)) = admit_on_socket(head, tokens, ALL) else { return };
    assert!(matches!(dialect.endpoint, Endpoint::SocketStream { path } if path == head.uri.path()));
    assert_eq!(way, RequestKind::Stream);
    assert!(head.headers[HOST].as_bytes().eq_ignore_ascii_case(b"localhost"));
    assert!(!head.headers.contains_key(ORIGIN));
    let nonce = head.headers[AUTHORIZATION].as_bytes();
    assert!(nonce[..6].eq_ignore_ascii_case(b"nonce ") && &nonce[6..] == TOKEN.as_bytes());
}
