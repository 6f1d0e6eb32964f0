//! The limit of open files. The hub raises its own; programs it runs get the original limit, because some iterate over
//! all possible descriptors, or cannot use high numbers at all.

use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The original limit. Global, because the limit belongs to the process. Not set: it was not raised.
static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// Raises this process's own limit to this number, or as far as allowed.
pub fn raise(wanted: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(wanted, |most| most.min(wanted));
    if limit.current.is_some_and(|given| given < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit })?;
        GIVEN.get_or_init(|| limit);
    }
    Ok(())
}

/// Whether an error means that the limit was reached.
pub fn are_none_left(error: &io::Error) -> bool {
    Errno::from_io_error(error).is_some_and(|errno| [Errno::MFILE, Errno::NFILE].contains(&errno))
}

/// Restores the original limit for a program that was just started. It starts with our own limit for a moment; a shell
/// in between could set it earlier, but would drop environment variables whose names it does not accept.
pub(crate) fn give_back(child: u32) {
    if let Some(given) = GIVEN.get() {
        limit(child, *given);
    }
}

#[cfg(target_os = "linux")]
fn limit(child: u32, given: Rlimit) {
    use rustix::process::{Pid, prlimit};

    if let Some(child) = i32::try_from(child).ok().and_then(Pid::from_raw) {
        // It may have ended already.
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
