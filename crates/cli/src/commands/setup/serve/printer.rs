//! What `linkspan serve` prints, as text or as one JSON document per line.

use std::collections::BTreeMap;
use std::io;

use linkspan_client::Notice;
use linkspan_editor_api::labels::hide_reason;
use linkspan_editor_api::{
    AttachResult, MessageLevel, ReviewHide, ReviewShow, ReviewWaiting, StatusMessage, UserAsk, UserUnask,
};
use serde_json::{Value, json};

use crate::cli::exit::Failure;
use crate::cli::output::{DIM, HEAD, WARNING, lines_changed, print, relative, styled, warn};
use crate::commands::agents::asks;
use crate::commands::review::page::BrowserLink;
use crate::visible::name;

pub(super) struct Printer {
    folders: Vec<String>,
    json: bool,
    /// By review, the announced revision and its file: a restarted hub shows all of them again.
    announced: BTreeMap<String, (u32, String)>,
}

impl Printer {
    pub(super) fn new(folders: Vec<String>, json: bool) -> Printer {
        Printer { folders, json, announced: BTreeMap::new() }
    }

    fn print(&self, document: &Value, text: &str) -> io::Result<()> {
        print(Some(document).filter(|_| self.json), text)
    }

    pub(super) fn listening(&self, window: &AttachResult, files: &[(String, String)]) -> io::Result<()> {
        let discovery: Vec<_> =
            files.iter().map(|(dialect, file)| json!({ "dialect": dialect, "file": file })).collect();
        let document = json!({
            "event": "listening",
            "window": window.window,
            "port": window.port,
            "folders": self.folders,
            "discoveryFiles": discovery,
            "environment": window.environment,
        });
        let mut text =
            styled(HEAD, &format!("window {} is open on 127.0.0.1:{}", name(&window.window), window.port));
        text.push('\n');
        let mut row =
            |label: &str, value: &str| text += &format!("  {}{value}\n", styled(DIM, &format!("{label:<8}")));
        for folder in &self.folders {
            row("folder", &name(folder));
        }
        for (dialect, file) in files {
            row(&name(dialect), &name(file));
        }
        for (variable, value) in &window.environment {
            row("export", &format!("{}={}", name(variable), name(value)));
        }
        text += "Start an agent in one of the folders. Decide with `linkspan review`, or with `linkspan show latest`,\n\
                 `linkspan accept latest` and `linkspan reject latest`. Ctrl-C closes the window.\n";
        self.print(&document, &text)
    }

    /// An error is only reported: the window is open without the page too.
    pub(super) fn page(&self, link: Result<BrowserLink, Failure>) -> io::Result<()> {
        match link {
            Ok(link) => self.print(&link.event(), &link.text()),
            Err(failure) => self.warn(&format!("cannot open the page: {}", failure.message)),
        }
    }

    pub(super) fn shown(&mut self, shown: &ReviewShow) -> io::Result<()> {
        let now = (shown.revision, shown.path.clone());
        let before = self.announced.insert(shown.review.clone(), now).map(|(revision, _)| revision);
        if before == Some(shown.revision) {
            return Ok(());
        }
        let added = shown.hunks.iter().map(|hunk| hunk.after_count).sum();
        let removed = shown.hunks.iter().map(|hunk| hunk.before_count).sum();
        let document = json!({
            "event": "review",
            "review": shown.review,
            "revision": shown.revision,
            "path": shown.path,
            "agent": shown.agent,
            "label": shown.label,
            "added": added,
            "removed": removed,
        });
        let again = if before.is_some() { " changed:" } else { "" };
        let review = name(&shown.review);
        let description = shown.description().map(|text| format!(": “{}”", name(text))).unwrap_or_default();
        let text = format!(
            "{}{again} {} {} by {}{description} — linkspan show {review}",
            styled(HEAD, &review),
            relative(&shown.path, &self.folders),
            lines_changed(added, removed),
            name(&shown.agent)
        );
        self.print(&document, &text)
    }

    pub(super) fn waiting(&self, waiting: &ReviewWaiting) -> io::Result<()> {
        let ReviewWaiting { review, owner_gone } = waiting;
        let document = json!({ "event": "waiting", "review": review, "ownerGone": owner_gone });
        let review = name(review);
        let state = if *owner_gone {
            format!("agent gone: it no longer waits for the decision — linkspan show {review}")
        } else {
            "its agent waits for the decision again".to_owned()
        };
        self.print(&document, &format!("{} {state}", styled(HEAD, &review)))
    }

    pub(super) fn hidden(&mut self, hidden: &ReviewHide) -> io::Result<()> {
        self.announced.remove(&hidden.review);
        let document = json!({ "event": "settled", "review": hidden.review, "reason": hidden.reason });
        let text = format!("{} {}", styled(HEAD, &name(&hidden.review)), hide_reason(&hidden.reason));
        self.print(&document, &text)
    }

    pub(super) fn permission_asked(&self, request: &UserAsk) -> io::Result<()> {
        let document = json!({
            "event": "asked", "ask": request.ask, "question": request.question, "detail": request.detail,
        });
        let (ask, question) = (name(&request.ask), asks::line(&request.question, request.detail.as_deref()));
        let text = format!("{} {question} — linkspan allow {ask}", styled(HEAD, &ask));
        self.print(&document, &text)
    }

    pub(super) fn permission_closed(&self, closed: &UserUnask) -> io::Result<()> {
        let document = json!({ "event": "askOver", "ask": closed.ask });
        self.print(&document, &format!("{} is no longer pending", styled(HEAD, &name(&closed.ask))))
    }

    /// A message of an agent. The hub has escaped invisible characters in it.
    pub(super) fn message(&self, message: &StatusMessage) -> io::Result<()> {
        let document = json!({ "event": "message", "text": message.text, "level": message.level });
        let text = match message.level {
            MessageLevel::Info => name(&message.text),
            MessageLevel::Warning | MessageLevel::Error => styled(WARNING, &name(&message.text)),
        };
        self.print(&document, &text)
    }

    pub(super) fn notice(&self, notice: &Notice) -> io::Result<()> {
        self.warn(&notice.to_string())
    }

    /// The reviews that are still pending when the window closes.
    pub(super) fn pending_at_close(&self) -> io::Result<()> {
        if self.announced.is_empty() {
            return Ok(());
        }
        let pending: Vec<_> = self.announced.iter().collect();
        let reviews: Vec<_> =
            pending.iter().map(|(review, (_, path))| json!({ "review": review, "path": path })).collect();
        let mut text = match pending.len() {
            1 => "The window is closed, and 1 review is still pending:\n".to_owned(),
            many => format!("The window is closed, and {many} reviews are still pending:\n"),
        };
        for (review, (_, path)) in pending {
            text += &format!("  {} {}\n", name(review), relative(path, &self.folders));
        }
        text += "Decide them soon with `linkspan accept` or `linkspan reject`, or run `linkspan serve` here again. After\n\
                 `window_grace_seconds` (120 by default) the window is removed and its agents are disconnected.";
        self.print(&json!({ "event": "closed", "pending": reviews }), &text)
    }

    fn warn(&self, message: &str) -> io::Result<()> {
        if self.json {
            return self.print(&json!({ "event": "notice", "message": message }), "");
        }
        warn(message);
        Ok(())
    }
}
