//! The id of a review names one change for good: after no loss of the journal does an old "accept r1" apply to another.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use linkspan_editor_api as api;
    use serde_json::Value;

    use crate::support::*;

    const OLD: &str = "one\ntwo\n";

    /// One change that was shown and whose agent is gone, and its id.
    fn with_one_review(world: &World) -> (String, u64) {
        let path = world.file("a.txt", OLD);
        let serve = world.serve();
        let mut agent = Agent::claude(world, serve.port);
        agent.propose(&path, "one\n2\n", "tab");
        let review = world.one_pending();
        agent.drop_socket();
        drop(serve);
        world.run(&["hub", "stop", "--force"]).ok();
        let log = world.state().join("journal.db-wal");
        eventually("a hub that leaves has closed its journal", || (!log.exists()).then_some(()));
        (path, number(&review))
    }

    fn number(review: &str) -> u64 {
        review.strip_prefix('r').unwrap().parse().unwrap()
    }

    /// Another agent proposes something else: its review has another id, and a decision for the old id has no effect.
    fn another_one(world: &World, path: &str, old: u64) -> u64 {
        let serve = world.serve();
        let mut agent = Agent::nexus3(world, serve.port);
        let call = agent.propose(path, "unseen\n", "tab");
        let new = eventually("it is pending", || {
            let reviews = world.reviews();
            let review = reviews.iter().find(|review| review["dialect"] == "nexus3")?;
            Some(number(review["review"].as_str()?))
        });
        assert!(new > old, "r{new} after r{old}");
        let ran = world.run(&["accept", &format!("r{old}")]);
        assert!(world.read_text("a.txt") == OLD, "an old word was taken for a new change: {ran:?}");
        world.run(&["accept", &format!("r{new}")]).ok();
        assert_eq!(agent.texts(call), ["FILE_SAVED"]);
        drop((agent, serve));
        new
    }

    #[test]
    fn after_a_damaged_journal_no_id_comes_again() {
        let world = World::new();
        let (path, old) = with_one_review(&world);
        fs::write(world.journal(), vec![0xA5; 20_000]).unwrap();
        let new = another_one(&world, &path, old);
        assert!(new < 1_000, "r{new} is as short as it can be");
    }

    #[test]
    fn after_a_journal_that_was_removed_no_id_comes_again() {
        let world = World::new();
        let (path, old) = with_one_review(&world);
        fs::remove_file(world.journal()).unwrap();
        another_one(&world, &path, old);
    }

    #[test]
    fn after_an_older_copy_of_the_journal_was_put_back_no_id_comes_again() {
        let world = World::new();
        let (path, _) = with_one_review(&world);
        let copy = fs::read(world.journal()).unwrap();
        let mut last = 0;
        // More than the hub reserves at once.
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        for n in 0..110 {
            let call = agent.propose(&path, &format!("{n}\n"), "tab");
            let review = eventually("it is pending", || {
                let reviews = world.reviews();
                let waits = |review: &&Value| review["dialect"] == "nexus3" && review["phase"] == "pending";
                Some(reviews.iter().find(waits)?["review"].as_str()?.to_owned())
            });
            last = number(&review);
            world.run(&["reject", &review]).ok();
            agent.answer(call);
        }
        drop((agent, serve));
        world.run(&["hub", "stop", "--force"]).ok();
        let log = world.state().join("journal.db-wal");
        eventually("a hub that leaves has closed its journal", || (!log.exists()).then_some(()));
        fs::write(world.journal(), copy).unwrap();
        another_one(&world, &path, last);
    }

    #[test]
    fn after_everything_in_the_state_directory_was_removed_no_id_comes_again() {
        let world = World::new();
        let (path, old) = with_one_review(&world);
        fs::remove_dir_all(world.state()).unwrap();
        another_one(&world, &path, old);
    }

    #[test]
    fn when_nothing_is_known_of_the_past_ids_go_on_where_they_can_not_have_been() {
        let world = World::new();
        let (path, old) = with_one_review(&world);
        fs::write(world.journal(), vec![0xA5; 20_000]).unwrap();
        for folder in [world.state(), world.runtime()] {
            let _ = fs::remove_file(folder.join("ids.json"));
        }
        let new = another_one(&world, &path, old);
        assert!(new > 1_000_000, "r{new} is from the clock");
        assert!(new < 1_000_000_000, "r{new} can be typed");
    }

    #[test]
    fn a_decision_counts_only_for_what_was_shown_and_an_older_editor_may_still_decide() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let mut editor = Editor::attach(&world);
        let mut agent = Agent::nexus3(&world, editor.port());
        let call = agent.propose(&path, "one\n2\n", "tab");
        let shown = editor.shown(&path);
        assert_eq!(shown.digest.len(), 64);
        assert_eq!(world.reviews()[0]["digest"], shown.digest.as_str());
        let accept = || api::Decision { verdict: api::Verdict::Accept, comments: vec![], write_here: false };
        let decided = |digest: Option<&str>| api::ReviewDecided {
            review: shown.review.clone(),
            revision: shown.revision,
            digest: digest.map(str::to_owned),
            decision: accept(),
        };
        let before = editor.state().shown.len();
        let result = editor.request(&decided(Some(&"0".repeat(64)))).unwrap();
        assert_eq!(result, api::ReviewDecidedResult::Stale { revision: shown.revision });
        editor.until("it is shown again", |state| (state.shown.len() > before).then_some(()));
        assert!(editor.request(&decided(Some("r1"))).is_err());
        let ran = world.run(&["accept", &shown.review, "--digest", "0000000000"]);
        assert!(ran.code == 1 && ran.stderr.contains("look at it again"), "{ran:?}");
        assert_eq!(world.read_text("a.txt"), OLD);
        // Without a digest, as editors did before it existed.
        assert_eq!(editor.request(&decided(None)).unwrap(), api::ReviewDecidedResult::Taken);
        assert_eq!(agent.texts(call), ["FILE_SAVED"]);

        let call = agent.propose(&path, "three\n", "tab");
        let review = world.one_pending();
        let digest = world.json(&["show", &review])["shown"]["digest"].as_str().unwrap().to_owned();
        world.run(&["accept", &review, "--digest", digest.get(..8).unwrap()]).ok();
        assert_eq!(agent.texts(call), ["FILE_SAVED"]);
        drop((agent, editor));
    }

    #[test]
    fn what_is_in_the_state_directory_is_private_also_if_it_was_not() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        world.run(&["hub", "stop", "--force"]).ok();
        // It removes files of the journal until its end.
        eventually("the hub has ended", || world.processes().is_empty().then_some(()));
        let files = || fs::read_dir(world.state()).unwrap().map(|entry| entry.unwrap().path());
        for path in files().chain([world.state()]) {
            let mode = if path.is_dir() { 0o755 } else { 0o644 };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        world.run(&["hub", "start"]).ok();
        for path in files().chain([world.state()]) {
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} is {mode:o}", path.display());
        }
        world.run(&["hub", "stop", "--force"]).ok();
    }
}
