//! Does what an agent does with a tool call: works out the change, asks for it in the editor or here, and writes the
//! file if nobody has.
//!
//! `cargo run -p linkspan-client --example confirm -- edit_file '{"path": "a.txt", "old_string": "x", "new_string":
//! "y"}'`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::PathBuf;

use linkspan_client::confirm::{
    ConfirmQuestion, Confirmation, Console, NoTerminal, PermissionMode, Reviewer, Rules, TerminalPrompt,
    confirm,
};
use linkspan_client::{AgentInfo, Bridge, BridgeConfig, Surroundings};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (tool, call) = arguments.next().zip(arguments.next()).ok_or("which tool, with which arguments?")?;
    let cwd = std::env::current_dir()?;

    // What cannot be done is told to the model, not asked of the person.
    let question = ConfirmQuestion::of_call(&tool, &serde_json::from_str(&call)?, &cwd)?;

    let agent = AgentInfo::new("confirm", "1.0");
    let bridge = Bridge::new(BridgeConfig::default(), agent, Surroundings::of_this_process(&cwd)?);
    let editor = bridge.auto_connect(&cwd).ok().flatten().map(|_| &bridge as &dyn Reviewer);
    let terminal: Box<dyn TerminalPrompt> = match Console::open() {
        Ok(console) => Box::new(console),
        Err(_) => Box::new(NoTerminal),
    };
    let rules = Rules { ask_both: true, ..Rules::new(PermissionMode::Trusted) };

    match confirm(&question, &rules, editor, &*terminal) {
        Confirmation::NotAsked => println!("nobody has to be asked"),
        Confirmation::Unchanged => println!("the file holds it already"),
        Confirmation::AllowOnce { bytes: Some(bytes), by, .. } => {
            let path = question.change.map_or_else(PathBuf::new, |change| change.path);
            std::fs::write(&path, bytes)?;
            println!("allowed ({by:?}), {} is written", path.display());
        }
        Confirmation::AllowOnce { written, by, .. } => println!("allowed ({by:?}), written: {written}"),
        Confirmation::Deny { reason, by, .. } => {
            println!("denied ({by:?}): {}", reason.unwrap_or_else(|| "without a word".to_owned()));
        }
        Confirmation::Undecided { why } => println!("not decided: {why}"),
    }
    Ok(())
}
