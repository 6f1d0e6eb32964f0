//! The suites of `editors/vscode/tests`, which need no clicks, inside the extension host of a real VS Code with the
//! extension as it was installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::*;

/// The suites wait for language servers and shells, one after the other.
const PATIENCE: Duration = Duration::from_secs(240);

#[test]
fn oldest() {
    run_suites(Version::Oldest);
}

#[test]
fn newest() {
    run_suites(Version::Newest);
}

fn run_suites(version: Version) {
    let world = World::new();
    // The newest runs no tests without this argument.
    let vscode = VsCode::installed(&world, version).arg("--enable-smoke-test-driver").start();
    let browser = Browser::start();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode/out/tests.js");
    let at = |path: PathBuf| format!("vscode-remote://127.0.0.1:{}{}", vscode.port, path.display());
    let payload = json!([
        ["extensionDevelopmentPath", at(installed(version))],
        [
            "extensionTestsPath",
            at(tests.canonicalize().expect("the tests are not built: `cargo xtask vscode`"))
        ],
    ]);
    let page = browser.page();
    let url = format!("{}&payload={}", vscode.window(&world.workspace()), encoded(&payload.to_string()));
    page.goto(&url).unwrap();

    let report = world.path("report.txt");
    let until = Instant::now() + PATIENCE;
    while !report.exists() {
        let part = || fs::read_to_string(world.path("report.txt.part")).unwrap_or_default();
        assert!(Instant::now() < until, "no end: {}\n{:#?}", part(), page.complaints());
        sleep(Duration::from_millis(100));
    }
    let report = fs::read_to_string(report).unwrap();
    assert!(report.ends_with("\n0 failed\n"), "{report}");
}

/// The extension's own folder among those that this VS Code has.
fn installed(version: Version) -> PathBuf {
    let folder = vscode::extensions(&prerequisites::vscode(), version);
    let mut entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_ours = |path: &PathBuf| path.join("dist/extension.js").exists();
    entries.find(is_ours).unwrap_or_else(|| panic!("no extension in {}", folder.display()))
}

/// As a part of a query.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
