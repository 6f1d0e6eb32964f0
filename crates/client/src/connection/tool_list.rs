//! What a server offers, over as many pages as it takes.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Connection;
use super::calls::Ended;
use super::error::CallError;
use super::session::{DEADLINE, failure};
use super::types::Tool;

/// One page of what a server offers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(default)]
    tools: Vec<Listing>,
    #[serde(default)]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Value,
}

impl Connection {
    /// What the server offers now.
    pub fn tools(&self) -> Result<Vec<Tool>, CallError> {
        /// More pages than any server has.
        const PAGES: usize = 64;
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES {
            let page = self.page_of_tools(cursor.as_deref())?;
            tools.extend(page.tools.into_iter().map(|tool| Tool {
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

    fn page_of_tools(&self, cursor: Option<&str>) -> Result<Page, CallError> {
        const METHOD: &str = "tools/list";
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        match self.inner.session.request(METHOD, &params)?.wait_until_deadline(DEADLINE) {
            Ended::Answered(Ok(raw)) => serde_json::from_str(raw.get())
                .map_err(|error| CallError::protocol(METHOD, error.to_string())),
            ended => Err(failure(METHOD, ended, DEADLINE)),
        }
    }
}
