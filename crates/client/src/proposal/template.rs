//! The replacement of `regex_replace`, in Python's notation, because that is what models write: `\1`,
//! `\g<name>`, `\n`. A `$` is a plain dollar sign.

use regex::{Captures, Regex};

use super::error::ProposalError;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<TemplatePart>);

#[derive(Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Group(usize),
}

impl Template {
    pub(super) fn parse(template: &str, regex: &Regex) -> Result<Template, ProposalError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = template.chars();
        while let Some(character) = rest.next() {
            if character != '\\' {
                text.push(character);
                continue;
            }
            let group = match rest.next() {
                Some('n') => Err('\n'),
                Some('r') => Err('\r'),
                Some('t') => Err('\t'),
                Some('\\') => Err('\\'),
                Some('g') => Ok(named(&mut rest, regex)?),
                Some(digit @ '0'..='9') => Ok(numbered(digit, &mut rest)),
                Some(letter) if letter.is_ascii_alphabetic() => {
                    return Err(bad(format!("\\{letter} has no meaning")));
                }
                // As in Python, a backslash before any other character is kept.
                Some(other) => {
                    text.push('\\');
                    Err(other)
                }
                None => return Err(bad("it ends in a single backslash".to_owned())),
            };
            match group {
                Err(character) => text.push(character),
                Ok(group) if group < regex.captures_len() => {
                    parts.push(TemplatePart::Text(std::mem::take(&mut text)));
                    parts.push(TemplatePart::Group(group));
                }
                Ok(group) => return Err(bad(format!("the pattern has no group {group}"))),
            }
        }
        parts.push(TemplatePart::Text(text));
        Ok(Template(parts))
    }

    pub(super) fn expand(&self, captures: &Captures<'_>) -> String {
        let parts = self.0.iter().map(|part| match part {
            TemplatePart::Text(text) => text.as_str(),
            TemplatePart::Group(group) => captures.get(*group).map_or("", |group| group.as_str()),
        });
        parts.collect()
    }
}

/// One digit or two.
fn numbered(first: char, rest: &mut std::str::Chars<'_>) -> usize {
    let value = |digit: char| digit.to_digit(10).map_or(0, |digit| digit as usize);
    let second = rest.clone().next().filter(char::is_ascii_digit);
    match second {
        Some(second) if first != '0' => {
            rest.next();
            value(first) * 10 + value(second)
        }
        _ => value(first),
    }
}

/// The part after `\g`: `<name>` or `<1>`.
fn named(rest: &mut std::str::Chars<'_>, regex: &Regex) -> Result<usize, ProposalError> {
    let inside = rest.as_str().strip_prefix('<').and_then(|after| after.split_once('>'));
    let Some((name, after)) = inside else { return Err(bad("\\g needs a group in <>".to_owned())) };
    *rest = after.chars();
    let by_name = || regex.capture_names().position(|known| known == Some(name));
    name.parse().ok().or_else(by_name).ok_or_else(|| bad(format!("the pattern has no group `{name}`")))
}

fn bad(reason: String) -> ProposalError {
    ProposalError::BadReplacement { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, template: &str, expect: &str) {
        let regex = Regex::new(pattern).unwrap();
        let template = Template::parse(template, &regex).unwrap();
        assert_eq!(template.expand(&regex.captures(text).unwrap()), expect);
    }

    #[test]
    fn groups_are_named_as_in_python() {
        check(
            r"(\w+) (?P<last>\w+)",
            "ada byron",
            r"\2, \1 \g<last> \g<1> \g<0>",
            "byron, ada byron ada ada byron",
        );
        check(r"(a)(b)?", "a", r"[\2]", "[]");
    }

    #[test]
    fn escapes_are_characters_and_a_dollar_is_a_dollar() {
        check("a", "a", r"\t$1 ${x}\n\\ \.", "\t$1 ${x}\n\\ \\.");
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        let regex = Regex::new("(a)").unwrap();
        for template in [r"\2", r"\g<nobody>", r"\g<1", r"\q", r"x\", r"\g<99999999999999999999>"] {
            let refused = Template::parse(template, &regex);
            assert!(matches!(refused, Err(ProposalError::BadReplacement { .. })), "{template}");
        }
    }
}
