//! One question to the user: may a call run, may a file be changed. Keys in, an answer out; how it looks is lines. A
//! change is taken as a whole, hunk by hunk, edited, or rejected with a reason. Pure.

use std::sync::Arc;
use std::time::Duration;

use linkspan_client::confirm::{ConfirmQuestion, TerminalAnswer};
use linkspan_client::connection::AcceptedPart;
use linkspan_client::visible;
use linkspan_review::{Hunk, compose, hunks, unified};

use super::code::diff_style;
use super::keys::KeyPress;
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
    Call { question: QuestionId, call: ModelCall, note: String, repeated: bool },
    Change(Change),
}

#[derive(Debug)]
pub(super) struct Change {
    pub(super) id: ChangeId,
    question: Arc<ConfirmQuestion>,
    /// The text as it is proposed now: the agent's, or what the user made of it.
    text: String,
    hunks: Vec<Hunk>,
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
        Panel { subject: Subject::Call { question, call, note, repeated }, step: Step::Decide, since: None }
    }

    pub(super) fn of_change(asked: ChangeQuestion) -> Panel {
        let question = asked.question;
        let text =
            question.change.as_ref().map(|change| change.proposed.text().to_owned()).unwrap_or_default();
        let mut change = Change { id: asked.change, question, text, hunks: Vec::new(), is_cut: false };
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
            Subject::Call { call, .. } => call_details(call),
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
            (Subject::Call { note, repeated, .. }, _) => {
                rows.extend(lines(Style::Dim, note));
                let (text, keys) = match repeated {
                    true => ("Try it again? ", "[y]es  [n]o"),
                    false => ("May it run? ", "[y] once  [s] for this session  [n]o"),
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
                let yes = if change.is_cut { "[Y] accept unseen" } else { "[y]es" };
                let hunks = if change.hunks.len() > 1 { "  [h]unks" } else { "" };
                let edit = if change.question.change.is_some() { "  [e]dit" } else { "" };
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
            (Subject::Call { question, .. }, 'y' | 'Y') => PanelAct::Answer(*question, Answer::Once),
            (Subject::Call { question, repeated: false, .. }, 's' | 'S') => {
                PanelAct::Answer(*question, Answer::Session)
            }
            (Subject::Change(change), 'y' | 'Y') if !change.is_cut || *letter == 'Y' => change.accept(),
            (Subject::Change(change), 'h' | 'H') if change.hunks.len() > 1 => {
                self.step = Step::Hunks { taken: Vec::new() };
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
        let part = if change.is_edited() { AcceptedPart::Edited } else { AcceptedPart::Some };
        PanelAct::Decide(change.id, allow_text(text, part))
    }

    fn reject(&mut self, reason: Option<String>) -> PanelAct {
        match &self.subject {
            Subject::Call { question, .. } => PanelAct::Answer(*question, Answer::No { reason }),
            Subject::Change(change) => PanelAct::Decide(change.id, TerminalAnswer::Deny { reason }),
        }
    }

    /// The user edited the text: it is shown, and asked about again.
    pub(super) fn edited(&mut self, now: Duration, text: String) -> Vec<Line> {
        let Subject::Change(change) = &mut self.subject else { return Vec::new() };
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
        let answer = match self.is_edited() {
            true => allow_text(self.text.clone(), AcceptedPart::Edited),
            false => TerminalAnswer::Allow,
        };
        PanelAct::Decide(self.id, answer)
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

fn allow_text(text: String, taken: AcceptedPart) -> TerminalAnswer {
    TerminalAnswer::AllowText { text, taken, comments: Vec::new() }
}

fn index(line: u32) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}

fn diff_line(text: &str) -> Line {
    let text = text.strip_suffix('\r').map_or_else(|| text.to_owned(), |text| format!("{text}\\r"));
    line(diff_style(&text), plain(&text))
}

/// A call with all its arguments.
pub(super) fn call_details(call: &ModelCall) -> Vec<Line> {
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
    if shown.len() > MOST_LINES {
        let more = shown.len() - MOST_LINES;
        shown.truncate(MOST_LINES);
        shown.push(line(Style::Bad, format!("… and {more} more lines, which are not shown")));
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LATER: Duration = Duration::from_secs(9);

    fn change(base: &str, proposed: &str) -> Panel {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), base).unwrap();
        let call = json!({ "path": "f", "content": proposed });
        let question = ConfirmQuestion::of_call("write_file", &call, folder.path()).unwrap();
        let asked =
            ChangeQuestion { change: ChangeId(3), call_id: "c1".into(), question: Arc::new(question) };
        let mut panel = Panel::of_change(asked);
        panel.show(Duration::ZERO);
        panel
    }

    fn types(panel: &mut Panel, keys: &str) -> PanelAct {
        let mut act = PanelAct::Nothing;
        for key in keys.chars() {
            act = panel.handle(LATER, &if key == '\n' { KeyPress::Enter } else { KeyPress::Char(key) });
        }
        act
    }

    fn words(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect()
    }

    const OLD: &str = "a\nb\nc\nd\ne\n";
    const NEW: &str = "A\nb\nC\nd\nE\n";

    #[test]
    fn a_change_is_accepted_or_rejected_with_a_reason() {
        assert_eq!(types(&mut change(OLD, NEW), "y"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
        let reason = Some("too loud".to_owned());
        let denied = PanelAct::Decide(ChangeId(3), TerminalAnswer::Deny { reason });
        assert_eq!(types(&mut change(OLD, NEW), "ntoo loud\n"), denied);
        let denied = PanelAct::Decide(ChangeId(3), TerminalAnswer::Deny { reason: None });
        assert_eq!(types(&mut change(OLD, NEW), "n\n"), denied);
    }

    #[test]
    fn hunks_are_taken_one_by_one() {
        let taken = |keys, text: &str| {
            let answer = allow_text(text.to_owned(), AcceptedPart::Some);
            assert_eq!(types(&mut change(OLD, NEW), keys), PanelAct::Decide(ChangeId(3), answer), "{keys}");
        };
        taken("hyny", "A\nb\nc\nd\nE\n");
        taken("hna", "a\nb\nC\nd\nE\n");
        taken("hyd", "A\nb\nc\nd\ne\n");
        assert_eq!(types(&mut change(OLD, NEW), "ha"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
        // No hunk at all is a rejection, and the model may be told why.
        let denied = PanelAct::Decide(ChangeId(3), TerminalAnswer::Deny { reason: None });
        assert_eq!(types(&mut change(OLD, NEW), "hd\n"), denied);
        let mut one = change("a\n", "b\n");
        assert_eq!(types(&mut one, "h"), PanelAct::Nothing);
        assert_eq!(types(&mut one, "y"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
    }

    #[test]
    fn an_edited_text_is_shown_and_asked_about_again() {
        let mut panel = change(OLD, NEW);
        let PanelAct::Edit { text, name, .. } = types(&mut panel, "e") else { panic!("no edit") };
        assert_eq!((text.as_str(), name.as_str()), (NEW, "f"));
        let shown = words(&panel.edited(LATER, "mine\n".into()));
        assert!(shown.contains(&"+mine".to_owned()), "{shown:?}");
        assert_eq!(types(&mut panel, "y"), PanelAct::Nothing, "it was not on the screen long enough");
        let later = LATER + SETTLE;
        let answer = allow_text("mine\n".into(), AcceptedPart::Edited);
        assert_eq!(panel.handle(later, &KeyPress::Char('y')), PanelAct::Decide(ChangeId(3), answer));
    }

    #[test]
    fn a_key_that_was_on_its_way_answers_nothing() {
        let mut panel = change(OLD, NEW);
        assert_eq!(panel.handle(Duration::from_millis(499), &KeyPress::Char('y')), PanelAct::Nothing);
        assert_eq!(panel.handle(Duration::from_millis(501), &KeyPress::Char('x')), PanelAct::Nothing);
        assert_eq!(panel.handle(Duration::from_millis(501), &KeyPress::Ctrl('c')), PanelAct::Ignored);
        assert_ne!(panel.handle(Duration::from_millis(501), &KeyPress::Char('y')), PanelAct::Nothing);
    }

    #[test]
    fn a_change_that_is_not_shown_to_its_end_needs_more_than_a_yes() {
        let mut panel = change("", &"line\n".repeat(MOST_LINES + 5));
        assert!(words(&panel.rows().0).concat().contains("unseen"));
        assert_eq!(types(&mut panel, "y"), PanelAct::Nothing);
        assert_eq!(types(&mut panel, "Y"), PanelAct::Decide(ChangeId(3), TerminalAnswer::Allow));
    }

    #[test]
    fn a_command_is_shown_whole_and_can_be_allowed_for_the_session() {
        let arguments = CallArguments::Json(json!({ "command": "rm\u{1b} -r x" }));
        let call = ModelCall { id: "c".into(), name: "run_command".into(), arguments, opaque: None };
        let ask = Question::Permission { call: call.clone(), why: "trusted mode asks".into() };
        let mut panel = Panel::of_question(QuestionId(1), ask);
        let shown = words(&panel.show(Duration::ZERO));
        assert_eq!(shown[1], "  command: rm\\u{1b} -r x");
        assert_eq!(types(&mut panel, "s"), PanelAct::Answer(QuestionId(1), Answer::Session));
        let mut again = Panel::of_question(QuestionId(1), Question::Repeated { call, times: 3 });
        again.show(Duration::ZERO);
        assert_eq!(types(&mut again, "s"), PanelAct::Nothing);
        assert_eq!(types(&mut again, "y"), PanelAct::Answer(QuestionId(1), Answer::Once));
    }

    #[test]
    fn what_hides_in_a_change_is_seen() {
        let shown = words(&change("a\r\nb\n", "a\nb\u{202e}\n").subject_lines());
        assert!(
            shown.contains(&" a\\r".to_owned()) && shown.contains(&"+b\\u{202e}".to_owned()),
            "{shown:?}"
        );
        let shown = words(&change("a\r\nb\r\n", "a\r\nc\r\n").subject_lines());
        assert!(shown.contains(&"-b".to_owned()) && shown.contains(&"+c".to_owned()), "{shown:?}");
    }

    impl Panel {
        fn subject_lines(&self) -> Vec<Line> {
            match &self.subject {
                Subject::Change(change) => change.shown(),
                Subject::Call { .. } => Vec::new(),
            }
        }
    }
}
