//! Reads WebSocket frames as they arrive, and writes them. Pure; supports no extensions. tungstenite knows the header of
//! a frame; its connections do not fit here, because a recording reads both directions of a connection that others have.

use std::fmt;
use std::io::Cursor;

use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// A complete message, or a control frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Text or binary.
    Message(Vec<u8>),
    Close(Option<u16>),
    Ping(Vec<u8>),
    Pong,
}

/// A frame that is not supported here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(&'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Reads one direction.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    /// The fragments of the current message.
    content: Vec<u8>,
}

/// No agent sends longer messages.
const MAX_MESSAGE: usize = 256 * 1024 * 1024;

impl Frames {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, Unreadable> {
        self.buffer.extend_from_slice(bytes);
        let mut frames = Vec::new();
        while let Some((header, payload)) = self.next()? {
            frames.extend(self.frame(&header, payload)?);
        }
        Ok(frames)
    }

    /// The header and the unmasked payload of the next frame.
    fn next(&mut self) -> Result<Option<(FrameHeader, Vec<u8>)>, Unreadable> {
        let mut cursor = Cursor::new(&self.buffer);
        let header =
            FrameHeader::parse(&mut cursor).map_err(|_| Unreadable("a frame has an unknown opcode"))?;
        let Some((header, length)) = header else { return Ok(None) };
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_MESSAGE);
        let length = length.ok_or(Unreadable("a frame is too long"))?;
        let start = usize::try_from(cursor.position()).unwrap_or(usize::MAX);
        let Some(payload) = self.buffer.get(start..start.saturating_add(length)) else { return Ok(None) };
        let mut payload = payload.to_vec();
        if let Some(mask) = header.mask {
            payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        }
        self.buffer.drain(..start + length);
        Ok(Some((header, payload)))
    }

    fn frame(&mut self, header: &FrameHeader, payload: Vec<u8>) -> Result<Option<Frame>, Unreadable> {
        if header.rsv1 || header.rsv2 || header.rsv3 {
            return Err(Unreadable("a frame is compressed"));
        }
        match header.opcode {
            OpCode::Control(Control::Close) => {
                let code = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
                return Ok(Some(Frame::Close(code)));
            }
            OpCode::Control(Control::Ping) => return Ok(Some(Frame::Ping(payload))),
            OpCode::Control(_) => return Ok(Some(Frame::Pong)),
            OpCode::Data(_) => {}
        }
        self.content.extend(payload);
        if self.content.len() > MAX_MESSAGE {
            return Err(Unreadable("a message is too long"));
        }
        if !header.is_final {
            return Ok(None);
        }
        Ok(Some(Frame::Message(std::mem::take(&mut self.content))))
    }
}

/// A frame as clients send it: masked. The mask is zero, because there is no proxy on a loopback connection to protect.
pub(crate) fn encode(opcode: OpCode, payload: &[u8]) -> Vec<u8> {
    let header = FrameHeader { opcode, mask: Some([0; 4]), ..FrameHeader::default() };
    let length = u64::try_from(payload.len()).unwrap_or(u64::MAX);
    let mut bytes = Vec::with_capacity(header.len(length) + payload.len());
    // Memory takes every byte.
    let _ = header.format(length, &mut bytes);
    bytes.extend(payload);
    bytes
}

pub(crate) const TEXT: OpCode = OpCode::Data(Data::Text);
pub(crate) const CLOSE: OpCode = OpCode::Control(Control::Close);
pub(crate) const PING: OpCode = OpCode::Control(Control::Ping);
pub(crate) const PONG: OpCode = OpCode::Control(Control::Pong);

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Frame {
        Frame::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn frames_of_every_length_are_read_back() {
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
        assert!(Frames::default().push(&[0x81, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]).is_err());
    }
}
