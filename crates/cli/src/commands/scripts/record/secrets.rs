//! Removes secrets from a transcript: tokens in headers and bodies, and the same text everywhere else.

use linkspan_editor_api::wire_names::header;
use serde_json::Value;

pub(crate) const REDACTED: &str = "REDACTED";

/// Shorter secrets are removed only where they are named: elsewhere they would match parts of words.
const SHORTEST: usize = 6;

/// Headers whose value is a secret.
const HEADERS: [&str; 9] = [
    header::AUTHORIZATION,
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
    header::CLAUDE_TOKEN,
    header::NEXUS3_TOKEN,
    header::PPXAI_TOKEN,
];

/// Headers with a scheme before the secret.
const WITH_SCHEME: [&str; 2] = [header::AUTHORIZATION, "proxy-authorization"];

/// Members of messages whose value is a secret, in lower case and without punctuation. Exact names only: a
/// `progressToken` is not a secret.
const MEMBERS: [&str; 9] = [
    "accesstoken",
    "apikey",
    "authtoken",
    "clientsecret",
    "idtoken",
    "password",
    "refreshtoken",
    "secret",
    "token",
];

/// Parts of the names of secret query parameters.
const IN_ADDRESSES: [&str; 4] = ["token", "secret", "password", "apikey"];
/// Whole names of secret query parameters.
const WHOLE_IN_ADDRESSES: [&str; 6] = ["auth", "authorization", "code", "key", "sig", "signature"];

/// The secrets of a recording.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    known: Vec<String>,
}

/// Whether a header's value is a secret.
pub(crate) fn is_secret_header(name: &str) -> bool {
    HEADERS.iter().any(|secret| secret.eq_ignore_ascii_case(name.trim()))
}

fn is_secret_in_addresses(name: &str) -> bool {
    let name = plain(name);
    WHOLE_IN_ADDRESSES.contains(&name.as_str()) || IN_ADDRESSES.iter().any(|part| name.contains(part))
}

/// `Access_Token`, `access-token` and `accessToken` are equal.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|sign| sign.to_ascii_lowercase()).collect()
}

impl Secrets {
    pub(crate) fn learn(&mut self, secret: &str) {
        if secret.len() >= SHORTEST && secret != REDACTED && !self.known.iter().any(|known| known == secret) {
            self.known.push(secret.to_owned());
            // A longer secret may contain a shorter one.
            self.known.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// A header as it may be recorded.
    pub(crate) fn header(&mut self, header: &str) -> String {
        // A folded header (obsolete): the continuation of the previous line, which may be a secret.
        if header.starts_with([' ', '\t']) {
            return format!(" {REDACTED}");
        }
        let Some((name, value)) = header.split_once(':').filter(|(name, _)| is_secret_header(name)) else {
            return self.addresses(header);
        };
        let value = value.trim();
        self.learn(value);
        let is = |known: &str| known.eq_ignore_ascii_case(name.trim());
        if is("cookie") {
            value.split(';').for_each(|cookie| self.learn_cookie(cookie));
        } else if is("set-cookie") {
            // Attributes follow after the semicolon.
            self.learn_cookie(value.split(';').next().unwrap_or_default());
        }
        match value.split_once(' ').filter(|_| WITH_SCHEME.into_iter().any(is)) {
            Some((scheme, secret)) => {
                self.learn(secret.trim());
                format!("{name}: {scheme} {REDACTED}")
            }
            None => format!("{name}: {REDACTED}"),
        }
    }

    fn learn_cookie(&mut self, cookie: &str) {
        let value = cookie.split_once('=').map_or(cookie, |(_, value)| value);
        self.learn(value.trim().trim_matches('"'));
    }

    /// A text that contains URLs, such as a request line, without the secrets in their queries.
    pub(crate) fn addresses(&mut self, text: &str) -> String {
        let ends = |sign: char| "?&#;,<>\"' \t".contains(sign);
        let parts = text.split_inclusive(ends).map(|part| {
            let (pair, end) = part.split_at(part.trim_end_matches(ends).len());
            match pair.split_once('=') {
                Some((name, secret)) if is_secret_in_addresses(name) && !secret.is_empty() => {
                    self.learn(secret);
                    format!("{name}={REDACTED}{end}")
                }
                _ => part.to_owned(),
            }
        });
        parts.collect()
    }

    /// Learns the secrets of a message, and hides them.
    pub(crate) fn message(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(secret)
                            if MEMBERS.contains(&plain(key).as_str()) && !secret.is_empty() =>
                        {
                            self.learn(secret);
                            *secret = REDACTED.to_owned();
                        }
                        other => self.message(other),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.message(item)),
            _ => {}
        }
    }

    /// Hides every known secret in every text.
    pub(crate) fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hidden(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Value::Object(fields) => {
                let entries = std::mem::take(fields);
                fields.extend(entries.into_iter().map(|(key, mut value)| {
                    self.hide(&mut value);
                    (self.hidden(&key), value)
                }));
            }
            _ => {}
        }
    }

    fn hidden(&self, text: &str) -> String {
        self.known.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_hidden_where_it_is_named_and_everywhere_else() {
        let mut secrets = Secrets::default();
        assert_eq!(secrets.header("Authorization: Bearer abc-def-ghi"), "Authorization: Bearer REDACTED");
        assert_eq!(secrets.header("X-Ppxai-Token: t"), "X-Ppxai-Token: REDACTED");
        assert_eq!(secrets.header("Host: 127.0.0.1:1"), "Host: 127.0.0.1:1");
        let mut message =
            json!({ "a": [{ "authToken": "quiet-please", "token": 7 }], "abc-def-ghi": "x abc-def-ghi y" });
        secrets.message(&mut message);
        secrets.hide(&mut message);
        let expected = json!({ "a": [{ "authToken": "REDACTED", "token": 7 }], "REDACTED": "x REDACTED y" });
        assert_eq!(message, expected);
        let mut later = json!("quiet-please, t is a letter");
        secrets.hide(&mut later);
        assert_eq!(later, "REDACTED, t is a letter");
    }

    #[test]
    fn cookies_are_hidden_in_headers_and_everywhere_else() {
        let mut secrets = Secrets::default();
        assert_eq!(
            secrets.header("Set-Cookie: sid=first-word; Path=/home/me; HttpOnly"),
            "Set-Cookie: REDACTED"
        );
        assert_eq!(secrets.header("cookie: a=second-one; b=\"third-one\""), "cookie: REDACTED");
        let mut later = json!("first-word second-one third-one /home/me");
        secrets.hide(&mut later);
        assert_eq!(later, "REDACTED REDACTED REDACTED /home/me");
        assert_eq!(secrets.header("X-Api-Key: two words"), "X-Api-Key: REDACTED");
        assert_eq!(
            secrets.header("Proxy-Authorization: Basic dXNlcjpwYXNz"),
            "Proxy-Authorization: Basic REDACTED"
        );
    }

    #[test]
    fn secrets_in_addresses_are_hidden_by_their_names() {
        let mut secrets = Secrets::default();
        for (said, recorded) in [
            ("GET /a?x=1&Access_Token=abc==&y=2 HTTP/1.1", "GET /a?x=1&Access_Token=REDACTED&y=2 HTTP/1.1"),
            ("GET /?my-secret=s&key=k HTTP/1.1", "GET /?my-secret=REDACTED&key=REDACTED HTTP/1.1"),
            ("GET /?author=me&monkey=1 HTTP/1.1", "GET /?author=me&monkey=1 HTTP/1.1"),
            ("GET /?token= HTTP/1.1", "GET /?token= HTTP/1.1"),
        ] {
            assert_eq!(secrets.addresses(said), recorded);
        }
        let location = "Location: http://127.0.0.1:1/#id_token=of-a-header";
        assert_eq!(secrets.header(location), "Location: http://127.0.0.1:1/#id_token=REDACTED");
        let mut later = json!("it was of-a-header");
        secrets.hide(&mut later);
        assert_eq!(later, "it was REDACTED");
    }

    #[test]
    fn members_are_secret_however_they_are_written() {
        let mut message =
            json!({ "AUTHTOKEN": "a", "access_token": "b", "api-key": "c", "progressToken": "d" });
        Secrets::default().message(&mut message);
        let expected = json!({ "AUTHTOKEN": REDACTED, "access_token": REDACTED, "api-key": REDACTED, "progressToken": "d" });
        assert_eq!(message, expected);
    }
}
