//! The MCP servers that a client names for a session, in ACP's form. Pure.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::tools::mcp::{ServerConfig, name_of};

/// No client needs more.
const MOST_SERVERS: usize = 32;

/// One server.
#[derive(Debug, Deserialize)]
pub(super) struct GivenServer {
    name: String,
    /// `http` or `sse`; none on stdio.
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Pair>,
    url: Option<String>,
    #[serde(default)]
    headers: Vec<Pair>,
}

#[derive(Debug, Deserialize)]
struct Pair {
    name: String,
    value: String,
}

/// By the name that their tools begin with. An error is for the client.
pub(super) fn configs(given: Vec<GivenServer>, cwd: &str) -> Result<BTreeMap<String, ServerConfig>, String> {
    if given.len() > MOST_SERVERS {
        return Err(format!("mcpServers has more than {MOST_SERVERS} servers"));
    }
    let mut configs = BTreeMap::new();
    for server in given {
        let map = |pairs: Vec<Pair>| pairs.into_iter().map(|pair| (pair.name, pair.value)).collect();
        let config = ServerConfig {
            kind: server.kind,
            command: server.command,
            args: server.args,
            env: map(server.env),
            cwd: Some(cwd.to_owned()),
            url: server.url,
            headers: map(server.headers),
            disabled: false,
        };
        config.check().map_err(|problem| format!("the MCP server `{}`: {problem}", server.name))?;
        let base = name_of(&server.name);
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !configs.contains_key(name));
        configs.insert(free.unwrap_or(base), config);
    }
    Ok(configs)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(given: Value) -> Result<BTreeMap<String, ServerConfig>, String> {
        configs(serde_json::from_value(given).unwrap(), "/w")
    }

    #[test]
    fn both_kinds_are_read_and_each_has_a_name_of_its_own() {
        let servers = read(json!([
            { "name": "My files", "command": "/bin/files", "args": ["x"], "env": [{ "name": "A", "value": "b" }] },
            { "name": "my.files", "command": "/bin/other", "args": [], "env": [] },
            { "name": "My files", "type": "http", "url": "https://x.org/mcp",
              "headers": [{ "name": "Authorization", "value": "k" }] },
        ]))
        .unwrap();
        assert_eq!(servers.keys().collect::<Vec<_>>(), ["My-files", "My-files-2", "my-files"]);
        let first = &servers["My-files"];
        assert_eq!((first.command.as_deref(), first.cwd.as_deref()), (Some("/bin/files"), Some("/w")));
        assert_eq!((first.args.len(), first.env["A"].as_str()), (1, "b"));
        assert_eq!(servers["My-files-2"].headers["Authorization"], "k");
    }

    #[test]
    fn what_cannot_be_started_is_refused() {
        for (given, why) in [
            (json!([{ "name": "old", "type": "sse", "url": "http://x" }]), "`old`: the old HTTP + SSE"),
            (json!([{ "name": "none" }]), "either `command`"),
            (json!(vec![json!({ "name": "n", "command": "c" }); 33]), "more than 32"),
        ] {
            let error = read(given).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
