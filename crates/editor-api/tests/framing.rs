//! Framing, however the bytes arrive.

use linkspan_editor_api::{Decoder, FramingError, Limits, encode};
use proptest::prelude::*;

const LIMITS: Limits = Limits { header: 4096, body: 1000 };

/// Everything the decoder gives when the stream arrives in these pieces, and its error if it ends with one.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Option<FramingError>) {
    let mut decoder = Decoder::new(LIMITS);
    let mut bodies = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.next() {
                Ok(Some(body)) => bodies.push(body),
                Ok(None) => break,
                Err(error) => return (bodies, Some(error)),
            }
        }
    }
    (bodies, None)
}

fn error_of(stream: &str) -> Option<FramingError> {
    read([stream.as_bytes()]).1
}

#[test]
fn a_message_is_its_length_and_its_bytes() {
    assert_eq!(encode("é".as_bytes()), "Content-Length: 2\r\n\r\né".as_bytes());
    assert_eq!(encode(b""), b"Content-Length: 0\r\n\r\n");
}

#[test]
fn header_names_have_no_case_and_a_content_type_is_ignored() {
    let stream = "content-type: application/vscode-jsonrpc; charset=utf-8\r\nCONTENT-LENGTH:2\r\n\r\nhi";
    assert_eq!(read([stream.as_bytes()]), (vec![b"hi".to_vec()], None));
}

#[test]
fn nothing_else_is_a_header() {
    let bad = |line: &str| Some(FramingError::BadHeader { line: line.into() });
    assert_eq!(error_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), bad("GET / HTTP/1.1"));
    assert_eq!(error_of("Content-Length: 2\r\nHost: x\r\n\r\nhi"), bad("Host: x"));
    assert_eq!(error_of("Content-Length: +2\r\n\r\nhi"), bad("Content-Length: +2"));
    assert_eq!(error_of("Content-Length: -2\r\n\r\nhi"), bad("Content-Length: -2"));
    assert_eq!(error_of("Content-Length: \r\n\r\nhi"), bad("Content-Length: "));
    assert_eq!(error_of("Content-Length : 2\r\n\r\nhi"), bad("Content-Length : 2"));
    assert_eq!(
        error_of("Content-Length: 99999999999999999999999\r\n\r\n"),
        bad("Content-Length: 99999999999999999999999")
    );
    assert_eq!(
        error_of("Content-Length: 2\nContent-Type: x\r\n\r\nhi"),
        bad("Content-Length: 2\nContent-Type: x")
    );
}

#[test]
fn exactly_one_length_is_needed() {
    assert_eq!(error_of("Content-Type: x\r\n\r\n"), Some(FramingError::NoLength));
    assert_eq!(error_of("Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi"), Some(FramingError::TwoLengths));
}

#[test]
fn a_header_without_end_is_refused_at_the_limit() {
    let endless = "Content-Type: ".to_owned() + &"x".repeat(5000);
    assert_eq!(error_of(&endless), Some(FramingError::HeaderTooLong { limit: 4096 }));
    let late_end = endless + "\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(error_of(&late_end), Some(FramingError::HeaderTooLong { limit: 4096 }));
}

#[test]
fn large_messages_are_whole_whatever_comes_before_and_after_them() {
    let sizes = [3, 200_000, 1, 70_000, 70_000, 300_000, 0, 90_000];
    let bodies: Vec<Vec<u8>> = (1..).zip(sizes).map(|(number, size)| vec![number; size]).collect();
    let stream: Vec<u8> = bodies.iter().flat_map(|body| encode(body)).collect();
    for piece in [stream.len(), 100_000, 16 * 1024, 999] {
        let mut decoder = Decoder::new(Limits::default());
        let mut read = Vec::new();
        for bytes in stream.chunks(piece) {
            decoder.push(bytes);
            while let Some(body) = decoder.next().unwrap() {
                read.push(body);
            }
        }
        assert!(read == bodies, "pieces of {piece}");
    }
}

#[test]
fn a_long_message_is_refused_by_its_header_alone() {
    let refused = Some(FramingError::BodyTooLong { length: 1001, limit: 1000 });
    assert_eq!(error_of("Content-Length: 1001\r\n\r\n"), refused);
    assert_eq!(read([encode(&[7; 1000]).as_slice()]).0, [vec![7; 1000]]);
}

#[test]
fn an_error_stays_an_error() {
    let mut decoder = Decoder::new(LIMITS);
    decoder.push(b"junk\r\n\r\n");
    assert!(decoder.next().is_err());
    decoder.push(&encode(b"fine"));
    assert!(decoder.next().is_err());
}

#[test]
fn many_small_messages_and_a_large_one_cost_what_their_bytes_cost() {
    let mut decoder = Decoder::new(Limits { header: 4096, body: 16 << 20 });
    let large = vec![b'x'; 10 << 20];
    let mut stream = encode(b"small").repeat(50_000);
    stream.extend_from_slice(&encode(&large));
    let mut bodies = 0;
    for piece in stream.chunks(1 << 16) {
        decoder.push(piece);
        while decoder.next().unwrap().is_some() {
            bodies += 1;
        }
    }
    assert_eq!(bodies, 50_001);
}

fn cut<'a>(stream: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    at.extend([0, stream.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_messages(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let stream: Vec<u8> = bodies.iter().flat_map(|body| encode(body)).collect();
        prop_assert_eq!(read(cut(&stream, &cuts)), (bodies.clone(), None));
        prop_assert_eq!(read(stream.chunks(1)), (bodies, None));
    }

    #[test]
    fn arbitrary_bytes_fail_the_same_way_however_they_are_cut(
        stream in "(Content-(Length|Type): ?[0-9]{1,2}|[\r\n:a]{1,4}|\r\n|\r\n\r\n){0,12}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        prop_assert_eq!(read(cut(stream.as_bytes(), &cuts)), read([stream.as_bytes()]));
    }

    #[test]
    fn arbitrary_bytes_never_panic(stream in prop::collection::vec(any::<u8>(), 0..300)) {
        read(stream.chunks(7));
    }
}
