//! However an editor's stream of events arrives, the same events come out of it and it fails in the same way; none is
//! longer than the limit.

use linkspan_client::http::{Event, Events, EventsError};

/// Small, so that inputs reach it.
const LIMIT: usize = 100;

pub(crate) fn run(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else { return };
    let whole = read(stream.chunks(stream.len().max(1)));
    assert_eq!(read(stream.chunks(usize::from(size).max(1))), whole);
    assert_eq!(read(stream.chunks(1)), whole);
    for event in &whole.0 {
        assert!(event.data.len() <= LIMIT && !event.event.is_empty(), "{event:?}");
        assert!(!event.data.contains('\r'));
        let again = format!("event: {}\ndata: {}\n\n", event.event, event.data.replace('\n', "\ndata: "));
        let read = Events::new(1000).push(again.as_bytes()).expect("it was one");
        assert_eq!(read, [Event { id: None, ..event.clone() }]);
    }
}

fn read<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, Option<EventsError>) {
    let mut events = Events::new(LIMIT);
    let mut found = Vec::new();
    for chunk in chunks {
        match events.push(chunk) {
            Ok(more) => found.extend(more),
            // What came before it in the same chunk is lost with it, so that only what is whole is compared.
            Err(error) => return (Vec::new(), Some(error)),
        }
    }
    (found, None)
}
