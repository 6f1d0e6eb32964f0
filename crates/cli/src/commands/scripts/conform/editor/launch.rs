//! The folder of the editor that is checked, the `linkspan` on its `PATH`, and its process.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cli::exit::{Exit, Failure};

/// What `sample.txt` holds.
pub(super) const TEXT: &str = "one\ntwo\nthree\n";
/// What `odd.txt` holds.
pub(super) const ODD: &str = "\u{feff}one\r\ntwo\r\nthree";

pub(super) fn set_up(folder: &Path, bin: &Path, socket: &Path, program: &Path) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    fs::create_dir(bin)?;
    fs::write(folder.join("sample.txt"), TEXT)?;
    fs::write(folder.join("odd.txt"), ODD)?;
    let (program, socket) = (quoted(program), quoted(socket));
    let script = format!(
        "#!/bin/sh\n\
         case \"$1\" in\n\
         attach) exec {program} conform relay {socket} ;;\n\
         *) exec {program} \"$@\" ;;\n\
         esac\n"
    );
    let path = bin.join("linkspan");
    fs::write(&path, script)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// For a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

pub(super) fn spawn(command: &[String], folder: &Path, bin: &Path) -> Result<Child, Failure> {
    let (program, args) = command.split_first().ok_or_else(|| Failure::usage("the command is missing"))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([bin.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let stderr = bin.parent().map(|root| fs::File::create(root.join("stderr")));
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(folder)
        .env("PATH", path.unwrap_or_default())
        .env("LINKSPAN_BIN", bin.join("linkspan"))
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr.and_then(Result::ok).map_or_else(Stdio::null, Stdio::from));
    command.spawn().map_err(|error| {
        let program = crate::visible::name(program);
        Failure::new(
            Exit::Usage,
            format!("cannot start {program}: {error}; give a command that starts the editor"),
        )
    })
}
