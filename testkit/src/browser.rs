//! A real browser and the pages in it, driven through `editors/web/tests/driver.mjs`. Knows nothing of what a page
//! shows: selectors and expectations are the tests'.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{paths, prerequisites};

/// A browser is many processes, so it gets its own limit.
pub const PATIENCE: Duration = Duration::from_secs(20);

struct Driver {
    child: RefCell<Child>,
    asks: RefCell<Option<ChildStdin>>,
    answers: Receiver<String>,
}

impl Driver {
    fn ask(&self, on: u64, call: &str, with: &[Value]) -> Result<Value, String> {
        let line = json!({ "on": on, "call": call, "with": with }).to_string() + "\n";
        let written = self.asks.borrow_mut().as_mut().unwrap().write_all(line.as_bytes());
        written.map_err(|error| format!("the driver is gone: {error}"))?;
        let answer = self.receive()?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer),
        }
    }

    fn receive(&self) -> Result<Value, String> {
        let line = self.answers.recv_timeout(2 * PATIENCE);
        let line = line.map_err(|error| format!("the browser does not answer: {error}"))?;
        serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))
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
    #[track_caller]
    pub fn start() -> Browser {
        Browser::with_flags(&[])
    }

    #[track_caller]
    pub fn with_flags(flags: &[&str]) -> Browser {
        let (modules, chromium) = (prerequisites::node_modules(), prerequisites::browser());
        let mut child = Command::new("node")
            .arg(paths::root().join("editors/web/tests/driver.mjs"))
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
        driver.receive().unwrap();
        Browser { driver: Rc::new(driver) }
    }

    /// A profile of its own: no cookie, no storage, no cache of another.
    pub fn context(&self, options: &Value) -> Context {
        let context = RemoteObject { driver: Rc::clone(&self.driver), handle: 0 }
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

/// An object that the driver keeps under a number.
#[derive(Clone)]
struct RemoteObject {
    driver: Rc<Driver>,
    handle: u64,
}

impl RemoteObject {
    #[track_caller]
    fn call(&self, method: &str, with: &[Value]) -> Value {
        self.try_call(method, with).unwrap_or_else(|error| panic!("{method} {with:?}: {error}"))
    }

    fn try_call(&self, method: &str, with: &[Value]) -> Result<Value, String> {
        self.driver.ask(self.handle, method, with).map(|answer| answer["value"].clone())
    }

    #[track_caller]
    fn make(&self, method: &str, with: &[Value]) -> RemoteObject {
        let answer = self.driver.ask(self.handle, method, with);
        let answer = answer.unwrap_or_else(|error| panic!("{method} {with:?}: {error}"));
        self.numbered(&answer["handle"])
    }

    fn all(&self, method: &str) -> Vec<RemoteObject> {
        let answer = self.driver.ask(self.handle, method, &[]).unwrap();
        let handles = answer["handles"].as_array().cloned().unwrap_or_default();
        handles.iter().map(|handle| self.numbered(handle)).collect()
    }

    fn numbered(&self, handle: &Value) -> RemoteObject {
        let handle = handle.as_u64().unwrap_or_else(|| panic!("not a handle: {handle}"));
        RemoteObject { driver: Rc::clone(&self.driver), handle }
    }
}

pub struct Context(RemoteObject);

impl Context {
    pub fn page(&self) -> Page {
        Page(self.0.make("newPage", &[]))
    }

    /// A script that runs in every page before its own scripts.
    pub fn with_script(&self, path: &Path) {
        self.0.call("addInitScript", &[json!({ "path": path })]);
    }

    /// Answers an address with this page instead of its server.
    pub fn with_answer(&self, url: &str, page: &str) {
        let answer = json!({ "status": 200, "contentType": "text/html", "body": page });
        self.0.call("route", &[json!(url), answer]);
    }

    /// Every page, including those that other pages opened.
    pub fn pages(&self) -> Vec<Page> {
        self.0.all("pages").into_iter().map(Page).collect()
    }

    pub fn cookies(&self) -> Vec<Value> {
        self.0.call("cookies", &[]).as_array().unwrap().clone()
    }
}

pub struct Page(RemoteObject);

impl Page {
    /// Returns the status of the answer.
    #[track_caller]
    pub fn goto(&self, url: &str) -> Result<u64, String> {
        let answer = self.0.driver.ask(self.0.handle, "goto", &[json!(url)])?;
        if answer["handle"].is_null() {
            // Only the fragment changed, so there was no request.
            return Ok(0);
        }
        Ok(self.0.numbered(&answer["handle"]).call("status", &[]).as_u64().unwrap())
    }

    #[track_caller]
    pub fn reload(&self) {
        self.0.make("reload", &[]);
    }

    /// As a user does: the element has to be visible, at rest, and not covered by another.
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

    /// The texts of all matching elements.
    #[track_caller]
    pub fn texts(&self, selector: &str) -> Vec<String> {
        strings(&self.0.make("locator", &[json!(selector)]).call("allTextContents", &[]))
    }

    /// Whether it is visible now.
    #[track_caller]
    pub fn shows(&self, selector: &str) -> bool {
        self.0.call("isVisible", &[json!(selector)]) == json!(true)
    }

    /// Waits until it is visible.
    #[track_caller]
    pub fn sees(&self, selector: &str) {
        if let Err(error) = self.0.try_call("waitForSelector", &[json!(selector)]) {
            panic!("never seen: {selector}: {error}\n{}", self.state());
        }
    }

    /// Waits until the text of an element contains this; returns the whole text.
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

    /// Waits until it is gone.
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

    /// The value of an expression; a promise is awaited.
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

    /// Errors of its scripts and warnings of the browser, including those about its content policy.
    pub fn complaints(&self) -> Vec<String> {
        strings(&self.0.call("complaints", &[]))
    }

    /// Every address it requested.
    pub fn requests(&self) -> Vec<String> {
        strings(&self.0.call("requests", &[]))
    }

    /// The addresses of the page and its frames.
    pub fn frames(&self) -> Vec<String> {
        self.0.all("frames").iter().map(|frame| frame.call("url", &[]).as_str().unwrap().to_owned()).collect()
    }

    /// The frame in the page that shows this. It is used like a page, but has no keyboard of its own.
    #[track_caller]
    pub fn frame_with(&self, selector: &str) -> Page {
        self.waits(&format!("a frame with {selector}"), |page| {
            let mut frames = page.0.all("frames").into_iter().map(Page);
            frames.find(|frame| frame.0.try_call("isVisible", &[json!(selector)]) == Ok(json!(true)))
        })
    }

    pub fn close(self) {
        self.0.call("close", &[]);
    }

    /// Leaves the page, so that it can say goodbye to its server, and closes it, whatever state it is in.
    pub(crate) fn discard(&self) {
        let _ = self.goto("about:blank");
        let _ = self.0.try_call("close", &[]);
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
