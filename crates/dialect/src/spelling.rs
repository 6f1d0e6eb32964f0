//! The known name that is most similar to an unknown one.

/// A longer name is not a typo, and comparing it would take long.
const LONGEST: usize = 100;

pub(crate) fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let unknown: String = unknown.chars().take(LONGEST).collect();
    known.max_by(|a, b| strsim::jaro_winkler(&unknown, a).total_cmp(&strsim::jaro_winkler(&unknown, b)))
}
