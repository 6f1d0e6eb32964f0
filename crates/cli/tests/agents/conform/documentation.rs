//! docs/reference/conformance.md has the reports of our hub, and of the stand-in for claudecode.nvim, as they are now.
//! `INSTA_UPDATE=always cargo nextest run -p linkspan conform::` writes them into it.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::thread;

use serde_json::Value;

use super::broken::checked;
use super::own_hub::{DIALECTS, report};
use super::stand_in::Fault;
use super::with_result;

const END: &str = "<!-- end -->";

/// The list of one report; nothing in it changes from run to run.
fn list(report: &Value) -> String {
    let mut text = String::from("| area | point | result | |\n|---|---|---|---|\n");
    for point in report["points"].as_array().unwrap() {
        let word = |name: &str| point[name].as_str().unwrap_or_default().to_owned();
        let result = match (word("result").as_str(), word("weight").as_str()) {
            ("fail", "recommended") => "differs".to_owned(),
            (result, _) => result.to_owned(),
        };
        let weight = if word("weight") == "recommended" { " (recommended)" } else { "" };
        writeln!(text, "| {} | `{}` | {result} | {}{weight} |", word("area"), word("id"), word("what"))
            .unwrap();
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

#[test]
fn the_reports_in_the_documentation_are_those_of_today() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/conformance.md");
    let page = fs::read_to_string(&path).unwrap();
    // Each mostly waits for answers that must not come.
    let (reports, (captured, code)) = thread::scope(|scope| {
        let reports = DIALECTS.map(|dialect| scope.spawn(move || (dialect, report(dialect))));
        let captured = checked(Some(Fault::AsCaptured));
        (reports.map(|report| report.join().unwrap()), captured)
    });
    let mut now = page.clone();
    for (dialect, report) in reports {
        now = with_part(&now, dialect, &list(&report));
    }
    assert_eq!(with_result(&captured, "fail", "recommended"), ["ping", "diagnostics-of-file", "fragments"]);
    assert_eq!(code, 0, "{captured:#}");
    now = with_part(&now, "claudecode.nvim", &list(&captured));
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        fs::write(&path, now).unwrap();
        return;
    }
    assert_eq!(page, now, "run it with INSTA_UPDATE=always");
}
