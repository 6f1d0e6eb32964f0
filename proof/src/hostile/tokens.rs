//! Clients without the token that this window has at this moment.

use linkspan_testkit::page_client::{PageSession, body_lines, cookie, link, offer, plain};
use linkspan_testkit::raw_http::{Request, another_user, exchange_as_another_user, status};
use linkspan_testkit::{EditorBuilder, HubSocket, WsDialect, eventually};
use serde_json::json;

use super::endpoint::HubEndpoint;
use super::fixture::{AttackFixture, SECRET};
use super::{Attack, AttackResult, BY_STRANGERS};

pub(super) fn attacks() -> Vec<Attack> {
    vec![
        Attack {
            name: "wrong tokens",
            endpoints: "claude, nexus3, gemini, copilot, ppxai, ppxai's own port",
            // Otherwise a client without a token at `/` is taken for Clio, which has none.
            config: "dialects_off = [\"clio\"]\n",
            run: wrong_tokens,
            ..BY_STRANGERS
        },
        Attack {
            name: "old and others' tokens",
            endpoints: "claude, nexus3, gemini",
            config: "window_grace_seconds = 0\n",
            run: old_tokens,
            ..BY_STRANGERS
        },
        Attack {
            name: "wrong cookies and links",
            endpoints: "page, page's socket",
            run: wrong_cookies,
            ..BY_STRANGERS
        },
        Attack {
            name: "another user",
            endpoints: "all, the hub's socket, files with tokens",
            run: another_users,
            ..BY_STRANGERS
        },
    ]
}

const WITH_TOKEN: [HubEndpoint; 6] = [
    HubEndpoint::Claude,
    HubEndpoint::Nexus3,
    HubEndpoint::Gemini,
    HubEndpoint::Copilot,
    HubEndpoint::Ppxai,
    HubEndpoint::PpxaiPort,
];

pub(super) fn wrong_at(token: &str, at: usize) -> String {
    let mut bytes = token.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
pub(super) fn is_refused(request: &Request, statuses: &[u16], what: &str) {
    let said = request.send();
    assert!(statuses.contains(&status(&said)), "{what}: {}\n{said}", request.text());
    reveals_nothing(&said, what);
}

/// A refusal reveals nothing, and no page of another site can read it.
#[track_caller]
pub(super) fn reveals_nothing(said: &str, what: &str) {
    let lower = said.to_lowercase();
    for word in [SECRET, "access-control", "set-cookie"] {
        assert!(!lower.contains(&word.to_lowercase()), "{what}: {said}");
    }
}

fn wrong_tokens(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    for endpoint in WITH_TOKEN {
        let (right, good) = (endpoint.token(fixture), endpoint.request(fixture));
        let line = |token: &str| endpoint.token_line(token).unwrap();
        let name = line("").split(':').next().unwrap().to_owned();
        let bare = good.without(&name);
        let mut refused = |request: &Request, statuses: &[u16], what: &str| {
            is_refused(request, statuses, &format!("{} {what}", endpoint.name()));
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
        // A header that no dialect uses.
        let first = bare.first.replacen(" HTTP/1.1", &format!("?token={right} HTTP/1.1"), 1);
        let cookie = format!("Cookie: token={right}; authToken={right}");
        refused(&bare.asking(&first).and(cookie), &[401], "the token elsewhere");
        let header = if endpoint == HubEndpoint::Claude { HubEndpoint::Nexus3 } else { HubEndpoint::Claude };
        // A WebSocket's token header works at no other endpoint; two of them work nowhere.
        if [HubEndpoint::Claude, HubEndpoint::Nexus3].contains(&endpoint) {
            refused(&good.and(header.token_line(right).unwrap()), &[400], "tokens of two dialects");
        } else {
            refused(&bare.and(header.token_line(right).unwrap()), &[401], "in another dialect's header");
        }
        if endpoint == HubEndpoint::Gemini {
            for scheme in ["Basic", "Bearer\t", "Bearer  ", ""] {
                let other = format!("Authorization: {scheme} {right}");
                refused(&good.with(other), &[401], scheme);
            }
        }
    }
    let log = fixture.world.log();
    assert!(!log.contains(&fixture.token) && log.contains("wrongToken"), "the token is in no log");
    AttackResult::new(tries, "401 (400 with two tokens); the token is in no log")
}

fn old_tokens(fixture: &mut AttackFixture) -> AttackResult {
    let mut tries = 0;
    let folders = ["before", "after"].map(|name| fixture.world.folder(name));
    let window = |fixture: &AttackFixture, at: usize| {
        let editor = EditorBuilder::new(&fixture.world).folders(&folders[at..=at]).attach();
        let token =
            WsDialect::Claude.lock(&fixture.world, editor.port())["authToken"].as_str().unwrap().to_owned();
        (editor, token)
    };
    let (before, old) = window(fixture, 0);
    let gone = before.port();
    before.detach();
    let lock = WsDialect::Claude.folder(&fixture.world).join(format!("{gone}.lock"));
    eventually("the window is forgotten", || (!lock.exists()).then_some(()));
    let (after, others) = window(fixture, 1);
    assert!(
        old != others && others != fixture.token && old != fixture.token,
        "each window has a token of its own"
    );
    for endpoint in [HubEndpoint::Claude, HubEndpoint::Nexus3, HubEndpoint::Gemini] {
        let good = endpoint.request(fixture);
        for (token, what) in [(&old, "of a window that was"), (&others, "of another window")] {
            is_refused(&good.with(endpoint.token_line(token).unwrap()), &[401], what);
            tries += 1;
        }
        let there = Request { port: after.port(), ..good.with(format!("Host: 127.0.0.1:{}", after.port())) };
        is_refused(&there, &[401], "our token at another window");
        tries += 1;
    }
    after.detach();
    AttackResult::new(tries, "401")
}

fn wrong_cookies(fixture: &mut AttackFixture) -> AttackResult {
    let (mut tries, right) = (0, fixture.browser.cookie.clone());
    let (name, value) = right.split_once('=').unwrap();
    for endpoint in [HubEndpoint::PageSession, HubEndpoint::PageSocket] {
        let good = endpoint.request(fixture);
        let mut cookies = vec![
            format!("{name}="),
            format!("{name}={}", wrong_at(value, 0)),
            format!("{name}={}", wrong_at(value, value.len() - 1)),
            format!("{name}={}", value.chars().skip(1).collect::<String>()),
            format!("{name}={value}0"),
            format!("{}x={value}", name),
            format!("{name}={}", fixture.token),
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
    let (port, secret) = link(&fixture.world);
    let last = wrong_at(&secret, secret.len() - 1);
    for wrong in ["", "x", &last, &wrong_at(&secret, 0), &secret.chars().skip(1).collect::<String>(), value] {
        let said = offer(port, wrong);
        assert!([400, 403].contains(&status(&said)) && cookie(&said).is_none(), "{wrong}: {said}");
        tries += 1;
    }
    PageSession::with(port, &secret);
    assert_eq!(status(&offer(port, &secret)), 403, "a link is used once");
    // Revoked access is over.
    let answer = HubSocket::connect(&fixture.world).request("page/revoke", json!({}));
    assert!(answer["error"].is_null(), "{answer}");
    for endpoint in [HubEndpoint::PageSession, HubEndpoint::PageSocket] {
        is_refused(&endpoint.request(fixture), &[401], "a cookie that was revoked");
        tries += 1;
    }
    let (_, secret) = link(&fixture.world);
    fixture.browser = PageSession::with(port, &secret);
    AttackResult::new(tries + 1, "401; links 403; none works twice, nor after `page --revoke`")
}

fn another_users(fixture: &mut AttackFixture) -> AttackResult {
    if !rustix::process::getuid().is_root() {
        return AttackResult::skipped("only root can become another user");
    }
    let mut tries = 0;
    let (port, secret) = link(&fixture.world);
    let body = json!({ "secret": secret }).to_string();
    let session = Request {
        socket: None,
        first: "POST /session HTTP/1.1".into(),
        lines: body_lines(port, &body),
        body,
        port,
    };
    let document = Request::get(port, "/", &plain(port));
    let endpoints = HubEndpoint::ALL.map(|endpoint| endpoint.request(fixture));
    // The Unix sockets are closed to others by their folders; that is tried below.
    let on_ports = endpoints.iter().filter(|request| request.socket.is_none());
    for request in on_ports.chain([&session, &document]) {
        let said = exchange_as_another_user(request.port, &request.text());
        assert_eq!(status(&said), 403, "{}\n{said}", request.text());
        reveals_nothing(&said, "another user");
        tries += 1;
    }
    eventually("each is counted", || (fixture.refused("otherUser") == tries).then_some(()));
    // The test's own folder is closed to others; here only what Linkspan itself closes counts.
    let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(fixture.world.root(), open).unwrap();
    let world = &fixture.world;
    let mut kept = vec![world.journal(), world.state().join("hub.log"), world.runtime().join("page.json")];
    kept.push(world.runtime().join("hub.lock"));
    kept.extend(world.discovery_files().into_iter().chain(world.gemini_files()));
    kept.extend(linkspan_testkit::copilot::locks(world));
    kept.push(world.home().join(".clio/ide/bridge.json"));
    for path in &kept {
        assert!(path.exists(), "{}", path.display());
        let ran = another_user(&format!("cat {0}; echo x >> {0}", path.display())).output().unwrap();
        assert!(!ran.status.success() && ran.stdout.is_empty(), "{}: {ran:?}", path.display());
        tries += 1;
    }
    let as_other =
        "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint('in')";
    for socket in world.agent_sockets().into_iter().chain([world.socket()]) {
        let mut connecting =
            another_user(&format!("python3 -c \"{as_other}\" {0} || cat < {0}", socket.display()));
        let ran = connecting.output().unwrap();
        assert!(!ran.status.success() && ran.stdout.is_empty(), "{}: {ran:?}", socket.display());
        tries += 1;
    }
    AttackResult::new(
        usize::try_from(tries).unwrap(),
        "403 from each endpoint, counted; no file or socket could be opened",
    )
}
