//! The relay against a hub on a real socket, which is killed and replaced.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use linkspan_editor_api::{PROTOCOL, Places};
use serde_json::{Value, json};

use super::*;
use crate::HubLauncher;

fn places(root: &Path) -> Places {
    Places { home: root.into(), runtime: root.join("run"), state: root.join("s"), config: root.join("c") }
}

/// One end of a conversation, read and written frame by frame.
struct FakeHub {
    stream: UnixStream,
    decoder: Decoder,
}

impl FakeHub {
    fn new(stream: UnixStream) -> FakeHub {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        FakeHub { stream, decoder: Decoder::new(Limits::default()) }
    }

    fn say(&mut self, message: &Value) {
        self.stream.write_all(&encode(message.to_string().as_bytes())).unwrap();
    }

    fn hear(&mut self) -> Value {
        loop {
            if let Some(frame) = self.decoder.next().unwrap() {
                return serde_json::from_slice(&frame).unwrap();
            }
            let mut buffer = [0; 4096];
            let length = self.stream.read(&mut buffer).unwrap();
            assert!(length > 0, "the other side closed");
            self.decoder.push(&buffer[..length]);
        }
    }

    fn answer(&mut self, request: &Value, result: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    /// Takes the next request, which must be this one.
    fn expect(&mut self, method: &str, result: Value) -> Value {
        let request = self.hear();
        assert_eq!(request["method"], method);
        self.answer(&request, result);
        request
    }
}

/// A relay with an editor on one side; the test is the hub on the other.
struct RelayFixture {
    listener: UnixListener,
    editor: FakeHub,
    relay: JoinHandle<Result<(), RelayError>>,
    _root: tempfile::TempDir,
}

fn fixture() -> RelayFixture {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    crate::runtime_dir::ensure(&places.runtime).unwrap();
    let listener = UnixListener::bind(places.socket().unwrap()).unwrap();
    let (editor, shim) = UnixStream::pair().unwrap();
    let shim_says = shim.try_clone().unwrap();
    let relay = thread::spawn(move || {
        let connect = move || HubLauncher::connect_or_start(&places, &|| Command::new("true").spawn());
        relay(connect, "attach", shim_says, shim, |_| {})
    });
    RelayFixture { listener, editor: FakeHub::new(editor), relay, _root: root }
}

impl RelayFixture {
    /// The next hub's life begins: the relay has come and introduced itself.
    fn hub(&self) -> FakeHub {
        let mut hub = FakeHub::new(self.listener.accept().unwrap().0);
        let version = env!("CARGO_PKG_VERSION");
        let hello = json!({ "version": version, "protocol": PROTOCOL, "pid": 1, "startedAtMs": 0 });
        assert_eq!(hub.expect("hub/hello", hello)["params"]["role"], "attach");
        hub
    }
}

fn window() -> Value {
    json!({ "window": "w1", "port": 4711, "hubVersion": "1", "protocol": 1, "environment": {} })
}

fn attach() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "attach", "params": { "folders": ["/a"] } })
}

fn decided() -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "review/decided", "params": { "review": "r1" } })
}

#[test]
fn a_new_hub_gets_the_window_back_and_the_decision_the_old_one_never_answered() {
    let mut fixture = fixture();
    fixture.editor.say(&attach());
    let mut hub = fixture.hub();
    hub.expect("attach", window());
    assert_eq!(fixture.editor.hear()["result"], window());
    fixture.editor.say(&decided());
    assert_eq!(hub.hear(), decided());
    drop(hub);

    let mut hub = fixture.hub();
    let again = hub.expect("attach", window());
    assert_eq!(again["params"], attach()["params"]);
    hub.expect("review/decided", json!({ "kind": "taken" }));
    let lost = fixture.editor.hear();
    assert_eq!((&lost["method"], lost["params"]["reason"].is_string()), (&json!("hub/lost"), true));
    let back = json!({ "jsonrpc": "2.0", "method": "hub/back", "params": window() });
    assert_eq!(fixture.editor.hear(), back);
    let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": { "kind": "taken" } });
    assert_eq!(fixture.editor.hear(), answer);
}

#[test]
fn an_editor_that_closes_its_side_ends_the_relay_without_detaching() {
    let mut fixture = fixture();
    fixture.editor.say(&attach());
    let mut hub = fixture.hub();
    hub.expect("attach", window());
    fixture.editor.hear();
    drop(fixture.editor);
    fixture.relay.join().unwrap().unwrap();
    assert_eq!(hub.stream.read(&mut [0; 16]).unwrap(), 0);
}

#[test]
fn bytes_of_the_editor_that_are_no_message_end_the_relay_with_a_word() {
    let mut fixture = fixture();
    fixture.editor.stream.write_all(b"hello?\r\n\r\n").unwrap();
    let error = fixture.relay.join().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the editor sent something that is not a message: \
         `hello?` is not a Content-Length or Content-Type header"
    );
}

#[test]
fn a_hub_of_another_protocol_ends_the_relay_with_what_to_do() {
    let fixture = fixture();
    let mut hub = FakeHub::new(fixture.listener.accept().unwrap().0);
    let hello = json!({ "version": "0.0.1", "protocol": PROTOCOL + 1, "pid": 1, "startedAtMs": 0 });
    hub.expect("hub/hello", hello);
    let error = fixture.relay.join().unwrap().unwrap_err();
    assert!(error.to_string().contains("linkspan hub stop"));
}
