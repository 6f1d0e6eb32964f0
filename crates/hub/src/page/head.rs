//! What a request to the page's port may do, told from its head alone; and the few things it carries.
//!
//! Pure. A browser says where a request comes from (`Origin`, `Sec-Fetch-*`); a page of any other origin, another
//! port of this machine included, gets nothing.

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, Uri};
use serde::Deserialize;

use crate::guard::{self, Refusal};

/// The largest body that is read.
pub const BODY_BYTES: usize = 1024;

/// A request that is let in.
#[derive(Debug, PartialEq, Eq)]
pub struct Wanted {
    pub what: What,
    /// As the browser calls us: the only address that the page may talk to.
    pub host: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Asset(Asset),
    /// Exchanges a link for a session.
    BeginSession,
    /// Asks whether there is a session.
    LookAtSession,
    Socket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asset {
    Index,
    App,
    Diff,
    Style,
    Icon,
}

/// What is at each path, and how it is asked for.
const PATHS: [(&str, Method, What); 8] = [
    ("/", Method::GET, What::Asset(Asset::Index)),
    ("/app.js", Method::GET, What::Asset(Asset::App)),
    ("/diff.js", Method::GET, What::Asset(Asset::Diff)),
    ("/style.css", Method::GET, What::Asset(Asset::Style)),
    ("/icon.svg", Method::GET, What::Asset(Asset::Icon)),
    ("/session", Method::POST, What::BeginSession),
    ("/session", Method::GET, What::LookAtSession),
    ("/socket", Method::GET, What::Socket),
];

/// The order matters: what tells least about us is checked first.
pub fn admit(method: &Method, uri: &Uri, headers: &HeaderMap, port: u16) -> Result<Wanted, Refusal> {
    let host = guard::host(headers, port)?;
    // An address in the request line would count instead of `Host`; browsers never send one.
    if uri.authority().is_some() {
        return Err(Refusal::WrongHost);
    }
    let origin = Origin::of(headers, &host)?;
    let at_path = || PATHS.iter().filter(|(path, ..)| *path == uri.path());
    if at_path().next().is_none() {
        return Err(Refusal::UnknownPath);
    }
    let (.., what) = at_path().find(|(_, known, _)| known == method).ok_or(Refusal::WrongMethod)?;
    match what {
        What::Asset(Asset::Index) => {}
        // Only the page itself may be led to from elsewhere.
        _ if origin == Origin::LedHere => return Err(Refusal::OtherOrigin),
        What::BeginSession | What::Socket if origin != Origin::Named => return Err(Refusal::OtherOrigin),
        What::Socket if !guard::upgrades(method, headers) => return Err(Refusal::NotWebSocket),
        _ => {}
    }
    Ok(Wanted { what: *what, host })
}

/// Where a request comes from that may be ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It names our own origin.
    Named,
    /// It names none, as the loading of a script or style does.
    Unnamed,
    /// A person followed a link on another site, or in another program.
    LedHere,
}

impl Origin {
    fn of(headers: &HeaderMap, host: &str) -> Result<Origin, Refusal> {
        let fetch = |name: &'static str| {
            let name = HeaderName::from_static(name);
            headers.contains_key(&name).then(|| guard::only(headers, &name).unwrap_or_default())
        };
        let (mode, dest) = (fetch("sec-fetch-mode"), fetch("sec-fetch-dest"));
        let framing: [&[u8]; 5] = [b"iframe", b"frame", b"embed", b"object", b"fencedframe"];
        if dest.is_some_and(|dest| framing.contains(&dest)) {
            return Err(Refusal::OtherOrigin);
        }
        let named = headers.contains_key(header::ORIGIN);
        let ours = format!("http://{host}");
        if named && guard::only(headers, &header::ORIGIN) != Some(ours.as_bytes()) {
            return Err(Refusal::OtherOrigin);
        }
        match fetch("sec-fetch-site") {
            None | Some(b"same-origin" | b"none") if named => Ok(Origin::Named),
            None | Some(b"same-origin" | b"none") => Ok(Origin::Unnamed),
            Some(_) if mode == Some(b"navigate") && dest == Some(b"document") => Ok(Origin::LedHere),
            Some(_) => Err(Refusal::OtherOrigin),
        }
    }
}

/// Named by the port, because a browser sends the cookies of one port to every other port of the host.
pub fn cookie_name(port: u16) -> String {
    format!("linkspan-{port}")
}

/// All values of our cookie: other ports of the host can set one of the same name beside ours.
pub fn cookies<'a>(headers: &'a HeaderMap, port: u16) -> impl Iterator<Item = &'a str> {
    let name = cookie_name(port);
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(found, _)| *found == name).map(|(_, value)| value)
}

/// Whether the body says that it is JSON. A form cannot: what it may claim without asking first is another type.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = guard::only(headers, &header::CONTENT_TYPE).and_then(|kind| str::from_utf8(kind).ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    secret: String,
}

/// The link's secret that a body offers.
pub fn offered(body: &[u8]) -> Option<String> {
    serde_json::from_slice(body).ok().map(|Exchange { secret }| secret)
}
