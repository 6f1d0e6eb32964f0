//! The tools of a server, over as many pages as there are.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Connection;
use super::calls::CallEnd;
use super::error::CallError;
use super::session::{DEADLINE, failure};
use super::types::ToolInfo;

/// One page of a server's tools.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolPage {
    #[serde(default)]
    tools: Vec<ToolListing>,
    #[serde(default)]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolListing {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Value,
}

impl Connection {
    /// What the server offers now.
    pub fn tools(&self) -> Result<Vec<ToolInfo>, CallError> {
        /// More pages than any server has.
        const PAGES: usize = 64;
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES {
            let page = self.page_of_tools(cursor.as_deref())?;
            tools.extend(page.tools.into_iter().map(|tool| ToolInfo {
                name: tool.name,
                description: tool.description.unwrap_or_default(),
                input_schema: tool.input_schema,
            }));
            cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    fn page_of_tools(&self, cursor: Option<&str>) -> Result<ToolPage, CallError> {
        const METHOD: &str = "tools/list";
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        match self.inner.session.request(METHOD, &params)?.wait_until_deadline(DEADLINE) {
            CallEnd::Answered(Ok(raw)) => serde_json::from_str(raw.get())
                .map_err(|error| CallError::protocol(METHOD, error.to_string())),
            ended => Err(failure(METHOD, ended, DEADLINE)),
        }
    }
}
