//! WebSocket frames as a client sees them, without I/O. The same bytes go to the hub and to the floor it is
//! compared with, so that the client costs the same on both sides.

use std::ops::Range;

/// More of the message before.
pub(crate) const MORE: u8 = 0;
pub(crate) const TEXT: u8 = 1;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// The message ends with this frame.
pub(crate) const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;
const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const ROOM: usize = 64 * 1024;

/// A whole frame, masked as those of a client are.
pub(crate) fn masked(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![FINAL | opcode];
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length @ ..=125), _) => frame.push(MASKED | length),
        (_, Ok(length)) => {
            frame.push(MASKED | 126);
            frame.extend(length.to_be_bytes());
        }
        _ => {
            frame.push(MASKED | 127);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend(KEY);
    frame.extend(payload.iter().zip(KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}

/// Length of header, with the key of a masked frame, and payload of the frame at the front, once they are known.
pub(crate) fn header(bytes: &[u8]) -> Option<(usize, usize)> {
    let second = bytes.get(1)?;
    let key = if second & MASKED != 0 { KEY.len() } else { 0 };
    let (header, payload) = match second & !MASKED {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?),
        short => (2, usize::from(short)),
    };
    Some((header + key, payload))
}

/// One frame of the server: where its bytes are until more are read.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) opcode: u8,
    pub(crate) payload: Range<usize>,
    /// The message ends with it.
    pub(crate) last: bool,
}

/// Cuts what arrives into frames.
#[derive(Debug)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Frames {
    pub(crate) fn new() -> Frames {
        Frames { buffer: vec![0; ROOM], start: 0, end: 0 }
    }

    /// Where the next bytes are to be read to; never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let wanted = self.wanted().unwrap_or_default().max(self.end + ROOM);
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
        header(self.waiting()).map(|(header, payload)| header + payload)
    }

    pub(crate) fn next(&mut self) -> Option<Frame> {
        let (header, length) = header(self.waiting())?;
        if self.end - self.start < header + length {
            return None;
        }
        let first = self.waiting().first().copied().unwrap_or_default();
        let payload = self.start + header..self.start + header + length;
        self.start = payload.end;
        Some(Frame { opcode: first & 0x0f, payload, last: first & FINAL != 0 })
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
        let mut frames = Frames::new();
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
        assert_eq!(&frame[..6], [&[0x81, 0x85][..], &KEY].concat());
        let payload: Vec<u8> = frame[6..].iter().zip(KEY.iter().cycle()).map(|(b, k)| b ^ k).collect();
        assert_eq!(payload, b"hello");
    }

    #[test]
    fn a_masked_frame_is_as_long_as_it_was_made() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let frame = masked(TEXT, &vec![b'x'; length]);
            assert_eq!(header(&frame), Some((frame.len() - length, length)));
        }
    }
}
