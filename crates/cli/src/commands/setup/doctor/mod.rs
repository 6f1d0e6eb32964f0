//! `linkspan doctor`: where Linkspan looked, what it found, why each editor was refused, and what to do about it. Starts
//! nothing and changes nothing.

mod files;
mod startup;

use linkspan_client::discover::{CandidateVerdict, Discovery, LookupResult, Reason};
use linkspan_client::{Candidate, ConnectError, Connection};
use linkspan_editor_api::HubStatus;
use serde_json::{Value, json};

use crate::cli::context::{CliContext, GreetError, greet};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{ADDED, DIM, REMOVED, Report, WARNING, age, count, styled};
use crate::cli::window::{
    Choice, WindowOptions, ask, choose_among, described, here, is_twin, known, open, surroundings,
};
use crate::visible::name;

/// Find out why an editor is not found or something fails.
///
/// Exit code 1 if something needs attention. Starts and changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    window: WindowOptions,
}

/// The result of one check.
#[derive(Debug)]
struct Finding {
    level: Level,
    subject: &'static str,
    found: String,
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Good,
    /// Worth knowing; needs no action.
    Note,
    Bad,
}

impl Finding {
    fn good(subject: &'static str, found: impl Into<String>) -> Finding {
        Finding { level: Level::Good, subject, found: found.into(), remedy: None }
    }

    fn note(subject: &'static str, found: impl Into<String>) -> Finding {
        Finding { level: Level::Note, ..Finding::good(subject, found) }
    }

    fn bad(subject: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Bad, remedy: Some(remedy.into()), ..Finding::good(subject, found) }
    }
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let here = here()?;
    let mut findings = vec![Finding::good("program", program())];
    let hub_started_at_ms = hub(cli, &mut findings);
    findings.extend(files::config(cli, &here, hub_started_at_ms));
    findings.extend(files::clients(&cli.places));
    findings.extend(files::storage(&cli.places));
    findings.extend(files::journal(&cli.places));
    findings.extend(files::hooks(cli));
    let discovery = startup::discovered(&surroundings(&here)?);
    looked_in(&discovery, &mut findings);
    findings.extend(discovery.candidates.iter().filter(|one| !is_twin(one)).map(editor));
    findings.push(used(args, cli, &discovery));
    Ok(report(&findings))
}

fn program() -> String {
    let file = std::env::current_exe().map(|path| format!(" ({})", path.display())).unwrap_or_default();
    format!("linkspan {}{file}", env!("CARGO_PKG_VERSION"))
}

/// Returns when the running hub started.
fn hub(cli: &CliContext, findings: &mut Vec<Finding>) -> Option<u64> {
    let runtime = cli.places.runtime.display();
    let (mut control, hello) = match greet(|| cli.connect()) {
        Ok(greeted) => greeted,
        Err(GreetError::Connect(ConnectError::NoHub { socket })) => {
            let text = format!("none is running at {}; it starts when it is needed", socket.display());
            findings.push(Finding::note("hub", text));
            return None;
        }
        Err(GreetError::Connect(
            error @ (ConnectError::RuntimeDir(_) | ConnectError::Places(_) | ConnectError::OtherUser { .. }),
        )) => {
            let remedy =
                format!("The hub needs a safe {runtime}: correct that, then run `linkspan doctor` again.");
            findings.push(Finding::bad("hub", error.to_string(), remedy));
            return None;
        }
        Err(error) => {
            let message = Failure::from(error).message;
            let remedy =
                "See `linkspan hub log`; `linkspan hub stop --force` stops the hub, and nothing is lost.";
            findings.push(Finding::bad("hub", message, remedy));
            return None;
        }
    };
    if hello.version != env!("CARGO_PKG_VERSION") {
        let text =
            format!("it has version {}, and this program has {}", hello.version, env!("CARGO_PKG_VERSION"));
        findings.push(Finding::bad(
            "hub",
            text,
            "Run `linkspan hub stop`; it starts again when it is needed.",
        ));
    }
    match control.request(&HubStatus {}) {
        Ok(status) => {
            let text = format!(
                "version {}, pid {}, up {}, {}, at {}",
                status.version,
                status.pid,
                age(status.uptime_ms),
                count(status.windows.len() as u64, "window"),
                status.socket
            );
            findings.push(Finding::good("hub", text));
            for problem in &status.problems {
                findings.push(Finding::bad("hub", problem, "The message says what to do."));
            }
            for window in &status.windows {
                for problem in window.dialects.iter().flat_map(|dialect| &dialect.problems) {
                    let remedy = "Agents with this protocol cannot find the window until that is corrected.";
                    findings.push(Finding::bad("hub", format!("{}: {problem}", window.window), remedy));
                }
            }
            for (reason, attempts) in &status.refused {
                let text = format!("refused {}: {reason}", count(*attempts, "attempt"));
                findings.push(Finding::note("hub", text));
            }
        }
        Err(error) => findings.push(Finding::bad("hub", error.to_string(), "See `linkspan hub log`.")),
    }
    Some(hello.started_at_ms)
}

fn looked_in(discovery: &Discovery, findings: &mut Vec<Finding>) {
    for place in &discovery.looked_in {
        let text = format!("{}: {}", place.place.display(), place.found);
        findings.push(match &place.found {
            LookupResult::OtherOwner { .. } => Finding::bad(
                "looked in",
                text,
                "Make the directory yours, or remove it; agents use the same one.",
            ),
            LookupResult::Failed(_) => Finding::bad("looked in", text, "Make it readable."),
            _ => Finding::good("looked in", text),
        });
    }
    for path in &discovery.removed {
        findings.push(Finding::note("looked in", format!("removed {}: its hub is gone", path.display())));
    }
}

/// A refused editor is only a note: another one may be in use.
fn editor(candidate: &Candidate) -> Finding {
    let what = described(candidate);
    match &candidate.verdict {
        CandidateVerdict::Usable => Finding::good("editor", format!("{what}: answers and fits this folder")),
        CandidateVerdict::Not(reason) => {
            let remedy = (*reason != Reason::OtherWorkspace).then(|| reason.remedy().to_owned());
            Finding { remedy, ..Finding::note("editor", format!("{what}: {reason}")) }
        }
    }
}

fn used(args: &Args, cli: &CliContext, discovery: &Discovery) -> Finding {
    let chosen = match choose_among(&args.window, cli, || Ok(discovery.clone())) {
        Ok(Choice::Window(chosen)) => *chosen,
        // The message says what to do.
        Ok(Choice::NoneFits(failure)) | Err(failure) => {
            return Finding { level: Level::Bad, ..Finding::good("used here", failure.message) };
        }
    };
    let what = described(known(discovery, &chosen.candidate));
    let tools = open(&chosen.candidate, cli).and_then(|connection| ask(connection, Connection::tools));
    match tools {
        Ok(tools) => {
            let tools = count(tools.len() as u64, "tool");
            Finding::good("used here", format!("{what}: {}; offers {tools}", chosen.why()))
        }
        Err(failure) => {
            const REMEDY: &str =
                "Choose another with `--window` or `linkspan ide connect`, or reload its window.";
            Finding::bad("used here", format!("{what}, {}: {}", chosen.why(), failure.message), REMEDY)
        }
    }
}

fn report(findings: &[Finding]) -> Report {
    let bad = findings.iter().filter(|finding| finding.level == Level::Bad).count();
    let listed: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "level": label(finding.level),
                "subject": finding.subject,
                "found": finding.found,
                "remedy": finding.remedy,
            })
        })
        .collect();
    let mut text: String = findings.iter().map(render).collect();
    text += &match bad {
        0 => styled(ADDED, "everything is fine"),
        bad => {
            let needs = if bad == 1 { "needs" } else { "need" };
            styled(REMOVED, &format!("{} {needs} attention", count(bad as u64, "thing")))
        }
    };
    let exit = if bad == 0 { Exit::Ok } else { Exit::Negative };
    Report::new(text, json!({ "healthy": bad == 0, "findings": listed })).ending(exit)
}

fn label(level: Level) -> &'static str {
    match level {
        Level::Good => "ok",
        Level::Note => "note",
        Level::Bad => "bad",
    }
}

fn render(finding: &Finding) -> String {
    let style = match finding.level {
        Level::Good => ADDED,
        Level::Note => WARNING,
        Level::Bad => REMOVED,
    };
    let level = styled(style, &format!("{:<4}", label(finding.level)));
    let mut text = format!("{level}  {:<9}  {}\n", finding.subject, name(&finding.found));
    if let Some(remedy) = &finding.remedy {
        text += &format!("{:17}{}\n", "", styled(DIM, &name(remedy)));
    }
    text
}
