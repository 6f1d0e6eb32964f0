//! What an agent may do only with the person's word: run a command, execute code, change files without a review,
//! stage and commit. Owns the questions that wait for her and what she allowed from now on. Where she is asked, and
//! what follows, it does not know.

use std::borrow::Cow;
use std::collections::BTreeMap;

use linkspan_dialect::{CallId, Request, Work};
use linkspan_editor_api as api;
use linkspan_editor_api::AskOption;
pub(super) use linkspan_editor_api::Deed;
use linkspan_review::{AgentId, WindowId};

use super::tools::ToolCall;
use crate::config::{Client, Clients};

/// A person reads each; a program that has more to ask is not working with one.
pub(super) const QUESTIONS_PER_AGENT: usize = 16;

/// The same for those that are over: who asks, takes back and asks again wears her down until she says yes.
pub(super) const QUESTIONS_PER_MINUTE: usize = 30;
const MINUTE_MS: u64 = 60_000;

/// Of all agents of a window together: a program may come back under ever new names.
pub(super) const QUESTIONS_PER_WINDOW: usize = 90;

/// What carrying out this request does, and the text of it, where she is asked for her word.
pub(super) fn deed_of(request: &Request) -> Option<(Deed, Cow<'_, str>)> {
    match request {
        Request::RunInTerminal { command, .. } => Some((Deed::Command, command.into())),
        Request::ExecuteCode { code } => Some((Deed::Code, code.into())),
        Request::Work(Work::GitStage { folder, paths }) => {
            // One line each, whatever their names hold.
            let shown = |path: &std::path::PathBuf| api::visible::name(&path.display().to_string());
            let paths: Vec<String> = paths.iter().map(shown).collect();
            Some((Deed::Git, format!("git{} add\n{}", within(folder), paths.join("\n")).into()))
        }
        Request::Work(Work::GitCommit { folder, message, all }) => {
            let all = if *all { " --all" } else { "" };
            Some((Deed::Git, format!("git{} commit{all}\n\n{message}", within(folder)).into()))
        }
        _ => None,
    }
}

/// Which repository it is about.
fn within(folder: &Option<std::path::PathBuf>) -> String {
    let named = folder.as_ref().map(|folder| api::visible::name(&folder.display().to_string()));
    named.map(|folder| format!(" -C {folder}")).unwrap_or_default()
}

/// An agent calls itself what it likes; by which dialect it came is known.
fn question(deed: Deed, agent: &str, dialect: &str, request: &Request) -> String {
    let name = api::visible::name(agent);
    let agent = if name == dialect { name } else { format!("{name} ({dialect})") };
    match (deed, request) {
        (Deed::Command, Request::RunInTerminal { cwd: Some(cwd), .. }) => {
            let cwd = api::visible::name(&cwd.display().to_string());
            format!("Allow {agent} to run this command in {cwd}?")
        }
        (Deed::Command, _) => format!("Allow {agent} to run this command in a terminal?"),
        (Deed::Code, _) => format!("Allow {agent} to execute this code in the active notebook?"),
        (Deed::Edit, _) => format!("Allow {agent} to change files without a review?"),
        (Deed::Git, Request::Work(Work::GitStage { .. })) => format!("Allow {agent} to stage this?"),
        (Deed::Git, _) => format!("Allow {agent} to commit this?"),
    }
}

/// The agent whose deeds are allowed, as it is found again after a reconnect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Who {
    pub(super) window: WindowId,
    pub(super) key: String,
    /// What it calls itself, which is in the key.
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) struct Question {
    pub(super) who: Who,
    pub(super) dialect: &'static str,
    pub(super) deed: Deed,
    pub(super) tool: ToolCall,
    pub(super) ask: api::UserAsk,
    pub(super) asked_ms: u64,
}

/// Why an answer to a question does not count.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// It was answered before, or nobody waits for it any more.
    Over,
    /// The question does not offer it.
    NotOffered,
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
    session: BTreeMap<(Who, Deed), Option<u64>>,
    /// What is remembered. A file that is not understood allows nothing.
    pub(super) remembered: Result<Clients, String>,
}

impl Consent {
    pub(super) fn new(life: &str) -> Consent {
        Consent {
            questions: BTreeMap::new(),
            last: 0,
            life: life.to_owned(),
            asked: Vec::new(),
            session: BTreeMap::new(),
            remembered: Ok(Clients::default()),
        }
    }

    /// Whether she allowed it before, and if it is remembered, since when.
    pub(super) fn given(
        &self,
        who: &Who,
        client: &Client,
        deed: Deed,
        (now_ms, grace_ms): (u64, u64),
    ) -> Option<api::Permission> {
        let remembered = self.remembered.as_ref().ok().and_then(|clients| clients.allow(client, deed));
        let away = self.session.get(&(who.clone(), deed));
        let for_session = away.is_some_and(|away| !too_long(*away, now_ms, grace_ms));
        let since = remembered.map(ToString::to_string);
        (since.is_some() || for_session).then_some(api::Permission { deed, since })
    }

    pub(super) fn allow_for_session(&mut self, who: Who, deed: Deed) {
        self.session.insert((who, deed), None);
    }

    /// Takes back what was allowed for a session; how much that was.
    pub(super) fn revoke(&mut self, name: Option<&str>, deeds: &[Deed]) -> usize {
        let before = self.session.len();
        self.session.retain(|(who, deed), _| {
            let meant = name.is_none_or(|name| name == who.name);
            !meant || (!deeds.is_empty() && !deeds.contains(deed))
        });
        before - self.session.len()
    }

    /// How often she was asked within the last minute: by this agent, or by one that cannot be told from it.
    pub(super) fn asked_lately(&mut self, agent: AgentId, who: &Who, now_ms: u64) -> usize {
        self.asked.retain(|(at, ..)| now_ms.saturating_sub(*at) < MINUTE_MS);
        self.asked.iter().filter(|(_, by, as_who)| *by == agent || as_who == who).count()
    }

    /// How often she was asked in this window within the last minute, by whomever.
    pub(super) fn asked_here_lately(&self, window: WindowId, now_ms: u64) -> usize {
        let lately = |at: u64| now_ms.saturating_sub(at) < MINUTE_MS;
        self.asked.iter().filter(|(at, _, who)| lately(*at) && who.window == window).count()
    }

    pub(super) fn waiting(&self, agent: AgentId) -> usize {
        self.questions.values().filter(|question| question.tool.agent == agent).count()
    }

    /// A new question, to be shown to her.
    pub(super) fn ask(
        &mut self,
        who: Who,
        dialect: &'static str,
        tool: ToolCall,
        can_remember: bool,
        now_ms: u64,
    ) -> Option<&Question> {
        let (deed, text) = deed_of(&tool.request)?;
        let mut options = vec![AskOption::AllowOnce, AskOption::AllowSession];
        options.extend(can_remember.then_some(AskOption::AllowAlways));
        options.push(AskOption::Deny);
        self.last += 1;
        let ask = api::UserAsk {
            ask: format!("q-{}-{}", self.life, self.last),
            question: question(deed, &who.name, dialect, &tool.request),
            detail: Some(api::visible::text(&text)),
            options,
        };
        self.asked.push((now_ms, tool.agent, who.clone()));
        let question = Question { who, dialect, deed, tool, ask, asked_ms: now_ms };
        Some(self.questions.entry(self.last).insert_entry(question).into_mut())
    }

    /// What she has not answered, oldest first.
    pub(super) fn open(&self) -> impl Iterator<Item = &Question> {
        self.questions.values()
    }

    /// The first answer counts.
    pub(super) fn answered(
        &mut self,
        ask: &str,
        option: Option<AskOption>,
        may_answer: impl Fn(&Question) -> bool,
    ) -> Result<Question, NotTaken> {
        let meant = |question: &Question| question.ask.ask == ask && may_answer(question);
        let found = self.questions.iter().find(|(_, question)| meant(question));
        let (number, question) = found.map(|(number, question)| (*number, question)).ok_or(NotTaken::Over)?;
        if option.is_some_and(|option| !question.ask.options.contains(&option)) {
            return Err(NotTaken::NotOffered);
        }
        self.questions.remove(&number).ok_or(NotTaken::Over)
    }

    /// Questions of an agent that does not wait any more: all, or that of one call.
    pub(super) fn take_back(&mut self, agent: AgentId, call: Option<CallId>) -> Vec<Question> {
        let meant = |tool: &ToolCall| tool.agent == agent && call.is_none_or(|call| call == tool.call);
        self.take(|question| meant(&question.tool))
    }

    pub(super) fn take(&mut self, meant: impl Fn(&Question) -> bool) -> Vec<Question> {
        self.questions.extract_if(.., |_, question| meant(question)).map(|(_, question)| question).collect()
    }

    /// Its last connection ended. A goodbye is for good.
    pub(super) fn left(&mut self, who: &Who, said_goodbye: bool, now_ms: u64) {
        self.session.retain(|(of, _), away| {
            if of == who {
                *away = Some(now_ms);
            }
            of != who || !said_goodbye
        });
    }

    /// It is there; what was allowed to one that was away too long was allowed to another.
    pub(super) fn came(&mut self, who: &Who, now_ms: u64, grace_ms: u64) {
        self.session.retain(|(of, _), away| {
            let too_long = too_long(*away, now_ms, grace_ms);
            if of == who && !too_long {
                *away = None;
            }
            of != who || !too_long
        });
    }

    /// What was allowed in a window ends with it.
    pub(super) fn closed(&mut self, window: WindowId) {
        self.session.retain(|(who, _), _| who.window != window);
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
        Who { window: WindowId(1), key: key.to_owned(), name: key.to_owned() }
    }

    fn allowed() -> Consent {
        let mut consent = Consent::new("1ife");
        consent.allow_for_session(who("one"), Deed::Command);
        consent.allow_for_session(who("two"), Deed::Command);
        consent
    }

    fn given(consent: &Consent) -> [bool; 2] {
        given_at(consent, 500)
    }

    fn given_at(consent: &Consent, now_ms: u64) -> [bool; 2] {
        let client = Client { name: String::new(), dialect: String::new(), folders: Vec::new() };
        let times = (now_ms, GRACE_MS);
        ["one", "two"].map(|key| consent.given(&who(key), &client, Deed::Command, times).is_some())
    }

    #[test]
    fn what_was_allowed_to_one_that_is_away_ends_by_itself() {
        let mut consent = allowed();
        consent.left(&who("one"), false, 500);
        assert_eq!(given_at(&consent, 500 + GRACE_MS), [true, true]);
        assert_eq!(given_at(&consent, 501 + GRACE_MS), [false, true]);
    }

    #[test]
    fn what_was_allowed_to_an_agent_that_stayed_away_too_long_is_not_allowed_to_the_next() {
        for (back_ms, expected) in [(500 + GRACE_MS, true), (501 + GRACE_MS, false)] {
            let mut consent = allowed();
            consent.left(&who("one"), false, 500);
            consent.came(&who("one"), back_ms, GRACE_MS);
            assert_eq!(given(&consent), [expected, true]);
        }
    }

    #[test]
    fn who_came_back_in_time_is_there_again() {
        let mut consent = allowed();
        consent.left(&who("one"), false, 500);
        consent.came(&who("one"), 600, GRACE_MS);
        consent.came(&who("one"), 9000, GRACE_MS);
        assert_eq!(given(&consent), [true, true]);
    }

    #[test]
    fn a_goodbye_and_a_closed_window_end_what_was_allowed() {
        let mut consent = allowed();
        consent.left(&who("one"), true, 500);
        assert_eq!(given(&consent), [false, true]);
        consent.closed(WindowId(2));
        assert_eq!(given(&consent), [false, true]);
        consent.closed(WindowId(1));
        assert_eq!(given(&consent), [false, false]);
    }
    #[test]
    fn what_is_revoked_is_what_was_named() {
        for (name, deeds, expected) in [
            (Some("one"), &[][..], [false, true]),
            (Some("one"), &[Deed::Command], [false, true]),
            (Some("one"), &[Deed::Git], [true, true]),
            (None, &[Deed::Command], [false, false]),
            (None, &[], [false, false]),
        ] {
            let mut consent = allowed();
            let revoked = consent.revoke(name, deeds);
            assert_eq!(given(&consent), expected, "{name:?} {deeds:?}");
            assert_eq!(revoked, expected.iter().filter(|given| !**given).count());
        }
    }
}
