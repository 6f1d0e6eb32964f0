//! The child processes of the benchmarks, which are this program in another role: the floors that the hub is compared
//! with, and an editor. Each is its own process, because the hub is.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::bench_hub::BenchHub;
use crate::chat_agent;
use crate::editor::Editor;
use crate::floor;
use crate::peers::rmcp_server;

/// A child process in such a role; it is killed when dropped.
#[derive(Debug)]
pub(crate) struct Role {
    child: Child,
    pub(crate) port: u16,
    /// The child exits when this is closed.
    _stdin: Option<ChildStdin>,
}

impl Role {
    /// Answers every `request` bytes with `reply`, over TCP.
    pub(crate) fn raw(hub: &BenchHub, request: usize, reply: &[u8]) -> Result<Role> {
        Role::answering(hub, "raw", request, reply)
    }

    /// Like `raw`, but asks another process over a Unix socket each time.
    pub(crate) fn two_hops(hub: &BenchHub, request: usize, reply: &[u8]) -> Result<Role> {
        Role::answering(hub, "two-hops", request, reply)
    }

    fn answering(hub: &BenchHub, role: &str, request: usize, reply: &[u8]) -> Result<Role> {
        let file = hub.workspace().join(format!("{role}.reply"));
        std::fs::write(&file, reply)?;
        Role::spawn(hub, &[role.into(), request.to_string().into(), file])
    }

    /// Sends every WebSocket message back.
    pub(crate) fn websocket_echo(hub: &BenchHub) -> Result<Role> {
        Role::spawn(hub, &["websocket-echo".into()])
    }

    /// MCP over WebSocket by the official Rust SDK, with the tools of all peers.
    pub(crate) fn rmcp(hub: &BenchHub, text: &str) -> Result<Role> {
        Role::spawn(hub, &["rmcp".into(), text.into()])
    }

    pub(crate) fn editor(hub: &BenchHub) -> Result<Role> {
        Role::spawn(hub, &["editor".into(), hub.socket()?, hub.workspace()])
    }

    pub(crate) fn editor_behind_attach(hub: &BenchHub) -> Result<Role> {
        Role::spawn(hub, &["editor-behind-attach".into(), hub.program().to_owned(), hub.workspace()])
    }

    fn spawn(hub: &BenchHub, args: &[PathBuf]) -> Result<Role> {
        let mut command = hub.command(std::env::current_exe()?);
        Role::run(command.arg("role").args(args))
    }

    /// Any program that prints its port and exits when its standard input ends.
    pub(crate) fn run(command: &mut Command) -> Result<Role> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("a child has no output")?;
        // From here on it is killed with the role, whatever it prints.
        let mut role = Role { _stdin: child.stdin.take(), child, port: 0 };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        role.port = line.trim().parse().with_context(|| format!("{command:?} did not start"))?;
        Ok(role)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs in that role until standard input ends.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["raw", request, reply] => floor::raw(request.parse()?, std::fs::read(reply)?),
        ["two-hops", request, reply] => floor::two_hops(request.parse()?, std::fs::read(reply)?),
        ["unix", path, request, reply] => floor::unix(path, request.parse()?, std::fs::read(reply)?),
        ["websocket-echo"] => floor::websocket_echo(),
        ["chat-agent"] => chat_agent::run(),
        ["rmcp", text] => rmcp_server::serve(text),
        ["editor", socket, folder] => edit(Editor::on_socket(socket.as_ref(), folder.as_ref())?),
        ["editor-behind-attach", program, folder] => {
            let mut attach = Command::new(program);
            attach.arg("attach");
            edit(Editor::on_relay(attach, folder.as_ref())?)
        }
        _ => bail!("there is no role {args:?}"),
    }
}

fn edit(editor: Editor) -> Result<()> {
    report_port(editor.port)?;
    wait_for_end()
}

/// Prints the port, for the parent process.
pub(crate) fn report_port(port: u16) -> Result<()> {
    let mut output = std::io::stdout();
    writeln!(output, "{port}")?;
    Ok(output.flush()?)
}

fn wait_for_end() -> Result<()> {
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
