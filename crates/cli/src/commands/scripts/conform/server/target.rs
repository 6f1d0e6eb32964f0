//! Which server is checked: read from a discovery file, or from an address and what discovery knows of its port. Only
//! `find` looks at the disk.

use std::fs;
use std::path::{Path, PathBuf};

use linkspan_client::discover::Wire;
use linkspan_client::http::LoopbackUrl;
use linkspan_client::{discover, ppxai};
use serde_json::Value;

use super::ServerDialect;
use crate::cli::exit::Failure;
use crate::cli::window::{here, surroundings};
use crate::commands::scripts::record::target;
use crate::visible::name;

/// The token for the server.
pub(crate) const TOKEN_VARIABLE: &str = "LINKSPAN_CONFORM_TOKEN";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerTarget {
    pub(crate) dialect: ServerDialect,
    pub(crate) address: LoopbackUrl,
    pub(crate) token: Option<String>,
    pub(crate) folders: Vec<PathBuf>,
}

/// The server that the arguments name.
pub(crate) fn find(server: &str, dialect: Option<ServerDialect>) -> Result<ServerTarget, Failure> {
    let token = variable(TOKEN_VARIABLE);
    if let Ok(address) = target(server) {
        return known(address, dialect, token);
    }
    let path = Path::new(server);
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!(
            "cannot read {}: {error}; name the address of a server, such as http://127.0.0.1:54321, its port or its \
             discovery file",
            name(server)
        ))
    })?;
    let mut found = read(path, &text, dialect).map_err(|why| {
        Failure::usage(format!("{} is not a discovery file that can be used: {why}", name(server)))
    })?;
    found.token = token.or(found.token);
    Ok(found)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// An address, with the token and the folders of the discovery file for its port.
fn known(
    address: LoopbackUrl,
    dialect: Option<ServerDialect>,
    token: Option<String>,
) -> Result<ServerTarget, Failure> {
    let discovery = discover(&surroundings(&here()?)?);
    let folders = discovery.candidates.iter().find(|candidate| candidate.wire.port() == address.port());
    let folders = folders.map(|candidate| candidate.folders.clone()).unwrap_or_default();
    let mut found = discovery.candidates.into_iter().filter(|candidate| {
        let spoken = ServerDialect::of(&candidate.wire);
        candidate.wire.port() == address.port()
            && spoken.is_some()
            && (dialect.is_none() || spoken == dialect)
    });
    let (first, more) = (found.next(), found.next());
    let dialect = match (dialect, first.as_ref().and_then(|first| ServerDialect::of(&first.wire)), more) {
        (Some(dialect), ..) | (None, Some(dialect), None) => dialect,
        _ => {
            return Err(Failure::usage(format!(
                "it is not known which protocol {address} should speak; name it with --dialect"
            )));
        }
    };
    let of_file = first.as_ref().and_then(|first| first.wire.token()).map(|token| token.reveal().to_owned());
    let of_ppxai = variable(ppxai::TOKEN_VARIABLE).filter(|_| dialect == ServerDialect::Ppxai);
    Ok(ServerTarget { dialect, address, token: token.or(of_file).or(of_ppxai), folders })
}

impl ServerDialect {
    fn of(wire: &Wire) -> Option<ServerDialect> {
        match wire {
            Wire::Claude { .. } => Some(ServerDialect::Claude),
            Wire::Nexus3 { .. } => Some(ServerDialect::Nexus3),
            Wire::Gemini { .. } => Some(ServerDialect::Gemini),
            Wire::Clio { .. } => Some(ServerDialect::Clio),
            Wire::Ppxai { .. } => Some(ServerDialect::Ppxai),
            Wire::Hub { .. } => None,
        }
    }
}

/// Reads a discovery file of any dialect. The folder that it is in says which, unless it is given.
fn read(path: &Path, text: &str, dialect: Option<ServerDialect>) -> Result<ServerTarget, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
    let dialect = match dialect {
        Some(dialect) => dialect,
        None => dialect_of(path).ok_or("its folder does not say which protocol; name it with --dialect")?,
    };
    let of_name = || path.file_stem()?.to_str()?.parse().ok();
    let port = file.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
    let port = port.or_else(of_name).filter(|port| *port > 0).ok_or("neither it nor its name has a port")?;
    let token = file.get("authToken").and_then(Value::as_str).map(str::to_owned);
    let listed = file.get("workspaceFolders").and_then(Value::as_array);
    let mut folders: Vec<PathBuf> =
        listed.into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from).collect();
    if let Some(joined) = file.get("workspacePath").and_then(Value::as_str) {
        folders.extend(std::env::split_paths(joined));
    }
    Ok(ServerTarget { dialect, address: LoopbackUrl::of_port(port), token, folders })
}

fn dialect_of(path: &Path) -> Option<ServerDialect> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let has = |part: &str| parts.contains(&part);
    [
        (has(".claude"), ServerDialect::Claude),
        (has(".nexus3"), ServerDialect::Nexus3),
        (has(".clio"), ServerDialect::Clio),
        (has(".qwen") || has("gemini"), ServerDialect::Gemini),
    ]
    .into_iter()
    .find_map(|(is, dialect)| is.then_some(dialect))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> Result<ServerTarget, String> {
        read(Path::new(path), text, None)
    }

    #[test]
    fn the_discovery_files_of_every_dialect_are_understood() {
        for (path, text, dialect, token) in [
            (
                "/h/.claude/ide/7.lock",
                r#"{"authToken":"t","workspaceFolders":["/w"]}"#,
                ServerDialect::Claude,
                true,
            ),
            (
                "/h/.nexus3/ide/7.lock",
                r#"{"authToken":"t","workspaceFolders":["/w"]}"#,
                ServerDialect::Nexus3,
                true,
            ),
            (
                "/h/.clio/ide/bridge.json",
                r#"{"port":7,"workspaceFolders":["/w"]}"#,
                ServerDialect::Clio,
                false,
            ),
            (
                "/t/gemini/ide/gemini-ide-server-1-7.json",
                r#"{"port":7,"workspacePath":"/w","authToken":"t"}"#,
                ServerDialect::Gemini,
                true,
            ),
            (
                "/h/.qwen/ide/7.lock",
                r#"{"port":7,"workspacePath":"/w","authToken":"t"}"#,
                ServerDialect::Gemini,
                true,
            ),
        ] {
            let found = file(path, text).unwrap();
            assert_eq!((found.dialect, found.address.port()), (dialect, 7), "{path}");
            assert_eq!((found.token.is_some(), found.folders), (token, vec![PathBuf::from("/w")]), "{path}");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(file("/x/7.lock", "{}").unwrap_err().contains("--dialect"));
        assert!(file("/h/.claude/ide/x.lock", "{}").unwrap_err().contains("port"));
        assert!(file("/h/.claude/ide/7.lock", "nothing").unwrap_err().contains("JSON"));
    }
}
