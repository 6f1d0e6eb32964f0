//! Lines of a stream, none longer than a limit. What is not UTF-8 is skipped; what has no end when the stream ends is
//! dropped.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
}

#[derive(Debug)]
pub(crate) enum LineError {
    TooLong,
    Read(io::Error),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(stream: R, limit: usize) -> Lines<R> {
        Lines { reader: BufReader::new(stream), limit }
    }

    /// The next line that is not empty, without its end; none when the stream has ended.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, LineError> {
        loop {
            let Some(line) = self.bytes().await? else { return Ok(None) };
            match String::from_utf8(line) {
                Ok(text) if !text.trim().is_empty() => return Ok(Some(text)),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Drops what was read of a line that is too long.
    pub(crate) fn skip(&mut self) {
        let read = self.reader.buffer().len();
        self.reader.consume(read);
    }

    async fn bytes(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        let mut line = Vec::new();
        loop {
            let read = self.reader.fill_buf().await.map_err(LineError::Read)?;
            if read.is_empty() {
                return Ok(None);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = end.and_then(|end| read.get(..end)).unwrap_or(read);
            if line.len() + part.len() > self.limit {
                return Err(LineError::TooLong);
            }
            line.extend_from_slice(part);
            let used = end.map_or(read.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8], limit: usize) -> (Vec<String>, bool) {
        let mut lines = Lines::new(bytes, limit);
        let mut found = Vec::new();
        loop {
            match lines.next().await {
                Ok(Some(line)) => found.push(line),
                Ok(None) => return (found, false),
                Err(_) => return (found, true),
            }
        }
    }

    #[tokio::test]
    async fn garbage_is_skipped_half_a_line_is_dropped_and_a_long_one_is_an_error() {
        assert_eq!(all(b"a\n\n\xff\xfe\nb\nhalf", 10).await, (vec!["a".to_owned(), "b".to_owned()], false));
        assert_eq!(all(b"a\n0123456789\nb\n", 5).await, (vec!["a".to_owned()], true));
    }
}
