//! docs/reference/conformance.md has the reports of our hub, and of the stand-in for claudecode.nvim, as they are now.

use std::thread;

use serde_json::Value;

use super::broken::checked;
use super::own_hub::{DIALECTS, report};
use super::stand_in::Fault;
use super::with_result;
use crate::support::conformance;

#[test]
fn the_reports_in_the_documentation_are_those_of_today() {
    // Each mostly waits for answers that must not come.
    let (reports, (captured, code)) = thread::scope(|scope| {
        let reports = DIALECTS.map(|dialect| scope.spawn(move || (dialect, report(dialect))));
        let captured = checked(Some(Fault::AsCaptured));
        (reports.map(|report| report.join().unwrap()), captured)
    });
    assert_eq!(with_result(&captured, "fail", "recommended"), ["ping", "diagnostics-of-file", "fragments"]);
    assert_eq!(code, 0, "{captured:#}");
    let reports: Vec<(&str, &Value)> = reports
        .iter()
        .map(|(dialect, report)| (*dialect, report))
        .chain([("claudecode.nvim", &captured)])
        .collect();
    conformance::are_documented(&reports);
}
