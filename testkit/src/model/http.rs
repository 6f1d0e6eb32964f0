//! As much of HTTP/1.1 as agents use with a model: one request for each connection, and one answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// More than any agent sends.
const LARGEST: usize = 64 * 1024 * 1024;

pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    /// The header with the key.
    pub(super) key: Option<String>,
    pub(super) body: Vec<u8>,
}

/// `None` if the input is not a complete request.
pub(super) fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut chunked, mut key) = (0, false, None);
    loop {
        let header = line(&mut reader)?;
        if header.is_empty() {
            break;
        }
        let given = header.clone();
        let header = header.to_ascii_lowercase();
        let (name, value) = header.split_once(':')?;
        match name {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" | "x-api-key" | "x-goog-api-key" => {
                key = given.split_once(':').map(|(_, value)| format!("{name}:{value}"));
            }
            "transfer-encoding" => chunked = value.contains("chunked"),
            _ => {}
        }
    }
    let body = if chunked { chunks(&mut reader)? } else { exactly(&mut reader, length)? };
    Some(Request { method, target, key, body })
}

pub(super) fn write(stream: &mut TcpStream, status: &str, kind: &str, body: &str) {
    begin(stream, status, kind, body.len());
    go_on(stream, body);
}

/// The head of an answer whose body follows.
pub(super) fn begin(stream: &mut TcpStream, status: &str, kind: &str, length: usize) {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    go_on(stream, &head);
}

/// The agent may have disconnected meanwhile.
pub(super) fn go_on(stream: &mut TcpStream, part: &str) {
    let _ = stream.write_all(part.as_bytes());
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let length = reader.take(64 * 1024).read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim_end().to_owned())
}

fn exactly(reader: &mut impl Read, length: usize) -> Option<Vec<u8>> {
    let mut body = vec![0; (length <= LARGEST).then_some(length)?];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(reader)?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        body.extend(exactly(reader, size)?);
        line(reader)?;
        if size == 0 {
            return (body.len() <= LARGEST).then_some(body);
        }
    }
}
