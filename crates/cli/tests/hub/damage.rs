//! The disk fails or returns wrong data; a process is stopped. The caller gets an error in its dialect, the file keeps
//! its content, and the hub continues.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt;
    use std::path::PathBuf;

    use linkspan_editor_api as api;
    use serde_json::Value;

    use crate::support::small_disk::{DiskScope, large_text};
    use crate::support::world::alive;
    use crate::support::*;

    const OLD: &str = "one\ntwo\n";
    const NEW: &str = "one\n2\n";

    /// A failure of `openDiff` is a JSON-RPC error in both dialects.
    #[track_caller]
    fn error_of(answer: &Value) -> (i64, String) {
        let error = &answer["error"];
        (error["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}")), error["message"].to_string())
    }

    mod as_root {
        use super::*;

        fn with_small_disk(scope: DiskScope) -> World {
            prerequisites::root();
            World::with_small_disk(scope).unwrap()
        }

        #[test]
        fn a_full_disk_under_the_workspace_leaves_the_old_bytes_and_a_clear_error() {
            let world = with_small_disk(DiskScope::Workspace);
            let path = world.file("a.txt", OLD);
            let serve = world.serve();
            let mut agent = Agent::nexus3(&world, serve.port);
            let call = agent.propose(&path, &large_text(), "tab");
            let review = world.one_pending();
            let filling = world.disk().fill();
            assert_ne!(world.run(&["accept", &review]).code, 0);
            let (_, message) = error_of(&agent.answer(call));
            assert!(message.contains("could not be written") && message.contains("space"), "{message}");
            assert_eq!(world.read_text("a.txt"), OLD);
            drop(filling);

            let call = agent.propose(&path, NEW, "tab");
            world.one_pending();
            world.run(&["accept", "latest"]).ok();
            assert_eq!(agent.texts(call), ["FILE_SAVED"]);
            assert_eq!(world.read_text("a.txt"), NEW);
            drop((agent, serve));
        }

        #[test]
        fn a_full_disk_under_the_journal_takes_no_proposal_and_no_decision() {
            let world = with_small_disk(DiskScope::State);
            let path = world.file("a.txt", OLD);
            let serve = world.serve();
            let mut claude = Agent::claude(&world, serve.port);
            let mut nexus = Agent::nexus3(&world, serve.port);
            let waiting = nexus.propose(&path, NEW, "tab");
            let review = world.one_pending();

            let filling = world.disk().fill();
            let large = large_text();
            let refused = claude.propose(&path, &large, "tab");
            let (_, message) = error_of(&claude.answer(refused));
            assert!(message.contains("could not be recorded"), "{message}");
            let with = world.file("mine.txt", &large);
            let ran = world.run(&["accept", &review, "--with", &with]);
            assert_ne!(ran.code, 0, "{ran:?}");
            assert_eq!(world.read_text("a.txt"), OLD);
            claude.is_served();
            let status = world.status();
            assert!(status["problems"][0].as_str().unwrap().contains("cannot be written"), "{status}");
            let doctor = world.run(&["doctor"]).stdout;
            assert!(doctor.contains("cannot be written") && doctor.contains("KiB free"), "{doctor}");
            drop(filling);

            assert_eq!(world.one_pending(), review, "it waits as before");
            world.run(&["accept", &review]).ok();
            assert_eq!(nexus.texts(waiting), ["FILE_SAVED"]);
            assert_eq!(world.read_text("a.txt"), NEW);
            drop((claude, nexus, serve));
        }

        #[test]
        fn a_state_directory_that_cannot_be_written_is_named_at_the_start() {
            let world = with_small_disk(DiskScope::State);
            world.disk().writable(false);
            let ran = world.run(&["hub", "start"]);
            assert_ne!(ran.code, 0);
            assert!(!ran.stderr.is_empty() && !ran.stderr.contains("panicked"), "{ran:?}");
        }
    }

    /// The workspace of a killed hub with one undecided change of an agent that is gone.
    fn with_a_journal() -> (World, String) {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        agent.propose(&path, &NEW.repeat(5_000), "tab");
        world.one_pending();
        agent.drop_socket();
        drop(serve);
        world.run(&["hub", "stop", "--force"]).ok();
        (world, path)
    }

    fn damaged_files(world: &World) -> Vec<PathBuf> {
        let entries = fs::read_dir(world.state()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_string_lossy().contains("damaged")).collect()
    }

    fn works(world: &World, path: &str) {
        let serve = world.serve();
        let mut agent = Agent::nexus3(world, serve.port);
        let call = agent.propose(path, "again\n", "tab");
        eventually("it is pending", || {
            let reviews = world.reviews();
            reviews
                .iter()
                .any(|review| review["dialect"] == "nexus3" && review["phase"] == "pending")
                .then_some(())
        });
        world.run(&["accept", "latest"]).ok();
        assert_eq!(agent.texts(call), ["FILE_SAVED"]);
        drop((agent, serve));
    }

    #[test]
    fn a_journal_that_is_no_journal_is_kept_aside_and_said() {
        let (world, path) = with_a_journal();
        let log = world.state().join("journal.db-wal");
        eventually("a hub that leaves has closed its journal", || (!log.exists()).then_some(()));
        let garbage = vec![0xA5; 20_000];
        fs::write(world.journal(), &garbage).unwrap();
        works(&world, &path);
        let kept = damaged_files(&world);
        assert!(kept.iter().any(|file| fs::read(file).unwrap() == garbage), "{kept:?}");
        let log = world.log();
        assert!(log.contains("the journal is damaged") && log.contains("moved it to"), "{log}");
    }

    #[test]
    fn garbage_in_the_middle_of_the_journal_costs_no_start_and_no_wrong_byte() {
        let (world, path) = with_a_journal();
        let length = fs::metadata(world.journal()).unwrap().len();
        // Page by page: each damages something else, from the schema to the texts.
        for page in 0..length / 4096 {
            let whole = fs::read(world.journal()).unwrap();
            let file = fs::OpenOptions::new().write(true).open(world.journal()).unwrap();
            file.write_all_at(&[0xA5; 1024], page * 4096 + 1024).unwrap();
            drop(file);
            let ran = world.run(&["hub", "start"]);
            assert_eq!(ran.code, 0, "page {page}: {ran:?}\n{}", world.log());
            for review in world.reviews() {
                let shown = world.json(&["show", review["review"].as_str().unwrap()]);
                let proposed = shown["proposed"].as_str().or(shown["shown"]["proposed"].as_str()).unwrap();
                assert!(proposed == NEW.repeat(5_000), "page {page}: a text was damaged unnoticed");
            }
            world.run(&["hub", "stop", "--force"]).ok();
            for side in ["journal.db-wal", "journal.db-shm"] {
                let _ = fs::remove_file(world.state().join(side));
            }
            fs::write(world.journal(), whole).unwrap();
        }
        works(&world, &path);
    }

    #[test]
    fn an_agent_that_stands_still_is_found_by_its_heartbeat_and_its_review_waits() {
        let world = World::with_config("[limits]\nheartbeat_seconds = 1\n");
        let path = world.file("a.txt", OLD);
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        agent.propose(&path, NEW, "tab");
        world.one_pending();
        agent.freeze();
        eventually("the agent is given up", || {
            world.reviews().iter().any(|review| review["ownerGone"] == true).then_some(())
        });
        assert_eq!(world.pending(1).len(), 1, "silence is not a rejection");
        let mut again = Agent::claude(&world, serve.port);
        let call = again.propose(&path, NEW, "tab");
        eventually("the review has its agent again", || {
            world.reviews().iter().all(|review| review["ownerGone"] == false).then_some(())
        });
        world.run(&["accept", "latest"]).ok();
        assert_eq!(again.texts(call)[0], "FILE_SAVED");
        drop((agent, again, serve));
    }

    #[test]
    fn an_editor_that_stands_still_is_found_and_shown_the_review_when_it_goes_on() {
        let world = World::with_config("[limits]\nheartbeat_seconds = 1\ncall_seconds = 1\n");
        let path = world.file("a.txt", OLD);
        let mut editor = EditorBuilder::new(&world)
            .capabilities(api::Capabilities { reviews: true, ..Default::default() })
            .attach();
        let mut agent = Agent::nexus3(&world, editor.port());
        let call = agent.propose(&path, NEW, "tab");
        editor.shown(&path);
        let before = editor.state().shown.len();
        editor.freeze();
        eventually("the editor is given up", || {
            (world.status()["windows"][0]["attached"] == false).then_some(())
        });
        // Long enough that the hub has closed the connection, not only missed a probe.
        std::thread::sleep(std::time::Duration::from_millis(2_500));
        assert!(alive(editor.pid()));
        editor.thaw();
        editor.until("it is shown again", |state| (state.shown.len() > before).then_some(()));
        let shown = editor.shown(&path);
        editor.accept(&shown);
        assert_eq!(agent.texts(call), ["FILE_SAVED"]);
        assert_eq!(world.read_text("a.txt"), NEW);
        drop((agent, editor));
    }
}
