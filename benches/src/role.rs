//! What this program can be besides the benchmark: the floors the hub is compared with, and an editor. Each is
//! a process of its own, because the hub is one.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::editor::Editor;
use crate::floor;
use crate::peers::rmcp_server;
use crate::world::World;

/// A child that is one of these; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Role {
    child: Child,
    pub(crate) port: u16,
    /// Its end tells the child to leave.
    _stdin: Option<ChildStdin>,
}

impl Role {
    /// Answers every `request` bytes with `reply`, over TCP.
    pub(crate) fn raw(world: &World, request: usize, reply: &[u8]) -> Result<Role> {
        Role::answering(world, "raw", request, reply)
    }

    /// The same, but asks another process over a Unix socket each time.
    pub(crate) fn two_hops(world: &World, request: usize, reply: &[u8]) -> Result<Role> {
        Role::answering(world, "two-hops", request, reply)
    }

    fn answering(world: &World, role: &str, request: usize, reply: &[u8]) -> Result<Role> {
        let file = world.workspace().join(format!("{role}.reply"));
        std::fs::write(&file, reply)?;
        Role::spawn(world, &[role.into(), request.to_string().into(), file])
    }

    /// Sends every WebSocket message back.
    pub(crate) fn websocket_echo(world: &World) -> Result<Role> {
        Role::spawn(world, &["websocket-echo".into()])
    }

    /// MCP over WebSocket by the official Rust SDK, with the tools of all peers.
    pub(crate) fn rmcp(world: &World, text: &str) -> Result<Role> {
        Role::spawn(world, &["rmcp".into(), text.into()])
    }

    pub(crate) fn editor(world: &World) -> Result<Role> {
        Role::spawn(world, &["editor".into(), world.socket()?, world.workspace()])
    }

    pub(crate) fn editor_behind_attach(world: &World) -> Result<Role> {
        Role::spawn(world, &["editor-behind-attach".into(), world.program().to_owned(), world.workspace()])
    }

    fn spawn(world: &World, args: &[PathBuf]) -> Result<Role> {
        let mut command = world.command(std::env::current_exe()?);
        Role::run(command.arg("role").args(args))
    }

    /// Any program that prints its port and ends with its standard input.
    pub(crate) fn run(command: &mut Command) -> Result<Role> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("a child has no output")?;
        // From here on it ends with the role, whatever it prints.
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

/// Plays the role until standard input ends.
pub(crate) fn play(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["raw", request, reply] => floor::raw(request.parse()?, std::fs::read(reply)?),
        ["two-hops", request, reply] => floor::two_hops(request.parse()?, std::fs::read(reply)?),
        ["unix", path, request, reply] => floor::unix(path, request.parse()?, std::fs::read(reply)?),
        ["websocket-echo"] => floor::websocket_echo(),
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
    tell(editor.port)?;
    wait_for_end()
}

/// Says where we can be reached.
pub(crate) fn tell(port: u16) -> Result<()> {
    let mut output = std::io::stdout();
    writeln!(output, "{port}")?;
    Ok(output.flush()?)
}

fn wait_for_end() -> Result<()> {
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
