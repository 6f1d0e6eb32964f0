//! What is on the screen and what keys do, as a state machine: keys, events of the host and answers in; lines to print,
//! rows to show and wishes out. Reads no clock and knows no terminal.

mod events;
mod live;
mod slash;
mod view;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::commands::{Completion, common_prefix, complete, parse};
use super::keys::KeyPress;
use super::line_editor::LineEditor;
use super::panel::{Panel, PanelAct, Subject};
use super::text::{Line, Style, line, lines, plain, span, wrap};
use crate::host::{AgentId, AgentSettings, AgentSummary, ChangeId, HostCommand, HostEvent};
use view::View;

pub(super) use slash::NO_EDITOR;

/// How long a second Ctrl-C ends the program.
const TWICE: Duration = Duration::from_secs(2);
/// How long an editor may take to be found before the user is told that there is none.
const EDITOR_PATIENCE: Duration = Duration::from_millis(1500);
/// How many candidates are listed.
const MOST_CANDIDATES: usize = 40;
/// How many lines are kept for a screen of another size.
const MOST_RECENT: usize = 200;

/// Something happened.
#[derive(Debug)]
pub(super) enum ScreenInput {
    Key(KeyPress),
    Paste(String),
    Resize {
        columns: usize,
        rows: usize,
    },
    Event(HostEvent),
    Reply(Reply),
    /// Time passed.
    Tick,
    /// The user's editor has ended.
    Edited {
        change: ChangeId,
        text: Result<String, String>,
    },
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum ScreenEffect {
    Send(HostCommand),
    Ask(Request),
    /// Let the user edit a text.
    Edit {
        change: ChangeId,
        name: String,
        text: String,
    },
    /// Add to the history file.
    Remember(String),
    ClearScreen,
    Suspend,
    Quit,
}

/// What is asked of the host or the hub; the answer comes as a [`Reply`].
#[derive(Debug, PartialEq)]
pub(super) enum Request {
    Status,
    Start {
        settings: AgentSettings,
        instead_of: Option<AgentId>,
    },
    SetModel {
        agent: AgentId,
        model: String,
    },
    Providers {
        agent: AgentId,
    },
    Tools {
        agent: AgentId,
    },
    SystemPrompt {
        agent: AgentId,
    },
    /// The last messages of a conversation that is continued.
    Recent {
        agent: AgentId,
    },
    Clear {
        agent: AgentId,
    },
    Save {
        agent: AgentId,
        name: Option<String>,
    },
    Sessions,
    ConnectEditor {
        which: Option<String>,
    },
    EditorStatus,
    Diff {
        cwd: PathBuf,
    },
    Undo {
        cwd: PathBuf,
    },
    History {
        cwd: PathBuf,
    },
}

/// The answer to a [`Request`].
#[derive(Debug)]
pub(super) enum Reply {
    Status(Vec<AgentSummary>),
    /// An agent was started; it comes to the screen, in the place of the other one if there is one.
    Started {
        agent: AgentId,
        status: Vec<AgentSummary>,
        instead_of: Option<AgentId>,
    },
    /// To be shown.
    Lines(Vec<Line>),
    /// What went wrong.
    Failed(String),
}

/// The rows at the bottom.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) rows: Vec<Line>,
    /// Row and column, from 0.
    pub(super) cursor: Option<(usize, usize)>,
}

/// Lists the paths in a folder that begin with a text.
pub(super) type ListPaths = Box<dyn Fn(&Path, &str) -> Vec<String> + Send>;

pub(super) struct ChatScreen {
    columns: usize,
    rows: usize,
    views: BTreeMap<AgentId, View>,
    current: AgentId,
    input: LineEditor,
    candidates: Vec<String>,
    editor: Option<String>,
    editor_hint: bool,
    interrupted: Option<Duration>,
    /// How many calls were opened one after the other.
    opened: usize,
    printed: Vec<Line>,
    /// The last lines, to be shown again on a screen of another size.
    recent: VecDeque<Line>,
    redraw: bool,
    list_paths: ListPaths,
}

impl ChatScreen {
    /// With its first agent.
    pub(super) fn new(first: AgentSummary, history: Vec<String>, list_paths: ListPaths) -> ChatScreen {
        let current = first.agent;
        let mut screen = ChatScreen {
            columns: 80,
            rows: 24,
            views: BTreeMap::new(),
            current,
            input: LineEditor::with_history(history),
            candidates: Vec::new(),
            editor: None,
            editor_hint: false,
            interrupted: None,
            opened: 0,
            printed: Vec::new(),
            recent: VecDeque::new(),
            redraw: false,
            list_paths,
        };
        let title =
            format!("linkspan-agent {} · {} · ", env!("CARGO_PKG_VERSION"), live::short_model(&first.model));
        screen.print(vec![vec![span(Style::Bold, title), span(Style::Dim, "/help lists the commands")]]);
        screen.views.insert(current, View::new(first));
        screen
    }

    /// The size to begin with.
    pub(super) fn set_size(&mut self, columns: usize, rows: usize) {
        (self.columns, self.rows) = (columns, rows);
    }

    /// The lines that were added since the last call, broken into rows.
    pub(super) fn take_printed(&mut self) -> Vec<Line> {
        let columns = self.columns.max(4);
        let new = std::mem::take(&mut self.printed);
        let rows = new.iter().flat_map(|line| wrap(line, columns)).collect();
        self.recent.extend(new);
        self.recent.drain(..self.recent.len().saturating_sub(MOST_RECENT));
        rows
    }

    /// The rows that fit on a screen whose size changed; `None` if it did not.
    pub(super) fn take_redraw(&mut self, now: Duration) -> Option<Vec<Line>> {
        if !std::mem::take(&mut self.redraw) {
            return None;
        }
        self.take_printed();
        let columns = self.columns.max(4);
        let mut rows: Vec<_> = self.recent.iter().flat_map(|line| wrap(line, columns)).collect();
        let room = self.rows.saturating_sub(self.live(now).rows.len() + 1);
        rows.drain(..rows.len().saturating_sub(room));
        Some(rows)
    }

    /// Something changes with the time alone.
    pub(super) fn is_busy(&self) -> bool {
        !self.editor_hint || self.view().is_some_and(|view| view.turn.is_some())
    }

    pub(super) fn handle(&mut self, now: Duration, input: ScreenInput) -> Vec<ScreenEffect> {
        let effects = match input {
            ScreenInput::Key(key) => self.key(now, key),
            ScreenInput::Paste(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                // What is pasted never answers a question.
                if self.panel().is_none() {
                    self.input.insert(&text);
                }
                Vec::new()
            }
            ScreenInput::Resize { columns, rows } => {
                // A terminal breaks the rows at the bottom in its own way, so where they are is not known any longer.
                self.redraw |= (self.columns, self.rows) != (columns, rows);
                self.set_size(columns, rows);
                Vec::new()
            }
            ScreenInput::Event(event) => self.event(now, event),
            ScreenInput::Reply(reply) => self.reply(reply),
            ScreenInput::Tick => {
                if !self.editor_hint && now >= EDITOR_PATIENCE {
                    self.editor_hint = true;
                    self.print(lines(Style::Dim, NO_EDITOR));
                }
                Vec::new()
            }
            ScreenInput::Edited { change, text } => {
                self.edited(now, change, text);
                Vec::new()
            }
        };
        self.show_panel(now);
        effects
    }

    fn view(&self) -> Option<&View> {
        self.views.get(&self.current)
    }

    fn panel(&self) -> Option<&Panel> {
        self.view()?.panels.front()
    }

    fn print(&mut self, lines: Vec<Line>) {
        self.printed.extend(lines);
    }

    fn key(&mut self, now: Duration, key: KeyPress) -> Vec<ScreenEffect> {
        self.candidates.clear();
        let before = std::mem::take(&mut self.opened);
        let panel = self.views.get_mut(&self.current).and_then(|view| view.panels.front_mut());
        if let Some(panel) = panel {
            match panel.handle(now, &key) {
                PanelAct::Ignored => {}
                act => return self.panel_act(act),
            }
        }
        match key {
            KeyPress::Ctrl('c') => self.interrupt(now),
            KeyPress::Esc if self.view().is_some_and(|view| view.turn.is_some()) => {
                vec![ScreenEffect::Send(HostCommand::Cancel { agent: self.current })]
            }
            KeyPress::Ctrl('l') => vec![ScreenEffect::ClearScreen],
            KeyPress::Ctrl('z') => vec![ScreenEffect::Suspend],
            KeyPress::Ctrl('o') => {
                let opened = self.view().map(|view| view.opened(before)).unwrap_or_default();
                self.opened = before + 1;
                self.print(opened);
                Vec::new()
            }
            // A question is open: it is answered, or cancelled, before anything else is written.
            _ if self.panel().is_some() => Vec::new(),
            KeyPress::Ctrl('d') if self.input.is_empty() => self.quit(),
            KeyPress::Ctrl('d') => {
                self.input.delete();
                Vec::new()
            }
            KeyPress::Tab => {
                self.complete();
                Vec::new()
            }
            KeyPress::Enter => self.enter(),
            key => {
                key.edit(&mut self.input);
                Vec::new()
            }
        }
    }

    fn interrupt(&mut self, now: Duration) -> Vec<ScreenEffect> {
        if self.view().is_some_and(|view| view.turn.is_some()) {
            return vec![ScreenEffect::Send(HostCommand::Cancel { agent: self.current })];
        }
        if !self.input.is_empty() {
            self.input.clear();
            return Vec::new();
        }
        if self.interrupted.is_some_and(|before| now < before + TWICE) {
            return self.quit();
        }
        self.interrupted = Some(now);
        self.print(lines(Style::Dim, "(Ctrl-C once more ends the agent; so does Ctrl-D)"));
        Vec::new()
    }

    fn quit(&mut self) -> Vec<ScreenEffect> {
        vec![ScreenEffect::Quit]
    }

    fn enter(&mut self) -> Vec<ScreenEffect> {
        // A backslash at the end of a line continues it.
        if self.input.before_cursor().ends_with('\\') {
            self.input.backspace();
            self.input.insert("\n");
            return Vec::new();
        }
        if self.input.text().trim().is_empty() {
            self.input.clear();
            return Vec::new();
        }
        let (text, is_new) = self.input.submit();
        let mut effects = Vec::new();
        if is_new {
            effects.push(ScreenEffect::Remember(text.clone()));
        }
        self.echo(&text);
        effects.extend(match parse(&text) {
            Some(parsed) => self.slash(&parsed),
            None => self.prompt(text),
        });
        effects
    }

    fn echo(&mut self, text: &str) {
        let echo: Vec<_> = plain(text)
            .split('\n')
            .enumerate()
            .map(|(at, text)| line(Style::User, format!("{}{text}", if at == 0 { "› " } else { "  " })))
            .collect();
        self.print(echo);
    }

    /// A command that was written while a question is open.
    fn command(&mut self, text: &str) -> Vec<ScreenEffect> {
        self.echo(text);
        match parse(text) {
            Some(parsed) => self.slash(&parsed),
            None => self.wrong("this is not a command; answer the question first"),
        }
    }

    fn prompt(&mut self, text: String) -> Vec<ScreenEffect> {
        if self.view().is_some_and(|view| view.turn.is_some()) {
            self.print(lines(Style::Dim, "(sent with the next request of this turn)"));
        }
        vec![ScreenEffect::Send(HostCommand::Prompt { agent: self.current, text })]
    }

    fn complete(&mut self) {
        let cwd = self.view().map(|view| view.status.cwd.clone()).unwrap_or_default();
        let paths = |prefix: &str| (self.list_paths)(&cwd, prefix);
        let agents: Vec<_> = self.views.values().map(|view| view.status.name.as_str()).collect();
        let Completion { start, candidates } = complete(self.input.before_cursor(), &agents, &paths);
        match candidates.as_slice() {
            [] => {}
            [only] => {
                let end = if only.ends_with('/') { "" } else { " " };
                self.input.complete(start, &format!("{only}{end}"));
            }
            several => {
                self.input.complete(start, common_prefix(several));
                self.candidates = several.iter().take(MOST_CANDIDATES).map(|text| plain(text)).collect();
            }
        }
    }

    fn panel_act(&mut self, act: PanelAct) -> Vec<ScreenEffect> {
        let agent = self.current;
        match act {
            PanelAct::Nothing | PanelAct::Ignored => return Vec::new(),
            PanelAct::Edit { change, name, text } => return vec![ScreenEffect::Edit { change, name, text }],
            PanelAct::Command(text) => return self.command(&text),
            PanelAct::Answer(..) | PanelAct::Decide(..) => {}
        }
        if let Some(view) = self.views.get_mut(&agent) {
            // The host closes the question, too; what is no longer there is not closed twice.
            view.panels.pop_front();
        }
        let command = match act {
            PanelAct::Answer(question, answer) => HostCommand::Answer { agent, question, answer },
            PanelAct::Decide(change, answer) => HostCommand::AnswerChange { change, answer },
            PanelAct::Nothing | PanelAct::Ignored | PanelAct::Edit { .. } | PanelAct::Command(_) => {
                return Vec::new();
            }
        };
        vec![ScreenEffect::Send(command)]
    }

    /// The first question of the agent on the screen is shown in full, once.
    fn show_panel(&mut self, now: Duration) {
        let panel = self.views.get_mut(&self.current).and_then(|view| view.panels.front_mut());
        if let Some(panel) = panel {
            let shown = panel.show(now);
            self.print(shown);
        }
    }

    fn edited(&mut self, now: Duration, change: ChangeId, text: Result<String, String>) {
        let is_it =
            |panel: &&mut Panel| matches!(&panel.subject, Subject::Change(asked) if asked.id == change);
        let mut panels = self.views.values_mut().flat_map(|view| view.panels.iter_mut());
        let shown = match (text, panels.find(is_it)) {
            (Ok(text), Some(panel)) => panel.edited(now, text),
            (Ok(_), None) => lines(Style::Bad, "the change is no longer pending: your edit was not used"),
            (Err(why), _) => lines(Style::Bad, &why),
        };
        self.print(shown);
    }
}
