//! Who may use the browser page, over real sockets with raw bytes: another site, another user or a guessed port
//! gets nothing, and access ends when it is said to end.

#[cfg(test)]
mod support;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};
    use tungstenite::Message;

    use crate::support::raw::{answer, connect, exchange, exchange_as_another_user, head};
    use crate::support::world::alive;
    use crate::support::*;

    /// A hub whose page is served.
    struct Door {
        port: u16,
        secret: String,
        world: World,
    }

    /// A browser that was let in.
    struct Browser {
        port: u16,
        cookie: String,
    }

    fn door() -> Door {
        door_in(World::new())
    }

    fn door_in(world: World) -> Door {
        world.run(&["hub", "start"]).ok();
        let (port, secret) = link(&world);
        Door { port, secret, world }
    }

    fn ask(world: &World, method: &str) -> Value {
        Line::to(world).ask(method, json!({}))
    }

    /// The port and the secret of a fresh link.
    #[track_caller]
    fn link(world: &World) -> (u16, String) {
        let answer = ask(world, "page/link");
        let link = &answer["result"];
        let port = u16::try_from(link["port"].as_u64().unwrap_or_else(|| panic!("{answer}"))).unwrap();
        let url = link["url"].as_str().unwrap();
        let secret = url.strip_prefix(&format!("http://127.0.0.1:{port}/#")).unwrap();
        assert_eq!(link["expiresInSeconds"], 600);
        (port, secret.to_owned())
    }

    /// The lines that every request has.
    fn plain(port: u16) -> Vec<String> {
        vec![format!("Host: 127.0.0.1:{port}"), "Connection: close".into()]
    }

    fn own(port: u16) -> String {
        format!("Origin: http://127.0.0.1:{port}")
    }

    fn with(lines: &[String], line: impl Into<String>) -> Vec<String> {
        let line = line.into();
        let name = format!("{}:", line.split(':').next().unwrap_or_default());
        lines.iter().filter(|other| !other.starts_with(&name)).cloned().chain([line]).collect()
    }

    fn body_lines(port: u16, body: &str) -> Vec<String> {
        let mut lines = plain(port);
        lines.extend([own(port), "Content-Type: application/json".into()]);
        lines.push(format!("Content-Length: {}", body.len()));
        lines
    }

    fn offer(port: u16, secret: &str) -> String {
        let body = json!({ "secret": secret }).to_string();
        exchange(port, &(head("POST /session HTTP/1.1", &body_lines(port, &body)) + &body))
    }

    fn cookie(said: &str) -> Option<String> {
        let line = said.lines().find_map(|line| line.strip_prefix("set-cookie: "))?;
        Some(line.split(';').next()?.to_owned())
    }

    fn status(said: &str) -> u16 {
        said.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{said:?}"))
    }

    impl Door {
        fn get(&self, path: &str) -> String {
            exchange(self.port, &head(&format!("GET {path} HTTP/1.1"), &plain(self.port)))
        }

        fn refused(&self, name: &str) -> u64 {
            self.world.status()["refused"][name].as_u64().unwrap_or(0)
        }

        #[track_caller]
        fn refuses(&self, code: u16, name: &str, bytes: &str) {
            let before = self.refused(name);
            let said = exchange(self.port, bytes);
            assert_eq!(status(&said), code, "{name}: {bytes}\n{said}");
            eventually("it is counted", || (self.refused(name) == before + 1).then_some(()));
            assert!(!said.to_lowercase().contains("access-control"), "{said}");
            assert!(!said.to_lowercase().contains("set-cookie"), "{said}");
        }

        #[track_caller]
        fn let_in(&self) -> Browser {
            Browser::with(self.port, &link(&self.world).1)
        }
    }

    impl Browser {
        #[track_caller]
        fn with(port: u16, secret: &str) -> Browser {
            let said = offer(port, secret);
            assert_eq!(status(&said), 204, "{said}");
            Browser { port, cookie: cookie(&said).unwrap() }
        }

        fn session(&self) -> u16 {
            let lines = with(&plain(self.port), format!("Cookie: other=1; {}", self.cookie));
            status(&exchange(self.port, &head("GET /session HTTP/1.1", &lines)))
        }

        #[track_caller]
        fn open(&self) -> Agent {
            let origin = format!("http://127.0.0.1:{}", self.port);
            Agent::open_at(self.port, "/socket", &[("Origin", &origin), ("Cookie", &self.cookie)]).unwrap()
        }

        fn handshake(&self) -> Vec<String> {
            let mut lines = vec![format!("Host: 127.0.0.1:{}", self.port), own(self.port)];
            lines.extend(["Connection: Upgrade".into(), "Upgrade: websocket".into()]);
            lines.extend(["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x"].map(String::from));
            lines.push(format!("Cookie: {}", self.cookie));
            lines
        }
    }

    #[test]
    fn a_link_is_exchanged_once_for_a_cookie_that_scripts_and_other_sites_do_not_get() {
        let door = door();
        assert_eq!(status(&door.get("/session")), 401);
        let said = offer(door.port, &door.secret);
        assert_eq!(status(&said), 204, "{said}");
        let set = said.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
        assert!(set.starts_with(&format!("set-cookie: linkspan-{}=", door.port)), "{set}");
        assert!(set.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{set}");
        let browser = Browser { port: door.port, cookie: cookie(&said).unwrap() };
        assert_eq!(browser.session(), 204);

        let body = json!({ "secret": door.secret }).to_string();
        let again = head("POST /session HTTP/1.1", &body_lines(door.port, &body)) + &body;
        door.refuses(403, "wrongLink", &again);
        let body = json!({ "secret": "A".repeat(43) }).to_string();
        let guessed = head("POST /session HTTP/1.1", &body_lines(door.port, &body)) + &body;
        door.refuses(403, "wrongLink", &guessed);
        assert_eq!(browser.session(), 204, "the first is not disturbed");

        let secret = browser.cookie.split_once('=').unwrap().1;
        let kept = fs::read_to_string(door.world.runtime().join("page.json")).unwrap();
        for secret in [secret, &door.secret] {
            assert!(!door.world.log().contains(secret) && !kept.contains(secret));
        }
    }

    #[test]
    fn a_cookie_is_worth_something_only_whole_and_under_its_name() {
        let door = door();
        let browser = door.let_in();
        let secret = browser.cookie.split_once('=').unwrap().1;
        for cookie in [
            format!("linkspan={secret}"),
            format!("linkspan-{}={secret}", door.port.wrapping_add(1)),
            format!("linkspan-{}=", door.port),
            format!("linkspan-{}=\"{secret}\"", door.port),
            format!("linkspan-{}={}", door.port, secret.split_at(1).1),
            format!("linkspan-{}={}", door.port, door.secret),
        ] {
            let lines = with(&plain(door.port), format!("Cookie: {cookie}"));
            door.refuses(401, "noSession", &head("GET /session HTTP/1.1", &lines));
            let lines = with(&browser.handshake(), format!("Cookie: {cookie}"));
            door.refuses(401, "noSession", &head("GET /socket HTTP/1.1", &lines));
        }
        // One that another port of this machine has set beside ours.
        let both = format!("linkspan-{}=tossed; {}", door.port, browser.cookie);
        assert_eq!(Browser { port: door.port, cookie: both }.session(), 204);
    }

    #[test]
    fn every_answer_forbids_what_the_page_does_not_need() {
        let door = door();
        let browser = door.let_in();
        let lines = with(&plain(door.port), format!("Cookie: {}", browser.cookie));
        let mut answers: Vec<String> =
            ["/", "/app.js", "/diff.js", "/style.css", "/icon.svg", "/session", "/nope"]
                .map(|path| exchange(door.port, &head(&format!("GET {path} HTTP/1.1"), &lines)))
                .to_vec();
        answers.push(exchange(door.port, &head("GET / HTTP/1.1", &with(&lines, "Host: evil.example"))));
        answers.push(exchange(door.port, &head("OPTIONS /session HTTP/1.1", &lines)));
        for said in &answers {
            for line in [
                "x-frame-options: DENY",
                "x-content-type-options: nosniff",
                "referrer-policy: no-referrer",
                "cross-origin-opener-policy: same-origin",
                "cross-origin-resource-policy: same-origin",
            ] {
                assert!(said.lines().any(|found| found == line), "{line}: {said}");
            }
            let policy = said.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
            assert!(policy.contains("default-src 'none'"), "{said}");
            assert!(policy.contains("frame-ancestors 'none'"), "{said}");
            assert!(!said.to_lowercase().contains("access-control"), "{said}");
        }
        let [document, app] = [&answers[0], &answers[1]];
        assert!(document.contains("cache-control: no-store\r\n"), "{document}");
        assert!(app.contains("cache-control: no-cache\r\n"), "{app}");
        let tag = app.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let known = with(&lines, format!("If-None-Match: {tag}"));
        assert_eq!(status(&exchange(door.port, &head("GET /app.js HTTP/1.1", &known))), 304);
    }

    #[test]
    fn the_documents_nonce_is_fresh_and_its_policy_names_only_ourselves() {
        let door = door();
        let nonce = |said: &str| {
            let (_, after) = said.split_once("'nonce-").unwrap();
            after.split_once('\'').unwrap().0.to_owned()
        };
        let (one, other) = (door.get("/"), door.get("/"));
        assert_ne!(nonce(&one), nonce(&other));
        assert!(one.contains(&format!("content=\"{}\"", nonce(&one))), "{one}");
        assert!(!one.contains("__NONCE__"));
        let policy = one.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
        let connect = format!("connect-src 'self' ws://127.0.0.1:{};", door.port);
        for part in [&connect, "script-src 'self';", "base-uri 'none';", "form-action 'none';"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        let by_name = with(&plain(door.port), format!("Host: localhost:{}", door.port));
        let said = exchange(door.port, &head("GET / HTTP/1.1", &by_name));
        assert!(said.contains(&format!("ws://localhost:{}", door.port)), "{said}");
    }

    #[test]
    fn only_requests_to_this_very_address_are_served() {
        let door = door();
        let lines = plain(door.port);
        for host in ["evil.example", "127.0.0.2", "[::1]", "0.0.0.0", "127.0.0.1.evil.example"] {
            let lines = with(&lines, format!("Host: {host}:{}", door.port));
            door.refuses(421, "wrongHost", &head("GET / HTTP/1.1", &lines));
        }
        for host in ["127.0.0.1", "localhost", "127.0.0.1:1", ""] {
            door.refuses(421, "wrongHost", &head("GET / HTTP/1.1", &with(&lines, format!("Host: {host}"))));
        }
        let twice = [lines.clone(), vec![format!("Host: 127.0.0.1:{}", door.port)]].concat();
        door.refuses(421, "wrongHost", &head("GET / HTTP/1.1", &twice));
        door.refuses(421, "wrongHost", &head("GET http://evil.example/ HTTP/1.1", &lines));
    }

    #[test]
    fn a_page_of_another_site_gets_nothing_with_the_right_cookie_either() {
        let door = door();
        let browser = door.let_in();
        let lines = with(&plain(door.port), format!("Cookie: {}", browser.cookie));
        let other_port = format!("http://127.0.0.1:{}", door.port.wrapping_add(1));
        for origin in ["null", "https://evil.example", "http://127.0.0.1", &other_port] {
            let line = format!("Origin: {origin}");
            for path in ["/", "/app.js", "/session"] {
                let first = format!("GET {path} HTTP/1.1");
                door.refuses(403, "otherOrigin", &head(&first, &with(&lines, line.clone())));
            }
            let socket = with(&browser.handshake(), line.clone());
            door.refuses(403, "otherOrigin", &head("GET /socket HTTP/1.1", &socket));
            let body = json!({ "secret": door.secret }).to_string();
            let form = with(&body_lines(door.port, &body), line);
            door.refuses(403, "otherOrigin", &(head("POST /session HTTP/1.1", &form) + &body));
        }
        for site in ["cross-site", "same-site"] {
            let told = with(&lines, format!("Sec-Fetch-Site: {site}"));
            door.refuses(403, "otherOrigin", &head("GET /session HTTP/1.1", &told));
            let told = with(&browser.handshake(), format!("Sec-Fetch-Site: {site}"));
            door.refuses(403, "otherOrigin", &head("GET /socket HTTP/1.1", &told));
        }
        let framed = with(&with(&lines, "Sec-Fetch-Mode: navigate"), "Sec-Fetch-Dest: iframe");
        door.refuses(403, "otherOrigin", &head("GET / HTTP/1.1", &framed));
        let silent: Vec<String> =
            browser.handshake().into_iter().filter(|line| !line.starts_with("Origin")).collect();
        door.refuses(403, "otherOrigin", &head("GET /socket HTTP/1.1", &silent));
        Browser::with(door.port, &door.secret);
    }

    #[test]
    fn other_paths_and_methods_are_refused() {
        let door = door();
        let lines = plain(door.port);
        for path in ["/index.html", "/..", "//", "/%2e", "/app.js.map", "/session/", "/protocol.ts"] {
            door.refuses(404, "unknownPath", &head(&format!("GET {path} HTTP/1.1"), &lines));
        }
        for (method, path) in [
            ("OPTIONS", "/"),
            ("OPTIONS", "/session"),
            ("HEAD", "/"),
            ("PUT", "/session"),
            ("POST", "/socket"),
        ] {
            door.refuses(405, "wrongMethod", &head(&format!("{method} {path} HTTP/1.1"), &lines));
        }
        let said = exchange(door.port, &head("DELETE /session HTTP/1.1", &lines));
        assert!(said.contains("allow: POST, GET\r\n"), "{said}");
        let browser = door.let_in();
        let plain = with(&with(&lines, own(door.port)), format!("Cookie: {}", browser.cookie));
        door.refuses(426, "notWebSocket", &head("GET /socket HTTP/1.1", &plain));
    }

    #[test]
    fn a_body_is_small_and_json_and_comes_in_time_or_is_not_read() {
        let door = door();
        let post = |lines: &[String], body: &str| head("POST /session HTTP/1.1", lines) + body;
        let good = json!({ "secret": door.secret }).to_string();
        for body in ["", "{}", "secret", "[1]", r#"{"secret":1}"#, &format!("{good}{good}")] {
            door.refuses(400, "badBody", &post(&body_lines(door.port, body), body));
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let lines = with(&body_lines(door.port, &good), format!("Content-Type: {kind}"));
            door.refuses(400, "badBody", &post(&lines, &good));
        }
        let large = format!("{good}{}", " ".repeat(1100));
        door.refuses(400, "badBody", &post(&body_lines(door.port, &large), &large));
        let mut chunked = with(&plain(door.port), own(door.port));
        chunked.extend(["Content-Type: application/json", "Transfer-Encoding: chunked"].map(String::from));
        let endless = format!("{:x}\r\n{}\r\n", 2000, "x".repeat(2000)).repeat(50);
        door.refuses(400, "badBody", &post(&chunked, &endless));
        let begun = Instant::now();
        door.refuses(400, "badBody", &post(&with(&body_lines(door.port, &good), "Content-Length: 900"), "{"));
        assert!(begun.elapsed() < DEADLINE);
        Browser::with(door.port, &door.secret);
    }

    #[test]
    fn another_user_is_refused_with_the_right_cookie_and_the_right_link_too() {
        let door = door();
        let browser = door.let_in();
        let body = json!({ "secret": door.secret }).to_string();
        let lines = with(&plain(door.port), format!("Cookie: {}", browser.cookie));
        let requests = [
            head("GET / HTTP/1.1", &plain(door.port)),
            head("GET /session HTTP/1.1", &lines),
            head("GET /socket HTTP/1.1", &browser.handshake()),
            head("POST /session HTTP/1.1", &body_lines(door.port, &body)) + &body,
        ];
        for (index, request) in requests.iter().enumerate() {
            let Some(said) = exchange_as_another_user(door.port, request) else { return };
            assert_eq!(status(&said), 403, "{said}");
            let counted = index as u64 + 1;
            eventually("it is counted", || (door.refused("otherUser") == counted).then_some(()));
        }
        Browser::with(door.port, &door.secret);
    }

    #[test]
    fn what_is_no_head_is_refused_and_a_connection_made_ahead_of_need_is_no_offence() {
        let door = door();
        let silent = connect(door.port);
        door.refuses(400, "badHead", "\u{1}\u{2} not http at all\r\n\r\n");
        let many = [plain(door.port), (0..200).map(|n| format!("X-{n}: 1")).collect()].concat();
        door.refuses(431, "badHead", &head("GET / HTTP/1.1", &many));
        let mut slow = connect(door.port);
        slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        // A browser's connection that waits for its next request.
        let mut kept = connect(door.port);
        let lines = vec![format!("Host: 127.0.0.1:{}", door.port)];
        kept.write_all(head("GET /icon.svg HTTP/1.1", &lines).as_bytes()).unwrap();
        assert_eq!(status(&answer(&mut kept)), 200, "and then it is closed");
        for mut waiting in [silent, slow] {
            assert!(waiting.read_to_end(&mut Vec::new()).is_ok(), "it is closed");
        }
        eventually("the slow one is counted", || (door.refused("slowHead") == 1).then_some(()));
    }

    #[test]
    fn too_many_connections_are_told_so_and_there_is_room_again() {
        let door = door();
        let browser = door.let_in();
        let mut open: Vec<Agent> = Vec::new();
        let refused = loop {
            match browser.session() {
                204 => open.push(browser.open()),
                refused => break refused,
            }
            assert!(open.len() < 1000, "connections without end");
        };
        assert_eq!(refused, 503);
        open[0].is_served();
        for page in open {
            page.goodbye();
        }
        eventually("there is room again", || (browser.session() == 204).then_some(()));
    }

    #[test]
    fn a_page_sees_reviews_as_they_come_and_decides_them() {
        let door = door();
        let serve = door.world.serve();
        let path = door.world.file("a.txt", "one\ntwo\n");
        let mut page = door.let_in().open();
        page.request("hub/hello", json!({ "version": "1", "protocol": 1, "role": "a forger" }));
        assert!(page.request("hub/watch", json!({}))["error"].is_null());
        let mut agent = Agent::nexus3(&door.world, serve.port);
        let call = agent.propose(&path, "one\n2\n", "a");
        let told = page.find(DEADLINE, |message| message["params"]["what"]["change"]["kind"] == "proposed");
        let review = told.unwrap()["params"]["what"]["review"].clone();
        let listed = page.request("reviews/list", json!({}))["result"]["reviews"][0].clone();
        assert_eq!((&listed["review"], &listed["bytes"]), (&review, &json!(8)));
        let shown = page.request("reviews/get", json!({ "review": review }))["result"]["shown"].clone();
        assert_eq!(shown["proposed"], "one\n2\n");
        let decision = json!({ "review": review, "revision": shown["revision"],
            "decision": { "verdict": { "kind": "accept" }, "comments": [] } });
        assert_eq!(page.request("reviews/decide", decision)["result"]["kind"], "taken");
        assert_eq!(agent.texts(call)[0], "FILE_SAVED");
        assert_eq!(door.world.read_text("a.txt"), "one\n2\n");
        let told = page.find(DEADLINE, |message| message["params"]["what"]["change"]["kind"] == "decided");
        assert_eq!(told.unwrap()["params"]["what"]["change"]["by"], "the browser page");
    }

    #[test]
    fn a_page_can_ask_for_nothing_but_to_look_and_decide() {
        let door = door();
        let mut page = door.let_in().open();
        for method in ["hub/stop", "page/link", "page/revoke", "attach", "agent/join", "review/decided", "x"]
        {
            let answer = page.request(method, json!({ "force": true }));
            assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        }
        page.notify("detach", json!({}));
        page.send_text("{");
        assert_eq!(page.next_frame(DEADLINE).unwrap()["error"]["code"], -32700);
        page.is_served();
        page.send_message(Message::binary(b"{}".to_vec())).unwrap();
        assert_eq!(page.end(), Some(1003));
    }

    #[test]
    fn access_that_is_taken_back_ends_at_once_and_for_every_browser() {
        let door = door();
        let (one, other) = (door.let_in(), door.let_in());
        let mut pages = [one.open(), other.open()];
        assert_eq!(ask(&door.world, "page/revoke")["result"], json!({ "sessions": 2, "links": 1 }));
        for page in &mut pages {
            assert_eq!(page.end(), Some(4001));
        }
        for browser in [&one, &other] {
            assert_eq!(browser.session(), 401);
            let refused = head("GET /socket HTTP/1.1", &browser.handshake());
            assert_eq!(status(&exchange(door.port, &refused)), 401);
        }
        assert_eq!(status(&offer(door.port, &door.secret)), 403, "links go too");
        let kept = fs::read_to_string(door.world.runtime().join("page.json")).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&kept).unwrap(),
            json!({ "port": door.port, "sessions": [] })
        );
        door.let_in().open().is_served();
        assert_eq!(ask(&door.world, "page/revoke")["result"], json!({ "sessions": 1, "links": 0 }));
    }

    #[test]
    fn the_oldest_browser_goes_when_there_are_too_many() {
        let door = door();
        let first = door.let_in();
        let mut page = first.open();
        let others: Vec<Browser> = (0..32).map(|_| door.let_in()).collect();
        assert_eq!(page.end(), Some(4001));
        assert_eq!(first.session(), 401);
        assert!(others.iter().all(|browser| browser.session() == 204));
    }

    #[test]
    fn a_hub_that_was_killed_is_continued_at_the_same_port_with_the_same_cookie() {
        let door = door();
        let browser = door.let_in();
        let mut page = browser.open();
        let kept = door.world.runtime().join("page.json");
        assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0o600);
        for _ in 0..2 {
            door.world.kill_hub();
            assert_eq!(page.end(), None);
            door.world.run(&["hub", "start"]).ok();
            assert_eq!(browser.session(), 204);
            page = browser.open();
            page.is_served();
        }
        assert_eq!(status(&offer(door.port, &door.secret)), 403, "a link is not continued");
        assert_eq!(link(&door.world).0, door.port);
    }

    #[test]
    fn a_hub_that_leaves_takes_access_with_it() {
        let door = door();
        let browser = door.let_in();
        let mut page = browser.open();
        page.is_served();
        door.world.run(&["hub", "stop"]).ok();
        assert_eq!(page.end(), Some(1012));
        assert!(!door.world.runtime().join("page.json").exists());
        door.world.config(&format!("[page]\nport = {}\n", door.port));
        door.world.run(&["hub", "start"]).ok();
        assert_eq!(link(&door.world).0, door.port);
        assert_eq!(browser.session(), 401);
    }

    #[test]
    fn sessions_are_forgotten_when_somebody_else_has_the_port_meanwhile() {
        let door = door();
        let browser = door.let_in();
        door.world.kill_hub();
        let taken = TcpListener::bind(("127.0.0.1", door.port)).unwrap();
        door.world.run(&["hub", "start"]).ok();
        let (port, _) = link(&door.world);
        assert_ne!(port, door.port);
        drop(taken);
        for name in [door.port, port] {
            let cookie = browser.cookie.replace(&door.port.to_string(), &name.to_string());
            assert_eq!(Browser { port, cookie }.session(), 401);
        }
    }

    #[test]
    fn a_damaged_record_of_sessions_keeps_no_hub_from_starting() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let kept = world.runtime().join("page.json");
        for text in ["{", "[1,2]", r#"{"port":80,"sessions":["x"]}"#] {
            world.run(&["hub", "stop"]).ok();
            eventually("it is gone", || (!world.socket().exists()).then_some(()));
            fs::write(&kept, text).unwrap();
            world.run(&["hub", "start"]).ok();
            assert!(!kept.exists(), "{text}");
        }
        link(&world);
    }

    #[test]
    fn the_port_can_be_chosen_and_one_that_cannot_be_had_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let world = World::with_config(&format!("[page]\nport = {port}\n"));
        world.run(&["hub", "start"]).ok();
        let answer = ask(&world, "page/link");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(&port.to_string()) && message.contains("`[page]`"), "{message}");
        drop(taken);
        assert_eq!(link(&world).0, port);
        assert_eq!(link(&world).0, port);
    }

    #[test]
    fn nothing_listens_for_browsers_before_somebody_wants_a_link() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        assert!(!world.runtime().join("page.json").exists());
        let (port, _) = link(&world);
        let kept = fs::read_to_string(world.runtime().join("page.json")).unwrap();
        assert!(kept.contains(&port.to_string()), "{kept}");
    }

    #[test]
    fn an_open_page_keeps_the_hub_and_a_closed_one_does_not() {
        let door = door_in(World::with_config("idle_exit_seconds = 3\n"));
        let browser = door.let_in();
        // The next hub has given out no link that it would stay for.
        door.world.kill_hub();
        door.world.run(&["hub", "start"]).ok();
        let mut page = browser.open();
        let hub = door.world.hub_pid().unwrap();
        std::thread::sleep(Duration::from_secs(5));
        page.is_served();
        page.goodbye();
        eventually("the hub leaves", || (!alive(hub)).then_some(()));
        assert!(!door.world.runtime().join("page.json").exists());
    }

    #[test]
    fn a_page_that_answers_no_ping_is_let_go() {
        let door = door_in(World::with_config("[limits]\nheartbeat_seconds = 1\n"));
        let browser = door.let_in();
        let (mut lively, page) = (browser.open(), browser.open());
        page.freeze();
        eventually("it is let go", || door.world.log().contains("does not answer").then_some(()));
        lively.is_served();
        assert_eq!(door.world.log().matches("does not answer").count(), 1);
        page.thaw();
    }
}
