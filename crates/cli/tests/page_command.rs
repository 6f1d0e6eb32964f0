//! `linkspan page` and `linkspan serve --open` from outside: the link, who is given it, and taking access back. What
//! the page lets whom do is in `page_access`.

#[cfg(test)]
mod support;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};

    use rustix::process::Signal;
    use serde_json::{Value, json};

    use crate::support::world::{finish, signal};
    use crate::support::*;

    /// A program under the name of the system's opener, which notes what it is given and ends with this code.
    struct Opener {
        folder: PathBuf,
    }

    impl Opener {
        fn install(world: &World, code: u8) -> Opener {
            let folder = world.folder("openers");
            let program = folder.join("xdg-open");
            let given = folder.join("given");
            fs::write(&program, format!("#!/bin/sh\nprintf %s \"$1\" > {}\nexit {code}\n", given.display()))
                .unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            Opener { folder }
        }

        /// A command that has a screen and no other opener than this.
        fn command(&self, world: &World, args: &[&str]) -> Command {
            let mut command = world.command(args);
            command.env("PATH", &self.folder).env("DISPLAY", ":1");
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        }

        fn run(&self, world: &World, args: &[&str]) -> Ran {
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

    /// Does what the page does with its link; gives the first line of the answer.
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
        assert_eq!((&document["expiresInSeconds"], &document["opened"]), (&json!(600), &json!(false)));
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
            tty.sees("Good once, within 10 minutes, for you on this machine only.");
            assert_eq!(tty.ends(), 0);
            assert_eq!(tty.text().contains(&forward), is_remote, "{}", tty.text());
        }
    }

    #[test]
    fn a_link_that_the_browser_was_given_is_not_shown_as_well() {
        let world = World::new();
        let opener = Opener::install(&world, 0);
        let ran = opener.run(&world, &["page", "--open"]).ok();
        let given = opener.was_given();
        assert!(!ran.stdout.contains(secret_of(&given)), "{ran:?}");
        assert!(ran.stdout.contains("opens in your browser"), "{ran:?}");
        assert_eq!(opener.run(&world, &["page", "--open", "--json"]).ok().json()["opened"], json!(true));
    }

    #[test]
    fn where_nothing_can_be_opened_the_link_is_printed_and_the_reason_holds_no_secret() {
        let world = World::new();
        let without_a_screen = world.run(&["page", "--open"]).ok();
        secret_of(&without_a_screen.stdout);
        assert!(without_a_screen.stderr.contains("no screen"), "{without_a_screen:?}");
        let failing = Opener::install(&world, 3).run(&world, &["page", "--open"]).ok();
        let secret = secret_of(&failing.stdout);
        assert!(failing.stderr.contains("no browser was opened"), "{failing:?}");
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
        assert_eq!(said, "took back the access of 1 browser and 2 unused links\n");
        assert!(exchange(&urls[1]).contains("403"));
        assert_eq!(world.run(&["page", "--revoke"]).ok().stdout, "no browser had access\n");
        assert_eq!(world.run(&["page", "--revoke", "--open"]).code, 2);
    }

    #[test]
    fn serve_opens_the_page_once_its_window_is_there() {
        let world = World::new();
        let opener = Opener::install(&world, 0);
        let mut child = opener.command(&world, &["serve", "--open", "--json"]).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let events: Vec<Value> =
            lines.take(2).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert_eq!((&events[0]["event"], &events[1]["event"]), (&json!("listening"), &json!("page")));
        assert_eq!(events[1]["opened"], json!(true));
        assert_eq!(events[1]["url"], json!(opener.was_given()));
        signal(child.id(), Signal::INT);
        assert_eq!(finish(child).code, 0);
    }
}
