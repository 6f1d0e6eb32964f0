//! `linkspan page` and `linkspan serve --open`: the link, which program receives it, and revoking access. What each
//! visitor of the page may do is tested in `hub/page_access`.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};
    use std::thread;

    use linkspan_editor_api::{
        Decoder, HubHello, HubHelloResult, Limits, Message, PROTOCOL, Request, RpcError, encode, errors,
    };
    use rustix::process::Signal;
    use serde_json::{Value, json};

    use crate::support::world::{finish, signal};
    use crate::support::*;

    /// A program under the name of the system's opener, which records its arguments and then does this.
    struct Opener {
        folder: PathBuf,
    }

    impl Opener {
        fn install(world: &World, and_then: &str) -> Opener {
            let folder = world.folder("openers");
            let program = folder.join("xdg-open");
            let given = folder.join("given");
            fs::write(&program, format!("#!/bin/sh\nprintf %s \"$1\" > {}\n{and_then}\n", given.display()))
                .unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            Opener { folder }
        }

        /// A command that has a display and no opener but this.
        fn command(&self, world: &World, args: &[&str]) -> Command {
            let mut command = world.command(args);
            command.env("PATH", &self.folder).env("DISPLAY", ":1");
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        }

        fn run(&self, world: &World, args: &[&str]) -> CommandResult {
            finish(self.command(world, args).spawn().unwrap())
        }

        #[track_caller]
        fn was_given(&self) -> String {
            eventually("the opener was called", || fs::read_to_string(self.folder.join("given")).ok())
        }
    }

    #[track_caller]
    fn secret_of(url: &str) -> &str {
        let (address, secret) = url.trim_end().split_once("/#").unwrap();
        assert!(address.starts_with("http://127.0.0.1:"), "{url}");
        assert!(secret.len() >= 40, "{url}");
        secret
    }

    /// Uses a link as the page does; returns the first line of the answer.
    fn exchange(url: &str) -> String {
        let (address, secret) = url.split_once("/#").unwrap();
        let host = address.strip_prefix("http://").unwrap();
        let body = json!({ "secret": secret }).to_string();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        write!(
            stream,
            "POST /session HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().next().unwrap().to_owned()
    }

    #[test]
    fn a_program_gets_the_link_alone_and_each_is_another_one() {
        let world = World::new();
        let (first, second) = (world.run(&["page"]).ok().stdout, world.run(&["page"]).ok().stdout);
        assert_eq!(first.lines().count(), 1, "{first}");
        assert_ne!(secret_of(&first), secret_of(&second));
        let document = world.json(&["page"]);
        let port = document["port"].as_u64().unwrap();
        assert!(document["url"].as_str().unwrap().starts_with(&format!("http://127.0.0.1:{port}/#")));
        assert_eq!((&document["expiresInSeconds"], &document["browserAsked"]), (&json!(600), &json!(false)));
    }

    #[test]
    fn a_person_is_told_what_the_link_is_good_for_and_behind_ssh_how_to_get_there() {
        let world = World::new();
        let port = world.json(&["page"])["port"].as_u64().unwrap();
        let forward = format!("ssh -L {port}:127.0.0.1:{port} HOST");
        for (variables, is_remote) in
            [(vec![], false), (vec![("SSH_CONNECTION", "192.0.2.1 5 192.0.2.2 22")], true)]
        {
            let mut tty = Tty::run(&world, 120, 20, &["page"], &variables);
            tty.sees("Works once, within 10 minutes, for you on this machine only.");
            assert_eq!(tty.ends(), 0);
            assert_eq!(tty.text().contains(&forward), is_remote, "{}", tty.text());
        }
    }

    #[test]
    fn a_browser_is_asked_and_the_link_is_there_as_well() {
        let world = World::new();
        // The failure of the second is not reported: the command has ended by then.
        for and_then in ["exit 0", "/bin/sleep 1; exit 3"] {
            let opener = Opener::install(&world, and_then);
            let ran = opener.run(&world, &["page", "--open"]).ok();
            assert_eq!(ran.stdout.trim_end(), opener.was_given());
            let path = opener.folder.to_str().unwrap().to_owned() + ":/usr/bin:/bin";
            let variables = [("PATH", path.as_str()), ("DISPLAY", ":1")];
            let mut tty = Tty::run(&world, 120, 20, &["page", "--open"], &variables);
            assert_eq!(tty.ends(), 0);
            tty.sees("Opening it in your browser");
            tty.sees("/#");
        }
        let opener = Opener::install(&world, "exit 0");
        assert_eq!(
            opener.run(&world, &["page", "--open", "--json"]).ok().json()["browserAsked"],
            json!(true)
        );
    }

    /// A hub that is older than the page, for one request.
    fn older_hub(world: &World) -> thread::JoinHandle<()> {
        let socket = world.socket();
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        fs::set_permissions(socket.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut decoder = Decoder::new(Limits::default());
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                decoder.push(&buffer[..length]);
                while let Some(frame) = decoder.next().unwrap() {
                    let Message::Request { id, method, .. } = Message::parse(&frame).unwrap() else {
                        continue;
                    };
                    let hello = HubHelloResult {
                        version: env!("CARGO_PKG_VERSION").into(),
                        protocol: PROTOCOL,
                        pid: std::process::id(),
                        started_at_ms: 0,
                    };
                    let answer = match method == HubHello::METHOD {
                        true => Message::response(id, &hello),
                        false => Message::error(Some(id), RpcError::new(errors::METHOD_NOT_FOUND, method)),
                    };
                    stream.write_all(&encode(&answer.to_bytes())).unwrap();
                }
            }
            fs::remove_file(socket).unwrap();
        })
    }

    #[test]
    fn where_the_hub_is_older_than_the_page_it_is_said_what_to_do() {
        let world = World::new();
        for args in [&["page"][..], &["page", "--revoke"]] {
            let hub = older_hub(&world);
            let ran = world.run(args);
            hub.join().unwrap();
            assert_eq!(ran.code, 6, "{ran:?}");
            assert!(ran.stderr.contains("`linkspan hub stop`"), "{ran:?}");
        }
    }

    #[test]
    fn where_nothing_can_be_opened_the_link_is_printed_and_the_reason_holds_no_secret() {
        let world = World::new();
        let without_a_screen = world.run(&["page", "--open"]).ok();
        secret_of(&without_a_screen.stdout);
        assert!(without_a_screen.stderr.contains("no display"), "{without_a_screen:?}");
        let failing = Opener::install(&world, "exit 3").run(&world, &["page", "--open"]).ok();
        let secret = secret_of(&failing.stdout);
        assert!(failing.stderr.contains("cannot open a browser"), "{failing:?}");
        assert!(!failing.stderr.contains(secret), "{failing:?}");
    }

    #[test]
    fn revoking_takes_back_what_was_given_and_says_how_much() {
        let world = World::new();
        let taken_back = |sessions: u32, links: u32| json!({ "sessions": sessions, "links": links });
        assert_eq!(world.json(&["page", "--revoke"]), taken_back(0, 0));
        let urls: Vec<String> =
            (0..3).map(|_| world.json(&["page"])["url"].as_str().unwrap().to_owned()).collect();
        assert_eq!(exchange(&urls[0]), "HTTP/1.1 204 No Content");
        let said = world.run(&["page", "--revoke"]).ok().stdout;
        assert_eq!(said, "revoked the access of 1 browser and 2 unused links\n");
        assert!(exchange(&urls[1]).contains("403"));
        assert_eq!(world.run(&["page", "--revoke"]).ok().stdout, "no browser had access\n");
        assert_eq!(world.run(&["page", "--revoke", "--open"]).code, 2);
    }

    #[test]
    fn serve_opens_the_page_once_its_window_is_there() {
        let world = World::new();
        let opener = Opener::install(&world, "exit 0");
        let mut child = opener.command(&world, &["serve", "--open", "--json"]).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let events: Vec<Value> =
            lines.take(2).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert_eq!((&events[0]["event"], &events[1]["event"]), (&json!("listening"), &json!("page")));
        assert_eq!(events[1]["browserAsked"], json!(true));
        assert_eq!(events[1]["url"], json!(opener.was_given()));
        signal(child.id(), Signal::INT);
        assert_eq!(finish(child).code, 0);
    }
}
