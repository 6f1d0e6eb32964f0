//! `linkspan reviews`: lists reviews, one line each.

use std::collections::HashMap;

use linkspan_editor_api::{HubWindows, ReviewSummary, ReviewsList};

use crate::cli::context::{CliContext, greet_and};
use crate::cli::exit::Failure;
use crate::cli::output::{Report, age, count, lines_changed, relative, table};
use crate::visible::name;

/// List the pending reviews.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also list decided reviews whose outcome has not been delivered to the agent.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let (mut connection, list) = greet_and(|| cli.connect_or_start(), &ReviewsList { all: args.all })?;
    let json = serde_json::to_value(&list).unwrap_or_default();
    let text = match list.reviews.as_slice() {
        [] if args.all => "there are no reviews".into(),
        [] => "no review is pending".into(),
        reviews => {
            let windows = connection.request(&HubWindows {})?.windows;
            let folders = windows.into_iter().map(|window| (window.window, window.folders)).collect();
            render(reviews, &folders)
        }
    };
    Ok(Report::new(text, json))
}

fn render(reviews: &[ReviewSummary], folders: &HashMap<String, Vec<String>>) -> String {
    let mut head = ["ID", "FILE", "AGENT", "AGE", "LINES", "HUNKS", "STATE"].map(String::from).to_vec();
    if reviews.iter().any(|review| review.description().is_some()) {
        head.push("DESCRIPTION".into());
    }
    let mut rows = vec![head];
    rows.extend(reviews.iter().map(|review| {
        let mut row = vec![
            name(&review.review),
            relative(&review.path, folders.get(&review.window).into_iter().flatten()),
            name(&review.agent),
            age(review.age_ms),
            lines_changed(review.added, review.removed),
            review.hunks.to_string(),
            state(review),
        ];
        row.extend(review.description().map(|text| shortened(&name(text))));
        row
    }));
    table(&rows)
}

/// As much of a description as fits into a line with the rest.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.chars().nth(LONGEST) {
        Some(_) => text.chars().take(LONGEST).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

fn state(review: &ReviewSummary) -> String {
    let mut words = vec![name(&review.phase)];
    if review.new_file {
        words.push("new file".into());
    }
    if review.conflicts > 0 {
        words.push(count(review.conflicts, "conflict"));
    }
    if review.owner_gone {
        words.push("agent gone".into());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_is_one_line_with_its_file_seen_from_its_folder() {
        let review = ReviewSummary {
            review: "r12".into(),
            set: None,
            window: "w1".into(),
            agent: "claude-code".into(),
            dialect: "claude".into(),
            path: "/w/src/a\nb.rs".into(),
            label: "b.rs".into(),
            phase: "pending".into(),
            age_ms: 61_000,
            hunks: 2,
            added: 3,
            removed: 1,
            bytes: 40,
            revision: 0,
            digest: String::new(),
            new_file: false,
            conflicts: 1,
            owner_gone: true,
            agent_writes: false,
            receives: None,
        };
        let folders = HashMap::from([("w1".to_owned(), vec!["/w".to_owned()])]);
        let described = ReviewSummary { label: "Limit the retries".into(), ..review.clone() };
        let text = anstream::adapter::strip_str(&render(&[described], &folders)).to_string();
        assert!(text.ends_with("agent gone  Limit the retries\n"), "{text}");
        let text = anstream::adapter::strip_str(&render(&[review], &folders)).to_string();
        assert_eq!(
            text,
            "ID   FILE         AGENT        AGE  LINES  HUNKS  STATE\n\
             r12  src/a\\nb.rs  claude-code  1m   +3 −1  2      pending, 1 conflict, agent gone\n"
        );
    }
}
