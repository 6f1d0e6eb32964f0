//! `linkspan asks`: the questions of agents that wait for the person, whole; and how a question is said on one line.

use linkspan_editor_api::{AskOption, AskSummary, AsksAnswer, AsksList};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output::{DIM, HEAD, Report, age, count, styled};
use crate::reach::{Reach, greet_and};
use crate::visible::{code, name};

/// As much of a command as fits on a line with the question.
const EXCERPT: usize = 160;

/// List what agents ask you to allow, with the whole command.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(reach: &Reach) -> Result<Report, Failure> {
    let (_, list) = greet_and(|| reach.connect_or_start(), &AsksList {})?;
    let json = serde_json::to_value(&list).unwrap_or_default();
    let text = match list.asks.as_slice() {
        [] => "no agent asks for anything".into(),
        asks => asks.iter().map(whole).collect::<Vec<_>>().join("\n"),
    };
    Ok(Report::new(text, json))
}

/// All of it: what is allowed is what was read.
fn whole(ask: &AskSummary) -> String {
    let folders: Vec<String> = ask.folders.iter().map(|folder| name(folder)).collect();
    let mut text = format!("{} {}\n", styled(HEAD, &name(&ask.ask)), name(&ask.question));
    for line in ask.detail.iter().flat_map(|detail| detail.split('\n')) {
        text += &format!("    {}\n", code(line));
    }
    let waits = format!("{}, {}, waits {}", name(&ask.dialect), folders.join(", "), age(ask.age_ms));
    text + &format!("  {}\n", styled(DIM, &waits))
}

/// The question with as much of the command as fits; says what is left out.
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

/// Answers the question of that name, and says what that was.
pub(crate) fn answer(reach: &Reach, ask: &str, option: AskOption) -> Result<Report, Failure> {
    let (mut connection, list) = greet_and(|| reach.connect(), &AsksList {})?;
    let asked = list.asks.into_iter().find(|asked| asked.ask == ask);
    let Some(asked) = asked else { return Err(over(ask)) };
    if !connection.request(&AsksAnswer { ask: ask.to_owned(), option })?.taken {
        return Err(over(ask));
    }
    let text = format!("{}: {}", said(option), line(&asked.question, asked.detail.as_deref()));
    Ok(Report::new(text, json!({ "ask": ask, "option": option })))
}

pub(crate) fn said(option: AskOption) -> &'static str {
    match option {
        AskOption::AllowOnce => "allowed once",
        AskOption::AllowSession => "allowed for this session",
        AskOption::AllowAlways => "allowed from now on",
        AskOption::Deny => "denied",
    }
}

fn over(ask: &str) -> Failure {
    let message = format!(
        "no question {} waits: it was answered, or its agent does not wait any more; see `linkspan asks`",
        name(ask)
    );
    Failure::new(Exit::No, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_on_a_line_is_counted() {
        assert_eq!(line("Run?", Some("a\nb")), "Run? a\\nb");
        let long = "x".repeat(EXCERPT + 7);
        assert!(line("Run?", Some(&long)).ends_with("x… (7 characters more: `linkspan asks`)"));
    }
}
