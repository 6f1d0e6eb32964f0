//! What can be asked of the engine: one table of routes, the bodies, and the query. Pure.

use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::reply::Problem;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineRoute {
    Health,
    Status,
    Chat,
    CodingTask,
    Providers,
    SetProvider,
    Models,
    SetModel,
    Tools,
    SetTools,
    ConfigureTools,
    Usage,
    WorkingDir,
    AutoInject,
    SetAutoInject,
    Sessions,
    SaveSession,
    /// The name is the rest of the path.
    LoadSession,
    ClearSession,
    RegisterCallback,
}

const LOAD: &str = "/sessions/load/";

const ROUTES: [(Method, &str, EngineRoute); 20] = [
    (Method::GET, "/health", EngineRoute::Health),
    (Method::GET, "/status", EngineRoute::Status),
    (Method::POST, "/chat", EngineRoute::Chat),
    (Method::POST, "/coding_task", EngineRoute::CodingTask),
    (Method::GET, "/providers", EngineRoute::Providers),
    (Method::POST, "/providers", EngineRoute::SetProvider),
    (Method::GET, "/models", EngineRoute::Models),
    (Method::POST, "/models", EngineRoute::SetModel),
    (Method::GET, "/tools", EngineRoute::Tools),
    (Method::POST, "/tools", EngineRoute::SetTools),
    (Method::POST, "/tools/config", EngineRoute::ConfigureTools),
    (Method::GET, "/usage", EngineRoute::Usage),
    (Method::POST, "/context/working_dir", EngineRoute::WorkingDir),
    (Method::GET, "/context/auto_inject", EngineRoute::AutoInject),
    (Method::POST, "/context/auto_inject", EngineRoute::SetAutoInject),
    (Method::GET, "/sessions", EngineRoute::Sessions),
    (Method::POST, "/sessions/save", EngineRoute::SaveSession),
    (Method::POST, LOAD, EngineRoute::LoadSession),
    (Method::POST, "/sessions/clear", EngineRoute::ClearSession),
    (Method::POST, "/register-ide-callback", EngineRoute::RegisterCallback),
];

/// What is asked at this path, and the rest of the path.
pub(super) fn route<'a>(method: &Method, path: &'a str) -> Result<(EngineRoute, &'a str), Problem> {
    let rest_of = |pattern: &str| match path.strip_prefix(pattern) {
        Some(rest) if pattern == LOAD && !rest.is_empty() && !rest.contains('/') => Some(rest),
        Some("") if pattern != LOAD => Some(""),
        _ => None,
    };
    let mut known = false;
    for (wanted, pattern, route) in &ROUTES {
        if let Some(rest) = rest_of(pattern) {
            known = true;
            if wanted == method {
                return Ok((*route, rest));
            }
        }
    }
    if known {
        return Err(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path has another method"));
    }
    Err(Problem::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
}

/// The bodies of all requests: each route uses its own fields, and unknown fields are ignored.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RequestBody {
    pub(super) session: Option<String>,
    pub(super) message: Option<String>,
    pub(super) task_type: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) enabled: Option<bool>,
    pub(super) setting: Option<String>,
    pub(super) value: Option<Value>,
    pub(super) path: Option<String>,
    pub(super) name: Option<String>,
    pub(super) callback_url: Option<String>,
    #[serde(default)]
    pub(super) capabilities: Vec<String>,
}

impl RequestBody {
    pub(super) fn parse(bytes: &[u8]) -> Result<RequestBody, Problem> {
        if bytes.is_empty() {
            return Ok(RequestBody::default());
        }
        serde_json::from_slice(bytes).map_err(|error| Problem::bad(format!("the body is not valid: {error}")))
    }
}

/// A field that a route needs.
pub(super) fn required<T>(value: Option<T>, name: &str) -> Result<T, Problem> {
    value.ok_or_else(|| Problem::bad(format!("the field {name} is missing")))
}

/// One value of a query.
pub(super) fn query_value(query: Option<&str>, name: &str) -> Result<Option<String>, Problem> {
    let mut pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| decode(&value.replace('+', " "))).transpose()
}

/// Percent-encoding undone.
pub(super) fn decode(text: &str) -> Result<String, Problem> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.next().zip(rest.next()).and_then(|(high, low)| {
            let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            Some(digit(high)? * 16 + digit(low)?)
        });
        bytes.push(digits.ok_or_else(|| Problem::bad("the address has a wrong percent sign"))?);
    }
    String::from_utf8(bytes).map_err(|_| Problem::bad("the address is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_its_own_methods() {
        assert_eq!(route(&Method::GET, "/tools"), Ok((EngineRoute::Tools, "")));
        assert_eq!(route(&Method::POST, "/tools"), Ok((EngineRoute::SetTools, "")));
        assert_eq!(route(&Method::POST, "/sessions/load/a%20b"), Ok((EngineRoute::LoadSession, "a%20b")));
        let status = |method, path| route(&method, path).unwrap_err().status().as_u16();
        for method in [Method::OPTIONS, Method::HEAD, Method::PUT, Method::GET] {
            assert_eq!(status(method, "/chat"), 405);
        }
        for path in
            ["/", "/chat/", "/Chat", "/sessions/load/", "/sessions/load/a/b", "/sessions/load", "//chat"]
        {
            assert_eq!(status(Method::POST, path), 404, "{path}");
        }
    }

    #[test]
    fn a_query_is_decoded_or_refused() {
        assert_eq!(query_value(Some("a=1&name=x%20y+z"), "name"), Ok(Some("x y z".into())));
        assert_eq!(query_value(Some("a=1"), "name"), Ok(None));
        assert_eq!(query_value(None, "name"), Ok(None));
        for bad in ["name=%", "name=%4", "name=%zz", "name=%ff"] {
            assert!(query_value(Some(bad), "name").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_body_that_is_not_an_object_of_the_right_types_is_refused() {
        assert!(RequestBody::parse(b"{\"message\":\"x\",\"new\":[1]}").is_ok());
        for bad in ["[]x", "\"x\"", "{\"message\":1}", "{", "{\"enabled\":\"yes\"}"] {
            assert!(RequestBody::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
