//! How an editor window is named on the command line. Parses names; knows no windows.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use linkspan_client::http::{LoopbackUrl, LoopbackUrlError};

/// The name of a window: `w3`, its port, a folder (`./w3` for one of that name), or the address of a ppxai bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WindowName {
    Id(String),
    Port(u16),
    Folder(PathBuf),
    Bridge(LoopbackUrl),
}

impl FromStr for WindowName {
    type Err = String;

    fn from_str(text: &str) -> Result<WindowName, String> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if text.is_empty() {
            Err("name a window by its id (w3), its port or a folder; `linkspan ide` lists them".into())
        } else if text.strip_prefix('w').is_some_and(is_number) {
            Ok(WindowName::Id(text.into()))
        } else if is_number(text) {
            let port = text.parse().ok().filter(|port| *port > 0);
            port.map(WindowName::Port).ok_or_else(|| "a port is a number from 1 to 65535".into())
        } else if text.contains("://") {
            text.parse().map(WindowName::Bridge).map_err(|error: LoopbackUrlError| error.to_string())
        } else {
            Ok(WindowName::Folder(text.into()))
        }
    }
}

impl fmt::Display for WindowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WindowName::Id(id) => f.write_str(id),
            WindowName::Port(port) => write!(f, "{port}"),
            WindowName::Folder(folder) => write!(f, "{}", folder.display()),
            WindowName::Bridge(url) => write!(f, "{url}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_named_in_four_ways_and_written_as_it_was_read() {
        let parse = |text: &str| text.parse::<WindowName>();
        assert_eq!(parse("w3"), Ok(WindowName::Id("w3".into())));
        assert_eq!(parse("40123"), Ok(WindowName::Port(40123)));
        for folder in ["./w3", "w", "w3x", "/w3", "3w", ".", "-1"] {
            assert_eq!(parse(folder), Ok(WindowName::Folder(folder.into())));
        }
        for wrong in ["", "0", "65536", "99999999999", "http://example.com:1", "https://127.0.0.1:1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        for text in ["w3", "40123", "./w3", "http://127.0.0.1:54321"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }
}
