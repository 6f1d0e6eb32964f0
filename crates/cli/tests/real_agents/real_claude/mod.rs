//! Claude Code. This file has the start of such a test; the others have one theme each.

mod absent_writer;
mod bytes;
mod decisions;
mod print_mode;
mod startup;
mod two_agents;

use serde_json::{Value, json};

use crate::support::{Claude, ClaudeVersion, Serve, Turn, World, eventually};

/// Makes three tests of each `fn name(version: ClaudeVersion)`. Only those of the newest version are in the default
/// run; see `.config/nextest.toml`.
macro_rules! with_each_version {
    ($($name:ident)*) => {
        $(mod $name {
            use crate::support::ClaudeVersion;

            #[test]
            fn newest() {
                super::$name(ClaudeVersion::Newest);
            }

            #[test]
            fn v2_1_112() {
                super::$name(ClaudeVersion::V2_1_112);
            }

            #[test]
            fn v1_0_128() {
                super::$name(ClaudeVersion::V1_0_128);
            }
        })*
    };
}
use with_each_version;

/// A world with a window and a Claude Code that is connected to it. It leaves before the window does.
struct ClaudeSession {
    claude: Claude,
    _serve: Serve,
    world: World,
}

impl ClaudeSession {
    /// Claude Code is asked to change the file `a.txt`, which holds this, and has read it.
    #[track_caller]
    fn with(version: ClaudeVersion, contents: &[u8], change: impl FnOnce(&str) -> Turn) -> ClaudeSession {
        let world = World::new();
        let path = world.file("a.txt", contents);
        let serve = world.serve();
        let claude = Claude::start(&world, version, [read(&path), change(&path)]);
        let mut session = ClaudeSession { claude, _serve: serve, world };
        session.claude.prompt("please change it");
        session
    }

    /// The id of the one pending review, once Claude Code says that it has opened it.
    #[track_caller]
    fn review(&self) -> String {
        self.claude.tty.sees("Opened changes in");
        self.world.one_pending()
    }

    /// Waits until the history says that the accepted text is on disk.
    #[track_caller]
    fn is_on_disk(&self) {
        eventually("on disk", || (self.newest_entry()["onDisk"] == true).then_some(()));
    }

    /// The newest entry of the history.
    #[track_caller]
    fn newest_entry(&self) -> Value {
        self.world.json(&["history"])["entries"][0].clone()
    }
}

fn read(path: &str) -> Turn {
    Turn::calls("Read", json!({ "file_path": path }))
}

fn edit(path: &str, old: &str, new: &str) -> Turn {
    Turn::calls("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
}
