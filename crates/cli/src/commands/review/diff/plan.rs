//! What `linkspan diff` proposes: the given files, read and decoded, without those that do not differ. Sends nothing.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use linkspan_client::proposal::{Edit, proposed};
use linkspan_hub::disk::open_regular;
use linkspan_review::decode;

use super::Args;
use crate::cli::exit::Failure;

/// No hub accepts a larger message.
const LARGEST: u64 = 1024 * 1024 * 1024;
/// As many as one agent may have open at the hub.
const MOST_FILES: usize = 256;

/// One file that differs.
#[derive(Debug)]
pub(super) struct Difference {
    /// Absolute; it need not exist.
    pub(super) path: PathBuf,
    /// The current content of the file, if it exists.
    pub(super) before: Option<Vec<u8>>,
    /// The old side, when the files are only compared.
    pub(super) old_text: Option<String>,
    pub(super) new_text: String,
}

/// Everything that the command line names.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) differences: Vec<Difference>,
    /// Files of a folder that cannot be reviewed, with the reason.
    pub(super) skipped: Vec<(PathBuf, String)>,
    /// How many files of the folder are not in the new one; they are not touched.
    pub(super) left_alone: usize,
}

pub(super) fn plan(args: &Args, mut input: impl Read) -> Result<Plan, Failure> {
    let target = absolute(&args.file)?;
    if args.dir {
        return folders(args, &target);
    }
    let new = match args.new.as_deref() {
        None => read_all(&mut input, "standard input")?,
        Some(path) if path == Path::new("-") => read_all(&mut input, "standard input")?,
        Some(path) => bytes_of(path)?,
    };
    let old = args.old.as_deref().map(bytes_of).transpose()?;
    let difference = difference(target, old, &new).map_err(|why| {
        Failure::new(crate::cli::exit::Exit::Refused, format!("cannot review {}: {why}", args.file.display()))
    })?;
    Ok(Plan { differences: difference.into_iter().collect(), ..Plan::default() })
}

fn folders(args: &Args, target: &Path) -> Result<Plan, Failure> {
    let Some(new) = args.new.as_deref().filter(|new| *new != Path::new("-")) else {
        return Err(Failure::usage("--dir needs the folder with the new files; add `--new FOLDER`"));
    };
    for folder in [Some(target), Some(new), args.old.as_deref()].into_iter().flatten() {
        if !folder.is_dir() {
            return Err(Failure::usage(format!("{} is not a folder", folder.display())));
        }
    }
    let old = args.old.as_deref();
    let mut plan = Plan::default();
    let mut names = Vec::new();
    list(new, Path::new(""), &mut names)?;
    for name in &names {
        let read = || {
            let new = bytes_of(&new.join(name)).map_err(|failure| failure.message)?;
            let old =
                old.map(|old| existing(&old.join(name))).transpose().map_err(|error| error.to_string())?;
            difference(target.join(name), old.map(Option::unwrap_or_default), &new)
        };
        match read() {
            Ok(difference) => plan.differences.extend(difference),
            Err(why) => plan.skipped.push((name.clone(), why)),
        }
        if plan.differences.len() > MOST_FILES {
            let message = format!(
                "more than {MOST_FILES} files differ, which is too many to review; propose a part of the folder"
            );
            return Err(Failure::usage(message));
        }
    }
    let mut before = Vec::new();
    list(old.unwrap_or(target), Path::new(""), &mut before)?;
    plan.left_alone = before.iter().filter(|name| names.binary_search(name).is_err()).count();
    Ok(plan)
}

/// The files below a folder, by their relative paths, sorted; without `.git`. Links to folders are not followed, links
/// to files are: `git difftool --dir-diff` shows the work tree that way.
fn list(folder: &Path, below: &Path, names: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let here = folder.join(below);
    let failed = |error: io::Error| Failure::usage(format!("cannot read {}: {error}", here.display()));
    let mut entries = fs::read_dir(&here).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = below.join(entry.file_name());
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() && entry.file_name() != ".git" {
            list(folder, &name, names)?;
        } else if kind.is_file() || kind.is_symlink() && folder.join(&name).is_file() {
            names.push(name);
        }
    }
    if below == Path::new("") {
        names.sort();
    }
    Ok(())
}

/// `None` if the file has the new content already.
fn difference(path: PathBuf, old: Option<Vec<u8>>, new: &[u8]) -> Result<Option<Difference>, String> {
    let before = existing(&path).map_err(|error| error.to_string())?;
    let shown = old.as_deref().or(before.as_deref());
    // An empty new file is a change if there was no file.
    if shown == Some(new) {
        return Ok(None);
    }
    let text =
        |bytes: &[u8]| decode(bytes).map(|text| text.text.into_string()).map_err(|error| error.to_string());
    let (old_text, new_text) = (old.as_deref().map(text).transpose()?, text(new)?);
    match &old_text {
        Some(old_text) if *old_text == new_text => {
            return Err("the texts are equal; only their encoding differs".into());
        }
        Some(_) => {}
        None => keeps_its_form(before.as_deref(), new, &new_text)?,
    }
    Ok(Some(Difference { path, before, old_text, new_text }))
}

/// A review is about text: rejects changes that it could not show or would not write.
fn keeps_its_form(before: Option<&[u8]>, new: &[u8], new_text: &str) -> Result<(), String> {
    let content = new_text.to_owned();
    let proposed = proposed(&Edit::WriteFile { content }, before).map_err(|error| error.to_string())?;
    if before == Some(proposed.bytes()) {
        return Err(
            "only its line endings, byte order mark or encoding would change, and Linkspan keeps those"
                .into(),
        );
    }
    if before.is_none() && proposed.bytes() != new {
        return Err(
            "a new file is written as UTF-8 without a byte order mark; convert the new text first".into()
        );
    }
    Ok(())
}

/// The content of a file, if it exists.
fn existing(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match open_regular(path) {
        Ok(file) => limited(file).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    // Not only regular files: git names a side that does not exist `/dev/null`, and pipes work too.
    limited(File::open(path).map_err(failed)?).map_err(failed)
}

fn read_all(input: &mut impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    limited(input).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))
}

fn limited(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 GiB"));
    }
    Ok(bytes)
}

/// As the user named it, without following links: the hub does that.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("{} is not a usable path: {error}", path.display())))
}
