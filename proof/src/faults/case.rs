//! The matrix: what can go wrong, for whom, when and with what; which combinations cannot exist, and why.

use linkspan_testkit::proposer::Dialect;

use crate::chance::Chance;

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

dimension!(Kind { New = "new", Change = "change", Set = "set" });

dimension!(
    /// How the person's editor has the file that is changed open.
    Buffer { Saved = "saved", Unsaved = "unsaved" }
);

dimension!(Who { Agent = "agent", Hub = "hub", Shim = "shim", Editor = "editor" });

dimension!(Fault { Kill = "kill", Stop = "stop", Cut = "cut" });

dimension!(
    /// How far the change got: the steps of ARCHITECTURE.md, as they are seen from outside.
    Step {
        /// The window is there; the agent has said half a word at most.
        Connect = "connect",
        /// The agent has asked, and nobody waited for anything.
        Sent = "sent",
        /// The editor was asked what it holds, and has not said.
        Base = "base",
        /// The journal has the change; the editor was told to show it, and has not answered.
        Recorded = "recorded",
        /// It is before the person, who has not decided.
        Shown = "shown",
        /// The decision is on its way; of a set, the first one.
        Decided = "decided",
        /// The decision counts, what is to be written is written, and the agent has not heard of it.
        Written = "written",
        /// The agent has heard it.
        Answered = "answered",
    }
);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) dialect: Dialect,
    pub(super) kind: Kind,
    pub(super) buffer: Buffer,
    pub(super) who: Who,
    pub(super) fault: Fault,
    pub(super) step: Step,
}

/// Why a case is left out.
type Reason = &'static str;

type LeftOut = (Reason, fn(&Case) -> bool);

/// What cannot exist.
const LEFT_OUT: &[LeftOut] = &[
    ("a file that is not there has no unsaved text; with some, it is a change", |case| {
        case.kind == Kind::New && case.buffer == Buffer::Unsaved
    }),
    ("Clio's messages name places in a file that is there: it cannot ask for a new one", |case| {
        case.dialect == Dialect::Clio && case.kind == Kind::New
    }),
    ("the dialect has no word for changes that belong together", |case| {
        case.kind == Kind::Set && !matches!(case.dialect, Dialect::Ppxai | Dialect::Own)
    }),
    (
        "a Gemini CLI that is started anew is another session and asks its own questions; stop and cut are tried",
        |case| {
            let underway = (Step::Sent..=Step::Written).contains(&case.step);
            case.dialect == Dialect::Gemini && (case.who, case.fault) == (Who::Agent, Fault::Kill) && underway
        },
    ),
];

impl Case {
    pub(super) fn name(&self) -> String {
        let Case { dialect, kind, buffer, who, fault, step } = self;
        [dialect.name(), kind.name(), buffer.name(), who.name(), fault.name(), step.name()].join("/")
    }

    pub(super) fn left_out(&self) -> Option<Reason> {
        LEFT_OUT.iter().find(|(_, fits)| fits(self)).map(|(reason, _)| *reason)
    }

    /// One in four is a no; the same case is always decided the same way.
    pub(super) fn is_accepted(&self) -> bool {
        let sum =
            self.name().bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        !Chance::new(sum).next().is_multiple_of(4)
    }
}

/// Every combination, those that cannot exist included.
pub(super) fn combinations() -> Vec<Case> {
    let mut all = Vec::new();
    for dialect in Dialect::ALL {
        for &kind in Kind::ALL {
            for &buffer in Buffer::ALL {
                for &who in Who::ALL {
                    for &fault in Fault::ALL {
                        let case = |&step| Case { dialect, kind, buffer, who, fault, step };
                        all.extend(Step::ALL.iter().map(case));
                    }
                }
            }
        }
    }
    all
}

pub(super) fn whole_matrix() -> Vec<Case> {
    combinations().into_iter().filter(|case| case.left_out().is_none()).collect()
}

/// Each dialect with each party and each fault, and each step in turn; the rest is chance.
pub(super) fn sample(seed: u64) -> Vec<Case> {
    let mut chance = Chance::new(seed);
    let mut all = whole_matrix();
    chance.shuffle(&mut all);
    let mut chosen: Vec<Case> = Vec::new();
    let mut steps = Step::ALL.to_vec();
    chance.shuffle(&mut steps);
    let mut turn = steps.iter().cycle();
    for dialect in Dialect::ALL {
        for &who in Who::ALL {
            for &fault in Fault::ALL {
                let of_it: Vec<&Case> = all
                    .iter()
                    .filter(|case| (case.dialect, case.who, case.fault) == (dialect, who, fault))
                    .collect();
                let step = turn.next();
                let found = of_it.iter().find(|case| Some(&case.step) == step).or(of_it.first());
                chosen.extend(found.map(|case| **case));
            }
        }
    }
    chance.shuffle(&mut chosen);
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
            let met: BTreeSet<_> = sample.iter().map(|case| (case.dialect, case.who, case.fault)).collect();
            assert_eq!(met.len(), Dialect::ALL.len() * Who::ALL.len() * Fault::ALL.len());
            let steps: BTreeSet<Step> = sample.iter().map(|case| case.step).collect();
            assert_eq!(steps.len(), Step::ALL.len(), "seed {seed}");
            assert!(sample.iter().all(|case| case.left_out().is_none()));
        }
    }

    #[test]
    fn a_reason_to_leave_out_leaves_something_out_and_not_all() {
        let all = combinations();
        for (reason, fits) in LEFT_OUT {
            let count = all.iter().filter(|case| fits(case)).count();
            assert!(count > 0 && count < all.len(), "{reason}");
        }
    }
}
