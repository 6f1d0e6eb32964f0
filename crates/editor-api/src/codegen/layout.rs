//! Formats the one-line output of ts-rs as a person would type it.

/// One exported declaration with its doc comment, ending with a newline.
pub(super) fn declaration(name: &str, docs: &str, inline: &str, is_enum: bool) -> String {
    let docs = comment(&prose(docs));
    // ts-rs forbids symbol keys for an object without members, which lets every object pass.
    let inline = inline.replace("Record<symbol, never>", "Record<string, never>");
    let body = indent(&records(&inline));
    if inline.starts_with('{') && !is_enum {
        format!("{docs}export interface {name} {body}\n")
    } else if body.contains('\n') {
        format!("{docs}export type {name} =\n  | {body};\n")
    } else {
        format!("{docs}export type {name} = {body};\n")
    }
}

/// The words of a doc comment, without its stars.
pub(super) fn prose(docs: &str) -> String {
    let lines = docs.lines().map(|line| line.trim().trim_start_matches("/**").trim_end_matches("*/"));
    let words = lines.flat_map(|line| line.strip_prefix('*').unwrap_or(line).split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}

/// A doc comment of those words.
fn comment(prose: &str) -> String {
    if prose.is_empty() { String::new() } else { format!("/** {prose} */\n") }
}

/// `{ [key in string]: V }` as `Record<string, V>`.
fn records(inline: &str) -> String {
    const OPEN: &str = "{ [key in string]: ";
    let mut rest = inline;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (value, after) = after.split_once(" }").unwrap_or((after, ""));
        out.push_str(&format!("{before}Record<string, {value}>"));
        rest = after;
    }
    out + rest
}

/// Puts each member and each variant on a line of its own.
fn indent(inline: &str) -> String {
    let variants = inline.contains("} | {");
    let mut out = OutputLines { text: String::new(), depth: usize::from(variants) };
    let mut docs = String::new();
    for line in inline.lines() {
        let trimmed = line.trim();
        if !docs.is_empty() || trimmed.starts_with("/**") {
            docs.push_str(line);
            docs.push('\n');
            if trimmed.ends_with("*/") {
                out.line(comment(&prose(&docs)).trim_end());
                docs.clear();
            }
        } else {
            out.code(line);
        }
    }
    out.text.trim_end().to_owned()
}

struct OutputLines {
    text: String,
    depth: usize,
}

impl OutputLines {
    fn line(&mut self, text: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Code between two doc comments: members, and the braces around variants.
    fn code(&mut self, code: &str) {
        let mut member = String::new();
        let mut angles = 0_usize;
        for character in code.chars() {
            match character {
                '{' => {
                    self.text.push_str("{\n");
                    self.depth += 1;
                    member.clear();
                }
                '}' => {
                    self.member(&mut member);
                    self.depth = self.depth.saturating_sub(1);
                    self.text.push_str(&"  ".repeat(self.depth));
                    self.text.push('}');
                }
                ',' if angles == 0 => self.member(&mut member),
                '|' if self.text.ends_with('}') => {
                    self.text.push_str("\n  | ");
                    member.clear();
                }
                _ => {
                    angles = match character {
                        '<' => angles + 1,
                        '>' => angles.saturating_sub(1),
                        _ => angles,
                    };
                    member.push(character);
                }
            }
        }
        self.text.push_str(member.trim());
    }

    fn member(&mut self, member: &mut String) {
        let text = std::mem::take(member);
        if !text.trim().is_empty() {
            self.line(&format!("{};", text.trim()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = "/**\n * A place,\n * or so.\n */\n";

    #[test]
    fn a_struct_is_an_interface_with_a_member_on_each_line() {
        let inline = format!("{{ \n{DOCS}line: number, \n{DOCS}words?: Array<Word>, }}");
        assert_eq!(
            declaration("Place", DOCS, &inline, false),
            "/** A place, or so. */\nexport interface Place {\n  /** A place, or so. */\n  line: number;\n  \
             /** A place, or so. */\n  words?: Array<Word>;\n}\n"
        );
    }

    #[test]
    fn a_tagged_enum_is_a_union_with_a_variant_after_each_bar() {
        let inline =
            format!("{{ \"kind\": \"all\" }} | {{ \"kind\": \"some\", \n{DOCS}ids: Array<string>, }}");
        assert_eq!(
            declaration("Taken", "", &inline, true),
            "export type Taken =\n  | {\n    \"kind\": \"all\";\n  }\n  | {\n    \"kind\": \"some\";\n    \
             /** A place, or so. */\n    ids: Array<string>;\n  };\n"
        );
    }

    #[test]
    fn words_stay_on_one_line() {
        assert_eq!(
            declaration("Level", "", "\"info\" | \"error\"", true),
            "export type Level = \"info\" | \"error\";\n"
        );
    }

    #[test]
    fn a_map_is_a_record() {
        assert_eq!(records("{ a: { [key in string]: number }, }"), "{ a: Record<string, number>, }");
        assert_eq!(
            declaration("Map", "", "{ a: { [key in string]: number }, b: string, }", false),
            "export interface Map {\n  a: Record<string, number>;\n  b: string;\n}\n"
        );
    }

    #[test]
    fn no_members_means_none_allowed() {
        assert_eq!(
            declaration("Ping", "", "Record<symbol, never>", false),
            "export type Ping = Record<string, never>;\n"
        );
    }
}
