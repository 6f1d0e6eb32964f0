//! The text of a configuration file: which key is on which line, and all problems with them.
//!
//! Knows TOML, but not the meaning of any key.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Value;
use toml::de::{DeTable, DeValue, Error};

use super::{ConfigError, ConfigProblem, KeyProblem, nearest};

/// A configuration file is written by hand.
const MAX_BYTES: u64 = 64 * 1024;

/// The line of each key that is set, such as `limits.file_mib`, and of each item of a list, such as `deny[0]`.
#[derive(Debug, Default)]
pub(super) struct KeyLines(BTreeMap<String, usize>);

impl KeyLines {
    pub(super) fn line_number(&self, key: &str) -> Option<usize> {
        self.0.get(key).copied()
    }

    fn add(&mut self, text: &str, key: &str, at: Range<usize>, value: &DeValue<'_>) {
        self.0.insert(key.to_owned(), line_number(text, at));
        if let Some(table) = value.as_table() {
            self.add_all(text, &format!("{key}."), table);
        }
        for (index, item) in value.as_array().into_iter().flat_map(|items| items.iter()).enumerate() {
            self.0.insert(format!("{key}[{index}]"), line_number(text, item.span()));
        }
    }

    fn add_all(&mut self, text: &str, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            self.add(text, &format!("{prefix}{}", key.get_ref()), key.span(), value.get_ref());
        }
    }
}

/// Reads a file of type `T`; a missing one is the default. `problems` finds what types cannot express.
pub(super) fn load<T: Default + DeserializeOwned>(
    path: &Path,
    problems: impl Fn(&T) -> Vec<KeyProblem>,
) -> Result<(T, KeyLines), ConfigError> {
    let text = match read_small(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    parse(&text, problems).map_err(|mut problems| {
        problems.sort_by_key(|problem| problem.line_number);
        for problem in &mut problems {
            problem.message = in_one_line(&problem.message);
        }
        ConfigError::Invalid { path: path.to_owned(), problems }
    })
}

fn parse<T: DeserializeOwned>(
    text: &str,
    problems: impl Fn(&T) -> Vec<KeyProblem>,
) -> Result<(T, KeyLines), Vec<ConfigProblem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| problem(text, error)).collect());
    }
    let mut lines = KeyLines::default();
    lines.add_all(text, "", table.get_ref());
    let config = toml::from_str(text).map_err(|error| problems_by_key::<T>(text, &lines, &error))?;
    let problems = problems(&config);
    if problems.is_empty() {
        return Ok((config, lines));
    }
    let at = |key: &str| lines.line_number(key).unwrap_or(1);
    Err(problems.into_iter().map(|(key, message)| ConfigProblem { line_number: at(&key), message }).collect())
}

/// serde stops at the first key that it rejects; here each key is tried alone.
fn problems_by_key<T: DeserializeOwned>(text: &str, lines: &KeyLines, first: &Error) -> Vec<ConfigProblem> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let mut found = Vec::new();
    for (key, value) in &table {
        let settings: Vec<(String, Value)> = match value {
            Value::Table(inner) => {
                let alone = |(name, value): (&String, &Value)| {
                    let table = toml::Table::from_iter([(name.clone(), value.clone())]);
                    (format!("{key}.{name}"), Value::Table(table))
                };
                inner.iter().map(alone).collect()
            }
            other => vec![(key.clone(), other.clone())],
        };
        for (name, value) in settings {
            if let Err(error) = toml::Table::from_iter([(key.clone(), value)]).try_into::<T>() {
                let line_number = lines.line_number(&name).unwrap_or(1);
                found.push(ConfigProblem { line_number, message: with_nearest_key(error.message()) });
            }
        }
    }
    if found.is_empty() { vec![problem(text, first)] } else { found }
}

fn problem(text: &str, error: &Error) -> ConfigProblem {
    let line_number = error.span().map_or(1, |span| line_number(text, span));
    ConfigProblem { line_number, message: with_nearest_key(error.message()) }
}

fn line_number(text: &str, span: Range<usize>) -> usize {
    text.get(..span.start).unwrap_or_default().matches('\n').count() + 1
}

/// serde names the unknown key and all known ones: the user wants the nearest one.
fn with_nearest_key(message: &str) -> String {
    let Some(after) = message.strip_prefix("unknown field") else {
        return message.trim_end().replace('\n', "; ");
    };
    let mut names = after.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    match nearest(unknown, names) {
        Some(nearest) => format!("unknown field `{unknown}`; did you mean `{nearest}`?"),
        None => format!("unknown field `{unknown}`"),
    }
}

/// The message may quote the file: a line break in a name would start a new line.
fn in_one_line(message: &str) -> String {
    message.replace('\r', "\\r").replace('\n', "\\n")
}

/// A cloned repository may contain anything under this name: a device, a pipe, an endless file.
fn read_small(path: &Path) -> std::io::Result<String> {
    let file = crate::edge::disk::open_regular(path)?;
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(std::io::Error::other(format!("the file is larger than {MAX_BYTES} bytes")));
    }
    Ok(text)
}
