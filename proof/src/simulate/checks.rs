//! What a run of the simulation has to have looked at, and what has to have happened in it.

/// A check that never looks at anything proves nothing.
pub(super) const CHECKS: &[&str] = &[
    "1: each decision is applied once, by one party",
    "2, 4: what is accepted is what she saw and said, and not a byte else",
    "2: each edit of a document is bound to a durable decision",
    "2: each write is bound to a durable decision",
    "2: what is rejected is what she rejected",
    "3: agents hear durable decisions, exactly as made",
    "3: changes that belong together are one set, and nothing else is in it",
    "3: everyone who asks again has an outcome",
    "3: nobody is asked again for what was decided",
    "3: the parts of a set are told together, each once",
    "3: what counts as delivered has arrived",
    "5: no file is written under text known to be unsaved",
    "5: unsaved text changes only into what was decided about it",
    "7: each exchange is answered exactly once",
    "7: each machine's request is answered in time",
    "7: each request is answered at most once",
    "7: nobody waits in the end",
    "8: who is called connected is",
    "nothing is left behind",
];

/// Nor does a world in which one of these never happens.
pub(super) const HAPPENINGS: &[&str] = &[
    "changes by other programs",
    "changes written by editors",
    "clock jumps",
    "connections cut",
    "decisions asked for again",
    "decisions that came second",
    "duplicate decisions",
    "duplicate proposals",
    "editors reloaded",
    "failures of the disk",
    "failures of the journal",
    "HTTP connections that ended in good order",
    "hub crashes",
    "proposals of a named set",
    "sets proposed by one call",
    "sets told",
    "unsaved texts typed",
    "writes to disk",
];
