//! The chat in the page with an engine at a URL: `linkspan-agent serve` with a script as its model. What the user sees,
//! and what the file holds.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::json;

use crate::support::review_page::*;
use crate::support::*;

const COMPOSER: &str = "[data-field='message']";
const TOKEN: &str = "a-token-of-the-test";
const TEXT: &str = "one\ntwo\nthree\n";

/// Ended with the test.
struct ServedEngine {
    child: Child,
    url: String,
}

impl ServedEngine {
    fn start(world: &World, script: &str) -> ServedEngine {
        let (token, script_file) = (world.root().join("token"), world.root().join("model.toml"));
        std::fs::write(&script_file, script).unwrap();
        std::fs::write(&token, TOKEN).unwrap();
        std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let mut command = world.program(paths::linkspan_agent());
        command.args(["serve", "--port", "0", "--model", &format!("script:{}", script_file.display())]);
        command.arg("--token-file").arg(token).current_dir(world.home()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("the engine ended").unwrap();
            if let Some(url) = line.strip_prefix("Serving on ") {
                break url.to_owned();
            }
        };
        // Nobody else reads what it says.
        std::thread::spawn(move || lines.for_each(drop));
        ServedEngine { child, url }
    }
}

impl Drop for ServedEngine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_engine_answers_shows_its_tool_calls_and_stops_when_the_user_wants_it() {
    let script = "[[turn]]\ntext = \"I will look.\"\ncalls = [{ tool = \"read_file\", arguments = { path = \"a.txt\" } }]\n\
                  [[turn]]\ntext = \"It has **three** lines.\"\n\
                  [[turn]]\npace_ms = 200\ntext = \"This takes a while, and then some more, until the user has had enough of all these words, which go on and on and on.\"\n";
    let browser = Browser::start();
    let world = World::new();
    world.file("a.txt", TEXT);
    let engine = ServedEngine::start(&world, script);
    hosted::add_engine(&world, "my-engine", &engine.url, "ENGINE_TOKEN");
    let serve = world.serve_with(&[&world.workspace()], &[("ENGINE_TOKEN", TOKEN)]);
    let context = browser.context(&json!({}));
    let page = context.page();
    follow(&page, &link(&world));
    page.click("[data-action='chat']");
    page.click(".agent-choice:has-text('my-engine')");
    page.click(COMPOSER);
    page.types("what is in a.txt?");
    page.press("Enter");
    page.sees("#chat .ask [data-action='allowOnce']");
    look();
    page.click("#chat .ask [data-action='allowOnce']");
    page.says(".from-user", "what is in a.txt?");
    page.sees(".from-agent:has-text('I will look.')");
    page.sees(".tool-call[data-state='done']:has-text('a.txt')");
    page.sees(".from-agent .md strong:has-text('three')");
    page.sees(".chat[data-state='idle']");

    page.click(COMPOSER);
    page.types("and now at length");
    page.press("Enter");
    page.sees(".from-agent:has-text('This takes')");
    page.sees(".chat[data-state='working']");
    page.click(".composer [data-action='stop']");
    page.sees(".chat[data-state='idle']");
    page.sees(".item:has-text('The turn was cancelled.')");
    assert!(!page.shows(".from-agent:has-text('on and on and on')"));
    assert_eq!(world.read_text("a.txt"), TEXT);
    assert_eq!(page.complaints(), Vec::<String>::new());
    drop((engine, serve));
}
