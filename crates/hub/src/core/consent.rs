//! What an agent may do only with the person's word: run a command, execute code. Owns the questions that wait for
//! her and what she allowed from now on. Where she is asked, and what follows, it does not know.

use std::borrow::Cow;
use std::collections::BTreeMap;

use linkspan_dialect::{CallId, Request, Work};
use linkspan_editor_api as api;
use linkspan_editor_api::AskOption;
use linkspan_review::{AgentId, WindowId};

use super::tools::ToolCall;

/// A person reads each; a program that has more to ask is not working with one.
pub(super) const QUESTIONS_PER_AGENT: usize = 16;

/// The same for those that are over: who asks, takes back and asks again wears her down until she says yes.
pub(super) const QUESTIONS_PER_MINUTE: usize = 30;
const MINUTE_MS: u64 = 60_000;

/// What is to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    Command,
    Code,
    /// Without a review.
    Edit,
    /// Stage and commit.
    Git,
}

impl Deed {
    /// What carrying out this request does, and the text of it, where it needs her word.
    pub(super) fn of(request: &Request) -> Option<(Deed, Cow<'_, str>)> {
        match request {
            Request::RunInTerminal { command, .. } => Some((Deed::Command, command.into())),
            Request::ExecuteCode { code } => Some((Deed::Code, code.into())),
            Request::Work(Work::GitStage { paths, .. }) => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                Some((Deed::Git, format!("git add\n{}", paths.join("\n")).into()))
            }
            Request::Work(Work::GitCommit { message, all, .. }) => {
                let all = if *all { " --all" } else { "" };
                Some((Deed::Git, format!("git commit{all}\n\n{message}").into()))
            }
            _ => None,
        }
    }

    fn question(self, agent: &str, request: &Request) -> String {
        let agent = api::visible::name(agent);
        match (self, request) {
            (Deed::Command, Request::RunInTerminal { cwd: Some(cwd), .. }) => {
                let cwd = api::visible::name(&cwd.display().to_string());
                format!("Allow {agent} to run this command in {cwd}?")
            }
            (Deed::Command, _) => format!("Allow {agent} to run this command in a terminal?"),
            (Deed::Code, _) => format!("Allow {agent} to execute this code in the active notebook?"),
            (Deed::Git, Request::Work(Work::GitStage { .. })) => format!("Allow {agent} to stage this?"),
            (Deed::Git, _) => format!("Allow {agent} to commit this?"),
            (Deed::Edit, _) => format!("Allow {agent} to change files without a review?"),
        }
    }
}

/// The agent whose deeds are allowed, as it is found again after a reconnect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Who {
    pub(super) window: WindowId,
    pub(super) key: String,
}

#[derive(Debug)]
struct Question {
    who: Who,
    deed: Deed,
    tool: ToolCall,
    ask: api::UserAsk,
}

/// What her answer means.
#[derive(Debug)]
pub(super) enum Word {
    /// Also for these others, which need not be answered any more.
    Allowed(Vec<(String, ToolCall)>),
    Refused,
    /// She closed the question.
    NoAnswer,
}

#[derive(Debug)]
pub(super) struct Consent {
    /// By number, oldest first.
    questions: BTreeMap<u64, Question>,
    last: u64,
    /// A question of an earlier hub may still be on her screen: its id must not be that of another.
    life: String,
    /// When who asked, in the last minute.
    asked: Vec<(u64, AgentId, Who)>,
    /// With the time since when its agent has been away.
    always: BTreeMap<(Who, Deed), Option<u64>>,
}

impl Consent {
    pub(super) fn new(life: &str) -> Consent {
        Consent {
            questions: BTreeMap::new(),
            last: 0,
            life: life.to_owned(),
            asked: Vec::new(),
            always: BTreeMap::new(),
        }
    }

    pub(super) fn is_given(&self, who: &Who, deed: Deed, now_ms: u64, grace_ms: u64) -> bool {
        let away = self.always.get(&(who.clone(), deed));
        away.is_some_and(|away| !too_long(*away, now_ms, grace_ms))
    }

    /// How often she was asked within the last minute: by this agent, or by one that cannot be told from it.
    pub(super) fn asked_lately(&mut self, agent: AgentId, who: &Who, now_ms: u64) -> usize {
        self.asked.retain(|(at, ..)| now_ms.saturating_sub(*at) < MINUTE_MS);
        self.asked.iter().filter(|(_, by, as_who)| *by == agent || as_who == who).count()
    }

    pub(super) fn waiting(&self, agent: AgentId) -> usize {
        self.questions.values().filter(|question| question.tool.agent == agent).count()
    }

    /// A new question, to be shown to her.
    pub(super) fn ask(
        &mut self,
        who: Who,
        agent: &str,
        deed: Deed,
        text: &str,
        tool: ToolCall,
        now_ms: u64,
    ) -> api::UserAsk {
        self.last += 1;
        self.asked.push((now_ms, tool.agent, who.clone()));
        let ask = api::UserAsk {
            ask: format!("q-{}-{}", self.life, self.last),
            question: deed.question(agent, &tool.request),
            detail: Some(api::visible::text(text)),
            options: vec![AskOption::AllowOnce, AskOption::AllowAlways, AskOption::Deny],
        };
        self.questions.insert(self.last, Question { who, deed, tool, ask: ask.clone() });
        ask
    }

    /// What that window's person has not answered, oldest first.
    pub(super) fn open_in(&self, window: WindowId) -> Vec<api::UserAsk> {
        let open = self.questions.values().filter(|question| question.who.window == window);
        open.map(|question| question.ask.clone()).collect()
    }

    /// The first answer in the question's own window counts; none: nobody waits for it.
    pub(super) fn answered(
        &mut self,
        window: WindowId,
        ask: &str,
        result: &api::UserAskResult,
    ) -> Option<(ToolCall, Word)> {
        let open = |question: &Question| question.ask.ask == ask && question.who.window == window;
        let number = self.questions.iter().find(|(_, question)| open(question)).map(|(number, _)| *number)?;
        let Question { who, deed, tool, .. } = self.questions.remove(&number)?;
        let word = match result {
            api::UserAskResult::Answered { option: AskOption::AllowOnce } => Word::Allowed(Vec::new()),
            api::UserAskResult::Answered { option: AskOption::AllowAlways } => {
                let same = |question: &Question| question.who == who && question.deed == deed;
                let same = self.take(same);
                self.always.insert((who, deed), None);
                Word::Allowed(same)
            }
            api::UserAskResult::Answered { option: AskOption::Deny } => Word::Refused,
            api::UserAskResult::Dismissed => Word::NoAnswer,
        };
        Some((tool, word))
    }

    /// Questions of an agent that does not wait any more: all, or that of one call. Gives their ids.
    pub(super) fn take_back(&mut self, agent: AgentId, call: Option<CallId>) -> Vec<(String, ToolCall)> {
        let meant = |tool: &ToolCall| tool.agent == agent && call.is_none_or(|call| call == tool.call);
        self.take(|question| meant(&question.tool))
    }

    /// Questions about what cannot be done in that window any more.
    pub(super) fn give_up(
        &mut self,
        window: WindowId,
        cannot: impl Fn(Deed) -> bool,
    ) -> Vec<(String, ToolCall)> {
        self.take(|question| question.who.window == window && cannot(question.deed))
    }

    fn take(&mut self, meant: impl Fn(&Question) -> bool) -> Vec<(String, ToolCall)> {
        let taken = self.questions.extract_if(.., |_, question| meant(question));
        taken.map(|(_, question)| (question.ask.ask, question.tool)).collect()
    }

    /// Its last connection ended. A goodbye is for good.
    pub(super) fn left(&mut self, who: &Who, said_goodbye: bool, now_ms: u64) {
        self.always.retain(|(of, _), away| {
            if of == who {
                *away = Some(now_ms);
            }
            of != who || !said_goodbye
        });
    }

    /// It is there; what was allowed to one that was away too long was allowed to another.
    pub(super) fn came(&mut self, who: &Who, now_ms: u64, grace_ms: u64) {
        self.always.retain(|(of, _), away| {
            let too_long = too_long(*away, now_ms, grace_ms);
            if of == who && !too_long {
                *away = None;
            }
            of != who || !too_long
        });
    }

    /// What was allowed in a window ends with it.
    pub(super) fn closed(&mut self, window: WindowId) {
        self.always.retain(|(who, _), _| who.window != window);
    }
}

fn too_long(away: Option<u64>, now_ms: u64, grace_ms: u64) -> bool {
    away.is_some_and(|since| since + grace_ms < now_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE_MS: u64 = 1000;

    fn who(key: &str) -> Who {
        Who { window: WindowId(1), key: key.to_owned() }
    }

    fn always() -> Consent {
        let mut consent = Consent::new("1ife");
        consent.always.insert((who("one"), Deed::Command), None);
        consent.always.insert((who("two"), Deed::Command), None);
        consent
    }

    fn given(consent: &Consent) -> [bool; 2] {
        given_at(consent, 500)
    }

    fn given_at(consent: &Consent, now_ms: u64) -> [bool; 2] {
        ["one", "two"].map(|key| consent.is_given(&who(key), Deed::Command, now_ms, GRACE_MS))
    }

    #[test]
    fn what_was_allowed_to_one_that_is_away_ends_by_itself() {
        let mut consent = always();
        consent.left(&who("one"), false, 500);
        assert_eq!(given_at(&consent, 500 + GRACE_MS), [true, true]);
        assert_eq!(given_at(&consent, 501 + GRACE_MS), [false, true]);
    }

    #[test]
    fn what_was_allowed_to_an_agent_that_stayed_away_too_long_is_not_allowed_to_the_next() {
        for (back_ms, expected) in [(500 + GRACE_MS, true), (501 + GRACE_MS, false)] {
            let mut consent = always();
            consent.left(&who("one"), false, 500);
            consent.came(&who("one"), back_ms, GRACE_MS);
            assert_eq!(given(&consent), [expected, true]);
        }
    }

    #[test]
    fn who_came_back_in_time_is_there_again() {
        let mut consent = always();
        consent.left(&who("one"), false, 500);
        consent.came(&who("one"), 600, GRACE_MS);
        consent.came(&who("one"), 9000, GRACE_MS);
        assert_eq!(given(&consent), [true, true]);
    }

    #[test]
    fn a_goodbye_and_a_closed_window_end_what_was_allowed() {
        let mut consent = always();
        consent.left(&who("one"), true, 500);
        assert_eq!(given(&consent), [false, true]);
        consent.closed(WindowId(2));
        assert_eq!(given(&consent), [false, true]);
        consent.closed(WindowId(1));
        assert_eq!(given(&consent), [false, false]);
    }
}
