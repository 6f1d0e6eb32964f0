//! `linkspan diagnostics`: the errors and warnings of the editor, printed as a linter prints them.

use std::path::PathBuf;
use std::time::Duration;

use anstyle::Style;
use linkspan_client::connection::{EditorDiagnostic, Severity};
use linkspan_editor_api::labels;
use serde_json::{Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::file_position::{existing_file, from_here};
use crate::cli::output::{DIM, HEAD, REMOVED, Report, WARNING, count, styled};
use crate::cli::window::{WindowOptions, ask, connect, connect_for};
use crate::visible::{code, name};

/// Print the errors and warnings that the editor reports.
///
/// Exit code 1 if there are errors.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those in this file.
    file: Option<PathBuf>,
    /// Wait until the language servers have settled, at most this many seconds [default if no value: 10].
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        value_parser = clap::value_parser!(u32).range(1..=3600)
    )]
    wait_settled: Option<u32>,
    #[command(flatten)]
    window: WindowOptions,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let file = args.file.as_deref().map(existing_file).transpose()?;
    let connection = match &file {
        Some(file) => connect_for(&args.window, cli, file)?,
        None => connect(&args.window, cli)?,
    };
    let wait = args.wait_settled.map(|seconds| Duration::from_secs(seconds.into()));
    let mut found = ask(connection, |connection| connection.diagnostics(file.as_deref(), wait))?;
    found.sort_by(|a, b| (&a.file_path, a.line, a.character).cmp(&(&b.file_path, b.line, b.character)));
    let of = |severity| found.iter().filter(|found| found.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let settled = found.iter().all(|found| found.settled);
    let listed: Vec<Value> = found.iter().map(document).collect();
    let document =
        json!({ "diagnostics": listed, "errors": errors, "warnings": warnings, "settled": settled });
    let mut text: String = found.iter().map(render).collect();
    text += &summary(errors, warnings, found.len());
    if !settled && args.wait_settled.is_none() {
        text +=
            &styled(DIM, "\nsome may refer to an older text; `--wait-settled` waits for the language server");
    }
    let exit = if errors > 0 { Exit::Negative } else { Exit::Ok };
    Ok(Report::new(text, document).ending(exit))
}

fn document(found: &EditorDiagnostic) -> Value {
    json!({
        "path": found.file_path.to_string_lossy(),
        "line": found.line.saturating_add(1),
        "column": found.character.saturating_add(1),
        "endLine": found.end_line.saturating_add(1),
        "endColumn": found.end_character.saturating_add(1),
        "severity": found.severity,
        "message": found.message,
        "source": found.source,
        "code": found.code,
        "settled": found.settled,
    })
}

/// `src/a.rs:3:5: error[E0308]: mismatched types (rustc)`; further lines of the message below it.
fn render(found: &EditorDiagnostic) -> String {
    let style = match found.severity {
        Severity::Error => REMOVED,
        Severity::Warning => WARNING,
        Severity::Info => Style::new(),
        Severity::Hint => DIM,
    };
    let severity = labels::severity(found.severity);
    let code_of = found.code.as_deref().map(|code| format!("[{}]", name(code))).unwrap_or_default();
    let source = found.source.as_deref().map(|source| format!(" ({})", name(source))).unwrap_or_default();
    let place = format!(
        "{}:{}:{}:",
        from_here(&found.file_path),
        found.line.saturating_add(1),
        found.character.saturating_add(1)
    );
    let mut lines = found.message.trim_end().lines();
    let first = lines.next().unwrap_or_default();
    let mut text = format!(
        "{} {} {}{}\n",
        styled(HEAD, &place),
        styled(style, &format!("{severity}{code_of}:")),
        code(first),
        styled(DIM, &source)
    );
    for line in lines {
        text += &format!("    {}\n", code(line));
    }
    text
}

fn summary(errors: usize, warnings: usize, all: usize) -> String {
    if all == 0 {
        return "no problems".into();
    }
    let others = all - errors - warnings;
    let parts = [(errors, "error"), (warnings, "warning"), (others, "other")];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    parts.map(|(number, noun)| count(*number as u64, noun)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_is_a_line_as_compilers_print_it_and_cannot_move_the_cursor() {
        let found = EditorDiagnostic {
            file_path: "/nowhere/a.rs".into(),
            line: 2,
            character: 4,
            end_line: 2,
            end_character: 9,
            message: "mismatched\u{1b}[2J types\nexpected `u8`\n".into(),
            severity: Severity::Error,
            source: Some("rustc".into()),
            code: Some("E0308".into()),
            settled: true,
        };
        assert_eq!(
            anstream::adapter::strip_str(&render(&found)).to_string(),
            "/nowhere/a.rs:3:5: error[E0308]: mismatched\\u{1b}[2J types (rustc)\n    expected `u8`\n"
        );
        assert_eq!(document(&found)["endColumn"], 10);
    }

    #[test]
    fn the_summary_counts_by_severity() {
        assert_eq!(summary(0, 0, 0), "no problems");
        assert_eq!(summary(2, 1, 4), "2 errors, 1 warning, 1 other");
    }
}
