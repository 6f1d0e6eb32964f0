//! What a request to the page's port is for, and whether it is admitted: decided from its head alone. Also parses the
//! cookie and the body.
//!
//! Pure. A browser says where a request comes from (`Origin`, `Sec-Fetch-*`); a page of any other origin, including
//! another port of this machine, gets nothing.

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, Uri};
use serde::Deserialize;

use crate::core::contract::Refusal;
use crate::edge::http::guard;

/// The largest body that is read.
pub const BODY_BYTES: usize = 1024;

/// An admitted request.
#[derive(Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub route: Route,
    /// Our address as the browser knows it: the only one that the page may talk to.
    pub host: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    Asset(Asset),
    /// Exchanges a link for a session.
    BeginSession,
    /// Asks whether there is a session.
    CheckSession,
    Socket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asset {
    Index,
    App,
    Chat,
    Diff,
    Style,
    ChatStyle,
    Icon,
}

/// Each path, its method, and what is there.
const ROUTES: [(&str, Method, Route); 10] = [
    ("/", Method::GET, Route::Asset(Asset::Index)),
    ("/app.js", Method::GET, Route::Asset(Asset::App)),
    ("/chat.js", Method::GET, Route::Asset(Asset::Chat)),
    ("/diff.js", Method::GET, Route::Asset(Asset::Diff)),
    ("/style.css", Method::GET, Route::Asset(Asset::Style)),
    ("/chat.css", Method::GET, Route::Asset(Asset::ChatStyle)),
    ("/icon.svg", Method::GET, Route::Asset(Asset::Icon)),
    ("/session", Method::POST, Route::BeginSession),
    ("/session", Method::GET, Route::CheckSession),
    ("/socket", Method::GET, Route::Socket),
];

/// The order matters: checks that reveal least about us come first.
pub fn admit(method: &Method, uri: &Uri, headers: &HeaderMap, port: u16) -> Result<PageRequest, Refusal> {
    let host = guard::host(headers, uri, port)?;
    let origin = RequestOrigin::of(headers, &host)?;
    let at_path = || ROUTES.iter().filter(|(path, ..)| *path == uri.path());
    if at_path().next().is_none() {
        return Err(Refusal::UnknownPath);
    }
    let (.., route) = at_path().find(|(_, known, _)| known == method).ok_or(Refusal::WrongMethod)?;
    match route {
        Route::Asset(Asset::Index) => {}
        // Other sites may only link to the page itself.
        _ if origin == RequestOrigin::CrossSiteNavigation => return Err(Refusal::OtherOrigin),
        Route::BeginSession | Route::Socket if origin != RequestOrigin::Named => {
            return Err(Refusal::OtherOrigin);
        }
        Route::Socket if !guard::is_websocket_upgrade(method, headers) => return Err(Refusal::NotWebSocket),
        _ => {}
    }
    Ok(PageRequest { route: *route, host })
}

/// The methods that a path accepts, for the `Allow` header.
pub fn methods_at(path: &str) -> String {
    let methods = ROUTES.iter().filter(|(known, ..)| *known == path).map(|(_, method, _)| method.as_str());
    methods.collect::<Vec<_>>().join(", ")
}

/// Where a request comes from, if that may be ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestOrigin {
    /// It names our own origin.
    Named,
    /// It names none, as the loading of a script or style does.
    Unnamed,
    /// The user followed a link on another site, or in another program.
    CrossSiteNavigation,
}

impl RequestOrigin {
    fn of(headers: &HeaderMap, host: &str) -> Result<RequestOrigin, Refusal> {
        let fetch = |name: &'static str| {
            let name = HeaderName::from_static(name);
            headers.contains_key(&name).then(|| guard::single_value(headers, &name).unwrap_or_default())
        };
        let (mode, dest) = (fetch("sec-fetch-mode"), fetch("sec-fetch-dest"));
        let framing: [&[u8]; 5] = [b"iframe", b"frame", b"embed", b"object", b"fencedframe"];
        if dest.is_some_and(|dest| framing.contains(&dest)) {
            return Err(Refusal::OtherOrigin);
        }
        let named = headers.contains_key(header::ORIGIN);
        let ours = format!("http://{host}");
        if named && guard::single_value(headers, &header::ORIGIN) != Some(ours.as_bytes()) {
            return Err(Refusal::OtherOrigin);
        }
        match fetch("sec-fetch-site") {
            None | Some(b"same-origin" | b"none") if named => Ok(RequestOrigin::Named),
            None | Some(b"same-origin" | b"none") => Ok(RequestOrigin::Unnamed),
            Some(_) if mode == Some(b"navigate") && dest == Some(b"document") => {
                Ok(RequestOrigin::CrossSiteNavigation)
            }
            Some(_) => Err(Refusal::OtherOrigin),
        }
    }
}

/// Named after the port, because a browser sends the cookies of one port to every other port of the host.
pub fn cookie_name(port: u16) -> String {
    format!("linkspan-{port}")
}

/// All values of our cookie: other ports of the host can set one with the same name.
pub fn cookies(headers: &HeaderMap, port: u16) -> impl Iterator<Item = &str> {
    let name = cookie_name(port);
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(found, _)| *found == name).map(|(_, value)| value)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkExchange {
    secret: String,
}

/// The link's secret in a body.
pub fn offered(body: &[u8]) -> Option<String> {
    serde_json::from_slice(body).ok().map(|LinkExchange { secret }| secret)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    const PORT: u16 = 4711;
    const OURS: &str = "http://127.0.0.1:4711";
    const GUARDED: [(&str, &str); 3] = [("POST", "/session"), ("GET", "/session"), ("GET", "/socket")];

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        };
        lines.iter().map(pair).collect()
    }

    /// With the headers of a browser's own request to open a socket, and these.
    fn ask(method: &str, target: &str, lines: &[(&str, &str)]) -> Result<Route, Refusal> {
        let upgrade = [
            ("host", "127.0.0.1:4711"),
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "x"),
        ];
        let headers = headers(&[&upgrade, lines].concat());
        let admitted = admit(&method.parse().unwrap(), &target.parse().unwrap(), &headers, PORT);
        admitted.map(|request| request.route)
    }

    #[test]
    fn everything_has_its_path_and_its_method() {
        for (path, method, route) in ROUTES {
            assert_eq!(ask(method.as_str(), path, &[("origin", OURS)]), Ok(route));
        }
        for path in ["/index.html", "//", "/app.js/", "/..", "/%2e", "/Session", "/app.ts", "*"] {
            assert_eq!(ask("GET", path, &[]), Err(Refusal::UnknownPath), "{path}");
        }
        for method in ["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "get"] {
            for (path, ..) in ROUTES {
                assert_eq!(ask(method, path, &[("origin", OURS)]), Err(Refusal::WrongMethod), "{method}");
            }
        }
        assert_eq!(ask("POST", "/", &[("origin", OURS)]), Err(Refusal::WrongMethod));
    }

    #[test]
    fn an_address_in_the_request_line_is_refused() {
        assert_eq!(ask("GET", "http://evil.example/", &[]), Err(Refusal::WrongHost));
        assert_eq!(ask("GET", "http://127.0.0.1:4711/", &[]), Err(Refusal::WrongHost));
    }

    #[test]
    fn another_origin_gets_nothing_not_even_from_another_port_of_this_machine() {
        for origin in [
            "null",
            "",
            "http://127.0.0.1",
            "http://127.0.0.1:4712",
            "https://127.0.0.1:4711",
            "http://localhost:4711",
            "http://evil.example",
            "HTTP://127.0.0.1:4711",
            "http://127.0.0.1:4711/",
            "http://127.0.0.1:4711, http://evil.example",
        ] {
            for (path, method, _) in ROUTES {
                let answer = ask(method.as_str(), path, &[("origin", origin)]);
                assert_eq!(answer, Err(Refusal::OtherOrigin), "{origin} {path}");
            }
        }
        let twice = [("origin", OURS), ("origin", OURS)];
        assert_eq!(ask("GET", "/", &twice), Err(Refusal::OtherOrigin));
    }

    #[test]
    fn a_request_that_changes_something_must_name_its_origin() {
        assert_eq!(ask("POST", "/session", &[]), Err(Refusal::OtherOrigin));
        assert_eq!(ask("GET", "/socket", &[]), Err(Refusal::OtherOrigin));
        assert_eq!(ask("GET", "/session", &[]), Ok(Route::CheckSession));
        assert_eq!(ask("GET", "/app.js", &[]), Ok(Route::Asset(Asset::App)));
    }

    #[test]
    fn a_browser_that_names_another_site_is_believed() {
        for site in ["cross-site", "same-site", "none, cross-site", "", "Same-Origin"] {
            for (path, method, _) in ROUTES {
                let lines = [("origin", OURS), ("sec-fetch-site", site), ("sec-fetch-mode", "cors")];
                assert_eq!(ask(method.as_str(), path, &lines), Err(Refusal::OtherOrigin), "{site} {path}");
            }
        }
        let twice = [("sec-fetch-site", "none"), ("sec-fetch-site", "none")];
        assert_eq!(ask("GET", "/", &twice), Err(Refusal::OtherOrigin));
        for site in ["same-origin", "none"] {
            assert_eq!(ask("GET", "/app.js", &[("sec-fetch-site", site)]), Ok(Route::Asset(Asset::App)));
        }
    }

    #[test]
    fn a_link_on_another_site_leads_to_the_document_and_to_nothing_else() {
        let navigation = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(ask("GET", "/", &navigation), Ok(Route::Asset(Asset::Index)));
        for (method, path) in GUARDED.into_iter().chain([("GET", "/app.js")]) {
            assert_eq!(ask(method, path, &navigation), Err(Refusal::OtherOrigin), "{path}");
            let named = [&navigation[..], &[("origin", OURS)]].concat();
            assert_eq!(ask(method, path, &named), Err(Refusal::OtherOrigin), "{path}");
        }
    }

    #[test]
    fn no_page_may_frame_it_not_even_itself() {
        for dest in ["iframe", "frame", "embed", "object", "fencedframe"] {
            let lines =
                [("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", dest)];
            assert_eq!(ask("GET", "/", &lines), Err(Refusal::OtherOrigin), "{dest}");
        }
    }

    #[test]
    fn every_cookie_of_our_name_is_found_and_no_other() {
        let find = |lines: &[(&str, &str)]| {
            let headers = headers(lines);
            cookies(&headers, PORT).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(find(&[("cookie", "linkspan-4711=a")]), ["a"]);
        assert_eq!(find(&[("cookie", "x=1; linkspan-4711=a=b;linkspan-4711=c")]), ["a=b", "c"]);
        assert_eq!(find(&[("cookie", "linkspan-4711=a"), ("cookie", "linkspan-4711=b")]), ["a", "b"]);
        for none in ["", "linkspan-4711", "linkspan-47110=a", "xlinkspan-4711=a", "Linkspan-4711=a", ";;="] {
            assert_eq!(find(&[("cookie", none)]), [""; 0], "{none}");
        }
    }

    #[test]
    fn only_json_with_a_secret_and_nothing_else_is_an_exchange() {
        assert_eq!(offered(br#"{"secret":"x"}"#).as_deref(), Some("x"));
        for body in ["", "{}", "[]", r#"{"secret":1}"#, r#"{"secret":"x","y":1}"#, r#"{"secret":"x"}{"#] {
            assert_eq!(offered(body.as_bytes()), None, "{body}");
        }
        let json = |kind| guard::is_json(&headers(&[("content-type", kind)]));
        assert!(json("application/json") && json("Application/JSON; charset=utf-8"));
        for kind in ["text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""] {
            assert!(!json(kind), "{kind}");
        }
        assert!(!guard::is_json(&headers(&[])));
    }
}
