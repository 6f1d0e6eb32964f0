//! A window that cannot start as it should: the program is missing or another's, the hub is of another version, there
//! is no folder. Each is said once, with what to do, and doing it is all that it takes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread::{self, sleep};
use std::time::Duration;

use linkspan_editor_api::PROTOCOL;
use serde_json::{Value, json};

use crate::on_both;
use crate::support::*;

on_both! {
    an_extension_from_its_package_works_in_a_clean_profile
    a_program_that_is_not_there_is_named
    a_program_for_another_machine_is_named
    a_program_that_may_not_be_run_is_named
    a_hub_of_another_version_is_named
    a_window_without_a_folder_is_told_what_agents_need
    a_folder_that_is_on_no_disk_is_left_out
}

/// A window that may not come to be attached.
struct Start {
    workbench: Workbench,
    vscode: VsCode,
    _browser: Browser,
    world: World,
}

impl Start {
    /// At what `address` makes of the server, in a world that `prepare` has made bad.
    fn new(
        version: Version,
        prepare: impl FnOnce(&World),
        address: impl FnOnce(&World, &VsCode) -> String,
    ) -> Option<Start> {
        let world = World::new();
        prepare(&world);
        let vscode = VsCode::installed(&world, version)?;
        let browser = Browser::start()?;
        let vscode = vscode.start();
        let workbench = Workbench::at(&address(&world, &vscode), &browser);
        Some(Start { workbench, vscode, _browser: browser, world })
    }

    fn with_program(version: Version, make: impl FnOnce(&World) -> PathBuf) -> Option<Start> {
        Start::new(version, |world| configure(world, &make(world)), on_workspace)
    }

    /// The one message about it, while as much time passes as a second one would need.
    #[track_caller]
    fn is_told_once(&self, part: &str) -> String {
        let message = self.workbench.is_told(part);
        sleep(Duration::from_secs(2));
        let again =
            self.workbench.notifications().into_iter().filter(|message| message.contains(part)).count();
        assert_eq!(again, 1, "{:#?}", self.workbench.notifications());
        message
    }

    /// From here on everything is as it should be.
    #[track_caller]
    fn works(&self) {
        let port = self.workbench.attached(&self.world);
        self.workbench.sees_status("Linkspan");
        let path = self.world.file("works.txt", "one\n");
        let mut agent = Agent::nexus3(&self.world, port);
        let call = agent.propose(&path, "two\n", "tab");
        self.workbench.look_at("works.txt ←");
        self.workbench.click_title("works.txt ←", "Accept Change");
        assert_eq!(agent.texts(call)[0], "FILE_SAVED");
        assert_eq!(self.world.read_text("works.txt"), "two\n");
    }
}

fn an_extension_from_its_package_works_in_a_clean_profile(version: Version) {
    let world = World::new();
    let Some(vscode) = VsCode::installed(&world, version) else { return };
    let Some(browser) = Browser::start() else { return };
    let home = vscode::found().unwrap();
    let extensions = world.folder("extensions");
    let server = home.join(version.number());
    let mut install = world.program(server.join("node"));
    install.arg(server.join("server/out/server-main.js")).arg("--install-extension");
    install.arg(home.join("linkspan.vsix")).arg("--extensions-dir").arg(&extensions);
    install.arg("--server-data-dir").arg(world.folder("installing"));
    let installed = install.output().unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));

    let vscode = vscode.extensions(extensions).start();
    let (workbench, _) = Workbench::open(&world, &vscode, &browser);
    Start { workbench, vscode, _browser: browser, world }.works();
}

fn a_program_that_is_not_there_is_named(version: Version) {
    let Some(start) = Start::with_program(version, |_| PathBuf::from("/nowhere/linkspan")) else { return };
    let message = start.is_told_once("/nowhere/linkspan");
    says_what_to_do(&message);
    start.workbench.click_notification("/nowhere/linkspan", "Open Settings");
    start.workbench.sees_settings();
    configure(&start.world, Path::new(""));
    start.works();
}

fn a_program_for_another_machine_is_named(version: Version) {
    let foreign = |world: &World| {
        let mut head =
            vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0xb7, 0, 1, 0, 0, 0];
        head.resize(4096, 0);
        program(world, &head, 0o755)
    };
    let Some(start) = Start::with_program(version, foreign) else { return };
    let message = start.is_told_once("linkspan-of-hers");
    says_what_to_do(&message);
    configure(&start.world, Path::new(""));
    start.works();
}

fn a_program_that_may_not_be_run_is_named(version: Version) {
    let text = |world: &World| program(world, b"no program at all\n", 0o644);
    let Some(start) = Start::with_program(version, text) else { return };
    let message = start.is_told_once("linkspan-of-hers");
    says_what_to_do(&message);
    configure(&start.world, Path::new(""));
    start.works();
}

fn a_hub_of_another_version_is_named(version: Version) {
    let Some(start) = Start::new(version, pretend_to_be_a_newer_hub, on_workspace) else { return };
    let message = start.is_told_once("99.0.0");
    assert!(message.contains("hub") && !message.contains("does not run"), "{message}");
    fs::remove_file(start.world.socket()).unwrap();
    start.workbench.click_notification("99.0.0", "Reconnect");
    start.works();
}

fn a_window_without_a_folder_is_told_what_agents_need(version: Version) {
    let Some(start) = Start::new(version, |_| {}, |_, vscode| vscode.empty_window()) else { return };
    start.is_told_once("no folder is open");
    start.workbench.attached(&start.world);
    start.workbench.page.goto(&start.vscode.window(&start.world.workspace())).unwrap();
    start.works();
    assert!(!start.workbench.notifications().iter().any(|message| message.contains("no folder is open")));
}

fn a_folder_that_is_on_no_disk_is_left_out(version: Version) {
    let workspace = |world: &World| world.root().join("two.code-workspace");
    let prepare = |world: &World| {
        let folders =
            json!({ "folders": [{ "path": world.workspace() }, { "uri": "elsewhere:/far", "name": "far" }] });
        fs::write(workspace(world), folders.to_string()).unwrap();
    };
    let address = |world: &World, vscode: &VsCode| {
        format!("http://127.0.0.1:{}/?workspace={}", vscode.port, workspace(world).display())
    };
    let Some(start) = Start::new(version, prepare, address) else { return };
    start.is_told_once("cannot reach far");
    start.works();
    let folders = &start.world.status()["windows"][0]["folders"];
    assert_eq!(folders, &json!([start.world.workspace()]));
}

#[track_caller]
fn says_what_to_do(message: &str) {
    assert!(message.contains("does not run here") && message.contains("empty it"), "{message}");
}

fn on_workspace(world: &World, vscode: &VsCode) -> String {
    vscode.window(&world.workspace())
}

/// The program that the person names in the settings of this machine; without a name, the extension's own.
fn configure(world: &World, program: &Path) {
    let folder = world.folder("vscode").join("data/Machine");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), json!({ "linkspan.binary": program }).to_string()).unwrap();
}

fn program(world: &World, bytes: &[u8], mode: u32) -> PathBuf {
    let path = world.root().join("linkspan-of-hers");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// Listens where a hub would, and answers that it speaks a later protocol, until its socket is gone.
fn pretend_to_be_a_newer_hub(world: &World) {
    let folder = world.socket().parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(world.socket()).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut line = Line::over(stream);
            while let Some(asked) = line.hear() {
                let hello =
                    json!({ "version": "99.0.0", "protocol": PROTOCOL + 1, "pid": 1, "startedAtMs": 0 });
                let answer: Value = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": hello });
                line.send(&answer.to_string());
            }
        }
    });
}
