//! Request heads that are ambiguous, malformed, or ask for what is not offered.

use linkspan_testkit::DEADLINE;
use std::io::Write;

use linkspan_testkit::raw_http::{answer, connect, status};

use super::endpoint::HubEndpoint;
use super::fixture::AttackFixture;
use super::raw_socket::{LAST, TEXT, close_code, frame, open, until_closed};
use super::tokens::{is_refused, reveals_nothing};
use super::{Attack, AttackResult, BY_STRANGERS};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack {
            name: "other methods and paths",
            endpoints: "all endpoints",
            run: elsewhere,
            ..BY_STRANGERS
        },
        Attack {
            name: "malformed heads",
            endpoints: "all TCP endpoints",
            run: malformed_heads,
            ..BY_STRANGERS
        },
        Attack {
            name: "smuggled requests",
            endpoints: "gemini, ppxai, page",
            run: smuggling,
            ..BY_STRANGERS
        },
        Attack {
            name: "compression offers",
            endpoints: "all TCP endpoints",
            run: compression,
            ..BY_STRANGERS
        },
    ]
}

fn elsewhere(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    let refused = [400, 401, 403, 404, 405, 415, 421, 426];
    for endpoint in HubEndpoint::ALL {
        let good = endpoint.request(fixture);
        let path = good.first.split(' ').nth(1).unwrap().to_owned();
        for method in ["HEAD", "PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get", "X"] {
            is_refused(&good.asking(&format!("{method} {path} HTTP/1.1")), &refused, endpoint.name());
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
    AttackResult::new(tries, "400–405, 415, 421 or 426")
}

fn malformed_heads(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    let long = "x".repeat(100_000);
    for endpoint in HubEndpoint::PORTS {
        let (good, port) = (endpoint.request(fixture), endpoint.port(fixture));
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
            // A server that waits for more than was sent closes the connection as slow.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let said = answer(&mut stream);
            let refused = said.is_empty() || (400..500).contains(&status(&said));
            assert!(
                refused,
                "{}: {:?}\n{said}",
                endpoint.name(),
                String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
            );
            reveals_nothing(&said, endpoint.name());
            tries += 1;
        }
    }
    AttackResult::new(tries, "400, 431 or closed without an answer")
}

/// A request that hides another one, which a careless server would execute.
fn smuggling(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in
        [HubEndpoint::Gemini, HubEndpoint::Ppxai, HubEndpoint::PpxaiPort, HubEndpoint::PageSession]
    {
        let good = endpoint.request(fixture);
        let hidden = HubEndpoint::Ppxai.request(fixture).text();
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
            reveals_nothing(&said, endpoint.name());
            tries += 1;
        }
    }
    AttackResult::new(
        tries,
        "one refusal each, and the connection is closed: the hidden request is never read",
    )
}

fn compression(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in [HubEndpoint::Claude, HubEndpoint::Nexus3, HubEndpoint::Clio, HubEndpoint::PageSocket] {
        for offer in [
            "permessage-deflate",
            "permessage-deflate; client_max_window_bits; server_no_context_takeover",
            "x-webkit-deflate-frame, permessage-bzip2",
        ] {
            let request = endpoint.request(fixture).and(format!("Sec-WebSocket-Extensions: {offer}"));
            let said = request.send();
            assert_eq!(status(&said), 101, "{said}");
            assert!(!said.to_lowercase().contains("sec-websocket-extensions"), "{said}");
            // A peer that compresses anyway violates the protocol.
            let mut stream = open(&request);
            stream.write_all(&frame(LAST | 0x40 | TEXT, b"\xaa\x56\x4a\xad\x05\x00")).unwrap();
            let said = until_closed(&mut stream, DEADLINE).expect("it is closed");
            assert_eq!(close_code(&said), Some(1002), "{} {said:?}", endpoint.name());
            tries += 2;
        }
    }
    for endpoint in
        [HubEndpoint::Gemini, HubEndpoint::Ppxai, HubEndpoint::PpxaiPort, HubEndpoint::PageSession]
    {
        let request =
            endpoint.request(fixture).and("Accept-Encoding: gzip, deflate, br, zstd").and("TE: gzip");
        let said = request.send();
        assert_eq!(status(&said), endpoint.expected_status(), "{said}");
        assert!(!said.to_lowercase().contains("content-encoding"), "{said}");
        tries += 1;
    }
    // A body that claims to be compressed is read as it is, and is not a message.
    for endpoint in [HubEndpoint::Gemini, HubEndpoint::Ppxai, HubEndpoint::PpxaiPort] {
        let mut bomb = endpoint.request(fixture).and("Content-Encoding: gzip");
        bomb.body = "\u{1f}\u{8b}".repeat(500);
        let bomb = bomb.with(format!("Content-Length: {}", bomb.body.len()));
        let said = bomb.send();
        assert!(said.contains("-32700") || status(&said) >= 400, "{said}");
        tries += 1;
    }
    AttackResult::new(
        tries,
        "declined; a compressed frame is closed with 1002, a compressed body is not a message",
    )
}
