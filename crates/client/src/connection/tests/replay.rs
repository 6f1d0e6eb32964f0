//! claudecode.nvim, as it was recorded: its answers to the calls that were recorded, through a real WebSocket.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::server::{FakeServer, Say, ServerKind, texts, tool};
use crate::connection::{CallError, Change, DiffOutcome, EditorEvent, OpenAt, Severity};

struct Recording {
    frames: Vec<(bool, Value)>,
    /// The frame after the last one that was used.
    at: usize,
    /// Recorded ids of calls, and the ids they have now.
    ids: BTreeMap<i64, Value>,
}

impl Recording {
    fn open() -> Recording {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wire/claudecode.nvim-all-tools.jsonl");
        let frames = std::fs::read_to_string(path).unwrap();
        let frames = frames.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["dir"] == "agent->ide", line["frame"].clone())
        });
        Recording { frames: frames.collect(), at: 0, ids: BTreeMap::new() }
    }

    /// What was said between this call and the next one.
    fn answer(&mut self, request: &Value) -> Vec<Say> {
        let asked = &request["params"]["arguments"];
        let fits = |frame: &Value| {
            let recorded = &frame["params"]["arguments"];
            // Ours are never the same twice.
            let same_tab = recorded["tab_name"].as_str() == asked["tab_name"].as_str().map(label_in);
            frame["method"] == request["method"]
                && frame["params"]["name"] == request["params"]["name"]
                && ["filePath", "uri"].iter().all(|name| recorded[name] == asked[name])
                && same_tab
        };
        let Some(found) =
            self.frames.iter().enumerate().skip(self.at).find(|(_, (asks, frame))| *asks && fits(frame))
        else {
            // A tab that was not closed in the recording.
            let closes = tool(request) == Some("close_tab");
            return closes.then(|| texts(request, &["TAB_CLOSED"])).into_iter().collect();
        };
        let (index, (_, recorded)) = found;
        if let Some(id) = recorded["id"].as_i64() {
            self.ids.insert(id, request["id"].clone());
        }
        let said: Vec<&(bool, Value)> =
            self.frames[index + 1..].iter().take_while(|(asks, _)| !asks).collect();
        self.at = index + 1 + said.len();
        said.iter().filter_map(|(_, frame)| self.translated(frame)).collect()
    }

    fn translated(&self, frame: &Value) -> Option<Say> {
        let mut frame = frame.clone();
        if let Some(id) = frame.get("id").and_then(Value::as_i64) {
            frame["id"] = self.ids.get(&id)?.clone();
        }
        Some(Say::Json(frame))
    }
}

/// What the change was called that got this tab.
fn label_in(tab: &str) -> &str {
    tab.strip_prefix("✻ [tester] ").and_then(|tab| Some(tab.rsplit_once(" (")?.0)).unwrap_or(tab)
}

#[test]
fn claudecode_nvim_is_understood_from_its_first_tool_to_its_last() {
    let mut recording = Recording::open();
    // A schema is asked for before each opening, out of the recorded order.
    let tools =
        recording.frames.iter().find(|(_, frame)| frame["result"]["tools"].is_array()).unwrap().1.clone();
    let server = FakeServer::named(ServerKind::Claude, "claudecode-neovim", move |request| {
        if request["method"] == "tools/list" {
            let mut listed = tools.clone();
            listed["id"] = request["id"].clone();
            return vec![Say::Json(listed)];
        }
        recording.answer(request)
    });
    let nvim = server.connect();
    let events = nvim.events();
    let (a, b, none) = (Path::new("/w/ws/a.py"), Path::new("/w/ws/b.txt"), Path::new("/w/ws/none.txt"));

    assert_eq!(nvim.tools().unwrap().len(), 10);
    let latest = nvim.latest_selection().unwrap().unwrap();
    assert_eq!((latest.file_path.as_path(), latest.text.as_str()), (a, ""));
    nvim.current_selection().unwrap().unwrap();
    let selected = nvim.current_selection().unwrap().unwrap();
    assert_eq!((selected.start_line, selected.end_line), (1, 2));

    let editors = nvim.open_editors().unwrap();
    assert_eq!((editors[0].file_path.as_path(), editors[0].language_id.as_deref()), (a, Some("python")));
    assert_eq!(nvim.workspace_folders().unwrap(), [Path::new("/w/ws")]);

    assert_eq!(nvim.diagnostics(None, None).unwrap(), []);
    let found = nvim.diagnostics(Some(a), None).unwrap();
    assert_eq!(
        found.iter().map(|found| (found.line, found.severity)).collect::<Vec<_>>(),
        [(1, Severity::Error), (4, Severity::Warning)]
    );
    let closed = nvim.diagnostics(Some(Path::new("/w/ws/zzz.py")), None).unwrap_err();
    assert!(
        closed.to_string().contains("File must be open to retrieve diagnostics: /w/ws/zzz.py"),
        "{closed}"
    );

    nvim.open_file(b, Some(OpenAt::default()), false).unwrap();
    let missing = nvim.open_file(Path::new("/w/ws/missing.txt"), None, false).unwrap_err();
    assert!(missing.to_string().contains("File not found: /w/ws/missing.txt"), "{missing}");
    assert_eq!(nvim.is_dirty(b), Ok(false));
    assert_eq!(nvim.is_dirty(b), Ok(true));
    nvim.save(b).unwrap();
    assert_eq!(nvim.is_dirty(none), Ok(false));
    assert!(matches!(nvim.save(none), Err(CallError::Tool { message, .. }) if message.contains("not open")));

    let label = "✻ [Claude Code] a.py (h6-1) ⧉";
    let pending = nvim.propose(&Change::new(a, "proposed").labelled(label)).unwrap();
    assert_eq!(pending.wait_timeout(Duration::from_millis(50)), None);
    assert_eq!(nvim.open_editors().unwrap().len(), 2);
    nvim.current_selection().unwrap().unwrap();
    let accepted = pending.wait().unwrap();
    assert!(accepted.text.unwrap().starts_with("# user tweak\n"));
    assert!(!accepted.written);
    // Its tab is closed by now, as in the recording.
    server.hears(|message| tool(message) == Some("close_tab"));

    let rejected = nvim.open_diff(&Change::new(b, "X\nY\n").labelled("rej-1")).unwrap();
    assert_eq!(rejected.outcome, DiffOutcome::DiffRejected);
    let accepted = nvim.open_diff(&Change::new(b, "X\nY\n").labelled("acc-2")).unwrap();
    assert_eq!(accepted.text.as_deref(), Some("X\nY\n"));
    server.hears(|message| {
        let tab = message["params"]["arguments"]["tab_name"].as_str().map(label_in);
        tool(message) == Some("close_tab") && tab == Some("acc-2")
    });

    let pending = nvim.propose(&Change::new(b, "Q\n").labelled("pend-2")).unwrap();
    nvim.close_all_diffs().unwrap();
    assert_eq!(pending.wait().unwrap().outcome, DiffOutcome::DiffRejected);

    let dirty = nvim.open_diff(&Change::new(b, "Q\n").labelled("dirty-old")).unwrap_err();
    assert!(dirty.to_string().contains("file has unsaved changes"), "{dirty}");
    let unknown = nvim.call("doesNotExist", &serde_json::json!({})).unwrap_err();
    assert!(
        matches!(&unknown, CallError::Unsupported { offered, .. } if offered.contains(&"openDiff".into()))
    );
    let _ = nvim.call("executeCode", &serde_json::json!({}));

    let heard: Vec<EditorEvent> = events.try_iter().collect();
    assert!(
        heard
            .iter()
            .any(|event| matches!(event, EditorEvent::Selection(selection) if selection.file_path == a))
    );
    let mention = EditorEvent::Mentioned { path: "b.txt".into(), lines: Some((0, 1)) };
    assert!(heard.contains(&mention), "{heard:?}");
}
