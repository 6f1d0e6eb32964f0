//! Standard input and output as a transport. Adds to rmcp's: how long a line may be, that what comes before the
//! first request does not end the conversation, and that others hear of its end.

use std::io;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use tokio::sync::watch;

/// The largest file that is reviewed by default, with every byte of it escaped: what is larger than that
/// is refused by the hub, in words, and not here, in silence.
const LARGEST_LINE: usize = 320 * 1024 * 1024;

/// Tells when nothing more will be heard.
#[derive(Debug, Clone)]
pub(super) struct Over(watch::Receiver<bool>);

impl Over {
    pub(super) async fn ended(&mut self) {
        // Nobody left who could say so is an end as well.
        let _ = self.0.wait_for(|over| *over).await;
    }
}

pub(super) struct Stdio {
    pipes: AsyncRwTransport<RoleServer, StdioReader, StdioWriter>,
    begun: bool,
    over: watch::Sender<bool>,
}

impl Stdio {
    pub(super) fn open() -> (Stdio, Over) {
        let (reader, writer) = stdio_pipes();
        let pipes = AsyncRwTransport::new(reader, writer).with_max_line_length(LARGEST_LINE);
        let (over, ended) = watch::channel(false);
        (Stdio { pipes, begun: false, over }, Over(ended))
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
            self.begun |= matches!(message, Some(JsonRpcMessage::Request(_)));
            match message {
                None => {
                    self.over.send_replace(true);
                    return None;
                }
                // rmcp would give up on a stray notification here.
                Some(_) if !self.begun => {}
                message => return message,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.pipes.close().await
    }
}
