//! What runs instead of `linkspan attach`: it carries bytes between an editor and the check, and understands none.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Report;
use crate::visible::name;

pub(super) fn run(socket: &Path) -> Result<Report, Failure> {
    let failed = |error: io::Error| {
        let message = format!(
            "cannot connect to the check at {}: {error}; `linkspan conform editor` starts this by itself",
            name(&socket.to_string_lossy())
        );
        Failure::new(Exit::NoHub, message)
    };
    let stream = UnixStream::connect(socket).map_err(failed)?;
    let mut to_check = stream.try_clone().map_err(failed)?;
    thread::spawn(move || {
        let _ = copy(&mut io::stdin().lock(), &mut to_check);
        let _ = to_check.shutdown(Shutdown::Write);
    });
    // Ends when the check closes the connection, as `linkspan attach` ends without a hub.
    let _ = copy(&mut &stream, &mut io::stdout().lock());
    Ok(Report::default())
}

/// Like `io::copy`, and nothing waits in a buffer.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(buffer.get(..length).unwrap_or_default())?;
        to.flush()?;
    }
}
