//! What a window without an editor prints, as text or as one JSON document per line.

use std::collections::BTreeMap;
use std::io;

use linkspan_client::Notice;
use linkspan_editor_api::{
    AttachResult, HideReason, MessageLevel, ReviewHide, ReviewShow, ReviewWaiting, StatusMessage, UserAsk,
    UserUnask,
};
use serde_json::{Value, json};

use crate::asks;
use crate::exit::Failure;
use crate::output::{DIM, HEAD, WARNING, change, decided, print, relative, styled, warn};
use crate::page::Link;
use crate::visible::name;

pub(super) struct Says {
    folders: Vec<String>,
    json: bool,
    /// The revisions that were announced, and of which file: a new hub shows all of them again.
    announced: BTreeMap<String, (u32, String)>,
}

impl Says {
    pub(super) fn new(folders: Vec<String>, json: bool) -> Says {
        Says { folders, json, announced: BTreeMap::new() }
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
        text += "Start an agent in one of the folders. Decide with `linkspan reviews`, `linkspan show latest`,\n\
                 `linkspan accept latest` and `linkspan reject latest`. Ctrl-C closes the window.\n";
        self.print(&document, &text)
    }

    /// The window is open with or without it.
    pub(super) fn page(&self, link: Result<Link, Failure>) -> io::Result<()> {
        match link {
            Ok(link) => self.print(&link.event(), &link.text()),
            Err(failure) => self.trouble(&format!("there is no page to open: {}", failure.message)),
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
        let said = shown.description().map(|text| format!(": “{}”", name(text))).unwrap_or_default();
        let text = format!(
            "{}{again} {} {} by {}{said} — linkspan show {review}",
            styled(HEAD, &review),
            relative(&shown.path, &self.folders),
            change(added, removed),
            name(&shown.agent)
        );
        self.print(&document, &text)
    }

    pub(super) fn waiting(&self, waiting: &ReviewWaiting) -> io::Result<()> {
        let ReviewWaiting { review, owner_gone } = waiting;
        let document = json!({ "event": "waiting", "review": review, "ownerGone": owner_gone });
        let review = name(review);
        let how = if *owner_gone {
            format!("agent gone: it no longer waits for the answer — linkspan show {review}")
        } else {
            "its agent waits for the answer again".to_owned()
        };
        self.print(&document, &format!("{} {how}", styled(HEAD, &review)))
    }

    pub(super) fn hidden(&mut self, hidden: &ReviewHide) -> io::Result<()> {
        self.announced.remove(&hidden.review);
        let document = json!({ "event": "settled", "review": hidden.review, "reason": hidden.reason });
        let text = format!("{} {}", styled(HEAD, &name(&hidden.review)), why(&hidden.reason));
        self.print(&document, &text)
    }

    pub(super) fn asked(&self, asked: &UserAsk) -> io::Result<()> {
        let document = json!({
            "event": "asked", "ask": asked.ask, "question": asked.question, "detail": asked.detail,
        });
        let (ask, question) = (name(&asked.ask), asks::line(&asked.question, asked.detail.as_deref()));
        let text = format!("{} {question} — linkspan allow {ask}", styled(HEAD, &ask));
        self.print(&document, &text)
    }

    pub(super) fn ask_over(&self, over: &UserUnask) -> io::Result<()> {
        let document = json!({ "event": "askOver", "ask": over.ask });
        self.print(&document, &format!("{} is over", styled(HEAD, &name(&over.ask))))
    }

    /// What an agent says, in its own name. It comes with what cannot be seen made visible.
    pub(super) fn message(&self, message: &StatusMessage) -> io::Result<()> {
        let document = json!({ "event": "message", "text": message.text, "level": message.level });
        let text = match message.level {
            MessageLevel::Info => name(&message.text),
            MessageLevel::Warning | MessageLevel::Error => styled(WARNING, &name(&message.text)),
        };
        self.print(&document, &text)
    }

    pub(super) fn notice(&self, notice: &Notice) -> io::Result<()> {
        self.trouble(&notice.to_string())
    }

    /// What is still pending when the window closes.
    pub(super) fn left_behind(&self) -> io::Result<()> {
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
                 `window_grace_seconds` (120 unless you set it) agents are told that the window is gone.";
        self.print(&json!({ "event": "closed", "pending": reviews }), &text)
    }

    fn trouble(&self, message: &str) -> io::Result<()> {
        if self.json {
            return self.print(&json!({ "event": "notice", "message": message }), "");
        }
        warn(message);
        Ok(())
    }
}

fn why(reason: &HideReason) -> String {
    match reason {
        HideReason::Decided { by, verdict } => format!("{} in {}", decided(*verdict), name(by)),
        HideReason::Withdrawn => "withdrawn by its agent".into(),
        HideReason::Superseded => "superseded by a newer one".into(),
        HideReason::Failed { error } => name(error),
    }
}
