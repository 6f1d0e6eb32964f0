//! An agent's question about a tool call, through the real hub and in a terminal at the same time.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::Duration;

    use linkspan_client::bridge::{Bridge, BridgeConfig};
    use linkspan_client::confirm::{
        ConfirmQuestion, Confirmation, Console, DecidedBy, PermissionMode, Rules, confirm,
    };
    use linkspan_client::{AgentInfo, Surroundings};
    use linkspan_editor_api::Places;
    use serde_json::{Value, json};

    use crate::support::*;

    struct TerminalKeys {
        types: UnixStream,
        sees: UnixStream,
    }

    impl TerminalKeys {
        /// Waits until it shows this.
        fn reads(&mut self, wanted: &str) {
            let mut seen = Vec::new();
            let mut byte = [0];
            while !seen.ends_with(wanted.as_bytes()) {
                assert_eq!(self.sees.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
                seen.extend(byte);
            }
        }
    }

    /// Asks about this call as an agent would, in the editor and, with `both`, in the terminal.
    fn ask(world: &World, tool: &str, call: &Value, both: bool) -> (TerminalKeys, Receiver<Confirmation>) {
        ask_on(bridge(world), world, tool, call, both)
    }

    fn bridge(world: &World) -> Arc<Bridge> {
        let surroundings = Surroundings {
            cwd: world.workspace(),
            places: Places {
                home: world.home(),
                runtime: world.runtime(),
                state: world.state(),
                config: world.config_file().parent().unwrap().into(),
            },
            variables: BTreeMap::new(),
            uid: rustix::process::geteuid().as_raw(),
            wsl: None,
        };
        let bridge = Bridge::new(BridgeConfig::default(), AgentInfo::new("library", "1.0"), surroundings);
        bridge.auto_connect(&world.workspace()).unwrap().expect("no editor found");
        Arc::new(bridge)
    }

    fn ask_on(
        bridge: Arc<Bridge>,
        world: &World,
        tool: &str,
        call: &Value,
        both: bool,
    ) -> (TerminalKeys, Receiver<Confirmation>) {
        let question = ConfirmQuestion::of_call(tool, call, &world.workspace()).unwrap();
        let rules = Rules { ask_both: both, ..Rules::new(PermissionMode::Trusted) };

        let (types, input) = UnixStream::pair().unwrap();
        let (sees, output) = UnixStream::pair().unwrap();
        sees.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let console = Console::over(input.into(), output.into());
        let (say, heard) = channel();
        thread::spawn(move || drop(say.send(confirm(&question, &rules, Some(&*bridge), &console))));
        (TerminalKeys { types, sees }, heard)
    }

    fn end(heard: &Receiver<Confirmation>) -> Confirmation {
        heard.recv_timeout(Duration::from_secs(20)).expect("no answer")
    }

    fn edit() -> Value {
        json!({ "path": "a.txt", "old_string": "two\n", "new_string": "2\n2.5\n" })
    }

    #[test]
    fn what_is_accepted_in_the_editor_is_written_once_and_to_the_byte() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let utf16 = |text: &str| {
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            [0xFF, 0xFE].into_iter().chain(units).collect::<Vec<u8>>()
        };
        let path = world.file("a.txt", utf16("one\r\ntwo\r\nthree\nfour"));
        let (_terminal, heard) = ask(&world, "edit_file", &edit(), false);
        let shown = editor.shown(&path);
        editor.accept(&shown);
        let confirmation = end(&heard);
        let accepted = matches!(
            confirmation,
            Confirmation::AllowOnce { written: true, bytes: None, by: DecidedBy::Editor, .. }
        );
        assert!(accepted, "{confirmation:?}");
        assert_eq!(std::fs::read(&path).unwrap(), utf16("one\r\n2\r\n2.5\r\nthree\nfour"));
    }

    #[test]
    fn an_answer_in_the_terminal_takes_the_change_off_the_screen() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\ntwo\n");
        let (mut terminal, heard) = ask(&world, "edit_file", &edit(), true);
        let shown = editor.shown(&path);
        terminal.reads("reason: ");
        terminal.types.write_all(b"n not now\n").unwrap();
        let reason = Some("not now".to_owned());
        assert_eq!(end(&heard), Confirmation::Deny { reason, comments: vec![], by: DecidedBy::Terminal });
        editor.hidden(&shown.review);
        assert_eq!(world.read_text("a.txt"), "one\ntwo\n");
    }

    #[test]
    fn a_hub_lost_in_the_middle_brings_up_the_terminal_and_its_decision_still_counts() {
        let world = World::new();
        let mut editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\ntwo\n");
        let (mut terminal, heard) = ask(&world, "edit_file", &edit(), false);
        editor.shown(&path);
        editor.state().shown.clear();
        world.kill_hub();
        terminal.reads("reason: ");
        let shown = editor.shown(&path);
        editor.accept(&shown);
        terminal.reads("(answered in the editor)\n");
        let confirmation = end(&heard);
        assert!(
            matches!(confirmation, Confirmation::AllowOnce { written: true, by: DecidedBy::Editor, .. }),
            "{confirmation:?}"
        );
        assert_eq!(world.read_text("a.txt"), "one\n2\n2.5\n");
    }

    #[test]
    fn what_was_answered_in_the_terminal_while_the_hub_was_away_is_taken_back_when_it_returns() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\ntwo\n");
        let bridge = bridge(&world);
        let (mut terminal, heard) = ask_on(bridge.clone(), &world, "edit_file", &edit(), false);
        editor.shown(&path);
        // No other question starts until the terminal has answered.
        editor.kill();
        world.kill_hub();
        terminal.reads("reason: ");
        terminal.types.write_all(b"n\n").unwrap();
        let confirmation = end(&heard);
        assert!(
            matches!(confirmation, Confirmation::Deny { by: DecidedBy::Terminal, .. }),
            "{confirmation:?}"
        );
        let _editor = Editor::attach(&world);
        eventually("it is taken back", || world.reviews().is_empty().then_some(()));
        assert!(bridge.is_connected());
        assert_eq!(world.read_text("a.txt"), "one\ntwo\n");
    }
}
