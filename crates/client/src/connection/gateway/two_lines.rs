//! Carries a WebSocket wire: one line to our session, one to the editor, and a translator between them.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use linkspan_editor_api::Message;
use serde_json::Value;

use super::super::transport::{Link, Listener, Socket};
use super::clio::{Act, Clio};

#[derive(Debug)]
struct Gateway {
    translator: Mutex<Clio>,
    session: OnceLock<Link>,
    editor: OnceLock<Link>,
}

pub(super) fn start(session: Socket, editor: Socket, translator: Clio) -> io::Result<()> {
    let gateway = Arc::new(Gateway {
        translator: Mutex::new(translator),
        session: OnceLock::new(),
        editor: OnceLock::new(),
    });
    let _ = gateway.editor.set(Link::start(editor, EditorEars(Arc::clone(&gateway)))?);
    let _ = gateway.session.set(Link::start(session, SessionEars(Arc::clone(&gateway)))?);
    Ok(())
}

impl Gateway {
    /// In the order in which they are thought of: the lock is held until all is on its way.
    fn act(&self, think: impl FnOnce(&mut Clio) -> Vec<Act>) {
        let mut translator = self.translator.lock().unwrap_or_else(PoisonError::into_inner);
        for act in think(&mut translator) {
            match act {
                Act::Tell(message) => {
                    if let Some(session) = self.session.get() {
                        session.send(message.to_bytes());
                    }
                }
                Act::Say(value) => {
                    if let Some(editor) = self.editor.get() {
                        editor.send(value.to_string().into_bytes());
                    }
                }
                Act::Probe(id) => {
                    if let Some(editor) = self.editor.get() {
                        editor.probe(id);
                    }
                }
            }
        }
    }
}

struct SessionEars(Arc<Gateway>);

impl Listener for SessionEars {
    fn text(&mut self, text: &[u8], link: &Link) {
        let _ = self.0.session.set(link.clone());
        if let Ok(message) = Message::parse(text) {
            self.0.act(|translator| translator.ours(message));
        }
    }

    fn pong(&mut self, _id: i64) {}

    fn closed(&mut self) {
        if let Some(editor) = self.0.editor.get() {
            editor.close();
        }
    }
}

struct EditorEars(Arc<Gateway>);

impl Listener for EditorEars {
    fn text(&mut self, text: &[u8], _link: &Link) {
        // What is no JSON answers nothing.
        if let Ok(value) = serde_json::from_slice::<Value>(text) {
            self.0.act(|translator| translator.theirs(&value));
        }
    }

    fn pong(&mut self, id: i64) {
        self.0.act(|translator| translator.pong(id));
    }

    fn closed(&mut self) {
        if let Some(session) = self.0.session.get() {
            session.close();
        }
    }
}
