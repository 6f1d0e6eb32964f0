//! Changes that agents name by place: all their files are read, then the new texts are proposed, or none.

use std::path::PathBuf;

use linkspan_dialect::{Answer, CallId, Failure, FailureKind, FileEdit, Request};
use linkspan_review as review;
use linkspan_review::{
    AgentId, Digest, Owner, Phase, Proposal, Review, ReviewId, SpliceError, Text, Writer, revert_splices,
    splice, splices_digest,
};

use crate::core::Core;
use crate::core::contract::Ticket;
use crate::core::files::Base;
use crate::core::pending::{ReadPurpose, ToolCall};
use crate::core::reviews::patches;
use crate::core::reviews::propose::{self, ProposedChange};
use crate::core::timers::Due;

/// More files than anyone reviews as one change.
const FILES_PER_CALL: usize = 64;

/// More edits than anyone makes by hand.
const EDITS_PER_FILE: usize = 10_000;

/// Precedes the label of a change that the agent wrote before it asked.
const ALREADY_WRITTEN: &str = "Already on disk (reject puts the old text back)";

/// How long the hub may take to notice that a connection is lost, or that its peer has read the outcome.
const NOTICE_LOSS_MS: u64 = 6_000;
const LOOK_AGAIN_MS: u64 = 50;

/// A call whose files are being read.
#[derive(Debug)]
pub(in crate::core) struct EditCall {
    tool: ToolCall,
    bases: Vec<Option<Base>>,
    /// Read for the second time: the first read may have been older than our own write.
    again: bool,
    /// Until when it may wait for the same edits of another connection.
    waits_until_ms: u64,
}

pub(in crate::core) fn edit(core: &mut Core, tool: ToolCall) {
    let Request::Edit { files, .. } = &tool.request else { return };
    let wrong = match files.as_slice() {
        [] => Some("there is nothing to edit: name at least one file".to_owned()),
        files if files.len() > FILES_PER_CALL => {
            Some(format!("{} files are more than the {FILES_PER_CALL} of one call", files.len()))
        }
        files => files.iter().find(|file| file.edits.len() > EDITS_PER_FILE).map(|file| {
            format!("{} has more than the {EDITS_PER_FILE} edits of one call", file.path.display())
        }),
    };
    if let Some(message) = wrong {
        return core.agents.fail(&mut core.out, tool.agent, tool.call, FailureKind::InvalidParams, message);
    }
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    read_all(core, tool, paths);
}

pub(super) fn read_all(core: &mut Core, tool: ToolCall, paths: Vec<PathBuf>) {
    let waits_until_ms = core.out.now_ms + NOTICE_LOSS_MS;
    read(core, tool, paths, false, waits_until_ms);
}

fn read(core: &mut Core, tool: ToolCall, paths: Vec<PathBuf>, again: bool, waits_until_ms: u64) {
    let ticket = core.out.ticket();
    let bases = paths.iter().map(|_| None).collect();
    let agent = tool.agent;
    core.reviews.edit_calls.insert(ticket, EditCall { tool, bases, again, waits_until_ms });
    for (part, path) in paths.into_iter().enumerate() {
        core.read_base(ReadPurpose::Edit { agent, editing: ticket, part }, path);
    }
}

pub(in crate::core) fn edit_read(core: &mut Core, ticket: Ticket, part: usize, base: Result<Base, Failure>) {
    let Some(editing) = core.reviews.edit_calls.get_mut(&ticket) else { return };
    match base {
        Ok(base) => {
            if let Some(place) = editing.bases.get_mut(part) {
                *place = Some(base);
            }
            if editing.bases.iter().all(Option::is_some) {
                edit_all(core, ticket);
            }
        }
        Err(failure) => {
            let ToolCall { agent, call, .. } = &editing.tool;
            let (agent, call) = (*agent, *call);
            core.reviews.edit_calls.remove(&ticket);
            core.agents.answer(&mut core.out, agent, call, &Answer::Failed(failure));
        }
    }
}

fn edit_all(core: &mut Core, ticket: Ticket) {
    let Some(editing) = core.reviews.edit_calls.remove(&ticket) else { return };
    if waits_for_another(core, &editing) {
        core.reviews.edit_calls.insert(ticket, editing);
        core.out.after(LOOK_AGAIN_MS, Due::Edit(ticket));
        return;
    }
    let EditCall { tool, bases, again, waits_until_ms } = editing;
    if !again && bases.iter().flatten().any(|base| propose::raced_our_own_write(core, tool.agent, base)) {
        let paths = bases.into_iter().flatten().map(|base| base.path).collect();
        return read(core, tool, paths, true, waits_until_ms);
    }
    if matches!(tool.request, Request::Patch { .. }) {
        return patches::propose_all(core, tool, bases.into_iter().flatten().collect());
    }
    let ToolCall { agent, call, request: Request::Edit { files, label, direct, inline, may_be_made } } = tool
    else {
        return;
    };
    let bases: Vec<Base> = bases.into_iter().flatten().collect();
    let (several, set) = (files.len() > 1, format!("edit {}", ticket.0));
    let mut changes: Vec<ProposedChange> = Vec::new();
    for (file, base) in files.iter().zip(bases) {
        if changes.iter().any(|other| other.path == base.path) {
            let message = format!("{} is named twice; combine its edits", base.path.display());
            return core.agents.fail(&mut core.out, agent, call, FailureKind::InvalidParams, message);
        }
        let asked = Some(splices_digest(&file.edits));
        let edited = match edited_before(core, agent, asked, &base, &[Writer::Hub, Writer::AgentFirst]) {
            Some(writer) => Ok(Edited { writer, ..Edited::unchanged(&base) }),
            None => edited(file, &base)
                .or_else(|failure| made_already(file, &base).filter(|_| may_be_made).ok_or(failure)),
        };
        match edited {
            Ok(Edited { writer, base: before, proposed }) => changes.push(ProposedChange {
                label: match writer {
                    Writer::AgentFirst => format!("{ALREADY_WRITTEN}: {label}"),
                    _ => label.clone(),
                },
                set: several.then(|| set.clone()),
                writer,
                direct,
                allowed_by: None,
                inline,
                path: base.path,
                base: before,
                buffer: base.buffer,
                left: None,
                proposed,
                asked,
            }),
            Err(failure) => {
                return core.agents.answer(&mut core.out, agent, call, &Answer::Failed(failure));
            }
        }
    }
    if several {
        propose::submit_bundle(core, agent, call, changes);
    } else if let Some(change) = changes.pop() {
        let before = shown_as_made(core, agent, &change);
        propose::submit_proposal(core, agent, call, change);
        supersede(core, agent, call, before);
    }
}

/// Reviews of changes to the same file that this agent had already written, and that are neither decided nor edited. The
/// next such change includes them.
fn shown_as_made(core: &Core, agent: AgentId, change: &ProposedChange) -> Vec<ReviewId> {
    let Some(agent) = core.agents.get(&agent).filter(|_| change.writer == Writer::AgentFirst) else {
        return Vec::new();
    };
    let key = agent.key();
    let open = core.reviews.of_path(&change.path).filter(|review| {
        review.writer == Writer::AgentFirst
            && review.owner_key == key
            && review.window == agent.window
            && review.draft.is_none()
            && matches!(review.phase, Phase::Recording | Phase::Pending)
            && review.base == change.base
    });
    open.map(|review| review.id).collect()
}

/// The review of this call replaces these.
fn supersede(core: &mut Core, agent: AgentId, call: CallId, before: Vec<ReviewId>) {
    let waiting = core.agents.get(&agent).map(|agent| &agent.waiting);
    let by = waiting.and_then(|waiting| waiting.iter().find(|(_, of)| *of == call)).map(|(by, _)| *by);
    let Some(by) = by else { return };
    for review in before.into_iter().filter(|review| *review != by) {
        core.apply(review::Event::Superseded { review, by });
    }
}

/// Who writes the review of the same edits, if they were asked for before. The result of the edits does not matter: the
/// file may contain them already.
pub(super) fn edited_before(
    core: &Core,
    agent: AgentId,
    asked: Option<Digest>,
    base: &Base,
    writers: &[Writer],
) -> Option<Writer> {
    writers.iter().copied().find(|writer| {
        let repeated = same_edits(core, agent, asked, base, *writer);
        repeated.is_some_and(|proposal| core.reviews.find_repeated(&proposal).is_some())
    })
}

/// Whether the user decided the same edits for another connection of this agent, which may be lost: an agent that was
/// killed asks again before the hub has noticed. Until that is known, the edits are neither new nor repeated.
fn waits_for_another(core: &Core, editing: &EditCall) -> bool {
    let Request::Edit { files, .. } = &editing.tool.request else { return false };
    let agent = editing.tool.agent;
    let is_anothers = |review: &Review| review.owner.is_some_and(|owner| owner != agent);
    let mut read = files.iter().zip(editing.bases.iter().flatten());
    core.out.now_ms < editing.waits_until_ms
        && read.any(|(file, base)| {
            if !core.reviews.of_path(&base.path).any(is_anothers) {
                return false;
            }
            let asked = Some(splices_digest(&file.edits));
            [Writer::Hub, Writer::AgentFirst].into_iter().any(|writer| {
                let proposal = same_edits(core, agent, asked, base, writer);
                proposal.is_some_and(|proposal| {
                    core.reviews.find_repeated(&proposal).is_none()
                        && core.reviews.state.find_decided_for_another(&proposal).is_some()
                })
            })
        })
}

/// Once it is known, the files are read again, because they may have changed.
pub(in crate::core) fn edit_again(core: &mut Core, ticket: Ticket) {
    if core.reviews.edit_calls.get(&ticket).is_some_and(|editing| waits_for_another(core, editing)) {
        core.out.after(LOOK_AGAIN_MS, Due::Edit(ticket));
        return;
    }
    let Some(editing) = core.reviews.edit_calls.remove(&ticket) else { return };
    let paths = editing.bases.into_iter().flatten().map(|base| base.path).collect();
    read(core, editing.tool, paths, false, editing.waits_until_ms);
}

/// A proposal that only says which edits were asked for.
fn same_edits(
    core: &Core,
    agent: AgentId,
    asked: Option<Digest>,
    base: &Base,
    writer: Writer,
) -> Option<Proposal> {
    let asker = core.agents.get(&agent)?;
    Some(Proposal {
        owner: Owner { agent, key: asker.key() },
        window: asker.window,
        set: None,
        path: base.path.clone(),
        label: String::new(),
        writer,
        base: base.text.clone(),
        left: None,
        proposed: base.text.as_ref().map_or("", |text| &text.text).to_owned(),
        asked,
    })
}

/// The change of one file that results from its edits.
struct Edited {
    writer: Writer,
    base: Option<Text>,
    proposed: String,
}

impl Edited {
    fn unchanged(base: &Base) -> Edited {
        let proposed = base.text.as_ref().map_or("", |text| &text.text).to_owned();
        Edited { writer: Writer::Hub, base: base.text.clone(), proposed }
    }
}

/// The agent has already made these edits.
fn made_already(file: &FileEdit, base: &Base) -> Option<Edited> {
    let now = base.text.as_ref()?;
    let (before, _) = revert_splices(&now.text, &file.edits)?;
    let before = Text { format: now.format, text: before.into() };
    Some(Edited { writer: Writer::AgentFirst, base: Some(before), proposed: now.text.to_string() })
}

fn edited(file: &FileEdit, base: &Base) -> Result<Edited, Failure> {
    if base.text.is_none() && !file.may_create {
        let message = format!("there is no file {}", base.path.display());
        return Err(Failure::new(FailureKind::NotFound, message));
    }
    let before = base.text.as_ref().map_or("", |text| &text.text);
    let wrong = |error: SpliceError| {
        let kind = match error {
            SpliceError::Stale { .. } => FailureKind::Stale,
            _ => FailureKind::InvalidParams,
        };
        Failure::new(kind, format!("{}: {error}; read the file again", base.path.display()))
    };
    let proposed = splice(before, &file.edits).map_err(wrong)?;
    Ok(Edited { writer: Writer::Hub, base: base.text.clone(), proposed })
}
