//! The examples of the documentation, run as a reader would run them.

use std::process::Command;

use serde_json::Value;

use crate::support::*;

/// Each block that is marked to be run, with the JSON that follows it, if any does.
fn examples(page: &str) -> Vec<(String, Option<Value>)> {
    let mut blocks = page.split("```").skip(1).step_by(2).peekable();
    let mut examples = Vec::new();
    while let Some(block) = blocks.next() {
        let Some(script) = block.strip_prefix("sh run\n") else { continue };
        let answer = blocks.peek().and_then(|next| next.strip_prefix("json\n"));
        examples.push((script.to_owned(), answer.map(|answer| serde_json::from_str(answer).unwrap())));
    }
    examples
}

#[test]
fn the_curl_examples_of_the_page_give_what_it_says() {
    let world = World::new();
    world.file("src/main.py", "print('hello')\n");
    let serve = world.serve();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents/ppxai.md");
    let examples = examples(&std::fs::read_to_string(page).unwrap());
    assert!(examples.len() >= 4);
    for (script, expected) in examples {
        let script = script.replace("54321", &serve.port.to_string());
        let ran = Command::new("sh").args(["-ec", &script]).output().unwrap();
        assert!(ran.status.success(), "{script}: {ran:?}");
        let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
        if let Some(expected) = expected {
            assert_eq!(answer, expected, "{script}");
        }
    }
}
