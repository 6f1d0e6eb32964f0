//! What a tool returns inside this folder, limits on its text, and waiting for blocking work that may be cancelled.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use linkspan_workspace::{Cancel, WorkspaceError};

use super::ToolContext;

/// The most bytes of a result for the model.
pub(crate) const LONGEST: usize = 100 * 1024;
/// How often cancellation is checked while a tool works.
const TICK: Duration = Duration::from_millis(50);

/// The result of a tool: a text for the model, or why there is none.
pub(crate) type Answer = Result<String, ToolFailure>;

/// Why a tool did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolFailure {
    /// For the model: what happened, to what, and what to do next.
    Error(String),
    /// The user ended it.
    Cancelled(String),
}

impl ToolFailure {
    pub(crate) fn cancelled() -> ToolFailure {
        ToolFailure::Cancelled("The user cancelled this call.".to_owned())
    }
}

impl From<String> for ToolFailure {
    fn from(error: String) -> ToolFailure {
        ToolFailure::Error(error)
    }
}

impl From<&str> for ToolFailure {
    fn from(error: &str) -> ToolFailure {
        ToolFailure::Error(error.to_owned())
    }
}

impl From<WorkspaceError> for ToolFailure {
    fn from(error: WorkspaceError) -> ToolFailure {
        match error {
            WorkspaceError::Cancelled => ToolFailure::cancelled(),
            other => ToolFailure::Error(other.to_string()),
        }
    }
}

/// The beginning of a text that is too long, whole lines where possible, with a note.
pub(crate) fn beginning(text: String, longest: usize, what_to_do: &str) -> String {
    if text.len() <= longest {
        return text;
    }
    let cut = text.floor_char_boundary(longest);
    let start = text.get(..cut).unwrap_or_default();
    let start = match start.rfind('\n') {
        Some(end) if end > longest / 2 => start.get(..=end).unwrap_or(start),
        _ => start,
    };
    format!("{start}\n[{} of {} bytes are shown. {what_to_do}]", start.len(), text.len())
}

/// Runs work that polls `Cancel`, and cancels it when the call is cancelled. `tick` is called now and then meanwhile.
pub(crate) fn cancellable<T: Send>(
    context: &ToolContext,
    work: impl FnOnce(&Cancel) -> T + Send,
    mut tick: impl FnMut(),
) -> Result<T, ToolFailure> {
    let cancel = Cancel::new();
    thread::scope(|scope| {
        let (done, wait) = channel::<()>();
        let working = scope.spawn(|| {
            // Dropped at the end of the work, also if that panics.
            let _done = done;
            work(&cancel)
        });
        while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            tick();
            if context.cancelled.is_cancelled() {
                cancel.cancel();
            }
        }
        working
            .join()
            .map_err(|_| ToolFailure::from("the tool failed by a mistake in Linkspan; do it another way"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_line_and_says_so() {
        let text = "line of text\n".repeat(100);
        let cut = beginning(text.clone(), 200, "Ask for less.");
        assert!(
            cut.starts_with("line of text\n") && cut.ends_with("of 1300 bytes are shown. Ask for less.]")
        );
        assert!(cut.len() < 260);
        assert_eq!(beginning(text.clone(), 2000, ""), text);
        // In the middle of a character.
        assert!(beginning("ä".repeat(100), 101, "").starts_with(&"ä".repeat(50)));
    }
}
