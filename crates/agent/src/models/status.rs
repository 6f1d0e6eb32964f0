//! What an HTTP status of a model's server means for the user.

use std::time::Duration;

use serde_json::Value;

use super::ModelError;

pub(super) const TOO_LONG: &str = "The conversation is too long for the model.";

/// Of a server's own message.
const LONGEST: usize = 600;

/// What is known about a server that answered with an error.
#[derive(Debug)]
pub(super) struct Refusal<'a> {
    pub(super) provider: &'a str,
    pub(super) model: &'a str,
    pub(super) key_variable: Option<&'a str>,
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: &'a [u8],
}

impl Refusal<'_> {
    pub(super) fn error(&self) -> ModelError {
        let Refusal { provider, model, status, .. } = self;
        let said = match serde_json::from_slice::<Value>(self.body) {
            Ok(value) => message_of(&value),
            Err(_) => shortened(&String::from_utf8_lossy(self.body)),
        };
        let said = if said.is_empty() { "no explanation".to_owned() } else { said };
        let permanent = |message: String| ModelError::Permanent { message, too_long: false };
        let lower = said.to_lowercase();
        let is_key = matches!(status, 401 | 403)
            || lower.contains("api key not valid")
            || lower.contains("api_key_invalid");
        match status {
            _ if *status == 413 || ((400..=422).contains(status) && is_too_long(&said)) => {
                ModelError::Permanent { message: TOO_LONG.to_owned(), too_long: true }
            }
            _ if is_key => match self.key_variable {
                Some(variable) => permanent(format!(
                    "{provider} rejected the key ({status}: {said}). Put a valid key into {variable}, or choose another model with /model."
                )),
                None => permanent(format!(
                    "{provider} wants a key ({status}: {said}). Name its variable with `key_variable` under [providers.{provider}] in agent.toml."
                )),
            },
            404 => permanent(format!(
                "{provider} has no model `{model}` (404: {said}). Choose another one with /model or --model."
            )),
            429 if lower.contains("insufficient_quota") || lower.contains("exceeded your current quota") => {
                permanent(format!(
                    "{provider}: {said}. Add credit to the account, or choose another model with /model."
                ))
            }
            408 | 409 | 425 | 429 | 500..=599 => {
                let message = format!("{provider} answered {status}: {said}");
                ModelError::Transient { message, retry_after: self.retry_after }
            }
            300..=399 => permanent(format!(
                "{provider} redirects to another address ({status}), which is not followed. Correct its `base_url` in agent.toml."
            )),
            _ => permanent(format!("{provider} did not accept the request ({status}: {said}).")),
        }
    }
}

/// The servers' ways to say it; there is no status for it.
pub(super) fn is_too_long(message: &str) -> bool {
    let message = message.to_lowercase();
    let ways = [
        "prompt is too long",
        "context_length_exceeded",
        "maximum context length",
        "context window",
        "context length",
        "context size",
        "maximum number of tokens",
        "input token count",
        "too many tokens",
        "input is too long",
    ];
    ways.iter().any(|way| message.contains(way))
}

/// The text in an error body, in the shapes of all servers.
pub(super) fn message_of(value: &Value) -> String {
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").unwrap_or(value);
    let message = error.as_str().or_else(|| error.get("message")?.as_str());
    let code = error.get("code").and_then(Value::as_str).filter(|code| !code.is_empty());
    let message = message.map_or_else(|| error.to_string(), str::to_owned);
    match code {
        Some(code) if !message.contains(code) => shortened(&format!("{message} ({code})")),
        _ => shortened(&message),
    }
}

fn shortened(text: &str) -> String {
    let text = linkspan_client::visible::name(text.trim().trim_end_matches('.'));
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Of `Retry-After` and `Retry-After-Ms`. A date is not understood: the usual pause is made.
pub(super) fn retry_after(seconds: Option<&str>, milliseconds: Option<&str>) -> Option<Duration> {
    let number =
        |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let from_ms = milliseconds.and_then(number).map(|ms| ms / 1000.0);
    let seconds = from_ms.or_else(|| seconds.and_then(number))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &str) -> ModelError {
        let refusal = Refusal {
            provider: "openai",
            model: "gpt-x",
            key_variable: Some("OPENAI_API_KEY"),
            status,
            retry_after: Some(Duration::from_secs(7)),
            body: body.as_bytes(),
        };
        refusal.error()
    }

    fn permanent(status: u16, body: &str) -> String {
        match error(status, body) {
            ModelError::Permanent { message, too_long: false } => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_wrong_key_names_the_variable_and_a_wrong_model_the_model() {
        let key = permanent(401, r#"{"error":{"message":"Incorrect API key provided."}}"#);
        assert!(key.contains("401: Incorrect API key provided") && key.contains("OPENAI_API_KEY"), "{key}");
        let gemini = permanent(400, r#"[{"error":{"code":400,"message":"API key not valid."}}]"#);
        assert!(gemini.contains("OPENAI_API_KEY"), "{gemini}");
        let model = permanent(404, r#"{"error":"model 'gpt-x' not found"}"#);
        assert!(model.contains("has no model `gpt-x`"), "{model}");
    }

    #[test]
    fn every_way_to_say_too_long_is_understood() {
        for (status, body) in [
            (413, ""),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8"}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8 tokens","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#,
            ),
        ] {
            let expected = ModelError::Permanent { message: TOO_LONG.to_owned(), too_long: true };
            assert_eq!(error(status, body), expected, "{body}");
        }
    }

    #[test]
    fn a_busy_server_is_worth_another_try_and_an_empty_account_is_not() {
        for status in [429, 500, 503, 529] {
            let ModelError::Transient { message, retry_after } = error(status, "overloaded") else {
                panic!()
            };
            assert_eq!(
                (message, retry_after),
                (format!("openai answered {status}: overloaded"), Some(Duration::from_secs(7)))
            );
        }
        let quota = permanent(
            429,
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        );
        assert!(quota.contains("Add credit"), "{quota}");
    }

    #[test]
    fn what_a_server_says_cannot_control_the_terminal_or_fill_it() {
        let message = permanent(418, &format!("\u{1b}[2J{}", "x".repeat(10_000)));
        assert!(!message.contains('\u{1b}') && message.len() < 1000, "{message}");
    }

    #[test]
    fn the_pause_may_have_a_fraction_and_nonsense_is_ignored() {
        assert_eq!(retry_after(Some("2"), None), Some(Duration::from_secs(2)));
        assert_eq!(retry_after(Some("2"), Some("150")), Some(Duration::from_millis(150)));
        for odd in ["-1", "NaN", "Wed, 21 Oct 2026 07:28:00 GMT", "1e300", ""] {
            assert_eq!(retry_after(Some(odd), None), None, "{odd}");
        }
    }
}
