//! Windows that cannot start as they should: the program is missing or unusable, the hub has a different version, there is
//! no folder. Each shows one message with what to do, and following it is enough.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread::{self, sleep};
use std::time::Duration;

use linkspan_editor_api::PROTOCOL;
use serde_json::{Value, json};

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

/// Only in a VS Code that has just been started: one that has had other windows may open a workspace file without its
/// folders.
pub(crate) const IN_A_NEW_VSCODE: Scenarios = scenarios! { InOwnWindows:
    a_folder_that_is_on_no_disk_is_skipped
};

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOwnWindows:
    a_missing_program_is_named
    a_program_for_another_machine_is_named
    a_program_without_execute_permission_is_named
    a_hub_with_a_different_version_is_named
    a_window_without_a_folder_shows_what_agents_need
};

/// A window that may not come to be attached.
struct StartingWindow<'a> {
    workbench: Workbench,
    session: &'a VsCodeSession,
}

impl StartingWindow<'_> {
    fn open(session: &VsCodeSession) -> StartingWindow<'_> {
        let url = session.vscode.window(&session.world.workspace());
        StartingWindow { workbench: session.open_at(&url), session }
    }

    fn with_program<'a>(session: &'a VsCodeSession, program: &Path) -> StartingWindow<'a> {
        session.vscode.set_program(program);
        StartingWindow::open(session)
    }

    /// The one message about it, after enough time for a second one.
    #[track_caller]
    fn shows_once(&self, part: &str) -> String {
        let message = self.workbench.sees_notification_at_start(part);
        sleep(Duration::from_secs(2));
        let count =
            self.workbench.notifications().into_iter().filter(|message| message.contains(part)).count();
        assert_eq!(count, 1, "{:#?}", self.workbench.notifications());
        message
    }

    /// From here on everything works.
    #[track_caller]
    fn works(&self) {
        works(&self.workbench, &self.session.world);
    }
}

#[track_caller]
fn works(workbench: &Workbench, world: &World) {
    let port = workbench.attached(world);
    workbench.sees_status("Linkspan");
    let path = world.file("works.txt", "one\n");
    let mut agent = Agent::nexus3(world, port);
    let call = agent.propose(&path, "two\n", "tab");
    workbench.look_at("works.txt ←");
    workbench.click_title("works.txt ←", "Accept Change");
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("works.txt"), "two\n");
}

/// A VS Code of its own for each version, because the others share an installed extension.
mod an_extension_from_its_package_works_in_a_clean_profile {
    use super::*;

    #[test]
    fn oldest() {
        check(Version::Oldest);
    }

    #[test]
    fn newest() {
        check(Version::Newest);
    }

    fn check(version: Version) {
        let world = World::new();
        let home = prerequisites::vscode();
        let extensions = world.folder("extensions");
        let server = home.join(version.number());
        let mut install = world.program(server.join("node"));
        install.arg(server.join("server/out/server-main.js")).arg("--install-extension");
        install.arg(home.join("linkspan.vsix")).arg("--extensions-dir").arg(&extensions);
        install.arg("--server-data-dir").arg(world.folder("installing"));
        let installed = install.output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));

        let session = VsCodeSession::with_extensions(version, world, extensions);
        let window = session.open();
        works(&window.workbench, window.world);
    }
}

fn a_missing_program_is_named(session: &VsCodeSession) {
    let window = StartingWindow::with_program(session, Path::new("/nowhere/linkspan"));
    let message = window.shows_once("/nowhere/linkspan");
    assert!(message.contains("cannot be started"), "{message}");
    window.workbench.click_notification("/nowhere/linkspan", "Open Settings");
    window.workbench.sees_settings();
    session.vscode.set_program(Path::new(""));
    window.works();
}

fn a_program_for_another_machine_is_named(session: &VsCodeSession) {
    let mut head =
        vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0xb7, 0, 1, 0, 0, 0];
    head.resize(4096, 0);
    let window = StartingWindow::with_program(session, &program(&session.world, &head, 0o755));
    let message = window.shows_once("linkspan-from-settings");
    assert!(message.contains("cannot be started") || message.contains("does not work"), "{message}");
    session.vscode.set_program(Path::new(""));
    window.works();
}

fn a_program_without_execute_permission_is_named(session: &VsCodeSession) {
    let window = StartingWindow::with_program(session, &program(&session.world, b"not a program\n", 0o644));
    let message = window.shows_once("linkspan-from-settings");
    assert!(message.contains("cannot be started"), "{message}");
    session.vscode.set_program(Path::new(""));
    window.works();
}

fn a_hub_with_a_different_version_is_named(session: &VsCodeSession) {
    pretend_to_be_a_newer_hub(&session.world);
    let window = StartingWindow::open(session);
    let message = window.shows_once("99.0.0");
    assert!(message.contains("hub") && !message.contains("does not work"), "{message}");
    fs::remove_file(session.world.socket()).unwrap();
    window.workbench.click_notification("99.0.0", "Reconnect");
    window.works();
}

fn a_window_without_a_folder_shows_what_agents_need(session: &VsCodeSession) {
    // The message is shown once in a profile, and not for each window.
    let workbench = session.open_in_new_profile(&session.vscode.empty_window());
    let window = StartingWindow { workbench, session };
    window.shows_once("no folder is open");
    window.workbench.attached(&session.world);
    window.workbench.page.goto(&session.vscode.window(&session.world.workspace())).unwrap();
    window.works();
    assert!(!window.workbench.notifications().iter().any(|message| message.contains("no folder is open")));
}

fn a_folder_that_is_on_no_disk_is_skipped(session: &VsCodeSession) {
    let workspace = session.world.path("two.code-workspace");
    let folders = json!({ "folders": [{ "path": session.world.workspace() }, { "uri": "elsewhere:/far", "name": "far" }] });
    fs::write(&workspace, folders.to_string()).unwrap();
    let url = format!("http://127.0.0.1:{}/?workspace={}", session.vscode.port, workspace.display());
    // In a profile that has seen other windows, VS Code may open the workspace without its folders.
    let window = StartingWindow { workbench: session.open_in_new_profile(&url), session };
    window.shows_once("cannot reach far");
    window.works();
    let folders = &session.world.status()["windows"][0]["folders"];
    assert_eq!(folders, &json!([session.world.workspace()]));
}

fn program(world: &World, bytes: &[u8], mode: u32) -> PathBuf {
    let path = world.root().join("linkspan-from-settings");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// Listens on the hub's socket and responds with a later protocol, until the socket is removed.
fn pretend_to_be_a_newer_hub(world: &World) {
    let folder = world.socket().parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(world.socket()).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut socket = HubSocket::over(stream);
            while let Some(request) = socket.receive() {
                let hello =
                    json!({ "version": "99.0.0", "protocol": PROTOCOL + 1, "pid": 1, "startedAtMs": 0 });
                let answer: Value = json!({ "jsonrpc": "2.0", "id": request["id"], "result": hello });
                socket.send(&answer.to_string());
            }
        }
    });
}
