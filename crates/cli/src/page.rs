//! `linkspan page`: lets a browser in with a link that is good once, and takes all access back. What the page is and
//! who may see it is the hub's.

mod browser;

use std::env;
use std::io::{self, IsTerminal};

use linkspan_client::ControlError;
use linkspan_editor_api::{PageLink, PageLinkResult, PageRevoke, PageRevokeResult, Request, errors};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::{DIM, HEAD, Report, count, styled, warn};
use crate::reach::Reach;
use crate::visible::name;

pub(crate) use browser::is_at_hand;

/// Print a link to the page where changes are reviewed in a browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The link is good once, for a few minutes, and only for this user on this machine. Behind ssh the page's port has to be
forwarded under the same number: ssh -L PORT:127.0.0.1:PORT HOST")]
pub(crate) struct Args {
    /// Ask the browser to open it as well.
    #[arg(long, conflicts_with = "revoke")]
    open: bool,
    /// Take the access of every browser back, and every link that was not used.
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    if args.revoke {
        return revoke(reach);
    }
    let link = Link::get(reach, args.open)?;
    if !io::stdout().is_terminal() {
        // Alone, for whatever reads it.
        return Ok(Report::new(link.page.url.clone(), link.json()));
    }
    Ok(Report::new(link.text(), link.json()))
}

/// Starts a hub too: one that was killed left sessions behind, which the next one would go on with.
fn revoke(reach: &Reach) -> Result<Report, Failure> {
    let PageRevokeResult { sessions, links } = ask(reach, &PageRevoke {})?;
    let text = match (sessions, links) {
        (0, 0) => "no browser had access".to_owned(),
        (sessions, links) => {
            format!(
                "took back the access of {} and {}",
                count(sessions, "browser"),
                count(links, "unused link")
            )
        }
    };
    Ok(Report::new(text, json!({ "sessions": sessions, "links": links })))
}

/// The methods are younger than the protocol.
fn ask<R: Request>(reach: &Reach, question: &R) -> Result<R::Result, Failure> {
    reach.greeted()?.request(question).map_err(|error| match error {
        ControlError::Answer(error) if error.code == errors::METHOD_NOT_FOUND => Failure::new(
            Exit::Version,
            "the running hub is older than this program and has no page: run `linkspan hub stop`; it starts again \
             by itself, as the new one",
        ),
        error => error.into(),
    })
}

pub(crate) struct Link {
    page: PageLinkResult,
    /// Whether it comes is not known.
    browser_asked: bool,
}

impl Link {
    /// A fresh one; with `open`, also for the browser, where there is one.
    pub(crate) fn get(reach: &Reach, open: bool) -> Result<Link, Failure> {
        let page = ask(reach, &PageLink {})?;
        let asked = open.then(|| browser::ask_to_open(&page.url));
        if let Some(Err(why)) = &asked {
            warn(&format!("no browser was opened: {why}"));
        }
        Ok(Link { page, browser_asked: matches!(asked, Some(Ok(()))) })
    }

    pub(crate) fn json(&self) -> Value {
        let Link { page: PageLinkResult { url, port, expires_in_seconds }, browser_asked } = self;
        json!({
            "url": url,
            "port": port,
            "expiresInSeconds": expires_in_seconds,
            "browserAsked": browser_asked,
        })
    }

    /// As one event among others.
    pub(crate) fn event(&self) -> Value {
        let mut document = self.json();
        document["event"] = json!("page");
        document
    }

    pub(crate) fn text(&self) -> String {
        let minutes = count(self.page.expires_in_seconds.div_ceil(60), "minute");
        let good = format!("Good once, within {minutes}, for you on this machine only.");
        let mut text = format!("{}\n{}\n", styled(HEAD, &name(&self.page.url)), styled(DIM, &good));
        if self.browser_asked {
            text += "Your browser was asked to open it. If the page does not come, open the link yourself.\n";
        }
        if env::var_os("SSH_CONNECTION").is_some() {
            let port = self.page.port;
            text += &format!(
                "You are here by ssh. On your own machine, before you open it there (HOST is what you log in to):\n  \
                 ssh -L {port}:127.0.0.1:{port} HOST\n"
            );
        }
        text
    }
}
