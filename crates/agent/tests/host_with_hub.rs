//! The host with the real hub and an editor: what frontends are told of the editor, and what of it reaches the prompt.
//! Needs the program `linkspan`, which `cargo build` makes.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::time::Duration;

    use linkspan_agent::config::Config;
    use linkspan_agent::context::ProjectContext;
    use linkspan_agent::conversation::TurnEvent;
    use linkspan_agent::host::{
        AgentId, AgentSettings, Host, HostCommand, HostEvent, HostHandle, HostSetup, Occurred,
    };
    use linkspan_agent::message::ChatMessage;
    use linkspan_agent::models::Providers;
    use linkspan_agent::session::SessionStore;
    use linkspan_agent::tools::{AgentTools, ToolsConfig};
    use linkspan_client::{AgentInfo, Bridge, Surroundings};
    use linkspan_editor_api as api;
    use linkspan_editor_api::Places;
    use linkspan_testkit::{Editor, World, paths};
    use tokio::runtime::Runtime;
    use tokio::sync::mpsc::UnboundedReceiver;

    const SOON: Duration = Duration::from_secs(30);

    struct HubScene {
        runtime: Runtime,
        host: Option<Host>,
        handle: HostHandle,
        events: UnboundedReceiver<HostEvent>,
    }

    impl HubScene {
        fn start(world: &World) -> HubScene {
            assert!(
                paths::linkspan().exists(),
                "the program `linkspan` is missing: build it with `cargo build`"
            );
            let cwd = world.workspace();
            let surroundings = Surroundings {
                cwd: cwd.clone(),
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
            let config = Config::default();
            let bridge =
                Arc::new(Bridge::new(config.ide, AgentInfo::new("agent", "1"), surroundings.clone()));
            let (handle, commands) = HostHandle::channel();
            let setup = HostSetup {
                providers: Providers::new(&config, |_| None).unwrap(),
                config,
                sessions: SessionStore::new(world.root().join("sessions")),
                pool: None,
                cwd,
                surroundings,
                toolbox: Arc::new(AgentTools::new(ToolsConfig::new(Arc::clone(&bridge)))),
                bridge,
                bridge_id: None,
                context: Arc::new(ProjectContext::default()),
            };
            let host = Host::start(setup, handle.clone(), commands).unwrap();
            let events = handle.subscribe();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            HubScene { runtime, host: Some(host), handle, events }
        }

        fn until<T>(&mut self, what: &str, wanted: impl Fn(&Occurred) -> Option<T>) -> T {
            let mut seen = Vec::new();
            loop {
                let received = async { tokio::time::timeout(SOON, self.events.recv()).await };
                let Ok(Some(event)) = self.runtime.block_on(received) else {
                    panic!("no {what} in {seen:#?}")
                };
                if let Some(found) = wanted(&event.what) {
                    return found;
                }
                seen.push(event.what);
            }
        }

        fn agent(&self, world: &World, script: &str) -> AgentId {
            let path = world.root().join("script.toml");
            std::fs::write(&path, script).unwrap();
            let settings = AgentSettings {
                model: Some(format!("script:{}", path.display())),
                ..AgentSettings::default()
            };
            let made = self.handle.ask(|reply| HostCommand::New { settings, reply });
            self.runtime.block_on(made).unwrap().unwrap()
        }

        fn ends(&mut self) {
            self.until("end of the turn", |what| {
                matches!(what, Occurred::Shown(TurnEvent::Ended { .. })).then_some(())
            });
        }
    }

    impl Drop for HubScene {
        fn drop(&mut self) {
            if let Some(host) = self.host.take() {
                host.quit();
            }
        }
    }

    #[test]
    fn an_editor_is_chosen_by_name_and_left_for_good() {
        let world = World::new();
        let mut scene = HubScene::start(&world);
        let connect = |scene: &HubScene, which: Option<&str>| {
            let which = which.map(str::to_owned);
            let asked = scene.handle.ask(|reply| HostCommand::ConnectEditor { which, reply });
            scene.runtime.block_on(asked).unwrap()
        };
        assert!(connect(&scene, None).unwrap_err().contains("no editor was found"));
        let _editor = Editor::attach(&world);
        let error = connect(&scene, Some("emacs")).unwrap_err();
        assert_eq!(error, "no editor `emacs` was found; there is Test Editor");
        assert_eq!(connect(&scene, Some("test")), Ok("Test Editor".to_owned()));
        scene.until("editor", |what| matches!(what, Occurred::EditorConnected { .. }).then_some(()));
        scene.handle.send(HostCommand::DisconnectEditor);
        scene.until("loss", |what| (*what == Occurred::EditorLost).then_some(()));
        let agent = scene.agent(&world, "[[turn]]\ntext = \"One.\"\n");
        scene.handle.send(HostCommand::Prompt { agent, text: "hello".to_owned() });
        scene.until("end without an editor", |what| match what {
            Occurred::EditorConnected { name } => panic!("{name} is connected again"),
            what => matches!(what, Occurred::Shown(TurnEvent::Ended { .. })).then_some(()),
        });
    }

    #[test]
    fn a_mention_and_the_state_of_the_editor_reach_the_prompt() {
        let world = World::new();
        let mut scene = HubScene::start(&world);
        let agent = scene.agent(&world, "[[turn]]\ntext = \"One.\"\n[[turn]]\ntext = \"Two.\"\n");
        // There is no editor yet.
        scene.handle.send(HostCommand::Prompt { agent, text: "hello".to_owned() });
        scene.ends();

        let editor = Editor::attach(&world);
        let path = world.file("a.txt", "one\ntwo\nthree\n");
        editor.open(&path, "one\ntwo\nthree\n", false);
        // A turn looks for an editor at most every two seconds.
        std::thread::sleep(Duration::from_millis(2_100));
        scene.handle.send(HostCommand::Prompt { agent, text: "again".to_owned() });
        let name = scene.until("editor", |what| match what {
            Occurred::EditorConnected { name } => Some(name.clone()),
            _ => None,
        });
        assert_eq!(name, "Test Editor");
        let injected = scene.until("context", |what| match what {
            Occurred::ContextInjected(text) => Some(text.clone()),
            _ => None,
        });
        assert!(injected.contains("IDE connected: Test Editor"), "{injected}");
        scene.ends();

        editor
            .send(&api::Mentioned { path: path.clone(), lines: Some(api::LineRange { first: 1, last: 1 }) });
        let line = scene.until("mention", |what| match what {
            Occurred::Shown(TurnEvent::Info(line)) => Some(line.clone()),
            _ => None,
        });
        assert!(line.contains("a.txt:2-2"), "{line}");
        scene.handle.send(HostCommand::Prompt { agent, text: "explain".to_owned() });
        scene.ends();
        let messages = scene.handle.ask(|reply| HostCommand::Messages { agent, reply });
        let messages = scene.runtime.block_on(messages).unwrap().unwrap();
        let attached = messages.iter().rev().find_map(|message| match message {
            ChatMessage::User { text, attachments } if text == "explain" => Some(attachments.concat()),
            _ => None,
        });
        let attached = attached.unwrap();
        assert!(attached.contains("two") && !attached.contains("three"), "{attached}");

        drop(editor);
        scene.until("loss of the editor", |what| (*what == Occurred::EditorLost).then_some(()));
    }
}
