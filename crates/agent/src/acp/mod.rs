//! The agent over stdio in version 1 of the Agent Client Protocol: reads lines, writes lines, and asks the host. What the
//! messages mean is in `client.rs`. Knows only the host.

mod client;
mod content;
mod rpc;
mod servers;
mod session;
mod update;

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::task::JoinSet;

use client::{Act, Client, Errand, OpenError, Opened};
use rpc::{INVALID_REQUEST, Incoming, LONGEST_LINE, Line, Lines};

use crate::host::{AgentId, AgentSettings, AgentSummary, HostCommand, HostHandle, SessionSummary};

/// How the sessions of a client start.
#[derive(Debug, Clone, Default)]
pub struct AcpOptions {
    /// The mode and the model, if the command line names them. The client chooses the folder.
    pub settings: AgentSettings,
}

/// Serves the client on stdin and stdout until it leaves. The caller must end the process without waiting for stdin.
pub async fn run(host: HostHandle, options: AcpOptions) -> io::Result<()> {
    serve(host, options, BufReader::new(tokio::io::stdin()), tokio::io::stdout()).await
}

enum Done {
    Opened { id: Value, opened: Result<Opened, OpenError> },
    Listed { id: Value, cwd: Option<PathBuf>, sessions: Result<Vec<SessionSummary>, String> },
}

async fn serve(
    host: HostHandle,
    options: AcpOptions,
    input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut events = host.subscribe();
    let mut client = Client::new(host.clone());
    let mut lines = Lines::new(input, LONGEST_LINE);
    let mut errands = JoinSet::new();
    let ended = loop {
        let messages = tokio::select! {
            line = lines.next() => {
                let received = match line {
                    Ok(Line::Whole(line)) => Incoming::parse(&line),
                    Ok(Line::TooLong) => {
                        let why = format!("a message is at most {} MB long", LONGEST_LINE >> 20);
                        Incoming::Invalid(rpc::error(&Value::Null, INVALID_REQUEST, &why))
                    }
                    Ok(Line::End) => break Ok(()),
                    Err(error) => break Err(error),
                };
                let mut messages = Vec::new();
                for act in client.receive(received) {
                    match act {
                        Act::Send(message) => messages.push(message),
                        Act::Run(errand) => {
                            errands.spawn(run_errand(host.clone(), options.settings.clone(), errand));
                        }
                    }
                }
                messages
            }
            event = events.recv() => match event {
                Some(event) => client.event(event),
                None => break Err(io::Error::other("the agent has ended")),
            },
            Some(done) = errands.join_next() => match done {
                Ok(Done::Opened { id, opened }) => client.opened(&id, opened),
                Ok(Done::Listed { id, cwd, sessions }) => vec![Client::listed(&id, cwd.as_deref(), sessions)],
                Err(_) => Vec::new(),
            },
        };
        if let Err(error) = write(&mut output, &messages).await {
            break Err(error);
        }
    };
    client.leave();
    ended
}

/// Each message is on its way before the next event is looked at.
async fn write(output: &mut (impl AsyncWrite + Unpin), messages: &[Value]) -> io::Result<()> {
    for message in messages {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        output.write_all(&line).await?;
    }
    if messages.is_empty() { Ok(()) } else { output.flush().await }
}

async fn run_errand(host: HostHandle, settings: AgentSettings, errand: Errand) -> Done {
    match errand {
        Errand::Open { id, cwd, resume, servers } => {
            let loads = resume.is_some();
            let settings = AgentSettings { cwd: Some(cwd), resume, servers, ..settings };
            let opened = open(&host, settings, loads).await;
            let failed = if loads { OpenError::Saved } else { OpenError::New };
            Done::Opened { id, opened: opened.map_err(failed) }
        }
        Errand::Reload { id, agent } => {
            Done::Opened { id, opened: reload(&host, agent).await.map_err(OpenError::Saved) }
        }
        Errand::List { id, cwd } => {
            let sessions = host.ask(|reply| HostCommand::Sessions { reply }).await;
            Done::Listed { id, cwd, sessions: sessions.unwrap_or_else(|ended| Err(ended.to_string())) }
        }
    }
}

async fn open(host: &HostHandle, settings: AgentSettings, loads: bool) -> Result<Opened, String> {
    let agent = host.ask(|reply| HostCommand::New { settings, reply }).await;
    let agent = agent.map_err(|ended| ended.to_string())??;
    if loads {
        return reload(host, agent).await;
    }
    Ok(Opened { status: status(host, agent).await?, messages: None })
}

async fn reload(host: &HostHandle, agent: AgentId) -> Result<Opened, String> {
    let messages = host.ask(|reply| HostCommand::Messages { agent, reply }).await;
    let messages = messages.map_err(|ended| ended.to_string())??;
    Ok(Opened { status: status(host, agent).await?, messages: Some(messages) })
}

async fn status(host: &HostHandle, agent: AgentId) -> Result<AgentSummary, String> {
    let all = host.ask(|reply| HostCommand::Status { reply }).await.map_err(|ended| ended.to_string())?;
    all.into_iter().find(|status| status.agent == agent).ok_or_else(|| "the session ended at once".to_owned())
}
