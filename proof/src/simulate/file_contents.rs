//! What files have held, and what is promised of accepted changes: "on disk" is said only of what a file held, an
//! accept that was taken is in the file or its agent was told while it waited, and no edit by place is made twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use linkspan_review::{Digest, Review, ReviewEnd, ReviewId, Step, Writer, decode};
use serde_json::Value;

use super::conversations::is_hosted;
use super::promises::{Durable, is_written_by_hub};
use super::simulation::Simulation;

/// Begins each line that is inserted by its place. Each is another.
pub(super) const INSERTED: &str = "inserted";

pub(super) const MARK: &str = "\u{feff}";

#[derive(Default)]
pub(super) struct FileContents {
    /// Until when each file held each content that it no longer holds.
    held: BTreeMap<(PathBuf, Digest), u64>,
    /// Accepts that the hub has just said to be taken.
    pub(super) taken: Vec<ReviewId>,
    /// Accepts that the hub has sent to their agents.
    pub(super) told: BTreeSet<ReviewId>,
    /// What the hub has said to be on disk.
    seen: BTreeSet<ReviewId>,
}

const ON_DISK: &str = "3: history says on disk only if the file held it";

impl Simulation {
    /// Every change of a file happens here. `None`: it is removed.
    pub(super) fn puts(&mut self, path: PathBuf, bytes: Option<Vec<u8>>) {
        if let Some(bytes) = &bytes {
            self.look_for_lines_twice(&path, bytes);
            self.look_for_the_mark(&path, bytes);
            self.promises.undos.made_again(&path, bytes);
        }
        let before = match bytes {
            Some(bytes) => self.disk.insert(path.clone(), bytes),
            None => self.disk.remove(&path),
        };
        if let Some(before) = before {
            self.promises.file_contents.held.insert((path, Digest::of(&before)), self.now);
        }
    }

    fn look_for_lines_twice(&mut self, path: &Path, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let lines = text.lines().map(|line| line.trim_start_matches('\u{feff}'));
        let inserted: Vec<&str> = lines.filter(|line| line.starts_with(INSERTED)).collect();
        if inserted.is_empty() {
            return;
        }
        let mut known = BTreeSet::new();
        let twice = inserted.iter().find(|line| !known.insert(**line));
        let result = match twice {
            Some(line) => Err(format!("{} holds `{line}` twice", path.display())),
            None => Ok(()),
        };
        self.promises.look("1: no edit by place is made twice", result);
    }

    /// Nobody here means to change how a file is encoded.
    fn look_for_the_mark(&mut self, path: &Path, bytes: &[u8]) {
        let marked = path.ends_with("bom.txt");
        let marks = bytes.chunks(MARK.len()).take_while(|start| *start == MARK.as_bytes()).count();
        let result = match marks == usize::from(marked) {
            true => Ok(()),
            false => Err(format!("{} begins with {marks} byte order marks", path.display())),
        };
        self.promises.look("4: a byte order mark stays, no matter who writes", result);
    }

    pub(super) fn has_held(&self, path: &Path, bytes: &[u8], since: u64) -> bool {
        let until = self.promises.file_contents.held.get(&(path.to_owned(), Digest::of(bytes)));
        self.disk.get(path).is_some_and(|now| now == bytes) || until.is_some_and(|until| *until >= since)
    }

    /// The decision that counts, as the journal has it.
    fn decision(&self, id: ReviewId) -> Option<&Durable> {
        let known = self.promises.durable.get(&id)?;
        known.iter().rev().find(|durable| durable.step == Step::Decided)
    }

    pub(super) fn said_to_be_on_disk(&mut self, id: ReviewId) {
        self.count("changes seen on disk");
        let decision = self.decision(id);
        let held = decision.and_then(|durable| {
            let accepted = durable.accepted()?;
            Some(self.has_held(&durable.review.path, &accepted.bytes, durable.at))
        });
        let result = match held {
            Some(true) => Ok(()),
            Some(false) => Err(format!("{id} is said to be on disk, and its file never held it")),
            None => Err(format!("{id} is reported as on disk, but was not accepted")),
        };
        self.promises.look(ON_DISK, result);
        self.promises.file_contents.seen.insert(id);
    }

    pub(super) fn told_to_be_on_disk(&mut self, name: &str) {
        let seen = name.parse().is_ok_and(|id| self.promises.file_contents.seen.contains(&id));
        let result = if seen { Ok(()) } else { Err(format!("watchers hear that {name} is on disk")) };
        self.promises.look(ON_DISK, result);
    }

    /// What a person reads about the past.
    pub(super) fn look_at_history(&mut self, result: &Value) {
        for entry in result["entries"].as_array().into_iter().flatten() {
            // With a change, somebody here wrote it, which is looked at elsewhere.
            if entry["onDisk"] == true && entry["change"].is_null() {
                self.told_to_be_on_disk(entry["review"].as_str().unwrap_or_default());
            }
        }
    }

    /// A decision is about to be recorded: is there someone who carries it out?
    pub(super) fn look_at_writer(&mut self, review: &Review) {
        let accepted = match review.outcome().map(|outcome| &outcome.ended) {
            Some(ReviewEnd::Accepted(accepted)) => accepted,
            _ => return,
        };
        if !review.writer.is_agent() {
            return;
        }
        if !review.written_here {
            let result = match review.owner {
                Some(_) => Ok(()),
                None => Err(format!("{} is accepted, but no one writes it", review.id)),
            };
            return self.promises.look("2: no change is accepted for an agent that does not wait", result);
        }
        let words = self.promises.words.get(&review.id).into_iter().flatten();
        let allowed = words.into_iter().any(|word| word.write_here);
        let other =
            review.writer == Writer::AgentAsProposed && Digest::of(&accepted.bytes) != review.original;
        // It hears a no first.
        let result = match allowed || other || is_hosted(review) {
            true => Ok(()),
            false => {
                Err(format!("{} is written for its agent, but the user did not ask for that", review.id))
            }
        };
        self.promises.look(
            "1: the hub writes for an agent only where a person said so, or what its tool would not write",
            result,
        );
    }

    /// After all that the hub does at once.
    pub(super) fn look_at_taken(&mut self) {
        for id in std::mem::take(&mut self.promises.file_contents.taken) {
            let Some(durable) = self.promises.written.get(&id).or_else(|| self.decision(id)) else {
                continue;
            };
            let Some(accepted) = durable.accepted() else { continue };
            let review = &durable.review;
            // Of a set, only after the last decision.
            if is_hosted(review) {
                continue;
            }
            let decided = self.decision(id).map_or(durable.at, |decision| decision.at);
            let applied = self.promises.applied.get(&id).is_some_and(|times| *times > 0);
            // The document may have held it before, with the file's own line endings.
            let in_a_document = || {
                let Ok(accepted) = decode(&accepted.bytes) else { return false };
                let documents = self.editors.iter().filter_map(|editor| editor.documents.get(&review.path));
                documents.into_iter().any(|document| document.text.text == accepted.text)
            };
            let there =
                || applied || self.has_held(&review.path, &accepted.bytes, decided) || in_a_document();
            let result = match is_written_by_hub(review) {
                true if there() => Ok(()),
                true => Err(format!("{id} is said to be taken, and {} never held it", review.path.display())),
                false if self.promises.file_contents.told.contains(&id) => Ok(()),
                false => Err(format!(
                    "{id} of {} is said to be taken, and its agent {:?} was not told",
                    review.owner_key, review.owner
                )),
            };
            self.promises.look(
                "2: an accept that was taken is in the file, or its agent was told while it waited",
                result,
            );
        }
    }

    pub(super) fn look_at_stopped(&mut self, name: &str) {
        if self.hub.stopping {
            self.promises.broken(format!("3: a hub that is stopped tells {name} something of its change"));
        }
    }
}
