//! `openDiff` with two different paths: the old file's text is shown on the left, the new file is written.

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::support::*;

    const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    const PROPOSED: &str = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";

    fn ask(agent: &mut Agent, old: &str, new: &str) -> i64 {
        let arguments = json!({
            "old_file_path": old, "new_file_path": new, "new_file_contents": PROPOSED, "tab_name": "moved",
        });
        agent.send_call("openDiff", arguments)
    }

    fn shown(world: &World, review: &str) -> Value {
        world.json(&["show", review])["shown"].clone()
    }

    #[test]
    fn some_hunks_of_a_new_file_are_taken_from_the_old_one() {
        let world = World::new();
        let old = world.file("old.txt", OLD);
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        let asked = ask(&mut agent, &old, &world.path_str("new.txt"));
        let review = world.one_pending();
        let seen = shown(&world, &review);
        assert_eq!((&seen["base"], &seen["newFile"]), (&json!(OLD), &json!(true)), "{seen}");
        assert_eq!(seen["hunks"].as_array().unwrap().len(), 2, "{seen}");
        world.run(&["accept", &review, "--hunk", "1"]).ok();
        assert_eq!(agent.texts(asked)[0], "FILE_SAVED");
        assert_eq!(world.read_text("new.txt"), OLD.replace('1', "one"));
        assert_eq!(world.read_text("old.txt"), OLD);
        world.run(&["undo", "--last"]).ok();
        assert!(!world.path("new.txt").exists(), "there was no such file before");
    }

    #[test]
    fn an_undo_gives_back_what_the_new_file_held() {
        let world = World::new();
        let (old, new) = (world.file("old.txt", OLD), world.file("new.txt", "held\n"));
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        let asked = ask(&mut agent, &old, &new);
        let review = world.one_pending();
        assert_eq!(shown(&world, &review)["base"], OLD);
        world.run(&["accept", &review]).ok();
        assert_eq!(agent.texts(asked)[0], "FILE_SAVED");
        assert_eq!(world.read_text("new.txt"), PROPOSED);
        world.run(&["undo", "--last"]).ok();
        assert_eq!((world.read_text("new.txt"), world.read_text("old.txt")), ("held\n".into(), OLD.into()));
    }

    #[test]
    fn a_killed_hub_still_shows_the_old_file() {
        let world = World::new();
        let old = world.file("old.txt", OLD);
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        ask(&mut agent, &old, &world.path_str("new.txt"));
        let review = world.one_pending();
        world.kill_hub();
        world.file("old.txt", "changed\n");
        let review_after = world.one_pending();
        assert_eq!(review_after, review);
        assert_eq!(shown(&world, &review)["base"], OLD);
        world.run(&["accept", &review, "--hunk", "2"]).ok();
        eventually("it is written", || world.path("new.txt").exists().then_some(()));
        assert_eq!(world.read_text("new.txt"), OLD.replace('9', "nine"));
    }

    #[test]
    fn an_old_file_that_may_not_be_read_is_named() {
        let world = World::with_config("deny = [\"denied.txt\", \"**/denied.txt\"]\n");
        let outside = world.home().join("outside.txt");
        std::fs::write(&outside, "secret\n").unwrap();
        let (denied, binary) =
            (world.file("denied.txt", "secret\n"), world.file("binary.txt", b"\0secret\0"));
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        for (old, name) in [
            (outside.to_str().unwrap(), "outside.txt"),
            (denied.as_str(), "denied.txt"),
            (binary.as_str(), "binary.txt"),
        ] {
            let asked = ask(&mut agent, old, &world.path_str("new.txt"));
            let error = agent.answer(asked)["error"].to_string();
            assert!(error.contains(name) && !error.contains("secret"), "{error}");
            assert!(world.reviews().is_empty() && !world.path("new.txt").exists());
        }
    }
}
