//! Reviews for tests.

use linkspan_editor_api::{ReviewHunk, ReviewShow, ReviewSummary};

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

pub(crate) fn shown(review: &str, base: &str, proposed: &str, hunks: Vec<ReviewHunk>) -> ReviewShow {
    ReviewShow {
        review: review.into(),
        revision: 1,
        digest: format!("{review} as it is shown"),
        set: None,
        set_label: None,
        window: "w1".into(),
        agent: "claude-code".into(),
        dialect: "claude".into(),
        path: format!("/w/src/{review}.rs"),
        label: "a change".into(),
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

pub(crate) fn summary(shown: &ReviewShow) -> ReviewSummary {
    ReviewSummary {
        review: shown.review.clone(),
        set: shown.set.clone(),
        window: shown.window.clone(),
        agent: shown.agent.clone(),
        dialect: shown.dialect.clone(),
        path: shown.path.clone(),
        label: shown.label.clone(),
        phase: "pending".into(),
        age_ms: 61_000,
        hunks: u32::try_from(shown.hunks.len()).unwrap(),
        added: shown.hunks.iter().map(|hunk| hunk.after_count).sum(),
        removed: shown.hunks.iter().map(|hunk| hunk.before_count).sum(),
        bytes: u64::try_from(shown.base.len().max(shown.proposed.len())).unwrap(),
        revision: shown.revision,
        digest: shown.digest.clone(),
        new_file: shown.new_file,
        conflicts: 0,
        owner_gone: shown.owner_gone,
        agent_writes: shown.agent_writes,
        receives: shown.receives,
    }
}

/// Lines `line 0`, `line 1`, …; those listed read differently.
pub(crate) fn numbered(count: usize, changed: &[usize]) -> String {
    (0..count)
        .map(|line| format!("line {line}{}\n", if changed.contains(&line) { " changed" } else { "" }))
        .collect()
}

/// A review of forty lines with changes in lines 10, 20 and 30.
pub(crate) fn three_hunks(review: &str) -> ReviewShow {
    let hunks = [10, 20, 30].map(|line| hunk(&format!("h{line}"), (line, 1), (line, 1)));
    shown(review, &numbered(40, &[]), &numbered(40, &[10, 20, 30]), hunks.to_vec())
}
