//! MessagePack, as much of it as Neovim's RPC uses, to and from JSON values. Neovim's own handles become numbers.

use std::io::{self, Read};

use serde_json::{Map, Number, Value};

/// Appends a value.
pub fn write(value: &Value, into: &mut Vec<u8>) {
    match value {
        Value::Null => into.push(0xc0),
        Value::Bool(is_true) => into.push(if *is_true { 0xc3 } else { 0xc2 }),
        Value::Number(number) => write_number(number, into),
        Value::String(text) => {
            into.push(0xdb);
            write_length(text.len(), into);
            into.extend(text.as_bytes());
        }
        Value::Array(items) => {
            into.push(0xdd);
            write_length(items.len(), into);
            items.iter().for_each(|item| write(item, into));
        }
        Value::Object(members) => {
            into.push(0xdf);
            write_length(members.len(), into);
            for (name, member) in members {
                write(&Value::String(name.clone()), into);
                write(member, into);
            }
        }
    }
}

fn write_number(number: &Number, into: &mut Vec<u8>) {
    if let Some(whole) = number.as_i64() {
        into.push(0xd3);
        into.extend(whole.to_be_bytes());
    } else {
        into.push(0xcb);
        into.extend(number.as_f64().unwrap().to_be_bytes());
    }
}

fn write_length(length: usize, into: &mut Vec<u8>) {
    into.extend(u32::try_from(length).unwrap().to_be_bytes());
}

/// Reads one value.
pub fn read(from: &mut impl Read) -> io::Result<Value> {
    let kind = bytes::<1>(from)?[0];
    Ok(match kind {
        0x00..=0x7f => kind.into(),
        0x80..=0x8f => map(from, usize::from(kind & 0x0f))?,
        0x90..=0x9f => array(from, usize::from(kind & 0x0f))?,
        0xa0..=0xbf => text(from, usize::from(kind & 0x1f))?,
        0xc0 => Value::Null,
        0xc2 | 0xc3 => Value::Bool(kind == 0xc3),
        0xc4 | 0xd9 => {
            let length = length(from, 1)?;
            text(from, length)?
        }
        0xc5 | 0xda => {
            let length = length(from, 2)?;
            text(from, length)?
        }
        0xc6 | 0xdb => {
            let length = length(from, 4)?;
            text(from, length)?
        }
        0xc7 => {
            let length = length(from, 1)?;
            handle(from, length)?
        }
        0xca => f64::from(f32::from_be_bytes(bytes(from)?)).into(),
        0xcb => f64::from_be_bytes(bytes(from)?).into(),
        0xcc => bytes::<1>(from)?[0].into(),
        0xcd => u16::from_be_bytes(bytes(from)?).into(),
        0xce => u32::from_be_bytes(bytes(from)?).into(),
        0xcf => u64::from_be_bytes(bytes(from)?).into(),
        0xd0 => i8::from_be_bytes(bytes(from)?).into(),
        0xd1 => i16::from_be_bytes(bytes(from)?).into(),
        0xd2 => i32::from_be_bytes(bytes(from)?).into(),
        0xd3 => i64::from_be_bytes(bytes(from)?).into(),
        0xd4..=0xd8 => handle(from, 1 << (kind - 0xd4))?,
        0xdc => {
            let length = length(from, 2)?;
            array(from, length)?
        }
        0xdd => {
            let length = length(from, 4)?;
            array(from, length)?
        }
        0xde => {
            let length = length(from, 2)?;
            map(from, length)?
        }
        0xdf => {
            let length = length(from, 4)?;
            map(from, length)?
        }
        0xe0..=0xff => i8::from_be_bytes([kind]).into(),
        _ => return Err(io::Error::other(format!("MessagePack of an unknown kind: {kind:#x}"))),
    })
}

fn bytes<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn length(from: &mut impl Read, size: usize) -> io::Result<usize> {
    let mut length = 0;
    for _ in 0..size {
        length = length << 8 | usize::from(bytes::<1>(from)?[0]);
    }
    Ok(length)
}

fn text(from: &mut impl Read, length: usize) -> io::Result<Value> {
    let mut text = vec![0; length];
    from.read_exact(&mut text)?;
    Ok(Value::String(String::from_utf8_lossy(&text).into_owned()))
}

/// A buffer, window or tab page: a kind, and its number as MessagePack.
fn handle(from: &mut impl Read, length: usize) -> io::Result<Value> {
    bytes::<1>(from)?;
    let mut number = vec![0; length];
    from.read_exact(&mut number)?;
    read(&mut number.as_slice())
}

fn array(from: &mut impl Read, length: usize) -> io::Result<Value> {
    (0..length).map(|_| read(from)).collect::<io::Result<Vec<Value>>>().map(Value::Array)
}

fn map(from: &mut impl Read, length: usize) -> io::Result<Value> {
    let mut members = Map::new();
    for _ in 0..length {
        let name = match read(from)? {
            Value::String(name) => name,
            other => other.to_string(),
        };
        members.insert(name, read(from)?);
    }
    Ok(Value::Object(members))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let value = json!({ "a": [null, true, false, -1, 3.5, "é", { "b": 70_000 }] });
        let mut bytes = Vec::new();
        write(&value, &mut bytes);
        assert_eq!(read(&mut bytes.as_slice()).unwrap(), value);
    }

    #[test]
    fn what_neovim_writes_is_read() {
        // {"a": [7, -1, "x", a buffer]} in the short forms.
        let bytes = [0x81, 0xa1, b'a', 0x94, 0x07, 0xff, 0xa1, b'x', 0xd4, 0x00, 0x05];
        assert_eq!(read(&mut bytes.as_slice()).unwrap(), json!({ "a": [7, -1, "x", 5] }));
        assert!(read(&mut [0xc1_u8].as_slice()).is_err());
    }
}
