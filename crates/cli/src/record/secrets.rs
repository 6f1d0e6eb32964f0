//! What must not stand in a transcript: tokens in headers and bodies, and the same text wherever it comes again.

use serde_json::Value;

pub(crate) const REDACTED: &str = "REDACTED";

/// Shorter ones are taken out of their own place only: everywhere else they would be parts of words.
const SHORTEST: usize = 6;

/// Headers whose value is a secret, or has one behind the name of its scheme.
const HEADERS: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-claude-code-ide-authorization",
    "x-nexus3-ide-authorization",
    "x-ppxai-token",
];

/// Members of messages whose value is a secret.
const MEMBERS: [&str; 4] = ["authToken", "auth_token", "token", "accessToken"];

/// The secrets of a recording.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    known: Vec<String>,
}

/// Whether a header's value is a secret.
pub(crate) fn is_secret_header(name: &str) -> bool {
    HEADERS.iter().any(|secret| secret.eq_ignore_ascii_case(name.trim()))
}

impl Secrets {
    pub(crate) fn learn(&mut self, secret: &str) {
        if secret.len() >= SHORTEST && secret != REDACTED && !self.known.iter().any(|known| known == secret) {
            self.known.push(secret.to_owned());
            // A longer one may hold a shorter one.
            self.known.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// A header as it may be recorded.
    pub(crate) fn header(&mut self, header: &str) -> String {
        let Some((name, value)) = header.split_once(':').filter(|(name, _)| is_secret_header(name)) else {
            return header.to_owned();
        };
        let value = value.trim();
        self.learn(value);
        match value.split_once(' ') {
            Some((scheme, secret)) => {
                self.learn(secret.trim());
                format!("{name}: {scheme} {REDACTED}")
            }
            None => format!("{name}: {REDACTED}"),
        }
    }

    /// Learns what a message has to hide, and hides it.
    pub(crate) fn message(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(secret) if MEMBERS.contains(&key.as_str()) && !secret.is_empty() => {
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

    /// Takes every known secret out of every text.
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
    fn a_secret_is_hidden_where_it_is_named_and_wherever_it_comes_again() {
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
}
