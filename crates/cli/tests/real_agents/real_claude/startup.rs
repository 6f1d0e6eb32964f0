//! What docs/agents/claude-code.md says about the start: modes and their names, and the ways to connect.

use std::fs;

use super::{Claude, ClaudeVersion, World, with_each_version};
use crate::support::claude;

with_each_version! {
    manual_mode_has_another_name_in_older_versions
    the_setting_for_manual_mode
    the_variables_of_a_window_connect
    the_command_ide_connects
}

fn manual_mode_has_another_name_in_older_versions(version: ClaudeVersion) {
    let (_world, claude) = start(version, &["--permission-mode", "manual"], "");
    claude.tty.sees(match version {
        ClaudeVersion::Newest => "manual mode on",
        ClaudeVersion::V2_1_112 | ClaudeVersion::V1_0_128 => "argument 'manual' is invalid",
    });
    // The old name works everywhere.
    let (_world, claude) = start(version, &["--permission-mode", "default"], "");
    claude.tty.sees("? for shortcuts");
    let screen = claude.tty.text();
    assert_eq!(screen.contains("manual mode on"), version == ClaudeVersion::Newest, "{screen}");
}

fn the_setting_for_manual_mode(version: ClaudeVersion) {
    let setting = r#"{ "permissions": { "defaultMode": "manual" } }"#;
    let (world, mut claude) = start(version, &["--ide"], setting);
    match version {
        ClaudeVersion::Newest => {
            claude.tty.sees("❯ Yes, set auto mode as my default permission mode");
            let at_no = |screen: &str| screen.contains("❯ No, keep manual mode");
            claude.types_until("\u{1b}[B", "the other answer", at_no);
            claude.types_until("\r", "manual mode", |screen| screen.contains("manual mode on"));
            assert_eq!(fs::read_to_string(world.home().join(".claude/settings.json")).unwrap(), setting);
        }
        ClaudeVersion::V2_1_112 => {
            claude.tty.sees("Files with errors are skipped entirely");
        }
        ClaudeVersion::V1_0_128 => claude.tty.sees("Found 1 invalid settings file"),
    }
}

fn the_variables_of_a_window_connect(version: ClaudeVersion) {
    let world = World::new();
    let serve = world.serve();
    claude::set_up(&world);
    let port = serve.port.to_string();
    let variables = [("CLAUDE_CODE_SSE_PORT", port.as_str()), ("ENABLE_IDE_INTEGRATION", "true")];
    // The old line needs the flag, too.
    let flags: &[&str] = if version == ClaudeVersion::V1_0_128 { &["--ide"] } else { &[] };
    let claude = Claude::run_with(&world, version, [], flags, &variables);
    claude.tty.sees_that("connected", |_| claude.is_connected(&world));
    drop((claude, serve));
}

fn the_command_ide_connects(version: ClaudeVersion) {
    let world = World::new();
    let serve = world.serve();
    claude::set_up(&world);
    let mut claude = Claude::run(&world, version, [], &["--permission-mode", version.asking_mode()]);
    claude.tty.sees("? for shortcuts");
    claude.tty.types("/ide");
    claude.tty.sees("Manage IDE integrations");
    claude.types_until("\r", "the list", |screen| screen.contains("Select IDE"));
    assert!(!claude.is_connected(&world));
    // "None" is chosen at first.
    let at_linkspan =
        |screen: &str| screen.lines().any(|line| line.contains("❯") && line.contains("Linkspan (headless)"));
    claude.types_until("\u{1b}[A", "Linkspan in the list", at_linkspan);
    // Whether to connect by itself from now on is asked before it connects.
    claude.types_until("\r", "the question", |screen| screen.contains("auto-connect to IDE?"));
    claude.types_until("\r", "the end of the question", |screen| !screen.contains("auto-connect to IDE?"));
    claude.tty.sees_that("connected", |_| claude.is_connected(&world));
    drop((claude, serve));
}

fn start(version: ClaudeVersion, args: &[&str], settings: &str) -> (World, Claude) {
    let world = World::new();
    claude::set_up(&world);
    if !settings.is_empty() {
        fs::create_dir_all(world.home().join(".claude")).unwrap();
        fs::write(world.home().join(".claude/settings.json"), settings).unwrap();
    }
    let claude = Claude::run(&world, version, [], args);
    (world, claude)
}
