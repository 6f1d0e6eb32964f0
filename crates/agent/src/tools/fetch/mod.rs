//! `fetch_url`: reads a page or a file from the network as text. Owns redirects and what counts as text.

mod html;

use std::time::Duration;

use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use hyper::{Method, StatusCode, Uri};
use linkspan_review::decode;
use serde::Deserialize;

use super::ToolContext;
use super::answer::{Answer, ToolFailure, beginning};
use super::arguments::{ParameterKind, ToolArguments, optional, required};
use super::http::{HttpRequest, Reach, read_body, send, wait_for};
use super::toolbox::{AgentTools, LocalTool};
use crate::permissions::ToolKind;

const TIME: Duration = Duration::from_secs(30);
const LARGEST: usize = 5 * 1024 * 1024;
const LONGEST_TEXT: usize = 50_000;
const MOST_REDIRECTS: usize = 5;

/// What may be fetched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchRules {
    /// Addresses of this machine and of private networks, too.
    pub allow_private: bool,
}

pub(crate) const TOOLS: &[LocalTool] = &[LocalTool {
    name: "fetch_url",
    kind: ToolKind::Network,
    about: "Read a page or a text file from the network, by http or https. HTML becomes plain text.",
    parameters: &[
        required("url", ParameterKind::Text, "The address."),
        optional(
            "max_length",
            ParameterKind::Count,
            "The most bytes of text to return. Default and limit: 50000.",
        ),
    ],
    run,
}];

fn run(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let reach = if tools.config.fetch.allow_private { Reach::Anywhere } else { Reach::Public };
    let longest = arguments.count("max_length").unwrap_or(LONGEST_TEXT).min(LONGEST_TEXT);
    let url = arguments.needed("url").trim();
    let page = wait_for(TIME, &context.cancelled, fetch(url, reach)).map_err(|failure| match failure {
        ToolFailure::Error(why) => ToolFailure::Error(format!("{url} was not fetched: {why}")),
        cancelled => cancelled,
    })?;
    let more =
        if page.is_cut { format!("\n[Only the first {LARGEST} bytes were read.]") } else { String::new() };
    let text = beginning(page.text, longest, "Ask for a more specific page.");
    let said = format!("{}{text}{more}", page.heading);
    if page.is_ok { Ok(said) } else { Err(ToolFailure::Error(said)) }
}

struct Page {
    heading: String,
    text: String,
    is_cut: bool,
    is_ok: bool,
}

async fn fetch(url: &str, reach: Reach) -> Result<Page, String> {
    let mut uri = parse(url)?;
    for _ in 0..=MOST_REDIRECTS {
        let headers = [
            ("user-agent", concat!("linkspan-agent/", env!("CARGO_PKG_VERSION"))),
            ("accept", "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.5"),
            ("accept-encoding", "identity"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let request = HttpRequest { method: Method::GET, uri: uri.clone(), headers, body: Vec::new() };
        let response = send(request, reach).await?;
        let header = |name| {
            response.headers().get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok())
        };
        if response.status().is_redirection()
            && let Some(target) = header(LOCATION)
        {
            uri = parse(&joined(&uri, target))?;
            continue;
        }
        if header(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return Err("the server compresses its answer although it was asked not to".to_owned());
        }
        let kind = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let status = response.status();
        let (bytes, is_cut) = read_body(response.into_body(), LARGEST).await?;
        return page(&uri, status, &kind, &bytes, is_cut);
    }
    Err(format!("more than {MOST_REDIRECTS} redirects"))
}

fn parse(url: &str) -> Result<Uri, String> {
    // What follows `#` is for the reader, and not sent.
    let url = url.split('#').next().unwrap_or(url);
    let uri: Uri = url.parse().map_err(|error| format!("{url} is not a URL: {error}"))?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("a URL with a user name or password is not fetched".to_owned());
    }
    Ok(uri)
}

/// The target of a redirect, which may be relative.
fn joined(from: &Uri, target: &str) -> String {
    let target = target.trim();
    let (scheme, authority) =
        (from.scheme_str().unwrap_or("https"), from.authority().map_or("", |it| it.as_str()));
    let is_scheme = |scheme: &str| scheme.chars().all(|letter| letter.is_ascii_alphanumeric());
    if target.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
        target.to_owned()
    } else if let Some(rest) = target.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if target.starts_with('/') {
        format!("{scheme}://{authority}{target}")
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{target}")
    }
}

fn page(uri: &Uri, status: StatusCode, kind: &str, bytes: &[u8], is_cut: bool) -> Result<Page, String> {
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let is_html = matches!(essence, "text/html" | "application/xhtml+xml");
    let is_text = is_html
        || essence.is_empty()
        || essence.starts_with("text/")
        || essence.ends_with("json")
        || essence.ends_with("xml")
        || matches!(
            essence,
            "application/javascript" | "application/toml" | "application/yaml" | "application/x-sh"
        );
    let heading = format!("{uri} ({status}{}{essence})\n\n", if essence.is_empty() { "" } else { ", " });
    if !is_text {
        return Err(format!("it is {essence}, {} bytes, and not a text", bytes.len()));
    }
    // A character may be cut at the end, which is not a reason to take the rest for binary.
    let text = match decode(bytes) {
        Ok(text) => text.text.into_string(),
        Err(_) if is_cut || kind.contains("utf-8") => String::from_utf8_lossy(bytes).into_owned(),
        Err(error) => return Err(format!("it is not a text: {error}")),
    };
    let text = if is_html { html::to_text(&text) } else { text };
    Ok(Page { heading, text, is_cut, is_ok: status.is_success() })
}

#[cfg(test)]
mod tests;
