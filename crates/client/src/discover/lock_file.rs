//! The contents of a lock file: the format of Claude Code's editors, which NEXUS3 copied, and the different keys of
//! Gemini, Qwen and Clio. Uses the keys that it knows and ignores the rest. Reads no file.

use linkspan_editor_api::wire_names::{GEMINI_FILE_PREFIX, GEMINI_FILE_SUFFIX, LOCK_SUFFIX};
use serde_json::{Map, Value};

use super::candidate::Secret;

/// No editor writes more; a larger file is not a lock file.
pub(super) const MAX_BYTES: usize = 64 * 1024;
const NAME_CHARACTERS: usize = 80;

/// A lock file that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LockFile {
    pub(super) editor: String,
    /// If the name of the file does not have it.
    pub(super) port: Option<u16>,
    pub(super) pid: Option<u32>,
    /// As the editor names them.
    pub(super) folders: Vec<String>,
    /// The transport of the editor, if it is not a WebSocket.
    pub(super) other_transport: Option<String>,
    pub(super) token: Option<Secret>,
    pub(super) running_in_windows: bool,
    /// Only in our files: the machine and network of the port.
    pub(super) port_space: Option<String>,
}

impl LockFile {
    /// An empty one.
    pub(super) fn unknown() -> LockFile {
        LockFile {
            editor: "unnamed editor".to_owned(),
            port: None,
            pid: None,
            folders: Vec::new(),
            other_transport: None,
            token: None,
            running_in_windows: false,
            port_space: None,
        }
    }
}

/// The port in the name of a file.
pub(super) fn port_of(file_name: &str) -> Option<u16> {
    let digits = file_name.strip_suffix(LOCK_SUFFIX)?;
    // `+1` would parse as a number too.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|port| plain && *port != 0)
}

/// The port in the name of a Gemini file: `gemini-ide-server-<pid>-<port>.json`.
pub(super) fn gemini_port_of(file_name: &str) -> Option<u16> {
    let numbers = file_name.strip_prefix(GEMINI_FILE_PREFIX)?.strip_suffix(GEMINI_FILE_SUFFIX)?;
    let (pid, port) = numbers.split_once('-')?;
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    port.parse().ok().filter(|number| plain(pid) && plain(port) && *number != 0)
}

/// The contents, or what is wrong with them.
pub(super) fn parse(bytes: &[u8]) -> Result<LockFile, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("it has more than {} KiB", MAX_BYTES / 1024));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lock: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|_| "it is not a JSON object".to_owned())?;
    let text = |key: &str| lock.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let transport = text("transport").filter(|name| !name.eq_ignore_ascii_case("ws"));
    let listed = lock.get("workspaceFolders").and_then(Value::as_array).map(Vec::as_slice);
    let listed = listed.unwrap_or_default().iter().filter_map(Value::as_str);
    // Gemini and Qwen put all folders into one text, like PATH.
    let joined = text("workspacePath").unwrap_or_default().split(':').filter(|folder| !folder.is_empty());
    let number = |key: &str| lock.get(key).and_then(Value::as_u64);
    let info = |key: &str| lock.get("ideInfo")?.get(key)?.as_str().filter(|name| !name.is_empty());
    let name = text("ideName").or_else(|| info("displayName")).or_else(|| info("name"));
    let unknown = LockFile::unknown();
    Ok(LockFile {
        editor: name.map_or(unknown.editor, printable),
        port: number("port").and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0),
        pid: number("pid").or_else(|| number("ppid")).and_then(|pid| u32::try_from(pid).ok()),
        folders: listed.chain(joined).map(str::to_owned).collect(),
        other_transport: transport.map(printable),
        token: text("authToken").map(Secret::new),
        running_in_windows: lock.get("runningInWindows") == Some(&Value::Bool(true)),
        port_space: text("linkspan").map(str::to_owned),
    })
}

/// It will be printed.
fn printable(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(NAME_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(value: &Value) -> LockFile {
        parse(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_whole_lock_is_understood() {
        let lock =
            parsed(&json!({"pid": 7, "workspaceFolders": ["/w"], "ideName": "Neovim", "transport": "ws",
            "runningInWindows": true, "authToken": "t", "linkspan": "here"}));
        assert_eq!(
            lock,
            LockFile {
                editor: "Neovim".into(),
                port: None,
                pid: Some(7),
                folders: vec!["/w".into()],
                other_transport: None,
                token: Some(Secret::new("t")),
                running_in_windows: true,
                port_space: Some("here".into()),
            }
        );
    }

    #[test]
    fn whatever_is_missing_or_of_another_kind_is_done_without() {
        let none = parsed(&json!({}));
        let odd = json!({"pid": "7", "workspaceFolders": "/w", "ideName": 1, "transport": null,
            "runningInWindows": 1, "authToken": "", "linkspan": true});
        assert_eq!(parsed(&odd), none);
        assert_eq!((none.token, none.pid, none.folders), (None, None, vec![]));
        let folders = parsed(&json!({"workspaceFolders": [1, null, "/w", {}, ["/x"]], "pid": -1})).folders;
        assert_eq!(folders, ["/w"]);
    }

    #[test]
    fn the_words_of_gemini_qwen_and_clio_are_understood() {
        let gemini = parsed(&json!({"port": 41000, "workspacePath": "/a:/b c", "authToken": "t",
            "ideInfo": {"name": "vscode", "displayName": "VS Code"}}));
        assert_eq!((gemini.editor.as_str(), gemini.port), ("VS Code", Some(41000)));
        assert_eq!(gemini.folders, ["/a", "/b c"]);
        let qwen =
            parsed(&json!({"port": 41000, "workspacePath": "", "ppid": 7, "ideInfo": {"name": "vscode"}}));
        assert_eq!((qwen.editor.as_str(), qwen.pid, qwen.folders), ("vscode", Some(7), vec![]));
        let clio = parsed(&json!({"port": 41234, "pid": 3, "ideName": "vscode", "workspaceFolders": ["/w"]}));
        assert_eq!((clio.port, clio.token), (Some(41234), None));
        assert_eq!(parsed(&json!({"port": 0})).port, None);
        assert_eq!(parsed(&json!({"port": 70000, "ideInfo": "x"})).port, None);
    }

    #[test]
    fn another_transport_is_named() {
        assert_eq!(parsed(&json!({"transport": "sse"})).other_transport.as_deref(), Some("sse"));
        assert_eq!(parsed(&json!({"transport": "WS"})).other_transport, None);
    }

    #[test]
    fn a_name_is_safe_to_print() {
        let name = format!("\u{1b}[31mVim\n{}", "x".repeat(1000));
        let editor = parsed(&json!({"ideName": name})).editor;
        assert!(editor.starts_with("[31mVimxx") && editor.chars().count() == NAME_CHARACTERS, "{editor}");
    }

    #[test]
    fn garbage_is_refused_with_a_reason() {
        for bytes in [&b""[..], b"\xff\xfe", b"[]", b"null", b"{\"pid\":1", b"{}{}"] {
            assert!(parse(bytes).unwrap_err().contains("JSON"));
        }
        let deep = "[".repeat(MAX_BYTES - 10);
        assert!(parse(format!("{{\"a\":{deep}").as_bytes()).is_err());
        let long = format!("{{\"ideName\":\"{}\"}}", "x".repeat(MAX_BYTES));
        assert!(parse(long.as_bytes()).unwrap_err().contains("64 KiB"));
    }

    #[test]
    fn geminis_file_name_has_a_process_and_a_port() {
        assert_eq!(gemini_port_of("gemini-ide-server-17-41001.json"), Some(41001));
        for name in [
            "gemini-ide-server-41001.json",
            "gemini-ide-server--1.json",
            "gemini-ide-server-1-0.json",
            "gemini-ide-server-1-+1.json",
            "gemini-ide-server-1-2-3.json",
            "gemini-ide-server-1-2.json~",
        ] {
            assert_eq!(gemini_port_of(name), None, "{name}");
        }
    }

    #[test]
    fn the_file_name_is_a_port_and_nothing_else() {
        assert_eq!(port_of("41001.lock"), Some(41001));
        for name in
            ["0.lock", "65536.lock", "+1.lock", "1.lock~", "a.lock", ".lock", "1", "-1.lock", " 1.lock"]
        {
            assert_eq!(port_of(name), None, "{name}");
        }
    }
}
