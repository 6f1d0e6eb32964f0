//! Permission requests of agents: a note in the top line, and a prompt over the diff when the user opens it. An answer
//! counts like a decision: only after the prompt was visible for a moment.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use linkspan_editor_api::{AskOption, AskSummary, AsksAnswer};

use super::{Command, Overlay, Screen, Tone};
use crate::prompt_layout::PromptLayout;
use crate::visible;

/// Each answer with its key, its label and its result.
pub(crate) const ANSWERS: [(AskOption, char, &str, &str); 4] = [
    (AskOption::AllowOnce, 'o', "once", "allowed once"),
    (AskOption::AllowSession, 's', "this session", "allowed for this session"),
    (AskOption::AllowAlways, 'A', "always", "allowed from now on"),
    (AskOption::Deny, 'd', "deny", "denied"),
];

impl Screen {
    pub(super) fn asked(&mut self, asks: Vec<AskSummary>) {
        let known = |asked: &AskSummary| self.asks.iter().any(|known| known.ask == asked.ask);
        let new = asks.iter().rfind(|asked| !known(asked)).map(|asked| visible::name(&asked.question));
        self.asks = asks;
        if let Overlay::Ask { asked, .. } = &self.overlay
            && !self.asks.iter().any(|known| known.ask == asked.ask)
        {
            let agent = visible::name(&asked.agent);
            self.overlay = Overlay::None;
            self.show_message(Tone::Quiet, format!("the request from {agent} is no longer pending"));
        } else if let Some(question) = new {
            self.show_message(Tone::Warning, format!("{question} Press ! to answer"));
        }
    }

    pub(super) fn show_prompt(&mut self, place: usize) {
        match self.asks.get(place).or(self.asks.first()).cloned() {
            Some(asked) => self.show(Overlay::Ask { asked: Box::new(asked), top: 0 }),
            None => self.show_message(Tone::Quiet, "no permission requests"),
        }
    }

    pub(super) fn prompt_key(&mut self, key: &KeyEvent, cancel: bool) {
        let Overlay::Ask { asked, top } = &mut self.overlay else { return };
        if cancel {
            self.overlay = Overlay::None;
            return self.show_message(Tone::Quiet, "not answered; press ! to show the request again");
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return;
        }
        // Computed from the current size: the screen may have been resized since the last draw.
        let last = || PromptLayout::of(asked, self.area).last_top();
        match key.code {
            KeyCode::Down | KeyCode::Char('j') => *top = top.saturating_add(1).min(last()),
            KeyCode::Up | KeyCode::Char('k') => *top = (*top).min(last()).saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => *top = top.saturating_add(10).min(last()),
            KeyCode::PageUp => *top = (*top).min(last()).saturating_sub(10),
            KeyCode::Tab => {
                let place = self.asks.iter().position(|known| known.ask == asked.ask);
                self.show_prompt(place.map_or(0, |place| place + 1));
            }
            KeyCode::Char(character) => {
                let found = ANSWERS.iter().find(|(_, key, ..)| *key == character);
                let option = found.map(|(option, ..)| *option);
                let Some(option) = option.filter(|option| asked.options.contains(option)) else { return };
                let answer = AsksAnswer { ask: asked.ask.clone(), option };
                let fits = PromptLayout::of(asked, self.area).room.is_some();
                if fits && self.confirm_visible() {
                    self.overlay = Overlay::None;
                    self.asks.retain(|known| known.ask != answer.ask);
                    self.answering += 1;
                    self.commands.push(Command::Answer(answer));
                }
            }
            _ => {}
        }
    }

    pub(super) fn prompt_answered(&mut self, answer: &AsksAnswer, result: Result<bool, String>) {
        self.answering = self.answering.saturating_sub(1);
        let word = ANSWERS.iter().find(|(option, ..)| *option == answer.option).map_or("", |row| row.3);
        match result {
            Ok(true) => self.show_message(Tone::Good, word),
            Ok(false) => self.show_message(Tone::Warning, "the request was already closed"),
            Err(message) => self.show_message(Tone::Warning, format!("not answered: {message}")),
        }
        // A request whose answer did not count may still be pending.
        self.commands.push(Command::List);
    }
}
