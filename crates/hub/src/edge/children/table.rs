//! `agents.toml` on disk, and where the programs of its agents are. Does not know what the file may say.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::hosted_agents;
use crate::core::contract::HostedAgent;

const LONGEST: u64 = 1024 * 1024;

/// The agents, with their programs where they are installed.
pub(crate) fn read(file: &Path) -> Result<Vec<HostedAgent>, String> {
    let text = match fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
        // Any user who can write it could have programs started.
        Ok(found) if found.mode() & 0o022 != 0 || found.uid() != rustix::process::getuid().as_raw() => {
            let path = file.display();
            return Err(format!("{path} can be written by others; make it yours alone (chmod 600)"));
        }
        Ok(found) if found.len() > LONGEST => {
            return Err(format!("{} is too large ({} bytes)", file.display(), found.len()));
        }
        Ok(_) => {
            fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?
        }
    };
    let mut agents = hosted_agents(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    for agent in &mut agents {
        agent.program = agent.command.first().and_then(|command| find(command, &path));
    }
    Ok(agents)
}

/// A path must be absolute; a name is looked for in the folders of `path`.
fn find(command: &str, path: &OsStr) -> Option<PathBuf> {
    let is_program =
        |found: &Path| fs::metadata(found).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    if command.contains('/') {
        let named = PathBuf::from(command);
        return (named.is_absolute() && is_program(&named)).then_some(named);
    }
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(command)).find(|found| is_program(found))
}
