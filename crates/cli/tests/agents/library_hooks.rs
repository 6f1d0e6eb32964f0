//! A hook that uses the client library, against the real hub: asking, leaving, being told that its agent went on.

#[cfg(test)]
mod tests {
    use linkspan_client::connection::{ChangeWriter, PendingChange};
    use linkspan_client::discover::{CandidateVerdict, FoundBy, Secret, Wire};
    use linkspan_client::{
        AgentInfo, CallError, Candidate, Change, Connection, HookReport, HookReportKind, HubLauncher,
    };
    use linkspan_editor_api::{AskOption, Capabilities, Places};
    use serde_json::json;

    use crate::support::editor::all_capabilities;
    use crate::support::*;

    const OLD: &str = "one\ntwo\n";
    const NEW: &str = "one\n2\n";

    fn places(world: &World) -> Places {
        Places {
            home: world.home(),
            runtime: world.runtime(),
            state: world.state(),
            config: world.config_file().parent().unwrap().into(),
        }
    }

    fn attach(world: &World) -> Editor {
        let capabilities = Capabilities { questions: true, messages: true, ..all_capabilities() };
        EditorBuilder::new(world).capabilities(capabilities).attach()
    }

    fn open(world: &World, wire: Wire, agent: &AgentInfo) -> Connection {
        let candidate = Candidate {
            editor: "Test Editor".into(),
            wire,
            folders: vec![world.workspace()],
            pid: None,
            found: FoundBy::Given,
            matched: None,
            verdict: CandidateVerdict::Usable,
        };
        Connection::open(&candidate, agent, &places(world)).unwrap()
    }

    /// A hook process of Claude Code.
    fn hook(world: &World, editor: &Editor) -> Connection {
        let wire = Wire::Hub { window: editor.attached.window.clone(), port: editor.port() };
        open(world, wire, &AgentInfo::new("Claude Code", "2.1").as_hook("s-1"))
    }

    fn propose(connection: &Connection, path: &str) -> PendingChange {
        connection.propose(&Change { writer: ChangeWriter::Caller, ..Change::new(path, NEW) }).unwrap()
    }

    fn report(world: &World, event: HookReportKind) -> u32 {
        let report = HookReport {
            agent: "Claude Code".into(),
            session: "s-1".into(),
            cwd: world.workspace().display().to_string(),
            event,
            message: Some("needs your permission".into()),
            paths: Vec::new(),
        };
        HubLauncher::connect(&places(world)).unwrap().report_hook(&report).unwrap().withdrawn
    }

    #[test]
    fn a_hook_that_closes_in_good_order_has_received_its_answer() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let mut editor = attach(&world);
        for round in 1..=8 {
            let hook = hook(&world, &editor);
            let pending = propose(&hook, &path);
            let shown = editor.until("the change", |state| state.shown.get(round - 1).cloned());
            editor.accept(&shown);
            assert_eq!(pending.wait().unwrap().text.as_deref(), Some(NEW));
            hook.close();
            // As long as it counts as undelivered, it is kept for a minute.
            eventually(&format!("the outcome of round {round} is delivered"), || {
                (world.json(&["reviews", "--all"])["reviews"] == json!([])).then_some(())
            });
            // Written and put back, so that the next one is asked about.
            world.file("a.txt", NEW);
            eventually("the write is seen", || {
                let seen = &world.json(&["history"])["entries"][0]["onDisk"];
                (*seen == json!(true)).then_some(())
            });
            world.file("a.txt", OLD);
        }
    }

    #[test]
    fn a_hook_that_is_killed_takes_its_question_with_it() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let editor = attach(&world);
        let hook = hook(&world, &editor);
        let pending = propose(&hook, &path);
        world.one_pending();
        drop((pending, hook));
        world.pending(0);
    }

    #[test]
    fn an_agent_that_went_on_withdraws_and_one_that_waits_says_so() {
        let world = World::new();
        let path = world.file("a.txt", OLD);
        let editor = attach(&world);
        let hook = hook(&world, &editor);
        let pending = propose(&hook, &path);
        world.one_pending();
        assert_eq!(report(&world, HookReportKind::Waiting), 0);
        editor.until("the message", |state| {
            let text = "Claude Code is waiting: needs your permission";
            state.messages.iter().any(|message| message.text == text).then_some(())
        });
        assert_eq!(report(&world, HookReportKind::Prompt), 1);
        assert_eq!(pending.wait(), Err(CallError::Withdrawn));
        assert_eq!(report(&world, HookReportKind::Stopped), 0);
        hook.close();
    }

    #[test]
    fn a_permission_is_allowed_refused_or_neither() {
        let world = World::new();
        let mut editor = attach(&world);
        let hook = hook(&world, &editor);
        let mut asked = 0;
        let mut answered = |option: Option<AskOption>| {
            let pending = hook.asking_permission("make all").unwrap();
            asked += 1;
            editor.reply(&editor.question(asked), option);
            pending.wait()
        };
        let refused = answered(Some(AskOption::Deny)).unwrap();
        assert!(!refused.allowed && refused.message.is_some());
        assert_eq!(answered(None), Err(CallError::Withdrawn));
        assert!(answered(Some(AskOption::AllowSession)).unwrap().allowed);
        assert!(hook.request_permission("make clean").unwrap().allowed, "for the session");
        hook.close();
    }

    #[test]
    fn a_hook_and_its_agent_in_the_editor_are_asked_about_once() {
        for hook_first in [true, false] {
            let world = World::new();
            let path = world.file("a.txt", OLD);
            let mut editor = attach(&world);
            let hook = hook(&world, &editor);
            let port = editor.port();
            let lock = WsDialect::Claude.lock(&world, port);
            let token = Some(Secret::new(lock["authToken"].as_str().unwrap()));
            let agent = AgentInfo::new("claude-code", "2.1");
            let agent = open(&world, Wire::Claude { port, token }, &agent);
            let (one, other) = if hook_first { (&hook, &agent) } else { (&agent, &hook) };
            let first = propose(one, &path);
            world.one_pending();
            let second = propose(other, &path);
            assert!(second.wait_timeout(std::time::Duration::from_millis(300)).is_none());
            world.one_pending();
            editor.accept(&editor.shown(&path));
            for pending in [first, second] {
                assert_eq!(pending.wait().unwrap().text.as_deref(), Some(NEW), "hook first: {hook_first}");
            }
            assert_eq!(editor.state().shown.len(), 1);
            // The decision answered both. Once more is a new question.
            let again = propose(other, &path);
            world.run(&["accept", &world.one_pending()]).ok();
            assert!(again.wait().unwrap().is_accepted());
            hook.close();
            agent.close();
        }
    }
}
