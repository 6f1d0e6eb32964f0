//! What agents ask the person to allow: a word in the head line, and on her wish a question over the diff. Her answer
//! counts like a decision: only when she has seen the question for a moment.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use linkspan_editor_api::{AskOption, AskSummary, AsksAnswer};

use super::{Command, Overlay, Screen, Tone};
use crate::asked::Asked;
use crate::visible;

/// The key of each answer, and what it says.
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
            self.say(Tone::Quiet, format!("the question of {agent} needs no answer any more"));
        } else if let Some(question) = new {
            self.say(Tone::Warning, format!("{question} ! shows it"));
        }
    }

    pub(super) fn show_question(&mut self, place: usize) {
        match self.asks.get(place).or(self.asks.first()).cloned() {
            Some(asked) => self.show(Overlay::Ask { asked: Box::new(asked), top: 0 }),
            None => self.say(Tone::Quiet, "no agent asks for anything"),
        }
    }

    pub(super) fn ask_key(&mut self, key: &KeyEvent, cancel: bool) {
        let Overlay::Ask { asked, top } = &mut self.overlay else { return };
        if cancel {
            self.overlay = Overlay::None;
            return self.say(Tone::Quiet, "nothing is answered; ! shows it again");
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return;
        }
        // What was drawn; the screen may be of another size since.
        let last = || Asked::of(asked, self.area).last_top();
        match key.code {
            KeyCode::Down | KeyCode::Char('j') => *top = top.saturating_add(1).min(last()),
            KeyCode::Up | KeyCode::Char('k') => *top = (*top).min(last()).saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => *top = top.saturating_add(10).min(last()),
            KeyCode::PageUp => *top = (*top).min(last()).saturating_sub(10),
            KeyCode::Tab => {
                let place = self.asks.iter().position(|known| known.ask == asked.ask);
                self.show_question(place.map_or(0, |place| place + 1));
            }
            KeyCode::Char(character) => {
                let found = ANSWERS.iter().find(|(_, key, ..)| *key == character);
                let option = found.map(|(option, ..)| *option);
                let Some(option) = option.filter(|option| asked.options.contains(option)) else { return };
                let answer = AsksAnswer { ask: asked.ask.clone(), option };
                let fits = Asked::of(asked, self.area).room.is_some();
                if fits && self.was_seen() {
                    self.overlay = Overlay::None;
                    self.asks.retain(|known| known.ask != answer.ask);
                    self.answering += 1;
                    self.commands.push(Command::Answer(answer));
                }
            }
            _ => {}
        }
    }

    pub(super) fn ask_answered(&mut self, answer: &AsksAnswer, result: Result<bool, String>) {
        self.answering = self.answering.saturating_sub(1);
        let word = ANSWERS.iter().find(|(option, ..)| *option == answer.option).map_or("", |row| row.3);
        match result {
            Ok(true) => self.say(Tone::Good, word),
            Ok(false) => self.say(Tone::Warning, "that question was over already"),
            Err(message) => self.say(Tone::Warning, format!("the question is not answered: {message}")),
        }
        // What did not count may still wait.
        self.commands.push(Command::List);
    }
}
