//! Remembering the pool: which agents there were in a folder, with their sessions.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::contract::AgentSettings;
use super::event_loop::HostLoop;
use crate::permissions::PermissionMode;

/// The file is small.
const LARGEST: u64 = 1024 * 1024;
/// So many folders are remembered.
const MOST_FOLDERS: usize = 200;

/// Agents by the folder in which the host was started.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Pools {
    folders: BTreeMap<PathBuf, Vec<Remembered>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Remembered {
    name: String,
    cwd: PathBuf,
    mode: PermissionMode,
    model: String,
    session: String,
}

impl HostLoop {
    pub(super) fn remembered(&self) -> Vec<AgentSettings> {
        self.setup.pool.as_deref().map(|path| remembered(path, &self.setup.cwd)).unwrap_or_default()
    }

    /// Remembers the agents that have said something. A failure costs only the memory of the pool.
    pub(super) fn save_pool(&self) {
        let Some(path) = &self.setup.pool else { return };
        let worth = self
            .agents
            .values()
            .filter(|agent| !agent.is_helper && !agent.conversation.messages().is_empty());
        let agents: Vec<_> = worth
            .map(|agent| Remembered {
                name: agent.name.clone(),
                cwd: agent.cwd.clone(),
                mode: agent.conversation.mode(),
                model: agent.model.name.clone(),
                session: agent.session.name().to_owned(),
            })
            .collect();
        if agents.is_empty() {
            return;
        }
        let mut pools = read(path);
        while pools.folders.len() >= MOST_FOLDERS {
            pools.folders.pop_first();
        }
        pools.folders.insert(self.setup.cwd.clone(), agents);
        let _ = write(path, &pools);
    }
}

/// How to start the agents that were in a folder when the last host ended there, from the file of the pool.
pub fn remembered(path: &Path, folder: &Path) -> Vec<AgentSettings> {
    let here = read(path).folders.remove(folder).unwrap_or_default();
    let settings = here.into_iter().map(|agent| AgentSettings {
        servers: Default::default(),
        name: Some(agent.name),
        cwd: Some(agent.cwd),
        mode: Some(agent.mode),
        model: Some(agent.model),
        resume: Some(agent.session),
        is_helper: false,
    });
    settings.collect()
}

fn read(path: &Path) -> Pools {
    let small = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
    let text = if small { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    serde_json::from_slice(&text).unwrap_or_default()
}

fn write(path: &Path, pools: &Pools) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec_pretty(pools)?)?;
    file.persist(path)?;
    Ok(())
}
