//! Where Codex's daemon listens, and whether that is the user's own.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;

const FOLDER: &str = "app-server-control";
const SOCKET: &str = "app-server-control.sock";

/// Codex's own folder.
pub(super) fn codex_home() -> Option<PathBuf> {
    let named = std::env::var_os("CODEX_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let home = named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".codex")));
    home.filter(|home| home.is_absolute())
}

/// The socket, if there is one. It is a link to another folder.
pub(super) fn path() -> Option<PathBuf> {
    let path = codex_home()?.join(FOLDER).join(SOCKET);
    let link = std::fs::symlink_metadata(&path).ok()?;
    let socket = std::fs::metadata(&path).ok()?;
    (is_ours(&link) && is_ours(&socket) && socket.file_type().is_socket()).then_some(path)
}

fn is_ours(found: &std::fs::Metadata) -> bool {
    found.uid() == rustix::process::getuid().as_raw()
}

/// None if nobody listens, or somebody else.
pub(super) async fn connect(path: &Path) -> Option<UnixStream> {
    let stream = UnixStream::connect(path).await.ok()?;
    let peer = stream.peer_cred().ok()?;
    if peer.uid() == rustix::process::getuid().as_raw() {
        return Some(stream);
    }
    tracing::warn!("not connecting to {}: another user listens there", path.display());
    None
}
