//! Our own agent, `linkspan-agent`, in a terminal, and VS Code: what is decided in the editor is in the file, and the
//! model is told exactly that.

use crate::runner::{Scenarios, scenarios};
use crate::support::*;

pub(crate) const SCENARIOS: Scenarios = scenarios! { InOneWindow:
    what_is_decided_in_the_editor_is_in_the_file_and_told_to_the_model
};

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const TWO_HUNKS: &str = "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n";

fn what_is_decided_in_the_editor_is_in_the_file_and_told_to_the_model(window: &EditorWindow<'_>) {
    let EditorWindow { workbench, world, .. } = window;
    let names = ["all.txt", "part.txt", "no.txt"];
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

    workbench.look_at("no.txt ←");
    workbench.run("Linkspan: Reject Change with a Reason");
    workbench.answer("keep the numbers");
    let told = model.result(2).text;
    assert_eq!(told, "The user rejected the change; no.txt is unchanged.\nTheir reason: keep the numbers");
    assert_eq!(world.read_text("no.txt"), BASE);
    workbench.sees_no_tab("no.txt ←");

    tty.sees("That is all.");
    agent_terminal::quit(tty);
}
