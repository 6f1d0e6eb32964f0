//! Standard input and output as a transport. Adds to rmcp's: a limit for the length of a line, tolerance for messages
//! before the first request, and a signal at the end of the input.

use std::io;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use tokio::sync::watch;

/// Enough for the largest file that is reviewed by default with every byte escaped. The hub refuses larger files with a
/// message; this limit would do it silently.
const LARGEST_LINE: usize = 320 * 1024 * 1024;

/// The end of standard input.
#[derive(Debug, Clone)]
pub(super) struct InputEnd(watch::Receiver<bool>);

impl InputEnd {
    pub(super) async fn reached(&mut self) {
        // An error means that the transport was dropped, which is an end too.
        let _ = self.0.wait_for(|ended| *ended).await;
    }
}

pub(super) struct Stdio {
    pipes: AsyncRwTransport<RoleServer, StdioReader, StdioWriter>,
    /// A request has arrived.
    started: bool,
    ended: watch::Sender<bool>,
}

impl Stdio {
    pub(super) fn open() -> (Stdio, InputEnd) {
        let (reader, writer) = stdio_pipes();
        let pipes = AsyncRwTransport::new(reader, writer).with_max_line_length(LARGEST_LINE);
        let (ended, end) = watch::channel(false);
        (Stdio { pipes, started: false, ended }, InputEnd(end))
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.pipes.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.pipes.receive().await;
            self.started |= matches!(message, Some(JsonRpcMessage::Request(_)));
            match message {
                None => {
                    self.ended.send_replace(true);
                    return None;
                }
                // rmcp would end the session at a notification before the first request.
                Some(_) if !self.started => {}
                message => return message,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.pipes.close().await
    }
}
