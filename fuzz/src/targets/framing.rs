//! However a stream is cut into chunks, the same messages come out of it and it fails in the same way.

use linkspan_editor_api::{Decoder, FramingError, Limits, encode};

/// Small, so that inputs reach them.
const LIMITS: Limits = Limits { header: 80, body: 300 };

fn decode<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Option<FramingError>) {
    let mut decoder = Decoder::new(LIMITS);
    let mut messages = Vec::new();
    for chunk in chunks {
        decoder.push(chunk);
        loop {
            match decoder.next() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
    }
    (messages, None)
}

pub(crate) fn run(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else { return };
    let size = usize::from(size).max(1);
    let whole = decode(std::iter::once(stream));
    assert_eq!(decode(stream.chunks(size)), whole);
    assert_eq!(decode(stream.chunks(1)), whole);

    let bodies: Vec<Vec<u8>> = stream.chunks(size).map(<[u8]>::to_vec).collect();
    let framed: Vec<u8> = bodies.iter().flat_map(|body| encode(body)).collect();
    assert_eq!(decode(framed.chunks(size)), (bodies, None));
}
