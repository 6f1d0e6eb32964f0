//! `linkspan page`: gives a browser access with a link that works once, and revokes all access. The page and its access
//! control are in the hub.

mod browser;

use std::env;
use std::io::{self, IsTerminal};

use linkspan_client::ControlError;
use linkspan_editor_api::{PageLink, PageLinkResult, PageRevoke, PageRevokeResult, Request, errors};
use serde_json::{Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{DIM, HEAD, Report, count, styled, warn};
use crate::visible::name;

pub(crate) use browser::is_local_desktop;

/// Print a link to review changes in a browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The link works once, for a few minutes, and only for you on this machine. Over ssh, forward the port of the page under \
the same number:\n  ssh -L PORT:127.0.0.1:PORT HOST")]
pub(crate) struct Args {
    /// Also open it in the browser.
    #[arg(long, conflicts_with = "revoke")]
    open: bool,
    /// Revoke the access of every browser, and all unused links.
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    if args.revoke {
        return revoke(cli);
    }
    let link = BrowserLink::get(cli, args.open)?;
    if !io::stdout().is_terminal() {
        // The link alone, for a program that reads it.
        return Ok(Report::new(link.page.url.clone(), link.json()));
    }
    Ok(Report::new(link.text(), link.json()))
}

/// Starts a hub if needed: one that was killed leaves sessions behind, which the next one would restore.
fn revoke(cli: &CliContext) -> Result<Report, Failure> {
    let PageRevokeResult { sessions, links } = ask(cli, &PageRevoke {})?;
    let text = match (sessions, links) {
        (0, 0) => "no browser had access".to_owned(),
        (sessions, links) => {
            format!(
                "revoked the access of {} and {}",
                count(sessions, "browser"),
                count(links, "unused link")
            )
        }
    };
    Ok(Report::new(text, json!({ "sessions": sessions, "links": links })))
}

/// These methods were added after the first version of the protocol, so an old hub may lack them.
fn ask<R: Request>(cli: &CliContext, question: &R) -> Result<R::Result, Failure> {
    cli.greeted()?.request(question).map_err(|error| match error {
        ControlError::Answer(error) if error.code == errors::METHOD_NOT_FOUND => Failure::new(
            Exit::Version,
            "the running hub is older than this program and has no page; run `linkspan hub stop`, and the new version \
             starts by itself",
        ),
        error => error.into(),
    })
}

pub(crate) struct BrowserLink {
    page: PageLinkResult,
    /// The opener was started; whether the page appeared is not known.
    browser_asked: bool,
}

impl BrowserLink {
    /// A new link; with `open`, it is also opened in the browser, if there is one.
    pub(crate) fn get(cli: &CliContext, open: bool) -> Result<BrowserLink, Failure> {
        let page = ask(cli, &PageLink {})?;
        let asked = open.then(|| browser::ask_to_open(&page.url));
        if let Some(Err(why)) = &asked {
            warn(&format!("cannot open a browser: {why}"));
        }
        Ok(BrowserLink { page, browser_asked: matches!(asked, Some(Ok(()))) })
    }

    pub(crate) fn json(&self) -> Value {
        let BrowserLink { page: PageLinkResult { url, port, expires_in_seconds }, browser_asked } = self;
        json!({
            "url": url,
            "port": port,
            "expiresInSeconds": expires_in_seconds,
            "browserAsked": browser_asked,
        })
    }

    /// As an event of a command that prints several documents.
    pub(crate) fn event(&self) -> Value {
        let mut document = self.json();
        document["event"] = json!("page");
        document
    }

    pub(crate) fn text(&self) -> String {
        let minutes = count(self.page.expires_in_seconds.div_ceil(60), "minute");
        let validity = format!("Works once, within {minutes}, for you on this machine only.");
        let mut text = format!("{}\n{}\n", styled(HEAD, &name(&self.page.url)), styled(DIM, &validity));
        if self.browser_asked {
            text += "Opening it in your browser. If the page does not appear, open the link yourself.\n";
        }
        if env::var_os("SSH_CONNECTION").is_some() {
            let port = self.page.port;
            text += &format!(
                "You are connected over ssh. Before you open the link on your own machine, run there (HOST is this machine):\n  \
                 ssh -L {port}:127.0.0.1:{port} HOST\n"
            );
        }
        text
    }
}
