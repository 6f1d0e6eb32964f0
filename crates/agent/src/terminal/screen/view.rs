//! What one agent shows: its streamed answer, its calls and its questions. Events of the host in, lines out.

use std::collections::VecDeque;
use std::time::Duration;

use crate::call_line::call_line;
use crate::conversation::{TurnEnd, TurnEvent};
use crate::host::{AgentSummary, Occurred, ReviewPlace};
use crate::message::{ModelCall, ToolResult, Usage};
use crate::terminal::markdown::Markdown;
use crate::terminal::panel::{Panel, Subject, call_details};
use crate::terminal::text::{Line, Style, fit, line, lines, plain, span};

/// How much output of a running tool is kept.
const MOST_OUTPUT: usize = 64 * 1024;
/// A longer line of the reasoning is broken.
const MOST_THOUGHT: usize = 16 * 1024;
/// How many lines are kept of an agent that is not on the screen.
const MOST_UNSEEN: usize = 500;
/// How many calls can be opened.
const MOST_CALLS: usize = 50;
/// How many lines of a result are shown when it is opened.
const MOST_OPENED: usize = 500;

/// A call that runs or ran.
#[derive(Debug)]
pub(super) struct Call {
    call: ModelCall,
    since: Duration,
    output: String,
    place: Option<ReviewPlace>,
    result: Option<ToolResult>,
}

#[derive(Debug)]
pub(super) struct View {
    pub(super) status: AgentSummary,
    pub(super) panels: VecDeque<Panel>,
    pub(super) turn: Option<Duration>,
    answer: Markdown,
    thought: String,
    calls: VecDeque<Call>,
    /// Printed when the agent comes to the screen.
    unseen: VecDeque<Line>,
    lost: usize,
}

impl View {
    pub(super) fn new(status: AgentSummary) -> View {
        View {
            status,
            panels: VecDeque::new(),
            turn: None,
            answer: Markdown::default(),
            thought: String::new(),
            calls: VecDeque::new(),
            unseen: VecDeque::new(),
            lost: 0,
        }
    }

    /// The lines that an event adds.
    pub(super) fn event(&mut self, now: Duration, what: Occurred) -> Vec<Line> {
        match what {
            Occurred::Shown(shown) => self.shown(now, shown),
            Occurred::Output { call_id, text } => {
                if let Some(call) = self.running(&call_id) {
                    call.output.push_str(&text);
                    keep_end(&mut call.output);
                }
                Vec::new()
            }
            Occurred::Reviewing { call_id, place } => {
                if let Some(call) = self.running(&call_id) {
                    call.place = Some(place);
                }
                Vec::new()
            }
            Occurred::Ask { question, ask } => {
                self.panels.push_back(Panel::of_question(question, ask));
                Vec::new()
            }
            Occurred::AskChange(asked) => {
                self.panels.push_back(Panel::of_change(asked));
                Vec::new()
            }
            Occurred::QuestionClosed { question: closed } => {
                self.close(|subject| matches!(subject, Subject::Call { question, .. } if *question == closed))
            }
            Occurred::ChangeClosed { change: closed } => {
                self.close(|subject| matches!(subject, Subject::Change(change) if change.id == closed))
            }
            Occurred::ContextInjected(text) => lines(Style::Dim, &format!("· {text}")),
            Occurred::Closed | Occurred::EditorConnected { .. } | Occurred::EditorLost => Vec::new(),
        }
    }

    fn shown(&mut self, now: Duration, shown: TurnEvent) -> Vec<Line> {
        match shown {
            TurnEvent::Started => {
                self.turn = Some(now);
                Vec::new()
            }
            TurnEvent::Prompted => Vec::new(),
            TurnEvent::Text(text) => {
                let mut out = self.end_thought();
                out.extend(self.answer.push(&text));
                out
            }
            TurnEvent::Thought(text) => {
                self.thought.push_str(&text);
                if self.thought.len() > MOST_THOUGHT {
                    return self.end_thought();
                }
                let Some((done, rest)) = self.thought.rsplit_once('\n') else { return Vec::new() };
                let (done, rest) = (lines(Style::Dim, done), rest.to_owned());
                self.thought = rest;
                done
            }
            TurnEvent::Call(call) => {
                let out = self.end_text();
                let call = Call { call, since: now, output: String::new(), place: None, result: None };
                self.calls.push_back(call);
                if self.calls.len() > MOST_CALLS {
                    self.calls.pop_front();
                }
                out
            }
            TurnEvent::Result(result) => {
                let mut out = self.end_text();
                let found = self
                    .calls
                    .iter_mut()
                    .rev()
                    .find(|call| call.call.id == result.call_id && call.result.is_none());
                if let Some(call) = found {
                    call.result = Some(result);
                    out.push(call.line(now));
                }
                out
            }
            TurnEvent::Info(text) => {
                let mut out = self.end_text();
                out.extend(lines(Style::Dim, &format!("· {text}")));
                out
            }
            TurnEvent::Error(text) => {
                let mut out = self.end_text();
                out.extend(lines(Style::Bad, &text));
                out
            }
            TurnEvent::Ended { end, usage, .. } => self.ended(now, end, usage),
        }
    }

    fn ended(&mut self, now: Duration, end: TurnEnd, usage: Usage) -> Vec<Line> {
        let mut out = self.end_text();
        let took = self.turn.take().map_or(Duration::ZERO, |since| now.saturating_sub(since));
        let how = match end {
            TurnEnd::Done => "done",
            TurnEnd::Cancelled => "cancelled",
            TurnEnd::Length => "the answer was cut at the model's limit",
            TurnEnd::Refused => "the model refused to answer",
            TurnEnd::Failed => "failed",
            TurnEnd::Rounds => "the limit of rounds is reached; send a message to continue",
        };
        let tokens = usage.input.saturating_add(usage.output);
        out.push(line(Style::Dim, format!("({how}, {}, {} tokens)", elapsed(took), count(tokens))));
        out.push(Line::new());
        out
    }

    /// What streamed is over.
    fn end_text(&mut self) -> Vec<Line> {
        let mut out = self.end_thought();
        out.extend(self.answer.end());
        out
    }

    fn end_thought(&mut self) -> Vec<Line> {
        lines(Style::Dim, &std::mem::take(&mut self.thought))
    }

    fn running(&mut self, call_id: &str) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.result.is_none() && call.call.id == call_id)
    }

    fn close(&mut self, is_closed: impl Fn(&Subject) -> bool) -> Vec<Line> {
        let before = self.panels.len();
        self.panels.retain(|panel| !is_closed(&panel.subject));
        let text = "(the question is closed: it was answered elsewhere, or withdrawn)";
        if self.panels.len() < before { lines(Style::Dim, text) } else { Vec::new() }
    }

    /// What changes while it is on the screen: the line that streams, and the calls that run.
    pub(super) fn live(&self, now: Duration, columns: usize) -> Vec<Line> {
        let mut rows = Vec::new();
        if !self.thought.is_empty() {
            rows.extend(lines(Style::Dim, &self.thought));
        }
        rows.extend(self.answer.partial());
        for call in self.calls.iter().filter(|call| call.result.is_none()) {
            rows.push(call.line(now));
            let last = call.output.lines().rev().find(|line| !line.trim().is_empty());
            if let Some(last) = last {
                rows.push(line(Style::Dim, fit(&format!("  {}", plain(last)), columns)));
            }
        }
        rows
    }

    /// The last call, or one before it, with its arguments and its result.
    pub(super) fn opened(&self, before: usize) -> Vec<Line> {
        let Some(call) = self.calls.iter().rev().nth(before) else {
            return lines(Style::Dim, "there is no earlier tool call");
        };
        let mut out = call_details(&call.call).0;
        let (style, text) = match &call.result {
            Some(result) if result.is_error => (Style::Bad, result.text.as_str()),
            Some(result) => (Style::Plain, result.text.as_str()),
            None => (Style::Plain, call.output.as_str()),
        };
        let all = lines(style, text);
        let more = all.len().saturating_sub(MOST_OPENED);
        out.extend(all.into_iter().take(MOST_OPENED));
        if more > 0 {
            out.push(line(Style::Dim, format!("… and {more} more lines")));
        }
        out
    }

    /// Keeps lines for later.
    pub(super) fn keep(&mut self, lines: Vec<Line>) {
        self.unseen.extend(lines);
        while self.unseen.len() > MOST_UNSEEN {
            self.unseen.pop_front();
            self.lost += 1;
        }
    }

    /// What happened while it was not on the screen.
    pub(super) fn take_unseen(&mut self) -> Vec<Line> {
        let lost = std::mem::take(&mut self.lost);
        let cut = (lost > 0).then(|| line(Style::Dim, format!("… {lost} earlier lines")));
        cut.into_iter().chain(self.unseen.drain(..)).collect()
    }
}

impl Call {
    fn line(&self, now: Duration) -> Line {
        let name = call_line(&self.call);
        let Some(result) = &self.result else {
            let place = match self.place {
                Some(ReviewPlace::Editor | ReviewPlace::Both) => ", waits for you in the editor",
                Some(ReviewPlace::Terminal) => ", waits for you",
                None => "",
            };
            let took = elapsed(now.saturating_sub(self.since));
            return vec![
                span(Style::Tool, "● "),
                span(Style::Plain, name),
                span(Style::Dim, format!("  {took}{place}")),
            ];
        };
        let (mark, style, said) = if result.cancelled {
            ("● ", Style::Bad, "cancelled".to_owned())
        } else if result.is_error {
            let first = plain(result.text.lines().next().unwrap_or_default());
            ("● ", Style::Bad, fit(&first, 100))
        } else {
            let said = match result.text.lines().count() {
                0 | 1 => fit(&plain(&result.text), 100),
                count => format!("{count} lines"),
            };
            ("● ", Style::Good, said)
        };
        let said_style = if style == Style::Good { Style::Dim } else { style };
        vec![span(style, mark), span(Style::Plain, name), span(said_style, format!("  {said}"))]
    }
}

fn keep_end(text: &mut String) {
    if text.len() > MOST_OUTPUT * 2 {
        let start = (text.len() - MOST_OUTPUT..text.len()).find(|at| text.is_char_boundary(*at));
        text.drain(..start.unwrap_or(0));
    }
}

/// Such as `3 s` or `2 min 5 s`.
pub(super) fn elapsed(took: Duration) -> String {
    match took.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Such as `950` or `12.3k`.
pub(super) fn count(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => format!("{}.{}k", number / 1000, number % 1000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}
