//! Who may ask the engine: decided from the head of a request alone, before its body is read. Pure. The original answers
//! any web page; here a page, another user and another machine are refused.

use constant_time_eq::constant_time_eq;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, StatusCode, Uri};
use linkspan_client::ppxai::TOKEN_VARIABLE;
use linkspan_editor_api::wire_names::header::PPXAI_TOKEN;

use super::reply::Problem;

/// Whether the sender of this head may ask.
pub(super) fn admit(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    port: u16,
    token: Option<&str>,
) -> Result<(), Problem> {
    host(headers, uri, port)?;
    if headers.contains_key(header::ORIGIN)
        || headers.get("sec-fetch-site").is_some_and(|site| site != "none")
    {
        return Err(Problem::new(StatusCode::FORBIDDEN, "requests of web pages are refused"));
    }
    if let Some(token) = token {
        authorized(headers, token)?;
    }
    if *method == Method::POST && !is_json(headers) {
        let why = "a body must be declared as application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    Ok(())
}

/// A DNS name that resolves to our address is refused, and so is an address in the request line, which would override
/// `Host`.
fn host(headers: &HeaderMap, uri: &Uri, port: u16) -> Result<(), Problem> {
    let known = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let is_ours = uri.authority().is_none()
        && single(headers, &header::HOST)
            .is_some_and(|host| known.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(host)));
    if is_ours {
        return Ok(());
    }
    let why = format!("the Host header must be 127.0.0.1:{port} or localhost:{port}");
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, why))
}

fn authorized(headers: &HeaderMap, token: &str) -> Result<(), Problem> {
    let of_ppxai = single(headers, &HeaderName::from_static(PPXAI_TOKEN));
    let bearer = single(headers, &header::AUTHORIZATION).and_then(|value| {
        let (scheme, offered) = value.split_at_checked(b"Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then_some(offered)
    });
    match of_ppxai.or(bearer) {
        Some(offered) if constant_time_eq(offered, token.as_bytes()) => Ok(()),
        Some(_) => Err(Problem::new(StatusCode::UNAUTHORIZED, "the token is wrong")),
        None => {
            let why =
                format!("a token is required: send that of {TOKEN_VARIABLE} in the header {PPXAI_TOKEN}");
            Err(Problem::new(StatusCode::UNAUTHORIZED, why))
        }
    }
}

/// An HTML form cannot declare JSON. A request that declares no type has no body, which is checked when it is read.
fn is_json(headers: &HeaderMap) -> bool {
    if !headers.contains_key(header::CONTENT_TYPE) {
        return true;
    }
    let kind = single(headers, &header::CONTENT_TYPE).and_then(|kind| std::str::from_utf8(kind).ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The value of a header that may occur only once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.as_bytes();
    values.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn head(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn answer(method: Method, uri: &str, lines: &[(&'static str, &str)], token: Option<&str>) -> u16 {
        match admit(&method, &uri.parse().unwrap(), &head(lines), 54320, token) {
            Ok(()) => 200,
            Err(problem) => problem.status().as_u16(),
        }
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:54320");
    const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

    #[test]
    fn only_our_own_names_are_hosts() {
        for good in ["127.0.0.1:54320", "localhost:54320", "LOCALHOST:54320"] {
            assert_eq!(answer(Method::GET, "/status", &[("host", good)], None), 200);
        }
        for bad in ["127.0.0.1", "localhost:54321", "evil.example:54320", "[::1]:54320", ""] {
            assert_eq!(answer(Method::GET, "/status", &[("host", bad)], None), 421, "{bad}");
        }
        assert_eq!(answer(Method::GET, "/status", &[], None), 421);
        assert_eq!(answer(Method::GET, "/status", &[HOST, HOST], None), 421);
        assert_eq!(answer(Method::GET, "http://127.0.0.1:54320/status", &[HOST], None), 421);
    }

    #[test]
    fn a_web_page_is_refused_whatever_it_sends() {
        for origin in ["null", "http://127.0.0.1:54320", "https://evil.example"] {
            assert_eq!(answer(Method::POST, "/chat", &[HOST, JSON, ("origin", origin)], None), 403);
        }
        assert_eq!(answer(Method::GET, "/usage", &[HOST, ("sec-fetch-site", "cross-site")], None), 403);
        assert_eq!(answer(Method::GET, "/usage", &[HOST, ("sec-fetch-site", "none")], None), 200);
    }

    #[test]
    fn a_body_must_be_declared_as_json() {
        assert_eq!(answer(Method::POST, "/chat", &[HOST, JSON], None), 200);
        for bad in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
        {
            assert_eq!(answer(Method::POST, "/chat", &[HOST, ("content-type", bad)], None), 415, "{bad}");
        }
        assert_eq!(answer(Method::POST, "/chat", &[HOST, JSON, ("content-type", "text/plain")], None), 415);
    }

    #[test]
    fn a_token_that_is_set_is_required() {
        let with = |line| answer(Method::GET, "/status", &[HOST, line], Some("secret"));
        assert_eq!(answer(Method::GET, "/status", &[HOST], Some("secret")), 401);
        assert_eq!(with(("x-ppxai-token", "secret")), 200);
        assert_eq!(with(("authorization", "bearer secret")), 200);
        for wrong in ["", "secre", "secrets", "SECRET"] {
            assert_eq!(with(("x-ppxai-token", wrong)), 401, "{wrong}");
        }
        assert_eq!(with(("authorization", "Basic secret")), 401);
    }
}
