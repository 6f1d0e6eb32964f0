//! `linkspan asks`: the pending permission requests of agents in full, and a request on one line for other commands.

use linkspan_editor_api::{AskOption, AskSummary, AsksAnswer, AsksList};
use serde_json::json;

use crate::cli::context::{CliContext, greet_and};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{DIM, HEAD, Report, age, count, styled};
use crate::visible::{code, name};

/// So much of a command is shown on one line.
const EXCERPT: usize = 160;

/// List the permissions that agents ask you for.
///
/// Each with the whole command that would be run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(cli: &CliContext) -> Result<Report, Failure> {
    let (_, list) = greet_and(|| cli.connect_or_start(), &AsksList {})?;
    let json = serde_json::to_value(&list).unwrap_or_default();
    let text = match list.asks.as_slice() {
        [] => "no agent is asking for permission".into(),
        asks => asks.iter().map(full).collect::<Vec<_>>().join("\n"),
    };
    Ok(Report::new(text, json))
}

/// Everything: the user must be able to read what they allow.
fn full(ask: &AskSummary) -> String {
    let folders: Vec<String> = ask.folders.iter().map(|folder| name(folder)).collect();
    let mut text = format!("{} {}\n", styled(HEAD, &name(&ask.ask)), name(&ask.question));
    for line in ask.detail.iter().flat_map(|detail| detail.split('\n')) {
        text += &format!("    {}\n", code(line));
    }
    let facts = format!("{}, {}, waiting for {}", name(&ask.dialect), folders.join(", "), age(ask.age_ms));
    text + &format!("  {}\n", styled(DIM, &facts))
}

/// The question with the start of the command, and how much is omitted.
pub(crate) fn line(question: &str, detail: Option<&str>) -> String {
    let detail = detail.unwrap_or_default();
    let short: String = detail.chars().take(EXCERPT).collect();
    let more = detail.chars().count() - short.chars().count();
    let more = match more {
        0 => String::new(),
        more => format!("… ({} more: `linkspan asks`)", count(more as u64, "character")),
    };
    format!("{} {}{more}", name(question), name(&short))
}

/// Answers the request with that id, and reports what was answered.
pub(crate) fn answer(cli: &CliContext, ask: &str, option: AskOption) -> Result<Report, Failure> {
    let (mut connection, list) = greet_and(|| cli.connect(), &AsksList {})?;
    let request = list.asks.into_iter().find(|request| request.ask == ask);
    let Some(request) = request else { return Err(not_pending(ask)) };
    if !connection.request(&AsksAnswer { ask: ask.to_owned(), option })?.taken {
        return Err(not_pending(ask));
    }
    let text = format!("{}: {}", answer_label(option), line(&request.question, request.detail.as_deref()));
    Ok(Report::new(text, json!({ "ask": ask, "option": option })))
}

pub(crate) fn answer_label(option: AskOption) -> &'static str {
    match option {
        AskOption::AllowOnce => "allowed once",
        AskOption::AllowSession => "allowed for this session",
        AskOption::AllowAlways => "allowed permanently",
        AskOption::Deny => "denied",
    }
}

fn not_pending(ask: &str) -> Failure {
    let message = format!(
        "there is no pending request {}: it was answered, or its agent no longer waits; see `linkspan asks`",
        name(ask)
    );
    Failure::new(Exit::Negative, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_omitted_characters_are_counted() {
        assert_eq!(line("Run?", Some("a\nb")), "Run? a\\nb");
        let long = "x".repeat(EXCERPT + 7);
        assert!(line("Run?", Some(&long)).ends_with("x… (7 characters more: `linkspan asks`)"));
    }
}
