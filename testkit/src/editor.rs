//! A fake editor: `linkspan attach` on its stdio, documents in memory.

mod state;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

use linkspan_editor_api as api;
use linkspan_editor_api::{
    Attach, Capabilities, Decoder, Limits, Message, Notification, Request, RequestId, RpcError, encode,
};

use state::heard;
pub use state::{Document, EditorState};

use super::world::signal;
use super::{DEADLINE, World, eventually};

type Shared = Arc<(Mutex<EditorState>, Condvar)>;

pub struct EditorBuilder<'w> {
    world: &'w World,
    pub attach: Attach,
    documents: BTreeMap<String, Document>,
    runtime: Option<PathBuf>,
}

pub struct Editor {
    child: Child,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    state: Shared,
    next_id: i64,
    pub attached: api::AttachResult,
}

/// The capabilities of an editor such as VS Code.
pub fn all_capabilities() -> Capabilities {
    Capabilities {
        documents: true,
        selection: true,
        diagnostics: true,
        reviews: true,
        edits: true,
        edit_ranges: true,
        ..Capabilities::default()
    }
}

impl<'w> EditorBuilder<'w> {
    pub fn new(world: &'w World) -> EditorBuilder<'w> {
        let attach = Attach {
            protocol: api::PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            editor: api::Editor { name: "Test Editor".into(), version: "1.2.3".into() },
            pid: std::process::id(),
            folders: vec![world.workspace().to_str().unwrap().into()],
            window_id: None,
            claude_config_dir: None,
            capabilities: all_capabilities(),
        };
        EditorBuilder { world, attach, documents: BTreeMap::new(), runtime: None }
    }

    /// With these open, as an editor that was restarted has them open again, unsaved ones included.
    pub fn documents(mut self, documents: BTreeMap<String, Document>) -> Self {
        self.documents = documents;
        self
    }

    /// Its `linkspan attach` finds the hub's socket under this directory.
    pub fn runtime(mut self, directory: PathBuf) -> Self {
        self.runtime = Some(directory);
        self
    }

    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.attach.capabilities = capabilities;
        self
    }

    pub fn folders(mut self, folders: &[PathBuf]) -> Self {
        self.attach.folders = folders.iter().map(|folder| folder.to_str().unwrap().into()).collect();
        self
    }

    pub fn name(mut self, name: &str) -> Self {
        self.attach.editor.name = name.into();
        self
    }

    pub fn window_id(mut self, id: &str) -> Self {
        self.attach.window_id = Some(id.into());
        self
    }

    #[track_caller]
    pub fn attach(self) -> Editor {
        self.try_attach().unwrap_or_else(|error| panic!("not attached: {error:?}"))
    }

    pub fn try_attach(self) -> Result<Editor, RpcError> {
        let mut command = self.world.command(&["attach"]);
        if let Some(directory) = &self.runtime {
            command.env("XDG_RUNTIME_DIR", directory);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = Arc::new(Mutex::new(child.stdin.take()));
        let state = Shared::default();
        state.0.lock().unwrap().documents = self.documents;
        let stdout = child.stdout.take().unwrap();
        {
            let (state, stdin) = (Arc::clone(&state), Arc::clone(&stdin));
            thread::spawn(move || listen(stdout, &state, &stdin));
        }
        let attached = api::AttachResult {
            window: String::new(),
            port: 0,
            hub_version: String::new(),
            protocol: 0,
            environment: BTreeMap::new(),
            pending_reviews: None,
        };
        let mut editor = Editor { child, stdin, state, next_id: 0, attached };
        editor.attached = editor.request(&self.attach)?;
        Ok(editor)
    }
}

impl Editor {
    /// An editor that can do everything, on the workspace.
    #[track_caller]
    pub fn attach(world: &World) -> Editor {
        EditorBuilder::new(world).attach()
    }

    pub fn port(&self) -> u16 {
        self.attached.port
    }

    /// The process id of `linkspan attach`.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn state(&self) -> MutexGuard<'_, EditorState> {
        self.state.0.lock().unwrap()
    }

    /// Opens a document, as the user would.
    pub fn open(&self, path: &str, text: &str, dirty: bool) {
        let mut state = self.state();
        state.documents.insert(
            path.to_owned(),
            Document { text: text.to_owned(), dirty, version: 1, diagnostics: vec![] },
        );
        state.active = Some(path.to_owned());
    }

    /// The document as it is now.
    #[track_caller]
    pub fn document(&self, path: &str) -> Document {
        self.state().documents.get(path).cloned().unwrap_or_else(|| panic!("{path} is not open"))
    }

    pub fn send<N: Notification>(&self, params: &N) {
        self.send_message(&Message::notification(params));
    }

    pub fn send_message(&self, message: &Message) {
        self.send_bytes(&encode(&message.to_bytes()));
    }

    pub fn send_bytes(&self, bytes: &[u8]) {
        if let Some(stdin) = self.stdin.lock().unwrap().as_mut() {
            let _ = stdin.write_all(bytes);
            let _ = stdin.flush();
        }
    }

    pub fn request<R: Request>(&mut self, params: &R) -> Result<R::Result, RpcError> {
        let id = self.send_request(params);
        self.answer::<R>(id)
    }

    /// Sends a request without waiting; returns its id.
    pub fn send_request<R: Request>(&mut self, params: &R) -> i64 {
        self.next_id += 1;
        self.send_message(&Message::request(RequestId::Number(self.next_id), params));
        self.next_id
    }

    #[track_caller]
    pub fn answer<R: Request>(&self, id: i64) -> Result<R::Result, RpcError> {
        let answer = self.until("an answer", |state| state.answers.remove(&id));
        answer.map(|text| serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    /// Waits until `look` finds something in the state.
    #[track_caller]
    pub fn until<T>(&self, what: &str, mut look: impl FnMut(&mut EditorState) -> Option<T>) -> T {
        let until = Instant::now() + DEADLINE;
        let mut state = self.state.0.lock().unwrap();
        loop {
            if let Some(found) = look(&mut state) {
                return found;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.ended {
                let ended = state.ended;
                // Not while we hold the lock: the listener needs it until the end of the test.
                drop(state);
                panic!("never: {what} (attach ended: {ended})");
            }
            state = self.state.1.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until a review of that file is shown, and returns its newest state.
    #[track_caller]
    pub fn shown(&self, path: &str) -> api::ReviewShow {
        self.until(&format!("{path} is shown"), |state| {
            state.shown.iter().rev().find(|shown| shown.path == path).cloned()
        })
    }

    /// Waits until that revision of a review is shown.
    #[track_caller]
    pub fn shown_revision(&self, review: &str, revision: u32) -> api::ReviewShow {
        self.until(&format!("revision {revision} of {review} is shown"), |state| {
            state.shown.iter().find(|shown| shown.review == review && shown.revision == revision).cloned()
        })
    }

    /// Waits until a review is taken off the screen.
    #[track_caller]
    pub fn hidden(&self, review: &str) -> api::HideReason {
        self.until(&format!("{review} is hidden"), |state| {
            state.hidden.iter().find(|hidden| hidden.review == review).map(|hidden| hidden.reason.clone())
        })
    }

    /// The user decides about what is shown.
    #[track_caller]
    pub fn decide(&mut self, shown: &api::ReviewShow, verdict: api::Verdict) -> api::ReviewDecidedResult {
        let decision = api::Decision { verdict, comments: vec![], write_here: false };
        let decided = api::ReviewDecided {
            review: shown.review.clone(),
            revision: shown.revision,
            digest: Some(shown.digest.clone()),
            decision,
        };
        self.request(&decided).unwrap()
    }

    /// The user edits the proposed side of what is shown; returns what is shown then.
    #[track_caller]
    pub fn edit(&mut self, shown: &api::ReviewShow, text: &str) -> api::ReviewShow {
        match self.try_edit(shown, text) {
            api::ReviewEditedResult::Taken { revision, digest, hunks } => {
                api::ReviewShow { revision, digest, hunks, proposed: text.to_owned(), ..shown.clone() }
            }
            other => panic!("the edit was not taken: {other:?}"),
        }
    }

    #[track_caller]
    pub fn try_edit(&mut self, shown: &api::ReviewShow, text: &str) -> api::ReviewEditedResult {
        let (review, revision) = (shown.review.clone(), shown.revision);
        let digest = Some(shown.digest.clone());
        self.request(&api::ReviewEdited { review, revision, digest, text: text.to_owned() }).unwrap()
    }

    #[track_caller]
    pub fn accept(&mut self, shown: &api::ReviewShow) {
        assert_eq!(self.decide(shown, api::Verdict::Accept), api::ReviewDecidedResult::Taken);
    }

    #[track_caller]
    pub fn reject(&mut self, shown: &api::ReviewShow) {
        let verdict = api::Verdict::Reject { reason: None };
        assert_eq!(self.decide(shown, verdict), api::ReviewDecidedResult::Taken);
    }

    /// Waits until the user has been asked this often, and returns the newest question.
    #[track_caller]
    pub fn question(&self, count: usize) -> api::UserAsk {
        self.until("the user is asked", |state| state.questions.get(count - 1).cloned())
    }

    /// The user answers, or closes the question.
    #[track_caller]
    pub fn reply(&mut self, asked: &api::UserAsk, option: Option<api::AskOption>) {
        let result =
            option.map_or(api::UserAskResult::Dismissed, |option| api::UserAskResult::Answered { option });
        self.request(&api::UserAnswered { ask: asked.ask.clone(), result }).unwrap();
    }

    /// The editor ends without a message, as in a window reload or a crash.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Stops the editor: it reads nothing and answers nothing.
    pub fn stall(&self) {
        self.state().stalled = true;
    }

    pub fn resume(&self) {
        self.state().stalled = false;
        self.state.1.notify_all();
    }

    /// Closes the editor's end of the pipe to `linkspan attach`; its output is still read.
    pub fn close_pipe(&self) {
        self.stdin.lock().unwrap().take();
    }

    /// Waits until `linkspan attach` has ended by itself.
    #[track_caller]
    pub fn attach_ends(&mut self) {
        let child = &mut self.child;
        eventually("attach has ended", || child.try_wait().unwrap());
    }

    /// Freezes `linkspan attach`, so that nothing of the editor answers.
    pub fn freeze(&self) {
        signal(self.child.id(), rustix::process::Signal::STOP);
    }

    pub fn thaw(&self) {
        signal(self.child.id(), rustix::process::Signal::CONT);
    }

    /// Detaches for good.
    pub fn detach(mut self) {
        self.send(&api::Detach {});
        self.close();
    }

    /// Closes stdin and waits for `linkspan attach` to end; returns its exit code.
    pub fn close(&mut self) -> i32 {
        self.stdin.lock().unwrap().take();
        let child = &mut self.child;
        eventually("attach has ended", || child.try_wait().unwrap()).code().unwrap_or(-1)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return;
        }
        self.thaw();
        self.resume();
        if thread::panicking() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        } else {
            self.send(&api::Detach {});
            self.close();
        }
    }
}

fn listen(mut from: impl Read, shared: &Shared, stdin: &Mutex<Option<ChildStdin>>) {
    let mut decoder = Decoder::new(Limits::default());
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        decoder.push(&buffer[..length]);
        while let Some(frame) = decoder.next().unwrap() {
            let state = shared.0.lock().unwrap();
            let mut state = shared.1.wait_while(state, |state| state.stalled).unwrap();
            let reply = heard(&mut state, Message::parse(&frame).unwrap());
            drop(state);
            shared.1.notify_all();
            if let (Some(reply), Some(stdin)) = (reply, stdin.lock().unwrap().as_mut()) {
                let _ = stdin.write_all(&encode(&reply.to_bytes()));
            }
        }
    }
    shared.0.lock().unwrap().ended = true;
    shared.1.notify_all();
}
