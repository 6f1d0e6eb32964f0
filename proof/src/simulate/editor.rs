//! Simulated editors: documents with unsaved text, reviews on a screen, windows that reload, hang and come back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use linkspan_editor_api::{self as api, ReviewEditedResult, ReviewShow};
use linkspan_review::{ReviewId, Text, decode};
use serde_json::{Value, json};

use super::simulation::{SimEvent, Simulation};
use super::user::UserDecision;
use super::wire::{Endpoint, Peer, ToHub, ToPeer, WireId};

pub(super) struct Editor {
    pub(super) wire: Option<WireId>,
    /// Where agents find it, and what the hub calls it.
    pub(super) port: Option<u16>,
    pub(super) window: String,
    attached: bool,
    /// They outlive a reload, unsaved text too.
    pub(super) documents: BTreeMap<PathBuf, Document>,
    /// What is on the person's screen.
    pub(super) shown: BTreeMap<String, ReviewShow>,
    /// Questions on it.
    pub(super) asks: BTreeSet<String>,
    next_id: i64,
    asked: BTreeMap<i64, EditorRequest>,
    hangs_until: u64,
}

pub(super) struct Document {
    pub(super) text: Text,
    version: i64,
    dirty: bool,
    /// What the file held when it was last read or saved.
    seen: Vec<u8>,
}

enum EditorRequest {
    Attach,
    Edited { review: String, text: String },
    Decided { params: Value, word: (ReviewId, UserDecision) },
    Answered,
}

impl Editor {
    pub(super) fn new(_number: usize) -> Editor {
        Editor {
            wire: None,
            port: None,
            window: String::new(),
            attached: false,
            documents: BTreeMap::new(),
            shown: BTreeMap::new(),
            asks: BTreeSet::new(),
            next_id: 0,
            asked: BTreeMap::new(),
            hangs_until: 0,
        }
    }
}

impl Simulation {
    pub(super) fn editor_turn(&mut self, number: usize) {
        if self.leaving {
            if let Some(wire) = self.editors[number].wire.take() {
                self.says_to_hub(wire, &json!({ "jsonrpc": "2.0", "method": "detach", "params": {} }));
                self.send_to_hub(wire, ToHub::Closed);
            }
            return;
        }
        let pause = if self.calm { 300 } else { 200 + self.chance.below(4_000) as u64 };
        self.later(pause, SimEvent::Turn(Peer::Editor(number)));
        let Some(wire) = self.editors[number].wire else {
            if self.hub.is_up() {
                self.editor_connects(number);
            }
            return;
        };
        if !self.editors[number].attached || self.editors[number].hangs_until > self.now {
            return;
        }
        if self.calm {
            self.person_answers(number, wire);
            return self.person_decides(number, wire);
        }
        match self.chance.below(100) {
            0..45 if !self.editors[number].asks.is_empty() && self.chance.in_hundred(40) => {
                self.person_answers(number, wire);
            }
            0..45 => self.person_decides(number, wire),
            45..52 => self.person_edits(number, wire),
            52..62 => self.opens_document(number),
            62..72 => self.types(number),
            72..77 => self.saves(number),
            77..80 => self.closes_document(number),
            80..82 => self.reloads(number, wire),
            82 => {
                self.count("editors that hung");
                self.editors[number].hangs_until = self.now + self.chance.below(60_000) as u64;
            }
            83..90 => self.person_answers(number, wire),
            _ => self.reads_again(number),
        }
    }

    fn editor_connects(&mut self, number: usize) {
        let wire = self.open(Peer::Editor(number), Endpoint::Socket);
        self.count("editors attached");
        let attach = json!({
            "protocol": api::PROTOCOL, "version": "0.0.0", "pid": 7,
            "editor": { "name": format!("Editor {number}"), "version": "1" }, "folders": [format!("/ws{number}")],
            "windowId": format!("window-{number}"),
            "capabilities": { "reviews": true, "documents": true, "edits": true, "editRanges": true, "diagnostics": true,
                "questions": true, "terminal": true },
        });
        self.editors[number].wire = Some(wire);
        self.editor_asks(number, wire, "attach", &attach, EditorRequest::Attach);
    }

    pub(super) fn says_to_hub(&mut self, wire: WireId, frame: &Value) {
        self.send_to_hub(wire, ToHub::Text(frame.to_string()));
    }

    fn editor_asks(
        &mut self,
        number: usize,
        wire: WireId,
        method: &str,
        params: &Value,
        asked: EditorRequest,
    ) {
        let editor = &mut self.editors[number];
        editor.next_id += 1;
        let id = editor.next_id;
        editor.asked.insert(id, asked);
        self.says_to_hub(wire, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    pub(super) fn editor_answers_question(&mut self, number: usize, wire: WireId, answer: &Value) {
        self.editor_asks(number, wire, "user/answered", answer, EditorRequest::Answered);
    }

    fn person_decides(&mut self, number: usize, wire: WireId) {
        let shown = self.editors[number].shown.len();
        if shown == 0 {
            return;
        }
        let at = self.chance.below(shown);
        let Some(show) = self.editors[number].shown.values().nth(at).cloned() else { return };
        let (decided, word) = self.decision_on(&show, "decisions in an editor");
        let asked = || EditorRequest::Decided { params: decided.clone(), word: word.clone() };
        self.editor_asks(number, wire, "review/decided", &decided, asked());
        // The user clicks twice.
        if self.fault(30) {
            self.count("duplicate decisions");
            self.editor_asks(number, wire, "review/decided", &decided, asked());
        }
    }

    /// The user types into the proposed side.
    fn person_edits(&mut self, number: usize, wire: WireId) {
        let shown = self.editors[number].shown.len();
        let at = self.chance.below(shown.max(1));
        let Some(show) = self.editors[number].shown.values().nth(at).cloned() else { return };
        self.count("edits of proposals");
        let text = self.changed(&show.proposed);
        let edited =
            json!({ "review": show.review, "revision": show.revision, "digest": show.digest, "text": text });
        let asked = EditorRequest::Edited { review: show.review, text };
        self.editor_asks(number, wire, "review/edited", &edited, asked);
    }

    fn opens_document(&mut self, number: usize) {
        let folder = format!("/ws{number}/");
        let here = self.disk.keys().filter(|path| path.starts_with(&folder));
        let here: Vec<PathBuf> = here.cloned().collect();
        let path = here[self.chance.below(here.len())].clone();
        if !self.editors[number].documents.contains_key(&path) {
            self.reads_document(number, path);
        }
    }

    fn reads_document(&mut self, number: usize, path: PathBuf) {
        let seen = self.disk.get(&path).cloned().unwrap_or_default();
        let text = decode(&seen).expect("all files are text");
        let version = self.editors[number].documents.get(&path).map_or(1, |document| document.version + 1);
        let document = Document { text, version, dirty: false, seen };
        self.editors[number].documents.insert(path, document);
    }

    /// Sooner or later an editor sees that a file has changed under a document without unsaved text.
    fn reads_again(&mut self, number: usize) {
        let stale = self.editors[number].documents.iter().find(|(path, document)| {
            !document.dirty && self.disk.get(*path).is_some_and(|bytes| *bytes != document.seen)
        });
        if let Some(path) = stale.map(|(path, _)| path.clone()) {
            self.reads_document(number, path);
        }
    }

    fn some_document(&mut self, number: usize, dirty: bool) -> Option<PathBuf> {
        let documents = self.editors[number].documents.iter();
        let there: Vec<PathBuf> = documents
            .filter(|(_, document)| !dirty || document.dirty)
            .map(|(path, _)| path.clone())
            .collect();
        let at = self.chance.below(there.len().max(1));
        there.into_iter().nth(at)
    }

    fn types(&mut self, number: usize) {
        let Some(path) = self.some_document(number, false) else { return };
        self.count("unsaved texts typed");
        let text = self.editors[number].documents[&path].text.text.clone();
        let text = self.changed(&text);
        let document = self.editors[number].documents.get_mut(&path).expect("it is open");
        document.text.text = text.into();
        document.version += 1;
        document.dirty = true;
    }

    fn saves(&mut self, number: usize) {
        let Some(path) = self.some_document(number, true) else { return };
        self.count("documents saved");
        self.puts_on_disk(number, &path);
    }

    fn puts_on_disk(&mut self, number: usize, path: &PathBuf) {
        let document = self.editors[number].documents.get_mut(path).expect("it is open");
        document.seen = document.text.encode().expect("it was text").to_vec();
        document.dirty = false;
        let bytes = document.seen.clone();
        self.puts(path.clone(), Some(bytes));
        self.look_for_undone(path);
    }

    fn closes_document(&mut self, number: usize) {
        let Some(path) = self.some_document(number, false) else { return };
        if !self.editors[number].documents[&path].dirty {
            self.editors[number].documents.remove(&path);
        }
    }

    fn reloads(&mut self, number: usize, wire: WireId) {
        self.count("editors reloaded");
        self.send_to_hub(wire, ToHub::Closed);
        self.editor_lost(number);
    }

    fn editor_lost(&mut self, number: usize) {
        let editor = &mut self.editors[number];
        editor.wire = None;
        editor.attached = false;
        editor.shown.clear();
        editor.asks.clear();
        editor.asked.clear();
        editor.next_id = 0;
    }

    pub(super) fn editor_hears(&mut self, number: usize, wire: WireId, what: ToPeer) {
        if self.editors[number].wire != Some(wire) {
            return;
        }
        let frame = match what {
            ToPeer::Closed => return self.editor_lost(number),
            ToPeer::Ping(_) | ToPeer::Event(..) => return,
            // It reads nothing; what it would have answered comes too late.
            ToPeer::Frame(frame) if self.editors[number].hangs_until > self.now && !self.calm => {
                let until = self.editors[number].hangs_until;
                self.wire(wire).to_peer_at = until;
                self.wire(wire).unread += 1;
                return self.at(until, SimEvent::AtPeer(wire, ToPeer::Frame(frame)));
            }
            ToPeer::Frame(frame) => frame,
        };
        match frame["method"].as_str() {
            Some(method) => {
                let result = self.editor_answers(number, method, &frame["params"]);
                let answer = match result {
                    Some(result) => json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result }),
                    None => {
                        let error = json!({ "code": -32601, "message": "this editor cannot" });
                        json!({ "jsonrpc": "2.0", "id": frame["id"], "error": error })
                    }
                };
                self.says_to_hub(wire, &answer);
            }
            None => self.editor_is_answered(number, &frame),
        }
    }

    fn editor_is_answered(&mut self, number: usize, frame: &Value) {
        let asked = frame["id"].as_i64().and_then(|id| self.editors[number].asked.remove(&id));
        match asked {
            Some(EditorRequest::Attach) => {
                let result: Result<api::AttachResult, _> = serde_json::from_value(frame["result"].clone());
                let Ok(result) = result else { return };
                let editor = &mut self.editors[number];
                editor.attached = true;
                (editor.port, editor.window) = (Some(result.port), result.window);
            }
            Some(EditorRequest::Edited { review, text }) => {
                let result = serde_json::from_value(frame["result"].clone());
                let shown = self.editors[number].shown.get_mut(&review);
                if let (Ok(ReviewEditedResult::Taken { revision, digest, hunks }), Some(shown)) =
                    (result, shown)
                    && revision >= shown.revision
                {
                    (shown.revision, shown.digest, shown.hunks, shown.proposed) =
                        (revision, digest, hunks, text);
                    shown.conflicts.clear();
                }
            }
            Some(EditorRequest::Decided { params, word }) => {
                if let Some(params) = self.writes_here(&frame["result"], &params, &word)
                    && let Some(wire) = self.editors[number].wire
                {
                    let asked = EditorRequest::Decided { params: params.clone(), word };
                    self.editor_asks(number, wire, "review/decided", &params, asked);
                }
                self.count(match frame["result"]["kind"].as_str() {
                    Some("taken") => "decisions taken",
                    Some("askAgain") => "decisions asked for again",
                    Some("stale") => "decisions on an older revision",
                    Some("alreadyDecided") => "decisions that came second",
                    _ => "decisions refused",
                });
            }
            Some(EditorRequest::Answered) | None => {}
        }
    }

    fn editor_answers(&mut self, number: usize, method: &str, params: &Value) -> Option<Value> {
        let path = || params["path"].as_str().map(PathBuf::from);
        match method {
            "ping" => Some(Value::Null),
            "review/show" => {
                let show: ReviewShow = serde_json::from_value(params.clone()).expect("a review");
                self.count("reviews shown");
                self.editors[number].shown.insert(show.review.clone(), show);
                Some(Value::Null)
            }
            "review/waiting" => {
                self.count("reviews said to have lost or found their agent");
                Some(Value::Null)
            }
            "review/hide" => {
                self.editors[number].shown.remove(params["review"].as_str()?);
                Some(Value::Null)
            }
            "user/ask" => {
                self.count("questions shown");
                self.editors[number].asks.insert(params["ask"].as_str()?.to_owned());
                Some(Value::Null)
            }
            "user/unask" => {
                self.count("questions taken off a screen");
                self.editors[number].asks.remove(params["ask"].as_str()?);
                Some(Value::Null)
            }
            "terminal/run" => {
                self.count("commands run");
                Some(json!({ "terminal": "t1", "output": "done", "exitCode": 0, "timedOut": false }))
            }
            "document/text" => {
                let document = self.editors[number].documents.get(&path()?);
                Some(match document {
                    None => json!({ "open": false }),
                    Some(document) => json!({
                        "open": true, "dirty": document.dirty, "version": document.version,
                        "text": document.text.text.as_str(),
                    }),
                })
            }
            "edits/apply" => Some(self.applies(number, path()?, params)),
            _ => None,
        }
    }

    /// Only on the version that was asked for, and saved only over the file that the editor knows.
    fn applies(&mut self, number: usize, path: PathBuf, params: &Value) -> Value {
        let version = params["version"].as_i64();
        let document = self.editors[number].documents.get(&path);
        let Some(document) =
            document.filter(|document| version.is_none_or(|version| version == document.version))
        else {
            self.count("edits of documents that had moved on");
            return json!({ "applied": false });
        };
        let (held, dirty) = (document.text.text.clone(), document.dirty);
        let edits: api::Edits = serde_json::from_value(params["edits"].clone()).expect("edits");
        let Some(text) = edits.applied_to(&held) else {
            self.promises.broken("2: the hub edits a text that the editor does not hold".to_owned());
            return json!({ "applied": false });
        };
        let text = text.as_str();
        self.count("changes written by editors");
        self.edit_applied(&path, &held, dirty, text);
        let document = self.editors[number].documents.get_mut(&path).expect("it is open");
        document.text.text = text.to_owned().into();
        document.version += 1;
        document.dirty = true;
        let (known, save) = (document.seen.clone(), params["save"] == true);
        let saved = save && self.disk.get(&path) == Some(&known) && !self.fault(20);
        let mut made = None;
        if saved {
            // The person's own rules for saving.
            if self.fault(50) {
                let text = self.changed(text);
                let document = self.editors[number].documents.get_mut(&path).expect("it is open");
                document.text.text = text.clone().into();
                document.version += 1;
                made = Some(text);
                self.count("texts changed by rules for saving");
            }
            self.puts_on_disk(number, &path);
        }
        let version = self.editors[number].documents[&path].version;
        let mut result = json!({ "applied": true, "saved": saved, "version": version });
        if let (Some(text), Some(result)) = (made, result.as_object_mut()) {
            result.insert("text".to_owned(), text.into());
        }
        result
    }
}
