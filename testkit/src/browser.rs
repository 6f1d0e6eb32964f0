//! A real browser and the pages in it, driven through `editors/web/tests/driver.mjs`. Knows nothing of what a page
//! shows: selectors and expectations are the tests'.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::place;

/// A browser is many processes, so it gets longer than one of ours.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The folder with the npm packages, and the browser; none, with a word about it, where `cargo xtask test` did not
/// set them up.
pub fn found() -> Option<(PathBuf, PathBuf)> {
    let variable = |name: &str| {
        let found = std::env::var_os(name).map(PathBuf::from);
        if found.is_none() {
            println!("skipped: {name} is not set; `cargo xtask test` sets it");
        }
        found
    };
    Some((variable("LINKSPAN_TEST_NODE_MODULES")?, variable("LINKSPAN_TEST_BROWSER")?))
}

struct Driver {
    child: RefCell<Child>,
    asks: RefCell<Option<ChildStdin>>,
    answers: Receiver<String>,
}

impl Driver {
    fn ask(&self, on: u64, call: &str, with: &[Value]) -> Result<Value, String> {
        let line = json!({ "on": on, "call": call, "with": with }).to_string() + "\n";
        self.asks.borrow_mut().as_mut().unwrap().write_all(line.as_bytes()).expect("the driver is gone");
        let answer = self.hear();
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer),
        }
    }

    fn hear(&self) -> Value {
        let line = self.answers.recv_timeout(2 * PATIENCE).expect("the browser does not answer");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // At the end of its input the driver closes the browser.
        self.asks.borrow_mut().take();
        let mut child = self.child.borrow_mut();
        let until = Instant::now() + PATIENCE;
        while child.try_wait().is_ok_and(|ended| ended.is_none()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// One browser process with nothing in it yet.
pub struct Browser {
    driver: Rc<Driver>,
}

impl Browser {
    pub fn start() -> Option<Browser> {
        Browser::with_flags(&[])
    }

    pub fn with_flags(flags: &[&str]) -> Option<Browser> {
        let (modules, chromium) = found()?;
        let mut child = Command::new("node")
            .arg(place::root().join("editors/web/tests/driver.mjs"))
            .args([&modules, &chromium])
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("could not start `node`");
        let (said, answers) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
        let asks = RefCell::new(child.stdin.take());
        let driver = Driver { child: RefCell::new(child), asks, answers };
        driver.hear();
        Some(Browser { driver: Rc::new(driver) })
    }

    /// A profile of its own: no cookie, no storage, no cache of another.
    pub fn context(&self, options: &Value) -> Context {
        let context = Thing { driver: Rc::clone(&self.driver), handle: 0 }
            .make("newContext", std::slice::from_ref(options));
        let patience = json!(u64::try_from(PATIENCE.as_millis()).unwrap());
        context.call("setDefaultTimeout", &[patience]);
        Context(context)
    }

    /// A page in a profile of its own.
    pub fn page(&self) -> Page {
        self.context(&json!({})).page()
    }
}

/// What the driver holds for us under a number.
#[derive(Clone)]
struct Thing {
    driver: Rc<Driver>,
    handle: u64,
}

impl Thing {
    #[track_caller]
    fn call(&self, method: &str, with: &[Value]) -> Value {
        self.try_call(method, with).unwrap_or_else(|error| panic!("{method} {with:?}: {error}"))
    }

    fn try_call(&self, method: &str, with: &[Value]) -> Result<Value, String> {
        self.driver.ask(self.handle, method, with).map(|answer| answer["value"].clone())
    }

    #[track_caller]
    fn make(&self, method: &str, with: &[Value]) -> Thing {
        let answer = self.driver.ask(self.handle, method, with);
        let answer = answer.unwrap_or_else(|error| panic!("{method} {with:?}: {error}"));
        self.numbered(&answer["handle"])
    }

    fn all(&self, method: &str) -> Vec<Thing> {
        let answer = self.driver.ask(self.handle, method, &[]).unwrap();
        let handles = answer["handles"].as_array().cloned().unwrap_or_default();
        handles.iter().map(|handle| self.numbered(handle)).collect()
    }

    fn numbered(&self, handle: &Value) -> Thing {
        let handle = handle.as_u64().unwrap_or_else(|| panic!("no thing: {handle}"));
        Thing { driver: Rc::clone(&self.driver), handle }
    }
}

pub struct Context(Thing);

impl Context {
    pub fn page(&self) -> Page {
        Page(self.0.make("newPage", &[]))
    }

    /// A script that is in every page before its own are.
    pub fn with_script(&self, path: &Path) {
        self.0.call("addInitScript", &[json!({ "path": path })]);
    }

    /// Answers an address with this page instead of whoever is there.
    pub fn with_answer(&self, url: &str, page: &str) {
        let answer = json!({ "status": 200, "contentType": "text/html", "body": page });
        self.0.call("route", &[json!(url), answer]);
    }

    /// Every page there is, those that others opened too.
    pub fn pages(&self) -> Vec<Page> {
        self.0.all("pages").into_iter().map(Page).collect()
    }

    pub fn cookies(&self) -> Vec<Value> {
        self.0.call("cookies", &[]).as_array().unwrap().clone()
    }
}

pub struct Page(Thing);

impl Page {
    /// Gives the status of the answer.
    #[track_caller]
    pub fn goto(&self, url: &str) -> Result<u64, String> {
        let answer = self.0.driver.ask(self.0.handle, "goto", &[json!(url)])?;
        if answer["handle"].is_null() {
            // Only the fragment changed, so nothing was asked for.
            return Ok(0);
        }
        Ok(self.0.numbered(&answer["handle"]).call("status", &[]).as_u64().unwrap())
    }

    #[track_caller]
    pub fn reload(&self) {
        self.0.make("reload", &[]);
    }

    /// As a person does: what is clicked has to be seen, at rest, and not below something else.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.0.call("click", &[json!(selector)]);
    }

    #[track_caller]
    pub fn right_click(&self, selector: &str) {
        self.0.call("click", &[json!(selector), json!({ "button": "right" })]);
    }

    /// Moves the mouse over an element.
    #[track_caller]
    pub fn hover(&self, selector: &str) {
        self.0.call("hover", &[json!(selector)]);
    }

    #[track_caller]
    pub fn fill(&self, selector: &str, text: &str) {
        self.0.call("fill", &[json!(selector), json!(text)]);
    }

    /// A key wherever the focus is.
    #[track_caller]
    pub fn press(&self, key: &str) {
        self.0.call("keyboard.press", &[json!(key)]);
    }

    /// Types where the focus is.
    #[track_caller]
    pub fn types(&self, text: &str) {
        self.0.call("keyboard.type", &[json!(text)]);
    }

    /// Turns the wheel over the middle of an element.
    #[track_caller]
    pub fn wheel(&self, selector: &str, pixels: i64) {
        self.hover(selector);
        self.0.call("mouse.wheel", &[json!(0), json!(pixels)]);
    }

    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        self.0.call("innerText", &[json!(selector)]).as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.0.call("getAttribute", &[json!(selector), json!(name)]).as_str().map(str::to_owned)
    }

    #[track_caller]
    pub fn count(&self, selector: &str) -> usize {
        let script = format!("document.querySelectorAll({}).length", json!(selector));
        usize::try_from(self.evaluate(&script).as_u64().unwrap()).unwrap()
    }

    /// The texts of all that fit.
    #[track_caller]
    pub fn texts(&self, selector: &str) -> Vec<String> {
        strings(&self.0.make("locator", &[json!(selector)]).call("allTextContents", &[]))
    }

    /// Whether it can be seen right now.
    #[track_caller]
    pub fn shows(&self, selector: &str) -> bool {
        self.0.call("isVisible", &[json!(selector)]) == json!(true)
    }

    /// Waits until it is there to be seen.
    #[track_caller]
    pub fn sees(&self, selector: &str) {
        if let Err(error) = self.0.try_call("waitForSelector", &[json!(selector)]) {
            panic!("never seen: {selector}: {error}\n{}", self.state());
        }
    }

    /// Waits until the text of an element has this in it; gives the whole text.
    #[track_caller]
    pub fn says(&self, selector: &str, part: &str) -> String {
        let text = |page: &Page| match page.count(selector) {
            0 => String::new(),
            _ => page.text(selector),
        };
        self.waits(&format!("{selector} says {part:?}"), |page| {
            Some(text(page)).filter(|text| text.contains(part))
        })
    }

    /// Waits until it is there no more.
    #[track_caller]
    pub fn sees_no(&self, selector: &str) {
        self.waits(&format!("no {selector}"), |page| (page.count(selector) == 0).then_some(()));
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn until(&self, expression: &str) {
        self.waits(expression, |page| (page.evaluate(expression) == json!(true)).then_some(()));
    }

    #[track_caller]
    pub fn waits<T>(&self, what: &str, mut look: impl FnMut(&Page) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(Instant::now() < until, "never: {what}\n{}", self.state());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The value of an expression; of a promise, what it comes to.
    #[track_caller]
    pub fn evaluate(&self, expression: &str) -> Value {
        self.0.call("evaluate", &[json!(expression)])
    }

    #[track_caller]
    pub fn picture(&self, path: &Path) {
        self.try_picture(path).unwrap();
    }

    pub fn try_picture(&self, path: &Path) -> Result<(), String> {
        let how = json!({ "path": path, "animations": "disabled", "caret": "hide" });
        self.0.try_call("screenshot", &[how]).map(drop)
    }

    #[track_caller]
    pub fn resize(&self, width: u32, height: u32) {
        self.0.call("setViewportSize", &[json!({ "width": width, "height": height })]);
    }

    /// Errors of its scripts and complaints of the browser, those about its policy among them.
    pub fn complaints(&self) -> Vec<String> {
        strings(&self.0.call("complaints", &[]))
    }

    /// Every address it asked for.
    pub fn requests(&self) -> Vec<String> {
        strings(&self.0.call("requests", &[]))
    }

    /// The addresses of what is shown in it and its frames.
    pub fn frames(&self) -> Vec<String> {
        self.0.all("frames").iter().map(|frame| frame.call("url", &[]).as_str().unwrap().to_owned()).collect()
    }

    pub fn close(self) {
        self.0.call("close", &[]);
    }

    /// For the message of a test that fails.
    fn state(&self) -> String {
        let body = self.0.try_call("innerText", &[json!("body"), json!({ "timeout": 1000 })]);
        let connection = self.0.try_call("getAttribute", &[json!("body"), json!("data-connection")]);
        format!("connection: {connection:?}\ncomplaints: {:#?}\npage: {body:?}", self.complaints())
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
