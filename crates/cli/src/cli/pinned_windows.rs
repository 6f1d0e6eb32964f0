//! The window that the user pinned to a folder with `linkspan ide connect`, or that none is to be used there: one small
//! file in the state directory. Knows folders and window names, not editors.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use linkspan_editor_api::Places;

use crate::cli::exit::Failure;
use crate::cli::window::WindowName;

/// Users pin a handful of folders; a larger file is not ours.
const LARGEST: u64 = 1024 * 1024;

/// What was chosen for a folder and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pin {
    Window(WindowName),
    /// Use no editor.
    None,
}

/// The nearest pin from a folder upwards, and the folder it was made in.
pub(crate) fn of(places: &Places, folder: &Path) -> Result<Option<(PathBuf, Pin)>, Failure> {
    let pins = read(&file(places))?;
    let nearest = folder.ancestors().find_map(|above| Some((above, pins.get(above.to_str()?)?)));
    let Some((above, window)) = nearest else { return Ok(None) };
    let pin = match window {
        None => Pin::None,
        Some(window) => Pin::Window(window.parse().map_err(|why: String| damaged(&file(places), &why))?),
    };
    Ok(Some((above.to_owned(), pin)))
}

/// Pins a folder, or with `None` unpins it. Folders that no longer exist are dropped.
pub(crate) fn set(places: &Places, folder: &Path, pin: Option<&Pin>) -> Result<(), Failure> {
    let path = file(places);
    let failed = |error: io::Error| Failure::internal(format!("cannot write {}: {error}", path.display()));
    let name = folder
        .to_str()
        .ok_or_else(|| Failure::usage(format!("cannot pin {}: its name is not UTF-8", folder.display())))?;
    let mut pins = read(&path)?;
    pins.retain(|folder, _| Path::new(folder).is_dir());
    match pin {
        Some(Pin::Window(window)) => pins.insert(name.to_owned(), Some(window.to_string())),
        Some(Pin::None) => pins.insert(name.to_owned(), None),
        None => pins.remove(name),
    };
    write(&path, &pins).map_err(failed)
}

pub(crate) fn file(places: &Places) -> PathBuf {
    places.state.join("ide.json")
}

/// Folder to window name; `None` for no editor.
type Pins = BTreeMap<String, Option<String>>;

fn read(path: &Path) -> Result<Pins, Failure> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut text));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pins::new()),
        Err(error) => return Err(damaged(path, &error.to_string())),
        Ok(_) => {}
    }
    serde_json::from_slice(&text).map_err(|error| damaged(path, &error.to_string()))
}

fn damaged(path: &Path, why: &str) -> Failure {
    Failure::internal(format!(
        "cannot read {}: {why}; delete it, and choose again with `linkspan ide connect`",
        path.display()
    ))
}

/// Writes a temporary file and renames it: two commands may write at once.
fn write(path: &Path, pins: &Pins) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let draft = path.with_extension(format!("json.{}", std::process::id()));
    let written = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(&serde_json::to_vec(pins)?))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(root: &Path) -> Places {
        Places { home: root.into(), runtime: root.into(), state: root.join("state"), config: root.into() }
    }

    #[test]
    fn the_nearest_pin_counts_and_unpinning_removes_it() {
        let root = tempfile::tempdir().unwrap();
        let (places, work) = (places(root.path()), root.path().join("work"));
        let deep = work.join("deep/er");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(of(&places, &deep).unwrap(), None);

        set(&places, &work, Some(&Pin::None)).unwrap();
        assert_eq!(of(&places, &deep).unwrap(), Some((work.clone(), Pin::None)));
        assert_eq!(of(&places, root.path()).unwrap(), None);

        let window = Pin::Window("w3".parse().unwrap());
        set(&places, &deep, Some(&window)).unwrap();
        assert_eq!(of(&places, &deep).unwrap(), Some((deep.clone(), window)));

        set(&places, &deep, None).unwrap();
        assert_eq!(of(&places, &deep).unwrap(), Some((work, Pin::None)));
    }

    #[test]
    fn folders_that_no_longer_exist_are_dropped() {
        let root = tempfile::tempdir().unwrap();
        let (places, gone) = (places(root.path()), root.path().join("gone"));
        set(&places, &gone, Some(&Pin::None)).unwrap();
        set(&places, root.path(), Some(&Pin::None)).unwrap();
        assert_eq!(read(&file(&places)).unwrap().len(), 1);
    }

    #[test]
    fn a_damaged_file_says_what_to_do() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        fs::create_dir_all(&places.state).unwrap();
        for text in ["{", "[]", "{\"/\": 3}", "{\"/\": \"\"}"] {
            fs::write(file(&places), text).unwrap();
            let failure = of(&places, root.path()).unwrap_err();
            assert!(failure.message.contains("delete it"), "{text}: {}", failure.message);
        }
    }
}
