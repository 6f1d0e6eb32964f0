//! The connection of one agent or window of a crowd: a task that passes on what it receives. Knows the format of
//! messages; their content is checked elsewhere.

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
use crate::frame::{CONTINUE, FrameReader, PING, PONG, TEXT, masked};

/// Something that an agent or window received.
#[derive(Debug)]
pub(crate) enum LoadEvent {
    Shown {
        window: usize,
        review: String,
        revision: u32,
        path: PathBuf,
        at: Instant,
    },
    /// The hub's answer to a window's decision.
    Decided {
        review: i64,
        answer: String,
    },
    Answered {
        agent: usize,
        call: u64,
        texts: Vec<String>,
        at: Instant,
    },
    /// An error, or an answer without a result.
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

/// Sends bytes on the connection; dropping it disconnects.
pub(crate) type FrameSender = UnboundedSender<Vec<u8>>;

type Members<'a> = BTreeMap<&'a str, &'a RawValue>;

fn number(members: &Members<'_>, name: &str) -> Option<u64> {
    members.get(name)?.get().parse().ok()
}

fn text(members: &Members<'_>, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// Takes over an agent after its handshake.
pub(crate) fn agent(
    stream: std::net::TcpStream,
    number: usize,
    events: UnboundedSender<LoadEvent>,
) -> Result<FrameSender> {
    stream.set_nonblocking(true)?;
    let stream = TcpStream::from_std(stream)?;
    let (sender, said) = unbounded_channel();
    tokio::spawn(async move {
        if converse(stream, number, said, &events).await.is_err() {
            let _ = events.send(LoadEvent::AgentLost { agent: number });
        }
    });
    Ok(sender)
}

async fn converse(
    mut stream: TcpStream,
    agent: usize,
    mut said: UnboundedReceiver<Vec<u8>>,
    events: &UnboundedSender<LoadEvent>,
) -> Result<()> {
    let mut frames = FrameReader::new();
    let mut begun = Vec::new();
    loop {
        while let Some(frame) = frames.next() {
            match frame.opcode {
                PING => {
                    let pong = masked(PONG, frames.bytes(&frame.payload));
                    stream.write_all(&pong).await?;
                }
                TEXT | CONTINUE => {
                    let at = Instant::now();
                    begun.extend_from_slice(frames.bytes(&frame.payload));
                    if frame.last {
                        if let Some(news) = understand(agent, &begun, at) {
                            let _ = events.send(news);
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

fn understand(agent: usize, message: &[u8], at: Instant) -> Option<LoadEvent> {
    let members: Members<'_> = serde_json::from_slice(message).ok()?;
    if text(&members, "method").as_deref() == Some("selection_changed") {
        let selected: Members<'_> = serde_json::from_str(members.get("params")?.get()).ok()?;
        return Some(LoadEvent::Selected { text: text(&selected, "text")?, at });
    }
    let call = number(&members, "id")?;
    let Some(result) = members.get("result") else {
        let why = members.get("error").map_or("no result", |error| error.get()).to_owned();
        return Some(LoadEvent::Failed { agent, call, why });
    };
    let result: Members<'_> = serde_json::from_str(result.get()).ok()?;
    let content: Vec<Members<'_>> = serde_json::from_str(result.get("content")?.get()).ok()?;
    let texts = content.iter().filter_map(|part| text(part, "text")).collect();
    Some(LoadEvent::Answered { agent, call, texts, at })
}

/// An attached window.
pub(crate) struct Attached {
    pub(crate) port: u16,
    pub(crate) sender: FrameSender,
}

/// Attaches over any two streams, and answers the hub from then on.
pub(crate) async fn window(
    mut input: impl AsyncRead + Unpin + Send + 'static,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
    folder: &Path,
    number: usize,
    events: UnboundedSender<LoadEvent>,
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
    let (sender, said) = unbounded_channel();
    let answers = Answers::new(folder)?;
    tokio::spawn(async move {
        let mut window = Window { number, output, answers, events };
        if window.serve(input, decoder, said).await.is_err() {
            let _ = window.events.send(LoadEvent::WindowLost { window: number });
        }
    });
    Ok(Attached { port: attached.port, sender })
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
    events: UnboundedSender<LoadEvent>,
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
                // Bytes of an incomplete message stay in the decoder.
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
                    let _ = self.events.send(LoadEvent::Shown {
                        window: self.number,
                        review,
                        revision,
                        path,
                        at,
                    });
                }
            }
            Message::Response { id: Some(RequestId::Number(review)), result } => {
                let answer = match result {
                    Ok(result) => result.get().to_owned(),
                    Err(error) => error.message,
                };
                let _ = self.events.send(LoadEvent::Decided { review, answer });
            }
            Message::Response { .. } | Message::Notification { .. } => {}
        }
        Ok(())
    }
}
