//! The slash commands, declared once: the parser, `/help`, completion, and the table in docs/agents/linkspan-agent.md come
//! from here.

use crate::permissions::PermissionMode;
use crate::tasks::Task;

/// What a slash command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlashKind {
    Help,
    Ide,
    Mode,
    Model,
    Provider,
    Tools,
    Agents,
    Status,
    Context,
    Compact,
    Clear,
    Save,
    Sessions,
    Load,
    Usage,
    Cancel,
    Diff,
    Task(Task),
    Quit,
}

/// A command as `/help` shows it.
#[derive(Debug, Clone, Copy)]
pub struct SlashCommand {
    /// With its slash.
    pub name: &'static str,
    /// What may follow.
    pub arguments: &'static str,
    /// What it does.
    pub help: &'static str,
    kind: SlashKind,
    /// Words that can come first after it.
    words: &'static [&'static str],
}

const fn slash(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    kind: SlashKind,
    words: &'static [&'static str],
) -> SlashCommand {
    SlashCommand { name, arguments, help, kind, words }
}

/// Every command, in the order of the help.
pub const SLASH_COMMANDS: [SlashCommand; 24] = [
    slash("/help", "", "List the commands and the keys", SlashKind::Help, &[]),
    slash(
        "/ide",
        "[connect [NAME|URL] | disconnect | status | undo | history]",
        "Show or choose the editor, take back the last accepted change, list what was decided",
        SlashKind::Ide,
        &["connect", "disconnect", "status", "undo", "history"],
    ),
    slash(
        "/mode",
        "[yolo | trusted | sandboxed]",
        "Show or change what the agent may do without asking",
        SlashKind::Mode,
        &["yolo", "trusted", "sandboxed"],
    ),
    slash("/model", "[MODEL]", "List the models, or use another one", SlashKind::Model, &[]),
    slash("/provider", "[PROVIDER]", "List the providers, or use another one", SlashKind::Provider, &[]),
    slash("/tools", "", "List the tools of the model", SlashKind::Tools, &[]),
    slash(
        "/agents",
        "[new NAME [--mode MODE] [--cwd FOLDER] [--model MODEL] | switch NAME | close NAME]",
        "List, start, switch and close agents",
        SlashKind::Agents,
        &["new", "switch", "close"],
    ),
    slash(
        "/status",
        "[-a]",
        "Show agent, model and editor; with -a also what the model is told",
        SlashKind::Status,
        &["-a"],
    ),
    slash("/context", "", "Show what the model is told", SlashKind::Context, &[]),
    slash("/compact", "", "Replace older messages by a summary", SlashKind::Compact, &[]),
    slash("/clear", "", "Forget the conversation", SlashKind::Clear, &[]),
    slash("/save", "[NAME]", "Name the session", SlashKind::Save, &[]),
    slash("/sessions", "", "List the saved sessions", SlashKind::Sessions, &[]),
    slash("/load", "NAME", "Continue a saved session", SlashKind::Load, &[]),
    slash("/usage", "", "Show the tokens that were used", SlashKind::Usage, &[]),
    slash("/cancel", "", "Cancel the turn, as Esc does", SlashKind::Cancel, &[]),
    slash("/diff", "", "Show what changed in the git working tree", SlashKind::Diff, &[]),
    slash("/explain", "CODE", "Explain a file or code", SlashKind::Task(Task::Explain), &[]),
    slash("/test", "CODE", "Write tests", SlashKind::Task(Task::Test), &[]),
    slash("/docs", "CODE", "Write documentation", SlashKind::Task(Task::Docs), &[]),
    slash("/debug", "PROBLEM", "Find and fix an error", SlashKind::Task(Task::Debug), &[]),
    slash("/implement", "WHAT", "Build a feature", SlashKind::Task(Task::Implement), &[]),
    slash("/generate", "WHAT", "Write code from a description", SlashKind::Task(Task::Generate), &[]),
    slash("/quit", "", "End", SlashKind::Quit, &[]),
];

/// Keys that the help lists.
pub(super) const KEYS: [(&str, &str); 8] = [
    ("Enter", "send; Alt-Enter or Ctrl-J begins a new line"),
    ("Tab", "complete a command or an @file"),
    ("Up, Down", "earlier inputs"),
    ("Esc", "cancel the turn"),
    ("Ctrl-C", "cancel the turn; else clear the input; twice: end"),
    ("Ctrl-O", "show the last tool call with its result; again: the one before"),
    ("Ctrl-L", "clear the screen"),
    ("Ctrl-D", "end, if the input is empty"),
];

/// What an input that begins with a slash means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    Command(SlashKind, &'a str),
    /// There is no such command; perhaps this one is meant.
    Unknown {
        name: &'a str,
        nearest: Option<&'static str>,
    },
}

/// `None` for an input that is not a command, such as a path.
pub(super) fn parse(input: &str) -> Option<Parsed<'_>> {
    let input = input.trim();
    let (name, arguments) = input.split_once(char::is_whitespace).unwrap_or((input, ""));
    let rest = name.strip_prefix('/')?;
    if rest.is_empty() || !rest.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    if let Some(command) = SLASH_COMMANDS.iter().find(|command| command.name == name) {
        return Some(Parsed::Command(command.kind, arguments.trim()));
    }
    let distance = |command: &&SlashCommand| strsim::damerau_levenshtein(command.name, name);
    let nearest = SLASH_COMMANDS.iter().min_by_key(distance).filter(|nearest| distance(nearest) <= 2);
    Some(Parsed::Unknown { name, nearest: nearest.map(|nearest| nearest.name) })
}

/// The mode of this name.
pub(super) fn mode_of(name: &str) -> Option<PermissionMode> {
    match name {
        "yolo" => Some(PermissionMode::Yolo),
        "trusted" => Some(PermissionMode::Trusted),
        "sandboxed" => Some(PermissionMode::Sandboxed),
        _ => None,
    }
}

/// The name of a mode.
pub(super) fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Yolo => "yolo",
        PermissionMode::Trusted => "trusted",
        PermissionMode::Sandboxed => "sandboxed",
    }
}

/// What can be completed before the cursor: where it starts, and what it can become.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) start: usize,
    pub(super) candidates: Vec<String>,
}

/// Commands, their words, agents, and files that are mentioned. `paths` lists the paths that begin with this.
pub(super) fn complete(before: &str, agents: &[&str], paths: &dyn Fn(&str) -> Vec<String>) -> Completion {
    let word_start = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    let word = before.get(word_start..).unwrap_or_default();
    if let Some(prefix) = word.strip_prefix('@') {
        let candidates = paths(prefix).into_iter().map(|path| format!("@{path}")).collect();
        return Completion { start: word_start, candidates };
    }
    if word_start == 0 && word.starts_with('/') {
        let fits = SLASH_COMMANDS.iter().filter(|command| command.name.starts_with(word));
        return Completion { start: 0, candidates: fits.map(|command| command.name.to_owned()).collect() };
    }
    let first = before.split_whitespace().next().unwrap_or_default();
    let Some(command) = SLASH_COMMANDS.iter().find(|command| command.name == first) else {
        return Completion::default();
    };
    if before.get(..word_start).unwrap_or_default().trim() == first {
        let fits = command.words.iter().filter(|candidate| candidate.starts_with(word));
        let candidates: Vec<_> = fits.map(|word| (*word).to_owned()).collect();
        if !candidates.is_empty() {
            return Completion { start: word_start, candidates };
        }
    }
    if matches!(before.split_whitespace().nth(1), Some("switch" | "close"))
        && command.kind == SlashKind::Agents
        && before.split_whitespace().count() <= 3
    {
        let fits = agents.iter().filter(|name| name.starts_with(word));
        return Completion { start: word_start, candidates: fits.map(|name| (*name).to_owned()).collect() };
    }
    if matches!(command.kind, SlashKind::Task(_)) && !word.is_empty() {
        return Completion { start: word_start, candidates: paths(word) };
    }
    Completion::default()
}

/// What all candidates begin with.
pub(super) fn common_prefix(candidates: &[String]) -> &str {
    let Some((first, rest)) = candidates.split_first() else { return "" };
    let mut end = first.len();
    for other in rest {
        let same = first.char_indices().zip(other.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
        end = end.min(same.unwrap_or(first.len().min(other.len())));
    }
    first.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_paths_and_typing_errors() {
        assert_eq!(parse("/mode yolo "), Some(Parsed::Command(SlashKind::Mode, "yolo")));
        assert_eq!(parse("/quit"), Some(Parsed::Command(SlashKind::Quit, "")));
        assert_eq!(parse("/statsu"), Some(Parsed::Unknown { name: "/statsu", nearest: Some("/status") }));
        assert_eq!(parse("/frobnicate"), Some(Parsed::Unknown { name: "/frobnicate", nearest: None }));
        for text in ["hello /mode", "/etc/hosts", "/", "", "a"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    fn candidates(before: &str) -> Vec<String> {
        complete(before, &["main", "helper"], &|prefix| vec![format!("{prefix}1"), format!("{prefix}2")])
            .candidates
    }

    #[test]
    fn the_page_has_this_table() {
        let page = include_str!("../../../../docs/agents/linkspan-agent.md");
        for command in &SLASH_COMMANDS {
            let usage = format!("{} {}", command.name, command.arguments);
            let row = format!("| `{}` | {} |", usage.trim().replace('|', "\\|"), command.help);
            assert!(page.contains(&row), "docs/agents/linkspan-agent.md lacks the row\n{row}");
        }
    }

    #[test]
    fn commands_words_and_files_are_completed() {
        assert_eq!(candidates("/mod"), ["/mode", "/model"]);
        assert_eq!(candidates("/ide c"), ["connect"]);
        assert_eq!(candidates("/agents switch "), ["main", "helper"]);
        assert_eq!(candidates("/agents close h"), ["helper"]);
        assert!(candidates("/agents new h").is_empty());
        assert_eq!(candidates("/mode "), ["yolo", "trusted", "sandboxed"]);
        assert!(candidates("/mode yolo x").is_empty());
        assert_eq!(candidates("look at @src/m"), ["@src/m1", "@src/m2"]);
        assert_eq!(candidates("/explain src/m"), ["src/m1", "src/m2"]);
        assert!(candidates("hello").is_empty());
        assert_eq!(complete("é @x", &[], &|_| vec!["x".into()]).start, "é ".len());
    }

    #[test]
    fn a_common_prefix_ends_between_characters() {
        let of = |candidates: &[&str]| {
            let candidates: Vec<_> = candidates.iter().map(|text| (*text).to_owned()).collect();
            common_prefix(&candidates).to_owned()
        };
        assert_eq!(of(&["/mode", "/model"]), "/mode");
        assert_eq!(of(&["aé", "aè"]), "a");
        assert_eq!(of(&["one"]), "one");
        assert_eq!(of(&[]), "");
    }
}
