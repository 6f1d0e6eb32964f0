//! WebSocket frames, read as they arrive and written. Pure; understands no extensions.

use std::fmt;

/// A whole message, or a control frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// All of a message, text or binary.
    Message(Vec<u8>),
    Close(Option<u16>),
    Ping(Vec<u8>),
    Pong,
}

/// Not a frame that is understood here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(&'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// One direction.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    /// The message under way.
    content: Vec<u8>,
}

/// Longer ones are not a conversation of an agent.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;

impl Frames {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, Unreadable> {
        self.buffer.extend_from_slice(bytes);
        let mut frames = Vec::new();
        while let Some((first, payload)) = self.next()? {
            frames.extend(self.frame(first, payload)?);
        }
        Ok(frames)
    }

    /// The first byte and the unmasked payload of the next frame.
    fn next(&mut self) -> Result<Option<(u8, Vec<u8>)>, Unreadable> {
        let byte = |at: usize| self.buffer.get(at).copied();
        let (Some(first), Some(second)) = (byte(0), byte(1)) else { return Ok(None) };
        let number = |from: usize, count: usize| {
            let bytes = self.buffer.get(from..from + count)?;
            Some(bytes.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)))
        };
        let (length, at) = match second & 0x7f {
            126 => (number(2, 2), 4),
            127 => (number(2, 8), 10),
            short => (Some(short.into()), 2),
        };
        let Some(length) = length else { return Ok(None) };
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_MESSAGE);
        let length = length.ok_or(Unreadable("a frame is too long"))?;
        let masked = second & 0x80 != 0;
        let start = at + if masked { 4 } else { 0 };
        let Some(payload) = self.buffer.get(start..start + length) else { return Ok(None) };
        let mut payload = payload.to_vec();
        if masked {
            let mask: Vec<u8> = self.buffer.get(at..start).unwrap_or_default().to_vec();
            payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        }
        self.buffer.drain(..start + length);
        Ok(Some((first, payload)))
    }

    fn frame(&mut self, first: u8, payload: Vec<u8>) -> Result<Option<Frame>, Unreadable> {
        if first & 0x70 != 0 {
            return Err(Unreadable("a frame is compressed"));
        }
        match first & 0x0f {
            0x8 => {
                let code = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
                return Ok(Some(Frame::Close(code)));
            }
            0x9 => return Ok(Some(Frame::Ping(payload))),
            0xa => return Ok(Some(Frame::Pong)),
            _ => {}
        }
        self.content.extend(payload);
        if self.content.len() > MAX_MESSAGE {
            return Err(Unreadable("a message is too long"));
        }
        if first & 0x80 == 0 {
            return Ok(None);
        }
        Ok(Some(Frame::Message(std::mem::take(&mut self.content))))
    }
}

/// A whole frame as clients send it: masked, with a mask that changes nothing, because nobody is between.
pub(crate) fn encode(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80 | opcode];
    match payload.len() {
        short @ 0..=125 => bytes.push(0x80 | u8::try_from(short).unwrap_or(125)),
        medium @ 126..=0xffff => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(medium).unwrap_or(u16::MAX).to_be_bytes());
        }
        long => {
            bytes.push(0x80 | 127);
            bytes.extend(u64::try_from(long).unwrap_or(u64::MAX).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

pub(crate) const TEXT: u8 = 0x1;
pub(crate) const CLOSE: u8 = 0x8;
pub(crate) const PING: u8 = 0x9;
pub(crate) const PONG: u8 = 0xa;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Frame {
        Frame::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn frames_of_every_length_are_read_as_they_were_written() {
        for length in [0, 1, 125, 126, 65535, 65536] {
            let text = "x".repeat(length);
            let bytes = encode(TEXT, text.as_bytes());
            for step in [1000, 7] {
                let mut frames = Frames::default();
                let read: Vec<Frame> =
                    bytes.chunks(step).flat_map(|part| frames.push(part).unwrap()).collect();
                assert_eq!(read, [message(&text)]);
            }
        }
    }

    #[test]
    fn fragments_are_one_message_and_control_frames_come_between() {
        let mut frames = Frames::default();
        let bytes =
            [&[0x01, 1, b'a'][..], &[0x89, 0], &[0x80, 0x81, 1, 2, 3, 4, b'b' ^ 1], &[0x88, 2, 3, 0xe8]]
                .concat();
        assert_eq!(
            frames.push(&bytes).unwrap(),
            [Frame::Ping(vec![]), message("ab"), Frame::Close(Some(1000))]
        );
    }

    #[test]
    fn compressed_and_endless_frames_are_not_read() {
        assert!(Frames::default().push(&[0xc1, 0]).is_err());
        assert!(Frames::default().push(&[0x81, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }
}
