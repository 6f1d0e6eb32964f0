//! The conversation with a daemon: follows threads, asks for a review of each patch that waits for an approval, and
//! answers it. Requests that are not understood are never answered, not even with an error: the daemon would take that
//! for a no, also in the user's terminal.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::approval::{AnnouncedItems, AnsweredRequests, Approval, ApprovalStage};
use super::frames::{
    Frame, InitializeResult, Item, ItemParams, LoadedList, RequestApproval, RequestResolved, StatusChanged,
    Thread, ThreadParams, TurnParams, WithHistory, WithThread, decision, input, notification, read, request,
};
use super::threads::Threads;
use super::words;
use crate::answer::{Answer, EditorEvent};
use crate::conversation::{AgentFrame, CallId, Conversation, ExchangeId, ServerFacts, Step};
use crate::open_calls::OpenCalls;
use crate::outcome::Accepted;
use crate::patch::PatchFile;
use crate::request::Request;

/// More than anyone decides at a time; further patches are left to the terminal.
const OPEN_APPROVALS: usize = 64;

/// How many threads a daemon may list at once.
const LISTED: usize = 256;

/// Requests of ours that were not answered.
const OPEN_REQUESTS: usize = 1024;

#[derive(Debug)]
pub(super) struct CodexConversation {
    server: ServerFacts,
    threads: Threads,
    announced: AnnouncedItems,
    open: OpenCalls<Approval>,
    answered: AnsweredRequests,
    /// Approvals whose patch is being asked for.
    unknown: Vec<Approval>,
    asked: BTreeMap<u64, OwnRequest>,
    next_request: u64,
    frames: Vec<String>,
    steps: VecDeque<Step>,
    pinged: u64,
    ponged: u64,
}

/// A request of ours that waits for its response.
#[derive(Debug)]
enum OwnRequest {
    Initialize,
    ListThreads,
    ReadThread,
    Resume {
        thread: String,
    },
    /// With its history, for the patch that waits in it.
    LookUp {
        thread: String,
    },
    /// The text for the model, in case that the turn is over.
    Steer {
        call: CallId,
        thread: String,
        text: String,
    },
    StartTurn {
        call: CallId,
    },
}

impl CodexConversation {
    pub(super) fn new(server: ServerFacts) -> CodexConversation {
        CodexConversation {
            server,
            threads: Threads::default(),
            announced: AnnouncedItems::default(),
            open: OpenCalls::default(),
            answered: AnsweredRequests::default(),
            unknown: Vec::new(),
            asked: BTreeMap::new(),
            next_request: 1,
            frames: Vec::new(),
            steps: VecDeque::new(),
            pinged: 0,
            ponged: 0,
        }
    }

    fn ask(&mut self, what: OwnRequest, method: &str, params: &Value) {
        if self.asked.len() >= OPEN_REQUESTS {
            self.asked.pop_first();
        }
        let id = self.next_request;
        self.next_request += 1;
        self.asked.insert(id, what);
        self.frames.push(request(id, method, params));
    }

    fn response(&mut self, frame: &Frame<'_>) {
        let id = frame.id.as_ref().and_then(Value::as_u64);
        let Some(asked) = id.and_then(|id| self.asked.remove(&id)) else { return };
        match asked {
            OwnRequest::Initialize => {
                let agent: Option<InitializeResult> = read(frame.result);
                let version =
                    agent.as_ref().and_then(|agent| version_of(&agent.user_agent)).unwrap_or_default();
                let name = "Codex".to_owned();
                let reply = notification("initialized");
                self.steps.push_back(Step::Introduced { name, version: version.to_owned(), reply });
                self.ask(OwnRequest::ListThreads, "thread/loaded/list", &json!({}));
            }
            OwnRequest::ListThreads => {
                let list: Option<LoadedList> = read(frame.result);
                for id in list.into_iter().flat_map(|list| list.data).take(LISTED) {
                    self.ask(OwnRequest::ReadThread, "thread/read", &json!({ "threadId": id }));
                }
            }
            OwnRequest::ReadThread => {
                if let Some(WithThread { thread }) = read(frame.result) {
                    self.thread_seen(thread);
                }
            }
            OwnRequest::Resume { thread } if frame.result.is_none() => self.threads.unfollow(&thread),
            OwnRequest::Resume { .. } => {}
            OwnRequest::LookUp { thread } => {
                let found: Option<WithHistory> = read(frame.result);
                let turns = found.into_iter().flat_map(|found| found.thread.turns);
                // Only what waits: the history may be long.
                let is_meant =
                    |item: &Item| self.unknown.iter().any(|waiting| waiting.is_of(&thread, &item.id));
                let items: Vec<Item> = turns.flat_map(|turn| turn.items).filter(is_meant).collect();
                for item in items {
                    let id = item.id.clone();
                    self.announce(&thread, &id, item.files());
                }
                let (of_thread, others) = std::mem::take(&mut self.unknown)
                    .into_iter()
                    .partition(|waiting| waiting.thread == thread);
                self.unknown = others;
                let of_thread: Vec<Approval> = of_thread;
                of_thread.into_iter().for_each(|approval| self.begin_review(approval));
            }
            // The turn ended before the text came: it begins the next one.
            OwnRequest::Steer { call, thread, text } if frame.result.is_none() => {
                let params = json!({ "threadId": thread, "input": input(&text) });
                self.ask(OwnRequest::StartTurn { call }, "turn/start", &params);
            }
            OwnRequest::Steer { call, .. } | OwnRequest::StartTurn { call } => self.confirm(call),
        }
    }

    fn thread_seen(&mut self, thread: Thread) {
        if !thread.ephemeral && self.threads.add(&thread.id, thread.cwd.clone()) {
            self.steps.push_back(Step::Thread { thread: thread.id, cwd: thread.cwd });
        }
    }

    fn notified(&mut self, method: &str, frame: &Frame<'_>) {
        match method {
            "thread/started" => {
                if let Some(WithThread { thread }) = read(frame.params) {
                    self.thread_seen(thread);
                }
            }
            "thread/status/changed" => {
                if let Some(changed) = read::<StatusChanged>(frame.params) {
                    self.status_changed(changed);
                }
            }
            "thread/closed" | "thread/deleted" | "thread/archived" => {
                if let Some(ThreadParams { thread_id }) = read(frame.params) {
                    self.thread_gone(&thread_id);
                }
            }
            "item/started" => {
                if let Some(ItemParams { thread_id, item }) = read(frame.params)
                    && item.kind == "fileChange"
                {
                    let id = item.id.clone();
                    self.announce(&thread_id, &id, item.files());
                }
            }
            "item/completed" => {
                if let Some(ItemParams { thread_id, item }) = read(frame.params) {
                    self.announced.remove(&thread_id, &item.id);
                    self.item_done(&thread_id, &item.id, item.status.as_deref() == Some("completed"));
                }
            }
            "turn/completed" => {
                if let Some(TurnParams { thread_id, turn }) = read(frame.params) {
                    self.turn_done(&thread_id, &turn.id);
                }
            }
            "serverRequest/resolved" => {
                if let Some(resolved) = read::<RequestResolved>(frame.params) {
                    let is_it = |approval: &Approval| {
                        approval.thread == resolved.thread_id && approval.request == resolved.request_id
                    };
                    self.unknown.retain(|approval| !is_it(approval));
                    self.settled_elsewhere(is_it);
                }
            }
            _ => {}
        }
    }

    fn status_changed(&mut self, StatusChanged { thread_id: thread, status }: StatusChanged) {
        if status.kind != "active" || self.threads.is_followed(&thread) {
            return;
        }
        match self.threads.cwd(&thread).map(PathBuf::from) {
            // The windows may be others than before.
            Some(cwd) => self.steps.push_back(Step::Thread { thread, cwd }),
            None => self.ask(OwnRequest::ReadThread, "thread/read", &json!({ "threadId": thread })),
        }
    }

    fn thread_gone(&mut self, thread: &str) {
        self.threads.remove(thread);
        self.announced.forget_thread(thread);
        self.unknown.retain(|approval| approval.thread != thread);
        self.settled_elsewhere(|approval| approval.thread == thread);
    }

    fn announce(&mut self, thread: &str, item: &str, files: Option<Vec<PatchFile>>) {
        if let Some(files) = files.filter(|files| !files.is_empty()) {
            self.announced.add(thread, item, files);
        }
    }

    fn approval_asked(&mut self, id: Value, frame: &Frame<'_>) {
        let Some(RequestApproval { thread_id, turn_id, item_id }) = read(frame.params) else { return };
        let is_it = |open: &Approval| open.thread == thread_id && open.request == id;
        // It is sent again to a client that follows its thread once more.
        let is_known = self.open.find(is_it).is_some() || self.unknown.iter().any(is_it);
        if is_known || self.answered.contains(&thread_id, &id) {
            return;
        }
        if self.open.ids().count() + self.unknown.len() >= OPEN_APPROVALS {
            return;
        }
        let stage = ApprovalStage::Asked;
        let approval = Approval { thread: thread_id, turn: turn_id, item: item_id, request: id, stage };
        if self.announced.get(&approval.thread, &approval.item).is_some() {
            return self.begin_review(approval);
        }
        // It was announced before we followed the thread. Only the whole history has what is not finished:
        // `thread/items/list` leaves it out.
        let params = json!({ "threadId": approval.thread });
        self.ask(OwnRequest::LookUp { thread: approval.thread.clone() }, "thread/resume", &params);
        self.unknown.push(approval);
    }

    /// A patch whose contents are not known is left to the terminal.
    fn begin_review(&mut self, approval: Approval) {
        let files = self.announced.get(&approval.thread, &approval.item).map(<[PatchFile]>::to_vec);
        let cwd = self.threads.cwd(&approval.thread).map(PathBuf::from);
        let (Some(files), Some(cwd)) = (files, cwd) else { return };
        let request = Request::Patch { files, cwd, set: approval.item.clone(), can_apply: true };
        let call = self.open.begin(None, approval);
        self.steps.push_back(Step::Call { call, request });
    }

    /// The patch was applied, declined or given up.
    fn item_done(&mut self, thread: &str, item: &str, applied: bool) {
        let calls: Vec<CallId> = self.open.ids().collect();
        for call in calls {
            let Some(open) = self.open.get_mut(call).filter(|open| open.what.is_of(thread, item)) else {
                continue;
            };
            match open.what.stage {
                ApprovalStage::Asked => {
                    self.open.end(call);
                    self.steps.push_back(Step::Cancelled(call));
                }
                ApprovalStage::Declining => {
                    open.what.stage =
                        if applied { ApprovalStage::Overruled } else { ApprovalStage::Declined };
                    self.steps.push_back(Step::Declined { call, applied });
                }
                ApprovalStage::Answered { .. } => self.confirm(call),
                ApprovalStage::Declined | ApprovalStage::Overruled => {}
            }
        }
    }

    /// No patch of that turn is applied later.
    fn turn_done(&mut self, thread: &str, turn: &str) {
        let is_its = |open: &Approval| open.thread == thread && open.turn == turn;
        self.unknown.retain(|approval| !is_its(approval));
        let calls: Vec<CallId> = self.open.ids().collect();
        let its = calls.iter().filter_map(|call| self.open.get(*call)).filter(|open| is_its(&open.what));
        let items: Vec<String> = its.map(|open| open.what.item.clone()).collect();
        items.iter().for_each(|item| self.item_done(thread, item, false));
    }

    /// Somebody else answered, or nobody has to.
    fn settled_elsewhere(&mut self, is_it: impl Fn(&Approval) -> bool) {
        let is_asked = |open: &Approval| open.stage == ApprovalStage::Asked && is_it(open);
        while let Some(call) = self.open.find(is_asked) {
            self.open.end(call);
            self.steps.push_back(Step::Cancelled(call));
        }
    }

    /// One more confirmation that our answer arrived.
    fn confirm(&mut self, call: CallId) {
        let Some(open) = self.open.get_mut(call) else { return };
        match &mut open.what.stage {
            ApprovalStage::Answered { awaited } if *awaited > 1 => *awaited -= 1,
            ApprovalStage::Answered { .. } => drop(self.open.end(call)),
            _ => {}
        }
    }

    /// Sends the text into the running turn, if there is one; returns how many confirmations that brings.
    fn steer(&mut self, call: CallId, text: Option<String>) -> u8 {
        let Some(text) = text else { return 0 };
        let Some(open) = self.open.get(call) else { return 0 };
        let (thread, turn) = (open.what.thread.clone(), open.what.turn.clone());
        let params = json!({ "threadId": thread, "expectedTurnId": turn, "input": input(&text) });
        self.ask(OwnRequest::Steer { call, thread, text }, "turn/steer", &params);
        1
    }

    fn decided(&mut self, call: CallId, parts: &[(PathBuf, Answer)]) -> Option<AgentFrame> {
        let open = self.open.get(call)?;
        let (id, stage) = (open.what.request.clone(), open.what.stage);
        let (frame, awaited) = match stage {
            ApprovalStage::Asked if parts.iter().all(|(_, answer)| is_as_proposed(answer)) => {
                (Some(decision(&id, "accept")), 1 + self.steer(call, words::after_accept(parts)))
            }
            // Nobody decided anything: that is left to the terminal.
            ApprovalStage::Asked if parts.iter().all(|(_, answer)| matches!(answer, Answer::Failed(_))) => {
                (None, 0)
            }
            ApprovalStage::Asked => {
                (Some(decision(&id, "decline")), 1 + self.steer(call, words::after_decline(parts)))
            }
            ApprovalStage::Declined => (None, self.steer(call, words::after_decline(parts))),
            ApprovalStage::Overruled => (None, 0),
            ApprovalStage::Declining | ApprovalStage::Answered { .. } => return None,
        };
        if frame.is_some()
            && let Some(open) = self.open.get(call)
        {
            self.answered.add(&open.what.thread, &open.what.request);
        }
        match awaited {
            0 => drop(self.open.end(call)),
            awaited => self.open.get_mut(call)?.what.stage = ApprovalStage::Answered { awaited },
        }
        frame.map(|text| AgentFrame { text, answers: None })
    }
}

impl Conversation for CodexConversation {
    fn begin(&mut self) {
        let version = self.server.version.clone();
        let client = json!({ "name": "linkspan", "title": "Linkspan", "version": version });
        self.ask(OwnRequest::Initialize, "initialize", &json!({ "clientInfo": client }));
    }

    fn receive(&mut self, frame: &str, _exchange: Option<ExchangeId>) -> Step {
        if let Ok(mut frame) = serde_json::from_str::<Frame<'_>>(frame) {
            match (frame.method.take(), frame.id.take()) {
                (Some(method), Some(id)) if method == "item/fileChange/requestApproval" => {
                    self.approval_asked(id, &frame);
                }
                (Some(_), Some(_)) | (None, None) => {}
                (Some(method), None) => self.notified(&method, &frame),
                (None, id) => {
                    frame.id = id;
                    self.response(&frame);
                }
            }
        }
        self.next_step().unwrap_or(Step::Nothing)
    }

    fn next_step(&mut self) -> Option<Step> {
        let is_waiting = |open: &Approval| open.is_unconfirmed();
        match self.steps.pop_front() {
            None if self.pinged > self.ponged && self.open.find(is_waiting).is_none() => {
                self.ponged = self.pinged;
                Some(Step::Pong(self.pinged))
            }
            step => step,
        }
    }

    fn take_frames(&mut self) -> Vec<String> {
        std::mem::take(&mut self.frames)
    }

    fn follow_thread(&mut self, thread: &str) {
        if self.threads.follow(thread) {
            let params = json!({ "threadId": thread, "excludeTurns": true });
            self.ask(OwnRequest::Resume { thread: thread.to_owned() }, "thread/resume", &params);
        }
    }

    fn decline(&mut self, call: CallId) -> Option<AgentFrame> {
        let open = self.open.get_mut(call).filter(|open| open.what.stage == ApprovalStage::Asked)?;
        open.what.stage = ApprovalStage::Declining;
        self.answered.add(&open.what.thread, &open.what.request);
        Some(AgentFrame { text: decision(&open.what.request, "decline"), answers: None })
    }

    fn answer(&mut self, call: CallId, answer: &Answer) -> Option<AgentFrame> {
        match answer {
            Answer::Set(parts) => self.decided(call, parts),
            // It cannot be reviewed here: that is left to the terminal.
            _ => {
                self.open.end(call);
                None
            }
        }
    }

    fn event(&self, _event: &EditorEvent) -> Option<String> {
        None
    }

    /// Nothing is sent: what counts is that Codex confirms each answer.
    fn ping(&mut self, number: u64) -> Option<String> {
        self.pinged = self.pinged.max(number);
        None
    }

    fn not_text(&self) -> Option<String> {
        None
    }

    fn open_calls(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        self.open.ids()
    }

    fn open_changes(&self) -> Box<dyn Iterator<Item = (CallId, &str)> + '_> {
        self.open.named(|approval| Some(approval.item.as_str()))
    }
}

/// Codex may apply the patch by itself.
fn is_as_proposed(answer: &Answer) -> bool {
    matches!(answer, Answer::Accepted(accepted) if accepted.is_as_proposed())
}

impl Accepted {
    /// Nothing was changed by the user, and nobody has written it.
    pub fn is_as_proposed(&self) -> bool {
        !self.written && self.person_diff.is_none() && self.hunks.iter().all(|hunk| hunk.taken)
    }
}

/// The version in `codex-tui/0.166.0 (Linux) …`.
fn version_of(user_agent: &str) -> Option<&str> {
    user_agent.split_once('/')?.1.split_whitespace().next()
}
