//! However the answer of a model arrives, the same events come out of it. It ends or it fails, once, and nothing follows.

use linkspan_agent::models::ModelEvent;
use linkspan_agent::models::fuzzing::{WIRES, read};

pub(crate) fn run(data: &[u8]) {
    let Some((&first, stream)) = data.split_first() else { return };
    let (wire, size) = (usize::from(first) % WIRES, usize::from(first) / WIRES + 1);
    let whole = read(wire, stream.chunks(stream.len().max(1)));
    assert_eq!(read(wire, stream.chunks(size)), whole);
    assert_eq!(read(wire, stream.chunks(1)), whole);
    let (events, error) = whole;
    let ends = events.iter().filter(|event| matches!(event, ModelEvent::Done(_))).count();
    assert_eq!(ends + usize::from(error.is_some()), 1, "{events:?} {error:?}");
    assert!(ends == 0 || matches!(events.last(), Some(ModelEvent::Done(_))), "{events:?}");
}
