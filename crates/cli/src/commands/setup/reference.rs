//! `linkspan reference` (hidden): fills in the generated parts of a documentation page, from the declarations of the
//! commands, exit codes and configuration keys. `cargo xtask codegen` runs it.
//!
//! A generated part begins with a line such as `<!-- generated: commands -->` and ends with `<!-- end -->`.

use std::fs;
use std::path::PathBuf;

use clap::{Arg, Command};
use linkspan_hub::config::{ConfigKey, Effective, KEYS, Setting};
use serde_json::json;

use crate::cli::exit::{self, Failure};
use crate::cli::output::Report;
use crate::commands::groups::{CommandGroup, GROUPS};
use crate::commands::scripts::conform::editor;

const WIDTH: usize = 118;
const END: &str = "<!-- end -->";

/// Print a page of the documentation with its generated parts.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The page.
    page: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Report, Failure> {
    let page = args.page.display();
    let text = fs::read_to_string(&args.page)
        .map_err(|error| Failure::usage(format!("cannot read {page}: {error}")))?;
    let filled = fill(&text, generate).map_err(|why| Failure::usage(format!("{page}: {why}")))?;
    let document = json!({ "page": filled });
    Ok(Report::raw(filled, document))
}

fn fill(page: &str, generate: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        filled += line;
        filled.push('\n');
        let Some(name) = line.strip_prefix("<!-- generated: ").and_then(|rest| rest.strip_suffix(" -->"))
        else {
            continue;
        };
        let part = generate(name).ok_or_else(|| format!("there is no generated part `{name}`"))?;
        filled += &format!("\n{}\n\n{END}\n", part.trim_end());
        if !lines.any(|line| line == END) {
            return Err(format!("`{name}` has no `{END}`"));
        }
    }
    Ok(filled)
}

fn generate(part: &str) -> Option<String> {
    match part {
        "index" => Some(index()),
        "commands" => Some(commands()),
        "editor obligations" => Some(editor::obligations()),
        "exit codes" => Some(exit::markdown()),
        "config file" => Some(config_file()),
        "config bounds" => Some(config_bounds()),
        _ => None,
    }
}

fn index() -> String {
    let groups = GROUPS.iter().map(|CommandGroup { title, commands }| {
        let links: Vec<String> = commands.iter().map(|name| format!("[{name}](#linkspan-{name})")).collect();
        wrapped("- ", &format!("**{title}**: {}", links.join(", ")))
    });
    groups.collect()
}

fn commands() -> String {
    let mut program = crate::program().disable_help_subcommand(true);
    // Gives the subcommands their full names.
    program.build();
    let mut text = String::new();
    for CommandGroup { title, commands } in &GROUPS {
        text += &format!("## {title}\n\n");
        for command in commands.iter().filter_map(|name| program.find_subcommand(name)) {
            entry(command, "linkspan", &mut text);
        }
    }
    text
}

fn entry(command: &Command, parent: &str, text: &mut String) {
    let name = format!("{parent} {}", command.get_name());
    *text += &format!("### {name}\n\n");
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    for paragraph in about.unwrap_or_default().split("\n\n") {
        *text += &wrapped("", &sentence(paragraph));
        text.push('\n');
    }
    if !command.is_subcommand_required_set() {
        *text += &format!("```\n{}\n```\n\n", synopsis(command, &name).trim_end());
    }
    let listed: String = arguments(command).map(item).collect();
    if !listed.is_empty() {
        *text += &format!("{listed}\n");
    }
    if let Some(after) = command.get_after_help() {
        *text += &examples(&after.to_string());
    }
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        entry(command, &name, text);
    }
}

/// Those of the command itself: `--help` and `--json` are everywhere.
fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_own = |arg: &&Arg| !arg.is_hide_set() && !arg.is_global_set() && arg.get_id() != "help";
    command.get_arguments().filter(is_own)
}

/// Arguments first, then options, on lines of at most 100 columns.
fn synopsis(command: &Command, name: &str) -> String {
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) =
        arguments(command).partition(|arg| arg.is_positional());
    let words = positional.into_iter().chain(options).map(|arg| {
        let form = form(arg);
        if arg.is_required_set() { form } else { format!("[{form}]") }
    });
    let mut lines = vec![name.to_owned()];
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= 100 => *line += &format!(" {word}"),
            _ => lines.push(format!("    {word}")),
        }
    }
    lines.join("\n")
}

/// As it is typed: `FILE`, `--new FILE`, `-n, --limit N`.
fn form(arg: &Arg) -> String {
    let values: Vec<String> = arg
        .get_value_names()
        .map(|names| names.iter().map(ToString::to_string).collect())
        .unwrap_or_default();
    let takes_value = arg.get_action().takes_values();
    let several = arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    let value = format!("{}{}", values.join(" "), if several { "…" } else { "" });
    if arg.is_positional() {
        return value;
    }
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let flag = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    match (takes_value, arg.is_require_equals_set()) {
        (false, _) => flag,
        (true, true) => format!("{flag}[={value}]"),
        (true, false) => format!("{flag} {value}"),
    }
}

fn item(arg: &Arg) -> String {
    let help = match arg.get_id().as_str() {
        "window" if arg.get_long_help().is_some() => {
            "Use this window: see [which window](#which-window).".to_owned()
        }
        _ => arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default(),
    };
    let mut help: Vec<String> = help.split("\n\n").map(sentence).collect();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        help.push(format!("One of {}.", values.join(", ")));
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .filter(|_| arg.get_action().takes_values() && !arg.is_hide_default_value_set())
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if !defaults.is_empty() {
        help.push(format!("Default: {}.", defaults.join(", ")));
    }
    wrapped("- ", &format!("`{}`: {}", form(arg), help.join(" ")))
}

/// Indented lines are commands.
fn examples(after: &str) -> String {
    let mut text = String::new();
    let mut in_code = false;
    for line in after.lines() {
        let is_code = line.starts_with("  ");
        if is_code != in_code {
            text += if is_code { "\n```sh\n" } else { "```\n\n" };
            in_code = is_code;
        }
        text += &if is_code { format!("{}\n", line.trim_start()) } else { wrapped("", line) };
    }
    if in_code {
        text += "```\n";
    }
    text + "\n"
}

/// clap takes the full stop away.
fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.ends_with(['.', '!', '?', ':']) { text } else { text + "." }
}

/// A paragraph, or an item of a list after its dash.
fn wrapped(dash: &str, text: &str) -> String {
    let mut lines = vec![dash.to_owned()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.trim_end().is_empty() || line == dash => *line += word,
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                *line += &format!(" {word}")
            }
            _ => lines.push(format!("{:1$}{word}", "", dash.len())),
        }
    }
    lines.join("\n") + "\n"
}

fn defaults() -> Vec<(&'static ConfigKey, Setting)> {
    let settings = Effective::load(&PathBuf::new(), None).map(|config| config.settings()).unwrap_or_default();
    KEYS.iter().zip(settings).collect()
}

/// The defaults as a file, with what each key means.
fn config_file() -> String {
    let settings = defaults();
    let width = settings.iter().map(|(_, setting)| setting.toml.len()).filter(|width| *width < 40).max();
    let width = width.unwrap_or_default();
    let mut text = String::from("```toml\n");
    let mut table = "";
    for (key, setting) in &settings {
        let inside = key.name.rsplit_once('.').map_or("", |(table, _)| table);
        if inside != table {
            text += &format!("\n[{inside}]\n");
            table = inside;
        }
        text += &format!("{:<width$}  # {}\n", setting.toml, key.summary);
    }
    text + "```\n"
}

fn config_bounds() -> String {
    let mut text = String::from("| key | from | to |\n|---|---|---|\n");
    for ConfigKey { name, bounds, .. } in &KEYS {
        if let Some((least, most)) = bounds {
            text += &format!("| `{name}` | {least} | {most} |\n");
        }
    }
    let tightened: Vec<String> =
        KEYS.iter().filter(|key| key.in_workspace).map(|key| format!("`{}`", key.name)).collect();
    text + &format!("\n{}", wrapped("", &format!("A workspace can tighten: {}.", tightened.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_parts_are_replaced_and_the_rest_is_kept() {
        let generate = |name: &str| (name == "a").then(|| "new".to_owned());
        let page = "before\n<!-- generated: a -->\nold\n<!-- end -->\nafter\n";
        let filled = "before\n<!-- generated: a -->\n\nnew\n\n<!-- end -->\nafter\n";
        assert_eq!(fill(page, generate).unwrap(), filled);
        assert_eq!(fill(filled, generate).unwrap(), filled);
        assert!(fill("<!-- generated: b -->\n<!-- end -->\n", generate).unwrap_err().contains("`b`"));
        assert!(fill("<!-- generated: a -->\n", generate).unwrap_err().contains(END));
    }

    #[test]
    fn every_option_is_in_the_reference() {
        let text = commands();
        for part in ["### linkspan hub stop", "`--hunk N…`", "`--wait-settled[=SECONDS]`", "`-n, --limit N`"]
        {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("hub run"));
    }
}
