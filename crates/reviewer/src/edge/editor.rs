//! The person's own editor, for one text: `$VISUAL`, else `$EDITOR`, else `vi`. The file it gets is nobody else's
//! to read, and gone afterwards.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Larger than any text a hub takes.
const LIMIT: u64 = 64 * 1024 * 1024;

/// Lets the person edit a text; gives hers, or why there is none.
pub(super) fn edit(path: &str, text: &str) -> Result<String, String> {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let suffix = format!("-{}", name.unwrap_or_default());
    let failed = |error: std::io::Error| format!("the text cannot be edited, its file fails: {error}");
    let mut file =
        tempfile::Builder::new().prefix(".linkspan-").suffix(&suffix).tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    let editor = chosen();
    // By a shell, as everybody does it, because the variable may hold arguments.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$@\""), &editor])
        .arg(file.path())
        .status()
        .map_err(|error| format!("the editor `{editor}` cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("nothing is decided: the editor `{editor}` ended with {status}"));
    }
    // An editor may have put another file in its place, so it is read by its name.
    if fs::metadata(file.path()).map_err(failed)?.len() > LIMIT {
        return Err("nothing is decided: the text is larger than 64 MB".into());
    }
    let bytes = fs::read(file.path()).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| "nothing is decided: the text is not UTF-8".into())
}

fn chosen() -> String {
    let set = |name| env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into())
}
