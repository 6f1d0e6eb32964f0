//! Addresses of HTTP servers on this machine, and of no other. Only parses them.

use std::fmt;
use std::str::FromStr;

/// The names of this machine.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// An `http:` address on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopbackUrl {
    host: &'static str,
    port: u16,
    /// Without a slash at its end.
    path: String,
}

/// Why a text is not such an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoopbackUrlError {
    /// Another scheme, or none.
    #[error("{0} does not begin with http://: write it like http://127.0.0.1:54321")]
    NotHttp(String),
    /// Another machine.
    #[error("{0} is not this machine: use 127.0.0.1, [::1] or localhost")]
    NotLoopback(String),
    /// The port is invalid.
    #[error("{0} is not a port: use a number from 1 to 65535")]
    Port(String),
    /// It has parts that are not supported.
    #[error("{0} has a user, a query, spaces or special characters: write it like http://127.0.0.1:54321")]
    Malformed(String),
}

impl LoopbackUrl {
    /// A port of 127.0.0.1.
    pub fn of_port(port: u16) -> LoopbackUrl {
        LoopbackUrl { host: "127.0.0.1", port, path: String::new() }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The value of the `Host` header of requests to it.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The address of a path below it; `path` begins with a slash.
    pub fn join(&self, path: &str) -> String {
        format!("{self}{path}")
    }
}

impl FromStr for LoopbackUrl {
    type Err = LoopbackUrlError;

    fn from_str(text: &str) -> Result<LoopbackUrl, LoopbackUrlError> {
        let given = || text.chars().filter(|sign| !sign.is_control()).take(200).collect::<String>();
        let scheme = text.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
        let rest = scheme.and_then(|_| text.get(7..)).ok_or_else(|| LoopbackUrlError::NotHttp(given()))?;
        let plain = |sign: char| sign.is_ascii_graphic() && !matches!(sign, '@' | '?' | '#' | '\\');
        if !rest.chars().all(plain) {
            return Err(LoopbackUrlError::Malformed(given()));
        }
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (authority, "80"),
        };
        let host = HOSTS.into_iter().find(|known| known.eq_ignore_ascii_case(host));
        let host = host.ok_or_else(|| LoopbackUrlError::NotLoopback(given()))?;
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| digits && *port > 0);
        let port = port.ok_or_else(|| LoopbackUrlError::Port(given()))?;
        Ok(LoopbackUrl { host, port, path: path.trim_end_matches('/').to_owned() })
    }
}

impl fmt::Display for LoopbackUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}{}", self.host, self.port, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_names_of_this_machine_are_taken_and_written_again() {
        for (text, shown, port) in [
            ("http://127.0.0.1:54321", "http://127.0.0.1:54321", 54321),
            ("HTTP://LocalHost:1/", "http://localhost:1", 1),
            ("http://[::1]:8080/bridge/", "http://[::1]:8080/bridge", 8080),
            ("http://localhost", "http://localhost:80", 80),
        ] {
            let url: LoopbackUrl = text.parse().unwrap();
            assert_eq!((url.to_string().as_str(), url.port()), (shown, port));
        }
        let url: LoopbackUrl = "http://[::1]:8080/bridge/".parse().unwrap();
        assert_eq!((url.join("/status"), url.authority()), (format!("{url}/status"), "[::1]:8080".into()));
    }

    #[test]
    fn no_other_machine_is_whatever_its_name_looks_like() {
        for text in [
            "http://example.com:54321",
            "http://127.0.0.1.example.com:1",
            "http://127.0.0.2:1",
            "http://0.0.0.0:1",
            "http://localhost.:1",
            "http://2130706433:1",
            "http://[::ffff:127.0.0.1]:1",
            "http://:1",
        ] {
            let error = text.parse::<LoopbackUrl>().unwrap_err();
            assert_eq!(error, LoopbackUrlError::NotLoopback(text.into()));
        }
    }

    #[test]
    fn what_is_no_plain_address_is_refused_with_a_reason() {
        let parse = |text: &str| text.parse::<LoopbackUrl>().unwrap_err();
        for text in ["", "127.0.0.1:1", "https://127.0.0.1:1", "ws://127.0.0.1:1", "é"] {
            assert!(matches!(parse(text), LoopbackUrlError::NotHttp(_)), "{text}");
        }
        for text in ["http://127.0.0.1:1@example.com", "http://localhost:1/?a", "http://localhost:1/a b\r\n"]
        {
            assert!(matches!(parse(text), LoopbackUrlError::Malformed(_)), "{text}");
        }
        for text in
            ["http://localhost:0", "http://localhost:", "http://localhost:65536", "http://localhost:+1"]
        {
            assert!(matches!(parse(text), LoopbackUrlError::Port(_)), "{text}");
        }
    }
}
