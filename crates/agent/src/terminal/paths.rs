//! Completion of paths: the entries of one folder that begin with what was typed.

use std::path::Path;

/// No more are offered.
const MOST: usize = 200;
/// Larger folders are not read to their end.
const MOST_READ: usize = 10_000;

/// The paths that begin with `prefix`, relative to `cwd` as they are typed; folders end with a slash.
pub(super) fn list(cwd: &Path, prefix: &str) -> Vec<String> {
    let (folder, name) = prefix.rsplit_once('/').map_or(("", prefix), |(folder, name)| (folder, name));
    let lead = if prefix.contains('/') { format!("{folder}/") } else { String::new() };
    let place = if lead == "/" { Path::new("/").to_owned() } else { cwd.join(folder) };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .take(MOST_READ)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let found = entry.file_name().into_string().ok()?;
            let is_hidden = found.starts_with('.') && !name.starts_with('.');
            if !found.starts_with(name) || is_hidden || found.contains(char::is_whitespace) {
                return None;
            }
            let end = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{lead}{found}{end}"))
        })
        .collect();
    found.sort_unstable();
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_folder_is_listed_as_it_was_typed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        for file in ["src/main.rs", "src/mod.rs", ".hidden", "two words"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let list = |prefix| list(folder.path(), prefix);
        assert_eq!(list("s"), ["src/"]);
        assert_eq!(list("src/m"), ["src/main.rs", "src/mod.rs"]);
        assert_eq!(list("src/"), ["src/deep/", "src/main.rs", "src/mod.rs"]);
        assert_eq!(list(""), ["src/"]);
        assert_eq!(list(".h"), [".hidden"]);
        assert!(list("none/x").is_empty());
        assert!(super::list(folder.path(), "/").contains(&"/usr/".to_owned()));
    }
}
