//! Points about what an editor shows: reviews, questions and messages. Each is answered at once, before the user looks.

use serde_json::{Value, json};

use super::connection::is_served;
use super::documents::needs;
use super::host::EditorHost;
use super::launch::TEXT;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, required};
use crate::commands::scripts::conform::report::excerpt;

const REVIEWS: &str = "Reviews";
const QUESTIONS: &str = "Questions";

pub(super) const CHECKS: &[Check<EditorHost>] = &[
    required(REVIEWS, "show", "`review/show` is answered at once", |host| {
        show(host, &review(host, "r1", 1, TEXT, "one\nTWO\nthree\n"))
    }),
    required(REVIEWS, "newer", "A newer revision of a review is taken", |host| {
        show(host, &review(host, "r1", 2, TEXT, "one\nTWO\nTHREE\n"))
    }),
    required(REVIEWS, "new-file", "A review of a new file is taken", new_file),
    required(REVIEWS, "omitted", "A review that is too large to show is taken", omitted),
    required(REVIEWS, "large", "A review of 4 MB is taken", large),
    required(REVIEWS, "odd-text", "Control characters, a byte order mark and CRLF are taken", odd_text),
    required(REVIEWS, "surrogate", "Half a surrogate pair does not end the connection", surrogate),
    required(REVIEWS, "conflict", "A review with a conflict is taken", conflict),
    required(REVIEWS, "waiting", "`review/waiting` is answered", |host| {
        needs_reviews(host)?;
        taken(host, "review/waiting", &json!({ "review": "r1", "ownerGone": true }))
    }),
    required(REVIEWS, "hide", "`review/hide` is answered, whatever the reason", hide),
    required(REVIEWS, "hide-unknown", "`review/hide` of a review that is not shown does no harm", |host| {
        needs_reviews(host)?;
        host.ask("review/hide", &json!({ "review": "r999", "reason": { "kind": "withdrawn" } }))?;
        is_served(host)
    }),
    required(REVIEWS, "no-decision", "Nothing is decided without a user", no_decision),
    required(QUESTIONS, "ask", "`user/ask` is answered at once", ask),
    required(QUESTIONS, "ask-again", "The same question again is taken", ask),
    required(QUESTIONS, "unask", "`user/unask` is answered", |host| {
        needs(host, |can| can.questions, "questions")?;
        taken(host, "user/unask", &json!({ "ask": "q1" }))
    }),
    required(QUESTIONS, "message", "`status/message` is answered", |host| {
        needs(host, |can| can.messages, "messages")?;
        for level in ["info", "warning", "error"] {
            taken(host, "status/message", &json!({ "text": "a check\u{1b}[31m", "level": level }))?;
        }
        Ok(())
    }),
];

fn needs_reviews(host: &EditorHost) -> Outcome {
    needs(host, |can| can.reviews, "reviews")
}

/// A review with one hunk of line 2.
fn review(host: &EditorHost, id: &str, revision: u32, base: &str, proposed: &str) -> Value {
    let words: [u8; 0] = [];
    json!({
        "review": id,
        "revision": revision,
        "digest": format!("{revision:064}"),
        "window": "w1",
        "agent": "linkspan conform",
        "dialect": "linkspan",
        "path": host.path("sample.txt"),
        "label": "a check",
        "newFile": false,
        "base": base,
        "proposed": proposed,
        "encoding": "UTF-8",
        "lineEndings": "LF",
        "hunks": [{
            "id": "h1", "beforeStart": 1, "beforeCount": 1, "afterStart": 1, "afterCount": 1, "words": words,
        }],
        "conflicts": [],
        "focus": false,
        "omitted": false,
        "inline": false,
        "agentWrites": false,
        "ownerGone": false,
    })
}

/// The result is null.
fn taken(host: &mut EditorHost, method: &str, params: &Value) -> Outcome {
    let answer = host.ask(method, params)?;
    match answer.get("result") {
        Some(Value::Null) => Ok(()),
        _ => Err(failed("the result null", excerpt(&answer))),
    }
}

fn show(host: &mut EditorHost, review: &Value) -> Outcome {
    needs_reviews(host)?;
    taken(host, "review/show", review)
}

fn new_file(host: &mut EditorHost) -> Outcome {
    let mut review = review(host, "r2", 1, "", "new\n");
    review["path"] = json!(host.path("new.txt"));
    review["newFile"] = json!(true);
    review["hunks"] = json!([{ "id": "h1", "beforeStart": 0, "beforeCount": 0, "afterStart": 0, "afterCount": 1, "words": [] }]);
    show(host, &review)
}

fn omitted(host: &mut EditorHost) -> Outcome {
    let mut review = review(host, "r3", 1, "", "");
    review["omitted"] = json!(true);
    review["hunks"] = json!([]);
    show(host, &review)
}

fn large(host: &mut EditorHost) -> Outcome {
    let text = "a line of a large file\n".repeat(90_000);
    let proposed = text.replacen("a line", "THE LINE", 1);
    let mut review = review(host, "r4", 1, &text, &proposed);
    review["hunks"] = json!([{ "id": "h1", "beforeStart": 0, "beforeCount": 1, "afterStart": 0, "afterCount": 1, "words": [] }]);
    show(host, &review)
}

const ODD: &str = "\u{feff}one\r\n\u{1b}[31mtwo\u{7}\u{0}\u{202e}\r\nthree\u{2028}\rfour";

fn odd_text(host: &mut EditorHost) -> Outcome {
    let mut review = review(host, "r5", 1, ODD, &ODD.replace("one", "ONE"));
    review["label"] = json!("a \u{1b}[31m label\n");
    review["lineEndings"] = json!("CRLF");
    show(host, &review)
}

/// JSON may escape half a pair, which no UTF-8 can contain.
fn surrogate(host: &mut EditorHost) -> Outcome {
    needs_reviews(host)?;
    let review = review(host, "r6", 1, TEXT, "one\nHALF\nthree\n");
    let message = json!({ "jsonrpc": "2.0", "id": "half", "method": "review/show", "params": review });
    // Some editors cannot read it, and cannot answer what they cannot read.
    host.send_text(&message.to_string().replace("HALF", "\\ud83d"))?;
    is_served(host)
}

fn conflict(host: &mut EditorHost) -> Outcome {
    let mut review = review(host, "r7", 1, TEXT, "one\nTWO\nthree\n");
    review["conflicts"] = json!([{ "beforeStart": 1, "beforeCount": 1, "afterStart": 1, "afterCount": 1 }]);
    show(host, &review)
}

fn hide(host: &mut EditorHost) -> Outcome {
    needs_reviews(host)?;
    let reasons = [
        json!({ "kind": "withdrawn" }),
        json!({ "kind": "superseded" }),
        json!({ "kind": "decided", "by": "the page", "verdict": "accept" }),
        json!({ "kind": "failed", "error": "the disk is full" }),
    ];
    for (review, reason) in ["r1", "r2", "r3", "r4", "r5", "r6", "r7"].iter().zip(reasons.iter().cycle()) {
        taken(host, "review/hide", &json!({ "review": review, "reason": reason }))?;
    }
    Ok(())
}

/// All messages that arrived so far.
fn no_decision(host: &mut EditorHost) -> Outcome {
    needs_reviews(host)?;
    let decides = |message: &Value| message.get("method") == Some(&json!("review/decided"));
    match host.wait(std::time::Duration::from_millis(500), decides) {
        None => Ok(()),
        Some(message) => Err(failed("no decision", excerpt(&message))),
    }
}

fn ask(host: &mut EditorHost) -> Outcome {
    needs(host, |can| can.questions, "questions")?;
    let question = json!({
        "ask": "q1",
        "question": "May linkspan conform ask this?",
        "detail": "echo 'a check' \u{1b}[31m",
        "options": ["allowOnce", "allowSession", "deny"],
        "labels": ["Allow once", "Allow for this session", "Deny"],
    });
    taken(host, "user/ask", &question)
}
