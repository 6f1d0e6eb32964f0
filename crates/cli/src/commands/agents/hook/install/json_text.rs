//! Edits the text of a JSON file in place, with comments and trailing commas where it has them: one member or element
//! is added, replaced or removed, and no other byte changes. Removing the member that was added last gives back the
//! text from before, to the byte. Knows neither files nor hooks.

use std::ops::Range;

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::json_value::{JsonValue, Layout, quoted};

/// One step from a value to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Member(String),
    Element(usize),
}

/// Why a text cannot be edited, and where. Lines and columns begin with 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonTextError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) what: String,
}

/// A JSON text and what it means.
pub(super) struct JsonText<'a> {
    text: &'a str,
    root: Node<'a>,
    tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> JsonText<'a> {
    /// With comments and trailing commas.
    pub(super) fn parse(text: &'a str) -> Result<JsonText<'a>, JsonTextError> {
        JsonText::parse_with(text, true, true)
    }

    /// Whether a program that reads comments or not, and no trailing commas, can read the text.
    pub(super) fn check(text: &'a str, comments: bool) -> Result<(), JsonTextError> {
        JsonText::parse_with(text, comments, false).map(|_| ())
    }

    fn parse_with(text: &'a str, comments: bool, commas: bool) -> Result<JsonText<'a>, JsonTextError> {
        // Comments that are collected count as allowed.
        let strategy =
            if comments { CommentCollectionStrategy::AsTokens } else { CommentCollectionStrategy::Off };
        let collect = CollectOptions { comments: strategy, tokens: true };
        // Some agents accept comments, and none accepts more beyond JSON.
        let options = ParseOptions {
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
            allow_comments: comments,
            allow_trailing_commas: commas,
        };
        let parsed = parse_to_ast(text, &collect, &options).map_err(|error| JsonTextError {
            line: error.line_display(),
            column: error.column_display(),
            what: error.kind().to_string(),
        })?;
        let end = || error_at(text, text.len(), "Expected a value");
        let root = parsed.value.ok_or_else(end)?;
        Ok(JsonText { text, root, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// What the text means, without comments.
    pub(super) fn value(&self) -> Value {
        self.root.clone().into()
    }

    /// An error about the value at a path, or about the nearest one above it.
    pub(super) fn error(&self, path: &[PathStep], what: impl Into<String>) -> JsonTextError {
        let at = (0..=path.len()).rev().find_map(|length| self.node(path.get(..length)?));
        error_at(self.text, at.map_or(0, |node| node.range().start), what)
    }

    /// Where the value at a path begins.
    pub(super) fn place(&self, path: &[PathStep]) -> Option<usize> {
        self.node(path).map(|node| node.range().start)
    }

    /// Whether an object has two members of the same name: then one of them is ignored, and which one depends on the
    /// program that reads it.
    pub(super) fn has_twice(&self, path: &[PathStep], name: &str) -> bool {
        let members = self.node(path).and_then(Node::as_object).map(|object| &object.properties);
        members.into_iter().flatten().filter(|member| member.name.as_str() == name).count() > 1
    }

    pub(super) fn with_member(&self, path: &[PathStep], name: &str, value: &JsonValue) -> Option<String> {
        self.with_item(path, &|layout| format!("{}: {}", quoted(name), value.render(layout)))
    }

    pub(super) fn with_element(&self, path: &[PathStep], value: &JsonValue) -> Option<String> {
        self.with_item(path, &|layout| value.render(layout))
    }

    pub(super) fn with_value(&self, path: &[PathStep], value: &JsonValue) -> Option<String> {
        let at = self.node(path)?.range();
        let layout = self.layout(self.line_indent(at.start));
        Some(self.spliced(vec![(at.start..at.end, value.render(&layout))]))
    }

    /// Without the member or element at the path.
    pub(super) fn without(&self, path: &[PathStep]) -> Option<String> {
        let (last, above) = path.split_last()?;
        let list = self.items(above)?;
        let index = match last {
            PathStep::Element(index) => *index,
            PathStep::Member(name) => {
                let object = self.node(above)?.as_object()?;
                object.properties.iter().position(|member| member.name.as_str() == name)?
            }
        };
        let item = list.items.get(index)?.clone();
        let next = list.items.get(index + 1);
        let mut removed = vec![item.clone()];
        let comma_after = self.comma(item.end..next.map_or(list.close, |next| next.start));
        if let Some(comma) = &comma_after {
            removed.push(comma.clone());
        } else if let Some(before) = index.checked_sub(1).and_then(|before| list.items.get(before)) {
            removed.extend(self.comma(before.end..item.start));
        }
        let rest_from = comma_after.map_or(item.end, |comma| comma.end);
        removed.extend(self.space_around(&item, rest_from, &list));
        Some(self.spliced(removed.into_iter().map(|range| (range, String::new())).collect()))
    }

    /// The white space that goes with a removed item.
    fn space_around(&self, item: &Range<usize>, rest_from: usize, list: &ItemList) -> Vec<Range<usize>> {
        let after = self.text.get(rest_from..).unwrap_or_default();
        if list.items.len() == 1 {
            let closing = line_break_length(after).filter(|length| rest_from + length == list.close);
            let before = self.line_break_before(item.start).filter(|_| !self.ends_line_comment(item.start));
            return before.into_iter().chain(closing.map(|length| rest_from..rest_from + length)).collect();
        }
        // A comment between the item and its comma stays.
        let between = self.text.get(item.end..rest_from).unwrap_or_default();
        let is_line_end = after.trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
            && between.chars().all(|c| c == ',' || c.is_whitespace());
        match self.line_break_before(item.start) {
            // What follows on the line must not become part of a comment at the end of the line before.
            Some(_) if !is_line_end && self.ends_line_comment(item.start) => vec![],
            Some(before) => vec![before],
            None if self.text.get(..item.start).unwrap_or_default().ends_with(' ') => {
                std::iter::once(item.start - 1..item.start).collect()
            }
            None if after.starts_with(' ') => std::iter::once(rest_from..rest_from + 1).collect(),
            None => vec![],
        }
    }

    fn with_item(&self, path: &[PathStep], render: &dyn Fn(&Layout) -> String) -> Option<String> {
        let list = self.items(path)?;
        let Some(last) = list.items.last() else {
            let outer = self.layout(self.line_indent(list.open));
            let inner = outer.deeper();
            let item = format!("{}{}{}", inner.line_start(), render(&inner), outer.line_start());
            return Some(self.spliced(vec![(list.close..list.close, item)]));
        };
        let layout = self.layout(self.line_indent(last.start));
        let comma = self.comma(last.end..list.close);
        let end = comma.as_ref().map_or(last.end, |comma| comma.end);
        let (at, mut item) = match self.line_break_before(last.start) {
            Some(_) => (self.end_of_comments(end), format!("{}{}", layout.line_start(), render(&layout))),
            None => (end, format!(" {}", render(&layout))),
        };
        let mut splices = Vec::new();
        match comma {
            Some(_) => item.push(','),
            None => splices.push((last.end..last.end, ",".to_owned())),
        }
        splices.push((at..at, item));
        Some(self.spliced(splices))
    }

    fn node(&self, path: &[PathStep]) -> Option<&Node<'a>> {
        path.iter().try_fold(&self.root, |node, step| match step {
            PathStep::Member(name) => node.as_object()?.get(name).map(|member| &member.value),
            PathStep::Element(index) => node.as_array()?.elements.get(*index),
        })
    }

    fn items(&self, path: &[PathStep]) -> Option<ItemList> {
        let (range, items) = match self.node(path)? {
            Node::Object(object) => (object.range, object.properties.iter().map(Ranged::range).collect()),
            Node::Array(array) => (array.range, array.elements.iter().map(Ranged::range).collect()),
            _ => return None,
        };
        let items: Vec<jsonc_parser::common::Range> = items;
        let items = items.into_iter().map(|range| range.start..range.end).collect();
        Some(ItemList { open: range.start, close: range.end.checked_sub(1)?, items })
    }

    fn tokens_in(&self, range: Range<usize>) -> impl Iterator<Item = &TokenAndRange<'a>> {
        let inside = move |token: &&TokenAndRange<'_>| {
            token.range.start >= range.start && token.range.end <= range.end
        };
        self.tokens.iter().filter(inside)
    }

    fn comma(&self, range: Range<usize>) -> Option<Range<usize>> {
        let comma = self.tokens_in(range).find(|token| token.token == Token::Comma)?;
        Some(comma.range.start..comma.range.end)
    }

    /// The end of the comments that stand on the same line after a position.
    fn end_of_comments(&self, from: usize) -> usize {
        let mut end = from;
        for token in self.tokens_in(from..self.text.len()) {
            let between = self.text.get(end..token.range.start).unwrap_or_default();
            let is_comment = matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
            let text = token.text(self.text);
            if !is_comment || between.contains('\n') || text.trim_end().contains('\n') {
                break;
            }
            end = token.range.start + text.trim_end_matches(['\r', '\n']).len();
        }
        end
    }

    /// Whether the line break before a position is what ends a comment: without it, the rest would be part of it.
    fn ends_line_comment(&self, at: usize) -> bool {
        let last = self.tokens.iter().rev().find(|token| token.range.start < at);
        let Some(comment) = last.filter(|token| matches!(token.token, Token::CommentLine(_))) else {
            return false;
        };
        self.text.get(comment.range.start..at).unwrap_or_default().matches('\n').count() == 1
    }

    /// The line break and indentation directly before a position.
    fn line_break_before(&self, at: usize) -> Option<Range<usize>> {
        let before = self.text.get(..at)?.trim_end_matches([' ', '\t']);
        let without = before.strip_suffix('\n')?;
        Some(without.strip_suffix('\r').unwrap_or(without).len()..at)
    }

    /// The white space at the beginning of a position's line.
    fn line_indent(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let code = line.trim_start_matches([' ', '\t']);
        line.get(..line.len() - code.len()).unwrap_or_default().to_owned()
    }

    fn layout(&self, indent: String) -> Layout {
        let newline = match self.text.split_once('\n') {
            Some((first, _)) if first.ends_with('\r') => "\r\n",
            _ => "\n",
        };
        Layout { newline, indent, unit: self.unit() }
    }

    /// One level of indentation, as the first member has it.
    fn unit(&self) -> String {
        let first = self.items(&[]).and_then(|list| list.items.first().cloned());
        let indent = first.filter(|item| self.line_break_before(item.start).is_some());
        match indent.map(|item| self.line_indent(item.start)) {
            Some(indent) if !indent.is_empty() => indent,
            _ => "  ".to_owned(),
        }
    }

    fn spliced(&self, mut splices: Vec<(Range<usize>, String)>) -> String {
        splices.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = String::new();
        let mut at = 0;
        for (range, new) in splices {
            text += self.text.get(at..range.start).unwrap_or_default();
            text += &new;
            at = range.end;
        }
        text + self.text.get(at..).unwrap_or_default()
    }
}

/// The items of an object or a list, each with its place in the text.
struct ItemList {
    /// Where the opening bracket is.
    open: usize,
    /// Where the closing bracket is.
    close: usize,
    items: Vec<Range<usize>>,
}

/// The length of a line break and the indentation after it, at the beginning of a text.
fn line_break_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'))?;
    Some(text.len() - rest.trim_start_matches([' ', '\t']).len())
}

fn error_at(text: &str, at: usize, what: impl Into<String>) -> JsonTextError {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    JsonTextError { line, column, what: what.into() }
}
