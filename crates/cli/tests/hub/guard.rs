//! The guard of the ports for agents: every refusal over real sockets, with raw bytes.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::time::{Duration, Instant};

    use serde_json::Value;

    use crate::support::raw_http::{answer, connect, exchange, exchange_as_another_user, head, upgrade};
    use crate::support::*;

    /// A window, and the head of a request that it admits.
    struct GuardedWindow {
        port: u16,
        token: String,
        serve: Serve,
        world: World,
    }

    fn guarded_window() -> GuardedWindow {
        guarded_window_in(World::new())
    }

    fn guarded_window_in(world: World) -> GuardedWindow {
        let serve = world.serve();
        let token = WsDialect::Claude.lock(&world, serve.port)["authToken"].as_str().unwrap().to_owned();
        GuardedWindow { port: serve.port, token, serve, world }
    }

    impl GuardedWindow {
        fn connect(&self) -> TcpStream {
            connect(self.port)
        }

        /// The header lines of a request that is admitted.
        fn lines(&self) -> Vec<String> {
            let token = format!("X-Claude-Code-Ide-Authorization: {}", self.token);
            upgrade(self.port).into_iter().chain([token]).collect()
        }

        fn without(&self, name: &str) -> Vec<String> {
            raw_http::without(&self.lines(), name)
        }

        fn with(&self, line: impl Into<String>) -> Vec<String> {
            raw_http::with(&self.lines(), line)
        }

        fn and(&self, line: impl Into<String>) -> Vec<String> {
            self.lines().into_iter().chain([line.into()]).collect()
        }

        fn get(&self, lines: &[String]) -> String {
            self.ask("GET / HTTP/1.1", lines)
        }

        /// The complete answer to this head.
        fn ask(&self, first: &str, lines: &[String]) -> String {
            exchange(self.port, &head(first, lines))
        }

        fn refused(&self, name: &str) -> u64 {
            self.world.status()["refused"][name].as_u64().unwrap_or(0)
        }

        #[track_caller]
        fn refuses(&self, status: u16, name: &str, first: &str, lines: &[String]) {
            let before = self.refused(name);
            let answer = self.ask(first, lines);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{name}: {answer}");
            eventually("it is counted", || (self.refused(name) == before + 1).then_some(()));
            assert!(!answer.contains(&self.token), "{answer}");
        }
    }

    #[test]
    fn the_right_head_comes_in_and_compression_is_declined() {
        let window = guarded_window();
        let answer =
            window.get(&window.and("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"));
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        assert!(
            answer.to_lowercase().contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="),
            "{answer}"
        );
        assert!(!answer.to_lowercase().contains("extensions"), "{answer}");
        let answer = window.get(&window.with(format!("Host: LOCALHOST:{}", window.port)));
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    }

    #[test]
    fn without_the_token_of_this_window_nobody_comes_in() {
        let window = guarded_window();
        const TOKEN: &str = "X-Claude-Code-Ide-Authorization";
        let get = "GET / HTTP/1.1";
        let strict = guarded_window_in(World::with_config("dialects_off = [\"clio\"]\n"));
        strict.refuses(401, "noToken", get, &strict.without(TOKEN));
        window.refuses(401, "wrongToken", get, &window.with(format!("{TOKEN}: {}", "0".repeat(36))));
        window.refuses(401, "wrongToken", get, &window.with(format!("{TOKEN}: ")));
        let (almost, _) = window.token.split_at(35);
        window.refuses(401, "wrongToken", get, &window.with(format!("{TOKEN}: {almost}")));
        window.refuses(400, "twoTokens", get, &window.and(format!("{TOKEN}: {}", window.token)));
        let both = window.and(format!("X-Nexus3-Ide-Authorization: {}", window.token));
        window.refuses(400, "twoTokens", get, &both);
        // In a header of no dialect.
        let mut elsewhere = strict.without(TOKEN);
        elsewhere.push(format!("Authorization: Bearer {}", strict.token));
        strict.refuses(401, "noToken", &format!("GET /?token={} HTTP/1.1", strict.token), &elsewhere);
        assert!(!window.world.log().contains(&window.token));
        assert!(window.world.log().contains("wrongToken"));
    }

    #[test]
    fn the_token_of_an_earlier_window_is_worth_nothing() {
        let world = World::with_config("window_grace_seconds = 0\n");
        let first = guarded_window_in(world);
        let old = first.token.clone();
        let GuardedWindow { serve, world, .. } = first;
        serve.interrupt();
        let other = world.folder("other");
        let serve = world.serve_folders(&[&other]);
        let token = WsDialect::Claude.lock(&world, serve.port)["authToken"].as_str().unwrap().to_owned();
        assert_ne!(token, old);
        let window = GuardedWindow { port: serve.port, token, serve, world };
        let lines = window.with(format!("X-Claude-Code-Ide-Authorization: {old}"));
        window.refuses(401, "wrongToken", "GET / HTTP/1.1", &lines);
    }

    #[test]
    fn only_requests_to_this_very_address_are_served() {
        let window = guarded_window();
        let get = "GET / HTTP/1.1";
        for host in ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "[::1]", "127.0.0.2", ""] {
            let host = if host.contains(':') { host.to_owned() } else { format!("{host}:{}", window.port) };
            let lines = match host.as_str() {
                own if own == format!("127.0.0.1:{}", window.port) => continue,
                own if own == format!("localhost:{}", window.port) => continue,
                other => window.with(format!("Host: {other}")),
            };
            window.refuses(421, "wrongHost", get, &lines);
        }
        window.refuses(421, "wrongHost", get, &window.with("Host: 127.0.0.1"));
        window.refuses(421, "wrongHost", get, &window.with("Host: localhost"));
        window.refuses(421, "wrongHost", get, &window.without("Host"));
        window.refuses(421, "wrongHost", get, &window.and(format!("Host: 127.0.0.1:{}", window.port)));
    }

    #[test]
    fn no_web_page_is_served_even_with_the_token() {
        let window = guarded_window();
        let own = format!("http://127.0.0.1:{}", window.port);
        for origin in ["null", "https://evil.example", "http://localhost", "", &own] {
            window.refuses(403, "fromBrowser", "GET / HTTP/1.1", &window.and(format!("Origin: {origin}")));
        }
    }

    #[test]
    fn other_paths_and_plain_requests_are_refused() {
        let window = guarded_window();
        for path in ["/mcp/", "/..", "//", "/%2e"] {
            window.refuses(404, "unknownPath", &format!("GET {path} HTTP/1.1"), &window.lines());
        }
        for missing in ["Upgrade", "Connection", "Sec-WebSocket-Version", "Sec-WebSocket-Key"] {
            window.refuses(426, "notWebSocket", "GET / HTTP/1.1", &window.without(missing));
        }
        window.refuses(426, "notWebSocket", "GET / HTTP/1.1", &window.with("Sec-WebSocket-Version: 8"));
        window.refuses(426, "notWebSocket", "HEAD / HTTP/1.1", &window.lines());
    }

    #[test]
    fn a_body_is_not_waited_for() {
        let window = guarded_window();
        let lines = window.and("Content-Length: 1000000");
        window.refuses(426, "notWebSocket", "POST / HTTP/1.1", &lines);
        let stranger: Vec<String> = lines.into_iter().filter(|line| !line.starts_with("X-Claude")).collect();
        window.refuses(401, "noToken", "POST / HTTP/1.1", &stranger);
    }

    #[test]
    fn a_head_that_is_none_or_too_large_is_refused() {
        let window = guarded_window();
        let before = window.refused("badHead");
        let garbage = "\u{1}\u{2} not http at all\r\n\r\n";
        let mut stream = window.connect();
        stream.write_all(garbage.as_bytes()).unwrap();
        let said = answer(&mut stream);
        assert!(said.starts_with("HTTP/1.1 400 "), "{said}");

        let large = window.and(format!("X-Large: {}", "x".repeat(64 * 1024)));
        let mut stream = window.connect();
        let _ = stream.write_all(head("GET / HTTP/1.1", &large).as_bytes());
        let said = answer(&mut stream);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 431 "), "{said}");

        let many: Vec<String> =
            window.lines().into_iter().chain((0..200).map(|n| format!("X-{n}: 1"))).collect();
        let said = window.ask("GET / HTTP/1.1", &many);
        assert!(said.starts_with("HTTP/1.1 431 "), "{said}");
        eventually("they are counted", || (window.refused("badHead") == before + 3).then_some(()));
    }

    #[test]
    fn a_head_that_drips_is_cut_off() {
        let window = guarded_window();
        let mut stream = window.connect();
        let begun = Instant::now();
        stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let mut said = Vec::new();
        loop {
            assert!(begun.elapsed() < DEADLINE, "a slow head is waited for without end");
            let _ = stream.write_all(b"X-A: b\r\n");
            let mut bytes = [0; 256];
            match stream.read(&mut bytes) {
                Ok(0) => break,
                Ok(length) => said.extend_from_slice(&bytes[..length]),
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                    ) => {}
                Err(_) => break,
            }
        }
        let said = String::from_utf8_lossy(&said);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408 "), "{said}");
        eventually("it is counted", || (window.refused("slowHead") == 1).then_some(()));
    }

    #[test]
    fn one_connection_too_many_is_told_so_and_the_others_go_on() {
        let window = guarded_window_in(World::with_config("[limits]\nconnections = 2\n"));
        let mut first = Agent::claude(&window.world, window.port);
        let second = Agent::nexus3(&window.world, window.port);
        window.refuses(503, "tooManyConnections", "GET / HTTP/1.1", &window.lines());
        first.is_served();
        second.goodbye();
        eventually("there is room again", || {
            Agent::open(window.port, &[(WsDialect::Claude.header(), &window.token)]).ok()
        })
        .is_served();
        drop(first);
    }

    mod as_root {
        use super::*;

        #[test]
        fn another_user_is_refused_with_the_right_token_too() {
            let window = guarded_window();
            let head = head("GET / HTTP/1.1", &window.lines());
            let said = exchange_as_another_user(window.port, &head);
            assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
            eventually("it is counted", || (window.refused("otherUser") == 1).then_some(()));
        }
    }

    #[test]
    fn every_listening_socket_is_on_loopback() {
        let window = guarded_window();
        let hub = window.world.hub_pid().unwrap();
        let inodes: Vec<String> = fs::read_dir(format!("/proc/{hub}/fd"))
            .unwrap()
            .filter_map(|entry| {
                fs::read_link(entry.ok()?.path()).ok()?.to_str()?.strip_prefix("socket:[").map(str::to_owned)
            })
            .map(|inode| inode.trim_end_matches(']').to_owned())
            .collect();
        let mut found = 0;
        for table in ["/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"] {
            for line in fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
                let columns: Vec<&str> = line.split_ascii_whitespace().collect();
                if inodes.iter().any(|inode| columns.get(9) == Some(&inode.as_str())) {
                    assert!(columns[1].starts_with("0100007F:"), "{line}");
                    found += 1;
                }
            }
        }
        assert!(found >= 1);
    }

    #[test]
    fn what_the_hub_keeps_is_for_its_owner_only() {
        let window = guarded_window();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
        let world = &window.world;
        assert_eq!(mode(&world.runtime()), 0o700);
        assert_eq!(mode(&world.socket()), 0o600);
        assert_eq!(mode(&world.runtime().join("hub.lock")), 0o600);
        assert_eq!(mode(&world.state()), 0o700);
        for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
            assert_eq!(mode(&dialect.folder(world)), 0o700);
            assert_eq!(mode(&dialect.folder(world).join(format!("{}.lock", window.port))), 0o600);
        }
        assert!(world.journal().exists());
        drop(window);
    }

    #[test]
    fn a_runtime_directory_that_is_not_ours_alone_is_not_used() {
        for command in [["hub", "start"], ["hub", "run"]] {
            let world = World::new();
            let elsewhere = world.folder("elsewhere");
            symlink(&elsewhere, world.runtime()).unwrap();
            let ran = world.run(&command);
            assert_ne!(ran.code, 0, "{command:?}: {ran:?}");
            assert!(ran.stderr.contains("runtime directory"), "{command:?}: {ran:?}");
            fs::remove_file(world.runtime()).unwrap();

            if rustix::process::getuid().is_root() {
                fs::create_dir(world.runtime()).unwrap();
                std::os::unix::fs::chown(world.runtime(), Some(65534), Some(65534)).unwrap();
                let ran = world.run(&command);
                assert_ne!(ran.code, 0, "{command:?}: {ran:?}");
                assert!(ran.stderr.contains("65534"), "{command:?}: {ran:?}");
                fs::remove_dir_all(world.runtime()).unwrap();
            }

            fs::create_dir(world.runtime()).unwrap();
            fs::set_permissions(world.runtime(), fs::Permissions::from_mode(0o777)).unwrap();
            world.run(&["hub", "start"]).ok();
            assert_eq!(fs::metadata(world.runtime()).unwrap().mode() & 0o777, 0o700, "tightened before use");
        }
    }

    #[test]
    fn a_refused_stranger_learns_nothing_of_the_window() {
        let window = guarded_window();
        let said: Value = Value::String(window.get(&[format!("Host: 127.0.0.1:{}", window.port)]));
        let said = said.as_str().unwrap();
        for secret in [window.token.as_str(), window.world.workspace().to_str().unwrap(), "linkspan"] {
            assert!(!said.contains(secret), "{said}");
        }
        drop(window.serve);
    }
}
