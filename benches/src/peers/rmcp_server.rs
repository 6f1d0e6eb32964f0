//! The tools of the peers, served by the official Rust SDK over the WebSocket library that the hub has.

use std::future::ready;
use std::io;

use anyhow::Result;
use futures_util::{SinkExt, StreamExt};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::net::TcpStream;
use tokio_websockets::{Limits, Message, ServerBuilder};

use super::contender::{ECHO, FOLDERS};
use crate::floor::{block_on, listen};

#[derive(Debug, Clone)]
struct Peer {
    text: String,
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = match request.name.as_ref() {
            FOLDERS => self.text.clone(),
            ECHO => {
                let text = request.arguments.unwrap_or_default().remove("text");
                text.and_then(|text| Some(text.as_str()?.to_owned())).unwrap_or_default()
            }
            name => return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// `text` is what a call is answered with.
pub(crate) fn serve(text: &str) -> Result<()> {
    let peer = Peer { text: text.to_owned() };
    block_on(async move {
        let listener = listen().await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(talk(peer.clone(), stream));
        }
    })
}

async fn talk(peer: Peer, stream: TcpStream) -> Result<()> {
    let (_, socket) = ServerBuilder::new().limits(Limits::unlimited()).accept(stream).await?;
    let (output, input) = socket.split();
    let output = output.with(|message: TxJsonRpcMessage<RoleServer>| {
        let text = serde_json::to_string(&message).map_err(io::Error::from);
        ready(text.map(Message::text).map_err(tokio_websockets::Error::from))
    });
    let input = input.filter_map(|message| {
        let parsed = message.ok().and_then(|message| {
            serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(message.as_payload()).ok()
        });
        ready(parsed)
    });
    peer.serve((output, input)).await?.waiting().await?;
    Ok(())
}
