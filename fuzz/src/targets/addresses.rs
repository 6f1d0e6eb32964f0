//! Paths become `file:` addresses and come back byte for byte; what is taken for an address of this machine is one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use linkspan_client::http::LoopbackUrl;
use linkspan_editor_api::file_uri;

pub(crate) fn run(data: &[u8]) {
    let path = [b"/", data].concat();
    let path = Path::new(OsStr::from_bytes(&path));
    let address = file_uri::of(path);
    assert!(address.is_ascii());
    assert_eq!(file_uri::to_path(&address).as_deref(), Some(path));

    let Ok(text) = str::from_utf8(data) else { return };
    if let Some(path) = file_uri::to_path(text) {
        assert!(path.is_absolute() || !text.to_ascii_lowercase().starts_with("file://"), "{text}");
    }
    match text.parse::<LoopbackUrl>() {
        Ok(url) => {
            let shown = url.to_string();
            let hosts = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"];
            assert!(url.port() != 0 && hosts.iter().any(|host| shown.starts_with(host)), "{shown}");
            assert!(
                !shown.contains(['@', '?', '#', '\\']) && shown.chars().all(|sign| sign.is_ascii_graphic())
            );
            assert_eq!(shown.parse(), Ok(url));
        }
        Err(error) => assert!(!error.to_string().chars().any(char::is_control), "{error}"),
    }
}
