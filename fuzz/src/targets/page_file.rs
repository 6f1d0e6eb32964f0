//! `page.json` of an earlier hub is believed only if it holds what a hub writes, and is gone otherwise; a name of a
//! session proves itself for its own window and no other.

use linkspan_hub::core::Introduction;
use linkspan_hub::fuzzing::{encode_session_id, read_page_file, verify_session_id, write_page_file};
use linkspan_hub::page::access::SESSIONS;
use linkspan_hub::token::Token;

use crate::{scratch, texts};

pub(crate) fn run(data: &[u8]) {
    let folder = scratch();
    let file = folder.join("page.json");
    std::fs::write(&file, data).expect("a file in our own folder");
    match read_page_file(folder) {
        Some((port, sessions)) => {
            assert!(port != 0 && sessions.len() <= SESSIONS);
            write_page_file(folder, port, &sessions).expect("it can be written");
            assert_eq!(read_page_file(folder), Some((port, sessions)));
        }
        None => assert!(!file.exists(), "what is not used stays"),
    }

    let Some([name, version, id]) = texts(data) else { return };
    let [ours, theirs] = ["one", "other"].map(|token| Token::remembered(token.to_owned()));
    assert_eq!(verify_session_id(&ours, id), None, "nobody can guess a name");
    // The core has taken out of both what cannot be seen.
    let seen = |text: &str| text.chars().filter(|sign| !sign.is_control()).take(100).collect::<String>();
    let who = Introduction { name: seen(name), version: seen(version) };
    let given = encode_session_id(&ours, "k3y", &who);
    assert_eq!(verify_session_id(&ours, &given), Some(("k3y".to_owned(), who)));
    assert_eq!(verify_session_id(&theirs, &given), None);
}
