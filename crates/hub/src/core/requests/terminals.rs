//! Terminals for agents: in the editor if it supports them, else the hub's own. An agent sees only its own terminals, and
//! none of the user's. Whether a command may run is decided before.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use linkspan_dialect::{Answer, FailureKind, Request, TerminalContents};
use linkspan_editor_api as api;
use linkspan_review::WindowId;
use linkspan_workspace::terminal::{CommandReport, Output};

use crate::core::Core;
use crate::core::agents::{LONGEST_NAME, shortened};
use crate::core::contract::{Action, AgentJob, TerminalId, TerminalSetup};
use crate::core::out::Out;
use crate::core::pending::{PendingJob, ToolCall};
use crate::core::principal::AgentPrincipal;
use crate::core::requests::{LONGEST_WAIT_MS, ask_editor, ask_editor_within, workspace};

/// Terminals of one window.
const KEPT: usize = 16;

/// How long a command may run if the agent gives no limit.
const COMMAND_WAIT_MS: u32 = 60_000;

/// The terminal reports by itself that a command has not ended; this much later, it hangs.
const SLACK_MS: u32 = 10_000;

#[derive(Debug)]
struct AgentTerminal {
    name: String,
    who: AgentPrincipal,
    place: TerminalPlace,
}

#[derive(Debug)]
enum TerminalPlace {
    Editor,
    Own { id: TerminalId, opening: TerminalSetup, running: bool },
}

/// Oldest first; the last of an agent's terminals is the one that it used last.
#[derive(Debug, Default)]
pub(in crate::core) struct Terminals {
    kept: Vec<AgentTerminal>,
    minted: u64,
}

impl Terminals {
    fn position(&self, who: &AgentPrincipal, name: Option<&str>) -> Option<usize> {
        self.kept.iter().rposition(|kept| kept.who == *who && name.is_none_or(|name| kept.name == name))
    }

    /// Moves it to the end.
    fn touch(&mut self, who: &AgentPrincipal, name: Option<&str>) -> Option<&mut AgentTerminal> {
        let kept = self.kept.remove(self.position(who, name)?);
        self.kept.push(kept);
        self.kept.last_mut()
    }

    /// Removes another one if there are too many; returns it, to be closed.
    fn add(&mut self, kept: AgentTerminal) -> Option<TerminalId> {
        let window = kept.who.window;
        let mut closed = None;
        if self.kept.iter().filter(|other| other.who.window == window).count() >= KEPT {
            let here = |other: &AgentTerminal| other.who.window == window;
            let idle = |other: &AgentTerminal| {
                here(other) && !matches!(other.place, TerminalPlace::Own { running: true, .. })
            };
            let oldest = self.kept.iter().position(idle).or_else(|| self.kept.iter().position(here));
            closed = oldest.and_then(|at| self.kept.remove(at).own_id());
        }
        self.kept.push(kept);
        closed
    }
}

impl Terminals {
    /// The editor has a terminal for this agent.
    pub(super) fn add_of_editor(&mut self, out: &mut Out, who: AgentPrincipal, name: &str) {
        // Editors use one terminal for several agents: it belongs to the last one, and no other sees its output.
        let others = |kept: &AgentTerminal| {
            kept.who.window == who.window && kept.who != who && kept.name == name && kept.own_id().is_none()
        };
        self.kept.retain(|kept| !others(kept));
        if self.touch(&who, Some(name)).is_none() {
            let kept = AgentTerminal { name: name.to_owned(), who, place: TerminalPlace::Editor };
            if let Some(terminal) = self.add(kept) {
                out.push(Action::CloseTerminal { terminal });
            }
        }
    }

    /// What ran there is over.
    pub(super) fn set_idle(&mut self, job: &PendingJob) {
        let Some((terminal, _)) = &job.terminal else { return };
        for kept in &mut self.kept {
            if let TerminalPlace::Own { id, running, .. } = &mut kept.place
                && id == terminal
            {
                *running = false;
            }
        }
    }

    pub(super) fn command_ran(&mut self, job: &PendingJob, ran: CommandReport) -> Answer {
        let CommandReport { output, exit_code, signal, timed_out, truncated } = ran;
        if !timed_out {
            self.set_idle(job);
        }
        let terminal = job.terminal.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
        let exit_code = exit_code.or_else(|| exit_code_of_signal(signal));
        Answer::TerminalContents(TerminalContents {
            terminal,
            output,
            running: timed_out,
            exit_code,
            truncated,
        })
    }

    pub(super) fn shows(&mut self, job: &PendingJob, shows: Output) -> Answer {
        let Output { text: output, truncated, running, exit_code, signal } = shows;
        if !running {
            self.set_idle(job);
        }
        let terminal = job.terminal.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
        let exit_code = exit_code.or_else(|| exit_code_of_signal(signal));
        Answer::TerminalContents(TerminalContents { terminal, output, running, exit_code, truncated })
    }

    /// An editor that went away takes its terminals along; the next one may give others the same names.
    pub(in crate::core) fn forget_editors(&mut self, window: WindowId) {
        self.kept.retain(|kept| kept.who.window != window || kept.own_id().is_some());
    }

    /// Closes those of a window that is closed.
    pub(in crate::core) fn close(&mut self, out: &mut Out, window: WindowId) {
        let gone = self.kept.extract_if(.., |kept| kept.who.window == window);
        for terminal in gone.filter_map(|kept| kept.own_id()) {
            out.push(Action::CloseTerminal { terminal });
        }
    }
}

impl AgentTerminal {
    fn own_id(&self) -> Option<TerminalId> {
        match self.place {
            TerminalPlace::Own { id, .. } => Some(id),
            TerminalPlace::Editor => None,
        }
    }
}

/// Asks for permission, unless there is no such terminal.
pub(super) fn run_in_terminal(core: &mut Core, tool: ToolCall) {
    if let Request::RunInTerminal { terminal: Some(name), .. } = &tool.request
        && terminal_of(core, &tool, Some(name)).is_none()
    {
        return no_terminal(core, &tool, Some(name));
    }
    core.permissions.request(&mut core.out, tool);
}

fn terminal_of<'a>(core: &'a Core, tool: &ToolCall, name: Option<&str>) -> Option<&'a AgentTerminal> {
    let who = core.agents.get(&tool.agent)?.principal();
    core.terminals.kept.get(core.terminals.position(&who, name)?)
}

fn no_terminal(core: &mut Core, tool: &ToolCall, name: Option<&str>) {
    let message = match name {
        Some(name) => format!("no terminal `{name}` was made for this client; create one first"),
        None => "no terminal was made for this client yet; run a command first".to_owned(),
    };
    core.agents.fail(&mut core.out, tool.agent, tool.call, FailureKind::NotFound, message);
}

/// The user has allowed it.
pub(super) fn run_command(core: &mut Core, tool: ToolCall) {
    let Request::RunInTerminal { command, cwd, wait_ms, terminal } = &tool.request else { return };
    let (command, cwd, terminal) = (command.clone(), cwd.clone(), terminal.clone());
    let timeout_ms = wait_ms.unwrap_or(COMMAND_WAIT_MS).min(LONGEST_WAIT_MS);
    let Some(agent) = core.agents.get(&tool.agent) else { return };
    let (who, window) = (agent.principal(), agent.window);
    let title = Some(api::visible::name(&agent.name));
    let by_editor = core.windows.get(&window).is_some_and(|window| window.capabilities.terminal);
    let place = match &terminal {
        Some(name) => match core.terminals.touch(&who, Some(name)) {
            Some(AgentTerminal { place: TerminalPlace::Editor, .. }) => None,
            Some(AgentTerminal { place: TerminalPlace::Own { id, opening, running }, name, .. }) => {
                *running = true;
                Some((*id, opening.clone(), name.clone()))
            }
            None => return no_terminal(core, &tool, terminal.as_deref()),
        },
        None if by_editor => None,
        None => {
            let Some((id, opening, name)) = own_terminal(core, who, None, cwd.clone(), true) else {
                return;
            };
            Some((id, opening, name))
        }
    };
    match place {
        None => {
            let cwd = cwd.map(|cwd| cwd.display().to_string());
            let run = api::TerminalRun { command, cwd, terminal, name: title, timeout_ms };
            ask_editor_within(core, tool, &run, timeout_ms + SLACK_MS);
        }
        Some((terminal, opening, name)) => {
            let timeout = Duration::from_millis(timeout_ms.into());
            let run = AgentJob::RunCommand { terminal, setup: opening, command, cwd, timeout };
            let within_ms = u64::from(timeout_ms + SLACK_MS);
            workspace::run_tool(core, tool.agent, tool.call, run, Some((terminal, name)), within_ms);
        }
    }
}

/// Makes a new terminal of the hub's own.
fn own_terminal(
    core: &mut Core,
    who: AgentPrincipal,
    name: Option<String>,
    cwd: Option<PathBuf>,
    running: bool,
) -> Option<(TerminalId, TerminalSetup, String)> {
    let window = core.windows.get(&who.window)?;
    let first = || window.identity.folders.first().cloned().unwrap_or_else(|| PathBuf::from("/"));
    let cwd = cwd.unwrap_or_else(first);
    let environment = core.windows.terminal_environment(&core.out, who.window);
    core.terminals.minted += 1;
    let id = TerminalId(core.terminals.minted);
    let known_as = format!("hub-{}", id.0);
    let opening = TerminalSetup { name: name.unwrap_or_else(|| known_as.clone()), cwd, environment };
    let place = TerminalPlace::Own { id, opening: opening.clone(), running };
    if let Some(closed) = core.terminals.add(AgentTerminal { name: known_as.clone(), who, place }) {
        core.out.push(Action::CloseTerminal { terminal: closed });
    }
    Some((id, opening, known_as))
}

pub(super) fn create_terminal(core: &mut Core, tool: ToolCall) {
    let Request::CreateTerminal { name, cwd } = &tool.request else { return };
    let name = name.as_ref().map(|name| shortened(api::visible::name(name), LONGEST_NAME));
    let Some(agent) = core.agents.get(&tool.agent) else { return };
    let Some(window) = core.windows.get(&agent.window) else { return };
    let here = |kept: &&AgentTerminal| kept.who.window == agent.window;
    if window.capabilities.terminal && core.terminals.kept.iter().filter(here).count() >= KEPT {
        let message = format!("{KEPT} terminals of agents are open in this window; use one of them");
        return core.agents.fail(&mut core.out, tool.agent, tool.call, FailureKind::Denied, message);
    }
    if window.capabilities.terminal {
        let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
        let create = api::TerminalCreate { name, cwd, environment: BTreeMap::new(), focus: false };
        return ask_editor(core, tool, &create);
    }
    let (who, cwd) = (agent.principal(), cwd.clone());
    let Some((_, opening, terminal)) = own_terminal(core, who, name, cwd, false) else { return };
    let made = Answer::TerminalMade { terminal, name: opening.name };
    core.agents.answer(&mut core.out, tool.agent, tool.call, &made);
}

pub(super) fn terminal_output(core: &mut Core, tool: ToolCall) {
    let Request::TerminalOutput { terminal } = &tool.request else { return };
    let wanted = terminal.clone();
    let found = terminal_of(core, &tool, wanted.as_deref()).map(|kept| (kept.name.clone(), kept.own_id()));
    let ToolCall { agent, call, .. } = tool;
    match found {
        None => no_terminal(core, &tool, wanted.as_deref()),
        Some((name, Some(id))) => {
            let within_ms = u64::from(SLACK_MS);
            workspace::run_tool(
                core,
                agent,
                call,
                AgentJob::ShowTerminal { terminal: id },
                Some((id, name)),
                within_ms,
            );
        }
        Some((terminal, None)) => {
            let request = Request::TerminalOutput { terminal: Some(terminal.clone()) };
            ask_editor(core, ToolCall { agent, call, request }, &api::TerminalOutput { terminal });
        }
    }
}

fn exit_code_of_signal(signal: Option<i32>) -> Option<i32> {
    signal.map(|signal| 128 + signal)
}
