//! Questions for permission: the float shows all of the command, keys answer only in it, and what is allowed runs in a
//! terminal buffer.

use serde_json::json;

use crate::scenarios;
use crate::support::*;

scenarios! {
    a_command_runs_with_permission
    a_question_takes_no_keys_until_the_user_goes_to_it
    code_is_refused_clearly
}

fn a_command_runs_with_permission(version: NeovimVersion) {
    let world = World::new();
    let neovim = Neovim::builder(&world, version).config("vim.o.shell = '/bin/false'").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let ran = world.path("ran.txt");
    let arguments = json!({ "command": "echo said | tee ran.txt; false", "waitMs": 20_000 });
    let denied = agent.call("runInTerminal", arguments.clone());
    neovim.sees("a question", "return require('linkspan').status() == 'linkspan ?1'");
    neovim.runs("Linkspan answer deny");
    assert_eq!(agent.told(denied)["error"]["kind"], "denied");
    assert!(!ran.exists());

    let allowed = agent.call("runInTerminal", arguments);
    neovim.sees("a question", "return require('linkspan').status() == 'linkspan ?1'");
    neovim.runs("Linkspan answer allowOnce");
    let result = agent.told(allowed);
    assert_eq!((&result["exitCode"], &result["timedOut"]), (&json!(1), &json!(false)), "{result}");
    assert_eq!(result["output"].as_str().unwrap().trim(), "said", "{result}");
    assert_eq!(world.read_text("ran.txt"), "said\n");
}

fn a_question_takes_no_keys_until_the_user_goes_to_it(version: NeovimVersion) {
    let world = World::new();
    let mut neovim = Neovim::builder(&world, version).in_terminal(100, 30).file("mine.txt").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    neovim.tty().types("ityping ");
    let first = agent.call("runInTerminal", json!({ "command": "touch ran.txt # the whole command" }));
    neovim.tty().sees("touch ran.txt # the whole command");
    neovim.tty().sees("1  Allow once");
    neovim.tty().types("111\u{1b}");
    neovim.tty().sees("typing 111");
    assert!(agent.waits(first));
    neovim.tty().types(":Linkspan answer\r");
    // Not at once: a key could have been meant for the file.
    neovim.tty().looks_and_types("q");
    neovim.tty().sees_no("Allow once");
    assert!(agent.waits(first), "to close the float answers nothing");
    assert_eq!(neovim.lua("return require('linkspan').status()"), "linkspan ?1");
    neovim.tty().types(":Linkspan answer\r");
    neovim.tty().looks_and_types("1");
    assert_eq!(agent.told(first)["exitCode"], 0);
    assert!(world.path("ran.txt").exists());
    neovim.tty().sees_no("Allow once");
}

fn code_is_refused_clearly(version: NeovimVersion) {
    let world = World::new();
    let _neovim = Neovim::builder(&world, version).start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let call = agent.call("executeCode", json!({ "code": "1 + 1" }));
    let result = agent.told(call);
    assert_eq!(result["error"]["kind"], "unsupported", "{result}");
}
