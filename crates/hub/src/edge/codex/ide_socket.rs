//! The socket on which Codex's terminal program asks where the user is (`/ide`), served only where nobody else listens:
//! Codex's own extension and desktop program use the same path. Each connection asks one question.

use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use linkspan_dialect::{IdeContext, IdeRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::daemon_socket::codex_home;
use crate::core::Event;
use crate::edge::{Edge, LoopMessage};

/// The program that had the socket may have ended.
const LOOK_AGAIN: Duration = Duration::from_secs(20);

/// Codex gives up after this.
const DEADLINE: Duration = Duration::from_secs(5);

/// A question is a few hundred bytes.
const LONGEST_QUESTION: u32 = 64 * 1024;

const CONNECTIONS: usize = 16;

static QUESTIONS: AtomicU64 = AtomicU64::new(1);

/// Our socket, which is removed in the end unless it is somebody else's by then.
struct OwnSocket {
    path: PathBuf,
    inode: (u64, u64),
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        if inode(&self.path) == Some(self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = std::fs::remove_file(mark(&self.path));
    }
}

pub(super) async fn serve(edge: Edge, mut stop: watch::Receiver<()>) {
    loop {
        if let Some((listener, _socket)) = listen().await {
            tokio::select! {
                () = accept(&listener, &edge) => {}
                _ = stop.changed() => return,
            }
        }
        tokio::select! {
            () = sleep(LOOK_AGAIN) => {}
            _ = stop.changed() => return,
        }
    }
}

/// None if there is no Codex here, or somebody else serves it.
async fn listen() -> Option<(UnixListener, OwnSocket)> {
    let home = codex_home().filter(|home| home.is_dir())?;
    let path = home.join("ipc").join("ipc.sock");
    let temporary = std::env::temp_dir().join("codex-ipc");
    let uid = rustix::process::getuid().as_raw();
    let others = [temporary.join(format!("ipc-{uid}.sock")), temporary.join("ipc.sock"), path.clone()];
    for other in &others {
        if is_served_by(other, uid).await {
            return None;
        }
    }
    let folder = path.parent()?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
    let found = std::fs::symlink_metadata(folder).ok()?;
    if !found.is_dir() || found.uid() != uid || found.mode() & 0o022 != 0 {
        return None;
    }
    // A socket that nobody serves is removed only if an earlier hub left it.
    if let Some(left) = inode(&path) {
        let ours = std::fs::read_to_string(mark(&path)).ok()?;
        if ours != format!("{}:{}", left.0, left.1) {
            return None;
        }
        std::fs::remove_file(&path).ok()?;
    }
    let listener = UnixListener::bind(&path).ok()?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).ok()?;
    let socket = OwnSocket { inode: inode(&path)?, path };
    let (device, number) = socket.inode;
    std::fs::write(mark(&socket.path), format!("{device}:{number}")).ok()?;
    Some((listener, socket))
}

/// A listener of another user does not count: Codex does not talk to it for this user.
async fn is_served_by(path: &Path, uid: u32) -> bool {
    let stream = UnixStream::connect(path).await;
    stream.is_ok_and(|stream| stream.peer_cred().is_ok_and(|peer| peer.uid() == uid))
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Says which socket is ours.
fn mark(path: &Path) -> PathBuf {
    path.with_extension("linkspan")
}

async fn accept(listener: &UnixListener, edge: &Edge) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::getuid().as_raw());
        // One too many is closed.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        if is_ours {
            let edge = edge.clone();
            tokio::spawn(async move {
                let _ = timeout(DEADLINE, answer(stream, &edge)).await;
                drop(place);
            });
        }
    }
}

async fn answer(mut stream: UnixStream, edge: &Edge) -> Option<()> {
    let length = stream.read_u32_le().await.ok().filter(|length| *length <= LONGEST_QUESTION)?;
    let mut body = vec![0; usize::try_from(length).ok()?];
    stream.read_exact(&mut body).await.ok()?;
    let request = IdeRequest::parse(&body)?;
    let context = match request.root.clone() {
        Some(root) => ask(edge, root).await,
        None => None,
    };
    let body = request.answer(context.as_ref()).into_bytes();
    stream.write_u32_le(u32::try_from(body.len()).ok()?).await.ok()?;
    stream.write_all(&body).await.ok()?;
    stream.shutdown().await.ok()
}

async fn ask(edge: &Edge, root: PathBuf) -> Option<IdeContext> {
    let question = QUESTIONS.fetch_add(1, Ordering::Relaxed);
    let (sender, answer) = oneshot::channel();
    edge.inbox.send(LoopMessage::NewIdeQuestion(question, sender)).await.ok()?;
    edge.send_event(Event::IdeAsked { question, root }).await;
    answer.await.ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listener_of_another_user_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ipc.sock");
        let uid = rustix::process::getuid().as_raw();
        assert!(!is_served_by(&path, uid).await);
        let _listener = UnixListener::bind(&path).unwrap();
        assert!(is_served_by(&path, uid).await);
        assert!(!is_served_by(&path, uid + 1).await);
    }
}
