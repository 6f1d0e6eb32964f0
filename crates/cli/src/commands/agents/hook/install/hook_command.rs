//! The command line that an agent runs for each event: how it is written, and how it is recognised in a settings file
//! that others write, too. Agents pass it to a shell.

use std::path::Path;

use super::super::HookOptions;

/// A hook's command line: which program, and with which options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookCommand {
    pub(super) program: String,
    pub(super) options: HookOptions,
    /// Options that this version does not know.
    pub(super) unknown: Vec<String>,
}

impl HookCommand {
    pub(super) fn new(program: &str, options: HookOptions) -> HookCommand {
        HookCommand { program: program.to_owned(), options, unknown: Vec::new() }
    }

    /// The words of the command line.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec![self.program.clone(), super::super::NAME.to_owned()];
        words.extend(option_names(self.options).into_iter().map(String::from));
        words
    }

    /// The command line for a shell.
    pub(super) fn line(&self) -> String {
        let words: Vec<String> = self.words().iter().map(|word| quote(word)).collect();
        words.join(" ")
    }

    /// Reads a command line, if it is that of a Linkspan hook, wherever that Linkspan is. A program of another name is
    /// one if it is `own`.
    pub(super) fn read(line: &str, own: &str) -> Option<HookCommand> {
        let mut words = split(line)?.into_iter();
        let program = words.next()?;
        let is_linkspan = Path::new(&program).file_name().is_some_and(|name| name == "linkspan");
        if !(is_linkspan || program == own) || words.next()? != super::super::NAME {
            return None;
        }
        let mut command = HookCommand::new(&program, HookOptions::default());
        for word in words {
            match word.as_str() {
                "--require" => command.options.require = true,
                "--always" => command.options.always = true,
                "--commands" => command.options.commands = true,
                // A script of the user's that manages hooks, or that does something after one.
                other if !other.starts_with("--") => return None,
                _ => command.unknown.push(word),
            }
        }
        Some(command)
    }
}

pub(super) fn option_names(options: HookOptions) -> Vec<&'static str> {
    let given =
        [(options.require, "--require"), (options.always, "--always"), (options.commands, "--commands")];
    given.into_iter().filter_map(|(is_given, name)| is_given.then_some(name)).collect()
}

/// Quotes a word so that any shell of an agent takes it as it is.
pub(super) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The words of a simple command line; `None` if a shell would do more with it than split it.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => loop {
                match characters.next()? {
                    '\'' => {
                        word.get_or_insert_default();
                        break;
                    }
                    quoted => word.get_or_insert_default().push(quoted),
                }
            },
            '"' => loop {
                match characters.next()? {
                    '"' => {
                        word.get_or_insert_default();
                        break;
                    }
                    '\\' => word.get_or_insert_default().push(characters.next()?),
                    '$' | '`' => return None,
                    quoted => word.get_or_insert_default().push(quoted),
                }
            },
            '\\' => word.get_or_insert_default().push(characters.next()?),
            '$' | '`' | '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n' => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "/opt/own";

    #[test]
    fn a_command_line_is_recognised_after_it_was_written() {
        let options = HookOptions { require: true, always: false, commands: true };
        for program in ["/usr/bin/linkspan", "/my folder/it's \"x\" $HOME/linkspan", "/ü/linkspan", OWN] {
            let command = HookCommand::new(program, options);
            assert_eq!(HookCommand::read(&command.line(), OWN), Some(command.clone()), "{}", command.line());
        }
        let command = HookCommand::new("/usr/bin/linkspan", options);
        assert_eq!(command.line(), "/usr/bin/linkspan hook --require --commands");
    }

    #[test]
    fn commands_of_others_are_left_alone() {
        for line in [
            "",
            "linkspan",
            "linkspan mcp",
            "/usr/bin/linkspander hook",
            "linkspan hook install all",
            "linkspan hook; rm x",
            "linkspan hook | tee log",
            "echo linkspan hook",
            "linkspan 'hook",
            "linkspan hook && true",
            "$HOME/linkspan hook",
        ] {
            assert_eq!(HookCommand::read(line, OWN), None, "{line}");
        }
    }

    #[test]
    fn an_option_of_a_newer_version_is_kept_in_mind() {
        let command = HookCommand::read("\"/a b/linkspan\"  hook --new --always", OWN).unwrap();
        assert_eq!((command.program.as_str(), command.unknown.len()), ("/a b/linkspan", 1));
        assert!(command.options.always);
    }
}
