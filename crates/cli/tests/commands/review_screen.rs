//! `linkspan review` as a user sees it: the real binary in a real terminal, real keys, and the bytes on disk.

use std::thread;
use std::time::Duration;

use crate::support::{Agent, Serve, Tty, World};

/// A small and a large terminal.
const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

fn numbered(changed: &[usize]) -> String {
    (0..60)
        .map(|line| {
            let word = if changed.contains(&line) { "changed" } else { "as it was" };
            format!("let line_{line} = \"{word}\";\n")
        })
        .collect()
}

/// A world with a NEXUS3 agent, for which the hub writes what is accepted.
fn fixture() -> (World, Serve, Agent) {
    let world = World::new();
    let serve = world.serve();
    let agent = Agent::nexus3(&world, serve.port);
    (world, serve, agent)
}

/// Proposes to change these lines of a file of sixty.
fn propose(world: &World, agent: &mut Agent, name: &str, changed: &[usize]) -> i64 {
    let path = world.file(name, numbered(&[]));
    agent.propose(&path, &numbered(changed), name)
}

#[test]
fn a_change_is_seen_and_accepted() {
    for (columns, rows) in SIZES {
        let (world, _serve, mut agent) = fixture();
        let call = propose(&world, &mut agent, "a.rs", &[10, 30, 50]);
        world.one_pending();
        let mut tty = Tty::review(&world, columns, rows, &[]);
        tty.sees("hunk 1 of 3");
        tty.sees("a.rs");
        tty.sees("nexus3");
        tty.sees("let line_10 = \"changed\";");
        tty.looks_and_types("a");
        tty.sees("No pending reviews");
        assert!(!agent.texts(call).is_empty());
        assert_eq!(world.read_text("a.rs"), numbered(&[10, 30, 50]));
        tty.types("q");
        assert_eq!(tty.ends(), 0);
        tty.is_as_before();
    }
}

#[test]
fn two_hunks_of_three_are_taken() {
    for (columns, rows) in SIZES {
        let (world, _serve, mut agent) = fixture();
        let call = propose(&world, &mut agent, "a.rs", &[10, 30, 50]);
        world.one_pending();
        let mut tty = Tty::review(&world, columns, rows, &[]);
        tty.sees("hunk 1 of 3");
        tty.types("yxy");
        tty.sees("3 hunks marked");
        tty.looks_and_types("s");
        tty.sees("No pending reviews");
        agent.texts(call);
        assert_eq!(world.read_text("a.rs"), numbered(&[10, 50]));
    }
}

#[test]
fn a_rejection_has_a_reason_and_a_comment() {
    for (columns, rows) in SIZES {
        let (world, _serve, mut agent) = fixture();
        let call = propose(&world, &mut agent, "a.rs", &[10]);
        world.one_pending();
        let mut tty = Tty::review(&world, columns, rows, &[]);
        tty.sees("hunk 1 of 1");
        tty.types("/\"changed\r");
        tty.types("c");
        tty.sees("Comment on line 11");
        tty.types("why this line?\r");
        tty.sees("✎ why this line?");
        tty.types("R");
        tty.sees("Reason for rejecting");
        tty.types("too clever");
        tty.sees("too clever");
        tty.looks_and_types("\r");
        tty.sees("No pending reviews");
        let answer = agent.answer(call).to_string();
        assert!(answer.contains("too clever") && answer.contains("line 11: why this line?"), "{answer}");
        assert_eq!(world.read_text("a.rs"), numbered(&[]));
    }
}

#[test]
fn a_text_edited_in_the_persons_editor_is_what_is_written() {
    let (world, _serve, mut agent) = fixture();
    let call = propose(&world, &mut agent, "a.rs", &[10, 30]);
    world.one_pending();
    let script = world.root().join("edit.sh");
    std::fs::write(&script, "sed -i '31s/changed/my own/' \"$1\"\n").unwrap();
    let editor = format!("sh {}", script.display());
    let mut tty = Tty::review(&world, 80, 24, &[("EDITOR", &editor)]);
    tty.sees("hunk 1 of 2");
    tty.types("e");
    tty.sees("Accept your text?");
    tty.looks_and_types("y");
    tty.sees("No pending reviews");
    agent.texts(call);
    assert_eq!(
        world.read_text("a.rs"),
        numbered(&[10, 30]).replacen("line_30 = \"changed", "line_30 = \"my own", 1)
    );
    tty.types("q");
    assert_eq!(tty.ends(), 0);
    tty.is_as_before();
}

#[test]
fn an_interrupt_in_the_persons_editor_is_not_meant_for_us() {
    for key in ["\u{3}", "\u{1c}"] {
        let (world, _serve, mut agent) = fixture();
        propose(&world, &mut agent, "a.rs", &[10]);
        world.one_pending();
        let script = world.root().join("edit.sh");
        let text = "trap 'hit=yes' INT QUIT\necho editing\nwhile [ -z \"$hit\" ]; do sleep 0.1; done\n\
                    echo mine > \"$1\"\n";
        std::fs::write(&script, text).unwrap();
        let editor = format!("exec sh {}", script.display());
        let mut tty = Tty::review(&world, 80, 24, &[("EDITOR", &editor)]);
        tty.sees("hunk 1 of 1");
        tty.types("e");
        tty.sees("editing");
        tty.types(key);
        tty.sees("Accept your text?");
        tty.looks_and_types("y");
        tty.sees("No pending reviews");
        crate::support::eventually("the text is written", || {
            (world.read_text("a.rs") == "mine\n").then_some(())
        });
    }
}

#[test]
fn an_editor_that_fails_decides_nothing_and_the_screen_comes_back() {
    let (world, _serve, mut agent) = fixture();
    propose(&world, &mut agent, "a.rs", &[10]);
    let review = world.one_pending();
    let mut tty = Tty::review(&world, 80, 24, &[("VISUAL", "false")]);
    tty.sees("hunk 1 of 1");
    tty.types("e");
    tty.sees("not submitted");
    tty.sees("hunk 1 of 1");
    assert_eq!(world.one_pending(), review);
}

#[test]
fn what_is_folded_is_found_by_searching() {
    let (world, _serve, mut agent) = fixture();
    propose(&world, &mut agent, "a.rs", &[10]);
    world.one_pending();
    let mut tty = Tty::review(&world, 80, 24, &[]);
    tty.sees("unchanged lines");
    assert!(!tty.text().contains("line_40"));
    tty.types("/line_40\r");
    tty.sees("let line_40 = \"as it was\";");
    tty.types("?");
    tty.sees("accept the whole change");
}

#[test]
fn what_somebody_else_decides_is_seen_at_once_and_not_decided_again() {
    let (world, _serve, mut agent) = fixture();
    propose(&world, &mut agent, "a.rs", &[10]);
    let review = world.one_pending();
    let mut tty = Tty::review(&world, 80, 24, &[]);
    tty.sees("hunk 1 of 1");
    world.run(&["reject", &review]).ok();
    tty.sees("rejected in a terminal");
    tty.looks_and_types("a");
    tty.sees("is closed");
    assert_eq!(world.read_text("a.rs"), numbered(&[]));
}

#[test]
fn a_key_typed_ahead_decides_nothing() {
    let (world, _serve, mut agent) = fixture();
    propose(&world, &mut agent, "a.rs", &[10]);
    let review = world.one_pending();
    let mut tty = Tty::run(&world, 80, 24, &["review"], &[]);
    tty.types("aaarrr");
    tty.sees("hunk 1 of 1");
    tty.looks_and_types("j");
    assert_eq!(world.one_pending(), review);
    assert_eq!(world.read_text("a.rs"), numbered(&[]));
}

#[test]
fn a_killed_hub_comes_back_and_nothing_is_lost() {
    let (world, _serve, mut agent) = fixture();
    propose(&world, &mut agent, "a.rs", &[10, 30, 50]);
    let review = world.one_pending();
    let mut tty = Tty::review(&world, 200, 50, &[]);
    tty.sees("hunk 1 of 3");
    tty.types("x");
    tty.sees("exclude");
    world.kill_hub();
    tty.sees("the hub is back");
    tty.sees("exclude");
    assert_eq!(world.one_pending(), review);
    tty.types("yy");
    tty.sees("3 hunks marked");
    tty.looks_and_types("s");
    tty.sees("No pending reviews");
    crate::support::eventually("the accepted hunks are in the file", || {
        (world.read_text("a.rs") == numbered(&[30, 50])).then_some(())
    });
}

#[test]
fn quitting_leaves_it_pending_and_the_terminal_as_it_was() {
    for keys in ["q", "\u{3}"] {
        let (world, _serve, mut agent) = fixture();
        propose(&world, &mut agent, "a.rs", &[10]);
        let review = world.one_pending();
        let mut tty = Tty::review(&world, 80, 24, &[]);
        tty.sees("hunk 1 of 1");
        tty.looks_and_types(keys);
        assert_eq!(tty.ends(), 0);
        tty.is_as_before();
        assert_eq!(world.one_pending(), review);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_screen_that_waits_sleeps() {
    let world = World::new();
    let _serve = world.serve();
    let mut tty = Tty::review(&world, 80, 24, &[]);
    tty.sees("No pending reviews");
    let status = format!("/proc/{0}/task/{0}/status", tty.pid());
    let slept = || {
        let status = std::fs::read_to_string(&status).unwrap();
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.unwrap().trim().parse::<u64>().unwrap()
    };
    // What it still has to do after its start is done at some time; a screen that polls would never be quiet.
    crate::support::eventually("it sleeps", || {
        let before = slept();
        thread::sleep(Duration::from_secs(2));
        (slept() == before).then_some(())
    });
    tty.types("?");
    tty.sees("accept the whole change");
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let world = World::new();
    let _serve = world.serve();
    let mut tty = Tty::review(&world, 80, 24, &[]);
    tty.sees("No pending reviews");
    crate::support::world::signal(tty.pid(), rustix::process::Signal::TERM);
    tty.ends();
    tty.is_as_before();
}

#[test]
fn new_changes_announce_themselves_and_many_are_accepted_at_once() {
    let (world, _serve, mut agent) = fixture();
    let mut tty = Tty::review(&world, 80, 24, &[]);
    tty.sees("No pending reviews");
    propose(&world, &mut agent, "a.rs", &[10]);
    tty.sees("hunk 1 of 1");
    propose(&world, &mut agent, "b.rs", &[20]);
    tty.sees("new: b.rs");
    tty.sees("2 pending reviews");
    tty.types("A");
    tty.sees("Accept 2 changes at once?");
    tty.sees("accept all of these");
    tty.looks_and_types("y");
    tty.sees("No pending reviews");
    crate::support::eventually("both are written", || {
        (world.read_text("a.rs") == numbered(&[10]) && world.read_text("b.rs") == numbered(&[20]))
            .then_some(())
    });
}

#[test]
fn leaving_at_once_takes_no_decision_back() {
    let (world, _serve, mut agent) = fixture();
    let names: Vec<String> = (0..12).map(|number| format!("f{number}.rs")).collect();
    for name in &names {
        propose(&world, &mut agent, name, &[10]);
    }
    world.pending(names.len());
    for signal in [false, true] {
        let mut tty = Tty::review(&world, 80, 24, &[]);
        tty.sees("hunk 1 of 1");
        if signal {
            tty.looks_and_types("A");
            tty.sees("at once?");
            tty.sees("accept all of these");
            tty.looks_and_types("y");
            tty.sees_no("at once?");
            crate::support::world::signal(tty.pid(), rustix::process::Signal::TERM);
        } else {
            tty.looks_and_types("aq");
        }
        assert_eq!(tty.ends(), 0, "{}", tty.text());
        tty.is_as_before();
        let decided = if signal { names.len() } else { 1 };
        world.pending(names.len() - decided);
    }
}

#[test]
fn a_click_chooses_a_file_and_a_hunk() {
    for (columns, rows) in SIZES {
        let (world, _serve, mut agent) = fixture();
        propose(&world, &mut agent, "a.rs", &[10]);
        world.one_pending();
        propose(&world, &mut agent, "b.rs", &[3, 20]);
        world.pending(2);
        let mut tty = Tty::review(&world, columns, rows, &[]);
        tty.sees("hunk 1 of 1");
        tty.clicks(5, tty.row_of("b.rs"));
        tty.sees("hunk 2 of 2");
        let column = tty.with_screen(|screen| {
            let row = screen.rows(0, columns).find(|row| row.contains("hunk 2 of 2")).unwrap();
            row.chars().position(|character| character == '[').unwrap()
        });
        tty.clicks(u16::try_from(column).unwrap() + 1, tty.row_of("hunk 2 of 2"));
        tty.sees("[✓] hunk 2 of 2");
    }
}

#[test]
fn a_change_of_size_changes_the_layout() {
    let (world, _serve, mut agent) = fixture();
    propose(&world, &mut agent, "a.rs", &[10]);
    world.one_pending();
    let mut tty = Tty::review(&world, 80, 24, &[]);
    tty.sees("hunk 1 of 1");
    let both_sides = |text: &str| {
        text.lines().any(|line| line.contains("− let line_10") && line.contains("+ let line_10"))
    };
    assert!(!both_sides(&tty.text()));
    tty.resizes(200, 50);
    tty.sees_that("both sides", both_sides);
}

#[test]
fn no_color_means_none_and_hidden_characters_are_seen() {
    let (world, _serve, mut agent) = fixture();
    let path = world.file("a.rs", "let a = 1;\n");
    agent.propose(&path, "let a = 1; // \u{202e}\u{200b}\n", "a.rs");
    world.one_pending();
    let tty = Tty::review(&world, 80, 24, &[("NO_COLOR", "1")]);
    tty.sees(r"\u{202e}\u{200b}");
    let plain = tty.with_screen(|screen| {
        let cells = (0..24).flat_map(|row| (0..80).filter_map(move |column| screen.cell(row, column)));
        cells
            .into_iter()
            .all(|cell| cell.fgcolor() == vt100::Color::Default && cell.bgcolor() == vt100::Color::Default)
    });
    assert!(plain, "there is a colour");
}

#[test]
fn a_dumb_terminal_is_asked_line_by_line() {
    let (world, _serve, mut agent) = fixture();
    let call = propose(&world, &mut agent, "a.rs", &[10, 30, 50]);
    world.one_pending();
    let mut tty = Tty::run(&world, 80, 200, &["review", "--once"], &[("TERM", "dumb")]);
    tty.sees("hunk 3 of 3");
    tty.sees("[q]uit?");
    tty.looks_and_types("c\n");
    tty.sees("on which line");
    tty.looks_and_types("11\n");
    tty.sees("comment?");
    tty.looks_and_types("nice\n");
    tty.sees_that("the question again", |text| text.matches("[q]uit?").count() == 2);
    tty.looks_and_types("h\n");
    tty.sees("which hunks");
    tty.looks_and_types("1 3\n");
    tty.sees("accepted 2 of 3 hunks");
    assert_eq!(tty.ends(), 0);
    let texts = agent.texts(call).join("\n");
    assert!(texts.contains("nice"), "{texts}");
    assert_eq!(world.read_text("a.rs"), numbered(&[10, 50]));
}

#[test]
fn the_prompt_goes_on_when_the_hub_comes_back() {
    let (world, _serve, mut agent) = fixture();
    propose(&world, &mut agent, "a.rs", &[10]);
    world.one_pending();
    let mut tty = Tty::run(&world, 80, 60, &["review", "--once"], &[("TERM", "dumb")]);
    tty.sees("[q]uit?");
    world.kill_hub();
    tty.looks_and_types("a\n");
    tty.sees("accepted");
    assert_eq!(tty.ends(), 0, "{}", tty.text());
    crate::support::eventually("the accepted text is in the file", || {
        (world.read_text("a.rs") == numbered(&[10])).then_some(())
    });
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let world = World::new();
    let ran = world.run(&["review"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("linkspan accept"), "{ran:?}");
    let mut tty = Tty::run(&world, 80, 24, &["review", "r99"], &[]);
    assert_eq!(tty.ends(), 4);
}

#[test]
fn a_question_of_an_agent_is_read_and_answered() {
    use crate::support::editor::all_capabilities;
    use crate::support::{EditorBuilder, OwnAgent};
    use linkspan_editor_api::Capabilities;

    for (columns, rows) in SIZES {
        let world = World::new();
        let capabilities = Capabilities { terminal: true, ..all_capabilities() };
        let editor = EditorBuilder::new(&world).capabilities(capabilities).attach();
        let mut agent = OwnAgent::join(&world, "k3y");
        let mut tty = Tty::review(&world, columns, rows, &[]);
        tty.sees("o pending reviews");
        let text: String = (0..60).map(|line| format!("echo {line}\n")).collect();
        let call = agent.call("runInTerminal", serde_json::json!({ "command": text }));
        tty.sees("! 1 permission request");
        tty.types("!");
        tty.sees("Allow tester (linkspan) to run");
        // Its 61 rows, and the question, who asks and an empty row before them.
        tty.sees("of 64; j and k scroll");
        tty.types(&" ".repeat(7));
        tty.sees("echo 59");
        tty.looks_and_types("o");
        tty.sees("allowed once");
        assert_eq!(agent.told(call)["exitCode"], 3);
        assert_eq!(editor.state().ran[0].command, text);
        tty.types("q");
        assert_eq!(tty.ends(), 0);
        tty.is_as_before();
    }
}

/// A change of a Claude Code that should write the accepted text, and is gone.
fn left_behind(world: &World, serve: &Serve) {
    let mut agent = Agent::claude(world, serve.port);
    propose(world, &mut agent, "a.rs", &[10, 30]);
    world.one_pending();
    agent.drop_socket();
    crate::support::eventually("it is gone", || (world.reviews()[0]["ownerGone"] == true).then_some(()));
}

#[test]
fn what_its_agent_no_longer_waits_for_is_asked_about_and_written() {
    for (columns, rows) in SIZES {
        let world = World::new();
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        propose(&world, &mut agent, "a.rs", &[10, 30]);
        world.one_pending();
        let mut tty = Tty::review(&world, columns, rows, &[]);
        tty.sees("hunk 1 of 2");
        agent.drop_socket();
        tty.sees("agent gone");
        tty.looks_and_types("a");
        tty.sees("claude-code no longer waits. Let Linkspan write the file?");
        assert_eq!(world.read_text("a.rs"), numbered(&[]));
        tty.looks_and_types("y");
        tty.sees("No pending reviews");
        assert_eq!(world.read_text("a.rs"), numbered(&[10, 30]));
    }
}

#[test]
fn the_prompt_asks_whether_linkspan_shall_write() {
    let world = World::new();
    let serve = world.serve();
    left_behind(&world, &serve);
    let mut tty = Tty::run(&world, 80, 200, &["review", "--once"], &[("TERM", "dumb")]);
    tty.sees("agent gone");
    tty.sees("[q]uit?");
    tty.looks_and_types("a\n");
    tty.sees("have Linkspan write it (y/n)?");
    tty.looks_and_types("n\n");
    tty.sees("not decided");
    assert_eq!(world.read_text("a.rs"), numbered(&[]));
    tty.looks_and_types("q\n");
    tty.ends();
    let mut tty = Tty::run(&world, 80, 200, &["review", "--once"], &[("TERM", "dumb")]);
    tty.sees("[q]uit?");
    tty.looks_and_types("a\n");
    tty.sees("have Linkspan write it (y/n)?");
    tty.looks_and_types("y\n");
    tty.sees("accepted r1");
    assert_eq!(tty.ends(), 0);
    assert_eq!(world.read_text("a.rs"), numbered(&[10, 30]));
}
