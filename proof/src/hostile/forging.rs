//! Heads that mean two things, are none, or ask for what is not offered.

use linkspan_testkit::DEADLINE;
use std::io::Write;

use linkspan_testkit::raw::{answer, connect, status};

use super::door::Door;
use super::stage::Stage;
use super::tokens::{is_refused, tells_nothing};
use super::wire::{LAST, TEXT, close_code, frame, open, until_closed};
use super::{Attack, OF_STRANGERS, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack { name: "other methods and paths", doors: "all TCP doors", run: elsewhere, ..OF_STRANGERS },
        Attack { name: "heads that are none", doors: "all TCP doors", run: no_heads, ..OF_STRANGERS },
        Attack { name: "smuggled requests", doors: "gemini, ppxai, page", run: smuggling, ..OF_STRANGERS },
        Attack { name: "compression offers", doors: "all TCP doors", run: compression, ..OF_STRANGERS },
    ]
}

fn elsewhere(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    let refused = [400, 401, 403, 404, 405, 415, 421, 426];
    for door in Door::ALL {
        let good = door.request(stage);
        let path = good.first.split(' ').nth(1).unwrap().to_owned();
        for method in ["HEAD", "PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get", "X"] {
            is_refused(&good.asking(&format!("{method} {path} HTTP/1.1")), &refused, door.name());
            tries += 1;
        }
        let method = good.first.split(' ').next().unwrap();
        for other in
            ["/.", "/..", "//", "/%2e", "/%2f", "*", "/etc/passwd", "/../../etc/passwd", "/mcp/", "/status/"]
        {
            is_refused(&good.asking(&format!("{method} {other} HTTP/1.1")), &refused, other);
            tries += 1;
        }
    }
    Seen::new(tries, "400–405, 415, 421 or 426")
}

fn no_heads(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    let long = "x".repeat(100_000);
    for door in Door::PORTS {
        let (good, port) = (door.request(stage), door.port(stage));
        let many = (0..200).fold(good.clone(), |request, number| request.and(format!("X-{number}: 1")));
        for bytes in [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            b"GET /\r\n\r\n".to_vec(),
            b"\x00\x01\x02\r\n\r\n".to_vec(),
            vec![0xff; 70_000],
            vec![b'\n'; 70_000],
            good.text().replace("HTTP/1.1", "HTTP/1.9").into_bytes(),
            good.text().replace("Host:", "Host :").into_bytes(),
            good.and(format!("X-Long: {long}")).text().into_bytes(),
            good.and("X-Folded: a\r\n b").text().into_bytes(),
            good.and("X-Nul: a\0b").text().into_bytes(),
            good.asking(&format!("GET /{long} HTTP/1.1")).text().into_bytes(),
            many.text().into_bytes(),
        ] {
            let mut stream = connect(port);
            let _ = stream.write_all(&bytes);
            // Whoever waits for more than it was sent is let go as one that is slow.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let said = answer(&mut stream);
            let refused = said.is_empty() || (400..500).contains(&status(&said));
            assert!(
                refused,
                "{}: {:?}\n{said}",
                door.name(),
                String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
            );
            tells_nothing(&said, door.name());
            tries += 1;
        }
    }
    Seen::new(tries, "400, 431 or closed without a word")
}

/// One request that hides another, which a careless server would take for itself.
fn smuggling(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in [Door::Gemini, Door::Ppxai, Door::WellKnown, Door::PageSession] {
        let good = door.request(stage);
        let hidden = Door::Ppxai.request(stage).text();
        let base = good.asking("POST /nowhere HTTP/1.1").without("Content-Length");
        for lines in [
            vec!["Content-Length: 4".to_owned(), "Transfer-Encoding: chunked".into()],
            vec!["Content-Length: 4".into(), "Content-Length: 5".into()],
            vec!["Content-Length: +4".into()],
            vec!["Content-Length: 0x4".into()],
            vec!["Content-Length: -1".into()],
            vec!["Content-Length: 99999999999999999999".into()],
            vec!["Transfer-Encoding: chunked, identity".into()],
            vec!["Transfer-Encoding: xchunked".into()],
            vec!["Transfer-Encoding : chunked".into()],
        ] {
            let mut request = lines.iter().fold(base.clone(), |request, line| request.and(line));
            request.body = format!("0\r\n\r\n{hidden}");
            let said = request.send();
            assert!(said.is_empty() || (400..500).contains(&status(&said)), "{lines:?}: {said}");
            assert_eq!(
                said.matches("HTTP/1.1 ").count(),
                usize::from(!said.is_empty()),
                "one answer: {said}"
            );
            tells_nothing(&said, door.name());
            tries += 1;
        }
    }
    Seen::new(tries, "one refusal each, and the connection is closed: what was hidden is never read")
}

fn compression(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in [Door::Claude, Door::Nexus3, Door::Clio, Door::PageSocket] {
        for offer in [
            "permessage-deflate",
            "permessage-deflate; client_max_window_bits; server_no_context_takeover",
            "x-webkit-deflate-frame, permessage-bzip2",
        ] {
            let request = door.request(stage).and(format!("Sec-WebSocket-Extensions: {offer}"));
            let said = request.send();
            assert_eq!(status(&said), 101, "{said}");
            assert!(!said.to_lowercase().contains("sec-websocket-extensions"), "{said}");
            // Who compresses all the same breaks the protocol.
            let mut stream = open(&request);
            stream.write_all(&frame(LAST | 0x40 | TEXT, b"\xaa\x56\x4a\xad\x05\x00")).unwrap();
            let said = until_closed(&mut stream, DEADLINE).expect("it is closed");
            assert_eq!(close_code(&said), Some(1002), "{} {said:?}", door.name());
            tries += 2;
        }
    }
    for door in [Door::Gemini, Door::Ppxai, Door::WellKnown, Door::PageSession] {
        let request = door.request(stage).and("Accept-Encoding: gzip, deflate, br, zstd").and("TE: gzip");
        let said = request.send();
        assert_eq!(status(&said), door.lets_in_with(), "{said}");
        assert!(!said.to_lowercase().contains("content-encoding"), "{said}");
        tries += 1;
    }
    // A body that claims to be compressed is taken as it is, and is no message.
    for door in [Door::Gemini, Door::Ppxai, Door::WellKnown] {
        let mut bomb = door.request(stage).and("Content-Encoding: gzip");
        bomb.body = "\u{1f}\u{8b}".repeat(500);
        let bomb = bomb.with(format!("Content-Length: {}", bomb.body.len()));
        let said = bomb.send();
        assert!(said.contains("-32700") || status(&said) >= 400, "{said}");
        tries += 1;
    }
    Seen::new(tries, "declined; a compressed frame is closed with 1002, a compressed body is no message")
}
