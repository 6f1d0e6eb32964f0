//! Parses a stream of server-sent events from bytes as they arrive. Pure: does not know sockets.

/// One event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The last id that the server sent, in this event or before it.
    pub id: Option<String>,
    /// Its kind; `message` if the server names none.
    pub event: String,
    /// Its data, lines joined.
    pub data: String,
}

/// The rest of the stream cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventsError {
    /// An event is too long.
    #[error("an event is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// It is not text.
    #[error("an event is not UTF-8")]
    NotText,
}

/// Cuts a stream into events.
#[derive(Debug)]
pub struct Events {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
    started: bool,
    id: Option<String>,
    event: String,
    data: String,
    has_data: bool,
}

impl Events {
    /// For events of at most this many bytes.
    pub fn new(limit: usize) -> Events {
        Events {
            limit,
            line: Vec::new(),
            after_return: false,
            started: false,
            id: None,
            event: String::new(),
            data: String::new(),
            has_data: false,
        }
    }

    /// Adds bytes that arrived; returns the events that are complete now.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, EventsError> {
        let mut events = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_of_line(&line)?);
                }
                other => {
                    self.after_return = false;
                    self.line.push(*other);
                    if self.line.len() + self.data.len() > self.limit {
                        return Err(EventsError::TooLong { limit: self.limit });
                    }
                }
            }
        }
        Ok(events)
    }

    fn end_of_line(&mut self, line: &[u8]) -> Result<Option<Event>, EventsError> {
        let line = str::from_utf8(line).map_err(|_| EventsError::NotText)?;
        let line = if self.started { line } else { line.trim_start_matches('\u{feff}') };
        self.started = true;
        if line.is_empty() {
            return Ok(self.end_of_event());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()).filter(|id| !id.is_empty()),
            // Comments, which keep a stream alive, and fields of newer servers.
            _ => {}
        }
        Ok(None)
    }

    fn end_of_event(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.has_data).then(|| Event {
            id: self.id.clone(),
            event: if event.is_empty() { "message".into() } else { event },
            data,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<Event> {
        let mut whole = Events::new(1 << 16);
        let expected = whole.push(text.as_bytes()).unwrap();
        let mut dripping = Events::new(1 << 16);
        let dripped: Vec<Event> = text.bytes().flat_map(|byte| dripping.push(&[byte]).unwrap()).collect();
        assert_eq!(dripped, expected, "it does not matter how the bytes arrive");
        expected
    }

    fn event(id: Option<&str>, event: &str, data: &str) -> Event {
        Event { id: id.map(str::to_owned), event: event.into(), data: data.into() }
    }

    #[test]
    fn events_end_at_empty_lines_of_any_kind() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "id: 7\nevent: message\ndata: {\"a\":1}\n\ndata:b\ndata: c\n\n".replace('\n', end);
            assert_eq!(
                events(&text),
                [event(Some("7"), "message", "{\"a\":1}"), event(Some("7"), "message", "b\nc")]
            );
        }
    }

    #[test]
    fn comments_and_what_has_no_data_are_no_events() {
        assert_eq!(events("\u{feff}: keep-alive\n\nid: 1\n\nretry: 5\n\nevent: x\n\n"), []);
        assert_eq!(events("data\n\n"), [event(None, "message", "")]);
        assert_eq!(events("data: unfinished"), []);
    }

    #[test]
    fn an_event_without_an_end_is_given_up_and_so_is_one_that_is_no_text() {
        let mut stream = Events::new(100);
        let long = stream.push(&[b'x'; 101]).unwrap_err();
        assert_eq!(long, EventsError::TooLong { limit: 100 });
        let mut stream = Events::new(100);
        let lines = "data: 0123456789\n".repeat(20);
        assert!(matches!(stream.push(lines.as_bytes()), Err(EventsError::TooLong { .. })));
        assert_eq!(Events::new(100).push(b"data: \xff\n"), Err(EventsError::NotText));
    }
}
