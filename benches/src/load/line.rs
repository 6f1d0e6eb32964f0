//! One agent or one window of a crowd: a task that keeps its connection and passes on what it hears. Knows what
//! messages look like; what should have been in them is for others to check.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use linkspan_editor_api::{
    Attach, AttachResult, Capabilities, Decoder, Limits, Message, PROTOCOL, RequestId, encode,
};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::editor::Answers;
use crate::frame::{Frames, MORE, PING, PONG, TEXT, masked};

/// What somebody of the crowd was told.
#[derive(Debug)]
pub(crate) enum Heard {
    Shown {
        window: usize,
        review: String,
        revision: u32,
        path: PathBuf,
        at: Instant,
    },
    /// What the hub said to a window's decision.
    Decided {
        review: i64,
        answer: String,
    },
    Told {
        agent: usize,
        call: u64,
        texts: Vec<String>,
        at: Instant,
    },
    /// An answer that is none.
    Failed {
        agent: usize,
        call: u64,
        why: String,
    },
    Selected {
        text: String,
        at: Instant,
    },
    AgentLost {
        agent: usize,
    },
    WindowLost {
        window: usize,
    },
}

/// Whom to tell what is to be sent; dropping it hangs up.
pub(crate) type Speak = UnboundedSender<Vec<u8>>;

type Members<'a> = BTreeMap<&'a str, &'a RawValue>;

fn number(members: &Members<'_>, name: &str) -> Option<u64> {
    members.get(name)?.get().parse().ok()
}

fn text(members: &Members<'_>, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// Goes on with an agent that has introduced itself.
pub(crate) fn agent(
    stream: std::net::TcpStream,
    number: usize,
    heard: UnboundedSender<Heard>,
) -> Result<Speak> {
    stream.set_nonblocking(true)?;
    let stream = TcpStream::from_std(stream)?;
    let (speak, said) = unbounded_channel();
    tokio::spawn(async move {
        if converse(stream, number, said, &heard).await.is_err() {
            let _ = heard.send(Heard::AgentLost { agent: number });
        }
    });
    Ok(speak)
}

async fn converse(
    mut stream: TcpStream,
    agent: usize,
    mut said: UnboundedReceiver<Vec<u8>>,
    heard: &UnboundedSender<Heard>,
) -> Result<()> {
    let mut frames = Frames::new();
    let mut begun = Vec::new();
    loop {
        while let Some(frame) = frames.next() {
            match frame.opcode {
                PING => {
                    let pong = masked(PONG, frames.bytes(&frame.payload));
                    stream.write_all(&pong).await?;
                }
                TEXT | MORE => {
                    let at = Instant::now();
                    begun.extend_from_slice(frames.bytes(&frame.payload));
                    if frame.last {
                        if let Some(news) = understand(agent, &begun, at) {
                            let _ = heard.send(news);
                        }
                        begun.clear();
                    }
                }
                _ => bail!("the hub closed the connection"),
            }
        }
        tokio::select! {
            next = said.recv() => match next {
                Some(bytes) => stream.write_all(&bytes).await?,
                None => return Ok(()),
            },
            count = stream.read(frames.room()) => {
                let count = count?;
                ensure!(count > 0, "the hub hung up");
                frames.filled(count);
            }
        }
    }
}

fn understand(agent: usize, message: &[u8], at: Instant) -> Option<Heard> {
    let members: Members<'_> = serde_json::from_slice(message).ok()?;
    if text(&members, "method").as_deref() == Some("selection_changed") {
        let selected: Members<'_> = serde_json::from_str(members.get("params")?.get()).ok()?;
        return Some(Heard::Selected { text: text(&selected, "text")?, at });
    }
    let call = number(&members, "id")?;
    let Some(result) = members.get("result") else {
        let why = members.get("error").map_or("no result", |error| error.get()).to_owned();
        return Some(Heard::Failed { agent, call, why });
    };
    let result: Members<'_> = serde_json::from_str(result.get()).ok()?;
    let content: Vec<Members<'_>> = serde_json::from_str(result.get("content")?.get()).ok()?;
    let texts = content.iter().filter_map(|part| text(part, "text")).collect();
    Some(Heard::Told { agent, call, texts, at })
}

/// A window that is attached.
pub(crate) struct Attached {
    pub(crate) port: u16,
    pub(crate) speak: Speak,
}

/// Attaches over any two streams, and serves the hub from then on.
pub(crate) async fn window(
    mut input: impl AsyncRead + Unpin + Send + 'static,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
    folder: &Path,
    number: usize,
    heard: UnboundedSender<Heard>,
) -> Result<Attached> {
    let capabilities =
        Capabilities { documents: true, selection: true, reviews: true, ..Capabilities::default() };
    let attach = Attach {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").into(),
        editor: linkspan_editor_api::Editor { name: "Load".into(), version: "1".into() },
        pid: std::process::id(),
        folders: vec![folder.display().to_string()],
        window_id: Some(format!("window {number}")),
        claude_config_dir: None,
        capabilities,
    };
    output.write_all(&encode(&Message::request(RequestId::Number(-1), &attach).to_bytes())).await?;
    output.flush().await?;
    let mut decoder = Decoder::new(Limits::OF_AN_EDITOR);
    let body = next_body(&mut input, &mut decoder).await?;
    let Message::Response { result: Ok(result), .. } = Message::parse(&body)? else {
        bail!("the hub refused the window: {}", String::from_utf8_lossy(&body));
    };
    let attached: AttachResult = serde_json::from_str(result.get())?;
    let (speak, said) = unbounded_channel();
    let answers = Answers::new(folder)?;
    tokio::spawn(async move {
        let mut window = Window { number, output, answers, heard };
        if window.serve(input, decoder, said).await.is_err() {
            let _ = window.heard.send(Heard::WindowLost { window: number });
        }
    });
    Ok(Attached { port: attached.port, speak })
}

async fn next_body(input: &mut (impl AsyncRead + Unpin), decoder: &mut Decoder) -> Result<Vec<u8>> {
    let mut piece = vec![0; 16 * 1024];
    loop {
        if let Some(body) = decoder.next()? {
            return Ok(body);
        }
        let count = input.read(&mut piece).await?;
        ensure!(count > 0, "the hub hung up");
        decoder.push(piece.get(..count).unwrap_or_default());
    }
}

struct Window<W> {
    number: usize,
    output: W,
    answers: Answers,
    heard: UnboundedSender<Heard>,
}

impl<W: AsyncWrite + Unpin> Window<W> {
    async fn serve(
        &mut self,
        mut input: impl AsyncRead + Unpin,
        mut decoder: Decoder,
        mut said: UnboundedReceiver<Vec<u8>>,
    ) -> Result<()> {
        loop {
            tokio::select! {
                next = said.recv() => match next {
                    Some(bytes) => {
                        self.output.write_all(&bytes).await?;
                        self.output.flush().await?;
                    }
                    None => return Ok(()),
                },
                // What was read of a message that is not whole stays in the decoder.
                body = next_body(&mut input, &mut decoder) => self.message(&body?).await?,
            }
        }
    }

    async fn message(&mut self, body: &[u8]) -> Result<()> {
        let at = Instant::now();
        match Message::parse(body)? {
            Message::Request { id, method, params } => {
                let id = serde_json::to_string(&id)?;
                let answer =
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, self.answers.to(&method));
                self.output.write_all(&encode(answer.as_bytes())).await?;
                self.output.flush().await?;
                if method == "review/show" {
                    let shown: Members<'_> = serde_json::from_str(params.get())?;
                    let review = text(&shown, "review").context("no review")?;
                    let revision = number(&shown, "revision").and_then(|number| u32::try_from(number).ok());
                    let path = text(&shown, "path").context("no path")?.into();
                    let revision = revision.context("no revision")?;
                    let _ = self.heard.send(Heard::Shown { window: self.number, review, revision, path, at });
                }
            }
            Message::Response { id: Some(RequestId::Number(review)), result } => {
                let answer = match result {
                    Ok(result) => result.get().to_owned(),
                    Err(error) => error.message,
                };
                let _ = self.heard.send(Heard::Decided { review, answer });
            }
            Message::Response { .. } | Message::Notification { .. } => {}
        }
        Ok(())
    }
}
