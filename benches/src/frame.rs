//! WebSocket frames as a client sees them, without I/O: headers by tungstenite, payloads in place. The same bytes go to
//! the hub and to the floor that it is compared with, so that the client costs the same on both sides.

use std::io::Cursor;
use std::ops::Range;

use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

pub(crate) const CONTINUE: OpCode = OpCode::Data(Data::Continue);
pub(crate) const TEXT: OpCode = OpCode::Data(Data::Text);
pub(crate) const PING: OpCode = OpCode::Control(Control::Ping);
pub(crate) const PONG: OpCode = OpCode::Control(Control::Pong);

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const READ_BYTES: usize = 64 * 1024;

/// A complete frame, masked as those of a client are.
pub(crate) fn masked(opcode: OpCode, payload: &[u8]) -> Vec<u8> {
    let header = FrameHeader { opcode, mask: Some(MASK), ..FrameHeader::default() };
    let length = payload.len() as u64;
    let mut frame = Vec::with_capacity(header.len(length) + payload.len());
    // Cannot fail: memory takes every byte.
    let _ = header.format(length, &mut frame);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// The header of the frame at the front, with its own length and that of the payload, once they are known.
pub(crate) fn header(bytes: &[u8]) -> Option<(FrameHeader, usize, usize)> {
    let mut cursor = Cursor::new(bytes);
    let (header, payload) = FrameHeader::parse(&mut cursor).ok()??;
    Some((header, usize::try_from(cursor.position()).ok()?, usize::try_from(payload).ok()?))
}

/// One frame of the server: where its bytes are until more are read.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) opcode: OpCode,
    pub(crate) payload: Range<usize>,
    /// The message ends with it.
    pub(crate) last: bool,
}

/// Splits what arrives into frames.
#[derive(Debug)]
pub(crate) struct FrameReader {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl FrameReader {
    pub(crate) fn new() -> FrameReader {
        FrameReader { buffer: vec![0; READ_BYTES], start: 0, end: 0 }
    }

    /// Where to read the next bytes to; never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let wanted = self.wanted().unwrap_or_default().max(self.end + READ_BYTES);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
    }

    fn waiting(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    fn wanted(&self) -> Option<usize> {
        header(self.waiting()).map(|(_, header, payload)| header + payload)
    }

    pub(crate) fn next(&mut self) -> Option<Frame> {
        let (header, header_length, length) = header(self.waiting())?;
        if self.end - self.start < header_length + length {
            return None;
        }
        let payload = self.start + header_length..self.start + header_length + length;
        self.start = payload.end;
        Some(Frame { opcode: header.opcode, payload, last: header.is_final })
    }

    pub(crate) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.buffer.get(range.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_found_however_it_arrives() {
        let mut frames = FrameReader::new();
        let long = [&[0x81, 126, 1, 0][..], &[b'x'; 256]].concat();
        let bytes = [&[0x81, 2, b'h', b'i'][..], &long].concat();
        let mut found = Vec::new();
        for piece in bytes.chunks(3) {
            frames.room()[..piece.len()].copy_from_slice(piece);
            frames.filled(piece.len());
            while let Some(frame) = frames.next() {
                found.push(frames.bytes(&frame.payload).to_vec());
            }
        }
        assert_eq!(found, [b"hi".to_vec(), vec![b'x'; 256]]);
    }

    #[test]
    fn masking_twice_gives_the_payload_back() {
        let frame = masked(TEXT, b"hello");
        assert_eq!(&frame[..6], [&[0x81, 0x85][..], &MASK].concat());
        let payload: Vec<u8> = frame[6..].iter().zip(MASK.iter().cycle()).map(|(b, k)| b ^ k).collect();
        assert_eq!(payload, b"hello");
    }

    #[test]
    fn a_masked_frame_is_as_long_as_it_was_made() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let frame = masked(TEXT, &vec![b'x'; length]);
            let (_, header, payload) = header(&frame).unwrap();
            assert_eq!((header, payload), (frame.len() - length, length));
        }
    }
}
