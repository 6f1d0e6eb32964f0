//! Terminals that were made for agents: in the editor where it has some, else the hub's own. An agent sees only its
//! own, and none of the person's. That a command may run at all was decided before.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use linkspan_dialect::{Answer, FailureKind, Printed, Request};
use linkspan_editor_api as api;
use linkspan_review::WindowId;
use linkspan_workspace::terminal::{Output, Ran};

use super::Core;
use super::agents::{LONGEST_NAME, shortened};
use super::asking::who;
use super::consent::Who;
use super::event::{Action, Tool};
use super::tools::{LONGEST_WAIT_MS, ToolCall};
use super::workspace::Running;

/// Of each window.
const KEPT: usize = 16;

/// How long a command is waited for where the agent does not say.
const COMMAND_WAIT_MS: u32 = 60_000;

/// Who runs it tells by itself that a command is not over; only one that hangs does not get to it.
const SLACK_MS: u32 = 10_000;

/// One of the hub's own terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TerminalId(pub u64);

/// How a terminal begins.
#[derive(Debug, Clone)]
pub struct Opening {
    pub name: String,
    pub cwd: PathBuf,
    pub environment: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Kept {
    name: String,
    who: Who,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Editor,
    Own { id: TerminalId, opening: Opening, running: bool },
}

/// Oldest first; the one that was used last is the last of its agent's.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    kept: Vec<Kept>,
    minted: u64,
}

impl Terminals {
    fn position(&self, who: &Who, name: Option<&str>) -> Option<usize> {
        self.kept.iter().rposition(|kept| kept.who == *who && name.is_none_or(|name| kept.name == name))
    }

    /// Moves it behind the others.
    fn used(&mut self, who: &Who, name: Option<&str>) -> Option<&mut Kept> {
        let kept = self.kept.remove(self.position(who, name)?);
        self.kept.push(kept);
        self.kept.last_mut()
    }

    /// Makes room first; gives what has to be closed for that.
    fn keep(&mut self, kept: Kept) -> Option<TerminalId> {
        let window = kept.who.window;
        let mut closed = None;
        if self.kept.iter().filter(|other| other.who.window == window).count() >= KEPT {
            let here = |other: &Kept| other.who.window == window;
            let idle = |other: &Kept| here(other) && !matches!(other.place, Place::Own { running: true, .. });
            let oldest = self.kept.iter().position(idle).or_else(|| self.kept.iter().position(here));
            closed = oldest.and_then(|at| self.kept.remove(at).own());
        }
        self.kept.push(kept);
        closed
    }
}

impl Kept {
    fn own(&self) -> Option<TerminalId> {
        match self.place {
            Place::Own { id, .. } => Some(id),
            Place::Editor => None,
        }
    }
}

impl Core {
    /// Asks the person, unless there is no such terminal.
    pub(super) fn run_in_terminal(&mut self, tool: ToolCall) {
        if let Request::RunInTerminal { terminal: Some(name), .. } = &tool.request
            && self.terminal_of(&tool, Some(name)).is_none()
        {
            return self.no_terminal(&tool, Some(name));
        }
        self.with_consent(tool);
    }

    fn terminal_of(&self, tool: &ToolCall, name: Option<&str>) -> Option<&Kept> {
        let who = who(self.agents.get(&tool.agent)?);
        self.terminals.kept.get(self.terminals.position(&who, name)?)
    }

    fn no_terminal(&mut self, tool: &ToolCall, name: Option<&str>) {
        let message = match name {
            Some(name) => format!("no terminal `{name}` was made for this client; create one first"),
            None => "no terminal was made for this client yet; run a command first".to_owned(),
        };
        self.fail(tool.agent, tool.call, FailureKind::NotFound, message);
    }

    /// She allowed it.
    pub(super) fn run_command(&mut self, tool: ToolCall) {
        let Request::RunInTerminal { command, cwd, wait_ms, terminal } = &tool.request else { return };
        let (command, cwd, terminal) = (command.clone(), cwd.clone(), terminal.clone());
        let timeout_ms = wait_ms.unwrap_or(COMMAND_WAIT_MS).min(LONGEST_WAIT_MS);
        let Some(agent) = self.agents.get(&tool.agent) else { return };
        let (who, window) = (who(agent), agent.window);
        let by_editor = self.windows.get(&window).is_some_and(|window| window.capabilities.terminal);
        let place = match &terminal {
            Some(name) => match self.terminals.used(&who, Some(name)) {
                Some(Kept { place: Place::Editor, .. }) => None,
                Some(Kept { place: Place::Own { id, opening, running }, name, .. }) => {
                    *running = true;
                    Some((*id, opening.clone(), name.clone()))
                }
                None => return self.no_terminal(&tool, terminal.as_deref()),
            },
            None if by_editor => None,
            None => {
                let Some((id, opening, name)) = self.own_terminal(who, None, cwd.clone(), true) else {
                    return;
                };
                Some((id, opening, name))
            }
        };
        match place {
            None => {
                let cwd = cwd.map(|cwd| cwd.display().to_string());
                let run = api::TerminalRun { command, cwd, terminal, timeout_ms };
                self.ask_for_in(tool, &run, timeout_ms + SLACK_MS);
            }
            Some((terminal, opening, name)) => {
                let timeout = Duration::from_millis(timeout_ms.into());
                let run = Tool::Run { terminal, opening, command, cwd, timeout };
                let within_ms = u64::from(timeout_ms + SLACK_MS);
                self.run_tool(tool.agent, tool.call, run, Some((terminal, name)), within_ms);
            }
        }
    }

    /// A new one of the hub's own.
    fn own_terminal(
        &mut self,
        who: Who,
        name: Option<String>,
        cwd: Option<PathBuf>,
        running: bool,
    ) -> Option<(TerminalId, Opening, String)> {
        let window = self.windows.get(&who.window)?;
        let first = || window.identity.folders.first().cloned().unwrap_or_else(|| PathBuf::from("/"));
        let cwd = cwd.unwrap_or_else(first);
        let environment = self.terminal_environment(who.window);
        self.terminals.minted += 1;
        let id = TerminalId(self.terminals.minted);
        let known_as = format!("hub-{}", id.0);
        let opening = Opening { name: name.unwrap_or_else(|| known_as.clone()), cwd, environment };
        let place = Place::Own { id, opening: opening.clone(), running };
        if let Some(closed) = self.terminals.keep(Kept { name: known_as.clone(), who, place }) {
            self.act(Action::CloseTerminal { terminal: closed });
        }
        Some((id, opening, known_as))
    }

    pub(super) fn create_terminal(&mut self, tool: ToolCall) {
        let Request::CreateTerminal { name, cwd } = &tool.request else { return };
        let name = name.as_ref().map(|name| shortened(api::visible::name(name), LONGEST_NAME));
        let Some(agent) = self.agents.get(&tool.agent) else { return };
        let Some(window) = self.windows.get(&agent.window) else { return };
        let here = |kept: &&Kept| kept.who.window == agent.window;
        if window.capabilities.terminal && self.terminals.kept.iter().filter(here).count() >= KEPT {
            let message = format!("{KEPT} terminals were made for agents here; use one of them");
            return self.fail(tool.agent, tool.call, FailureKind::Denied, message);
        }
        if window.capabilities.terminal {
            let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
            let create = api::TerminalCreate { name, cwd, environment: BTreeMap::new(), focus: false };
            return self.ask_for(tool, &create);
        }
        let (who, cwd) = (who(agent), cwd.clone());
        let Some((_, opening, terminal)) = self.own_terminal(who, name, cwd, false) else { return };
        let made = Answer::TerminalMade { terminal, name: opening.name };
        self.answer(tool.agent, tool.call, &made);
    }

    pub(super) fn terminal_output(&mut self, tool: ToolCall) {
        let Request::TerminalOutput { terminal } = &tool.request else { return };
        let wanted = terminal.clone();
        let found = self.terminal_of(&tool, wanted.as_deref()).map(|kept| (kept.name.clone(), kept.own()));
        let ToolCall { agent, call, .. } = tool;
        match found {
            None => self.no_terminal(&tool, wanted.as_deref()),
            Some((name, Some(id))) => {
                let within_ms = u64::from(SLACK_MS);
                self.run_tool(agent, call, Tool::Show { terminal: id }, Some((id, name)), within_ms);
            }
            Some((terminal, None)) => {
                let request = Request::TerminalOutput { terminal: Some(terminal.clone()) };
                self.ask_for(ToolCall { agent, call, request }, &api::TerminalOutput { terminal });
            }
        }
    }

    /// The editor has one for this agent.
    pub(super) fn terminal_in_editor(&mut self, tool: &ToolCall, name: &str) {
        let Some(who) = self.agents.get(&tool.agent).map(who) else { return };
        // Editors use one terminal for several agents: it is that of the last, and what it shows is hers alone.
        let others = |kept: &Kept| {
            kept.who.window == who.window && kept.who != who && kept.name == name && kept.own().is_none()
        };
        self.terminals.kept.retain(|kept| !others(kept));
        if self.terminals.used(&who, Some(name)).is_none() {
            let kept = Kept { name: name.to_owned(), who, place: Place::Editor };
            if let Some(closed) = self.terminals.keep(kept) {
                self.act(Action::CloseTerminal { terminal: closed });
            }
        }
    }

    pub(super) fn command_ran(&mut self, running: &Running, ran: Ran) -> Answer {
        let Ran { output, exit_code, signal, timed_out, truncated } = ran;
        if !timed_out {
            self.terminal_idle(running);
        }
        let terminal = running.terminal.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
        let exit_code = exit_code.or_else(|| as_shells_say(signal));
        Answer::Printed(Printed { terminal, output, running: timed_out, exit_code, truncated })
    }

    pub(super) fn terminal_shows(&mut self, running: &Running, shows: Output) -> Answer {
        let Output { text: output, truncated, running: goes_on, exit_code, signal } = shows;
        if !goes_on {
            self.terminal_idle(running);
        }
        let terminal = running.terminal.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
        let exit_code = exit_code.or_else(|| as_shells_say(signal));
        Answer::Printed(Printed { terminal, output, running: goes_on, exit_code, truncated })
    }

    /// What ran there is over.
    pub(super) fn terminal_idle(&mut self, over: &Running) {
        let Some((terminal, _)) = &over.terminal else { return };
        for kept in &mut self.terminals.kept {
            if let Place::Own { id, running, .. } = &mut kept.place
                && id == terminal
            {
                *running = false;
            }
        }
    }

    /// An editor that went away takes its terminals along; the next one may call others by the same names.
    pub(super) fn forget_editors_terminals(&mut self, window: WindowId) {
        self.terminals.kept.retain(|kept| kept.who.window != window || kept.own().is_some());
    }

    /// With the window, what was made for its agents goes.
    pub(super) fn close_terminals(&mut self, window: WindowId) {
        let gone = self.terminals.kept.extract_if(.., |kept| kept.who.window == window);
        let own: Vec<TerminalId> = gone.filter_map(|kept| kept.own()).collect();
        for terminal in own {
            self.act(Action::CloseTerminal { terminal });
        }
    }
}

fn as_shells_say(signal: Option<i32>) -> Option<i32> {
    signal.map(|signal| 128 + signal)
}
