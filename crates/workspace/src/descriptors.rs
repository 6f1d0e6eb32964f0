//! How many files a process may have open at once. The hub takes more for itself; what it runs gets what the hub was
//! given, because some programs go through all that they might have, or cannot use high numbers at all.

use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A limit belongs to the process as a whole. Not set: nothing was raised.
static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// Raises this process's own limit to so many, or as far as it may.
pub fn raise(wanted: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(wanted, |most| most.min(wanted));
    if limit.current.is_some_and(|given| given < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit })?;
        GIVEN.get_or_init(|| limit);
    }
    Ok(())
}

/// Whether that is why something failed.
pub fn are_none_left(error: &io::Error) -> bool {
    Errno::from_io_error(error).is_some_and(|errno| [Errno::MFILE, Errno::NFILE].contains(&errno))
}

/// For a program that was started just now. It begins with our own limit for a moment; a shell in between could set it
/// before, but would drop variables whose names it does not like.
pub(crate) fn give_back(child: u32) {
    if let Some(given) = GIVEN.get() {
        limit(child, *given);
    }
}

#[cfg(target_os = "linux")]
fn limit(child: u32, given: Rlimit) {
    use rustix::process::{Pid, prlimit};

    if let Some(child) = i32::try_from(child).ok().and_then(Pid::from_raw) {
        // It may have ended by now.
        let _ = prlimit(Some(child), Resource::Nofile, given);
    }
}

#[cfg(not(target_os = "linux"))]
fn limit(_: u32, _: Rlimit) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_program_that_runs_gets_the_limit() {
        let mut command = Command::new("sh");
        command.args(["-c", "read go; ulimit -S -n"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        limit(child.id(), Rlimit { current: Some(100), ..getrlimit(Resource::Nofile) });
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((said.as_str(), child.wait().unwrap().success()), ("100\n", true));
    }
}
