//! Snapshots of the help of every command. To accept new texts:
//! `INSTA_UPDATE=always cargo nextest run -p linkspan help::`.

use std::collections::BTreeSet;

use insta::{Settings, assert_snapshot};

use crate::support::*;

/// Every command that a user can see, with its subcommands.
const COMMANDS: [(&str, &[&str]); 42] = [
    ("accept", &[]),
    ("acp", &[]),
    ("agent", &[]),
    ("allow", &[]),
    ("asks", &[]),
    ("attach", &[]),
    ("call", &[]),
    ("clients", &["allow", "revoke"]),
    ("close", &[]),
    ("completions", &[]),
    ("config", &["show", "check", "path"]),
    ("conform", &["server", "editor"]),
    ("context", &[]),
    ("deny", &[]),
    ("diagnostics", &[]),
    ("diff", &[]),
    ("dirty", &[]),
    ("doctor", &[]),
    ("editors", &[]),
    ("folders", &[]),
    ("history", &[]),
    ("hook", &["install", "remove", "status"]),
    ("hub", &["start", "stop", "log"]),
    ("ide", &["status", "connect", "disconnect", "history", "undo"]),
    ("man", &[]),
    ("mcp", &[]),
    ("open", &[]),
    ("page", &[]),
    ("record", &[]),
    ("reject", &[]),
    ("replay", &[]),
    ("review", &[]),
    ("reviews", &[]),
    ("save", &[]),
    ("selection", &[]),
    ("serve", &[]),
    ("show", &[]),
    ("status", &[]),
    ("tools", &[]),
    ("try", &[]),
    ("undo", &[]),
    ("watch", &[]),
];

#[test]
fn every_command_has_a_help_that_was_looked_at() {
    let world = World::new();
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path("snapshots/help");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        let mut main = Transcript::new(&world);
        main.run(&["--help"]);
        assert_snapshot!("linkspan", main.finish());
        for (command, subcommands) in COMMANDS {
            let mut help = Transcript::new(&world);
            // `linkspan agent --help` is that of another program.
            help.run(&if command == "agent" { ["help", command] } else { [command, "--help"] });
            for subcommand in subcommands {
                help.run(&[command, subcommand, "--help"]);
            }
            assert_snapshot!(command, help.finish());
        }
    });
}

#[test]
fn the_list_of_commands_is_complete() {
    let world = World::new();
    let dir = world.folder("man");
    world.run(&["man", "--dir", dir.to_str().unwrap()]).ok();
    let pages = std::fs::read_dir(&dir).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap());
    let listed = COMMANDS.iter().flat_map(|(command, subcommands)| {
        let below = subcommands.iter().map(move |subcommand| format!("linkspan-{command}-{subcommand}.1"));
        below.chain([format!("linkspan-{command}.1")])
    });
    let listed: BTreeSet<String> = listed.chain(["linkspan.1".to_owned()]).collect();
    assert_eq!(listed, pages.collect());
}
