//! The reference page for authors of clients, generated from the table of tools.

use super::envelope::CODES;
use super::tool::{Argument, Group};
use super::tools::all;

const INTRODUCTION: &str = include_str!("introduction.md");

/// The tools as a Markdown page.
pub fn tools_page() -> String {
    let mut out = INTRODUCTION.to_owned();
    for group in Group::ALL {
        out.push_str(&format!("\n## {}\n", group.name()));
        for tool in all().filter(|tool| tool.group == group) {
            out.push_str(&format!("\n### `{}`\n\n{}\n\n", tool.name, tool.about));
            if tool.arguments.is_empty() {
                out.push_str("No arguments.\n");
            } else {
                out.push_str("| argument | type | |\n|---|---|---|\n");
                out.extend(tool.arguments.iter().map(row));
            }
            out.push_str(&format!("\nResult: `{}`\n", tool.result));
        }
    }
    out.push_str("\n## Errors\n\n| code | meaning |\n|---|---|\n");
    out.extend(CODES.iter().map(|(code, meaning)| format!("| `{code}` | {meaning} |\n")));
    out
}

fn row(Argument { name, kind, required, about }: &Argument) -> String {
    let mark = if *required { "" } else { "?" };
    format!("| `{name}{mark}` | `{kind}` | {about} |\n")
}
