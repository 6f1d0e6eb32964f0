//! Paths that lead out of the workspace, or to something that is not a file, with every tool that takes one.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use linkspan_testkit::agent::diff;
use linkspan_testkit::gemini::Gemini;
use linkspan_testkit::{Agent, OwnAgent, ppxai};
use serde_json::{Value, json};

use super::endpoint::HubEndpoint;
use super::fixture::{AttackFixture, PPXAI_TOKEN, SECRET};
use super::{Attack, AttackResult, BY_AGENTS};

pub(super) fn attacks() -> Vec<Attack> {
    let endpoints = "claude, nexus3, clio, gemini, ppxai, the hub's socket";
    vec![Attack { name: "path traversal", endpoints, run: traversal, ..BY_AGENTS }]
}

/// None of these is a file of the workspace that agents may see.
fn bad_paths(fixture: &AttackFixture) -> Vec<String> {
    let world = &fixture.world;
    let outside = fixture.outside();
    for (name, to) in [
        ("out", outside.clone()),
        ("file-link", outside.join("secret.txt")),
        ("dangling", outside.join("none")),
        ("loop", world.path("loop")),
        ("proc", "/proc/self".into()),
        ("root", "/proc/self/root".into()),
        ("zero", "/dev/zero".into()),
        ("up", "..".into()),
    ] {
        symlink(to, world.path(name)).unwrap();
    }
    let (owner, fifo) = (rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR, rustix::fs::FileType::Fifo);
    rustix::fs::mknodat(rustix::fs::CWD, world.path("pipe"), fifo, owner, 0).unwrap();
    drop(UnixListener::bind(world.path("socket")).unwrap());
    fs::create_dir(world.path("folder")).unwrap();
    for name in [".env", "server.pem", "folder/id_rsa"] {
        world.file(name, SECRET);
    }
    let mut paths: Vec<String> = [
        "/",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/mem",
        "/proc/self/fd/0",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        "/dev/stdin",
        "/dev/tty",
        "//etc/passwd",
        "/../etc/passwd",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.extend(
        [
            "../outside/secret.txt",
            "folder/../../outside/secret.txt",
            "nowhere/../../outside/secret.txt",
            "./././../outside/secret.txt",
            "out/secret.txt",
            "out/new.txt",
            "out/../outside/secret.txt",
            "file-link",
            "dangling",
            "dangling/x",
            "loop",
            "proc/environ",
            "proc/cwd/../outside/secret.txt",
            "root/etc/passwd",
            "zero",
            "up/outside/secret.txt",
            "up/c/linkspan/clients.toml",
            "pipe",
            "socket",
            "folder",
            ".",
            "confidential.txt/x",
            ".env",
            ".ENV",
            "SERVER.Pem",
            "folder/./id_rsa",
            "folder/../.env",
            "nul\0.txt",
        ]
        .map(|name| format!("{}/{name}", world.workspace().display())),
    );
    paths.push(format!("{}-twin/a.txt", world.workspace().display()));
    paths.push(world.path_str(&"x".repeat(300)));
    paths.push(world.path_str(&"x/".repeat(5_000)));
    paths.push(world.path_str(&format!("{}secret.txt", "../".repeat(2_000))));
    paths.push(outside.join("secret.txt").to_str().unwrap().to_owned());
    paths.push(world.journal().to_str().unwrap().to_owned());
    paths.push(world.config_file().to_str().unwrap().to_owned());
    paths
}

/// Whether a tool did nothing: each reports that in its own way.
#[track_caller]
fn is_refused(answer: &Value, tool: &str, path: &str) {
    let failed = answer.get("error").is_some_and(|error| !error.is_null())
        || answer["result"]["isError"] == true
        || answer["success"] == false
        || answer["result"]["structuredContent"]["error"].is_object();
    let shown: String = path.chars().take(100).collect();
    let text = answer.to_string();
    assert!(failed, "{tool} {shown:?}: {text:.500}");
    assert!(!text.contains(SECRET) && !text.contains("root:x:0"), "{tool} {shown:?}: {text:.500}");
    assert!(text.len() < 12_000 + 3 * path.len(), "{tool} {shown:?}: an error of {} bytes", text.len());
}

fn traversal(fixture: &mut AttackFixture) -> AttackResult {
    let paths = bad_paths(fixture);
    let mut tries = 0;
    let mut longest = Duration::ZERO;
    let mut tried = |begun: Instant| {
        tries += 1;
        longest = longest.max(begun.elapsed());
    };
    for (name, connect) in [("claude", Agent::claude as fn(_, _) -> _), ("nexus3", Agent::nexus3)] {
        let mut agent: Agent = connect(&fixture.world, fixture.port);
        for path in &paths {
            for (tool, arguments) in [
                ("openDiff", diff(path, "changed\n", "tab")),
                ("openFile", json!({ "filePath": path })),
                ("checkDocumentDirty", json!({ "filePath": path })),
                ("saveDocument", json!({ "filePath": path })),
            ] {
                // An editor may be asked about a folder.
                let begun = Instant::now();
                is_refused(&agent.call(tool, arguments), &format!("{name} {tool}"), path);
                tried(begun);
            }
        }
        agent.drop_socket();
    }
    fixture.assert_bystanders_served();
    let gemini = Gemini::ready(&fixture.world, fixture.port);
    for path in &paths {
        let begun = Instant::now();
        let answer = gemini.call(1, "openDiff", json!({ "filePath": path, "newContent": "changed\n" }));
        is_refused(&answer, "gemini openDiff", path);
        tried(begun);
    }
    assert_eq!(gemini.delete().status, 200);
    let mut own = OwnAgent::join(&fixture.world, "s");
    for path in &paths {
        for (tool, arguments) in [
            ("proposeChange", json!({ "path": path, "newText": "changed\n" })),
            ("openFile", json!({ "path": path })),
        ] {
            let begun = Instant::now();
            let call = own.call(tool, arguments);
            is_refused(&own.answer(call), tool, path);
            tried(begun);
        }
    }
    own.leave();
    let mut client =
        ppxai::Client::new(fixture.port).with(&HubEndpoint::Ppxai.token_line(PPXAI_TOKEN).unwrap());
    let workspace = format!("{}/", fixture.world.workspace().display());
    let relative = paths.iter().filter_map(|path| path.strip_prefix(&workspace)).map(str::to_owned);
    for path in paths.iter().cloned().chain(relative) {
        for (tool, args) in [
            ("ide.read_file", json!({ "path": path })),
            ("ide.apply_edit", json!({ "path": path, "content": "changed\n" })),
            ("ide.open_file", json!({ "path": path })),
        ] {
            let begun = Instant::now();
            is_refused(&client.call(tool, args), tool, &path);
            tried(begun);
        }
    }
    // Searching and listing find only what may also be read by name.
    let found = client.call("ide.search_files", json!({ "query": "s3cret-words" })).to_string();
    assert!(found.contains("confidential.txt"), "{found}");
    assert!(!found.contains("outside") && !found.contains(".env") && !found.contains("id_rsa"), "{found}");
    let listed = client.call("ide.list_files", json!({})).to_string();
    assert!(!listed.contains("out/secret") && !listed.contains(".env"), "{listed}");
    // Clio gets an error, or no answer.
    let mut clio = Agent::open(fixture.port, &[]).unwrap();
    clio.send_json(&json!({ "type": "connect", "clientVersion": "0.1.0" }));
    for path in &paths {
        clio.send_json(&json!({ "type": "openDiff", "file": path, "before": "a", "after": "b" }));
        let edit = json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } }, "newText": "x" });
        clio.send_json(&json!({ "type": "applyEdit", "file": path, "edits": [edit], "description": "x" }));
        tries += 2;
    }
    clio.send_json(&json!({ "type": "connect", "clientVersion": "0.1.0" }));
    while let Some(said) = clio.next_frame(Duration::from_millis(500)) {
        let text = said.to_string();
        assert!(!text.contains(SECRET) && said["type"] != "diffAccepted", "{text:.500}");
    }
    assert!(longest < Duration::from_secs(8), "one took {longest:?}");
    fixture.assert_nothing_was_done();
    assert_eq!(fs::read_dir(fixture.world.path("folder")).unwrap().count(), 1, "nothing new");
    AttackResult::new(
        tries,
        format!("refused; nothing read, created or changed; a pipe blocks no one ({longest:.1?})"),
    )
}
