//! What somebody may have meant by a word that is none of ours.

/// More is no slip of the fingers, and comparing it would take its time.
const LONGEST: usize = 100;

pub(crate) fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let unknown: String = unknown.chars().take(LONGEST).collect();
    known.max_by(|a, b| strsim::jaro_winkler(&unknown, a).total_cmp(&strsim::jaro_winkler(&unknown, b)))
}
