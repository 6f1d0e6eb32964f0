//! Windows open, close, come back and change their folders; agents find the right one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use linkspan_editor_api as api;
use serde_json::{Value, json};

use crate::support::*;

#[test]
fn a_reloaded_window_has_its_port_its_token_its_agents_and_its_reviews_back() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let editor = Editor::attach(&world);
    let port = editor.port();
    let token = WsDialect::Claude.lock(&world, port)["authToken"].clone();
    let mut agent = Agent::claude(&world, port);
    let call = agent.propose(&path, "two\n", "tab");
    let before = editor.shown(&path);
    editor.kill();
    eventually("the window is away", || (world.status()["windows"][0]["attached"] == false).then_some(()));
    agent.is_served();
    let mut editor = Editor::attach(&world);
    assert_eq!(editor.port(), port);
    assert_eq!(WsDialect::Claude.lock(&world, port)["authToken"], token);
    let again = editor.shown(&path);
    assert_eq!(again, before, "shown again, as it was");
    editor.accept(&again);
    assert_eq!(agent.texts(call), ["FILE_SAVED", "two\n"]);
    assert_eq!(agent.closed, None);
}

#[test]
fn a_window_with_an_id_is_found_again_under_other_folders() {
    let world = World::new();
    let other = world.folder("other");
    let editor = EditorBuilder::new(&world).window_id("window 7").attach();
    let port = editor.port();
    editor.kill();
    let editor = EditorBuilder::new(&world).window_id("window 7").folders(&[other]).attach();
    assert_eq!(editor.port(), port);
    drop(editor);
    let editor = EditorBuilder::new(&world).window_id("window 8").attach();
    assert_ne!(editor.port(), port);
}

#[test]
fn discovery_files_follow_the_folders() {
    let world = World::new();
    let other = world.folder("other");
    let editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let folders = |dialect: WsDialect| dialect.lock(&world, editor.port())["workspaceFolders"].clone();
    assert_eq!(folders(WsDialect::Claude), json!([world.workspace()]));
    let changed = [world.workspace(), other.clone()].map(|folder| folder.to_str().unwrap().to_owned());
    editor.send(&api::FoldersChanged { folders: changed.to_vec() });
    for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
        eventually("the discovery file names both", || {
            (folders(dialect) == json!([world.workspace(), other])).then_some(())
        });
    }
    let answer = agent.call("getWorkspaceFolders", json!({}));
    let answer: Value = serde_json::from_str(&agent::texts(&answer)[0]).unwrap();
    assert_eq!(answer["folders"][1]["path"], json!(other));
    // What was outside is inside now.
    fs::write(other.join("a.txt"), "one\n").unwrap();
    agent.propose(other.join("a.txt").to_str().unwrap(), "two\n", "tab");
    world.run(&["reject", &world.one_pending()]).ok();
}

#[test]
fn discovery_files_are_private_and_name_the_editor() {
    let world = World::new();
    let editor = Editor::attach(&world);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = world.discovery_files();
    assert_eq!(files.len(), 2);
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        assert_eq!(mode(file.parent().unwrap()), 0o700, "{}", file.display());
        let lock: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(lock["pid"], std::process::id());
        assert_eq!(lock["ideName"], "Test Editor");
        assert_eq!(lock["transport"], "ws");
    }
    let environment = editor.attached.environment.get("CLAUDE_CODE_SSE_PORT");
    assert_eq!(environment, Some(&editor.port().to_string()));
    assert_eq!(editor.attached.environment.get("LINKSPAN_WINDOW"), Some(&editor.attached.window));
}

#[test]
fn somebody_elses_discovery_file_stays() {
    let world = World::new();
    let folder = world.home().join(".claude/ide");
    fs::create_dir_all(&folder).unwrap();
    let foreign = folder.join("1.lock");
    fs::write(&foreign, r#"{"pid":1,"authToken":"theirs"}"#).unwrap();
    drop(world.serve());
    world.run(&["hub", "stop"]).ok();
    assert_eq!(world.discovery_files(), [foreign.as_path()]);
    fs::remove_file(foreign).unwrap();
}

#[test]
fn discovery_files_are_where_the_agents_own_variable_says() {
    let world = World::new();
    let elsewhere = world.folder("elsewhere");
    let mut command = world.command(&["hub", "start"]);
    assert!(command.env("CLAUDE_CONFIG_DIR", &elsewhere).output().unwrap().status.success());
    let serve = world.serve();
    let lock = elsewhere.join(format!("ide/{}.lock", serve.port));
    // The status lists a window a moment before agents find it: it is announced once it is recorded.
    eventually("agents can find it", || lock.exists().then_some(()));
    drop(serve);
    eventually("it is removed", || (!lock.exists()).then_some(()));
}

#[test]
fn two_windows_at_once_keep_to_themselves() {
    let world = World::new();
    let other = world.folder("other");
    fs::write(other.join("b.txt"), "one\n").unwrap();
    let path = world.file("a.txt", "one\n");
    let left = Editor::attach(&world);
    let right = EditorBuilder::new(&world).folders(std::slice::from_ref(&other)).attach();
    assert_ne!(left.port(), right.port());
    let mut of_left = Agent::claude(&world, left.port());
    let mut of_right = Agent::claude(&world, right.port());
    of_left.propose(&path, "two\n", "tab");
    let b = other.join("b.txt").to_str().unwrap().to_owned();
    of_right.propose(&b, "two\n", "tab");
    left.shown(&path);
    right.shown(&b);
    assert_eq!((left.state().shown.len(), right.state().shown.len()), (1, 1));
    // The other window's folder is outside of this one's.
    let outside = of_left.propose(&b, "two\n", "tab");
    assert!(of_left.answer(outside).get("error").is_some());
    // The token of one window is not valid for another.
    let token = WsDialect::Claude.lock(&world, left.port())["authToken"].clone();
    let header = [(WsDialect::Claude.header(), token.as_str().unwrap())];
    assert!(Agent::open(right.port(), &header).is_err());
    left.send(&api::Mentioned { path: path.clone(), lines: None });
    of_left.notification("at_mentioned");
    of_right.is_served();
    let heard = of_right.find(std::time::Duration::ZERO, |message| message["method"] == "at_mentioned");
    assert_eq!(heard, None);
    world.pending(2).iter().for_each(|review| drop(world.run(&["reject", review]).ok()));
}

#[test]
fn a_second_window_on_the_same_folders_has_a_port_of_its_own() {
    let world = World::new();
    let (first, second) = (Editor::attach(&world), Editor::attach(&world));
    assert_ne!(first.port(), second.port());
    assert_ne!(first.attached.window, second.attached.window);
    let serve = world.serve();
    assert!(![first.port(), second.port()].contains(&serve.port));
    assert_eq!(world.status()["windows"].as_array().unwrap().len(), 3);
}

#[test]
fn windows_with_ids_come_back_to_their_own_ports_after_the_hub_was_killed() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let window = |id: &str| EditorBuilder::new(&world).window_id(id).attach();
    let (first, second) = (window("first"), window("second"));
    world.kill_hub();
    eventually("both are back", || {
        let status = world.status();
        let windows = status["windows"].as_array()?;
        (windows.len() == 2 && windows.iter().all(|window| window["attached"] == true)).then_some(())
    });
    for editor in [&second, &first] {
        let mut agent = Agent::claude(&world, editor.port());
        agent.propose(&path, "two\n", "tab");
        editor.shown(&path);
        agent.goodbye();
        eventually("it is withdrawn", || world.reviews().is_empty().then_some(()));
    }
    assert_eq!((first.state().shown.len(), second.state().shown.len()), (1, 1), "each its own agent's");
}

#[test]
fn an_editor_hears_that_the_hub_was_lost_and_which_window_it_is_in_again() {
    let world = World::new();
    let editor = Editor::attach(&world);
    assert_eq!(editor.state().told, []);
    world.kill_hub();
    let told = editor.until("the hub is back", |state| (state.told.len() == 2).then(|| state.told.clone()));
    assert_eq!(told[0].0, "hub/lost");
    assert!(told[0].1["reason"].as_str().unwrap().contains("the hub is gone"), "{told:?}");
    assert_eq!(told[1], ("hub/back".to_owned(), json!(editor.attached)));
}

#[test]
fn windows_that_nobody_can_tell_apart_have_the_same_ports_between_them_after_the_hub_was_killed() {
    let world = World::new();
    let (first, second) = (Editor::attach(&world), Editor::attach(&world));
    let mut ports = [first.port(), second.port()];
    world.kill_hub();
    let mut again: Vec<u16> = eventually("both are back", || {
        let status = world.status();
        let windows = status["windows"].as_array()?;
        let there = windows.iter().filter(|window| window["attached"] == true);
        let ports: Vec<u16> = there.map(|w| u16::try_from(w["port"].as_u64().unwrap()).unwrap()).collect();
        (ports.len() == 2).then_some(ports)
    });
    ports.sort_unstable();
    again.sort_unstable();
    assert_eq!(again, ports);
    Agent::claude(&world, first.port()).is_served();
}

#[test]
fn a_window_that_closes_for_good_takes_its_port_with_it() {
    let world = World::new();
    let editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    let port = editor.port();
    editor.detach();
    assert_eq!(agent.end(), Some(1001));
    eventually("the port is closed", || std::net::TcpStream::connect(("127.0.0.1", port)).err().map(drop));
    assert!(world.discovery_files().is_empty());
}

#[test]
fn a_window_that_does_not_come_back_is_closed() {
    let world = World::with_config("window_grace_seconds = 1\n");
    let editor = Editor::attach(&world);
    let mut agent = Agent::claude(&world, editor.port());
    editor.kill();
    assert_eq!(agent.end(), Some(1001));
    eventually("no window", || world.status()["windows"].as_array().unwrap().is_empty().then_some(()));
}
