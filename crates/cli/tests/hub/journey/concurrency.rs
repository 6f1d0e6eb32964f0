//! Many reviews at once: files with the same name, agents on one file, forty reviews. Each agent gets its own answer.

use std::collections::BTreeMap;

use crate::support::*;

#[test]
fn two_files_of_one_name_under_review_at_once() {
    let world = World::new();
    let (a, b) = (world.file("a/mod.rs", "a\n"), world.file("b/mod.rs", "b\n"));
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let (first, second) = (agent.propose(&a, "A\n", "mod.rs"), agent.propose(&b, "B\n", "mod.rs"));
    world.pending(2);
    let by_path: BTreeMap<String, String> = world
        .reviews()
        .iter()
        .map(|review| {
            let text = |key: &str| review[key].as_str().unwrap().to_owned();
            (text("path"), text("review"))
        })
        .collect();
    world.run(&["accept", &by_path[&b]]).ok();
    assert_eq!(agent.texts(second), ["FILE_SAVED"]);
    world.run(&["reject", &by_path[&a]]).ok();
    assert_eq!(agent.texts(first), ["DIFF_REJECTED"]);
    assert_eq!((world.read_text("a/mod.rs"), world.read_text("b/mod.rs")), ("a\n".into(), "B\n".into()));
}

#[test]
fn two_agents_at_once_on_one_file() {
    let world = World::new();
    let path = world.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n");
    let serve = world.serve();
    let mut first = Agent::nexus3(&world, serve.port);
    let mut second = Agent::nexus3(&world, serve.port);
    let of_first = first.propose(&path, "one\n2\n3\n4\n5\n6\n7\n", "tab");
    let one = world.one_pending();
    let of_second = second.propose(&path, "1\n2\n3\n4\n5\n6\nseven\n", "tab");
    let two = world.pending(2).remove(1);
    world.run(&["accept", &two]).ok();
    assert_eq!(second.texts(of_second), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "1\n2\n3\n4\n5\n6\nseven\n");
    world.run(&["accept", &one]).ok();
    assert_eq!(first.texts(of_first), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "one\n2\n3\n4\n5\n6\nseven\n", "both, merged");
}

#[test]
fn the_same_change_from_two_live_agents_is_two_reviews() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let (mut first, mut second) = (Agent::claude(&world, serve.port), Agent::claude(&world, serve.port));
    let of_first = first.propose(&path, "two\n", "tab");
    let one = world.one_pending();
    let of_second = second.propose(&path, "two\n", "tab");
    let two = world.pending(2).remove(1);
    world.run(&["reject", &two]).ok();
    assert_eq!(second.texts(of_second)[0], "DIFF_REJECTED");
    world.run(&["accept", &one]).ok();
    assert_eq!(first.texts(of_first)[0], "FILE_SAVED");
}

#[test]
fn a_second_change_of_the_same_file_does_not_disturb_the_first() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    let first = agent.propose(&path, "two\n", "same tab");
    let one = world.one_pending();
    let second = agent.propose(&path, "three\n", "same tab");
    let two = world.pending(2).remove(1);
    world.run(&["accept", &two]).ok();
    assert_eq!(agent.texts(second), ["FILE_SAVED", "three\n"]);
    assert_eq!(world.one_pending(), one);
    world.run(&["reject", &one]).ok();
    assert_eq!(agent.texts(first), ["DIFF_REJECTED", "same tab"]);
}

#[test]
fn forty_reviews_at_once_are_each_answered_to_their_own_asker() {
    let world = World::new();
    let mut editor = Editor::attach(&world);
    let mut agents: Vec<(Agent, Vec<(i64, usize)>)> = (0..8)
        .map(|n| {
            let dialect = if n % 2 == 0 { WsDialect::Claude } else { WsDialect::Nexus3 };
            (Agent::introduced(&world, editor.port(), dialect, agent::CLAUDE), vec![])
        })
        .collect();
    for n in 0..40 {
        let path = world.file(&format!("{n}/mod.rs"), format!("before {n}\n"));
        let (agent, calls) = &mut agents[n % 8];
        calls.push((agent.propose(&path, &format!("after {n}\n"), &format!("tab {n}")), n));
    }
    // Decided in another order, every third one rejected.
    for n in (0..40).map(|n| (n * 7 + 3) % 40) {
        let shown = editor.shown(&world.path_str(&format!("{n}/mod.rs")));
        if n % 3 == 0 { editor.reject(&shown) } else { editor.accept(&shown) }
    }
    for (at, (agent, calls)) in agents.iter_mut().enumerate() {
        for (call, n) in calls.iter() {
            let texts = agent.texts(*call);
            let (after, tab) = (format!("after {n}\n"), format!("tab {n}"));
            match (n % 3 == 0, at % 2 == 0) {
                (true, true) => assert_eq!(texts, ["DIFF_REJECTED", &tab]),
                (true, false) => assert_eq!(texts, ["DIFF_REJECTED"]),
                (false, true) => assert_eq!(texts, ["FILE_SAVED", &after]),
                (false, false) => assert_eq!(texts, ["FILE_SAVED"]),
            }
            let written = n % 3 != 0 && at % 2 != 0;
            let expected = if written { after } else { format!("before {n}\n") };
            assert_eq!(world.read_text(&format!("{n}/mod.rs")), expected);
        }
    }
    assert!(world.reviews().is_empty());
}
