//! A message that was read is written so that it reads the same; what is none gets an answer that is one.

use linkspan_editor_api::Message;

pub(crate) fn run(data: &[u8]) {
    match Message::parse(data) {
        Ok(message) => {
            let bytes = message.to_bytes();
            let again = Message::parse(&bytes).expect("our own message is one");
            assert_eq!(format!("{again:?}"), format!("{message:?}"));
            assert_eq!(again.to_bytes(), bytes);
        }
        Err(error) => {
            let answer = Message::parse(&error.to_message().to_bytes());
            assert!(matches!(answer, Ok(Message::Response { result: Err(_), .. })), "{answer:?}");
        }
    }
}
