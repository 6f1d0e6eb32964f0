//! What the host reports, and what it answered: agents that come and go, the editor, and the lines of each agent.

use std::path::PathBuf;
use std::time::Duration;

use super::view::View;
use super::{ChatScreen, Reply, Request, ScreenEffect};
use crate::conversation::TurnEvent;
use crate::host::{AgentId, AgentSummary, HostCommand, HostEvent, Occurred};
use crate::message::Usage;
use crate::permissions::PermissionMode;
use crate::terminal::panel::Panel;
use crate::terminal::text::{Style, line, lines, plain};

impl ChatScreen {
    pub(super) fn event(&mut self, now: Duration, event: HostEvent) -> Vec<ScreenEffect> {
        let Some(agent) = event.agent else {
            match event.what {
                Occurred::EditorConnected { name } => {
                    let name = plain(&name);
                    self.print(lines(Style::Good, &format!("IDE connected: {name}")));
                    (self.editor, self.editor_hint) = (Some(name), true);
                }
                Occurred::EditorLost if self.editor.take().is_some() => {
                    let text = "IDE lost: changes are shown here until it is back";
                    self.print(lines(Style::Bad, text));
                }
                _ => {}
            }
            return Vec::new();
        };
        if event.what == Occurred::Closed {
            return self.closed(agent);
        }
        let mut effects = Vec::new();
        let view = self.views.entry(agent).or_insert_with(|| {
            // An agent that another one started; the host knows more about it.
            effects.push(ScreenEffect::Ask(Request::Status));
            View::new(unknown(agent))
        });
        let asks = matches!(event.what, Occurred::Ask { .. } | Occurred::AskChange(_));
        let ended = matches!(event.what, Occurred::Shown(TurnEvent::Ended { .. }));
        let shown = view.event(now, event.what);
        if agent == self.current {
            self.print(shown);
        } else {
            view.keep(shown);
            if asks {
                let what = view.panels.back().map(Panel::title).unwrap_or_default();
                let name = view.status.name.clone();
                let text = format!("{name} asks: {what} (/agents switch {name})");
                self.print(lines(Style::Question, &text));
            }
        }
        if ended {
            effects.push(ScreenEffect::Ask(Request::Status));
        }
        effects
    }

    fn closed(&mut self, agent: AgentId) -> Vec<ScreenEffect> {
        let Some(gone) = self.views.remove(&agent) else { return Vec::new() };
        self.print(lines(Style::Dim, &format!("agent {} is closed", gone.status.name)));
        if self.views.is_empty() {
            return self.quit();
        }
        if agent == self.current
            && let Some(next) = self.views.keys().next().copied()
        {
            self.switch(next);
        }
        Vec::new()
    }

    pub(super) fn switch(&mut self, agent: AgentId) {
        if agent != self.current
            && let Some(panel) = self.views.get_mut(&self.current).and_then(|view| view.panels.front_mut())
        {
            panel.hide();
        }
        self.current = agent;
        if let Some(view) = self.views.get_mut(&agent) {
            let unseen = view.take_unseen();
            let name = view.status.name.clone();
            self.print(vec![line(Style::Bold, format!("── agent {name} ──"))]);
            self.print(unseen);
        }
    }

    pub(super) fn reply(&mut self, reply: Reply) -> Vec<ScreenEffect> {
        match reply {
            Reply::Status(all) => self.update(all),
            Reply::Started { agent, status, instead_of } => {
                self.update(status);
                self.switch(agent);
                if let Some(before) = instead_of {
                    let close = ScreenEffect::Send(HostCommand::Close { agent: before });
                    return vec![ScreenEffect::Ask(Request::Recent { agent }), close];
                }
            }
            Reply::Lines(shown) => self.print(shown),
            Reply::Failed(why) => self.print(lines(Style::Bad, &why)),
        }
        Vec::new()
    }

    fn update(&mut self, all: Vec<AgentSummary>) {
        for status in all {
            match self.views.get_mut(&status.agent) {
                Some(view) => view.status = status,
                None => drop(self.views.insert(status.agent, View::new(status))),
            }
        }
    }
}

/// Until the host says more.
fn unknown(agent: AgentId) -> AgentSummary {
    AgentSummary {
        agent,
        name: format!("agent-{}", agent.0),
        cwd: PathBuf::new(),
        mode: PermissionMode::default(),
        model: String::new(),
        busy: true,
        waiting: 0,
        messages: 0,
        usage: Usage::default(),
        context_percent: None,
        session: String::new(),
    }
}
