//! Lock files for fuzz targets: parsing their bytes and names.

use super::lock_file;

/// The contents of a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, and only fuzz targets read them")]
pub struct Lock {
    pub editor: String,
    pub port: Option<u16>,
    pub pid: Option<u32>,
    pub folders: Vec<String>,
    pub other_transport: Option<String>,
    pub token: Option<String>,
    pub port_space: Option<String>,
}

/// The contents of a lock file, or what is wrong with them.
pub fn lock_file(bytes: &[u8]) -> Result<Lock, String> {
    let lock = lock_file::parse(bytes)?;
    Ok(Lock {
        editor: lock.editor,
        port: lock.port,
        pid: lock.pid,
        folders: lock.folders,
        other_transport: lock.other_transport,
        token: lock.token.map(|token| token.reveal().to_owned()),
        port_space: lock.port_space,
    })
}

/// The port in a name such as `41001.lock`.
pub fn port_of(file_name: &str) -> Option<u16> {
    lock_file::port_of(file_name)
}

/// The port in a name such as `gemini-ide-server-17-41001.json`.
pub fn gemini_port_of(file_name: &str) -> Option<u16> {
    lock_file::gemini_port_of(file_name)
}
