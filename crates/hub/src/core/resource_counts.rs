//! How much the core holds of each kind, for tests that prove that nothing leaks: every count is zero when everyone has
//! left.

use crate::core::Core;
use crate::core::pending::Continuation;

pub(super) const KINDS: usize = 19;

pub(super) fn count(core: &Core) -> [(&'static str, usize); KINDS] {
    let pending = |is_meant: fn(&Continuation) -> bool| core.out.pending.count(is_meant);
    let preparing = pending(|waiting| matches!(waiting, Continuation::WindowPrepared(_)));
    let reading = pending(|waiting| matches!(waiting, Continuation::FileRead { .. }));
    let calls = core.agents.values().map(|agent| agent.session.open_calls().count()).sum();
    [
        ("reviews", core.reviews.iter().count()),
        ("ages of reviews", core.reviews.ages()),
        ("agents", core.agents.keys().count()),
        ("calls of agents", calls),
        (
            "calls of several changes",
            core.agents.bundles() + core.agents.patch_calls() + core.reviews.edit_calls(),
        ),
        ("questions to the person", core.permissions.open_prompts()),
        ("tools", pending(|waiting| matches!(waiting, Continuation::Job(_)))),
        ("connections", core.connections.len()),
        ("requests to editors", core.connections.open_requests()),
        ("windows", core.windows.len() + preparing),
        ("files being read", reading + core.files.deferred()),
        ("files being written", core.reviews.disk_writes()),
        ("changes that agents were to write", core.reviews.agent_writes()),
        ("agents that wait for the review of another", core.reviews.followers()),
        ("watchers", core.connections.watchers()),
        ("status requests", core.connections.status_requests()),
        ("questions about the past", core.history.len()),
        ("hosted agents", core.chats.live()),
        ("timers", core.out.timers()),
    ]
}
