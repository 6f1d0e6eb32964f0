//! A model played from a file: texts, tool calls, waits and failures, one turn for each request. What it says depends on
//! nothing but the order. For tests, and for `--demo`.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{ModelError, ModelEvent, ModelRequest, StopReason};
use crate::message::{CallArguments, ChatMessage, ModelCall, Usage};

/// A script is written by hand.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// What `--demo` plays.
pub(super) const DEMO: &str = include_str!("demo.toml");

/// A script, and how far it was played.
#[derive(Debug)]
pub struct Script {
    turns: Vec<ScriptTurn>,
    /// The next turn; none before the first request, which may continue a conversation.
    next: Mutex<Option<usize>>,
}

/// The answer to one request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ScriptTurn {
    /// Before anything else.
    wait_ms: u64,
    /// Between words.
    pace_ms: u64,
    thought: String,
    text: String,
    calls: Vec<ScriptCall>,
    /// After the text: the connection breaks with this message.
    fail: Option<String>,
    /// The same, but it is not worth another try.
    refuse: Option<String>,
    /// The output is cut here.
    cut: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptCall {
    tool: String,
    #[serde(default)]
    arguments: Option<Value>,
    /// Instead of arguments: text that may be broken JSON.
    #[serde(default)]
    broken: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ScriptFile {
    turn: Vec<ScriptTurn>,
}

impl Script {
    /// Reads a file: `[[turn]]` tables in TOML, or one JSON object a line if its name ends with `.jsonl`.
    pub fn load(path: &Path) -> Result<Script, String> {
        let shown = path.display();
        let size =
            std::fs::metadata(path).map_err(|error| format!("cannot read the script {shown}: {error}"))?;
        if !size.is_file() || size.len() > LARGEST_FILE {
            return Err(format!("the script {shown} is not a file of at most {LARGEST_FILE} bytes"));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read the script {shown}: {error}"))?;
        let lines = path.extension().is_some_and(|extension| extension == "jsonl");
        let script = if lines { Script::from_json_lines(&text) } else { Script::from_toml(&text) };
        script.map_err(|error| format!("the script {shown} is wrong: {error}"))
    }

    /// From `[[turn]]` tables.
    pub fn from_toml(text: &str) -> Result<Script, String> {
        let file: ScriptFile = toml::from_str(text).map_err(|error| error.to_string())?;
        Ok(Script { turns: file.turn, next: Mutex::default() })
    }

    /// From one JSON object a line.
    pub fn from_json_lines(text: &str) -> Result<Script, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let turns = lines.map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))
        });
        Ok(Script { turns: turns.collect::<Result<_, _>>()?, next: Mutex::default() })
    }

    fn next_turn(&self, request: &ModelRequest) -> (usize, ScriptTurn) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let answers =
            request.messages.iter().filter(|message| matches!(message, ChatMessage::Assistant { .. }));
        let index = next.unwrap_or_else(|| answers.count());
        *next = Some(index + 1);
        let over =
            || ScriptTurn { text: "The script has no more turns.".to_owned(), ..ScriptTurn::default() };
        (index, self.turns.get(index).cloned().unwrap_or_else(over))
    }

    /// Plays the next turn.
    pub(super) async fn answer(
        &self,
        request: &ModelRequest,
        emit: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<(), ModelError> {
        let (index, turn) = self.next_turn(request);
        pause(turn.wait_ms).await;
        for (text, event) in
            [(&turn.thought, ModelEvent::Thought as fn(String) -> ModelEvent), (&turn.text, ModelEvent::Text)]
        {
            for word in text.split_inclusive([' ', '\n']) {
                emit(event(word.to_owned()));
                pause(turn.pace_ms).await;
            }
        }
        if let Some(message) = turn.fail {
            return Err(ModelError::Transient { message, retry_after: None });
        }
        if let Some(message) = turn.refuse {
            return Err(ModelError::Permanent { message, too_long: false });
        }
        for (number, call) in turn.calls.into_iter().enumerate() {
            let arguments = match call.broken {
                Some(broken) => CallArguments::Broken(broken),
                None => CallArguments::Json(
                    call.arguments.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
                ),
            };
            let id = format!("script_{index}_{number}");
            emit(ModelEvent::Call(ModelCall { id, name: call.tool, arguments, opaque: None }));
        }
        let input = request.messages.iter().map(bytes).sum::<usize>() / 4;
        let output = turn.text.len() / 4;
        emit(ModelEvent::Usage(Usage { input: input as u64, output: output as u64 }));
        emit(ModelEvent::Done(if turn.cut { StopReason::Length } else { StopReason::End }));
        Ok(())
    }
}

fn bytes(message: &ChatMessage) -> usize {
    match message {
        ChatMessage::User { text, .. }
        | ChatMessage::Assistant { text, .. }
        | ChatMessage::Summary { text } => text.len(),
        ChatMessage::Tools { results } => results.iter().map(|result| result.text.len()).sum(),
    }
}

async fn pause(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn play(script: &Script, request: &ModelRequest) -> (Vec<ModelEvent>, Result<(), ModelError>) {
        let events = Mutex::new(Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let result = runtime.block_on(script.answer(request, &|event| events.lock().unwrap().push(event)));
        (events.into_inner().unwrap(), result)
    }

    fn request() -> ModelRequest {
        ModelRequest { system: String::new(), messages: Vec::new(), tools: Vec::new() }
    }

    #[test]
    fn a_script_says_one_turn_for_each_request() {
        let script = Script::from_toml(
            r#"
            [[turn]]
            text = "Let me look."
            calls = [{ tool = "read_file", arguments = { path = "a" } }, { tool = "x", broken = "{" }]
            [[turn]]
            text = "Half"
            fail = "connection reset"
            "#,
        );
        let script = script.unwrap();
        let (events, result) = play(&script, &request());
        assert_eq!(result, Ok(()));
        let arguments = CallArguments::Json(json!({ "path": "a" }));
        let id = "script_0_0".to_owned();
        let call = ModelCall { id, name: "read_file".to_owned(), arguments, opaque: None };
        assert_eq!(
            events[..4],
            [
                ModelEvent::Text("Let ".to_owned()),
                ModelEvent::Text("me ".to_owned()),
                ModelEvent::Text("look.".to_owned()),
                ModelEvent::Call(call),
            ]
        );
        assert_eq!(events.last(), Some(&ModelEvent::Done(StopReason::End)));
        let (_, result) = play(&script, &request());
        assert!(
            matches!(result, Err(ModelError::Transient { message, .. }) if message == "connection reset")
        );
        let (events, _) = play(&script, &request());
        assert!(events.contains(&ModelEvent::Text("more ".to_owned())));
    }

    #[test]
    fn a_script_goes_on_where_a_restored_conversation_was() {
        let script = Script::from_json_lines("{\"text\":\"one\"}\n\n{\"text\":\"two\"}\n").unwrap();
        let answer = ChatMessage::Assistant { text: "one".to_owned(), calls: Vec::new() };
        let (events, _) = play(&script, &ModelRequest { messages: vec![answer], ..request() });
        assert_eq!(events[0], ModelEvent::Text("two".to_owned()));
    }

    #[test]
    fn a_wrong_script_says_where() {
        let error = Script::from_toml("[[turn]]\ntxt = \"x\"\n").unwrap_err();
        assert!(error.contains("unknown field `txt`") && error.contains("line 2"), "{error}");
        let error = Script::from_json_lines("{}\n{").unwrap_err();
        assert!(error.starts_with("line 2: "), "{error}");
        let error = Script::load(Path::new("/nowhere/x.toml")).unwrap_err();
        assert!(error.starts_with("cannot read the script /nowhere/x.toml: "), "{error}");
    }

    #[test]
    fn the_demonstration_can_be_played() {
        let script = Script::from_toml(DEMO).unwrap();
        assert!(script.turns.len() >= 3);
        assert!(script.turns.iter().any(|turn| turn.calls.iter().any(|call| call.tool == "edit_file")));
    }
}
