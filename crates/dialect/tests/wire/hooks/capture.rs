//! The captured hooks: each event with its answer.

use std::path::PathBuf;

use linkspan_dialect::hooks::{HookAgent, HookCall};
use serde_json::Value;

pub(super) struct Capture {
    /// Such as `claude-2.1.325-allow`.
    pub(super) file: String,
    pub(super) event: String,
    pub(super) stdin: Value,
    pub(super) env: Value,
    /// What the hook printed; `None` if it did not answer.
    pub(super) stdout: Option<Value>,
}

impl Capture {
    pub(super) fn agent(&self) -> HookAgent {
        HookAgent::from_id(self.file.split('-').next().unwrap()).unwrap()
    }

    pub(super) fn call(&self) -> HookCall {
        let env = |name: &str| self.env.get(name).and_then(Value::as_str).map(str::to_owned);
        HookCall::parse(self.stdin.to_string().as_bytes(), &env).unwrap()
    }
}

pub(super) fn captures() -> Vec<Capture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hooks");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(stdin) = line.get("stdin").filter(|_| line["dir"] == "agent->hook") else { continue };
            let is_answer =
                |answer: &&Value| answer["dir"] == "hook->agent" && answer["event"] == line["event"];
            let answer = lines[at + 1..].iter().find(is_answer);
            all.push(Capture {
                file: file.clone(),
                event: line["event"].as_str().unwrap().to_owned(),
                stdin: stdin.clone(),
                env: line["env"].clone(),
                stdout: answer.map(|answer| answer["stdout"].clone()),
            });
        }
    }
    assert!(all.len() > 200, "only {} captured events", all.len());
    all
}
