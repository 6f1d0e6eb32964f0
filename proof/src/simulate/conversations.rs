//! What is promised of hosted agents: they are told yes only for what was decided exactly as they proposed it, and the hub
//! writes nothing of that; what was accepted is written or was told; each remark of the user is told once; and nothing of
//! a conversation that ended is left on a screen.

use std::collections::{BTreeMap, BTreeSet};

use linkspan_review::{Review, ReviewEnd, ReviewId, Step, Writer, decode};
use serde_json::Value;

use super::promises::is_written_by_hub;
use super::simulation::Simulation;
use super::wire::{Peer, WireId};

#[derive(Default)]
pub(super) struct Conversations {
    remarks: u64,
    /// What the user's decisions say to models.
    said: BTreeSet<String>,
    /// In which lives of the hub each remark was told.
    told: BTreeMap<String, Vec<u64>>,
    /// The agents that were told to write these, by the number of the process and the id of its request.
    allowed: BTreeMap<ReviewId, (usize, u64)>,
    /// What they have written.
    wrote: BTreeSet<(usize, u64)>,
    /// Where each review comes from.
    origins: BTreeMap<ReviewId, String>,
    /// Their last record failed to be kept, or was a failure to write: the words about that are others.
    failed: BTreeSet<ReviewId>,
    /// Prompts that say that something could not be written.
    failures: String,
}

const TOLD: &str = "9: each remark to a hosted agent is told, once";
const WRITTEN: &str = "3: what is accepted of a hosted agent is written, or it was told to write it";
const YES: &str = "1: a hosted agent writes what was decided as it proposed, and the hub nothing of that";

pub(super) fn is_hosted(review: &Review) -> bool {
    review.owner_key.starts_with("acp:")
}

fn remark_of(review: &Review) -> Option<String> {
    let outcome = review.outcome()?;
    match &outcome.ended {
        ReviewEnd::Rejected { reason } => reason.clone(),
        _ => outcome.comments.first().map(|comment| comment.text.clone()),
    }
}

impl Simulation {
    /// What the user says to the model with the next decision.
    pub(super) fn remark(&mut self) -> String {
        let conversations = &mut self.promises.conversations;
        conversations.remarks += 1;
        let remark = format!("remark {};", conversations.remarks);
        conversations.said.insert(remark.clone());
        remark
    }

    pub(super) fn belongs_to(&mut self, review: ReviewId, chat: &str) {
        self.promises.conversations.origins.insert(review, chat.to_owned());
    }

    /// The hub says something to a hosted agent.
    pub(super) fn process_is_told(&mut self, wire: WireId, frame: &Value) {
        if frame["method"] == "session/prompt" {
            self.look_at_prompt(&frame["params"]["prompt"].to_string());
        } else if frame["result"]["outcome"]["optionId"] == "yes"
            && let Peer::Process(number) = self.wires[wire.0].peer
            && let Some(id) = frame["id"].as_u64()
            && let process = &self.processes[number]
            && let Some(edit) = process.open.get(&id).or_else(|| process.given_up.get(&id))
        {
            let parts = edit.parts.clone();
            for (path, _, new) in parts {
                let decided = self.promises.durable.iter().rev().find(|(_, known)| {
                    known.iter().any(|durable| {
                        let review = &durable.review;
                        let as_proposed = |text: &str| text == new;
                        durable.step == Step::Decided
                            && is_hosted(review)
                            && review.path == path
                            && durable.accepted().is_some_and(|accepted| {
                                decode(&accepted.bytes).is_ok_and(|text| as_proposed(&text.text))
                            })
                    })
                });
                let review = decided.map(|(id, _)| *id);
                let written = review.is_some_and(|id| self.promises.applied.contains_key(&id));
                let result = match review {
                    Some(id) if written => {
                        Err(format!("the agent is told to write {id}, which was written here"))
                    }
                    Some(_) => Ok(()),
                    None => Err(format!("a yes for {}, which was not decided so", path.display())),
                };
                let ask = (number, id);
                self.promises.conversations.allowed.extend(review.map(|review| (review, ask)));
                self.promises.look(YES, result);
            }
        }
    }

    fn look_at_prompt(&mut self, prompt: &str) {
        let life = self.hub.life;
        let conversations = &mut self.promises.conversations;
        if prompt.contains("could not be carried out") {
            conversations.failures += prompt;
        }
        let said: Vec<&String> = conversations.said.iter().filter(|said| prompt.contains(*said)).collect();
        let mut twice = None;
        for said in said {
            let told = conversations.told.entry(said.clone()).or_default();
            // Killed in between, a hub does not know that it was told.
            if told.contains(&life) || prompt.matches(said.as_str()).count() > 1 {
                twice = Some(said.clone());
            }
            told.push(life);
        }
        let result = twice.map_or(Ok(()), |said| Err(format!("`{said}` is told twice: {prompt}")));
        self.promises.look(TOLD, result);
    }

    pub(super) fn wrote(&mut self, process: usize, id: u64) {
        self.promises.conversations.wrote.insert((process, id));
    }

    /// The hub writes it: no agent was told to.
    pub(super) fn look_at_hosted_write(&mut self, id: ReviewId) {
        let conversations = &self.promises.conversations;
        // One that has ended since may not have done it.
        let by_its_agent = conversations
            .allowed
            .get(&id)
            .is_some_and(|ask| conversations.wrote.contains(ask) || self.processes[ask.0].is_alive());
        let result = match by_its_agent {
            true => Err(format!("{id} is written, and its agent was told to write it")),
            false => Ok(()),
        };
        self.promises.look(YES, result);
    }

    pub(super) fn hosted_recorded(&mut self, review: &Review, step: Step) {
        let failed =
            review.outcome().is_some_and(|outcome| matches!(outcome.ended, ReviewEnd::Failed { .. }));
        if is_hosted(review) && step == Step::Ended && failed {
            self.promises.conversations.failed.insert(review.id);
        }
    }

    /// When everything is settled.
    pub(super) fn look_at_conversations(&mut self) {
        let shown = self.editors.iter().flat_map(|editor| editor.shown.values());
        let left: Vec<&String> =
            shown.filter(|show| show.dialect == "acp").map(|show| &show.review).collect();
        let result = if left.is_empty() {
            Ok(())
        } else {
            Err(format!("{left:?} are on a screen, and no agent waits"))
        };
        self.promises.look("7: nothing of a turn that ended waits for a decision", result);
        let (mut told, mut written) = (Vec::new(), Vec::new());
        for (id, known) in &self.promises.durable {
            let Some(last) = known.last().filter(|last| is_hosted(&last.review)) else { continue };
            let is_over = matches!(last.step, Step::Decided | Step::Written | Step::Delivered);
            let conversations = &self.promises.conversations;
            if !is_over || conversations.failed.contains(id) {
                continue;
            }
            let said = remark_of(&last.review);
            // It was forgotten, or a hub was killed before it was recorded.
            let chat = conversations.origins.get(id);
            let is_there =
                self.chat_users.iter().any(|user| chat.is_some_and(|chat| user.chats.contains(chat)));
            if let Some(said) = said.filter(|_| is_there) {
                told.push(match conversations.told.contains_key(&said) {
                    true => Ok(()),
                    false => Err(format!("`{said}` about {id} was never told: {:?}", last.step)),
                });
            }
            // What has no place in its file is only shown.
            let not_written = format!("{}: not written", last.review.path.display());
            let is_to_be_there =
                last.review.writer != Writer::Nobody && !conversations.failures.contains(&not_written);
            if let Some(accepted) = last.accepted().filter(|_| is_to_be_there) {
                let applied = self.promises.applied.get(id).is_some_and(|times| *times > 0);
                let held = || self.has_held(&last.review.path, &accepted.bytes, 0);
                // The unsaved text was already what was accepted.
                let before = last.review.base.as_ref().and_then(|base| base.encode().ok());
                let changes_nothing = before.is_some_and(|before| before == accepted.bytes);
                let is_told = conversations.allowed.contains_key(id);
                written.push(match applied || is_told || changes_nothing || held() {
                    true => Ok(()),
                    false => Err(format!(
                        "{id} was accepted and is nowhere: {:?}, by the hub: {}",
                        last.step,
                        is_written_by_hub(&last.review)
                    )),
                });
            }
        }
        for result in told {
            self.promises.look(TOLD, result);
        }
        for result in written {
            self.promises.look(WRITTEN, result);
        }
    }
}
