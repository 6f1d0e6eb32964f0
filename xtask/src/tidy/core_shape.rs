//! The shape of the hub's core, in figures: how large `Core` is, that its modules have an order, that it does no I/O.
//!
//! The limits are what a reader can hold in their head. Lower them when the figures are lower; do not raise them.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;

const CORE: &str = "crates/hub/src/core/";
const MAX_FIELDS: usize = 12;
const MAX_FILES: usize = 14;
const MAX_METHODS: usize = 120;

/// Spelled in halves so that a search for them finds only real uses.
const IO: [&str; 8] = [
    concat!("std::", "fs"),
    concat!("std::", "net"),
    concat!("std::", "process"),
    concat!("std::", "thread"),
    concat!("tok", "io"),
    concat!("hyp", "er"),
    concat!("rus", "qlite"),
    concat!("rus", "tix"),
];

/// Modules of the hub that do I/O; the core must not know them.
const OUTSIDE: [&str; 1] = ["crate::edge"];

/// A Rust file of the core, without its tests.
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

/// Product files of the core; what only tests use may do as it likes.
pub(super) fn is_core(path: &str) -> bool {
    path.starts_with(CORE)
        && path.ends_with(".rs")
        && !path.contains("/tests/")
        && !path.ends_with("/tests.rs")
}

/// The figures, for people, and what is wrong with them.
pub(super) fn check(sources: &[Source<'_>]) -> (String, Vec<Finding>) {
    let fields = sources.iter().map(|source| fields(source.text)).max().unwrap_or(0);
    let methods: Vec<usize> = sources.iter().map(|source| methods(source.text)).collect();
    let files = methods.iter().filter(|methods| **methods > 0).count();
    let methods: usize = methods.iter().sum();
    let mut findings = Vec::new();
    for (what, figure, limit) in [
        ("fields", fields, MAX_FIELDS),
        ("files with `impl Core`", files, MAX_FILES),
        ("methods", methods, MAX_METHODS),
    ] {
        if figure > limit {
            let remedy = "move state and its methods into the part that owns it";
            findings.push(Finding::new(
                CORE,
                1,
                format!("Core has {figure} {what}, at most {limit}"),
                remedy,
            ));
        }
    }
    for source in sources {
        findings.extend(io(source));
    }
    let cycles = cycles(sources);
    for cycle in &cycles {
        let what = format!("these folders import each other: {}", cycle.join(", "));
        findings.push(Finding::new(CORE, 1, what, "give the shared type to the one that owns it"));
    }
    let figures = format!(
        "core: {fields} fields (at most {MAX_FIELDS}), {files} files with `impl Core` ({MAX_FILES}), \
         {methods} methods ({MAX_METHODS}), {} import cycles (0)",
        cycles.len()
    );
    (figures, findings)
}

fn fields(text: &str) -> usize {
    let Some((_, body)) = text.split_once("pub struct Core {\n") else { return 0 };
    let lines = body.lines().take_while(|line| *line != "}").map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#')).count()
}

/// Methods in `impl Core` blocks. rustfmt puts every `fn` of a block behind four spaces.
fn methods(text: &str) -> usize {
    let mut count = 0;
    let mut inside = false;
    for line in text.lines() {
        match line {
            "impl Core {" => inside = true,
            "}" => inside = false,
            line if inside => {
                let is_method = line.strip_prefix("    ").is_some_and(|line| {
                    line.starts_with("fn ") || (line.starts_with("pub") && line.contains(" fn "))
                });
                count += usize::from(is_method);
            }
            _ => {}
        }
    }
    count
}

fn io(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in product_lines(source.text) {
        for name in IO.iter().chain(&OUTSIDE).filter(|name| names(line, name)) {
            let remedy = "the core does no I/O: make it an `Action` that the edge carries out";
            findings.push(Finding::new(source.path, index + 1, format!("the core names `{name}`"), remedy));
        }
    }
    findings
}

/// The lines of code before the tests, with their indices.
fn product_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether a line of code names that path: `tokio::…`, not `tokiox` nor `my_tokio`.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + path.len()..).and_then(|text| text.chars().next());
        let in_name = |c: char| c.is_alphanumeric() || c == '_';
        !before.is_some_and(|c| in_name(c) || c == ':') && !after.is_some_and(in_name)
    })
}

/// Sets of folders of the core that import each other. Flows over `Core` itself are not imports of a folder's own:
/// `super::Core` and `crate::core::Core` do not count.
fn cycles(sources: &[Source<'_>]) -> Vec<Vec<String>> {
    let parts: BTreeSet<&str> = sources.iter().filter_map(|source| part(source.path)).collect();
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        let Some(from) = part(source.path) else { continue };
        let up = "super::".repeat(depth(source.path));
        for line in product_lines(source.text).map(|(_, line)| line) {
            for to in parts.iter().copied().filter(|to| *to != from) {
                if names(line, &format!("{up}{to}")) || names(line, &format!("crate::core::{to}")) {
                    imports.entry(from).or_default().insert(to);
                }
            }
        }
    }
    let mut found: Vec<Vec<String>> = Vec::new();
    for from in imports.keys().copied() {
        let together: Vec<String> = parts
            .iter()
            .copied()
            .filter(|to| *to == from || (reaches(&imports, from, to) && reaches(&imports, to, from)))
            .map(str::to_owned)
            .collect();
        if together.len() > 1 && !found.contains(&together) {
            found.push(together);
        }
    }
    found
}

fn reaches(imports: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for next in imports.get(at).into_iter().flatten() {
            if *next == to {
                return true;
            }
            if seen.insert(*next) {
                open.push(next);
            }
        }
    }
    false
}

/// How many times `super` it takes from a file to `core`.
fn depth(path: &str) -> usize {
    let below = path.strip_prefix(CORE).unwrap_or(path);
    below.split('/').filter(|part| *part != "mod.rs").count()
}

/// The folder or file directly below `core`, without its ending; the root itself is not a part.
fn part(path: &str) -> Option<&str> {
    let below = path.strip_prefix(CORE)?;
    let name = below.split('/').next()?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (name != "mod").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "pub struct Core {\n    /// One.\n    a: A,\n    b: B,\n}\n\nimpl Core {\n    pub fn new() {}\n    fn a() {\n        fn inner() {}\n    }\n}\n";

    fn check_all(files: &[(&str, &str)]) -> (String, Vec<String>) {
        let paths: Vec<String> = files.iter().map(|(path, _)| format!("{CORE}{path}")).collect();
        let sources: Vec<Source<'_>> =
            paths.iter().zip(files).map(|(path, (_, text))| Source { path, text }).collect();
        let (figures, findings) = check(&sources);
        (figures, findings.into_iter().map(|finding| finding.what).collect())
    }

    #[test]
    fn fields_files_and_methods_are_counted() {
        let (figures, findings) = check_all(&[("mod.rs", ROOT), ("a.rs", "impl Core {\n    fn b() {}\n}\n")]);
        assert!(figures.contains("2 fields") && figures.contains("2 files"), "{figures}");
        assert!(figures.contains("3 methods"), "{figures}");
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn a_core_that_grows_is_found() {
        let grown = format!("impl Core {{\n{}}}\n", "    fn a() {}\n".repeat(MAX_METHODS + 1));
        assert_eq!(check_all(&[("mod.rs", &grown)]).1.len(), 1);
    }

    #[test]
    fn io_is_found_in_code_and_not_in_comments_or_tests() {
        let text = format!(
            "// {}\nuse {}::read;\n#[cfg(test)]\nmod tests {{\nuse {}::read;\n}}\n",
            IO[0], IO[0], IO[0]
        );
        assert_eq!(check_all(&[("a.rs", &text)]).1.len(), 1);
    }

    #[test]
    fn folders_that_import_each_other_are_found() {
        let files = [
            ("a/mod.rs", "use super::b::B;\n"),
            ("b.rs", "use crate::core::a::A;\n"),
            ("c.rs", "use super::a::A;\n"),
        ];
        assert_eq!(check_all(&files).1, ["these folders import each other: a, b"]);
    }
}
