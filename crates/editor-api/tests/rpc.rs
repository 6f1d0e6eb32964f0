//! The envelope: what is a message, and what is said about what is not.

use linkspan_editor_api::{Message, ParseError, Ping, RequestId, ReviewClosed, RpcError, decode, errors};
use proptest::prelude::*;

fn parse(json: &str) -> Result<Message, ParseError> {
    Message::parse(json.as_bytes())
}

fn text(message: &Message) -> String {
    String::from_utf8_lossy(&message.to_bytes()).into_owned()
}

/// Parsed and written again, it is the same.
fn round_trip(json: &str) {
    assert_eq!(parse(json).map(|message| text(&message)), Ok(json.to_owned()));
}

/// What is answered to a message that cannot be taken.
fn answer(json: &str) -> String {
    parse(json).err().map(|error| text(&error.to_message())).unwrap_or_default()
}

#[test]
fn requests_notifications_and_responses_survive_a_round_trip() {
    round_trip(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#);
    round_trip(r#"{"jsonrpc":"2.0","id":"é","method":"ping","params":{"a":[1.50,"\u00e9"]}}"#);
    round_trip(r#"{"jsonrpc":"2.0","method":"detach","params":{}}"#);
    round_trip(r#"{"jsonrpc":"2.0","id":-3,"result":null}"#);
    round_trip(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#);
    round_trip(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}"#);
    round_trip(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#);
}

/// As a value it would not even stay itself: some numbers are read as others than they are written.
#[test]
fn the_data_of_an_error_is_left_out() {
    let data = r#","data":{"a":[1000.999999999999090]}"#;
    let error = |data: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32200,"message":"no"{data}}}}}"#)
    };
    assert_eq!(text(&parse(&error(data)).unwrap()), error(""));
}

#[test]
fn builders_write_the_names_of_the_table() {
    assert_eq!(
        text(&Message::request(RequestId::Number(1), &Ping {})),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#
    );
    assert_eq!(
        text(&Message::notification(&ReviewClosed { review: "r1".into() })),
        r#"{"jsonrpc":"2.0","method":"review/closed","params":{"review":"r1"}}"#
    );
    assert_eq!(
        text(&Message::response(RequestId::String("a".into()), &())),
        r#"{"jsonrpc":"2.0","id":"a","result":null}"#
    );
    assert_eq!(
        text(&Message::error(None, RpcError::new(errors::PARSE, "x"))),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#
    );
}

#[test]
fn missing_params_are_empty_ones() {
    for json in
        [r#"{"jsonrpc":"2.0","method":"detach"}"#, r#"{"jsonrpc":"2.0","method":"detach","params":null}"#]
    {
        let Message::Notification { params, .. } = parse(json).unwrap() else { panic!("{json}") };
        assert_eq!(params.get(), "{}");
    }
}

#[test]
fn an_error_that_is_null_is_no_error() {
    let message = parse(r#"{"jsonrpc":"2.0","id":1,"error":null,"result":5}"#).unwrap();
    assert!(matches!(message, Message::Response { result: Ok(_), .. }));
}

#[test]
fn what_is_not_json_is_answered_as_such_without_an_id() {
    for json in ["", "{", "nonsense", r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#] {
        assert!(answer(json).starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"#), "{json}");
    }
    assert!(matches!(Message::parse(b"\"\xff\""), Err(ParseError::Malformed(_))));
}

#[test]
fn json_that_is_no_message_is_an_invalid_request() {
    let invalid = [
        "null",
        "[]",
        r#"["2.0",1,"ping",{}]"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        "{}",
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","result":1}"#,
    ];
    for json in invalid {
        assert!(answer(json).starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#), "{json}");
    }
}

#[test]
fn an_invalid_request_is_answered_under_its_id() {
    let invalid = [
        r#"{"id":7,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":5}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":5}"#,
        r#"{"jsonrpc":"2.0","id":7}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#,
    ];
    for json in invalid {
        assert!(answer(json).starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"#), "{json}");
    }
}

#[test]
fn an_id_has_at_most_256_bytes() {
    let with = |length: usize| {
        parse(&format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(length)))
    };
    assert!(with(256).is_ok());
    assert!(matches!(with(257), Err(ParseError::Invalid { id: None, .. })));
}

#[test]
fn params_that_do_not_fit_say_what_is_missing() {
    let Message::Notification { params, .. } =
        parse(r#"{"jsonrpc":"2.0","method":"review/closed"}"#).unwrap()
    else {
        panic!("not a notification")
    };
    let error = decode::<ReviewClosed>(&params).unwrap_err();
    assert_eq!(error.code, errors::INVALID_PARAMS);
    assert!(error.message.contains("review"), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = Message::parse(&bytes) {
            error.to_message().to_bytes();
        }
    }

    #[test]
    fn a_damaged_message_never_panics(at in 0_usize..60, byte in any::<u8>()) {
        let mut bytes = br#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"a":1}}"#.to_vec();
        if let Some(slot) = bytes.get_mut(at) {
            *slot = byte;
        }
        if let Ok(message) = Message::parse(&bytes) {
            prop_assert!(Message::parse(&message.to_bytes()).is_ok());
        }
    }
}
