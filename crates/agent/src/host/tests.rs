//! A host with a model that is played from a file, and tools that only echo.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use linkspan_client::confirm::ConfirmQuestion;
use linkspan_client::{AgentInfo, Bridge, BridgeConfig, Surroundings};
use linkspan_editor_api::Places;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;

use super::*;
use crate::config::Config;
use crate::conversation::{Answer, Question, TurnEnd, TurnEvent};
use crate::message::{CallArguments, ChatMessage, ModelCall, ToolResult};
use crate::models::{Providers, ToolSpec};
use crate::permissions::{PermissionMode, ToolKind};
use crate::session::SessionStore;
use crate::tools::{ToolContext, Toolbox};

const SOON: Duration = Duration::from_secs(20);

/// `echo` answers its arguments, `wait` only ends when it is cancelled, `stuck` not even then, `command` is asked about,
/// `propose` proposes a change and answers what the session files hold at that moment, `crash` panics.
struct Echo;

impl Toolbox for Echo {
    fn specs(&self) -> Vec<ToolSpec> {
        ["echo", "wait", "stuck", "command", "propose", "crash"]
            .map(|name| ToolSpec {
                name: name.to_owned(),
                description: format!("{name}."),
                schema: json!({}),
            })
            .into()
    }

    fn kind(&self, name: &str) -> Option<ToolKind> {
        match name {
            "echo" | "wait" | "crash" => Some(ToolKind::Read),
            "stuck" | "propose" => Some(ToolKind::Change),
            "command" => Some(ToolKind::Command),
            _ => None,
        }
    }

    fn run(&self, call: &ModelCall, context: &ToolContext) -> ToolResult {
        (context.output)("working\n");
        let mut cancelled = false;
        match call.name.as_str() {
            "wait" => cancelled = context.cancelled.wait_timeout(SOON),
            "stuck" => std::thread::sleep(Duration::from_secs(7)),
            "propose" => return proposed(call, context),
            "crash" => panic!("a tool that panics"),
            _ => {}
        }
        let CallArguments::Json(arguments) = &call.arguments else { panic!("broken arguments are not run") };
        let (call_id, name) = (call.id.clone(), call.name.clone());
        ToolResult { call_id, name, text: arguments.to_string(), is_error: false, cancelled }
    }
}

fn proposed(call: &ModelCall, context: &ToolContext) -> ToolResult {
    let write = json!({ "path": "f", "content": "the proposed text" });
    let question = ConfirmQuestion::of_call("write_file", &write, &context.cwd).unwrap();
    (context.propose)(question.change.as_ref().unwrap());
    let files = std::fs::read_dir(context.cwd.join("state/sessions")).unwrap();
    let text = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    let (call_id, name) = (call.id.clone(), call.name.clone());
    ToolResult { call_id, name, text, is_error: false, cancelled: false }
}

pub(super) struct HostScene {
    folder: TempDir,
    host: Option<Host>,
    events: UnboundedReceiver<HostEvent>,
}

impl HostScene {
    fn new(script: &str) -> HostScene {
        HostScene::with(tempfile::tempdir().unwrap(), script)
    }

    fn with(folder: TempDir, script: &str) -> HostScene {
        HostScene::with_context(folder, script, Arc::new(BasePrompt))
    }

    fn with_context(folder: TempDir, script: &str, context: Arc<dyn PromptContext>) -> HostScene {
        std::fs::write(folder.path().join("script.toml"), script).unwrap();
        let host = start(folder.path(), context);
        let events = host.handle().subscribe();
        HostScene { folder, host: Some(host), events }
    }

    fn handle(&self) -> HostHandle {
        self.host.as_ref().unwrap().handle()
    }

    fn script(&self) -> String {
        format!("script:{}", self.folder.path().join("script.toml").display())
    }

    fn ask<T>(&self, command: impl FnOnce(tokio::sync::oneshot::Sender<T>) -> HostCommand) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asked = async { tokio::time::timeout(SOON, self.handle().ask(command)).await };
        runtime.block_on(asked).expect("the host answers").unwrap()
    }

    fn agent(&self) -> AgentId {
        self.agent_with(AgentSettings::default()).unwrap()
    }

    fn agent_with(&self, settings: AgentSettings) -> Result<AgentId, String> {
        let model = settings.model.clone().or(Some(self.script()));
        self.ask(|reply| HostCommand::New { settings: AgentSettings { model, ..settings }, reply })
    }

    fn prompt(&self, agent: AgentId, text: &str) {
        self.handle().send(HostCommand::Prompt { agent, text: text.to_owned() });
    }

    fn event(&mut self) -> Occurred {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let received = async { tokio::time::timeout(SOON, self.events.recv()).await };
        runtime.block_on(received).expect("an event").expect("the host runs").what
    }

    fn until<T>(&mut self, wanted: impl Fn(&Occurred) -> Option<T>) -> T {
        loop {
            let event = self.event();
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    fn end(&mut self) -> (TurnEnd, String) {
        self.until(|event| match event {
            Occurred::Shown(TurnEvent::Ended { end, text, .. }) => Some((*end, text.clone())),
            _ => None,
        })
    }

    fn messages(&self, agent: AgentId) -> Vec<ChatMessage> {
        self.ask(|reply| HostCommand::Messages { agent, reply }).unwrap()
    }

    fn status(&self) -> Vec<AgentSummary> {
        self.ask(|reply| HostCommand::Status { reply })
    }

    /// As after a kill, but in good order.
    fn restart(mut self, script: &str) -> HostScene {
        self.host.take().unwrap().quit();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        HostScene::with(folder, script)
    }
}

impl Drop for HostScene {
    fn drop(&mut self) {
        if let Some(host) = self.host.take() {
            host.quit();
        }
    }
}

fn places(folder: &Path) -> Places {
    let at = |name: &str| folder.join(name);
    Places { home: at("home"), runtime: at("run"), state: at("state"), config: at("config") }
}

fn start(folder: &Path, context: Arc<dyn PromptContext>) -> Host {
    let surroundings = Surroundings {
        cwd: folder.to_owned(),
        places: places(folder),
        variables: Default::default(),
        uid: rustix::process::geteuid().as_raw(),
        wsl: None,
    };
    let config =
        Config { ide: BridgeConfig { enabled: false, ..BridgeConfig::default() }, ..Config::default() };
    let bridge = Arc::new(Bridge::new(config.ide, AgentInfo::new("test", "1"), surroundings.clone()));
    let (handle, commands) = HostHandle::channel();
    let setup = HostSetup {
        providers: Providers::new(&config, |_| None).unwrap(),
        config,
        sessions: SessionStore::new(folder.join("state/sessions")),
        pool: Some(folder.join("state/pool.json")),
        cwd: folder.to_owned(),
        surroundings,
        bridge,
        bridge_id: Some("b1".to_owned()),
        toolbox: Arc::new(Echo),
        context,
    };
    Host::start(setup, handle, commands).unwrap()
}

#[test]
fn a_change_is_on_disk_before_anybody_is_asked_about_it() {
    let mut scene =
        HostScene::new("[[turn]]\ncalls = [{ tool = \"propose\" }]\n[[turn]]\ntext = \"Done.\"\n");
    let agent = scene.agent();
    scene.prompt(agent, "go");
    let seen = scene.until(|event| match event {
        Occurred::Shown(TurnEvent::Result(result)) => Some(result.text.clone()),
        _ => None,
    });
    assert!(seen.contains("{\"record\":\"proposed\"") && seen.contains("the proposed text"), "{seen}");
    assert_eq!(scene.end().0, TurnEnd::Done);
}

#[test]
fn the_user_is_told_when_a_tool_that_was_given_up_on_ends_after_all() {
    let mut scene = HostScene::new("[[turn]]\ncalls = [{ tool = \"stuck\", arguments = { a = 1 } }]\n");
    let agent = scene.agent();
    scene.prompt(agent, "go");
    scene.until(|event| matches!(event, Occurred::Output { .. }).then_some(()));
    for _ in 0..2 {
        scene.handle().send(HostCommand::Cancel { agent });
    }
    assert_eq!(scene.end().0, TurnEnd::Cancelled);
    let told = scene.until(|event| match event {
        Occurred::Shown(TurnEvent::Info(text)) => Some(text.clone()),
        _ => None,
    });
    assert_eq!(told, "The call of stuck that was cancelled has ended after all: {\"a\":1}");
}

#[test]
fn a_session_continues_in_the_mode_in_which_it_began() {
    let scene = HostScene::new("[[turn]]\ntext = \"Hello.\"\n");
    let yolo = AgentSettings { mode: Some(PermissionMode::Yolo), ..AgentSettings::default() };
    let agent = scene.agent_with(yolo).unwrap();
    let mut scene = scene;
    scene.prompt(agent, "hi");
    scene.end();
    let name = scene.status()[0].session.clone();
    let scene = scene.restart("[[turn]]\ntext = \"Again.\"\n");
    let resumed = || AgentSettings { resume: Some(name.clone()), ..AgentSettings::default() };
    let mode = |scene: &HostScene, agent| {
        scene.status().iter().find(|status| status.agent == agent).map(|status| status.mode)
    };
    let agent = scene.agent_with(resumed()).unwrap();
    assert_eq!(mode(&scene, agent), Some(PermissionMode::Yolo));
    scene.handle().send(HostCommand::Close { agent });
    let trusted = AgentSettings { mode: Some(PermissionMode::Sandboxed), ..resumed() };
    let agent = scene.agent_with(trusted).unwrap();
    assert_eq!(mode(&scene, agent), Some(PermissionMode::Sandboxed), "the flag wins");
}

#[test]
fn a_turn_with_a_tool_reaches_the_frontend_in_order() {
    let mut scene = HostScene::new(
        "[[turn]]\ntext = \"Look.\"\ncalls = [{ tool = \"echo\", arguments = { a = 1 } }]\n[[turn]]\ntext = \"Done.\"\n",
    );
    let agent = scene.agent();
    scene.prompt(agent, "go");
    let mut seen = Vec::new();
    loop {
        let event = scene.event();
        let name = match &event {
            Occurred::Shown(TurnEvent::Started) => "started",
            Occurred::Shown(TurnEvent::Prompted) => "prompted",
            Occurred::Shown(TurnEvent::Text(_)) => "text",
            Occurred::Shown(TurnEvent::Call(_)) => "call",
            Occurred::Output { text, .. } if text == "working\n" => "output",
            Occurred::Shown(TurnEvent::Result(result)) if result.text == "{\"a\":1}" => "result",
            Occurred::Shown(TurnEvent::Ended { end: TurnEnd::Done, text, .. }) if text == "Done." => "ended",
            other => panic!("{other:?}"),
        };
        seen.push(name);
        if name == "ended" {
            break;
        }
    }
    assert_eq!(seen, ["started", "prompted", "text", "call", "output", "result", "text", "ended"]);
    let status = scene.status().remove(0);
    assert_eq!((status.messages, status.busy, status.waiting), (4, false, 0));
    assert_eq!(status.model, scene.script());
}

#[test]
fn a_command_waits_for_its_answer_and_a_no_reaches_the_model() {
    let mut scene =
        HostScene::new("[[turn]]\ncalls = [{ tool = \"command\" }]\n[[turn]]\ntext = \"Fine.\"\n");
    let agent = scene.agent();
    scene.prompt(agent, "go");
    let question = scene.until(|event| match event {
        Occurred::Ask { question, ask: Question::Permission { .. } } => Some(*question),
        _ => None,
    });
    assert_eq!(scene.status()[0].waiting, 1);
    let answer = Answer::No { reason: Some("not now".to_owned()) };
    scene.handle().send(HostCommand::Answer { agent, question, answer });
    assert_eq!(scene.end(), (TurnEnd::Done, "Fine.".to_owned()));
    let ChatMessage::Tools { results } = &scene.messages(agent)[2] else { panic!() };
    assert!(results[0].text.ends_with("not now"));
}

#[test]
fn cancelling_ends_a_tool_and_a_slow_model() {
    let mut scene = HostScene::new("[[turn]]\ncalls = [{ tool = \"wait\" }]\n[[turn]]\nwait_ms = 60000\n");
    let agent = scene.agent();
    scene.prompt(agent, "go");
    scene.until(|event| matches!(event, Occurred::Output { .. }).then_some(()));
    scene.handle().send(HostCommand::Cancel { agent });
    assert_eq!(scene.end().0, TurnEnd::Cancelled);
    scene.prompt(agent, "again");
    scene.until(|event| matches!(event, Occurred::Shown(TurnEvent::Started)).then_some(()));
    scene.handle().send(HostCommand::Cancel { agent });
    assert_eq!(scene.end().0, TurnEnd::Cancelled);
}

/// Reads what a prompt mentions when the test says so.
struct SlowMentions(Mutex<Receiver<()>>);

impl PromptContext for SlowMentions {
    fn system(&self, about: &AboutAgent) -> SystemPrompt {
        BasePrompt.system(about)
    }

    fn attachments(&self, _: &str, _: &AboutAgent) -> Vec<String> {
        self.0.lock().unwrap().recv_timeout(SOON).unwrap();
        Vec::new()
    }
}

#[test]
fn a_prompt_that_is_cancelled_while_its_files_are_read_is_not_worked_on() {
    let (read, reads) = channel();
    let context = Arc::new(SlowMentions(Mutex::new(reads)));
    let script = "[[turn]]\ntext = \"Done.\"\n";
    let mut scene = HostScene::with_context(tempfile::tempdir().unwrap(), script, context);
    let agent = scene.agent();
    scene.prompt(agent, "look at @file");
    scene.handle().send(HostCommand::Cancel { agent });
    scene.status();
    read.send(()).unwrap();
    assert_eq!(scene.end().0, TurnEnd::Cancelled);
    scene.prompt(agent, "and now?");
    assert_eq!(scene.end(), (TurnEnd::Done, "Done.".to_owned()));
}

#[test]
fn a_tool_that_panics_is_an_error_for_the_model() {
    let mut scene = HostScene::new("[[turn]]\ncalls = [{ tool = \"crash\" }]\n[[turn]]\ntext = \"Ok.\"\n");
    let agent = scene.agent();
    scene.prompt(agent, "go");
    assert_eq!(scene.end().0, TurnEnd::Done);
    let ChatMessage::Tools { results } = &scene.messages(agent)[2] else { panic!() };
    assert!(results[0].is_error && results[0].text.contains("error in it"));
}

#[test]
fn several_agents_work_at_once_and_each_has_its_name_and_session() {
    let mut scene = HostScene::new("[[turn]]\nwait_ms = 50\ntext = \"Hi.\"\n");
    let settings = AgentSettings { name: Some("fix".to_owned()), ..AgentSettings::default() };
    let agents: Vec<_> = (0..3).map(|_| scene.agent_with(settings.clone()).unwrap()).collect();
    for agent in &agents {
        scene.prompt(*agent, "go");
    }
    for _ in &agents {
        assert_eq!(scene.end(), (TurnEnd::Done, "Hi.".to_owned()));
    }
    let status = scene.status();
    let names: Vec<_> = status.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["fix", "fix-2", "fix-3"]);
    assert_eq!(scene.ask(|reply| HostCommand::Sessions { reply }).unwrap().len(), 3);
    scene.handle().send(HostCommand::Close { agent: agents[1] });
    scene.until(|event| (*event == Occurred::Closed).then_some(()));
    assert_eq!(scene.status().len(), 2);
    assert!(scene.ask(|reply| HostCommand::Messages { agent: agents[1], reply }).is_err());
}

#[test]
fn the_pool_and_its_conversations_come_back() {
    let script = "[[turn]]\ntext = \"One.\"\n[[turn]]\ntext = \"Two.\"\n";
    let mut scene = HostScene::new(script);
    let settings = AgentSettings {
        name: Some("fix".to_owned()),
        mode: Some(PermissionMode::Sandboxed),
        ..AgentSettings::default()
    };
    let agent = scene.agent_with(settings).unwrap();
    scene.agent();
    let save = |reply| HostCommand::Save { agent, name: Some("login".to_owned()), reply };
    assert!(scene.ask(save).unwrap_err().contains("no message to save yet"));
    scene.prompt(agent, "go");
    scene.end();
    let name = scene.ask(save).unwrap();
    assert_eq!(name, "login");

    let mut scene = scene.restart(script);
    let remembered = scene.ask(|reply| HostCommand::Remembered { reply });
    assert_eq!(remembered.len(), 1);
    assert_eq!(
        (remembered[0].name.as_deref(), remembered[0].resume.as_deref()),
        (Some("fix"), Some("login"))
    );
    let agent = scene.agent_with(remembered[0].clone()).unwrap();
    assert_eq!(scene.status()[0].mode, PermissionMode::Sandboxed);
    let twice = scene.agent_with(remembered[0].clone()).unwrap_err();
    assert!(twice.contains("open in another agent"), "{twice}");
    scene.prompt(agent, "more");
    assert_eq!(scene.end(), (TurnEnd::Done, "Two.".to_owned()));
    assert_eq!(scene.messages(agent).len(), 4);
}

#[test]
fn what_cannot_be_started_says_why() {
    let scene = HostScene::new("");
    let refused = |settings| scene.agent_with(settings).unwrap_err();
    let settings = AgentSettings { cwd: Some(PathBuf::from("nowhere")), ..AgentSettings::default() };
    assert!(refused(settings).starts_with("cannot use the folder "));
    let settings = AgentSettings { resume: Some("nothing".to_owned()), ..AgentSettings::default() };
    assert!(refused(settings).starts_with("there is no session `nothing`"));
    let settings = AgentSettings { model: Some("anthropic".to_owned()), ..AgentSettings::default() };
    assert!(refused(settings).contains("ANTHROPIC_API_KEY"));
    let agent = scene.agent();
    let set = |setting| scene.ask(|reply| HostCommand::Set { agent, setting, reply });
    assert!(set(AgentSetting::MaxRounds(0)).is_err());
    assert_eq!(set(AgentSetting::Tools(false)), Ok(()));
    assert_eq!(scene.ask(|reply| HostCommand::Tools { agent, reply }), Ok(Vec::new()));
    assert_eq!(set(AgentSetting::Tools(true)), Ok(()));
    assert_eq!(scene.ask(|reply| HostCommand::Tools { agent, reply }).unwrap().len(), 6);
    let prompt = scene.ask(|reply| HostCommand::SystemPrompt { agent, reply }).unwrap();
    assert!(prompt.contains("trusted"), "{prompt}");
    assert_eq!(scene.ask(|reply| HostCommand::Providers { reply }).len(), 4);
}

#[test]
fn a_session_that_cannot_be_written_stops_the_turn_and_the_conversation_is_kept() {
    let mut scene = HostScene::new("[[turn]]\ntext = \"One.\"\n[[turn]]\ntext = \"Two.\"\n");
    let agent = scene.agent();
    // A file where the folder should be.
    std::fs::create_dir_all(scene.folder.path().join("state")).unwrap();
    let sessions = scene.folder.path().join("state/sessions");
    std::fs::write(&sessions, "").unwrap();
    scene.prompt(agent, "go");
    let error = scene.until(|event| match event {
        Occurred::Shown(TurnEvent::Error(error)) => Some(error.clone()),
        _ => None,
    });
    assert!(error.contains("kept in memory"), "{error}");
    assert_eq!(scene.end().0, TurnEnd::Cancelled);
    std::fs::remove_file(&sessions).unwrap();
    scene.prompt(agent, "again");
    assert_eq!(scene.end(), (TurnEnd::Done, "One.".to_owned()));
    let session = scene.status()[0].session.clone();
    let store = SessionStore::new(&sessions);
    scene.host.take().unwrap().quit();
    let records = store.open(&session).unwrap().records;
    let said =
        |record: &&crate::conversation::Record| matches!(record, crate::conversation::Record::Message { .. });
    assert_eq!(records.iter().filter(said).count(), 3);
}

#[test]
fn quitting_cancels_what_runs() {
    let mut scene = HostScene::new("[[turn]]\ncalls = [{ tool = \"wait\" }]\n");
    let agent = scene.agent();
    scene.prompt(agent, "go");
    scene.until(|event| matches!(event, Occurred::Output { .. }).then_some(()));
    let before = std::time::Instant::now();
    scene.host.take().unwrap().quit();
    assert!(before.elapsed() < Duration::from_secs(3), "{:?}", before.elapsed());
    assert_eq!(scene.end().0, TurnEnd::Cancelled);
}

#[test]
fn an_agent_that_was_closed_while_it_worked_does_not_go_on_when_it_is_loaded() {
    let mut scene = HostScene::new("[[turn]]\ncalls = [{ tool = \"wait\" }]\n[[turn]]\ntext = \"No.\"\n");
    let agent = scene.agent();
    scene.prompt(agent, "go");
    scene.until(|event| matches!(event, Occurred::Output { .. }).then_some(()));
    let session = scene.status()[0].session.clone();
    scene.handle().send(HostCommand::Close { agent });
    scene.until(|event| (*event == Occurred::Closed).then_some(()));
    let settings = AgentSettings { resume: Some(session), ..AgentSettings::default() };
    let again = scene.agent_with(settings).unwrap();
    assert!(!scene.status()[0].busy, "the turn that was ended goes on");
    let Some(ChatMessage::Tools { results }) = scene.messages(again).pop() else { panic!() };
    assert!(results[0].cancelled, "{results:?}");
}

#[test]
fn a_helper_works_in_the_pool_answers_and_is_gone() {
    use crate::tools::spawn::{Helper, Spawner};
    use linkspan_client::confirm::Cancellation;

    let scene = HostScene::new("[[turn]]\ntext = \"Helped.\"\n[[turn]]\nwait_ms = 60000\n");
    let settings = AgentSettings { name: Some("main".to_owned()), ..AgentSettings::default() };
    scene.agent_with(settings).unwrap();
    let pool = HelperPool::new(scene.handle());
    let helper = |prompt| Helper {
        parent: "main",
        name: "tests",
        prompt,
        mode: PermissionMode::Sandboxed,
        cwd: scene.folder.path(),
    };
    assert_eq!(pool.spawn(helper("help"), &Cancellation::new()), Ok("Helped.".to_owned()));
    std::fs::write(scene.folder.path().join("script.toml"), "[[turn]]\nwait_ms = 60000\n").unwrap();
    let cancelled = Cancellation::new();
    std::thread::scope(|threads| {
        let waits = threads.spawn(|| pool.spawn(helper("wait"), &cancelled));
        std::thread::sleep(Duration::from_millis(100));
        cancelled.cancel();
        assert!(waits.join().unwrap().unwrap_err().contains("cancelled"));
    });
    let names: Vec<_> = scene.status().into_iter().map(|agent| agent.name).collect();
    assert_eq!(names, ["main"]);
}
