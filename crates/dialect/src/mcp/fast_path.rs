//! Parses the common kind of frame in one pass, however large it is. Leaves every other frame to `envelope`, which
//! reports what is wrong with it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, IgnoredAny, Visitor};
use serde::{Deserialize, Deserializer};

use super::arguments::{Arguments, Nesting};
use super::envelope::{LONGEST_ID, Message, Params, RequestId};

#[derive(Deserialize)]
struct Plain<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(default, deserialize_with = "some_id")]
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "of_a_call")]
    params: Option<Arguments<'a>>,
    /// Not used, but a key may not occur twice.
    #[serde(default)]
    result: IgnoredAny,
    #[serde(default)]
    error: IgnoredAny,
}

pub(super) fn read(frame: &str) -> Option<Message<'_>> {
    // Serde would accept an array as a struct, field by field.
    if !frame.trim_ascii_start().starts_with('{') {
        return None;
    }
    let Plain { jsonrpc, id, method, params, result: IgnoredAny, error: IgnoredAny } =
        serde_json::from_str(frame).ok()?;
    if jsonrpc != "2.0" {
        return None;
    }
    let params = params.map_or(Params::Unread(None), Params::Read);
    Some(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

/// The parameters of `tools/call`: the tool's own arguments are an object inside.
fn of_a_call<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arguments<'de>>, D::Error> {
    Arguments::nested(deserializer, Nesting::Key("arguments")).map(Some)
}

fn some_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RequestId>, D::Error> {
    deserializer.deserialize_any(Id).map(Some)
}

struct Id;

impl Visitor<'_> for Id {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_i64<E>(self, number: i64) -> Result<RequestId, E> {
        Ok(RequestId::Signed(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<RequestId, E> {
        Ok(i64::try_from(number).map_or(RequestId::Unsigned(number), RequestId::Signed))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RequestId, E> {
        if text.len() > LONGEST_ID {
            return Err(E::custom("a long id"));
        }
        Ok(RequestId::Text(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mcp::envelope;

    fn value() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "null",
            "7",
            "-7",
            "1.5",
            "-0",
            "18446744073709551615",
            "18446744073709551616",
            "true",
            r#""2.0""#,
            r#""a\n\u00e9\ud83d\ude00""#,
            r#""tools/call""#,
            "{}",
            r#"{"name":"x"}"#,
            r#"{"name":"x","arguments":{}}"#,
            r#"{"name":"x","arguments":{"path":"/a\\b","count":3,"list":[1,{"k":"v"}],"none":null}}"#,
            r#"{"arguments":null,"name":"y"}"#,
            r#"{"arguments":[1]}"#,
            r#"{"arguments":{"a":1},"arguments":{"b":2}}"#,
            r#"{"arguments":"text"}"#,
            r#"{"n\u0061me":"z"}"#,
            "[]",
            r#"["2.0",1]"#,
            "{",
            "nul",
        ])
        .prop_map(str::to_owned)
        .boxed()
        .prop_union(Just(format!("\"{}\"", "x".repeat(LONGEST_ID + 1))).boxed())
    }

    fn frame() -> impl Strategy<Value = String> {
        let keys = ["jsonrpc", "id", "method", "params", "result", "error", "other", r"m\u0065thod"];
        let field = (prop::sample::select(keys.to_vec()), value())
            .prop_map(|(key, value)| format!("\"{key}\":{value}"));
        let valid = Just(r#""jsonrpc":"2.0","method":"tools/call""#.to_owned());
        let fields = (prop::option::weighted(0.8, valid), prop::collection::vec(field, 0..4));
        fields.prop_map(|(valid, fields)| {
            let fields: Vec<String> = valid.into_iter().chain(fields).collect();
            format!("{{{}}}", fields.join(","))
        })
    }

    /// Everything that a tool can read from its arguments.
    fn meaning(message: Message<'_>) -> String {
        let (id, method, params) = match message {
            Message::Request { id, method, params } => (Some(id), method, params),
            Message::Notification { method, params } => (None, method, params),
            Message::Response { id } => return format!("response {id:?}"),
        };
        let read = params.read().map(|mut params| {
            let arguments = params.take_object("arguments");
            let mut names: Vec<String> = params.names().map(str::to_owned).collect();
            names.dedup();
            let inside = arguments.map(|arguments| {
                let path = arguments.optional_text("path").map(|path| path.map(Cow::into_owned));
                let list = arguments.raw("list").map(|list| list.get().to_owned());
                (
                    path,
                    list,
                    arguments.count("count"),
                    arguments.names().map(str::to_owned).collect::<Vec<_>>(),
                )
            });
            (params.optional_text("name").map(|name| name.map(Cow::into_owned)), inside, names)
        });
        format!("{id:?} {method} {read:?}")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn what_is_read_in_one_go_is_what_it_means(frame in frame()) {
            if let Some(message) = read(&frame) {
                let other = envelope::parse_each(&frame).map(meaning).map_err(|bad| bad.message);
                prop_assert_eq!(Ok(meaning(message)), other, "{}", frame);
            }
        }
    }

    #[test]
    fn a_call_is_read_in_one_go() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"openDiff","arguments":{"path":"a\tb"}}}"#;
        assert!(matches!(read(call), Some(Message::Request { params: Params::Read(_), .. })));
        let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
        assert!(matches!(read(ping), Some(Message::Request { params: Params::Unread(None), .. })));
    }
}
