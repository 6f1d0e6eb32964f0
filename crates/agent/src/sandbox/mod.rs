//! The sandbox of commands: this program starts itself again with [`COMMAND`], restricts itself with Linux's Landlock,
//! and becomes the command. So the restriction holds for the command and all that it starts, and for nothing else.

mod kernel;

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use kernel::Restrictions;

/// The subcommand of `linkspan-agent` whose arguments go to [`exec`].
pub const COMMAND: &str = "sandbox-exec";

/// As a shell says that it cannot run a command.
const CANNOT_RUN: u8 = 126;

/// What this system can restrict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Nothing.
    Nothing,
    /// Writes to files.
    Files,
    /// Writes to files, and TCP.
    FilesAndTcp,
}

/// Restricts this process and becomes the command: `--write FOLDER --hide PATH -- COMMAND ARGUMENT…`, where the options
/// may come several times. Returns only if it cannot. Folders for temporary files and devices such as `/dev/null` can be
/// written, too.
pub fn exec(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let failed = match parse(arguments) {
        Ok((restrictions, command)) => become_command(restrictions, &command),
        Err(why) => why,
    };
    anstream::eprintln!("linkspan-agent {COMMAND}: {failed}");
    ExitCode::from(CANNOT_RUN)
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<(Restrictions, Vec<OsString>), String> {
    let mut arguments = arguments.into_iter();
    let mut restrictions = Restrictions::default();
    while let Some(argument) = arguments.next() {
        let paths = match argument.to_str() {
            Some("--write") => &mut restrictions.writable,
            Some("--hide") => &mut restrictions.hidden,
            Some("--") => {
                let command: Vec<OsString> = arguments.collect();
                if command.is_empty() {
                    return Err("there is no command after --".to_owned());
                }
                return Ok((restrictions, command));
            }
            _ => {
                return Err(format!(
                    "unknown argument {}; expected --write, --hide or --",
                    argument.display()
                ));
            }
        };
        paths.push(arguments.next().ok_or_else(|| format!("{} needs a path", argument.display()))?.into());
    }
    Err("there is no command; expected -- COMMAND".to_owned())
}

/// Returns why it could not.
fn become_command(mut restrictions: Restrictions, command: &[OsString]) -> String {
    let Some((program, arguments)) = command.split_first() else { return "there is no command".to_owned() };
    let mut child = Command::new(program);
    child.args(arguments);
    match add_temporary(&mut restrictions) {
        Ok(Some(private)) => drop(child.env("TMPDIR", private)),
        Ok(None) => {}
        Err(error) => return format!("there is no folder for temporary files: {error}"),
    }
    if let Err(error) = kernel::restrict(&restrictions) {
        return format!("the sandbox cannot be set up, so nothing was run: {error}");
    }
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_none_or(is_secret) {
            child.env_remove(name);
        }
    }
    let error: io::Error = child.exec();
    format!("cannot run {}: {error}", program.display())
}

/// Lets the folders for temporary files be written, except those that hold something hidden; instead of those, a folder
/// of the user's own, which is returned.
fn add_temporary(restrictions: &mut Restrictions) -> io::Result<Option<PathBuf>> {
    let own = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let usual = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let main = own.clone().unwrap_or_else(|| "/tmp".into());
    let holds_hidden = |folder: &PathBuf| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        restrictions.hidden.iter().any(|hidden| hidden.starts_with(&real))
    };
    let open: Vec<PathBuf> = own.into_iter().chain(usual).filter(|folder| !holds_hidden(folder)).collect();
    let is_open = open.contains(&main);
    restrictions.writable.extend(open);
    if is_open {
        return Ok(None);
    }
    let user = rustix::process::geteuid().as_raw();
    let private = main.join(format!("linkspan-sandbox-{user}"));
    match std::fs::DirBuilder::new().mode(0o700).create(&private) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let about = private.symlink_metadata()?;
    if !about.is_dir() || about.uid() != user {
        return Err(io::Error::other(format!("{} belongs to someone else", private.display())));
    }
    restrictions.writable.push(private.clone());
    Ok(Some(private))
}

/// Keys of models and of other services: the sandbox cannot keep a command from reading its own environment.
fn is_secret(variable: &str) -> bool {
    let ends =
        ["_KEY", "_TOKEN", "_SECRET", "PASSWORD", "PASSWD", "_PWD", "_PAT", "_CREDENTIALS", "_AUTH_SOCK"];
    let variable = variable.to_ascii_uppercase();
    ends.iter().any(|end| variable.ends_with(end))
}

/// What this system can restrict. Asks the system each time; that is quick.
pub fn protection() -> Protection {
    kernel::protection()
}

#[cfg(test)]
mod tests;
