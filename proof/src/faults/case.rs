//! The matrix: which fault hits which party, when and with what kind of change; which combinations cannot exist, and
//! why.

use linkspan_testkit::proposer::Dialect;

use crate::rng::Rng;

/// A dimension of the matrix: its values, each with a name.
macro_rules! dimension {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $value:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum $name { $($(#[$of])* $value),+ }

        impl $name {
            pub(super) const ALL: &[$name] = &[$($name::$value),+];

            pub(super) fn name(self) -> &'static str {
                match self { $($name::$value => $word),+ }
            }
        }
    };
}

dimension!(ChangeKind { New = "new", Change = "change", Set = "set" });

dimension!(
    /// How the user's editor has the changed file open.
    Buffer { Saved = "saved", Unsaved = "unsaved" }
);

dimension!(Party { Agent = "agent", Hub = "hub", Shim = "shim", Editor = "editor" });

dimension!(Fault { Kill = "kill", Stop = "stop", Cut = "cut" });

dimension!(
    /// How far the change got: the steps of ARCHITECTURE.md, as seen from outside.
    Step {
        /// The window is attached; the agent is in the middle of its handshake at most.
        Connect = "connect",
        /// The agent has sent its request, and the trial waited for nothing.
        Sent = "sent",
        /// The editor was asked for its text, and has not answered.
        Base = "base",
        /// The journal has the change; the editor was asked to show it, and has not answered.
        Recorded = "recorded",
        /// The user sees it, and has not decided.
        Shown = "shown",
        /// The decision was sent; of a set, the first one.
        Decided = "decided",
        /// The decision counts, the file is written, and the agent has not received the outcome.
        Written = "written",
        /// The agent has received the outcome.
        Answered = "answered",
    }
);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) dialect: Dialect,
    pub(super) kind: ChangeKind,
    pub(super) buffer: Buffer,
    pub(super) party: Party,
    pub(super) fault: Fault,
    pub(super) step: Step,
}

/// Why a case is excluded.
type Reason = &'static str;

type Exclusion = (Reason, fn(&Case) -> bool);

/// Combinations that cannot exist.
const EXCLUSIONS: &[Exclusion] = &[
    ("a file that does not exist has no unsaved text; with some, it is a change", |case| {
        case.kind == ChangeKind::New && case.buffer == Buffer::Unsaved
    }),
    ("Clio's messages name positions in an existing file: it cannot create one", |case| {
        case.dialect == Dialect::Clio && case.kind == ChangeKind::New
    }),
    ("the dialect cannot express changes that belong together", |case| {
        case.kind == ChangeKind::Set && !matches!(case.dialect, Dialect::Ppxai | Dialect::Own | Dialect::Acp)
    }),
    (
        "a Gemini CLI that is restarted is another session with its own requests; stop and cut are covered",
        |case| {
            let underway = (Step::Sent..=Step::Written).contains(&case.step);
            case.dialect == Dialect::Gemini
                && (case.party, case.fault) == (Party::Agent, Fault::Kill)
                && underway
        },
    ),
    (
        "a hosted agent that is gone has lost its answer with its turn; what it can still be told is covered",
        |case| {
            case.dialect == Dialect::Acp
                && matches!(
                    (case.party, case.fault),
                    (Party::Agent, Fault::Kill) | (Party::Agent | Party::Hub, Fault::Cut)
                )
                && (Step::Decided..=Step::Written).contains(&case.step)
                && !(case.kind == ChangeKind::Change && case.buffer == Buffer::Unsaved && case.is_accepted())
        },
    ),
];

impl Case {
    pub(super) fn name(&self) -> String {
        let Case { dialect, kind, buffer, party, fault, step } = self;
        [dialect.name(), kind.name(), buffer.name(), party.name(), fault.name(), step.name()].join("/")
    }

    pub(super) fn exclusion(&self) -> Option<Reason> {
        EXCLUSIONS.iter().find(|(_, fits)| fits(self)).map(|(reason, _)| *reason)
    }

    /// One in four is rejected; the same case is always decided the same way.
    pub(super) fn is_accepted(&self) -> bool {
        let sum =
            self.name().bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        !Rng::new(sum).next().is_multiple_of(4)
    }
}

/// Every combination, including those that cannot exist.
pub(super) fn combinations() -> Vec<Case> {
    let mut all = Vec::new();
    for dialect in Dialect::ALL {
        for &kind in ChangeKind::ALL {
            for &buffer in Buffer::ALL {
                for &party in Party::ALL {
                    for &fault in Fault::ALL {
                        let case = |&step| Case { dialect, kind, buffer, party, fault, step };
                        all.extend(Step::ALL.iter().map(case));
                    }
                }
            }
        }
    }
    all
}

pub(super) fn whole_matrix() -> Vec<Case> {
    combinations().into_iter().filter(|case| case.exclusion().is_none()).collect()
}

/// Each dialect with each party and each fault, and each step in turn; the rest is random.
pub(super) fn sample(seed: u64) -> Vec<Case> {
    let mut rng = Rng::new(seed);
    let mut all = whole_matrix();
    rng.shuffle(&mut all);
    let mut chosen: Vec<Case> = Vec::new();
    let mut steps = Step::ALL.to_vec();
    rng.shuffle(&mut steps);
    let mut turn = steps.iter().cycle();
    for dialect in Dialect::ALL {
        for &party in Party::ALL {
            for &fault in Fault::ALL {
                let of_it: Vec<&Case> = all
                    .iter()
                    .filter(|case| (case.dialect, case.party, case.fault) == (dialect, party, fault))
                    .collect();
                let step = turn.next();
                let found = of_it.iter().find(|case| Some(&case.step) == step).or(of_it.first());
                chosen.extend(found.map(|case| **case));
            }
        }
    }
    rng.shuffle(&mut chosen);
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_cases_have_one_name() {
        let names: BTreeSet<String> = combinations().iter().map(Case::name).collect();
        assert_eq!(names.len(), combinations().len());
    }

    #[test]
    fn every_sample_has_each_dialect_with_each_party_and_each_fault_and_every_step() {
        for seed in 0..50 {
            let sample = sample(seed);
            let met: BTreeSet<_> = sample.iter().map(|case| (case.dialect, case.party, case.fault)).collect();
            assert_eq!(met.len(), Dialect::ALL.len() * Party::ALL.len() * Fault::ALL.len());
            let steps: BTreeSet<Step> = sample.iter().map(|case| case.step).collect();
            assert_eq!(steps.len(), Step::ALL.len(), "seed {seed}");
            assert!(sample.iter().all(|case| case.exclusion().is_none()));
        }
    }

    #[test]
    fn each_exclusion_excludes_some_cases_and_not_all() {
        let all = combinations();
        for (reason, fits) in EXCLUSIONS {
            let count = all.iter().filter(|case| fits(case)).count();
            assert!(count > 0 && count < all.len(), "{reason}");
        }
    }
}
