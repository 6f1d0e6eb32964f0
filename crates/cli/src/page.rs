//! `linkspan page`: lets a browser in with a link that is good once, and takes all access back. What the page is and
//! who may see it is the hub's.

mod browser;

use std::env;
use std::io::{self, IsTerminal};

use linkspan_editor_api::{PageLink, PageLinkResult, PageRevoke, PageRevokeResult};
use serde_json::{Value, json};

use crate::exit::Failure;
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
    /// Open it in the browser.
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
    if !io::stdout().is_terminal() && !link.is_open() {
        // Alone, for whatever reads it.
        return Ok(Report::new(link.page.url.clone(), link.json()));
    }
    Ok(Report::new(link.text(), link.json()))
}

/// Starts a hub too: one that was killed left sessions behind, which the next one would go on with.
fn revoke(reach: &Reach) -> Result<Report, Failure> {
    let PageRevokeResult { sessions, links } = reach.greeted()?.request(&PageRevoke {})?;
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

/// A link, and what became of opening it.
pub(crate) struct Link {
    page: PageLinkResult,
    /// `None`: nobody asked for it; else why it could not be opened.
    opened: Option<Result<(), String>>,
}

impl Link {
    /// A fresh one; with `open`, also in the browser, where there is one.
    pub(crate) fn get(reach: &Reach, open: bool) -> Result<Link, Failure> {
        let page = reach.greeted()?.request(&PageLink {})?;
        let opened = open.then(|| browser::open(&page.url));
        if let Some(Err(why)) = &opened {
            warn(&format!("no browser was opened: {why}"));
        }
        Ok(Link { page, opened })
    }

    fn is_open(&self) -> bool {
        matches!(self.opened, Some(Ok(())))
    }

    pub(crate) fn json(&self) -> Value {
        let PageLinkResult { url, port, expires_in_seconds } = &self.page;
        json!({ "url": url, "port": port, "expiresInSeconds": expires_in_seconds, "opened": self.is_open() })
    }

    /// As one event among others.
    pub(crate) fn event(&self) -> Value {
        let mut document = self.json();
        document["event"] = json!("page");
        document
    }

    /// A link that a browser was given is used up, so it is not shown.
    pub(crate) fn text(&self) -> String {
        if self.is_open() {
            return "The page opens in your browser. If it does not come, `linkspan page` prints a link.\n"
                .into();
        }
        let minutes = count(self.page.expires_in_seconds.div_ceil(60), "minute");
        let good = format!("Good once, within {minutes}, for you on this machine only.");
        let mut text = format!("{}\n{}\n", styled(HEAD, &name(&self.page.url)), styled(DIM, &good));
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
