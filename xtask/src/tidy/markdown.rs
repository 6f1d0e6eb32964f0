//! The parts of a Markdown page that make claims: link targets, code spans, command lines.
//!
//! Knows as much Markdown as our pages use.

const PAGES: [&str; 4] = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md"];
const SHELLS: [&str; 5] = ["", "bash", "console", "sh", "shell"];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Link(&'a str),
    Span(&'a str),
    Command(&'a str),
}

pub(super) fn is_checked(path: &str) -> bool {
    PAGES.contains(&path) || (path.starts_with("docs/") && path.ends_with(".md"))
}

/// Every claim with its line number.
pub(super) fn parts(text: &str) -> Vec<(usize, Part<'_>)> {
    let mut parts = Vec::new();
    let mut fence: Option<(&str, Vec<(usize, &str)>)> = None;
    for (index, line) in text.lines().enumerate() {
        let marker = line.trim_start().strip_prefix("```");
        match (&mut fence, marker) {
            (None, Some(language)) => fence = Some((language.trim(), Vec::new())),
            (None, None) => prose(index + 1, line, &mut parts),
            (Some((_, lines)), None) => lines.push((index + 1, line.trim())),
            (Some((language, lines)), Some(_)) => {
                if SHELLS.contains(language) {
                    commands(lines, &mut parts);
                }
                fence = None;
            }
        }
    }
    parts
}

/// Between backticks is code; links are looked for in the rest.
fn prose<'a>(line_number: usize, line: &'a str, parts: &mut Vec<(usize, Part<'a>)>) {
    for (position, piece) in line.split('`').enumerate() {
        if position % 2 == 1 {
            parts.push((line_number, Part::Span(piece)));
        }
    }
    for rest in line.split("](").skip(1) {
        if let Some((target, _)) = rest.split_once(')') {
            parts.push((line_number, Part::Link(target)));
        }
    }
}

/// A block that shows a prompt shows output too; only what follows the prompt was typed.
fn commands<'a>(lines: &[(usize, &'a str)], parts: &mut Vec<(usize, Part<'a>)>) {
    let has_prompt = lines.iter().any(|(_, line)| line.starts_with("$ "));
    for (line_number, line) in lines {
        match line.strip_prefix("$ ") {
            Some(typed) => parts.push((*line_number, Part::Command(typed))),
            None if !has_prompt => parts.push((*line_number, Part::Command(line))),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_spans_of_prose_are_found_with_their_lines() {
        let found = parts("See [the map](docs/map.md) or\n`linkspan status`.\n");
        assert_eq!(found, [(1, Part::Link("docs/map.md")), (2, Part::Span("linkspan status"))]);
    }

    #[test]
    fn every_line_of_a_shell_block_is_a_command() {
        assert_eq!(parts("```sh\nlinkspan serve\n```\n"), [(2, Part::Command("linkspan serve"))]);
    }

    #[test]
    fn what_a_prompted_command_printed_is_no_command() {
        let found = parts("```console\n$ linkspan serve\nlinkspan listens\n```\n");
        assert_eq!(found, [(2, Part::Command("linkspan serve"))]);
    }

    #[test]
    fn blocks_in_other_languages_claim_nothing() {
        assert_eq!(parts("```json\nlinkspan serve\n```\nand `a` after\n"), [(4, Part::Span("a"))]);
    }
}
