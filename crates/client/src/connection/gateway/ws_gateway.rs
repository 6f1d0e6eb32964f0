//! Connects a WebSocket wire to our session: one link to the session, one to the editor, and a translator between them.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use linkspan_editor_api::Message;
use serde_json::Value;

use super::super::transport::{Listener, Socket, SocketLink};
use super::clio::{Clio, ClioStep};

#[derive(Debug)]
struct WsGateway {
    translator: Mutex<Clio>,
    session: OnceLock<SocketLink>,
    editor: OnceLock<SocketLink>,
}

pub(super) fn start(session: Socket, editor: Socket, translator: Clio) -> io::Result<()> {
    let gateway = Arc::new(WsGateway {
        translator: Mutex::new(translator),
        session: OnceLock::new(),
        editor: OnceLock::new(),
    });
    let _ = gateway.editor.set(SocketLink::start(editor, EditorListener(Arc::clone(&gateway)))?);
    let _ = gateway.session.set(SocketLink::start(session, WsSessionListener(Arc::clone(&gateway)))?);
    Ok(())
}

impl WsGateway {
    /// Keeps the order of the steps: the lock is held until all of them are on their way.
    fn run(&self, think: impl FnOnce(&mut Clio) -> Vec<ClioStep>) {
        let mut translator = self.translator.lock().unwrap_or_else(PoisonError::into_inner);
        for step in think(&mut translator) {
            match step {
                ClioStep::ToSession(message) => {
                    if let Some(session) = self.session.get() {
                        session.send(message.to_bytes());
                    }
                }
                ClioStep::ToEditor(value) => {
                    if let Some(editor) = self.editor.get() {
                        editor.send(value.to_string().into_bytes());
                    }
                }
                ClioStep::Probe(id) => {
                    if let Some(editor) = self.editor.get() {
                        editor.probe(id);
                    }
                }
            }
        }
    }
}

struct WsSessionListener(Arc<WsGateway>);

impl Listener for WsSessionListener {
    fn text(&mut self, text: &[u8], link: &SocketLink) {
        let _ = self.0.session.set(link.clone());
        if let Ok(message) = Message::parse(text) {
            self.0.run(|translator| translator.ours(message));
        }
    }

    fn pong(&mut self, _id: i64) {}

    fn closed(&mut self) {
        if let Some(editor) = self.0.editor.get() {
            editor.close();
        }
    }
}

struct EditorListener(Arc<WsGateway>);

impl Listener for EditorListener {
    fn text(&mut self, text: &[u8], _link: &SocketLink) {
        // Anything but JSON is ignored.
        if let Ok(value) = serde_json::from_slice::<Value>(text) {
            self.0.run(|translator| translator.theirs(&value));
        }
    }

    fn pong(&mut self, id: i64) {
        self.0.run(|translator| translator.pong(id));
    }

    fn closed(&mut self) {
        if let Some(session) = self.0.session.get() {
            session.close();
        }
    }
}
