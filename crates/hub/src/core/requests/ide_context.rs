//! Codex's `/ide`: which file of a folder is active, what is selected there, and which files are open. The same rules as
//! for every other context: what `deny` covers is not there.

use std::path::{Path, PathBuf};

use linkspan_dialect::{CODEX, IdeContext, IdeFile};
use linkspan_editor_api as api;
use linkspan_editor_api::Selection;

use crate::core::Core;
use crate::core::contract::Action;
use crate::core::pending::{AfterAnswer, IdeQuestion, NoAnswer};

pub(in crate::core) fn asked(core: &mut Core, question: u64, root: PathBuf) {
    let window = core.windows.for_folder(&root, CODEX.name);
    let found = window.and_then(|id| Some((id, core.windows.get(&id)?)));
    let editor = found.and_then(|(id, window)| {
        let editor = window.connection.filter(|_| window.capabilities.documents)?;
        Some((id, editor, window.capabilities.selection))
    });
    let Some((window, editor, selects)) = editor else {
        return core.out.push(Action::AnswerIde { question, context: None });
    };
    let waiting = IdeQuestion { question, root, window, editor };
    match selects {
        true => core.ask(editor, &api::SelectionLatest {}, AfterAnswer::IdeSelection(waiting)),
        false => list(core, waiting, None),
    }
}

pub(in crate::core) fn selected(
    core: &mut Core,
    waiting: IdeQuestion,
    answer: Result<Option<Selection>, NoAnswer>,
) {
    list(core, waiting, answer.ok().flatten());
}

fn list(core: &mut Core, waiting: IdeQuestion, selection: Option<Selection>) {
    let editor = waiting.editor;
    core.ask(editor, &api::DocumentsList {}, AfterAnswer::IdeDocuments(waiting, selection.map(Box::new)));
}

pub(in crate::core) fn listed(
    core: &mut Core,
    waiting: IdeQuestion,
    selection: Option<Box<Selection>>,
    answer: Result<api::DocumentsListResult, NoAnswer>,
) {
    let context = answer.ok().map(|listed| {
        let may_leave = |document: &&api::OpenDocument| {
            !document.untitled
                && Path::new(&document.path).is_absolute()
                && core.windows.may_leave(waiting.window, &document.path)
        };
        let mut documents: Vec<&api::OpenDocument> = listed.documents.iter().filter(may_leave).collect();
        let file = |document: &api::OpenDocument| IdeFile::new(Path::new(&document.path), &waiting.root);
        let active = documents.iter().find(|document| document.active).map(|document| {
            let selection = selection.filter(|selection| selection.path == document.path);
            (file(document), selection.map(|selection| (selection.range, selection.text)))
        });
        // One file may be open in several tabs.
        documents.dedup_by(|one, other| one.path == other.path);
        IdeContext { active, open: documents.into_iter().map(file).collect() }
    });
    core.out.push(Action::AnswerIde { question: waiting.question, context: context.map(Box::new) });
}
