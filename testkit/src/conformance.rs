//! The reports of `linkspan conform` in docs/reference/conformance.md. With `INSTA_UPDATE=always` they are written into it.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

const END: &str = "<!-- end -->";

/// Compares the reports with those of the page, each under its name.
#[track_caller]
pub fn are_documented(reports: &[(&str, &Value)]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/conformance.md");
    let page = fs::read_to_string(&path).unwrap();
    let now =
        reports.iter().fold(page.clone(), |page, (name, report)| with_part(&page, name, &table(report)));
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        fs::write(&path, now).unwrap();
        return;
    }
    assert_eq!(page, now, "run it with INSTA_UPDATE=always");
}

/// Nothing in it changes from run to run.
fn table(report: &Value) -> String {
    let mut text = String::from("| area | point | result | |\n|---|---|---|---|\n");
    for point in report["points"].as_array().unwrap() {
        let word = |name: &str| point[name].as_str().unwrap();
        let result = match (word("result"), word("weight")) {
            ("fail", "recommended") => "differs",
            (result, _) => result,
        };
        let weight = if word("weight") == "recommended" { " (recommended)" } else { "" };
        let (area, id, what) = (word("area"), word("id"), word("what"));
        writeln!(text, "| {area} | `{id}` | {result} | {what}{weight} |").unwrap();
    }
    text
}

/// The page with this part replaced.
fn with_part(page: &str, name: &str, part: &str) -> String {
    let begin = format!("<!-- report: {name} -->\n");
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("the page has no {begin}"));
    let (_, after) = rest.split_once(END).unwrap();
    format!("{before}{begin}\n{part}\n{END}{after}")
}
