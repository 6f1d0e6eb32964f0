//! The types that an editor needs, as annotations for Lua's language server, and the constants as a Lua module. Reads the
//! declarations as `layout.rs` lays them out.

use std::collections::{BTreeMap, BTreeSet};

use super::Protocol;
use crate::errors::CODES;
use crate::method::Direction;
use crate::version::PROTOCOL;

const EDITOR_DIRECTIONS: [Direction; 3] =
    [Direction::EditorToHub, Direction::HubToEditor, Direction::AttachToEditor];
/// Methods of commands that editors call too.
const ALSO: [&str; 3] = ["reviews/list", "history/list", "history/undo"];

/// The protocol as a Lua module.
pub fn lua() -> String {
    let protocol = Protocol::collect();
    let mut out = String::from(
        "-- Generated from crates/editor-api by `cargo xtask codegen`. Do not edit.\n\nlocal M = {}\n\n",
    );
    out.push_str("---Version of the protocol, for `attach`.\n");
    out.push_str(&format!("M.PROTOCOL = {PROTOCOL}\n\n---Error codes.\nM.ERRORS = {{\n"));
    for (code, name, docs) in CODES {
        out.push_str(&format!("  ---{}\n  {name} = {code},\n", docs.trim()));
    }
    out.push_str("}\n");
    for name in needed(&protocol) {
        if let Some(declaration) = protocol.types.get(&name) {
            out.push_str(&format!("\n{}", annotation(&name, declaration, &protocol.types)));
        }
    }
    out.push_str("\nreturn M\n");
    out
}

/// The types of an editor's methods, and those they mention.
fn needed(protocol: &Protocol) -> BTreeSet<String> {
    let is_editors = |name: &str, direction: Direction| {
        direction == Direction::Both || EDITOR_DIRECTIONS.contains(&direction) || ALSO.contains(&name)
    };
    let methods = protocol.methods.iter().filter(|method| is_editors(method.name, method.direction));
    let mut open: Vec<String> = methods
        .flat_map(|method| [&method.params, &method.result])
        .flat_map(|text| words(text).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut needed = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(declaration) = protocol.types.get(&name) else { continue };
        if needed.insert(name) {
            let code = declaration.lines().filter(|line| !line.trim_start().starts_with("/**"));
            open.extend(code.flat_map(words).map(str::to_owned));
        }
    }
    needed
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A type as a class. The variants of a union become one class: a member that not every variant has may be missing.
fn annotation(name: &str, declaration: &str, types: &BTreeMap<String, String>) -> String {
    let mut lines = declaration.lines().peekable();
    let docs = lines.next_if(|line| line.starts_with("/**")).map(prose).unwrap_or_default();
    let docs = if docs.is_empty() { String::new() } else { format!("---{docs}\n") };
    let head = lines.next().unwrap_or_default();
    if let Some(alias) = head.split_once(" = ").and_then(|(_, body)| body.strip_suffix(';')) {
        return format!("{docs}---@alias linkspan.{name} {}\n", kind_of(alias, types));
    }
    let variants = declaration.matches("\n  | {").count().max(1);
    let mut members: Vec<Member> = Vec::new();
    let mut docs_of_member = String::new();
    for line in lines.map(str::trim) {
        if line.starts_with("/**") {
            docs_of_member = prose(line);
        } else if let Some((label, kind)) = line.strip_suffix(';').and_then(|line| line.split_once(": ")) {
            let optional = label.ends_with('?');
            let label = label.trim_matches(['"', '?']).to_owned();
            let docs = std::mem::take(&mut docs_of_member);
            match members.iter_mut().find(|member| member.label == label) {
                Some(member) => member.add(kind_of(kind, types)),
                None => {
                    let kinds = vec![kind_of(kind, types)];
                    members.push(Member { label, kinds, docs, optional, count: 1 });
                }
            }
        }
    }
    let fields: String = members.iter().map(|member| member.line(variants)).collect();
    format!("{docs}---@class linkspan.{name}\n{fields}")
}

struct Member {
    label: String,
    kinds: Vec<String>,
    docs: String,
    optional: bool,
    /// In how many variants it is.
    count: usize,
}

impl Member {
    fn add(&mut self, kind: String) {
        self.count += 1;
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    fn line(&self, variants: usize) -> String {
        let Member { label, kinds, docs, optional, count } = self;
        let mark = if *optional || *count < variants { "?" } else { "" };
        // A word of Lua cannot be a plain field.
        let label = if label == "end" { "[\"end\"]".to_owned() } else { label.clone() };
        format!("---@field {label}{mark} {} {docs}", kinds.join("|")).trim_end().to_owned() + "\n"
    }
}

fn prose(line: &str) -> String {
    line.trim().trim_start_matches("/**").trim_end_matches("*/").trim().to_owned()
}

/// A type of TypeScript as Lua's language server writes it.
fn kind_of(kind: &str, types: &BTreeMap<String, String>) -> String {
    if let Some(item) = kind.strip_prefix("Array<").and_then(|rest| rest.strip_suffix('>')) {
        return format!("{}[]", kind_of(item, types));
    }
    if let Some(value) = kind.strip_prefix("Record<string, ").and_then(|rest| rest.strip_suffix('>')) {
        return format!("table<string, {}>", kind_of(value, types));
    }
    if kind.contains(" | ") {
        return kind.split(" | ").map(|part| kind_of(part, types)).collect::<Vec<_>>().join("|");
    }
    match kind {
        "number" => "integer".to_owned(),
        "null" => "nil".to_owned(),
        "never" | "unknown" => "any".to_owned(),
        _ if types.contains_key(kind) => format!("linkspan.{kind}"),
        _ => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotated(name: &str, declaration: &str) -> String {
        let types = [(name.to_owned(), String::new()), ("Word".to_owned(), String::new())];
        annotation(name, declaration, &types.into_iter().collect())
    }

    #[test]
    fn an_interface_is_a_class() {
        let declaration = "/** A place. */\nexport interface Place {\n  /** Where. */\n  end: number;\n  \
                           /** Which. */\n  words?: Array<Word>;\n}\n";
        let class = "---A place.\n---@class linkspan.Place\n---@field [\"end\"] integer Where.\n\
                     ---@field words? linkspan.Word[] Which.\n";
        assert_eq!(annotated("Place", declaration), class);
    }

    #[test]
    fn the_variants_of_a_union_are_one_class() {
        let declaration = "export type Taken =\n  | {\n    \"kind\": \"all\";\n  }\n  | {\n    \"kind\": \"some\";\n    \
                           /** Which. */\n    ids: Array<string>;\n  };\n";
        let class =
            "---@class linkspan.Taken\n---@field kind \"all\"|\"some\"\n---@field ids? string[] Which.\n";
        assert_eq!(annotated("Taken", declaration), class);
    }

    #[test]
    fn words_are_an_alias() {
        let alias = "---@alias linkspan.Level \"info\"|\"error\"\n";
        assert_eq!(annotated("Level", "export type Level = \"info\" | \"error\";\n"), alias);
    }

    #[test]
    fn an_editors_types_are_there_and_those_of_a_chat_are_not() {
        let text = lua();
        assert!(
            text.contains("---@class linkspan.ReviewShow\n")
                && text.contains("---@class linkspan.Position\n")
        );
        assert!(!text.contains("linkspan.Chat"), "{text}");
    }
}
