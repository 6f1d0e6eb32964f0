//! Whatever head a request to the page has, only one from our own origin gets further than the document; a cookie is
//! one that was sent, and a secret reads back as it was offered.
//!
//! The input is a method and a target, header lines, an empty line and a body.

use hyper::header::{COOKIE, HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Uri};
use linkspan_hub::guard::is_json;
use linkspan_hub::page::routes::{Asset, Route, admit, cookies, offered};

use crate::header;

const PORT: u16 = 4711;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let Some((method, target)) = lines.next().and_then(|first| first.split_once(' ')) else { return };
    let (Ok(method), Ok(uri)) = (method.parse::<Method>(), target.parse::<Uri>()) else { return };
    let headers: HeaderMap = lines.filter_map(header).collect();

    if let Ok(wanted) = admit(&method, &uri, &headers, PORT) {
        assert!(["127.0.0.1:4711", "localhost:4711"].contains(&wanted.host.as_str()));
        assert_eq!(headers.get_all(HOST).iter().count(), 1);
        let origins: Vec<&HeaderValue> = headers.get_all(ORIGIN).iter().collect();
        assert!(origins.iter().all(|origin| **origin == format!("http://{}", wanted.host)));
        assert!(uri.authority().is_none());
        if matches!(wanted.route, Route::BeginSession | Route::Socket) {
            assert_eq!(origins.len(), 1);
        }
        if wanted.route != Route::Asset(Asset::Index) {
            let sites = headers.get_all("sec-fetch-site").iter();
            assert!(sites.map(HeaderValue::as_bytes).all(|site| site == b"same-origin" || site == b"none"));
        }
        assert_ne!(headers.get("sec-fetch-dest").map(HeaderValue::as_bytes), Some(&b"iframe"[..]));
    }
    for cookie in cookies(&headers, PORT) {
        let pair = format!("linkspan-{PORT}={cookie}");
        let sent = |line: &HeaderValue| line.to_str().is_ok_and(|line| line.contains(&pair));
        assert!(headers.get_all(COOKIE).iter().any(sent), "{pair}");
        assert!(!cookie.contains(';'));
    }
    is_json(&headers);
    if let Some(secret) = offered(body.as_bytes()) {
        let again = serde_json::json!({ "secret": secret }).to_string();
        assert_eq!(offered(again.as_bytes()), Some(secret));
    }
}
