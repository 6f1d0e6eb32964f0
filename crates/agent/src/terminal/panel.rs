//! One question to the user: may a call run, may a file be changed. Keys in, an answer out; how it looks is lines. A
//! change is taken as a whole, hunk by hunk, edited, or rejected with a reason. Pure.

use std::sync::Arc;
use std::time::Duration;

use linkspan_client::confirm::{ConfirmQuestion, TerminalAnswer};
use linkspan_client::connection::{AcceptedPart, DecidedHunk};
use linkspan_client::visible;
use linkspan_review::{Hunk, compose, hunks, unified};

use super::code::diff_style;
use super::keys::KeyPress;
use super::line_comments::{CommentAct, CommentStep, LineComments};
use super::line_editor::LineEditor;
use super::text::{Line, Style, line, lines, plain, span};
use crate::call_line::call_line;
use crate::conversation::{Answer, Question, QuestionId};
use crate::host::{ChangeId, ChangeQuestion};
use crate::message::{CallArguments, ModelCall};

/// Keys that are typed sooner were meant for something else.
const SETTLE: Duration = Duration::from_millis(500);
/// The most lines of a change that are shown.
const MOST_LINES: usize = 1000;
const CONTEXT: usize = 3;
/// The most lines of a hunk that are shown when it is asked about.
const HUNK_LINES: usize = 12;

/// What a question is about.
#[derive(Debug)]
pub(super) enum Subject {
    /// If it is cut, not all of the call was shown.
    Call {
        question: QuestionId,
        call: ModelCall,
        note: String,
        repeated: bool,
        is_cut: bool,
    },
    Change(Change),
}

#[derive(Debug)]
pub(super) struct Change {
    pub(super) id: ChangeId,
    question: Arc<ConfirmQuestion>,
    /// The text as it is proposed now: the agent's, or what the user made of it.
    text: String,
    hunks: Vec<Hunk>,
    /// On lines of that text.
    comments: LineComments,
    /// Not all of it was shown.
    is_cut: bool,
}

#[derive(Debug)]
enum Step {
    Decide,
    /// Hunk by hunk; those before `taken.len()` are decided.
    Hunks {
        taken: Vec<bool>,
    },
    Reason(LineEditor),
    /// A command that begins with a slash.
    Command(LineEditor),
    /// A comment on a line.
    Comment(CommentStep),
}

/// A question and how far its answer is.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) subject: Subject,
    step: Step,
    /// When it came to the screen.
    since: Option<Duration>,
}

/// What a key did.
#[derive(Debug, PartialEq)]
pub(super) enum PanelAct {
    Nothing,
    /// To a question about a call.
    Answer(QuestionId, Answer),
    Decide(ChangeId, TerminalAnswer),
    /// Open the text in the user's editor.
    Edit {
        change: ChangeId,
        name: String,
        text: String,
    },
    /// The user wrote a command. The question stays.
    Command(String),
    /// Not a key of the question.
    Ignored,
}

impl Panel {
    pub(super) fn of_question(question: QuestionId, ask: Question) -> Panel {
        let (call, note, repeated) = match ask {
            Question::Permission { call, why } => (call, why, false),
            Question::Repeated { call, times } => {
                (call, format!("This call failed {times} times in the same way."), true)
            }
        };
        let is_cut = call_details(&call).1;
        Panel {
            subject: Subject::Call { question, call, note, repeated, is_cut },
            step: Step::Decide,
            since: None,
        }
    }

    pub(super) fn of_change(asked: ChangeQuestion) -> Panel {
        let question = asked.question;
        let text =
            question.change.as_ref().map(|change| change.proposed.text().to_owned()).unwrap_or_default();
        let (hunks_of, comments) = (Vec::new(), LineComments::default());
        let mut change =
            Change { id: asked.change, question, text, hunks: hunks_of, comments, is_cut: false };
        change.hunks = hunks(change.base(), &change.text);
        change.is_cut = change.diff().1;
        Panel { subject: Subject::Change(change), step: Step::Decide, since: None }
    }

    /// For the status line and notices.
    pub(super) fn title(&self) -> String {
        match &self.subject {
            Subject::Call { call, .. } => call_line(call),
            Subject::Change(change) => match &change.question.change {
                Some(file) => format!(
                    "{} {}",
                    visible::name(&change.question.tool),
                    visible::name(&file.path.to_string_lossy())
                ),
                None => visible::name(&change.question.tool),
            },
        }
    }

    /// It is on the screen from now on. Returns what is printed above it: all that the decision is about.
    pub(super) fn show(&mut self, now: Duration) -> Vec<Line> {
        if self.since.is_some() {
            return Vec::new();
        }
        self.since = Some(now);
        match &self.subject {
            Subject::Call { call, .. } => call_details(call).0,
            Subject::Change(change) => change.shown(),
        }
    }

    /// It left the screen; it is shown in full when it comes back.
    pub(super) fn hide(&mut self) {
        self.since = None;
    }

    /// The rows of the question itself, and the input if a reason is typed.
    pub(super) fn rows(&self) -> (Vec<Line>, Option<&LineEditor>) {
        let mut rows = Vec::new();
        match (&self.subject, &self.step) {
            (_, Step::Reason(reason)) => {
                rows.push(line(Style::Question, "Why not? The model reads it. Enter sends, Esc goes back."));
                return (rows, Some(reason));
            }
            (_, Step::Command(command)) => {
                rows.push(line(Style::Question, "A command. Enter runs it, Esc goes back to the question."));
                return (rows, Some(command));
            }
            (Subject::Change(change), Step::Comment(step)) => {
                return step.rows(&change.text, &change.comments);
            }
            (Subject::Call { note, repeated, is_cut, .. }, _) => {
                rows.extend(lines(Style::Dim, note));
                let (text, keys) = match (repeated, is_cut) {
                    (true, false) => ("Try it again? ", "[y]es  [n]o"),
                    (true, true) => ("Try it again? ", "[Y] unseen  [n]o"),
                    (false, false) => ("May it run? ", "[y] once  [s] for this session  [n]o"),
                    (false, true) => ("May it run? ", "[Y] once, unseen  [S] for this session, unseen  [n]o"),
                };
                rows.push(vec![span(Style::Question, text), span(Style::Plain, keys)]);
            }
            (Subject::Change(change), Step::Hunks { taken }) => {
                rows.extend(change.hunk(taken.len()));
                let text = format!("Take hunk {} of {}? ", taken.len() + 1, change.hunks.len());
                let keys = "[y]es  [n]o  [a] this and the rest  [d] none of the rest  Esc back";
                rows.push(vec![span(Style::Question, text), span(Style::Plain, keys)]);
            }
            (Subject::Change(change), _) => {
                rows.extend(change.comments.rows(&change.text));
                let yes = if change.is_cut { "[Y] accept unseen" } else { "[y]es" };
                let hunks = if change.hunks.len() > 1 { "  [h]unks" } else { "" };
                let edit = if change.question.change.is_some() { "  [e]dit  [c]omment" } else { "" };
                let text = if change.is_edited() { "Accept your text? " } else { "Accept? " };
                rows.push(vec![
                    span(Style::Question, text),
                    span(Style::Plain, format!("{yes}{hunks}{edit}  [n]o")),
                ]);
            }
        }
        (rows, None)
    }

    pub(super) fn handle(&mut self, now: Duration, key: &KeyPress) -> PanelAct {
        if let Step::Reason(reason) = &mut self.step {
            return match key {
                KeyPress::Enter => {
                    let text = reason.submit().0;
                    let reason = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                    self.reject(reason)
                }
                KeyPress::Esc => {
                    self.step = Step::Decide;
                    PanelAct::Nothing
                }
                key if key.edit(reason) => PanelAct::Nothing,
                _ => PanelAct::Ignored,
            };
        }
        if let Step::Command(command) = &mut self.step {
            return match key {
                KeyPress::Enter => {
                    let text = command.submit().0;
                    self.step = Step::Decide;
                    PanelAct::Command(text)
                }
                KeyPress::Esc => {
                    self.step = Step::Decide;
                    PanelAct::Nothing
                }
                key if key.edit(command) => PanelAct::Nothing,
                _ => PanelAct::Ignored,
            };
        }
        if let (Step::Comment(step), Subject::Change(change)) = (&mut self.step, &mut self.subject) {
            return match step.handle(key, &change.text, &mut change.comments) {
                CommentAct::Stays => PanelAct::Nothing,
                CommentAct::Ignored => PanelAct::Ignored,
                CommentAct::Done => {
                    self.step = Step::Decide;
                    PanelAct::Nothing
                }
            };
        }
        // It answers nothing, so it may come at once.
        if matches!(self.step, Step::Decide) && *key == KeyPress::Char('/') {
            let mut command = LineEditor::default();
            command.insert("/");
            self.step = Step::Command(command);
            return PanelAct::Nothing;
        }
        let KeyPress::Char(letter) = key else {
            if *key == KeyPress::Esc && matches!(self.step, Step::Hunks { .. }) {
                self.step = Step::Decide;
                return PanelAct::Nothing;
            }
            return PanelAct::Ignored;
        };
        if self.since.is_none_or(|since| now < since + SETTLE) {
            return PanelAct::Nothing;
        }
        if matches!(self.step, Step::Hunks { .. }) {
            return self.decide_hunk(*letter);
        }
        if matches!(letter, 'n' | 'N') {
            self.step = Step::Reason(LineEditor::default());
            return PanelAct::Nothing;
        }
        match (&mut self.subject, letter) {
            (Subject::Call { is_cut: true, .. }, 'y' | 's') => PanelAct::Nothing,
            (Subject::Call { question, .. }, 'y' | 'Y') => PanelAct::Answer(*question, Answer::Once),
            (Subject::Call { question, repeated: false, .. }, 's' | 'S') => {
                PanelAct::Answer(*question, Answer::Session)
            }
            (Subject::Change(change), 'y' | 'Y') if !change.is_cut || *letter == 'Y' => change.accept(),
            (Subject::Change(change), 'h' | 'H') if change.hunks.len() > 1 => {
                self.step = Step::Hunks { taken: Vec::new() };
                PanelAct::Nothing
            }
            (Subject::Change(change), 'c' | 'C') if change.question.change.is_some() => {
                let first = change.hunks.first().map_or(0, |hunk| hunk.after.start);
                self.step = Step::Comment(CommentStep::begin(&change.text, first));
                PanelAct::Nothing
            }
            (Subject::Change(change), 'e' | 'E') => match &change.question.change {
                Some(file) => PanelAct::Edit {
                    change: change.id,
                    name: file
                        .path
                        .file_name()
                        .map(|name| name.to_string_lossy().into_owned())
                        .unwrap_or_default(),
                    text: change.text.clone(),
                },
                None => PanelAct::Nothing,
            },
            _ => PanelAct::Nothing,
        }
    }

    fn decide_hunk(&mut self, letter: char) -> PanelAct {
        let (Step::Hunks { taken }, Subject::Change(change)) = (&mut self.step, &self.subject) else {
            return PanelAct::Nothing;
        };
        let rest = change.hunks.len().saturating_sub(taken.len());
        match letter {
            'y' => taken.push(true),
            'n' => taken.push(false),
            'a' => taken.extend(vec![true; rest]),
            'd' => taken.extend(vec![false; rest]),
            _ => return PanelAct::Nothing,
        }
        if taken.len() < change.hunks.len() {
            return PanelAct::Nothing;
        }
        if taken.iter().all(|taken| *taken) {
            return change.accept();
        }
        if !taken.contains(&true) {
            self.step = Step::Reason(LineEditor::default());
            return PanelAct::Nothing;
        }
        let take = |id: &linkspan_review::HunkId| {
            change.hunks.iter().zip(taken.iter()).any(|(hunk, taken)| hunk.id == *id && *taken)
        };
        let text = compose(change.base(), &change.text, &change.hunks, take);
        let decided = change.hunks.iter().zip(taken.iter()).map(|(hunk, taken)| decided_hunk(hunk, *taken));
        let (part, hunks) = match change.is_edited() {
            true => (AcceptedPart::Edited, Vec::new()),
            false => (AcceptedPart::Some, decided.collect()),
        };
        PanelAct::Decide(change.id, change.allow_text(text, part, hunks))
    }

    fn reject(&mut self, reason: Option<String>) -> PanelAct {
        match &self.subject {
            Subject::Call { question, .. } => PanelAct::Answer(*question, Answer::No { reason }),
            Subject::Change(change) => {
                let comments = change.comments.to_send();
                PanelAct::Decide(change.id, TerminalAnswer::Deny { reason, comments })
            }
        }
    }

    /// The user edited the text: it is shown, and asked about again.
    pub(super) fn edited(&mut self, now: Duration, text: String) -> Vec<Line> {
        let Subject::Change(change) = &mut self.subject else { return Vec::new() };
        change.comments.follow(&change.text, &text);
        change.text = text;
        change.hunks = hunks(change.base(), &change.text);
        change.is_cut = change.diff().1;
        (self.step, self.since) = (Step::Decide, Some(now));
        change.shown()
    }
}

impl Change {
    fn base(&self) -> &str {
        self.question.change.as_ref().and_then(|change| change.proposed.base()).unwrap_or_default()
    }

    fn is_edited(&self) -> bool {
        self.question.change.as_ref().is_some_and(|change| change.proposed.text() != self.text)
    }

    fn accept(&self) -> PanelAct {
        let answer = match (self.is_edited(), self.comments.to_send().is_empty()) {
            (false, true) => TerminalAnswer::Allow,
            (false, false) => self.allow_text(self.text.clone(), AcceptedPart::All, Vec::new()),
            (true, _) => self.allow_text(self.text.clone(), AcceptedPart::Edited, Vec::new()),
        };
        PanelAct::Decide(self.id, answer)
    }

    fn allow_text(&self, text: String, taken: AcceptedPart, hunks: Vec<DecidedHunk>) -> TerminalAnswer {
        TerminalAnswer::AllowText { text, taken, hunks, comments: self.comments.to_send() }
    }

    /// All that the user has to see.
    fn shown(&self) -> Vec<Line> {
        let mut shown = self.question.note.as_deref().map(|note| lines(Style::Dim, note)).unwrap_or_default();
        let tool = visible::name(&self.question.tool);
        let Some(file) = &self.question.change else {
            shown.push(line(Style::Tool, format!("{tool}:")));
            shown.extend(lines(Style::Plain, &self.question.details));
            return shown;
        };
        let verb = if file.proposed.base().is_some() { "changes" } else { "creates" };
        let path = visible::name(&file.path.to_string_lossy());
        shown.push(line(Style::Tool, format!("{tool} {verb} {path}")));
        shown.extend(self.diff().0);
        shown
    }

    /// The change as a diff, and whether it was cut.
    fn diff(&self) -> (Vec<Line>, bool) {
        let (base, text) = (self.base(), self.text.as_str());
        // If every line has one, a CR at each end would only hide the rest.
        let all_crlf =
            [base, text].iter().all(|text| text.matches('\n').count() == text.matches("\r\n").count());
        let diff = if all_crlf && base.contains('\n') {
            unified(&base.replace("\r\n", "\n"), &text.replace("\r\n", "\n"), "now", "proposed", CONTEXT)
        } else {
            unified(base, text, "now", "proposed", CONTEXT)
        };
        // The labels repeat the line above.
        let all = diff.split_terminator('\n').skip(2);
        let count = all.clone().count();
        let mut shown: Vec<_> = all.take(MOST_LINES).map(diff_line).collect();
        if count > MOST_LINES {
            shown.push(line(
                Style::Bad,
                format!("… and {} more lines, which are not shown", count - MOST_LINES),
            ));
        }
        (shown, count > MOST_LINES)
    }

    /// One hunk, for its question.
    fn hunk(&self, at: usize) -> Vec<Line> {
        let Some(hunk) = self.hunks.get(at) else { return Vec::new() };
        let side = |text: &str, range: &std::ops::Range<u32>, sign: char| -> Vec<Line> {
            let (start, length) = (index(range.start), range.len());
            text.split_terminator('\n')
                .skip(start)
                .take(length)
                .map(|text| diff_line(&format!("{sign}{text}")))
                .collect()
        };
        let mut shown = side(self.base(), &hunk.before, '-');
        shown.extend(side(&self.text, &hunk.after, '+'));
        if shown.len() > HUNK_LINES {
            let more = shown.len() - HUNK_LINES;
            shown.truncate(HUNK_LINES);
            shown.push(line(Style::Dim, format!("… and {more} more lines, as above")));
        }
        shown.insert(0, line(Style::Hunk, format!("line {}", hunk.before.start + 1)));
        shown
    }
}

fn decided_hunk(hunk: &Hunk, taken: bool) -> DecidedHunk {
    let length = |range: &std::ops::Range<u32>| range.end.saturating_sub(range.start);
    DecidedHunk {
        id: hunk.id.to_string(),
        before_start: hunk.before.start,
        before_count: length(&hunk.before),
        after_start: hunk.after.start,
        after_count: length(&hunk.after),
        taken,
    }
}

fn index(line: u32) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

fn diff_line(text: &str) -> Line {
    let text = text.strip_suffix('\r').map_or_else(|| text.to_owned(), |text| format!("{text}\\r"));
    line(diff_style(&text), plain(&text))
}

/// A call with all its arguments, and whether it was cut.
pub(super) fn call_details(call: &ModelCall) -> (Vec<Line>, bool) {
    let mut shown = vec![line(Style::Tool, call_line(call))];
    match &call.arguments {
        CallArguments::Json(arguments) => {
            for (name, value) in arguments.as_object().into_iter().flatten() {
                let value = match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => value.to_string(),
                };
                let mut rows = plain(&value).lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
                let first = rows.next().unwrap_or_default();
                shown.push(vec![
                    span(Style::Dim, format!("  {}: ", visible::name(name))),
                    span(Style::Plain, first),
                ]);
                shown.extend(rows.map(|row| line(Style::Plain, format!("    {row}"))));
            }
        }
        CallArguments::Broken(text) => shown.extend(lines(Style::Bad, text)),
    }
    let is_cut = shown.len() > MOST_LINES;
    if is_cut {
        let more = shown.len() - MOST_LINES;
        shown.truncate(MOST_LINES);
        shown.push(line(Style::Bad, format!("… and {more} more lines, which are not shown")));
    }
    (shown, is_cut)
}

#[cfg(test)]
mod tests;
