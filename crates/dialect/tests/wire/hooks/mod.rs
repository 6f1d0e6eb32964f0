//! Hooks from outside: stdin in, meaning out; a decision in, stdout out.

mod caller;
mod capture;
mod hostile_input;
mod meaning;
mod replay;
mod rewrite;

use linkspan_dialect::hooks::{HookAnswer, HookCall};
use serde_json::Value;

fn no_env(_: &str) -> Option<String> {
    None
}

fn parse(stdin: &Value) -> HookCall {
    HookCall::parse(stdin.to_string().as_bytes(), &no_env).unwrap()
}

/// What is printed, as JSON; `null` for nothing.
fn printed(call: &HookCall, answer: &HookAnswer) -> Value {
    let output = call.encode(answer);
    assert_eq!(output.code, 0);
    match &*output.stdout {
        "" => Value::Null,
        stdout => serde_json::from_str(stdout).unwrap(),
    }
}
