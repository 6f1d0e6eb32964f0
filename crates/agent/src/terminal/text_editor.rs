//! The user's editor for one text: `$VISUAL`, else `$EDITOR`, else `vi`. Its file is readable only by the user and
//! removed afterwards.

use std::io::Write;
use std::process::ExitStatus;

use tempfile::NamedTempFile;
use tokio::process::{Child, Command};

use super::screen::ScreenInput;
use crate::host::ChangeId;

/// A larger text is not taken.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The editor while it runs.
#[derive(Debug)]
pub(super) struct Editing {
    change: ChangeId,
    file: NamedTempFile,
    editor: String,
    child: Child,
}

impl Editing {
    /// Starts it on this text.
    pub(super) fn start(change: ChangeId, name: &str, text: &str) -> Result<Editing, String> {
        let failed =
            |error: std::io::Error| format!("cannot edit the text: its temporary file failed: {error}");
        let suffix = format!("-{name}");
        let builder = || tempfile::Builder::new().prefix(".linkspan-").suffix(&suffix).tempfile();
        let mut file = builder().map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
        let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
        // Through a shell, as is customary, because the variable may hold arguments.
        let child = Command::new("sh")
            .args(["-c", &format!("{editor} \"$@\""), &editor])
            .arg(file.path())
            .spawn()
            .map_err(|error| format!("cannot start the editor `{editor}`: {error}"))?;
        Ok(Editing { change, file, editor, child })
    }

    /// Waits for its end; without end if none runs.
    pub(super) async fn ended(editing: &mut Option<Editing>) -> Option<ScreenInput> {
        let Some(running) = editing else { return std::future::pending().await };
        let status = running.child.wait().await;
        let ended = editing.take()?;
        let text = status.map_err(|error| error.to_string()).and_then(|status| ended.text(status));
        Some(ScreenInput::Edited { change: ended.change, text })
    }

    fn text(&self, status: ExitStatus) -> Result<String, String> {
        if !status.success() {
            return Err(format!("the editor `{}` failed with {status}: the text is as it was", self.editor));
        }
        let failed = |error: std::io::Error| format!("cannot read the edited text: {error}");
        // An editor may have replaced the file, so it is read by its name.
        if std::fs::metadata(self.file.path()).map_err(failed)?.len() > LARGEST {
            return Err("the edited text is larger than 64 MB: it is not taken".to_owned());
        }
        let bytes = std::fs::read(self.file.path()).map_err(failed)?;
        String::from_utf8(bytes).map_err(|_| "the edited text is not UTF-8: it is not taken".to_owned())
    }
}
