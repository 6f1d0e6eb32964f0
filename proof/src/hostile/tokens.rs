//! Whoever does not have the token of this very window, at this moment.

use linkspan_testkit::page_door::{Browser, body_lines, cookie, link, offer, plain};
use linkspan_testkit::raw::{Request, another_user, exchange_as_another_user, status};
use linkspan_testkit::{Dialect, EditorBuilder, Line, eventually};
use serde_json::json;

use super::door::Door;
use super::stage::{SECRET, Stage};
use super::{Attack, OF_STRANGERS, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack {
            name: "wrong tokens",
            doors: "claude, nexus3, gemini, ppxai, ppxai's own port",
            // With it, whoever shows no token at `/` is taken for Clio, which has none.
            config: "dialects_off = [\"clio\"]\n",
            run: wrong_tokens,
            ..OF_STRANGERS
        },
        Attack {
            name: "old and others' tokens",
            doors: "claude, nexus3, gemini",
            config: "window_grace_seconds = 0\n",
            run: old_tokens,
            ..OF_STRANGERS
        },
        Attack {
            name: "wrong cookies and links",
            doors: "page, page's socket",
            run: wrong_cookies,
            ..OF_STRANGERS
        },
        Attack {
            name: "another user",
            doors: "all, the hub's socket, files with tokens",
            run: another_users,
            ..OF_STRANGERS
        },
    ]
}

const WITH_TOKEN: [Door; 5] = [Door::Claude, Door::Nexus3, Door::Gemini, Door::Ppxai, Door::WellKnown];

pub(super) fn wrong_at(token: &str, at: usize) -> String {
    let mut bytes = token.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
pub(super) fn is_refused(request: &Request, statuses: &[u16], what: &str) {
    let said = request.send();
    assert!(statuses.contains(&status(&said)), "{what}: {}\n{said}", request.text());
    tells_nothing(&said, what);
}

/// Whatever is refused tells nothing, and lets no page of another site read it.
#[track_caller]
pub(super) fn tells_nothing(said: &str, what: &str) {
    let lower = said.to_lowercase();
    for word in [SECRET, "access-control", "set-cookie"] {
        assert!(!lower.contains(&word.to_lowercase()), "{what}: {said}");
    }
}

fn wrong_tokens(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    for door in WITH_TOKEN {
        let (right, good) = (door.token(stage), door.request(stage));
        let line = |token: &str| door.token_line(token).unwrap();
        let name = line("").split(':').next().unwrap().to_owned();
        let bare = good.without(&name);
        let mut refused = |request: &Request, statuses: &[u16], what: &str| {
            is_refused(request, statuses, &format!("{} {what}", door.name()));
            tries += 1;
        };
        refused(&bare, &[401], "no token");
        for wrong in [
            String::new(),
            "x".into(),
            wrong_at(right, 0),
            wrong_at(right, right.len() - 1),
            right.chars().skip(1).collect(),
            format!("{right}0"),
            right.to_uppercase(),
            format!("{right}, {right}"),
            format!("\"{right}\""),
            right.repeat(100),
            "0".repeat(right.len()),
            format!("{right}\u{e9}"),
        ] {
            refused(&good.with(line(&wrong)), &[401], &format!("token {wrong:?}"));
        }
        refused(&good.and(line(right)), &[400], "the token twice");
        // Where no dialect has it.
        let first = bare.first.replacen(" HTTP/1.1", &format!("?token={right} HTTP/1.1"), 1);
        let cookie = format!("Cookie: token={right}; authToken={right}");
        refused(&bare.asking(&first).and(cookie), &[401], "the token elsewhere");
        let header = if door == Door::Claude { Door::Nexus3 } else { Door::Claude };
        // A WebSocket's header opens no other door; two of them open none.
        if [Door::Claude, Door::Nexus3].contains(&door) {
            refused(&good.and(header.token_line(right).unwrap()), &[400], "tokens of two dialects");
        } else {
            refused(&bare.and(header.token_line(right).unwrap()), &[401], "in another dialect's header");
        }
        if door == Door::Gemini {
            for scheme in ["Basic", "Bearer\t", "Bearer  ", ""] {
                let other = format!("Authorization: {scheme} {right}");
                refused(&good.with(other), &[401], scheme);
            }
        }
    }
    let log = stage.world.log();
    assert!(!log.contains(&stage.token) && log.contains("wrongToken"), "the token is in no log");
    Seen::new(tries, "401 (400 with two tokens); the token is in no log")
}

fn old_tokens(stage: &mut Stage) -> Seen {
    let mut tries = 0;
    let folders = ["before", "after"].map(|name| stage.world.folder(name));
    let window = |stage: &Stage, at: usize| {
        let editor = EditorBuilder::new(&stage.world).folders(&folders[at..=at]).attach();
        let token =
            Dialect::Claude.lock(&stage.world, editor.port())["authToken"].as_str().unwrap().to_owned();
        (editor, token)
    };
    let (before, old) = window(stage, 0);
    let gone = before.port();
    before.detach();
    let lock = Dialect::Claude.folder(&stage.world).join(format!("{gone}.lock"));
    eventually("the window is forgotten", || (!lock.exists()).then_some(()));
    let (after, others) = window(stage, 1);
    assert!(
        old != others && others != stage.token && old != stage.token,
        "each window has a token of its own"
    );
    for door in [Door::Claude, Door::Nexus3, Door::Gemini] {
        let good = door.request(stage);
        for (token, what) in [(&old, "of a window that was"), (&others, "of another window")] {
            is_refused(&good.with(door.token_line(token).unwrap()), &[401], what);
            tries += 1;
        }
        let there = Request { port: after.port(), ..good.with(format!("Host: 127.0.0.1:{}", after.port())) };
        is_refused(&there, &[401], "our token at another window");
        tries += 1;
    }
    after.detach();
    Seen::new(tries, "401")
}

fn wrong_cookies(stage: &mut Stage) -> Seen {
    let (mut tries, right) = (0, stage.browser.cookie.clone());
    let (name, value) = right.split_once('=').unwrap();
    for door in [Door::PageSession, Door::PageSocket] {
        let good = door.request(stage);
        let mut cookies = vec![
            format!("{name}="),
            format!("{name}={}", wrong_at(value, 0)),
            format!("{name}={}", wrong_at(value, value.len() - 1)),
            format!("{name}={}", value.chars().skip(1).collect::<String>()),
            format!("{name}={value}0"),
            format!("{}x={value}", name),
            format!("{name}={}", stage.token),
        ]
        .into_iter();
        is_refused(&good.without("Cookie"), &[401], "no cookie");
        tries += 1;
        cookies.try_for_each(|cookie| -> Option<()> {
            is_refused(&good.with(format!("Cookie: {cookie}")), &[401], &cookie);
            tries += 1;
            Some(())
        });
    }
    let (port, secret) = link(&stage.world);
    let last = wrong_at(&secret, secret.len() - 1);
    for wrong in ["", "x", &last, &wrong_at(&secret, 0), &secret.chars().skip(1).collect::<String>(), value] {
        let said = offer(port, wrong);
        assert!([400, 403].contains(&status(&said)) && cookie(&said).is_none(), "{wrong}: {said}");
        tries += 1;
    }
    Browser::with(port, &secret);
    assert_eq!(status(&offer(port, &secret)), 403, "a link is used once");
    // Access that was taken back is over.
    let answer = Line::to(&stage.world).ask("page/revoke", json!({}));
    assert!(answer["error"].is_null(), "{answer}");
    for door in [Door::PageSession, Door::PageSocket] {
        is_refused(&door.request(stage), &[401], "a cookie that was revoked");
        tries += 1;
    }
    let (_, secret) = link(&stage.world);
    stage.browser = Browser::with(port, &secret);
    Seen::new(tries + 1, "401; links 403; none works twice, nor after `page --revoke`")
}

fn another_users(stage: &mut Stage) -> Seen {
    if !rustix::process::getuid().is_root() {
        return Seen::not_tried("only root can become another user");
    }
    let mut tries = 0;
    let (port, secret) = link(&stage.world);
    let body = json!({ "secret": secret }).to_string();
    let session =
        Request { first: "POST /session HTTP/1.1".into(), lines: body_lines(port, &body), body, port };
    let document = Request::get(port, "/", &plain(port));
    let doors = Door::ALL.map(|door| door.request(stage));
    for request in doors.iter().chain([&session, &document]) {
        let said = exchange_as_another_user(request.port, &request.text()).unwrap();
        assert_eq!(status(&said), 403, "{}\n{said}", request.text());
        tells_nothing(&said, "another user");
        tries += 1;
    }
    eventually("each is counted", || (stage.refused("otherUser") == tries).then_some(()));
    // The test's own folder is closed to others; what Linkspan itself closes is what counts.
    let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(stage.world.root(), open).unwrap();
    let world = &stage.world;
    let mut kept = vec![world.journal(), world.state().join("hub.log"), world.runtime().join("page.json")];
    kept.push(world.runtime().join("hub.lock"));
    kept.extend(world.discovery_files().into_iter().chain(world.gemini_files()));
    kept.push(world.home().join(".clio/ide/bridge.json"));
    for path in &kept {
        assert!(path.exists(), "{}", path.display());
        let ran = another_user(&format!("cat {0}; echo x >> {0}", path.display())).unwrap().output().unwrap();
        assert!(!ran.status.success() && ran.stdout.is_empty(), "{}: {ran:?}", path.display());
        tries += 1;
    }
    let as_other =
        "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint('in')";
    let socket = world.socket();
    let ran = another_user(&format!("python3 -c \"{as_other}\" {0} || cat < {0}", socket.display()));
    let ran = ran.unwrap().output().unwrap();
    assert!(!ran.status.success() && ran.stdout.is_empty(), "the hub's socket: {ran:?}");
    Seen::new(
        usize::try_from(tries + 1).unwrap(),
        "403 by each door, counted; no file or socket could be opened",
    )
}
