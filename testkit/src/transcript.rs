//! Transcripts for snapshot tests: commands and messages with their answers. Paths, ids, times, ports, versions and
//! secrets, which differ from run to run, are replaced by names in brackets.

use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{CommandResult, World, paths};

/// Replaces everything that differs from run to run, in a world and outside of it.
pub struct Normalizer {
    literals: Vec<(String, &'static str)>,
}

struct Pattern {
    regex: Regex,
    replacement: &'static str,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION").replace('.', r"\.");
    let patterns = [
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?".to_owned(), "[time]"),
        (r"\bsince \d{4}-\d\d-\d\d\b".to_owned(), "since [date]"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b".to_owned(), "[uuid]"),
        (r"\b[0-9a-f]{64}\b".to_owned(), "[digest]"),
        (r"[A-Za-z0-9_-]{40,}".to_owned(), "[secret]"),
        (r"(127\.0\.0\.1|localhost):\d{4,5}\b".to_owned(), "$1:[port]"),
        (r"\bport( +)\d{4,5}\b".to_owned(), "port${1}[port]"),
        (r"\b\d{4,5}\.lock\b".to_owned(), "[port].lock"),
        (r"_PORT=\d{4,5}\b".to_owned(), "_PORT=[port]"),
        (r"_PID=\d+\b".to_owned(), "_PID=[pid]"),
        (r"gemini-ide-server-\d+-\d+\b".to_owned(), "gemini-ide-server-[pid]-[port]"),
        (r"\bpid \d+\b".to_owned(), "pid [pid]"),
        (r"\bq-[0-9a-f]{8}-".to_owned(), "q-[id]-"),
        // In tables the column after an age begins at the same place.
        (r"\b\d+s\b {2,}".to_owned(), "[age]  "),
        (r"\b\d+s\b".to_owned(), "[age]"),
        (r"\b\d+(\.\d)? M(i?)B\b".to_owned(), "[size] M${2}B"),
        (r"linkspan-try-\w+".to_owned(), "linkspan-try-[id]"),
        (format!(r"(^|[^\d.]){version}([^\d.]|$)"), "${1}[version]${2}"),
    ];
    patterns
        .into_iter()
        .map(|(regex, replacement)| Pattern { regex: Regex::new(&regex).unwrap(), replacement })
        .collect()
});

impl Normalizer {
    pub fn new(world: &World) -> Normalizer {
        let root = world.root();
        let literal = |path: &Path, name| (path.to_str().unwrap().to_owned(), name);
        let literals = vec![
            literal(&world.workspace(), "[workspace]"),
            literal(&root.join("h"), "[home]"),
            literal(&root.join("r"), "[runtime]"),
            literal(&root.join("s"), "[state]"),
            literal(&root.join("c"), "[config]"),
            literal(&root.join("t"), "[tmp]"),
            literal(&root, "[root]"),
            literal(&paths::linkspan(), "[linkspan]"),
        ];
        Normalizer { literals }
    }

    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (literal, name) in &self.literals {
            text = text.replace(literal, name);
        }
        for Pattern { regex, replacement } in PATTERNS.iter() {
            text = regex.replace_all(&text, *replacement).into_owned();
        }
        text
    }

    pub fn json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| {
                    let by_name = name_of_number(name).filter(|_| value.is_number());
                    let value =
                        by_name.map_or_else(|| self.json(value), |name| Value::String(name.to_owned()));
                    (self.text(name), value)
                });
                Value::Object(fields.collect())
            }
            _ => value.clone(),
        }
    }
}

/// What a number under this key is called, if it differs from run to run.
fn name_of_number(key: &str) -> Option<&'static str> {
    match key {
        "pid" | "editorPid" | "ppid" => Some("[pid]"),
        "port" => Some("[port]"),
        "residentBytes" => Some("[size]"),
        _ if key.ends_with("Ms") || key.ends_with("At") => Some("[time]"),
        _ => None,
    }
}

pub struct Transcript<'w> {
    world: &'w World,
    normalizer: Normalizer,
    text: String,
}

impl<'w> Transcript<'w> {
    pub fn new(world: &'w World) -> Transcript<'w> {
        Transcript { world, normalizer: Normalizer::new(world), text: String::new() }
    }

    /// Runs a command twice, for text and with `--json`.
    #[track_caller]
    pub fn both(&mut self, args: &[&str]) {
        self.run(args);
        self.json(args);
    }

    /// Runs a command.
    #[track_caller]
    pub fn run(&mut self, args: &[&str]) -> CommandResult {
        let ran = self.world.run(args);
        self.begin(args, &ran);
        self.part("", &ran.stdout);
        self.part("stderr", &ran.stderr);
        ran
    }

    /// Runs a command with `--json`. Standard error has to be empty.
    #[track_caller]
    pub fn json(&mut self, args: &[&str]) -> Value {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let ran = self.world.run(&args);
        self.begin(&args, &ran);
        let printed = ran.json();
        let text = serde_json::to_string_pretty(&self.normalizer.json(&printed)).unwrap();
        self.text += &(text + "\n");
        self.part("stderr", &ran.stderr);
        printed
    }

    /// A message from one party to another, such as `hub -> claude`.
    pub fn message(&mut self, direction: &str, message: &Value) {
        self.separate();
        let text = serde_json::to_string_pretty(&self.normalizer.json(message)).unwrap();
        writeln!(self.text, "{direction}\n{text}").unwrap();
    }

    /// Any other text, under a title.
    pub fn note(&mut self, title: &str, text: &str) {
        self.separate();
        writeln!(self.text, "{title}").unwrap();
        self.part("", text);
    }

    pub fn finish(self) -> String {
        self.text
    }

    fn begin(&mut self, args: &[&str], ran: &CommandResult) {
        self.separate();
        let line = self.normalizer.text(&args.join(" "));
        let code = if ran.code == 0 { String::new() } else { format!("  # exit code {}", ran.code) };
        writeln!(self.text, "$ linkspan {line}{code}").unwrap();
    }

    fn separate(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    fn part(&mut self, title: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        if !title.is_empty() {
            writeln!(self.text, "{title}:").unwrap();
        }
        let text = self.normalizer.text(text);
        self.text += &text;
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}
