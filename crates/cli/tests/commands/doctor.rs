//! `linkspan doctor`: a healthy setup, and the message about each problem.

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::Duration;

    use serde_json::{Value, json};

    use crate::support::*;

    #[track_caller]
    fn check(world: &World, code: i32, words: &[&str]) {
        let ran = world.run(&["doctor"]);
        assert_eq!(ran.code, code, "{ran:?}");
        for word in words {
            assert!(ran.stdout.contains(word), "{word} in {}", ran.stdout);
        }
    }

    fn findings(world: &World, subject: &str) -> Vec<Value> {
        let said = world.run(&["doctor", "--json"]).json();
        let all = said["findings"].as_array().unwrap().iter();
        all.filter(|finding| finding["subject"] == subject).cloned().collect()
    }

    #[test]
    fn a_folder_with_an_editor_is_healthy() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        check(&world, 0, &["everything is fine", "Test Editor", "it has this folder open", "pid", "0.1.0"]);
        assert_eq!(world.json(&["doctor"])["healthy"], true);
    }

    #[test]
    fn an_editor_that_is_just_starting_is_waited_for() {
        let world = World::new();
        let editor = Editor::attach(&world);
        editor.freeze();
        let doctor =
            world.command(&["doctor"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(2500));
        editor.thaw();
        let ran = world::finish(doctor).ok();
        assert!(ran.stdout.contains("it has this folder open"), "{ran:?}");
    }

    #[test]
    fn without_an_editor_it_says_where_it_looked_and_what_to_open() {
        let world = World::new();
        check(
            &world,
            1,
            &["none is running at", ".claude/ide", ".nexus3/ide", "no editor has this folder open"],
        );
        check(&world, 1, &["linkspan serve", "1 thing needs attention"]);
        assert!(!world.socket().exists(), "it starts nothing");
        assert!(!world.state().exists(), "it makes nothing");
    }

    #[test]
    fn each_refused_editor_has_its_reason_and_what_to_do() {
        let world = World::new();
        let elsewhere = world.folder("elsewhere");
        let nothing = |_: &str, _: &Value| json!({});
        let _locked = ForeignEditor::on(&world, &world.workspace(), "an-older-token", nothing);
        let _other = ForeignEditor::on(&world, &elsewhere, "secret-token-of-the-editor", nothing);
        check(&world, 1, &["rejects the token", "reload its window", "it has other folders open"]);
        let _editor = Editor::attach(&world);
        check(&world, 0, &["rejects the token", "everything is fine"]);
    }

    #[test]
    fn a_wrong_configuration_is_found_with_its_lines() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        world.config("journal_days = 0\n[limits]\nfile_mib = 0\n");
        world.file(".linkspan.toml", "\ndenny = []\n");
        check(
            &world,
            1,
            &["config.toml:1: ", "config.toml:3: ", ".linkspan.toml:2: ", "did you mean `deny`?"],
        );
    }

    #[test]
    fn a_configuration_the_hub_has_not_read_is_told_of() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        assert_eq!(findings(&world, "config").len(), 1);
        world.config("journal_days = 3\n");
        check(&world, 0, &["is not in effect yet", "linkspan hub stop"]);
    }

    #[test]
    fn a_damaged_journal_is_told_of() {
        let world = World::new();
        std::fs::create_dir_all(world.state()).unwrap();
        std::fs::write(world.journal(), "this is not a database").unwrap();
        std::fs::write(world.state().join("journal.damaged-1.db"), "").unwrap();
        let found = findings(&world, "journal");
        assert_eq!((&found[0]["level"], &found[1]["level"]), (&json!("bad"), &json!("note")), "{found:?}");
        assert!(found[1]["found"].as_str().unwrap().contains("journal.damaged-1.db"), "{found:?}");
    }

    #[test]
    fn an_unsafe_runtime_directory_is_told_of() {
        let world = World::new();
        std::fs::write(world.runtime(), "").unwrap();
        let found = findings(&world, "hub");
        assert_eq!(found[0]["level"], "bad", "{found:?}");
        assert!(found[0]["found"].as_str().unwrap().contains("not a directory"), "{found:?}");
        std::fs::remove_file(world.runtime()).unwrap();
    }

    #[test]
    fn a_disconnected_folder_is_told_of() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        world.run(&["ide", "disconnect"]).ok();
        check(&world, 1, &["linkspan ide disconnect", "linkspan ide connect"]);
    }

    #[test]
    fn a_journal_is_told_of_with_its_size_and_its_limits() {
        let world = World::with_config("journal_mib = 20\n");
        let _editor = Editor::attach(&world);
        let found = findings(&world, "journal");
        let said = found[0]["found"].as_str().unwrap();
        assert!(said.contains("MiB") && said.contains("keeps 20 MiB and 30 days"), "{said}");
    }

    #[test]
    fn a_journal_of_a_newer_version_is_told_of_and_left_alone() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        world.run(&["hub", "stop", "--force"]).ok();
        let log = world.state().join("journal.db-wal");
        eventually("a hub that leaves has closed its journal", || (!log.exists()).then_some(()));
        let mut bytes = std::fs::read(world.journal()).unwrap();
        // The version of the tables, where SQLite keeps it.
        bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
        std::fs::write(world.journal(), &bytes).unwrap();
        let found = findings(&world, "journal");
        assert_eq!(found[0]["level"], "bad", "{found:?}");
        assert!(found[0]["found"].as_str().unwrap().contains("newer"), "{found:?}");
        let status = world.run(&["status"]).ok().stdout;
        assert!(status.contains("newer") && status.contains("Update linkspan"), "{status}");
        let ran = world.run(&["hub", "start"]);
        assert!(ran.code != 0 && ran.stderr.contains("newer"), "{ran:?}");
        assert_eq!(std::fs::read(world.journal()).unwrap(), bytes);
    }

    #[test]
    fn a_journal_that_is_damaged_inside_is_told_of_before_a_hub_starts() {
        let world = World::new();
        std::fs::create_dir_all(world.state()).unwrap();
        std::fs::write(world.journal(), "this is not a database").unwrap();
        let status = world.run(&["status"]).ok().stdout;
        assert!(status.contains("damaged") && status.contains("renames it"), "{status}");
    }

    #[test]
    fn a_state_directory_that_cannot_be_made_is_told_of_with_what_to_do() {
        let world = World::new();
        // A failure for root, too: something else is in its place.
        std::fs::write(world.state(), "").unwrap();
        let found = findings(&world, "storage");
        assert_eq!(found[0]["level"], "bad", "{found:?}");
        assert!(found[0]["remedy"].as_str().unwrap().contains("XDG_STATE_HOME"), "{found:?}");
        let status = world.run(&["status"]).ok();
        assert!(status.stdout.contains("cannot write to"), "{status:?}");
        std::fs::remove_file(world.state()).unwrap();
    }

    #[test]
    fn a_home_that_cannot_be_written_is_told_of() {
        let world = World::new();
        let said = |args: &[&str]| world.command(args).env("HOME", "/proc/self").output().unwrap().stdout;
        let doctor = String::from_utf8(said(&["doctor"])).unwrap();
        assert!(doctor.contains("cannot write to the home directory /proc/self"), "{doctor}");
        let status = String::from_utf8(said(&["status"])).unwrap();
        assert!(status.contains("cannot write to"), "{status}");
    }

    #[test]
    fn status_does_not_name_a_lock_file_that_is_gone_and_the_file_comes_back() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        let files = world.discovery_files();
        assert!(!files.is_empty());
        for file in &files {
            std::fs::remove_file(file).unwrap();
        }
        let status = world.status();
        let dialects = status["windows"][0]["dialects"].as_array().unwrap().clone();
        for dialect in dialects {
            for path in dialect["discoveryFiles"].as_array().unwrap() {
                assert!(!files.iter().any(|file| file.to_str() == path.as_str()), "{dialect}");
            }
        }
        eventually("they are written again", || files.iter().all(|file| file.exists()).then_some(()));
        let again = world.status();
        assert!(!again.to_string().contains("was not there"), "{again}");
    }

    #[test]
    fn a_lock_file_that_cannot_be_written_is_not_named_and_said_why() {
        let world = World::new();
        std::fs::write(world.home().join(".claude"), "in the way").unwrap();
        let _editor = Editor::attach(&world);
        let status = world.status();
        let dialects = status["windows"][0]["dialects"].as_array().unwrap().clone();
        let claude = dialects.iter().find(|dialect| dialect["name"] == "claude").unwrap();
        assert_eq!(claude["discoveryFiles"], json!([]), "{claude}");
        assert!(claude["problems"][0].as_str().unwrap().contains("cannot be written"), "{claude}");
        check(&world, 1, &["cannot be written"]);
    }
}
