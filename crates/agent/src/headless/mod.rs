//! One prompt without a screen: `-p PROMPT`, or the prompt on stdin. Prints the answer, or one JSON line per event, and
//! ends with a code that says how it went. Knows only the host.

mod asker;
mod exit;
mod line;
mod output;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use linkspan_client::confirm::{Console, TerminalPrompt};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

pub use asker::NOBODY;
pub use exit::Exit;
pub use line::Line;

use asker::Asker;
use output::HeadlessOutput;

use crate::conversation::{Question, TurnEvent};
use crate::host::{AgentId, AgentSettings, HostCommand, HostHandle, Occurred};

/// A longer prompt is a mistake.
const LONGEST_PROMPT: usize = 10 * 1024 * 1024;

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct HeadlessOptions {
    /// The prompt; if there is none, it is read from stdin.
    pub prompt: Option<String>,
    /// Print one JSON line per event.
    pub json: bool,
    /// How the agent starts.
    pub settings: AgentSettings,
}

/// Runs one turn with the streams and signals of this process. The caller ends the host afterwards.
pub async fn run(host: HostHandle, options: HeadlessOptions) -> Exit {
    let (interrupt, interrupts) = mpsc::unbounded_channel();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        // Without the handler, the signal ends the process, which is what it is for.
        if let Ok(mut signal) = signal(kind) {
            let interrupt = interrupt.clone();
            tokio::spawn(async move { while signal.recv().await.is_some() && interrupt.send(()).is_ok() {} });
        }
    }
    // Only if the user looks at it: a console behind a redirected output would ask in a script.
    let attended = io::stdin().is_terminal() && io::stderr().is_terminal() && !options.json;
    let console = attended.then(Console::open).and_then(Result::ok);
    let console = console.map(|console| Arc::new(console) as Arc<dyn TerminalPrompt + Send + Sync>);
    let streams = Streams {
        input: tokio::io::stdin(),
        out: &mut io::stdout(),
        err: &mut io::stderr(),
        guarded: io::stdout().is_terminal(),
        console,
        interrupts,
    };
    run_on(host, options, streams).await
}

/// What a run reads and writes.
struct Streams<'a, I> {
    input: I,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    guarded: bool,
    console: Option<Arc<dyn TerminalPrompt + Send + Sync>>,
    interrupts: mpsc::UnboundedReceiver<()>,
}

async fn run_on<I: AsyncRead + Unpin>(
    host: HostHandle,
    options: HeadlessOptions,
    streams: Streams<'_, I>,
) -> Exit {
    let Streams { input, out, err, guarded, console, mut interrupts } = streams;
    let mut output = HeadlessOutput { out, err, json: options.json, guarded, open_line: false };
    let prompt = tokio::select! {
        prompt = prompt(options.prompt, input) => prompt,
        _ = interrupts.recv() => return Exit::Cancelled,
    };
    let prompt = match prompt {
        Ok(prompt) => prompt,
        Err(error) => return fail(&mut output, error, Exit::Usage),
    };
    // Before the agent starts, so that no event of it is missed.
    let mut events = host.subscribe();
    let agent = match host.ask(|reply| HostCommand::New { settings: options.settings, reply }).await {
        Ok(Ok(agent)) => agent,
        Ok(Err(error)) => return fail(&mut output, error, Exit::Usage),
        Err(error) => return fail(&mut output, error.to_string(), Exit::Failed),
    };
    let mut asker = Asker::new(host.clone(), console);
    let status = host.ask(|reply| HostCommand::Status { reply }).await.unwrap_or_default();
    if let Some(status) = status.into_iter().find(|status| status.agent == agent) {
        let start = Line::Start {
            agent: status.name,
            model: status.model,
            mode: status.mode,
            session: status.session,
        };
        if output.print(&start).is_err() {
            return Exit::Failed;
        }
    }
    host.send(HostCommand::Prompt { agent, text: prompt });
    let (mut interrupted, mut is_prompted) = (false, false);
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            Some(()) = interrupts.recv() => {
                if std::mem::replace(&mut interrupted, true) {
                    // The second time, the user does not want to wait for anything.
                    return Exit::Cancelled;
                }
                host.send(HostCommand::Cancel { agent });
                continue;
            }
        };
        let Some(event) = event else {
            return fail(&mut output, "the agent ended before the answer".to_owned(), Exit::Failed);
        };
        let asked = ask(&mut output, &mut asker, event.agent.unwrap_or(agent), &event.what);
        let is_own = event.agent.is_none_or(|whose| whose == agent);
        if is_own && event.what == Occurred::Shown(TurnEvent::Prompted) {
            is_prompted = true;
        }
        // A turn that was resumed ends first.
        let is_end_before =
            is_own && !is_prompted && matches!(event.what, Occurred::Shown(TurnEvent::Ended { .. }));
        if is_end_before && interrupted {
            host.send(HostCommand::Cancel { agent });
        }
        let shown = if is_own && !is_end_before {
            asked.and_then(|()| show(&mut output, &event.what))
        } else {
            asked.map(|()| None)
        };
        match shown {
            // Nobody reads the output any longer, so nothing more may happen.
            Err(_) => {
                host.send(HostCommand::Cancel { agent });
                return Exit::Failed;
            }
            Ok(Some(exit)) => return exit,
            Ok(None) => {}
        }
    }
}

/// Questions of helpers that the agent started are asked too: nobody else would answer them.
fn ask(
    output: &mut HeadlessOutput<'_>,
    asker: &mut Asker,
    agent: AgentId,
    what: &Occurred,
) -> io::Result<()> {
    match what {
        Occurred::Ask { question, ask } => {
            let (kind, call) = match ask {
                Question::Permission { call, .. } => ("permission", call),
                Question::Repeated { call, .. } => ("repeated", call),
            };
            let (id, tool) = (call.id.clone(), call.name.clone());
            asker.ask(agent, *question, ask);
            output.print(&Line::Question { kind, id, tool, asked: asker.place() })
        }
        Occurred::AskChange(asked) => {
            let (id, tool) = (asked.call_id.clone(), asked.question.tool.clone());
            asker.ask_change(asked);
            output.print(&Line::Question { kind: "change", id, tool, asked: asker.place() })
        }
        Occurred::QuestionClosed { question } => {
            asker.close_question(agent, *question);
            Ok(())
        }
        Occurred::ChangeClosed { change } => {
            asker.close_change(*change);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns how the run ended, if it did.
fn show(output: &mut HeadlessOutput<'_>, what: &Occurred) -> io::Result<Option<Exit>> {
    if let Occurred::Shown(TurnEvent::Call(call)) = what {
        output.call(call)?;
    }
    if let Some(line) = Line::of(what) {
        output.print(&line)?;
    }
    Ok(match what {
        Occurred::Shown(TurnEvent::Ended { end, .. }) => Some((*end).into()),
        Occurred::Closed => Some(Exit::Failed),
        _ => None,
    })
}

fn fail(output: &mut HeadlessOutput<'_>, text: String, exit: Exit) -> Exit {
    // If that cannot be printed either, the exit code says it.
    let _ = if output.json { output.print(&Line::Error { text }) } else { output.note(&text) };
    exit
}

async fn prompt(given: Option<String>, mut input: impl AsyncRead + Unpin) -> Result<String, String> {
    let prompt = match given {
        Some(prompt) => prompt,
        None => {
            let mut bytes = Vec::new();
            let limit = u64::try_from(LONGEST_PROMPT).unwrap_or(u64::MAX).saturating_add(1);
            let read = (&mut input).take(limit).read_to_end(&mut bytes).await;
            read.map_err(|error| format!("cannot read the prompt from stdin: {error}"))?;
            String::from_utf8(bytes).map_err(|_| "the prompt on stdin is not UTF-8".to_owned())?
        }
    };
    if prompt.len() > LONGEST_PROMPT {
        return Err(
            "the prompt is longer than 10 MB: put it into a file, and mention that with @FILE".to_owned()
        );
    }
    if prompt.trim().is_empty() {
        return Err("the prompt is empty: pass one with -p, or on stdin".to_owned());
    }
    Ok(prompt)
}
