//! One point of a protocol, and what was found about it. Plain data.

/// How much depends on a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Agents or editors rely on it.
    Required,
    /// It is better so, and good peers differ.
    Recommended,
}

impl Weight {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Weight::Required => "required",
            Weight::Recommended => "recommended",
        }
    }
}

/// A point of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    /// Names it in reports; stable.
    pub(crate) id: &'static str,
    /// Points of one area follow one another.
    pub(crate) area: &'static str,
    /// One sentence without its full stop.
    pub(crate) what: &'static str,
    pub(crate) weight: Weight,
}

/// A point with the function that checks it.
pub(crate) struct Check<Peer> {
    pub(crate) point: Point,
    pub(crate) run: fn(&mut Peer) -> Outcome,
}

pub(crate) const fn required<Peer>(
    area: &'static str,
    id: &'static str,
    what: &'static str,
    run: fn(&mut Peer) -> Outcome,
) -> Check<Peer> {
    Check { point: Point { id, area, what, weight: Weight::Required }, run }
}

pub(crate) const fn recommended<Peer>(
    area: &'static str,
    id: &'static str,
    what: &'static str,
    run: fn(&mut Peer) -> Outcome,
) -> Check<Peer> {
    Check { point: Point { id, area, what, weight: Weight::Recommended }, run }
}

/// Why a point did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotPassed {
    Failed {
        expected: String,
        came: String,
    },
    /// Not applicable here, or it could not be tried.
    Skipped(String),
}

pub(crate) type Outcome<T = ()> = Result<T, NotPassed>;

/// Something else came.
pub(crate) fn failed(expected: impl Into<String>, came: impl Into<String>) -> NotPassed {
    NotPassed::Failed { expected: expected.into(), came: came.into() }
}

pub(crate) fn skipped(why: impl Into<String>) -> NotPassed {
    NotPassed::Skipped(why.into())
}

/// What was found about one point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) point: Point,
    pub(crate) outcome: Outcome,
}

impl Finding {
    /// A required point that failed.
    pub(crate) fn is_violation(&self) -> bool {
        self.point.weight == Weight::Required && self.has_failed()
    }

    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.outcome, Err(NotPassed::Failed { .. }))
    }

    /// The word of the report.
    pub(crate) fn word(&self) -> &'static str {
        match (&self.outcome, self.point.weight) {
            (Ok(()), _) => "pass",
            (Err(NotPassed::Failed { .. }), Weight::Required) => "FAIL",
            (Err(NotPassed::Failed { .. }), Weight::Recommended) => "differs",
            (Err(NotPassed::Skipped(_)), _) => "skipped",
        }
    }
}

/// Everything that was found about one peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The protocol: the name of a dialect, or `editor`.
    pub(crate) protocol: String,
    /// Where the peer is, for people.
    pub(crate) peer: String,
    /// How the peer names itself.
    pub(crate) name: Option<String>,
    /// For example, that a file was written.
    pub(crate) notes: Vec<String>,
    pub(crate) findings: Vec<Finding>,
}

impl Findings {
    /// No required point failed, and at least one passed.
    pub(crate) fn conforms(&self) -> bool {
        !self.findings.iter().any(Finding::is_violation) && self.count("pass") > 0
    }

    pub(crate) fn count(&self, word: &str) -> usize {
        self.findings.iter().filter(|finding| finding.word() == word).count()
    }
}

/// Runs one check after the other. A check that failed ends nothing: each says itself what it needs.
pub(crate) fn walk<Peer>(peer: &mut Peer, checks: &[&[Check<Peer>]]) -> Vec<Finding> {
    let checks = checks.iter().flat_map(|checks| checks.iter());
    checks.map(|check| Finding { point: check.point, outcome: (check.run)(peer) }).collect()
}
