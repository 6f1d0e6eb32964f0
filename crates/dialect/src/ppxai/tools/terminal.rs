//! Commands, which need the user's permission. A client can only read terminals that were created for it.

use super::super::encode;
use super::super::tool::{Argument, BadArguments, Group, PpxaiTool, optional, required};
use super::{optional_text, path_in};
use crate::mcp::Arguments;
use crate::request::Request;

const CWD: Argument = optional(
    "cwd",
    "string",
    "Working directory, inside the workspace. Default: the first workspace folder.",
);
const TERMINAL: &str = "terminal";

pub(super) const TOOLS: &[PpxaiTool] = &[
    PpxaiTool {
        name: "ide.run_in_terminal",
        group: Group::Terminal,
        about: "Runs a command and waits until it exits. The user is asked for permission first. It runs in a \
                terminal of the editor, or of the hub if the editor has none. When the time is up it keeps \
                running, and `timed_out` is true. A command in a terminal of the hub is ended when the connection \
                of the client ends.",
        arguments: &[
            required("command", "string", "Command line for the shell."),
            CWD,
            optional("wait_seconds", "integer", "How long to wait for it. Default 60, at most 120."),
            optional(TERMINAL, "string", "A terminal that was created for this client. Default: a new one."),
        ],
        result: "{ terminal: string, output: string, exit_code: number | null, timed_out: boolean }",
        decode: run,
        encode: encode::ran,
    },
    PpxaiTool {
        name: "ide.create_terminal",
        group: Group::Terminal,
        about: "Creates a terminal for commands. The newest 16 of each window are kept.",
        arguments: &[optional("name", "string", "Title of its tab."), CWD],
        result: "{ terminal: string, name: string }",
        decode: |arguments| {
            Ok(Request::CreateTerminal {
                name: optional_text(arguments, "name")?,
                cwd: path_in(arguments, "cwd")?,
            })
        },
        encode: encode::terminal_made,
    },
    PpxaiTool {
        name: "ide.get_terminal_output",
        group: Group::Terminal,
        about: "Reads the output of a terminal. Long output is truncated at the start.",
        arguments: &[optional(TERMINAL, "string", "Default: the last terminal that this client used.")],
        result: "{ terminal: string, output: string, running: boolean, exit_code: number | null }",
        decode: |arguments| Ok(Request::TerminalOutput { terminal: optional_text(arguments, TERMINAL)? }),
        encode: encode::printed,
    },
];

fn run(arguments: &Arguments<'_>) -> Result<Request, BadArguments> {
    let wait = arguments.count("wait_seconds")?;
    Ok(Request::RunInTerminal {
        command: arguments.text("command")?.into_owned(),
        cwd: path_in(arguments, "cwd")?,
        wait_ms: wait.map(|seconds| seconds.saturating_mul(1000)),
        terminal: optional_text(arguments, TERMINAL)?,
    })
}
