//! Copilot CLI at the real hub, over the window's Unix socket: decisions, sessions, refusals, and captures of the real one.

#[cfg(test)]
mod decisions;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod replays;
#[cfg(test)]
mod sessions;

#[cfg(test)]
mod fixture {
    use crate::support::copilot::{Copilot, PendingDiff};
    use crate::support::gemini::Stream;
    use crate::support::*;

    pub(super) const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
    pub(super) const NEW: &str = "one\nTWO\nthree\nfour\nfive\nSIX\nseven\n";
    pub(super) const TAB: &str = "[Copilot CLI] - a.txt (0bf331)";

    /// Dropped from top to bottom: the world goes last.
    pub(super) struct CopilotFixture {
        pub(super) stream: Stream,
        pub(super) agent: Copilot,
        pub(super) editor: Editor,
        pub(super) path: String,
        pub(super) world: World,
    }

    /// A window with a file, and a connected agent that listens.
    pub(super) fn fixture() -> CopilotFixture {
        fixture_in(World::new())
    }

    pub(super) fn fixture_in(world: World) -> CopilotFixture {
        let path = world.file("a.txt", OLD);
        let editor = Editor::attach(&world);
        let agent = Copilot::ready(&world, "77ae77ed-a501-41eb-9169-da546e480b3d");
        let stream = agent.listen();
        CopilotFixture { stream, agent, editor, path, world }
    }

    impl CopilotFixture {
        /// The proposal of `NEW`, once it is shown.
        #[track_caller]
        pub(super) fn propose(&self) -> PendingDiff {
            let pending = self.agent.open_diff(&self.path, NEW, TAB);
            self.editor.shown(&self.path);
            pending
        }

        #[track_caller]
        pub(super) fn delivered(&self) {
            eventually("the decision is delivered", || {
                self.world.json(&["reviews", "--all"])["reviews"].as_array()?.is_empty().then_some(())
            });
        }
    }
}
