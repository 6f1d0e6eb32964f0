//! What `linkspan try` prints: numbered steps, or one JSON document per line. On a terminal the last line shows which
//! decisions are pending, and is overwritten by the next output.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use linkspan_client::connection::ChangeOutcome;
use linkspan_editor_api::{HistoryEntry, ReviewEnded, ReviewShow, labels};
use serde_json::{Value, json};

use super::sample::Proposal;
use crate::cli::output::{self, ADDED, DIM, HEAD, REMOVED, WARNING, count, lines_changed, styled};
use crate::commands::review::page::BrowserLink;
use crate::visible::{code, name};

const STEP: Style = AnsiColor::Cyan.on_default().bold();
const INDENT: &str = "   ";

pub(super) struct Printer {
    json: bool,
    /// Runs unattended, so a closed output is not an error.
    auto: bool,
    /// Whether a line can be overwritten.
    live: bool,
    steps: u32,
    /// The last line is to be overwritten.
    waiting: bool,
    /// How the user starts this program.
    program: String,
}

/// How one proposal ended.
pub(super) struct Outcome<'a> {
    pub(super) review: &'a str,
    pub(super) proposal: &'a Proposal,
    pub(super) decided: &'a ChangeOutcome,
    /// Its history entry.
    pub(super) entry: Option<&'a HistoryEntry>,
    /// The content of the file afterwards.
    pub(super) content: Option<&'a [u8]>,
}

impl Printer {
    pub(super) fn new(json: bool, auto: bool) -> Printer {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let live = !json && !dumb && io::stdout().is_terminal();
        // A user who tries Linkspan may not have installed it.
        let program = std::env::args().next().unwrap_or_else(|| "linkspan".into());
        Printer { json, auto, live, steps: 0, waiting: false, program: name(&program) }
    }

    pub(super) fn project(&mut self, folder: &str) -> io::Result<()> {
        self.print(json!({ "event": "project", "folder": folder }), || {
            styled(HEAD, "Linkspan: an agent proposes a change, you decide, and only then the file changes.")
                + "\n\n"
        })?;
        let text = format!("{}\n", name(folder));
        self.step("A sample project", &[text])
    }

    pub(super) fn window(&mut self, window: &str, port: u16, lock: &str) -> io::Result<()> {
        let document = json!({ "event": "window", "window": window, "port": port, "lockFile": lock });
        self.print(document, String::new)?;
        let lines = [
            format!("{} on 127.0.0.1:{port}\n", name(window)),
            format!("agents find it through {}\n", name(lock)),
        ];
        self.step("A window on it, instead of an editor", &lines)
    }

    pub(super) fn context(&mut self, answers: &[(&'static str, String)]) -> io::Result<()> {
        let listed: serde_json::Map<_, _> =
            answers.iter().map(|(what, answer)| ((*what).to_owned(), json!(answer))).collect();
        self.print(json!({ "event": "context", "answers": listed }), String::new)?;
        let lines = answers
            .iter()
            .map(|(what, answer)| format!("{}{}\n", styled(DIM, &format!("{what:<20}")), name(answer)));
        let lines: Vec<String> = lines.collect();
        self.step("The demo agent connects as Claude Code does, and asks about the editor", &lines)
    }

    pub(super) fn proposed(&mut self, all: &[(&Proposal, &ReviewShow)]) -> io::Result<()> {
        let mut lines = Vec::new();
        for (proposal, shown) in all {
            let added = shown.hunks.iter().map(|hunk| hunk.after_count).sum();
            let removed = shown.hunks.iter().map(|hunk| hunk.before_count).sum();
            let document = json!({
                "event": "proposed",
                "review": shown.review,
                "path": shown.path,
                "hunks": shown.hunks.len(),
                "added": added,
                "removed": removed,
                "newFile": shown.new_file,
            });
            self.print(document, String::new)?;
            lines.push(format!(
                "{}  {:<12} {:<6} {}\n",
                styled(HEAD, &name(&shown.review)),
                proposal.name,
                lines_changed(added, removed),
                styled(DIM, proposal.about)
            ));
        }
        self.step("It proposes three changes, and waits", &lines)
    }

    pub(super) fn your_turn(&mut self, page: Result<&BrowserLink, &str>) -> io::Result<()> {
        let mut lines = Vec::new();
        match page {
            Ok(link) => {
                self.print(link.event(), String::new)?;
                lines.extend(link.text().lines().map(|line| format!("{line}\n")));
            }
            Err(why) => {
                self.print(json!({ "event": "noPage", "message": why }), String::new)?;
                lines.push(format!("The page is not available: {}\n", name(why)));
            }
        }
        lines.push("\n".into());
        let command = |words: &str| styled(HEAD, &format!("{} {words}", self.program));
        lines.push(format!(
            "Or decide in another terminal: {} (new link: {})\n",
            command("review"),
            command("page")
        ));
        lines.push("Accept, reject, edit or comment on each change. Ctrl-C ends it and cleans up.\n".into());
        self.step("Your turn: review them", &lines)?;
        self.blank()
    }

    pub(super) fn scripted(&mut self) -> io::Result<()> {
        let lines =
            ["It accepts two hunks of three, rejects the new file and accepts the last change.\n".to_owned()];
        self.step("A script decides instead of you, through the hub as any command does", &lines)?;
        self.blank()
    }

    /// The proposals that are not decided yet.
    pub(super) fn waiting(&mut self, names: &[String]) -> io::Result<()> {
        if !self.live || names.is_empty() {
            return Ok(());
        }
        self.clear()?;
        let line = format!("{INDENT}… waiting for you: {}", names.join(", "));
        let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col);
        let line: String = line.chars().take(width(columns).saturating_sub(1)).collect();
        let mut out = anstream::stdout().lock();
        write!(out, "{}", styled(WARNING, &line))?;
        self.waiting = true;
        out.flush()
    }

    pub(super) fn decided(&mut self, outcome: &Outcome<'_>) -> io::Result<()> {
        let Outcome { review, proposal, decided: answer, entry, content } = outcome;
        let by = entry.and_then(|entry| entry.decided_by.as_deref());
        let reason = entry.and_then(|entry| match &entry.ended {
            ReviewEnded::Rejected { reason } => reason.as_deref(),
            _ => None,
        });
        let comments = entry.map(|entry| entry.comments.as_slice()).unwrap_or_default();
        let document = json!({
            "event": "decided",
            "review": review,
            "file": proposal.name,
            "accepted": answer.is_accepted(),
            "written": answer.written,
            "by": by,
            "reason": reason,
            "comments": comments,
            "bytes": content.map(<[u8]>::len),
        });
        let verdict = match entry.map(|entry| &entry.ended) {
            Some(ReviewEnded::Accepted { taken, .. }) => labels::verdict(labels::verdict_of(*taken)),
            _ if answer.is_accepted() => "accepted",
            _ => "rejected",
        };
        let style = if answer.is_accepted() { ADDED } else { REMOVED };
        let place = by.map_or_else(String::new, |by| format!(", in {}", name(by)));
        let head = format!(
            "{}  {:<12} {}{place}",
            styled(HEAD, &name(review)),
            proposal.name,
            styled(style, verdict)
        );
        let mut lines = vec![head, agent_action(outcome)];
        if let Some(reason) = reason {
            lines.push(format!("Reason: “{}”", name(reason)));
        }
        lines.extend(comments.iter().map(|one| format!("Line {}: “{}”", one.line, name(&one.text))));
        if reason.is_some() || !comments.is_empty() {
            lines.push("This protocol does not support comments; they are kept in the history.".into());
        }
        self.print(document, || {
            let lines = lines.iter().enumerate().map(|(index, line)| match index {
                0 => format!("{INDENT}{line}\n"),
                _ => format!("{INDENT}    {}\n", styled(DIM, line)),
            });
            lines.collect()
        })
    }

    pub(super) fn notice(&mut self, message: &str) -> io::Result<()> {
        self.print(json!({ "event": "notice", "message": message }), || {
            format!("{INDENT}{}\n", styled(WARNING, &name(message)))
        })
    }

    /// The diffs of the files that changed.
    pub(super) fn changed(&mut self, diffs: &[String]) -> io::Result<()> {
        self.blank()?;
        let lines: Vec<String> =
            diffs.iter().flat_map(|diff| diff.lines().map(|line| format!("{}\n", painted(line)))).collect();
        if lines.is_empty() {
            return self.step("Nothing changed on disk", &[]);
        }
        self.step("These changes were written, and nothing else", &lines)
    }

    /// `accepted` is a review that can be undone.
    pub(super) fn look_around(&mut self, folder: &str, accepted: Option<&str>) -> io::Result<()> {
        self.blank()?;
        let command = |words: &str| styled(HEAD, &format!("{} {words}", self.program));
        let mut lines = vec![
            format!("The files are in {}\n", name(folder)),
            format!("Show what was decided: {}\n", command("history")),
        ];
        lines.extend(accepted.map(|review| {
            format!("Undo a change:         {}\n", command(&format!("undo {}", name(review))))
        }));
        self.step("Look around; press Enter to quit", &lines)
    }

    pub(super) fn done(&mut self, folder: &str, kept: bool, auto: bool) -> io::Result<()> {
        let document = json!({ "event": "done", "folder": folder, "kept": kept });
        let program = self.program.clone();
        self.print(document, || {
            let mut text = String::from("\n");
            if auto {
                text += &format!("{INDENT}Every file holds exactly what was decided.\n");
            }
            text += &match kept {
                true => format!("{INDENT}The files are kept in {}\n", name(folder)),
                false => format!("{INDENT}The sample project was removed; `--keep` keeps it.\n"),
            };
            text + &format!(
                "{INDENT}Next: run {} in a project of yours, and start your agent there.\n",
                styled(HEAD, &format!("{program} serve"))
            )
        })
    }

    pub(super) fn interrupted(&mut self, closed: bool) -> io::Result<()> {
        self.print(json!({ "event": "left", "closed": closed }), || match closed {
            true => format!("\n{INDENT}The changes are withdrawn and the window is closed.\n"),
            false => String::new(),
        })
    }

    /// The hub did not confirm that the window is closed.
    pub(super) fn still_open(&mut self) -> io::Result<()> {
        self.notice(
            "the hub did not confirm in time that the window is closed; it removes it after a while (see \
             `linkspan status`)",
        )
    }

    fn step(&mut self, title: &str, lines: &[String]) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        self.clear()?;
        self.steps += 1;
        let mut text = format!("{}  {}\n", styled(STEP, &self.steps.to_string()), styled(HEAD, title));
        for line in lines {
            text += &format!("{INDENT}{line}");
        }
        self.ignore_closed(output::print(None, &text))
    }

    fn blank(&mut self) -> io::Result<()> {
        if self.json || self.waiting { Ok(()) } else { self.ignore_closed(writeln!(io::stdout())) }
    }

    fn print(&mut self, document: Value, text: impl FnOnce() -> String) -> io::Result<()> {
        if self.json {
            return self.ignore_closed(output::print(Some(&document), ""));
        }
        self.clear()?;
        let mut out = anstream::stdout().lock();
        self.ignore_closed(write!(out, "{}", text()).and_then(|()| out.flush()))
    }

    /// An unattended run continues if its output is closed.
    fn ignore_closed(&self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if self.auto && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Removes the line that shows the pending decisions.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.waiting) {
            // Not through anstream, which may remove escape sequences.
            write!(io::stdout(), "\r\u{1b}[K")?;
        }
        Ok(())
    }
}

/// Some terminals report a width of 0.
fn width(columns: u16) -> usize {
    if columns == 0 { 80 } else { columns.into() }
}

/// The answer that the agent received, and what it did.
fn agent_action(outcome: &Outcome<'_>) -> String {
    let Outcome { proposal, decided, content, .. } = outcome;
    if !decided.is_accepted() {
        return "The agent received DIFF_REJECTED and wrote nothing.".into();
    }
    let bytes = count(content.map_or(0, |content| content.len() as u64), "byte");
    let endings = match (proposal.before.map(str::as_bytes), content) {
        (Some(before), Some(content)) if is_crlf(before) && is_crlf(content) => {
            "; all lines still end in CR LF"
        }
        _ => "",
    };
    format!("The agent received FILE_SAVED and wrote {bytes}{endings}.")
}

fn is_crlf(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.split_inclusive(|byte| *byte == b'\n').all(|line| line.ends_with(b"\r\n"))
}

fn painted(line: &str) -> String {
    let style = match line.as_bytes() {
        [b'+', b'+', ..] | [b'-', b'-', ..] => HEAD,
        [b'+', ..] => ADDED,
        [b'-', ..] => REMOVED,
        [b'@', ..] => DIM,
        _ => Style::new(),
    };
    styled(style, &code(line.trim_end_matches('\r')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_without_a_width_counts_as_80_columns() {
        assert_eq!((width(0), width(7)), (80, 7));
    }
}
