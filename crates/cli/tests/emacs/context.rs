//! What agents learn about this Emacs: the selection, mentions, open files, diagnostics, and what it knows of languages.

use serde_json::{Value, json};

use crate::support::agent::texts;
use crate::support::*;

/// A checker that dislikes a word.
const JUDGE: &str = r#"
(defun judge (report &rest _)
  (save-excursion
    (goto-char (point-min))
    (funcall report (and (search-forward "bad" nil t)
                         (list (flymake-make-diagnostic (current-buffer) (match-beginning 0) (match-end 0) :error
                                                        "bad is not good"))))))
(define-derived-mode judged-mode text-mode "Judged"
  (add-hook 'flymake-diagnostic-functions #'judge nil t)
  (flymake-mode))
(add-to-list 'auto-mode-alist '("\\.judged\\'" . judged-mode))
"#;

fn selected(agent: &mut Agent, text: &str) -> Value {
    let found = agent.find(DEADLINE, |message| {
        message["method"] == "selection_changed" && message["params"]["text"] == text
    });
    found.unwrap_or_else(|| panic!("never selected: {text}"))["params"].clone()
}

#[test]
fn the_selection_arrives_and_is_kept_in_a_shell() {
    let world = World::new();
    let path = world.file("a.txt", "one\né😀 two\nthree\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    let mut claude = emacs.claude();
    emacs.goes_to("two");
    emacs.presses("C-SPC M-f");
    let params = selected(&mut claude, "two");
    assert_eq!(params["filePath"], path);
    assert_eq!(params["selection"]["start"], json!({ "line": 1, "character": 4 }), "as others count them");
    assert_eq!(params["selection"]["end"], json!({ "line": 1, "character": 7 }));
    emacs.runs("shell");
    emacs.sees("a shell", "(derived-mode-p 'shell-mode)");
    let current = texts(&claude.call("getLatestSelection", json!({}))).remove(0);
    let current: Value = serde_json::from_str(&current).unwrap();
    assert_eq!((&current["text"], &current["filePath"]), (&json!("two"), &json!(path)));
    let window = world.status()["windows"][0]["window"].clone();
    emacs.types("echo $CLAUDE_CODE_SSE_PORT-$LINKSPAN_WINDOW\r");
    let expected = format!("{}-{}", emacs.port(), window.as_str().unwrap());
    emacs.tty().sees(&expected);
}

#[test]
fn a_mention_arrives() {
    let world = World::new();
    let path = world.file("a.txt", "one\ntwo\nthree\n");
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    emacs.runs("linkspan-send-region");
    emacs.says("a.txt was mentioned to nobody");
    let mut claude = emacs.claude();
    emacs.goes_to("two");
    emacs.presses("C-SPC C-n C-n");
    emacs.runs("linkspan-send-region");
    let mention = claude.notification("at_mentioned");
    assert_eq!(mention["params"], json!({ "filePath": path, "lineStart": 1, "lineEnd": 2 }));
    emacs.says("a.txt was mentioned to claude-code");
    // In Dired, the file at point.
    emacs.types("\u{18}d\r");
    emacs.sees("dired", "(derived-mode-p 'dired-mode)");
    emacs.goes_to("a.txt");
    emacs.runs("linkspan-send-region");
    let mention = claude.notification("at_mentioned");
    assert_eq!(mention["params"]["filePath"], json!(path));
}

#[test]
fn open_files_are_listed_opened_and_closed() {
    let world = World::new();
    let (a, b) = (world.file("a.txt", "one\n"), world.file("b.txt", "one\ntwo\nthree\n"));
    let mut emacs = Emacs::builder(&world).file("a.txt").start();
    let mut claude = emacs.claude();
    let arguments = json!({ "filePath": b, "startText": "two", "preview": false, "makeFrontmost": true });
    claude.call("openFile", arguments);
    emacs.sees("b.txt, at its line", "(and (equal (buffer-name) \"b.txt\") (= (line-number-at-pos) 2))");
    let open = texts(&claude.call("getOpenEditors", json!({}))).remove(0);
    assert!(open.contains(&a) && open.contains(&b), "{open}");
    emacs.types("x");
    emacs.sees("a change", "(buffer-modified-p)");
    let dirty = texts(&claude.call("checkDocumentDirty", json!({ "filePath": b }))).remove(0);
    assert!(dirty.contains(r#""isDirty":true"#), "{dirty}");
    texts(&claude.call("saveDocument", json!({ "filePath": b })));
    assert_eq!(world.read_text("b.txt"), "one\nxtwo\nthree\n");
}

#[test]
fn diagnostics_before_and_after_a_fix() {
    let world = World::new();
    let path = world.file("a.judged", "é bad\n");
    let mut emacs = Emacs::builder(&world).config(JUDGE).file("a.judged").start();
    let mut agent = OwnAgent::join(&world, "k3y");
    let before = agent.ask("getDiagnostics", json!({ "path": path }));
    let found = &before["files"][0];
    assert_eq!((&found["path"], &found["settled"]), (&json!(path), &json!(true)), "{before}");
    assert_eq!(
        found["diagnostics"],
        json!([{
            "message": "bad is not good",
            "severity": "error",
            "range": { "start": { "line": 0, "character": 2 }, "end": { "line": 0, "character": 5 } },
        }])
    );
    let call = agent.call("proposeChange", json!({ "path": path, "newText": "é good\n" }));
    emacs.looks_at_review();
    emacs.presses("a");
    assert_eq!(agent.told(call)["outcome"], "accepted");
    let after = agent.ask("getDiagnostics", json!({ "path": path }));
    assert_eq!(after["files"][0]["diagnostics"], json!([]), "{after}");
    assert_eq!(after["files"][0]["settled"], json!(true), "{after}");
}

#[test]
fn what_emacs_knows_of_a_language() {
    let world = World::new();
    let path = world.file("a.el", "(defun é-double (number)\n  (* 2 number))\n(é-double 4)\n");
    let emacs = Emacs::builder(&world).file("a.el").start();
    emacs.lisp("(eval-buffer)");
    let mut agent = OwnAgent::join(&world, "k3y");
    let at = json!({ "path": path, "line": 2, "character": 3 });
    let hover = agent.ask("getHover", at.clone());
    assert!(hover["contents"][0].as_str().unwrap().contains("NUMBER"), "{hover}");
    let definition = agent.ask("getDefinition", at);
    assert_eq!(definition["locations"][0]["path"], json!(path), "{definition}");
    assert_eq!(definition["locations"][0]["range"]["start"]["line"], 0);
    let symbols = agent.ask("getSymbols", json!({ "path": path }));
    assert_eq!(symbols["symbols"][0]["name"], "é-double", "{symbols}");
}
