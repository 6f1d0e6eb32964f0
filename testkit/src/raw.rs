//! HTTP by hand: what is sent is what a test wrote, and nothing is made well on the way.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use super::DEADLINE;

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

pub fn head(first: &str, lines: &[String]) -> String {
    format!("{first}\r\n{}\r\n\r\n", lines.join("\r\n"))
}

/// Everything up to the end of the connection, or the head of an upgrade.
pub fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).is_ok_and(|length| length == 1) {
        bytes.push(byte[0]);
        if bytes.starts_with(b"HTTP/1.1 101") && bytes.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The answer to these bytes.
pub fn exchange(port: u16, bytes: &str) -> String {
    let mut stream = connect(port);
    let _ = stream.write_all(bytes.as_bytes());
    answer(&mut stream)
}

/// The same as another user of the machine; `None` where that cannot be tried.
pub fn exchange_as_another_user(port: u16, bytes: &str) -> Option<String> {
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; printf '%s' \"$HEAD\" >&3; cat <&3");
    let ran = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", &script])
        .env("HEAD", bytes)
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|_| rustix::process::getuid().is_root());
    if ran.is_none() {
        println!("skipped: only root can become another user");
    }
    ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr))
}
