//! Our own agent, `linkspan-agent`, in a terminal, and VS Code: what is decided in either is in the file, and the model
//! is told exactly that.

use rustix::process::Signal;
use serde_json::json;

use crate::runner::{Scenarios, scenarios};
use crate::support::world::signal;
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    what_is_decided_in_the_editor_is_in_the_file_and_told_to_the_model
    the_first_answer_counts_in_the_editor_and_in_the_terminal
    a_window_that_is_lost_leaves_the_question_in_the_terminal_and_shows_it_again
    a_symbol_is_renamed_by_the_language_server_in_the_files_that_the_user_accepts
};

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const TWO_HUNKS: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";
const QUESTION: &str = "Accept? [y]es";

fn what_is_decided_in_the_editor_is_in_the_file_and_told_to_the_model(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let names = ["all.txt", "part.txt", "mine.txt", "no.txt"];
    for name in names {
        world.file(name, BASE);
    }
    let turns = names.map(|name| agent_terminal::writes(name, TWO_HUNKS)).into_iter();
    let model = Model::start(turns.chain([Turn::says("That is all.")]));
    let mut tty = agent_terminal::start(world, &model, &[]);
    // As this build of VS Code calls itself.
    tty.sees("IDE connected: code-server");
    tty.types("please\r");

    workbench.look_at("all.txt ←");
    workbench.click_title("all.txt ←", "Accept Change");
    let told = model.result(0).text;
    assert_eq!(told, "The user accepted the change. Changed all.txt: 2 lines added, 2 removed.");
    assert_eq!(world.read_text("all.txt"), TWO_HUNKS);
    workbench.sees_no_tab("all.txt ←");

    workbench.look_at("part.txt ←");
    workbench.click_lens("part.txt ←", "Reject Hunk", 2);
    workbench.sees_lens("part.txt ←", "Rejected");
    workbench.click_lens("part.txt ←", "Accept Hunk", 1);
    let told = model.result(1).text;
    assert!(
        told.starts_with("The user accepted 1 of 2 parts of the change and rejected the rest."),
        "{told}"
    );
    assert!(told.contains("\n-twelve\n+12\n"), "{told}");
    assert_eq!(world.read_text("part.txt"), BASE.replacen('1', "one", 1));
    workbench.sees_no_tab("part.txt ←");

    workbench.look_at("mine.txt ←");
    workbench.press("Control+End");
    workbench.types("thirteen\n");
    workbench.click_title("mine.txt ←", "Accept Change");
    let told = model.result(2).text;
    assert!(told.starts_with("The user accepted the change with edits of their own."), "{told}");
    assert!(told.contains("\n+thirteen\n"), "{told}");
    assert_eq!(world.read_text("mine.txt"), format!("{TWO_HUNKS}thirteen\n"));
    workbench.sees_no_tab("mine.txt ←");

    workbench.look_at("no.txt ←");
    workbench.go_to_line(12);
    workbench.comment("why in words?");
    workbench.run("Linkspan: Reject Change with a Reason");
    workbench.answer("keep the numbers");
    let told = model.result(3).text;
    assert_eq!(
        told,
        "The user rejected the change; no.txt is unchanged.\nTheir reason: keep the numbers\n\
         Their comments on lines of your proposal:\n  line 12: why in words?"
    );
    assert_eq!(world.read_text("no.txt"), BASE);
    workbench.sees_no_tab("no.txt ←");

    tty.sees("That is all.");
    agent_terminal::quit(tty);
}

fn the_first_answer_counts_in_the_editor_and_in_the_terminal(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    for name in ["editor.txt", "terminal.txt"] {
        world.file(name, "one\n");
    }
    let model = Model::start([
        agent_terminal::writes("editor.txt", "two\n"),
        Turn::says("The first."),
        agent_terminal::writes("terminal.txt", "two\n"),
        Turn::says("The second."),
    ]);
    let mut tty = agent_terminal::start(world, &model, &[]);
    tty.sees("IDE connected: ");
    tty.types("please\r");
    workbench.look_at("editor.txt ←");
    tty.sees(QUESTION);
    workbench.click_title("editor.txt ←", "Accept Change");
    tty.sees("The first.");
    tty.sees_no(QUESTION);
    assert_eq!(world.read_text("editor.txt"), "two\n");

    tty.types("and more\r");
    workbench.sees_tab("terminal.txt ←");
    tty.sees(QUESTION);
    tty.looks_and_types("y");
    tty.sees("The second.");
    workbench.sees_no_tab("terminal.txt ←");
    assert_eq!(world.read_text("terminal.txt"), "two\n");
    for (number, name) in ["editor.txt", "terminal.txt"].iter().enumerate() {
        let told = model.result(number).text;
        assert_eq!(told, format!("The user accepted the change. Changed {name}: 1 line added, 1 removed."));
    }
    agent_terminal::quit(tty);
}

fn a_window_that_is_lost_leaves_the_question_in_the_terminal_and_shows_it_again(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, vscode, .. } = window;
    let lose = || {
        let before = vscode.processes("attach");
        assert_eq!(before.len(), 1, "one program for one window");
        signal(before[0], Signal::KILL);
        eventually("another is started", || {
            vscode.processes("attach").iter().any(|program| !before.contains(program)).then_some(())
        });
    };
    for name in ["editor.txt", "terminal.txt"] {
        world.file(name, "one\n");
    }
    let model = Model::start([
        agent_terminal::writes("editor.txt", "two\n"),
        agent_terminal::writes("terminal.txt", "two\n"),
        Turn::says("That is all."),
    ]);
    let mut tty = agent_terminal::start(world, &model, &[]);
    tty.sees("IDE connected: ");
    tty.types("please\r");
    workbench.look_at("editor.txt ←");
    let review = world.one_pending();
    lose();
    tty.sees(QUESTION);
    workbench.attached(world);
    assert_eq!(world.one_pending(), review, "it is another review");
    workbench.look_at("editor.txt ←");
    workbench.click_title("editor.txt ←", "Accept Change");
    assert!(model.result(0).text.starts_with("The user accepted the change."));
    assert_eq!(world.read_text("editor.txt"), "two\n");

    workbench.sees_tab("terminal.txt ←");
    lose();
    tty.sees("terminal.txt");
    tty.sees(QUESTION);
    tty.looks_and_types("y");
    tty.sees("That is all.");
    assert_eq!(world.read_text("terminal.txt"), "two\n");
    workbench.attached(world);
    workbench.sees_no_tab("terminal.txt ←");
    assert_eq!(world.pending(0), Vec::<String>::new());
    agent_terminal::quit(tty);
}

fn a_symbol_is_renamed_by_the_language_server_in_the_files_that_the_user_accepts(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    world.file("tsconfig.json", "{}");
    let source = "export function sum(a: number, b: number) {\n  return a + b;\n}\n";
    let user = "import { sum } from \"./sum\";\nconsole.log(sum(1, 2));\n";
    world.file("sum.ts", source);
    world.file("use.ts", user);
    // The language server starts with its first file, and has read the project when it knows the other one.
    let mut own = OwnAgent::join(world, "waits");
    let path = world.path("sum.ts");
    own.ask("openFile", json!({ "path": path }));
    eventually("the language server knows both files", || {
        let found = own.ask("findReferences", json!({ "path": path, "line": 0, "character": 17 }));
        found.to_string().contains("use.ts").then_some(())
    });
    own.leave();
    let rename = json!({ "path": "sum.ts", "line": 1, "column": 17, "new_name": "add" });
    let model = Model::start([Turn::calls("ide_rename_symbol", rename), Turn::says("That is all.")]);
    let mut tty = agent_terminal::start(world, &model, &[]);
    tty.sees("IDE connected: ");
    tty.types("please\r");
    workbench.look_at("sum.ts ←");
    workbench.sees_tab("use.ts ←");
    assert_eq!(world.read_text("sum.ts"), source, "nothing is applied without a decision");
    workbench.click_title("sum.ts ←", "Accept Change");
    workbench.sees_no_tab("sum.ts ←");
    workbench.look_at("use.ts ←");
    workbench.click_title("use.ts ←", "Accept Change");
    tty.sees("That is all.");
    let told = model.result(0).text;
    assert_eq!(told.matches("Accepted as proposed: ").count(), 2, "{told}");
    assert_eq!(world.read_text("sum.ts"), source.replace("sum", "add"));
    assert_eq!(world.read_text("use.ts"), "import { add } from \"./sum\";\nconsole.log(add(1, 2));\n");
    agent_terminal::quit(tty);
}
