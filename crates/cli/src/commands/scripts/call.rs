//! `linkspan call`: calls any tool of any editor, with arguments as JSON.

use std::io::{self, Read};
use std::time::Duration;

use linkspan_client::connection::ToolResult;
use linkspan_client::{CallError, Connection, ppxai};
use serde_json::{Map, Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{Report, foreign};
use crate::cli::signals;
use crate::cli::window::{WindowOptions, ask, connect};

/// Tools that wait for the user's decision, which may take any time.
const WAIT_FOR_USER: [&str; 6] =
    ["proposeChange", "compareTexts", "renameSymbol", "openDiff", "runInTerminal", "executeCode"];

/// Call a tool of the editor.
///
/// `linkspan tools` lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit code 5 if the tool reports an error. For example:\n  \
    linkspan call getDiagnostics '{\"path\": \"/home/ada/project/src/main.rs\"}'")]
pub(crate) struct Args {
    /// The name of the tool.
    tool: String,
    /// The arguments as a JSON object; - reads standard input.
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// Give up after this many seconds; 10 if omitted, and never for tools that wait for your decision.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    timeout: Option<u32>,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let arguments = arguments(&args.arguments)?;
    let connection = connect(&args.window, cli)?;
    let result = ask(connection, |connection| call(connection, args, &arguments))?;
    let document = document(&result);
    let text = text(&result);
    if result.is_error {
        let message = if text.is_empty() { format!("{} failed without a reason", args.tool) } else { text };
        return Err(Failure { exit: Exit::Refused, message, more: document });
    }
    Ok(foreign(&format!("{text}\n"), None, Value::Object(document)))
}

fn arguments(given: &str) -> Result<Value, Failure> {
    let wrong = |why: String| Failure::usage(format!("the arguments are not a JSON object: {why}"));
    let mut text = String::new();
    let text = if given == "-" {
        io::stdin().read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
        text.as_str()
    } else {
        given
    };
    let arguments: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    Ok(Value::Object(arguments))
}

fn call(connection: &Connection, args: &Args, arguments: &Value) -> Result<ToolResult, CallError> {
    let Args { tool, timeout, .. } = args;
    match timeout {
        None if WAIT_FOR_USER.contains(&tool.as_str()) || ppxai::asks_a_person(tool) => {
            let pending = connection.start(tool, arguments)?;
            let handles = (pending.clone(), connection.clone());
            let interrupted = signals::withdraw_on_interrupt(move || {
                handles.0.cancel();
                handles.1.close();
            });
            let answer = pending.wait();
            if let Ok(interrupted) = interrupted {
                interrupted.park_if_interrupted();
            }
            answer
        }
        None => connection.call(tool, arguments),
        Some(seconds) => {
            let pending = connection.start(tool, arguments)?;
            pending.wait_timeout(Duration::from_secs((*seconds).into())).unwrap_or_else(|| {
                pending.cancel();
                Err(CallError::Timeout { tool: tool.clone(), seconds: (*seconds).into() })
            })
        }
    }
}

fn document(result: &ToolResult) -> Map<String, Value> {
    let mut document = Map::new();
    document.insert("content".into(), json!(result.content));
    if let Some(structured) = &result.structured {
        document.insert("structuredContent".into(), structured.clone());
    }
    document.insert("isError".into(), json!(result.is_error));
    document
}

/// The structured content if there is any, otherwise the texts.
fn text(result: &ToolResult) -> String {
    match &result.structured {
        Some(data) if !result.is_error => serde_json::to_string_pretty(data).unwrap_or_default(),
        _ => result.texts().collect::<Vec<_>>().join("\n"),
    }
}
