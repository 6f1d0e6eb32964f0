//! Bytes of a stream as lines and as server-sent events, in pieces of any size. Must not know what they mean.

/// A longer line is not an answer of a model.
const LONGEST: usize = 4 * 1024 * 1024;

/// A line that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Splits into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// So much of the buffer has no line end.
    searched: usize,
}

impl Lines {
    /// Adds bytes; returns the lines that are complete now, without their ends.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        self.buffer.extend_from_slice(bytes);
        let mut lines = Vec::new();
        let mut start = 0;
        let mut from = self.searched;
        while let Some(found) =
            self.buffer.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let end = from + found;
            let line = self.buffer.get(start..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            lines.push(String::from_utf8_lossy(line).into_owned());
            start = end + 1;
            from = start;
        }
        self.buffer.drain(..start);
        self.searched = self.buffer.len();
        if self.buffer.len() > LONGEST { Err(TooLong) } else { Ok(lines) }
    }

    /// A last line without an end.
    pub(super) fn rest(&mut self) -> Option<String> {
        self.searched = 0;
        let rest = std::mem::take(&mut self.buffer);
        (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned())
    }
}

/// The data of server-sent events.
#[derive(Debug, Default)]
pub(super) struct Sse {
    lines: Lines,
    data: String,
}

impl Sse {
    /// Adds bytes; returns the data of each event that is complete now.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        for line in self.lines.feed(bytes)? {
            if line.is_empty() {
                events.extend(self.end());
            } else if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
                if self.data.len() > LONGEST {
                    return Err(TooLong);
                }
            }
        }
        Ok(events)
    }

    /// An event whose empty line is missing at the end.
    pub(super) fn rest(&mut self) -> Option<String> {
        if let Some(line) = self.lines.rest() {
            let _ = self.feed(line.as_bytes()).and_then(|_| self.feed(b"\n"));
        }
        self.end()
    }

    fn end(&mut self) -> Option<String> {
        (!self.data.is_empty()).then(|| std::mem::take(&mut self.data))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str =
        ": hi\r\nevent: x\r\ndata: {\"a\":1}\r\n\r\ndata:two\ndata: lines ü\n\n\n\nid: 3\ndata: rest";

    fn events(pieces: impl IntoIterator<Item = Vec<u8>>) -> Vec<String> {
        let mut sse = Sse::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(sse.feed(&piece).unwrap());
        }
        events.extend(sse.rest());
        events
    }

    proptest! {
        #[test]
        fn events_are_the_same_however_the_bytes_arrive(size in 1..40usize) {
            let pieces = STREAM.as_bytes().chunks(size).map(<[u8]>::to_vec);
            prop_assert_eq!(events(pieces), ["{\"a\":1}", "two\nlines ü", "rest"]);
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            events([bytes]);
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut sse = Sse::default();
        let piece = vec![b'x'; 1024 * 1024];
        let refused = (0..10).any(|_| sse.feed(&piece) == Err(TooLong));
        assert!(refused);
    }
}
