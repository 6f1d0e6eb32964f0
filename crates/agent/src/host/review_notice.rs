//! Tells the frontends that a change waits for the user, and where. A [`TerminalPrompt`] around the real one: a change is
//! asked about there at the same moment as in the editor.

use std::sync::Arc;

use linkspan_client::Bridge;
use linkspan_client::confirm::{Cancellation, ConfirmQuestion, TerminalAnswer, TerminalPrompt};

use super::contract::ReviewPlace;

type Notify = Box<dyn Fn(ReviewPlace) + Send + Sync>;

pub(super) struct ReviewNotice {
    pub(super) inner: Arc<dyn TerminalPrompt + Send + Sync>,
    pub(super) bridge: Arc<Bridge>,
    pub(super) notify: Notify,
}

impl TerminalPrompt for ReviewNotice {
    fn ask(&self, question: &ConfirmQuestion, cancelled: &Cancellation) -> TerminalAnswer {
        if question.change.as_ref().is_some_and(|change| change.proposed.for_review().is_some()) {
            let config = self.bridge.config();
            let in_editor = config.enabled && config.use_ide_diffs && self.bridge.connection().is_some();
            (self.notify)(if in_editor { ReviewPlace::Both } else { ReviewPlace::Terminal });
        }
        self.inner.ask(question, cancelled)
    }
}
