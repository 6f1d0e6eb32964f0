//! The configuration of MCP servers, in the form that Claude Code and others use: `mcpServers`, by name.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// One server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// `stdio` or `http`; follows from the other fields.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The program of a server on stdio.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Added to its environment.
    pub env: BTreeMap<String, String>,
    /// Its folder; that of the agent's process if there is none.
    pub cwd: Option<String>,
    /// The address of a server over HTTP.
    pub url: Option<String>,
    /// Sent with each request.
    pub headers: BTreeMap<String, String>,
    /// It is not started.
    pub disabled: bool,
}

/// What is wrong with the configuration of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the MCP server `{server}`: {problem}")]
pub struct McpConfigError {
    /// Its name.
    pub server: String,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// Reads the object under `mcpServers`. `${NAME}` and `${NAME:-default}` in values are replaced from the environment.
pub fn read_servers(
    servers: &Value,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, ServerConfig>, McpConfigError> {
    let error = |server: &str, problem: String| McpConfigError { server: server.to_owned(), problem };
    let Value::Object(servers) = servers else {
        return Err(error("", "`mcpServers` must be an object of servers by name".to_owned()));
    };
    let mut read = BTreeMap::new();
    for (name, server) in servers {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_name) || name == "ide" {
            let problem = "a name has letters, digits, `-` and `_`, at most 40, and is not `ide`".to_owned();
            return Err(error(name, problem));
        }
        let config: ServerConfig =
            serde_json::from_value(server.clone()).map_err(|problem| error(name, problem.to_string()))?;
        // What one that is not started lacks stops nobody.
        let config = match config.disabled {
            true => config,
            false => config.expanded(&lookup).map_err(|problem| error(name, problem))?,
        };
        config.check().map_err(|problem| error(name, problem))?;
        read.insert(name.clone(), config);
    }
    Ok(read)
}

/// The longest name of a server.
const LONGEST_NAME: usize = 40;

/// A name that tools can be called by, for a server that somebody else named.
pub(crate) fn name_of(given: &str) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let name = given.trim().chars().map(|letter| if is_name(letter) { letter } else { '-' });
    match name.take(LONGEST_NAME).collect::<String>().as_str() {
        "" | "ide" => "server".to_owned(),
        name => name.to_owned(),
    }
}

impl ServerConfig {
    /// Whether it can be started as it is.
    pub(crate) fn check(&self) -> Result<(), String> {
        match (&self.command, &self.url, self.kind.as_deref()) {
            (Some(command), None, None | Some("stdio")) if !command.is_empty() => Ok(()),
            (None, Some(url), None | Some("http" | "streamable-http" | "streamableHttp")) => {
                if url.starts_with("http://") || url.starts_with("https://") {
                    Ok(())
                } else {
                    Err(format!("`url` is {url}, but must begin with http:// or https://"))
                }
            }
            (_, _, Some("sse")) => {
                Err("the old HTTP + SSE transport is not supported; use `http`".to_owned())
            }
            _ => Err("give either `command` (stdio) or `url` (HTTP)".to_owned()),
        }
    }

    fn expanded(mut self, lookup: &impl Fn(&str) -> Option<String>) -> Result<ServerConfig, String> {
        let texts = self
            .command
            .iter_mut()
            .chain(&mut self.args)
            .chain(self.env.values_mut())
            .chain(&mut self.cwd)
            .chain(&mut self.url)
            .chain(self.headers.values_mut());
        for text in texts {
            *text = expand(text, lookup)?;
        }
        Ok(self)
    }
}

fn expand(text: &str, lookup: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("${") {
        out += before;
        let (inside, after) = from.split_once('}').ok_or_else(|| format!("`}}` is missing in {text}"))?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let value = lookup(name).or_else(|| default.map(str::to_owned));
        out += &value.ok_or_else(|| format!("the environment variable {name} is not set; set it"))?;
        rest = after;
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(servers: Value) -> Result<BTreeMap<String, ServerConfig>, String> {
        let lookup = |name: &str| (name == "KEY").then(|| "secret".to_owned());
        read_servers(&servers, lookup).map_err(|error| error.to_string())
    }

    #[test]
    fn both_kinds_are_read_with_variables() {
        let servers = read(json!({
            "files": { "command": "npx", "args": ["-y", "${KEY}"], "env": { "A": "${NONE:-b}c" } },
            "web": { "type": "http", "url": "https://x.org/mcp", "headers": { "Authorization": "Bearer ${KEY}" } },
        }))
        .unwrap();
        assert_eq!(servers["files"].args, ["-y", "secret"]);
        assert_eq!(servers["files"].env["A"], "bc");
        assert_eq!(servers["web"].headers["Authorization"], "Bearer secret");
    }

    #[test]
    fn a_variable_of_a_server_that_is_disabled_may_be_missing() {
        let servers =
            read(json!({ "a": { "command": "x", "args": ["${NONE}"], "disabled": true } })).unwrap();
        assert!(servers["a"].disabled);
    }

    #[test]
    fn what_is_wrong_names_the_server() {
        for (servers, wanted) in [
            (json!([]), "must be an object"),
            (json!({ "a.b": { "command": "x" } }), "`a.b`"),
            (json!({ "ide": { "command": "x" } }), "`ide`"),
            (json!({ "a": {} }), "either `command`"),
            (json!({ "a": { "command": "x", "url": "http://y" } }), "either `command`"),
            (json!({ "a": { "url": "y" } }), "must begin with http"),
            (json!({ "a": { "type": "sse", "url": "http://y" } }), "not supported"),
            (json!({ "a": { "comand": "x" } }), "unknown field `comand`"),
            (json!({ "a": { "command": "${NONE}" } }), "NONE is not set"),
            (json!({ "a": { "command": "${NONE" } }), "missing"),
        ] {
            let error = read(servers.clone()).unwrap_err();
            assert!(error.contains(wanted), "{servers}: {error}");
        }
    }
}
