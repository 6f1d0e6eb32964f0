//! Commands, which run only with the person's word. Only terminals that were made for this client can be read.

use super::super::encode;
use super::super::tool::{Argument, Group, Tool, Wrong, optional, required};
use super::{optional_text, path_in};
use crate::mcp::Arguments;
use crate::meaning::Request;

const CWD: Argument = optional("cwd", "string", "A folder of the workspace to be in. Default: its first.");
const TERMINAL: &str = "terminal";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "ide.run_in_terminal",
        group: Group::Terminal,
        about: "Runs a command once the person allows it, in the editor's terminal or, where it has none, in one of \
                the hub's own, and waits for its end. When the time is up it goes on, and `timed_out` is true. In \
                the hub's own terminal it is ended when the connection that asked for it ends.",
        arguments: &[
            required("command", "string", "As the shell reads it."),
            CWD,
            optional("wait_seconds", "integer", "How long to wait for its end. Default 60, at most 120."),
            optional(TERMINAL, "string", "One that was made for this client before. Default: a new one."),
        ],
        result: "{ terminal: string, output: string, exit_code: number | null, timed_out: boolean }",
        decode: run,
        encode: encode::ran,
    },
    Tool {
        name: "ide.create_terminal",
        group: Group::Terminal,
        about: "Makes a terminal for commands to run in. Of each window's the newest 16 are kept.",
        arguments: &[optional("name", "string", "What its tab says."), CWD],
        result: "{ terminal: string, name: string }",
        decode: |arguments| {
            Ok(Request::CreateTerminal {
                name: optional_text(arguments, "name")?,
                cwd: path_in(arguments, "cwd")?,
            })
        },
        encode: encode::terminal_made,
    },
    Tool {
        name: "ide.get_terminal_output",
        group: Group::Terminal,
        about: "What a terminal shows. Of much the end is given.",
        arguments: &[optional(TERMINAL, "string", "Default: the one that this client used last.")],
        result: "{ terminal: string, output: string, running: boolean, exit_code: number | null }",
        decode: |arguments| Ok(Request::TerminalOutput { terminal: optional_text(arguments, TERMINAL)? }),
        encode: encode::printed,
    },
];

fn run(arguments: &Arguments<'_>) -> Result<Request, Wrong> {
    let wait = arguments.count("wait_seconds")?;
    Ok(Request::RunInTerminal {
        command: arguments.text("command")?.into_owned(),
        cwd: path_in(arguments, "cwd")?,
        wait_ms: wait.map(|seconds| seconds.saturating_mul(1000)),
        terminal: optional_text(arguments, TERMINAL)?,
    })
}
