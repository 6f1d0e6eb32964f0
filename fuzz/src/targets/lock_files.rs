//! A foreign lock file is refused, or says only what can be used; one of ours tells an agent what the window told us.
//!
//! The input: contents, a file name, and an editor, a folder and a token that are put into files of our own.

use std::path::{Path, PathBuf};

use linkspan_client::fuzzing::{gemini_port_of, lock_file, port_of};
use linkspan_dialect::{ALL, WindowFacts};

use crate::texts;

const PORT: u16 = 41001;

pub(crate) fn run(data: &[u8]) {
    foreign(data);
    let Some([contents, name, editor, folder, token]) = texts(data) else { return };
    foreign(contents.as_bytes());
    for port in [port_of(name), gemini_port_of(name)].into_iter().flatten() {
        assert!(port != 0 && name.contains(&port.to_string()), "{name}");
    }
    ours(editor, folder, token);
}

fn foreign(bytes: &[u8]) {
    let Ok(lock) = lock_file(bytes) else { return };
    for shown in [Some(&lock.editor), lock.other_transport.as_ref()].into_iter().flatten() {
        assert!(shown.chars().count() <= 80 && !shown.chars().any(char::is_control), "{shown:?}");
    }
    assert_ne!(lock.port, Some(0));
    assert_ne!(lock.token.as_deref(), Some(""));
    assert!(!lock.other_transport.is_some_and(|name| name.eq_ignore_ascii_case("ws")));
}

fn ours(editor: &str, folder: &str, token: &str) {
    let folders = [PathBuf::from(format!("/{folder}"))];
    let window = WindowFacts {
        port: PORT,
        socket: Some(Path::new("/run/me/agents/w1.sock")),
        token,
        pid: 7,
        editor_name: editor,
        folders: &folders,
        port_space: Some("here"),
        mark: "m4rk",
        unix_ms: 0,
    };
    // Copilot CLI's names a socket and no port.
    let with_port = ALL.iter().filter(|dialect| dialect.name != "copilot");
    let files = with_port.flat_map(|dialect| dialect.discovery_files(&window, |_| Some("/home/me".into())));
    for file in files {
        let lock = lock_file(&file.contents).expect("what we write is a lock file");
        let port = lock.port.or_else(|| port_of(&file.file_name)).or_else(|| gemini_port_of(&file.file_name));
        assert_eq!(port, Some(PORT), "{}", file.file_name);
        assert!(lock.token.is_none_or(|told| told == token));
        // Some put all folders into one text, with `:` between them.
        if !folder.contains(':') {
            assert_eq!(lock.folders, [format!("/{folder}")], "{}", file.file_name);
        }
    }
}
