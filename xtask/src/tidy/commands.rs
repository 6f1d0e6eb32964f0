//! Commands that the docs name must exist.

use super::Finding;
use super::markdown::{Part, parts};

const REMEDY: &str = "name a command that exists";

pub(super) fn check_xtask(page: &str, text: &str) -> Vec<Finding> {
    let known = |words: &[&str]| {
        let name = words.first().copied().unwrap_or_default();
        name == "help" || crate::COMMANDS.iter().any(|command| command.name == name)
    };
    check(page, text, "cargo xtask", xtask_words, known)
}

/// `has_help` asks the binary whether `linkspan <words> --help` is answered.
pub(super) fn check_linkspan(page: &str, text: &str, has_help: impl Fn(&[&str]) -> bool) -> Vec<Finding> {
    check(page, text, "linkspan", linkspan_words, has_help)
}

fn check(
    page: &str,
    text: &str,
    program: &str,
    words_of: fn(&str) -> Option<Vec<&str>>,
    exists: impl Fn(&[&str]) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line_number, part) in parts(text) {
        let (Part::Span(line) | Part::Command(line)) = part else { continue };
        for words in line.split(['|', ';', '&']).filter_map(words_of) {
            if !exists(&words) {
                let what = format!("there is no `{program} {}`", words.join(" "));
                findings.push(Finding::new(page, line_number, what, REMEDY));
            }
        }
    }
    findings
}

fn xtask_words(command: &str) -> Option<Vec<&str>> {
    subcommand(typed(command).strip_prefix(&["cargo", "xtask"])?)
}

/// `cargo run … -- serve` is how the README starts what is not installed yet.
fn linkspan_words(command: &str) -> Option<Vec<&str>> {
    let words = typed(command);
    if let Some(rest) = words.strip_prefix(&["linkspan"]) {
        return subcommand(rest);
    }
    let rest = words.strip_prefix(&["cargo", "run"])?;
    let dashes = rest.iter().position(|word| *word == "--")?;
    subcommand(rest.get(dashes + 1..)?)
}

/// The words of a command line, without the variables set in front of it.
fn typed(command: &str) -> Vec<&str> {
    command.split_whitespace().skip_while(|word| word.contains('=')).collect()
}

/// The subcommand and one word more, which may be a subcommand of its own (`hub start`); a plain
/// argument in its place does no harm, because `--help` is answered before arguments are looked at.
fn subcommand<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let is_name = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    let names: Vec<&str> = words.iter().copied().take_while(is_name).take(2).collect();
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(text: &str) -> Vec<String> {
        let known = |words: &[&str]| matches!(words, ["serve" | "accept", ..] | ["hub", "start"]);
        check_linkspan("README.md", text, known).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn commands_that_exist_are_fine() {
        assert!(
            unknown("`linkspan serve` `linkspan accept latest --hunk 1` `linkspan hub start|stop|log`")
                .is_empty()
        );
    }

    #[test]
    fn a_command_that_does_not_exist_is_found_in_spans_and_blocks() {
        assert_eq!(unknown("`linkspan fly`"), ["there is no `linkspan fly`"]);
        assert_eq!(unknown("```sh\nHOME=/tmp linkspan fly | less\n```"), ["there is no `linkspan fly`"]);
        assert_eq!(unknown("```sh\ncargo run --release -- fly\n```"), ["there is no `linkspan fly`"]);
    }

    #[test]
    fn placeholders_flags_and_prose_are_no_commands() {
        assert!(
            unknown("linkspan is a bridge: `linkspan <command>`, `linkspan --version`, `linkspan`")
                .is_empty()
        );
    }

    #[test]
    fn xtask_commands_are_known_by_their_own_table() {
        assert_eq!(check_xtask("README.md", "`cargo xtask test --fast` `cargo xtask help`"), []);
        assert_eq!(check_xtask("README.md", "`cargo xtask fly`").len(), 1);
    }
}
