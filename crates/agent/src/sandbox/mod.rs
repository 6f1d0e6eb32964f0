//! The sandbox of commands: this program starts itself again with [`COMMAND`], restricts itself with Linux's Landlock,
//! and becomes the command. So the restriction holds for the command and all that it starts, and for nothing else.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

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

/// Restricts this process and becomes the command: `--write FOLDER … -- COMMAND ARGUMENT…`. Returns only if it cannot.
/// Folders for temporary files and devices such as `/dev/null` can be written, too.
pub fn exec(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let failed = match parse(arguments) {
        Ok((folders, command)) => become_command(&folders, &command),
        Err(why) => why,
    };
    anstream::eprintln!("linkspan-agent {COMMAND}: {failed}");
    ExitCode::from(CANNOT_RUN)
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<(Vec<PathBuf>, Vec<OsString>), String> {
    let mut arguments = arguments.into_iter();
    let mut folders = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--write") => {
                folders.push(arguments.next().ok_or("--write needs a folder")?.into());
            }
            Some("--") => {
                let command: Vec<OsString> = arguments.collect();
                if command.is_empty() {
                    return Err("there is no command after --".to_owned());
                }
                return Ok((folders, command));
            }
            _ => return Err(format!("unknown argument {}; expected --write or --", argument.display())),
        }
    }
    Err("there is no command; expected -- COMMAND".to_owned())
}

/// Returns why it could not.
fn become_command(folders: &[PathBuf], command: &[OsString]) -> String {
    let mut writable = folders.to_vec();
    writable.extend(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from));
    writable.extend(std::env::var_os("TMPDIR").map(PathBuf::from).filter(|folder| folder.is_absolute()));
    if let Err(error) = kernel::restrict(&writable) {
        return format!("the sandbox cannot be set up, so nothing was run: {error}");
    }
    let Some((program, arguments)) = command.split_first() else { return "there is no command".to_owned() };
    let mut child = Command::new(program);
    child.args(arguments);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_none_or(is_secret) {
            child.env_remove(name);
        }
    }
    let error: io::Error = child.exec();
    format!("cannot run {}: {error}", program.display())
}

/// Keys of models and of other services: the sandbox cannot keep a command from reading its own environment.
fn is_secret(variable: &str) -> bool {
    ["_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_AUTH_SOCK"].iter().any(|end| variable.ends_with(end))
}

/// What this system can restrict. Asks the system each time; that is quick.
pub fn protection() -> Protection {
    kernel::protection()
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::PathBuf;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetStatus, Scope, path_beneath_rules,
    };

    use super::Protection;

    /// What is asked for as far as the kernel knows it.
    const NEWEST: ABI = ABI::V6;

    pub(super) fn protection() -> Protection {
        let can = |ruleset: Result<Ruleset, landlock::RulesetError>| {
            ruleset.and_then(|ruleset| ruleset.create()).is_ok()
        };
        let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        if !can(strict().handle_access(AccessFs::from_write(ABI::V1))) {
            return Protection::Nothing;
        }
        match can(strict().handle_access(AccessNet::from_all(ABI::V4))) {
            true => Protection::FilesAndTcp,
            false => Protection::Files,
        }
    }

    pub(super) fn restrict(writable: &[PathBuf]) -> Result<(), String> {
        let everything = AccessFs::from_all(NEWEST);
        let reading = AccessFs::from_read(NEWEST);
        // Devices are written, not made or removed.
        let device = AccessFs::WriteFile | AccessFs::ReadFile | AccessFs::IoctlDev;
        let devices = [
            "/dev/null",
            "/dev/zero",
            "/dev/full",
            "/dev/tty",
            "/dev/ptmx",
            "/dev/pts",
            "/dev/random",
            "/dev/urandom",
        ];
        let restricted = || {
            Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(everything)?
                .handle_access(AccessNet::from_all(NEWEST))?
                .scope(Scope::from_all(NEWEST))?
                .create()?
                .add_rules(path_beneath_rules(["/"], reading))?
                .add_rules(path_beneath_rules(writable, everything))?
                .add_rules(path_beneath_rules(devices, device))?
                .restrict_self()
        };
        match restricted() {
            Ok(status) if status.ruleset != RulesetStatus::NotEnforced => Ok(()),
            Ok(_) => Err("this kernel has no Landlock".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::path::PathBuf;

    use super::Protection;

    pub(super) fn protection() -> Protection {
        Protection::Nothing
    }

    pub(super) fn restrict(_: &[PathBuf]) -> Result<(), String> {
        Err("this system has no Landlock".to_owned())
    }
}

#[cfg(test)]
mod tests;
