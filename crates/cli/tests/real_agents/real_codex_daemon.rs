//! Codex with its daemon, to which the hub connects as a second client: the bytes on disk after each decision, and what
//! the model received. Nothing is configured in Codex: no hook, no MCP server.

use serde_json::json;

use crate::support::model::{ModelText, Role};
use crate::support::real_agent::{CodexServer, Sandbox};
use crate::support::{Editor, HubSocket, RealAgent, Serve, Turn, World, eventually};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const QUESTION: &str = "Would you like to make the following edits?";

/// Two hunks in `a.txt`, and a new file.
const PATCH: &str = "*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+2
 three
@@
 seven
-eight
+8
 nine
*** Add File: b.txt
+new
*** End Patch
";

/// The same without the new file.
const ONE_FILE: &str = "*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+2
 three
@@
 seven
-eight
+8
 nine
*** End Patch
";

/// Codex leaves before the window does.
struct CodexSession {
    codex: RealAgent,
    serve: Option<Serve>,
    world: World,
}

impl CodexSession {
    #[track_caller]
    fn with(patch: &str, server: CodexServer) -> CodexSession {
        let world = World::new();
        world.file("a.txt", TEXT);
        let serve = world.serve();
        let codex =
            RealAgent::codex(&world, Sandbox::ReadOnly, server, [Turn::calls("apply_patch", json!(patch))]);
        codex.is_connected(&world);
        let mut session = CodexSession { codex, serve: Some(serve), world };
        session.codex.prompt("please change it");
        session
    }

    /// The ids of the pending reviews, once the terminal asks, too.
    #[track_caller]
    fn reviews(&self, count: usize) -> Vec<String> {
        self.codex.tty.sees(QUESTION);
        self.world.pending(count)
    }

    /// What the model heard about its patch: the result of the tool, and the text of the user's review, which may come
    /// with it or after it.
    #[track_caller]
    fn told(&self) -> (String, Option<String>) {
        let result = self.codex.model.result(0).text;
        self.codex.tty.sees_no(QUESTION);
        (result, self.review_text())
    }

    fn review_text(&self) -> Option<String> {
        let said = self.codex.model.told();
        said.into_iter()
            .find(|said| said.role == Role::User && said.text.starts_with("The user reviewed"))
            .map(|ModelText { text, .. }| text)
    }

    #[track_caller]
    fn steered(&self) -> String {
        eventually("the model hears of the review", || self.review_text())
    }
}

#[test]
fn a_patch_that_is_accepted_in_the_editor_is_applied_by_codex() {
    let session = CodexSession::with(PATCH, CodexServer::AppServer);
    let reviews = session.reviews(2);
    session.world.run(&["accept", &reviews[0]]).ok();
    session.world.run(&["accept", &reviews[1]]).ok();
    let (result, _) = session.told();
    assert!(result.contains("Success. Updated the following files:\nA b.txt\nM a.txt\n"), "{result}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2").replace("eight", "8"));
    assert_eq!(session.world.read_text("b.txt"), "new\n");
    session.world.run(&["undo", &reviews[0]]).ok();
    assert_eq!(session.world.read_text("a.txt"), TEXT);
    assert_eq!(session.review_text(), None, "there is nothing to add");
}

#[test]
fn one_hunk_of_two_is_written_and_the_model_knows_which() {
    let session = CodexSession::with(PATCH, CodexServer::AppServer);
    let reviews = session.reviews(2);
    session.world.run(&["accept", &reviews[0], "--hunk", "1"]).ok();
    session.world.run(&["reject", &reviews[1], "--comment", "not needed"]).ok();
    let (result, _) = session.told();
    assert!(result.contains("rejected by user"), "{result}");
    let written = TEXT.replace("two", "2");
    eventually("the accepted part is written", || {
        (session.world.read_text("a.txt") == written).then_some(())
    });
    assert!(!session.world.path("b.txt").exists());
    let (a, b) = (session.world.path_str("a.txt"), session.world.path_str("b.txt"));
    let told = session.steered();
    let expected = format!(
        "The user reviewed your patch file by file. Codex reports the patch as rejected, because the user's editor has \
         written the accepted part itself. Do not apply that part again.\n\n\
         {a}: 1 of 2 hunks accepted and written.\n\
         From your proposal to the text that is now in the file:\n\
         --- proposed\n+++ accepted\n@@ -5,5 +5,5 @@\n five\n six\n seven\n-8\n+eight\n nine\n\n\
         {b}: rejected, not written. Reason: not needed"
    );
    assert_eq!(told, expected);
}

#[test]
fn an_edited_text_is_written_and_the_model_knows_how_it_differs() {
    let session = CodexSession::with(ONE_FILE, CodexServer::AppServer);
    let reviews = session.reviews(1);
    let mine = TEXT.replace("two", "Two").replace("eight", "8");
    let text = session.world.file("mine", &mine);
    session.world.run(&["accept", &reviews[0], "--with", &text]).ok();
    let (result, _) = session.told();
    assert!(result.contains("rejected by user"), "{result}");
    let told = session.steered();
    assert!(told.contains("accepted with edits of the user, and written."), "{told}");
    assert!(told.contains("\n-2\n+Two\n"), "{told}");
    assert_eq!(session.world.read_text("a.txt"), mine);
}

#[test]
fn every_word_of_a_rejection_reaches_the_model() {
    let session = CodexSession::with(ONE_FILE, CodexServer::AppServer);
    let reviews = session.reviews(1);
    let reason = "use the existing helper\nit is in util.txt\nand has tests";
    let verdict = json!({ "kind": "reject", "reason": reason });
    let comments = json!([{ "line": 2, "text": "why a digit?" }, { "line": 8, "text": "here too" }]);
    let decision = json!({ "verdict": verdict, "comments": comments });
    let decide = json!({ "review": reviews[0], "decision": decision });
    let decided = HubSocket::connect(&session.world).request("reviews/decide", decide);
    assert_eq!(decided["result"]["kind"], "taken", "{decided}");
    let (result, _) = session.told();
    assert!(result.contains("rejected by user"), "{result}");
    let a = session.world.path_str("a.txt");
    let expected = format!(
        "The user reviewed your patch and rejected it. Nothing of it was written.\n\n\
         {a}: rejected, not written. Reason: {reason}\nline 2: why a digit?\nline 8: here too"
    );
    assert_eq!(session.steered(), expected);
    assert_eq!(session.world.read_text("a.txt"), TEXT);
}

#[test]
fn what_is_decided_in_the_terminal_withdraws_the_reviews() {
    let mut session = CodexSession::with(PATCH, CodexServer::AppServer);
    session.reviews(2);
    session.codex.answers(QUESTION, "y");
    session.world.pending(0);
    let (result, _) = session.told();
    assert!(result.contains("Success."), "{result}");
    assert_eq!(session.world.read_text("b.txt"), "new\n");
}

#[test]
fn a_hub_that_is_killed_while_codex_waits_asks_about_the_same_reviews() {
    let mut session = CodexSession::with(PATCH, CodexServer::AppServer);
    let reviews = session.reviews(2);
    session.world.run(&["accept", &reviews[0], "--hunk", "2"]).ok();
    session.world.kill_hub();
    drop(session.serve.take());
    session.serve = Some(session.world.serve());
    session.codex.is_connected(&session.world);
    assert_eq!(session.world.pending(1), reviews[1..], "the decided one is not asked again");
    eventually("the agent waits again", || {
        let listed = session.world.reviews();
        listed
            .iter()
            .any(|review| review["review"] == reviews[1] && review["ownerGone"] != true)
            .then_some(())
    });
    session.world.run(&["accept", &reviews[1]]).ok();
    let (result, _) = session.told();
    assert!(result.contains("rejected by user"), "{result}");
    let told = session.steered();
    assert!(told.contains("1 of 2 hunks accepted and written."), "{told}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("eight", "8"));
    assert_eq!(session.world.read_text("b.txt"), "new\n");
}

#[test]
fn a_daemon_that_codex_starts_by_itself_is_found() {
    let session = CodexSession::with(ONE_FILE, CodexServer::Daemon);
    let reviews = session.reviews(1);
    session.world.run(&["accept", &reviews[0]]).ok();
    let (result, _) = session.told();
    assert!(result.contains("Success."), "{result}");
    assert_eq!(session.world.read_text("a.txt"), TEXT.replace("two", "2").replace("eight", "8"));
}

#[test]
fn after_ide_each_prompt_begins_with_the_open_files() {
    let world = World::new();
    let path = world.file("a.txt", TEXT);
    // Where there is no Codex yet, the hub looks again later.
    std::fs::create_dir_all(world.home().join(".codex")).unwrap();
    let editor = Editor::attach(&world);
    editor.open(&path, TEXT, false);
    let mut codex =
        RealAgent::codex(&world, Sandbox::ReadOnly, CodexServer::AppServer, [Turn::says("Seen.")]);
    codex.is_connected(&world);
    codex.prompt("/ide");
    codex.tty.sees("IDE context is on");
    codex.prompt("what do you see?");
    let told = eventually("the prompt reaches the model", || {
        let mut said = codex.model.told().into_iter().filter(|said| said.role == Role::User);
        said.find(|said| said.text.contains("what do you see?")).map(|said| said.text)
    });
    assert!(told.contains("a.txt: a.txt"), "{told}");
    drop((codex, editor));
}
