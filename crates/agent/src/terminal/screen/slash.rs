//! What the slash commands do: lines for the screen, and wishes to the host.

use std::path::PathBuf;

use super::{ChatScreen, Request, ScreenEffect};
use crate::host::{AgentSettings, HostCommand};
use crate::permissions::PermissionMode;
use crate::terminal::commands::{KEYS, Parsed, SLASH_COMMANDS, SlashKind, mode_name, mode_of};
use crate::terminal::text::{Line, Style, line, lines, span};

impl ChatScreen {
    /// Carries out an input that begins with a slash.
    pub(super) fn slash(&mut self, parsed: &Parsed<'_>) -> Vec<ScreenEffect> {
        let (kind, arguments) = match parsed {
            Parsed::Command(kind, arguments) => (*kind, *arguments),
            Parsed::Unknown { name, nearest } => {
                let hint = match nearest {
                    Some(nearest) => format!("do you mean {nearest}?"),
                    None => "/help lists the commands".to_owned(),
                };
                self.print(lines(Style::Bad, &format!("there is no command {name}: {hint}")));
                return Vec::new();
            }
        };
        let agent = self.current;
        match kind {
            SlashKind::Help => {
                self.print(help());
                Vec::new()
            }
            SlashKind::Ide => self.ide(arguments),
            SlashKind::Mode => self.mode(arguments),
            SlashKind::Model | SlashKind::Provider if arguments.is_empty() => {
                vec![ScreenEffect::Ask(Request::Providers { agent })]
            }
            SlashKind::Model | SlashKind::Provider => {
                vec![ScreenEffect::Ask(Request::SetModel { agent, model: arguments.to_owned() })]
            }
            SlashKind::Tools => vec![ScreenEffect::Ask(Request::Tools { agent })],
            SlashKind::Agents => self.agents(arguments),
            SlashKind::Status => {
                self.print_status();
                let all = arguments == "-a";
                if all { vec![ScreenEffect::Ask(Request::SystemPrompt { agent })] } else { Vec::new() }
            }
            SlashKind::Context => vec![ScreenEffect::Ask(Request::SystemPrompt { agent })],
            SlashKind::Compact => vec![ScreenEffect::Send(HostCommand::Compact { agent })],
            SlashKind::Clear => vec![ScreenEffect::Ask(Request::Clear { agent })],
            SlashKind::Save => {
                let name = Some(arguments.to_owned()).filter(|name| !name.is_empty());
                vec![ScreenEffect::Ask(Request::Save { agent, name })]
            }
            SlashKind::Sessions => vec![ScreenEffect::Ask(Request::Sessions)],
            SlashKind::Load if arguments.is_empty() => self.wrong("name the session: /sessions lists them"),
            SlashKind::Load => {
                if self.view().is_some_and(|view| view.turn.is_some()) {
                    return self.wrong("a turn is running: cancel it first");
                }
                let settings =
                    AgentSettings { resume: Some(arguments.to_owned()), ..AgentSettings::default() };
                vec![ScreenEffect::Ask(Request::Start { settings, instead_of: Some(agent) })]
            }
            SlashKind::Usage => {
                if let Some(view) = self.view() {
                    let usage = view.status.usage;
                    let full =
                        view.status.context_percent.map(|full| format!("; the context is {full} % full"));
                    let text = format!(
                        "{} tokens in, {} out{}",
                        usage.input,
                        usage.output,
                        full.unwrap_or_default()
                    );
                    self.print(lines(Style::Plain, &text));
                }
                Vec::new()
            }
            SlashKind::Cancel => vec![ScreenEffect::Send(HostCommand::Cancel { agent })],
            SlashKind::Diff => {
                let cwd = self.view().map(|view| view.status.cwd.clone());
                cwd.map(|cwd| ScreenEffect::Ask(Request::Diff { cwd })).into_iter().collect()
            }
            SlashKind::Task(task) if arguments.is_empty() => {
                self.wrong(&format!("say what to {}: /{} @FILE", task.name(), task.name()))
            }
            SlashKind::Task(task) => self.prompt(task.prompt(arguments)),
            SlashKind::Quit => self.quit(),
        }
    }

    pub(super) fn wrong(&mut self, why: &str) -> Vec<ScreenEffect> {
        self.print(lines(Style::Bad, why));
        Vec::new()
    }

    fn ide(&mut self, arguments: &str) -> Vec<ScreenEffect> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match word {
            "" => {
                let usage = SLASH_COMMANDS.iter().find(|command| command.name == "/ide");
                if let Some(usage) = usage {
                    self.print(lines(Style::Dim, &format!("use {} {}", usage.name, usage.arguments)));
                }
                vec![ScreenEffect::Ask(Request::EditorStatus)]
            }
            "status" => vec![ScreenEffect::Ask(Request::EditorStatus)],
            "connect" => {
                let which = Some(rest.trim().to_owned()).filter(|which| !which.is_empty());
                vec![ScreenEffect::Ask(Request::ConnectEditor { which })]
            }
            "disconnect" => {
                self.print(lines(Style::Plain, "IDE disconnected; /ide connect connects again"));
                self.editor = None;
                vec![ScreenEffect::Send(HostCommand::DisconnectEditor)]
            }
            "undo" | "history" => {
                let cwd = self.view().map(|view| view.status.cwd.clone()).unwrap_or_default();
                vec![ScreenEffect::Ask(if word == "undo" {
                    Request::Undo { cwd }
                } else {
                    Request::History { cwd }
                })]
            }
            other => self.wrong(&format!(
                "there is no /ide {other}: it can be connect, disconnect, status, undo or history"
            )),
        }
    }

    fn mode(&mut self, arguments: &str) -> Vec<ScreenEffect> {
        if arguments.is_empty() {
            let mode = self.view().map(|view| mode_name(view.status.mode)).unwrap_or_default();
            self.print(lines(Style::Plain, &format!("the mode is {mode}")));
            return Vec::new();
        }
        let Some(mode) = mode_of(arguments) else {
            return self
                .wrong(&format!("there is no mode {arguments}: it can be yolo, trusted or sandboxed"));
        };
        let what = match mode {
            PermissionMode::Yolo => "nothing is asked",
            PermissionMode::Trusted => "changes are reviewed, commands are asked about",
            PermissionMode::Sandboxed => {
                "no write outside the folder, commands without network; git writes, the network and MCP tools are asked about"
            }
        };
        self.print(lines(Style::Plain, &format!("the mode is {arguments} now: {what}")));
        let agent = self.current;
        vec![ScreenEffect::Send(HostCommand::SetMode { agent, mode }), ScreenEffect::Ask(Request::Status)]
    }

    fn agents(&mut self, arguments: &str) -> Vec<ScreenEffect> {
        let mut words = arguments.split_whitespace();
        match (words.next(), words.next()) {
            (None, _) => {
                let shown: Vec<_> = self.views.values().map(|view| self.agent_line(view)).collect();
                self.print(shown);
                Vec::new()
            }
            (Some("new"), Some(name)) => {
                // The user chose the model of this agent.
                let model = self.view().map(|view| view.status.model.clone());
                let mut settings =
                    AgentSettings { name: Some(name.to_owned()), model, ..AgentSettings::default() };
                while let Some(option) = words.next() {
                    match (option, words.next()) {
                        ("--mode", Some(mode)) if mode_of(mode).is_some() => settings.mode = mode_of(mode),
                        ("--cwd", Some(cwd)) => {
                            let here = self.view().map(|view| view.status.cwd.clone()).unwrap_or_default();
                            settings.cwd = Some(here.join(PathBuf::from(cwd)));
                        }
                        ("--model", Some(model)) => settings.model = Some(model.to_owned()),
                        _ => {
                            return self
                                .wrong("use /agents new NAME [--mode MODE] [--cwd FOLDER] [--model MODEL]");
                        }
                    }
                }
                vec![ScreenEffect::Ask(Request::Start { settings, instead_of: None })]
            }
            (Some(word @ ("switch" | "close")), Some(name)) => {
                let found = self.views.values().find(|view| view.status.name == name);
                let Some(agent) = found.map(|view| view.status.agent) else {
                    return self.wrong(&format!("there is no agent {name}: /agents lists them"));
                };
                if word == "switch" {
                    self.switch(agent);
                    return Vec::new();
                }
                if self.views.len() == 1 {
                    return self.wrong("this is the last agent: /quit ends it");
                }
                vec![ScreenEffect::Send(HostCommand::Close { agent })]
            }
            _ => self.wrong("use /agents, /agents new NAME, /agents switch NAME, or /agents close NAME"),
        }
    }

    fn agent_line(&self, view: &super::view::View) -> Line {
        let status = &view.status;
        let mark = if status.agent == self.current { "* " } else { "  " };
        let mut text = format!("  {}, {}, {}", mode_name(status.mode), status.model, status.cwd.display());
        if view.turn.is_some() {
            text += ", working";
        }
        if !view.panels.is_empty() {
            text += &format!(", {} waiting", view.panels.len());
        }
        vec![span(Style::Bold, format!("{mark}{}", status.name)), span(Style::Dim, text)]
    }

    fn print_status(&mut self) {
        let Some(view) = self.view() else { return };
        let status = view.status.clone();
        let editor = self.editor.clone().unwrap_or_else(|| "none; /ide connect looks for one".to_owned());
        let rows = [
            ("agent", status.name),
            ("folder", status.cwd.display().to_string()),
            ("model", status.model),
            ("mode", mode_name(status.mode).to_owned()),
            ("editor", editor),
            ("session", format!("{}, {} messages", status.session, status.messages)),
            ("tokens", format!("{} in, {} out", status.usage.input, status.usage.output)),
        ];
        let rows = rows.into_iter().map(|(name, value)| {
            vec![span(Style::Dim, format!("{name:8}")), span(Style::Plain, super::super::text::plain(&value))]
        });
        let rows: Vec<_> = rows.collect();
        self.print(rows);
    }
}

/// What is shown where no editor is connected.
pub(in crate::terminal) const NO_EDITOR: &str = "No editor connected: open this folder in an editor with Linkspan, or /ide connect. Changes are shown here.";

fn help() -> Vec<Line> {
    let mut shown = Vec::new();
    for command in &SLASH_COMMANDS {
        let usage = format!("{} {}", command.name, command.arguments);
        shown.push(vec![
            span(Style::Bold, usage.trim().to_owned()),
            span(Style::Dim, format!("  {}", command.help)),
        ]);
    }
    shown.push(Line::new());
    shown.extend(KEYS.iter().map(|(key, what)| {
        vec![span(Style::Bold, format!("{key:9}")), span(Style::Dim, format!(" {what}"))]
    }));
    shown.push(line(Style::Dim, "@FILE or @FILE:10-20 in a prompt adds that file to it."));
    shown
}
