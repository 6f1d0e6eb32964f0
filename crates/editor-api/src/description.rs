//! The agent's description of a change, when its label says more than the name of the file. The page has the same rule
//! in `editors/web/src/list/description.ts`.

use crate::{ReviewShow, ReviewSummary};

impl ReviewSummary {
    /// The agent's description of the change, if its label is one.
    pub fn description(&self) -> Option<&str> {
        description(&self.label, &self.path)
    }
}

impl ReviewShow {
    /// The agent's description of the change, if its label is one.
    pub fn description(&self) -> Option<&str> {
        description(&self.label, &self.path)
    }
}

/// Most agents name a tab after its file, with a few marks around it, which describes nothing.
fn description<'a>(label: &'a str, path: &str) -> Option<&'a str> {
    let label = label.trim();
    let name = path.rsplit('/').next().unwrap_or(path);
    if label.is_empty() || path.ends_with(label) {
        return None;
    }
    if !label.contains(name) {
        return Some(label);
    }
    let rest = label.replace(name, " ").replace("[Claude Code]", " ");
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    (rest.split_whitespace().filter(is_word).count() > 1).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_only_names_the_file_describes_nothing() {
        for label in
            ["", " ", "a.rs", "src/a.rs", "/w/src/a.rs", "✻ [Claude Code] a.rs (8c3b1a) ⧉", "a.rs (2)"]
        {
            assert_eq!(description(label, "/w/src/a.rs"), None, "{label:?}");
        }
    }

    #[test]
    fn words_about_the_change_describe_it() {
        for label in ["Limit the retries", "Fix the bug in a.rs", "refactoring"] {
            assert_eq!(description(label, "/w/src/a.rs"), Some(label), "{label:?}");
        }
    }
}
