//! Hosted agents as processes: one message per line on standard input and output, each in its own process group, ended
//! when the hub says so or ends itself. What the lines mean is decided in the core.

pub(crate) mod lines;
mod process;
pub(crate) mod table;

use linkspan_review::AgentId;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::time::timeout;

use crate::core::Event;
use crate::core::contract::ChildCommand;
use crate::edge::Edge;
use crate::edge::outbox::{self, Inbox, Outbox, SEND_DEADLINE};
use crate::edge::ws::agent::ToAgent;
use lines::{LineError, Lines};
use process::Process;

/// A frame may carry the whole text of a file. A program that sends more than this in one line is not an agent.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Bytes that may wait for an agent that does not read.
const UNREAD: usize = 64 * 1024 * 1024;

/// Starts the process. What is put into the outbox goes to its standard input.
pub(crate) fn start(edge: &Edge, agent: AgentId, command: ChildCommand) -> Outbox<ToAgent> {
    let (outbox, inbox) = outbox::new(UNREAD);
    let edge = edge.clone();
    tokio::spawn(async move {
        let why = match Process::start(agent, &command) {
            Ok((process, stdin, stdout)) => {
                attend(agent, process, stdin, Lines::new(stdout, LONGEST_LINE), inbox, &edge).await
            }
            Err(error) => format!("{} could not be started: {error}", command.program.display()),
        };
        edge.send_event(Event::ChildEnded { agent, why }).await;
    });
    outbox
}

/// Why the writing ended.
enum Written {
    /// The conversation is closed, or the hub ends.
    Closed { in_hurry: bool },
    /// The agent does not take what it is sent.
    Stuck,
}

/// Talks to the process until it ends; returns why it did.
async fn attend(
    agent: AgentId,
    mut process: Process,
    stdin: ChildStdin,
    mut lines: Lines<tokio::process::ChildStdout>,
    inbox: Inbox<ToAgent>,
    edge: &Edge,
) -> String {
    let read = async {
        loop {
            match lines.next().await {
                Ok(Some(text)) => {
                    if !edge.send_event(Event::AgentFrame { agent, text, exchange: None }).await {
                        return None;
                    }
                }
                Ok(None) => return None,
                Err(error) => return Some(error),
            }
        }
    };
    tokio::select! {
        // What it said before its end counts.
        biased;
        read = read => match read {
            None => process.ended().await,
            Some(LineError::TooLong) => {
                process.end(false).await;
                format!("it sent a line of more than {} MiB and was stopped", LONGEST_LINE / 1024 / 1024)
            }
            Some(LineError::Read(error)) => {
                process.end(false).await;
                format!("reading from it failed: {error}")
            }
        },
        // Something that it started may keep its output open.
        () = process.exited() => process.ended().await,
        written = write(stdin, inbox) => match written {
            Written::Closed { in_hurry } => {
                process.end(in_hurry).await;
                "the conversation was closed".to_owned()
            }
            Written::Stuck => {
                // Its end closes its input, too.
                let why = process.ended().await;
                format!("it does not read its input; {why}")
            }
        },
    }
}

/// Closes the input when it returns.
async fn write(mut stdin: ChildStdin, mut inbox: Inbox<ToAgent>) -> Written {
    let cut_off = inbox.cut_off();
    let write = async {
        loop {
            match inbox.recv().await {
                Some(ToAgent::Text(mut text)) => {
                    text.push('\n');
                    let sent = async {
                        stdin.write_all(text.as_bytes()).await?;
                        stdin.flush().await
                    };
                    if !matches!(timeout(SEND_DEADLINE, sent).await, Ok(Ok(()))) {
                        return Written::Stuck;
                    }
                }
                Some(ToAgent::Close { .. }) => return Written::Closed { in_hurry: false },
                Some(_) => {}
                None => return Written::Closed { in_hurry: true },
            }
        }
    };
    tokio::select! {
        written = write => written,
        () = cut_off => Written::Stuck,
    }
}
