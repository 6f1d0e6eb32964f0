//! How many files a process may have open at once. The hub takes more for itself; what it runs gets what the hub was
//! given, because some programs go through all that they might have, or cannot use high numbers at all.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A limit belongs to the process as a whole. Not set: nothing was raised.
static GIVEN: OnceLock<u64> = OnceLock::new();

/// Raises this process's own limit to so many, or as far as it may.
pub fn raise(wanted: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(wanted, |most| most.min(wanted));
    let Some(given) = limit.current.filter(|given| *given < wanted) else { return Ok(()) };
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit })?;
    GIVEN.get_or_init(|| given);
    Ok(())
}

/// How a program ends that was started in this way and is not there.
pub(crate) const NOT_FOUND: i32 = 127;

/// A program as it is started with the limit that we were given, and its first arguments.
pub(crate) fn as_given(program: &OsStr) -> (OsString, Vec<OsString>) {
    match GIVEN.get() {
        None => (program.to_owned(), Vec::new()),
        Some(given) => under(*given, program),
    }
}

/// A shell sets the limit and then becomes the program: set from here, it might come after the program has looked.
fn under(limit: u64, program: &OsStr) -> (OsString, Vec<OsString>) {
    let script = format!("ulimit -S -n {limit}; exec \"$0\" \"$@\"");
    ("/bin/sh".into(), vec!["-c".into(), script.into(), program.to_owned()])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_gets_the_limit_and_its_arguments_as_they_are() {
        let (program, first) = under(100, OsStr::new("sh"));
        let mut command = Command::new(program);
        command.args(first).args(["-c", "ulimit -S -n; echo \"$1\"", "x", "a  'b' $c"]);
        let ran = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "100\na  'b' $c\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_told_by_the_usual_code() {
        let (program, first) = under(100, OsStr::new("/no/such/program"));
        let ran = Command::new(program).args(first).output().unwrap();
        assert_eq!(ran.status.code(), Some(NOT_FOUND));
    }
}
