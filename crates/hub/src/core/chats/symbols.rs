//! Functions, types and the like for a message, from the language servers of an editor that has the folder. One question
//! of a reader at a time: what the user typed meanwhile is asked next, and only the newest of it.

use std::path::PathBuf;

use linkspan_editor_api as api;
use linkspan_editor_api::{ChatSymbol, ChatSymbols, ChatSymbolsResult, Message, RequestId, RpcError, errors};
use linkspan_review::WindowId;

use super::files::LONGEST_WORDS;
use crate::core::Core;
use crate::core::contract::ConnectionId;
use crate::core::pending::{AfterAnswer, NoAnswer};
use crate::core::windows::Window;

/// More than anyone looks at.
const MOST_SYMBOLS: usize = 50;
const LONGEST_NAME: usize = 200;

pub(super) fn search(
    core: &mut Core,
    connection: ConnectionId,
    request: &RequestId,
    asked: ChatSymbols,
) -> Result<(), RpcError> {
    if asked.words.len() > LONGEST_WORDS {
        return Err(RpcError::new(errors::INVALID_PARAMS, "`words` is longer than any name"));
    }
    match core.chats.symbol_searches.get_mut(&connection) {
        Some(next) => {
            if let Some((older, _)) = next.replace((request.clone(), asked)) {
                answer(core, connection, older, Vec::new());
            }
        }
        None => ask(core, connection, request.clone(), asked),
    }
    Ok(())
}

fn ask(core: &mut Core, reader: ConnectionId, request: RequestId, asked: ChatSymbols) {
    let knows_code = |window: &Window| window.connection.is_some() && window.capabilities.language;
    let window = core.windows.for_folder_where(&PathBuf::from(&asked.folder), knows_code);
    let editor = window.and_then(|window| Some((window, core.windows.get(&window)?.connection?)));
    let Some((window, editor)) = editor else { return answer(core, reader, request, Vec::new()) };
    core.chats.symbol_searches.insert(reader, None);
    let then = AfterAnswer::ChatSymbols { reader, request, window };
    core.ask(editor, &api::LanguageSymbols::Workspace { query: asked.words }, then);
}

/// The editor has answered, or did not.
pub(in crate::core) fn known(
    core: &mut Core,
    reader: ConnectionId,
    request: RequestId,
    window: WindowId,
    found: Result<api::LanguageSymbolsResult, NoAnswer>,
) {
    // The reader may have left.
    let Some(next) = core.chats.symbol_searches.remove(&reader) else { return };
    let symbols = match (found, core.windows.get(&window)) {
        (Ok(found), Some(window)) => {
            let symbols = found.symbols.into_iter().filter(|symbol| {
                let path = &symbol.location.path;
                path.starts_with('/') && symbol.name.len() <= LONGEST_NAME && !window.policy.denies(path)
            });
            symbols.take(MOST_SYMBOLS).map(chat_symbol).collect()
        }
        // Files are found nevertheless.
        _ => Vec::new(),
    };
    answer(core, reader, request, symbols);
    if let Some((request, asked)) = next {
        ask(core, reader, request, asked);
    }
}

fn chat_symbol(symbol: api::Symbol) -> ChatSymbol {
    let range = symbol.location.range;
    ChatSymbol {
        name: symbol.name,
        path: symbol.location.path,
        first_line: range.start.line.saturating_add(1),
        last_line: range.end.line.max(range.start.line).saturating_add(1),
    }
}

fn answer(core: &mut Core, reader: ConnectionId, request: RequestId, symbols: Vec<ChatSymbol>) {
    core.out.send(reader, &Message::response(request, &ChatSymbolsResult { symbols }));
}
