//! Decisions that a later event of the same agent needs: a permission event is answered with them, and some agents hear
//! the user's words only after their tool ran. Small files in the runtime directory, each bound to agent, session, path
//! and the resulting text. Knows nothing of the hub.

use std::fs::{self, DirBuilder};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use linkspan_dialect::hooks::{FileResult, HookAgent};
use linkspan_editor_api::Places;
use tempfile::NamedTempFile;

const FOLDER: &str = "hooks";
/// Older decisions are removed: no agent's tool takes that long.
const LONGEST_LIFE: Duration = Duration::from_secs(60 * 60);
/// The same context is not repeated for the same session within this time: Qwen runs the hook several times for one
/// prompt.
const REPEATED: Duration = Duration::from_secs(5);
/// A text for a model that is longer was not made here.
const LARGEST: u64 = 4 * 1024 * 1024;
/// More entries than this are not looked through.
const MAX_ENTRIES: usize = 10_000;
/// A decision that may still be used to allow an edit.
const OPEN: &str = "open";
/// A decision that allowed its edit already; it is only kept for the words.
const USED: &str = "used";

/// The decisions of one user's hooks.
#[derive(Debug)]
pub(super) struct DecisionMemory {
    folder: PathBuf,
}

/// An agent and its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionKey<'a> {
    pub(super) agent: HookAgent,
    pub(super) session: &'a str,
}

impl DecisionMemory {
    pub(super) fn of(places: &Places) -> DecisionMemory {
        DecisionMemory { folder: places.runtime.join(FOLDER) }
    }

    pub(super) fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |mut entries| entries.next().is_none())
    }

    /// Keeps an accepted result, with the words that the agent must still be told.
    pub(super) fn remember(
        &self,
        session: SessionKey<'_>,
        path: &Path,
        result: &FileResult,
        words: Option<&str>,
    ) -> io::Result<()> {
        let name = format!("{}-{}.{OPEN}", session.key(path.as_os_str().as_encoded_bytes()), digest(result));
        self.write(&name, words.unwrap_or_default())
    }

    /// Whether exactly this result was accepted and not allowed before. Each decision allows one edit.
    pub(super) fn allow_once(&self, session: SessionKey<'_>, results: &[(&Path, &FileResult)]) -> bool {
        if results.is_empty() || !self.is_private() {
            return false;
        }
        let entries = results.iter().map(|(path, result)| {
            let key = session.key(path.as_os_str().as_encoded_bytes());
            self.folder.join(format!("{key}-{}.{OPEN}", digest(result)))
        });
        let entries: Vec<PathBuf> = entries.collect();
        let is_fresh = |path: &PathBuf| age(path).is_some_and(|age| age < LONGEST_LIFE);
        entries.iter().all(is_fresh)
            && entries.iter().all(|open| fs::rename(open, open.with_extension(USED)).is_ok())
    }

    /// The words for the model about a file whose edit is done. Removes everything that is known about it.
    pub(super) fn take_words(&self, session: SessionKey<'_>, path: &Path) -> Option<String> {
        let prefix = format!("{}-", session.key(path.as_os_str().as_encoded_bytes()));
        let mut words = Vec::new();
        for entry in self.entries() {
            if !entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)) {
                continue;
            }
            words.extend(read(&entry).filter(|words| !words.is_empty()));
            let _ = fs::remove_file(&entry);
        }
        (!words.is_empty()).then(|| words.join("\n\n"))
    }

    /// Whether this session has just been told this; otherwise it counts as told now.
    pub(super) fn is_repeated(&self, session: SessionKey<'_>, text: &str) -> bool {
        let name = format!("{}.context", session.key(b""));
        let path = self.folder.join(&name);
        let is_same = self.is_private()
            && age(&path).is_some_and(|age| age < REPEATED)
            && read(&path).is_some_and(|told| told == hash(&[text.as_bytes()]));
        if !is_same {
            // Without the entry the model may read the same text twice, which does no harm.
            let _ = self.write(&name, &hash(&[text.as_bytes()]));
        }
        is_same
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        if !self.is_private() {
            return Err(io::Error::other(format!(
                "{} is open to other users; remove it",
                self.folder.display()
            )));
        }
        self.prune();
        // Its mode is 0600. Renamed, because another hook may read at this moment.
        let mut draft = NamedTempFile::new_in(&self.folder)?;
        draft.write_all(text.as_bytes())?;
        draft.persist(self.folder.join(name)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Whether only we can put files there: they allow edits.
    fn is_private(&self) -> bool {
        let user = rustix::process::geteuid().as_raw();
        let is_ours = |folder: &Path| {
            fs::symlink_metadata(folder)
                .is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0)
        };
        is_ours(&self.folder) && self.folder.parent().is_some_and(is_ours)
    }

    fn prune(&self) {
        for entry in self.entries() {
            if age(&entry).is_some_and(|age| age > LONGEST_LIFE) {
                let _ = fs::remove_file(&entry);
            }
        }
    }

    fn entries(&self) -> Vec<PathBuf> {
        if !self.is_private() {
            return Vec::new();
        }
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.take(MAX_ENTRIES).map(|entry| entry.path()).collect();
        entries.sort();
        entries
    }
}

impl SessionKey<'_> {
    /// A name for something in this session.
    fn key(self, thing: &[u8]) -> String {
        hash(&[self.agent.id().as_bytes(), self.session.as_bytes(), thing])
    }
}

fn digest(result: &FileResult) -> String {
    let target = result.moved_to.as_ref().map(|target| target.as_os_str().as_encoded_bytes());
    let text = result.text.as_ref().map(|text| text.as_bytes());
    let mark = [u8::from(target.is_some()), u8::from(text.is_some())];
    hash(&[&mark, target.unwrap_or_default(), text.unwrap_or_default()])
}

/// Of all parts with their lengths, so that no two lists of parts have the same hash.
fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}

fn age(path: &Path) -> Option<Duration> {
    let modified = fs::symlink_metadata(path).ok()?.modified().ok()?;
    // A clock that was set back makes an entry look new.
    Some(SystemTime::now().duration_since(modified).unwrap_or_default())
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const CODEX: SessionKey<'_> = SessionKey { agent: HookAgent::Codex, session: "s1" };

    struct Fixture {
        _root: tempfile::TempDir,
        memory: DecisionMemory,
    }

    fn fixture() -> Fixture {
        let root = tempfile::tempdir().unwrap();
        let runtime = root.path().join("run");
        DirBuilder::new().mode(0o700).create(&runtime).unwrap();
        Fixture { memory: DecisionMemory { folder: runtime.join(FOLDER) }, _root: root }
    }

    fn text(text: &str) -> FileResult {
        FileResult { text: Some(text.into()), moved_to: None }
    }

    #[test]
    fn a_decision_allows_exactly_its_result_once() {
        let Fixture { memory, _root } = fixture();
        let path = Path::new("/w/a");
        assert!(memory.is_empty());
        memory.remember(CODEX, path, &text("new\n"), None).unwrap();
        assert!(!memory.is_empty());
        let other_session = SessionKey { session: "s2", ..CODEX };
        let other_agent = SessionKey { agent: HookAgent::Copilot, ..CODEX };
        for session in [other_session, other_agent] {
            assert!(!memory.allow_once(session, &[(path, &text("new\n"))]));
        }
        assert!(!memory.allow_once(CODEX, &[(path, &text("newer\n"))]));
        assert!(!memory.allow_once(CODEX, &[(Path::new("/w/b"), &text("new\n"))]));
        assert!(!memory.allow_once(CODEX, &[(path, &text("new\n")), (path, &text("x"))]));
        let moved = FileResult { moved_to: Some("/w/c".into()), ..text("new\n") };
        assert!(!memory.allow_once(CODEX, &[(path, &moved)]));
        assert!(!memory.allow_once(CODEX, &[]));
        assert!(memory.allow_once(CODEX, &[(path, &text("new\n"))]));
        assert!(!memory.allow_once(CODEX, &[(path, &text("new\n"))]));
    }

    #[test]
    fn words_are_told_once_also_after_the_permission() {
        let Fixture { memory, _root } = fixture();
        let path = Path::new("/w/a");
        memory.remember(CODEX, path, &text("new\n"), Some("one hunk of two")).unwrap();
        assert!(memory.allow_once(CODEX, &[(path, &text("new\n"))]));
        assert_eq!(memory.take_words(SessionKey { session: "s2", ..CODEX }, path), None);
        assert_eq!(memory.take_words(CODEX, path).as_deref(), Some("one hunk of two"));
        assert_eq!(memory.take_words(CODEX, path), None);
        assert!(memory.is_empty());
    }

    #[test]
    fn the_same_context_is_told_once() {
        let Fixture { memory, _root } = fixture();
        assert!(!memory.is_repeated(CODEX, "a.txt is open"));
        assert!(memory.is_repeated(CODEX, "a.txt is open"));
        assert!(!memory.is_repeated(CODEX, "b.txt is open"));
        assert!(!memory.is_repeated(SessionKey { session: "s2", ..CODEX }, "b.txt is open"));
    }

    #[test]
    fn nobody_else_can_read_or_put_decisions() {
        let Fixture { memory, _root } = fixture();
        let path = Path::new("/w/a");
        memory.remember(CODEX, path, &text("new\n"), None).unwrap();
        let entry = memory.entries().remove(0);
        assert_eq!(fs::metadata(&entry).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&memory.folder).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&memory.folder, Permissions::from_mode(0o777)).unwrap();
        assert!(!memory.allow_once(CODEX, &[(path, &text("new\n"))]));
        memory.remember(CODEX, path, &text("new\n"), None).unwrap_err();
    }

    #[test]
    fn old_decisions_are_removed_and_allow_nothing() {
        let Fixture { memory, _root } = fixture();
        let path = Path::new("/w/a");
        memory.remember(CODEX, path, &text("new\n"), None).unwrap();
        let long_ago = SystemTime::now() - LONGEST_LIFE - Duration::from_secs(1);
        fs::File::options()
            .write(true)
            .open(memory.entries().remove(0))
            .and_then(|file| file.set_modified(long_ago))
            .unwrap();
        assert!(!memory.allow_once(CODEX, &[(path, &text("new\n"))]));
        memory.remember(CODEX, Path::new("/w/b"), &text("b\n"), None).unwrap();
        assert_eq!(memory.entries().len(), 1);
    }
}
