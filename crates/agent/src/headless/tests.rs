//! Whole runs against a host that does what the test says.

use std::path::Path;
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linkspan_client::confirm::{Cancellation, ConfirmQuestion, TerminalAnswer};
use serde_json::{Value, json};

use super::*;
use crate::conversation::{Answer, QuestionId, TurnEnd};
use crate::host::double::HostDouble;
use crate::host::{ChangeId, ChangeQuestion, HostEvent};
use crate::message::{CallArguments, ModelCall, ToolResult};

struct Ran {
    exit: Exit,
    out: String,
    err: String,
}

impl Ran {
    fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[derive(Default)]
struct HeadlessRun {
    prompt: Option<&'static str>,
    input: &'static str,
    json: bool,
    guarded: bool,
    console: Option<Arc<dyn TerminalPrompt + Send + Sync>>,
}

fn start(host: &HostDouble, case: HeadlessRun) -> (JoinHandle<Ran>, mpsc::UnboundedSender<()>) {
    let handle = host.handle.clone();
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    let running = thread::spawn(move || {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let options = HeadlessOptions {
            prompt: case.prompt.map(str::to_owned),
            json: case.json,
            settings: AgentSettings::default(),
        };
        let streams = Streams {
            input: case.input.as_bytes(),
            out: &mut out,
            err: &mut err,
            guarded: case.guarded,
            console: case.console,
            interrupts,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let exit = runtime.block_on(run_on(handle, options, streams));
        Ran { exit, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
    });
    (running, interrupt)
}

fn call() -> ModelCall {
    let arguments = CallArguments::Json(json!({ "command": "ls" }));
    ModelCall { id: "c1".into(), name: "run_command".into(), arguments, opaque: None }
}

#[test]
fn the_answer_goes_to_the_output_and_the_rest_to_the_error_output() {
    let host = HostDouble::start();
    let (running, _keep) = start(&host, HeadlessRun { prompt: Some("hello"), ..HeadlessRun::default() });
    let (agent, text) = host.prompted();
    assert_eq!(text, "hello");
    host.show(AgentId(99), TurnEvent::Text("of another agent".into()));
    host.show(agent, TurnEvent::Text("I look.".into()));
    host.show(agent, TurnEvent::Call(call()));
    let failed = ToolResult {
        call_id: "c1".into(),
        name: "run_command".into(),
        text: "no such program\nmore".into(),
        is_error: true,
        cancelled: false,
    };
    host.show(agent, TurnEvent::Result(failed));
    host.show(agent, TurnEvent::Text("It is\u{1b}[2J so".into()));
    host.end(agent, TurnEnd::Done, "It is so");
    let ran = running.join().unwrap();
    assert_eq!(ran.exit, Exit::Done);
    assert_eq!(ran.out, "I look.\nIt is\u{1b}[2J so\n");
    assert_eq!(ran.err, "run_command ls\nrun_command failed: no such program\n");
}

#[test]
fn on_a_terminal_the_answer_cannot_control_it() {
    let host = HostDouble::start();
    let (running, _keep) =
        start(&host, HeadlessRun { input: "hello", guarded: true, ..HeadlessRun::default() });
    let (agent, _) = host.prompted();
    host.show(agent, TurnEvent::Text("\u{1b}[2J\n".into()));
    host.end(agent, TurnEnd::Done, "");
    assert_eq!(running.join().unwrap().out, "\\u{1b}[2J\n");
}

#[test]
fn with_json_each_event_is_one_line() {
    let host = HostDouble::start();
    let (running, _keep) = start(&host, HeadlessRun { input: "hello", json: true, ..HeadlessRun::default() });
    let (agent, _) = host.prompted();
    host.send(HostEvent { agent: None, what: Occurred::EditorConnected { name: "VS Code".into() } });
    host.show(agent, TurnEvent::Text("a\nb".into()));
    host.show(agent, TurnEvent::Call(call()));
    host.emit(agent, Occurred::Output { call_id: "c1".into(), text: "out".into() });
    host.end(agent, TurnEnd::Length, "a\nb");
    let ran = running.join().unwrap();
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Failed, ""));
    assert_eq!(
        ran.lines(),
        [
            json!({ "type": "start", "agent": "agent-1", "model": "script/demo", "mode": "trusted", "session": "s1" }),
            json!({ "type": "editor", "name": "VS Code" }),
            json!({ "type": "text", "text": "a\nb" }),
            json!({ "type": "tool_call", "id": "c1", "tool": "run_command", "arguments": { "command": "ls" } }),
            json!({ "type": "tool_output", "id": "c1", "text": "out" }),
            json!({ "type": "end", "end": "length", "text": "a\nb", "usage": { "input": 3, "output": 2 } }),
        ]
    );
}

#[test]
fn a_question_that_nobody_can_be_asked_is_answered_with_no_and_says_why() {
    let host = HostDouble::start();
    let (running, _keep) = start(&host, HeadlessRun { input: "hello", json: true, ..HeadlessRun::default() });
    let (agent, _) = host.prompted();
    let ask = Question::Permission { call: call(), why: "trusted mode asks before commands".into() };
    // Of a helper that the agent started.
    let helper = AgentId(agent.0 + 1);
    host.emit(helper, Occurred::Ask { question: QuestionId(4), ask });
    let HostCommand::Answer { question: QuestionId(4), answer, .. } = host.next() else {
        panic!("no answer")
    };
    assert_eq!(answer, Answer::NotAsked { why: NOBODY.into() });
    let question = Arc::new(ConfirmQuestion::of_call("x", &json!({}), Path::new("/")).unwrap());
    let asked = ChangeQuestion { change: ChangeId(2), call_id: "c1".into(), question };
    host.emit(agent, Occurred::AskChange(asked));
    let HostCommand::AnswerChange { answer, .. } = host.next() else { panic!("no answer") };
    assert!(matches!(answer, TerminalAnswer::Unavailable { .. }), "an editor may still decide: {answer:?}");
    host.end(agent, TurnEnd::Done, "");
    let lines = running.join().unwrap().lines();
    assert_eq!(
        lines[1],
        json!({ "type": "question", "kind": "permission", "id": "c1", "tool": "run_command", "asked": "nobody" })
    );
    assert_eq!(lines[2]["kind"], "change");
}

/// Waits until it is cancelled, or answers.
struct Scripted(Option<TerminalAnswer>, Mutex<mpsc::UnboundedSender<TerminalAnswer>>);

impl TerminalPrompt for Scripted {
    fn ask(&self, _: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer {
        let answer = self.0.clone().unwrap_or_else(|| {
            let _ = cancelled.wait_timeout(Duration::from_secs(10));
            TerminalAnswer::Cancelled
        });
        self.1.lock().unwrap().send(answer.clone()).unwrap();
        answer
    }
}

#[test]
fn where_there_is_a_terminal_it_is_asked_and_left_when_the_question_closes() {
    let host = HostDouble::start();
    let (tell, mut told) = mpsc::unbounded_channel();
    let console = Arc::new(Scripted(None, Mutex::new(tell)));
    let (running, _keep) =
        start(&host, HeadlessRun { input: "hello", console: Some(console), ..HeadlessRun::default() });
    let (agent, _) = host.prompted();
    let ask = Question::Permission { call: call(), why: "because".into() };
    host.emit(agent, Occurred::Ask { question: QuestionId(1), ask });
    host.emit(agent, Occurred::QuestionClosed { question: QuestionId(1) });
    assert_eq!(told.blocking_recv(), Some(TerminalAnswer::Cancelled));
    assert!(host.next_within(Duration::from_millis(50)).is_none(), "a closed question is not answered");
    host.end(agent, TurnEnd::Done, "");
    assert_eq!(running.join().unwrap().exit, Exit::Done);
}

#[test]
fn the_answer_in_the_terminal_reaches_the_host() {
    let host = HostDouble::start();
    let (tell, _told) = mpsc::unbounded_channel();
    let console = Arc::new(Scripted(
        Some(TerminalAnswer::Deny { reason: Some("no".into()), comments: vec![] }),
        Mutex::new(tell),
    ));
    let (running, _keep) =
        start(&host, HeadlessRun { input: "hello", console: Some(console), ..HeadlessRun::default() });
    let (agent, _) = host.prompted();
    let ask = Question::Repeated { call: call(), times: 3 };
    host.emit(agent, Occurred::Ask { question: QuestionId(1), ask });
    let HostCommand::Answer { answer, .. } = host.next() else { panic!("no answer") };
    assert_eq!(answer, Answer::No { reason: Some("no".into()) });
    host.end(agent, TurnEnd::Done, "");
    running.join().unwrap();
}

#[test]
fn an_interrupt_cancels_the_turn_and_the_second_one_waits_for_nothing() {
    let host = HostDouble::start();
    let (running, interrupt) = start(&host, HeadlessRun { input: "hello", ..HeadlessRun::default() });
    let (agent, _) = host.prompted();
    interrupt.send(()).unwrap();
    assert!(matches!(host.next(), HostCommand::Cancel { agent: AgentId(1) }));
    host.end(agent, TurnEnd::Cancelled, "");
    assert_eq!(running.join().unwrap().exit.code(), 130);

    let (running, interrupt) = start(&host, HeadlessRun { input: "hello", ..HeadlessRun::default() });
    host.prompted();
    interrupt.send(()).unwrap();
    interrupt.send(()).unwrap();
    assert_eq!(running.join().unwrap().exit, Exit::Cancelled);
}

#[test]
fn nothing_to_ask_is_a_usage_error() {
    let host = HostDouble::start();
    let (running, _keep) = start(&host, HeadlessRun { input: " \n", ..HeadlessRun::default() });
    let ran = running.join().unwrap();
    assert_eq!((ran.exit, ran.exit.code()), (Exit::Usage, 2));
    assert!(ran.err.contains("-p"), "{}", ran.err);

    host.answers.lock().unwrap().refuses = Some("there is no session x".into());
    let (running, _keep) = start(&host, HeadlessRun { input: "hello", json: true, ..HeadlessRun::default() });
    let ran = running.join().unwrap();
    assert_eq!(ran.exit, Exit::Usage);
    assert_eq!(ran.lines(), [json!({ "type": "error", "text": "there is no session x" })]);
}

#[test]
fn an_output_that_is_closed_cancels_the_turn() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let host = HostDouble::start();
    let handle = host.handle.clone();
    let (_interrupt, interrupts) = mpsc::unbounded_channel();
    let running = thread::spawn(move || {
        let streams = Streams {
            input: "hello".as_bytes(),
            out: &mut Closed,
            err: &mut Vec::new(),
            guarded: false,
            console: None,
            interrupts,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run_on(handle, HeadlessOptions::default(), streams))
    });
    let (agent, _) = host.prompted();
    host.show(agent, TurnEvent::Text("x".into()));
    assert!(matches!(host.next(), HostCommand::Cancel { .. }));
    assert_eq!(running.join().unwrap(), Exit::Failed);
}
