//! Finding the editor among a thousand lock files, compared with reading the same files.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use linkspan_client::{Surroundings, discover};
use linkspan_editor_api::Places;
use serde_json::json;

use super::Effort;
use crate::bench_hub::{BenchHub, scratch};
use crate::editor::Editor;
use crate::report::Row;
use crate::stats::{Spread, median};

const FILES: usize = 1000;
/// Below the ports that the system assigns: a closed one stays closed.
const PORTS: std::ops::Range<u16> = 10_000..30_000;

/// A home full of lock files.
struct LockFiles {
    what: &'static str,
    home: PathBuf,
    /// The port of the one running editor.
    live: Option<u16>,
    times: Vec<f64>,
    floor: Vec<f64>,
}

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let folder = hub.workspace();
    let editor = Editor::on_socket(&hub.socket()?, &folder)?;
    let root = scratch()?;
    let elsewhere = |port: u16| root.path().join("elsewhere").join(port.to_string());
    let here = |_| folder.clone();
    let mut scenes = [
        LockFiles::new(root.path(), "other folders, no editor", FILES, elsewhere)?,
        LockFiles::new(root.path(), "this folder, no editor", FILES, here)?,
        LockFiles::new(root.path(), "this folder, one editor", FILES - 1, here)?,
    ];
    if let Some(scene) = scenes.last_mut() {
        let name = format!("{}.lock", editor.port);
        fs::copy(hub.lock_file(editor.port), scene.home.join(".claude/ide").join(name))?;
        scene.live = Some(editor.port);
    }
    for round in 0..=effort.pick(100, 15) {
        for scene in &mut scenes {
            scene.turn(&folder, round > 0)?;
        }
    }
    Ok(scenes.iter().map(LockFiles::row).collect())
}

impl LockFiles {
    fn new(root: &Path, what: &'static str, stale: usize, of: impl Fn(u16) -> PathBuf) -> Result<LockFiles> {
        let home = root.join(what);
        let directory = home.join(".claude/ide");
        fs::create_dir_all(&directory)?;
        let closed = PORTS.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
        for port in closed.take(stale) {
            let folder = of(port);
            fs::create_dir_all(&folder)?;
            let lock = json!({
                "pid": 1, "workspaceFolders": [folder], "ideName": "Somebody's",
                "transport": "ws", "runningInWindows": false, "authToken": "00000000-0000-4000-8000-000000000000",
            });
            fs::write(directory.join(format!("{port}.lock")), lock.to_string())?;
        }
        Ok(LockFiles { what, home, live: None, times: Vec::new(), floor: Vec::new() })
    }

    /// Once we, once the floor.
    fn turn(&mut self, folder: &Path, counts: bool) -> Result<()> {
        let home = &self.home;
        let places = Places {
            home: home.clone(),
            runtime: home.join("run"),
            state: home.join("state"),
            config: home.join("config"),
        };
        let uid = rustix::process::geteuid().as_raw();
        let surroundings =
            Surroundings { cwd: folder.to_owned(), places, variables: BTreeMap::new(), uid, wsl: None };
        let start = Instant::now();
        let found = discover(&surroundings);
        let taken = start.elapsed();
        ensure!(found.candidates.len() == FILES, "{} of {FILES} lock files", found.candidates.len());
        let best = found.best().map(|candidate| candidate.wire.port());
        ensure!(best == self.live, "found {best:?}, there is {:?}", self.live);

        let start = Instant::now();
        let bytes = read_all(&home.join(".claude/ide"))?;
        let floor = start.elapsed();
        ensure!(bytes > 0, "the lock files are empty");
        if counts {
            self.times.push(taken.as_secs_f64() * 1e3);
            self.floor.push(floor.as_secs_f64() * 1e3);
        }
        Ok(())
    }

    fn row(&self) -> Row {
        let note = format!(
            "{:.2} : {:.2} ms for reading them, {:.2} ×",
            median(&self.times),
            median(&self.floor),
            Spread::of_ratios(&self.times, &self.floor).median
        );
        let what = format!("discovery, {FILES} lock files: {}", self.what);
        Row::new(what, "ms", Spread::of(&self.times)).at_most(20.0).note(note)
    }
}

/// The least that looking at every file can cost.
fn read_all(directory: &Path) -> Result<usize> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).context("the floor")? {
        bytes += fs::read(entry?.path())?.len();
    }
    Ok(bytes)
}
