//! How a review, a hunk and a line are named on the command line. Parses names; knows no hub.

use std::path::Path;
use std::str::FromStr;

use linkspan_editor_api::{ReviewHunk, ReviewShow};

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::count;

/// `r12`, `12` or `latest`, in the form that the hub expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReviewName(pub(crate) String);

impl FromStr for ReviewName {
    type Err = String;

    fn from_str(text: &str) -> Result<ReviewName, String> {
        let digits = text.strip_prefix('r').unwrap_or(text);
        if text == "latest" {
            Ok(ReviewName(text.into()))
        } else if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(ReviewName(format!("r{digits}")))
        } else {
            Err("name a review by its id, such as r12 or 12, or latest; `linkspan reviews` lists them".into())
        }
    }
}

/// The start of a review's digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DigestStart(pub(crate) String);

impl FromStr for DigestStart {
    type Err = String;

    fn from_str(text: &str) -> Result<DigestStart, String> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if (8..=64).contains(&text.len()) && text.bytes().all(is_digit) {
            Ok(DigestStart(text.into()))
        } else {
            Err("a digest has 8 to 64 hexadecimal digits (0-9, a-f); `linkspan show --json` prints it".into())
        }
    }
}

/// A hunk by its number, as `show` counts, or by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HunkName {
    Number(usize),
    Id(String),
}

impl FromStr for HunkName {
    type Err = String;

    fn from_str(text: &str) -> Result<HunkName, String> {
        match text.parse() {
            Ok(0) => Err("hunks count from 1, as `linkspan show` numbers them".into()),
            Ok(number) => Ok(HunkName::Number(number)),
            Err(_) if text.starts_with('h') => Ok(HunkName::Id(text.into())),
            Err(_) => Err("name a hunk by its number or its id, as `linkspan show` prints them".into()),
        }
    }
}

/// The ids of the named hunks, each once, in the order of the file.
pub(crate) fn hunk_ids(names: &[HunkName], hunks: &[ReviewHunk]) -> Result<Vec<String>, Failure> {
    for name in names {
        if !hunks.iter().enumerate().any(|(index, hunk)| is_named(name, index, hunk)) {
            let name = match name {
                HunkName::Number(number) => number.to_string(),
                HunkName::Id(id) => id.clone(),
            };
            let have = count(hunks.len() as u64, "hunk");
            let message = format!("there is no hunk {name}: the review has {have}; see `linkspan show`");
            return Err(Failure::usage(message));
        }
    }
    let named = hunks
        .iter()
        .enumerate()
        .filter(|(index, hunk)| names.iter().any(|name| is_named(name, *index, hunk)));
    Ok(named.map(|(_, hunk)| hunk.id.clone()).collect())
}

fn is_named(name: &HunkName, index: usize, hunk: &ReviewHunk) -> bool {
    match name {
        HunkName::Number(number) => *number == index + 1,
        HunkName::Id(id) => *id == hunk.id,
    }
}

/// `FILE:LINE`, the line counted from 1 in the text after the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineRef {
    file: String,
    line: u32,
}

impl FromStr for LineRef {
    type Err = String;

    fn from_str(text: &str) -> Result<LineRef, String> {
        let wrong = || String::from("write FILE:LINE; lines count from 1");
        let (file, line) = text.rsplit_once(':').filter(|(file, _)| !file.is_empty()).ok_or_else(wrong)?;
        let line = line.parse().ok().filter(|line| *line > 0).ok_or_else(wrong)?;
        Ok(LineRef { file: file.into(), line })
    }
}

impl LineRef {
    /// The line, if it is in the file of this review.
    pub(crate) fn line_in(&self, shown: &ReviewShow) -> Result<u32, Failure> {
        // By whole components: `b/mod.rs` does not name `/w/ab/mod.rs`.
        if !Path::new(&shown.path).ends_with(&self.file) {
            let message = format!("review {} is about {}, not {}", shown.review, shown.path, self.file);
            return Err(Failure::new(Exit::Usage, message));
        }
        let lines = shown.proposed.lines().count().max(1);
        if self.line as usize > lines {
            let message = format!(
                "{} has {} after the change; there is no line {}",
                self.file,
                count(lines as u64, "line"),
                self.line
            );
            return Err(Failure::new(Exit::Usage, message));
        }
        Ok(self.line)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn hunk(id: &str, before: (u32, u32), after: (u32, u32)) -> ReviewHunk {
        ReviewHunk {
            id: id.into(),
            before_start: before.0,
            before_count: before.1,
            after_start: after.0,
            after_count: after.1,
            words: vec![],
        }
    }

    pub(crate) fn shown(base: &str, proposed: &str, hunks: Vec<ReviewHunk>) -> ReviewShow {
        ReviewShow {
            review: "r12".into(),
            revision: 1,
            digest: String::new(),
            set: None,
            set_label: None,
            window: "w1".into(),
            agent: "claude-code".into(),
            dialect: "claude".into(),
            path: "/w/src/main.rs".into(),
            label: "main.rs".into(),
            new_file: false,
            base: base.into(),
            proposed: proposed.into(),
            encoding: "UTF-8".into(),
            line_endings: None,
            hunks,
            conflicts: vec![],
            focus: false,
            omitted: false,
            inline: false,
            agent_writes: true,
            owner_gone: false,
            receives: None,
            receives_notes: None,
            origin: None,
        }
    }

    #[test]
    fn a_review_has_three_forms_of_its_name() {
        let parse = |text: &str| text.parse::<ReviewName>().map(|name| name.0);
        assert_eq!(
            [parse("r12"), parse("12"), parse("latest")].map(Result::unwrap),
            ["r12", "r12", "latest"]
        );
        for wrong in ["", "r", "h1", "r1x", "-1", "last"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn hunks_are_taken_once_and_in_the_order_of_the_file() {
        let hunks = [hunk("h1", (0, 1), (0, 1)), hunk("h2", (4, 1), (4, 1)), hunk("h3", (8, 1), (8, 1))];
        let names = [HunkName::Number(3), HunkName::Id("h1".into()), HunkName::Number(1)];
        assert_eq!(hunk_ids(&names, &hunks).unwrap(), ["h1", "h3"]);
        let failure = hunk_ids(&[HunkName::Number(4)], &hunks).unwrap_err();
        assert_eq!(failure.message, "there is no hunk 4: the review has 3 hunks; see `linkspan show`");
        assert!("0".parse::<HunkName>().is_err());
    }

    #[test]
    fn a_line_is_named_by_its_file_and_number() {
        let at: LineRef = "C:odd:name.rs:7".parse().unwrap();
        assert_eq!((at.file.as_str(), at.line), ("C:odd:name.rs", 7));
        for wrong in ["main.rs", "main.rs:0", "main.rs:x", ":3", ""] {
            assert!(wrong.parse::<LineRef>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_belongs_to_the_file_of_the_review() {
        let shown = shown("a\n", "a\nb\n", vec![]);
        let line = |text: &str| text.parse::<LineRef>().unwrap().line_in(&shown).ok();
        assert_eq!(line("main.rs:2"), Some(2));
        assert_eq!(line("src/main.rs:1"), Some(1));
        assert_eq!(line("/w/src/main.rs:1"), Some(1));
        assert_eq!(line("ain.rs:1"), None);
        assert_eq!(line("other/main.rs:1"), None);
        assert_eq!(line("main.rs:3"), None);
    }
}
