//! The floors: servers that do the I/O of a call and nothing else, on the same runtime as the hub.

use std::future::Future;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_websockets::{Limits, ServerBuilder};

use crate::role::report_port;

/// As large as what the WebSocket library reads at once.
const CHUNK: usize = 4 * 1024;

pub(crate) fn block_on(work: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

pub(crate) async fn listen() -> Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    report_port(listener.local_addr()?.port())?;
    Ok(listener)
}

pub(crate) fn raw(request: usize, reply: Vec<u8>) -> Result<()> {
    let reply: Arc<[u8]> = reply.into();
    block_on(async move {
        let listener = listen().await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(answer(stream, request, Arc::clone(&reply)));
        }
    })
}

async fn answer(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: usize,
    reply: Arc<[u8]>,
) -> Result<()> {
    let mut chunk = vec![0; CHUNK];
    let mut waiting = 0;
    loop {
        match stream.read(&mut chunk).await? {
            0 => return Ok(()),
            count => waiting += count,
        }
        while waiting >= request {
            waiting -= request;
            stream.write_all(&reply).await?;
        }
    }
}

/// The second hop of [`two_hops`].
pub(crate) fn unix(path: &str, request: usize, reply: Vec<u8>) -> Result<()> {
    block_on(async move {
        let listener = UnixListener::bind(path)?;
        let (stream, _) = listener.accept().await?;
        answer(stream, request, reply.into()).await
    })
}

/// One client at a time is enough: it measures latency.
pub(crate) fn two_hops(request: usize, reply: Vec<u8>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (path, file) = (folder.path().join("s"), folder.path().join("reply"));
    std::fs::write(&file, &reply)?;
    block_on(async move {
        let args = ["role".into(), "unix".into(), path.clone(), request.to_string().into(), file];
        let mut behind = tokio::process::Command::new(std::env::current_exe()?);
        let _behind = behind.args(args).stdin(Stdio::null()).kill_on_drop(true).spawn()?;
        let mut behind = connect(path).await?;
        let listener = listen().await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let _ = pass_on(stream, &mut behind, reply.len()).await;
        }
    })
}

async fn connect(path: PathBuf) -> Result<UnixStream> {
    for _ in 0..500 {
        if let Ok(stream) = UnixStream::connect(&path).await {
            return Ok(stream);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    UnixStream::connect(&path).await.context("the second hop did not start")
}

async fn pass_on(mut front: TcpStream, behind: &mut UnixStream, reply: usize) -> Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = front.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        behind.write_all(chunk.get(..count).unwrap_or_default()).await?;
        let mut answered = 0;
        while answered < reply {
            let count = behind.read(&mut chunk).await?;
            front.write_all(chunk.get(..count).unwrap_or_default()).await?;
            answered += count;
        }
    }
}

pub(crate) fn websocket_echo() -> Result<()> {
    block_on(async {
        let listener = listen().await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(echo(stream));
        }
    })
}

async fn echo(stream: TcpStream) -> Result<()> {
    let (_, mut socket) = ServerBuilder::new().limits(Limits::unlimited()).accept(stream).await?;
    while let Some(message) = socket.next().await {
        let message = message?;
        if message.is_text() {
            socket.send(message).await?;
        }
    }
    Ok(())
}
