//! The user's editor for one text: `$VISUAL`, else `$EDITOR`, else `vi`. Its file is readable only by the user and
//! removed afterwards.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Larger than any text the hub accepts.
const LIMIT: u64 = 64 * 1024 * 1024;

/// Lets the user edit a text; returns the result, or why there is none.
pub(super) fn edit(path: &str, text: &str) -> Result<String, String> {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let suffix = format!("-{}", name.unwrap_or_default());
    let failed = |error: std::io::Error| format!("cannot edit the text: its temporary file failed: {error}");
    let mut file =
        tempfile::Builder::new().prefix(".linkspan-").suffix(&suffix).tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    let editor = chosen();
    // Through a shell, as is customary, because the variable may hold arguments.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$@\""), &editor])
        .arg(file.path())
        .status()
        .map_err(|error| format!("cannot start the editor `{editor}`: {error}"))?;
    if !status.success() {
        return Err(format!("not submitted: the editor `{editor}` failed with {status}"));
    }
    // An editor may have replaced the file, so it is read by its name.
    if fs::metadata(file.path()).map_err(failed)?.len() > LIMIT {
        return Err("not submitted: the text is larger than 64 MB".into());
    }
    let bytes = fs::read(file.path()).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| "not submitted: the text is not UTF-8".into())
}

fn chosen() -> String {
    let set = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into())
}
