//! A browser to measure in, driven through `editors/web/tests/driver.mjs`, and a server that only serves a page.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../editors/web/tests/driver.mjs");

/// One page in a browser of its own.
#[derive(Debug)]
pub(crate) struct Browser {
    child: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    page: u64,
}

impl Browser {
    /// `None` if there is no browser. `script` runs in every page before the page's own.
    pub(crate) fn start(script: &str) -> Result<Option<Browser>> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let found = variable("LINKSPAN_TEST_NODE_MODULES").zip(variable("LINKSPAN_TEST_BROWSER"));
        let Some((modules, chromium)) = found else { return Ok(None) };
        let mut node = Command::new("node");
        node.arg(DRIVER).args([modules, chromium]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = node.spawn().context("could not start `node`")?;
        let answers = BufReader::new(child.stdout.take().context("no output of the driver")?);
        let asks = child.stdin.take();
        let mut browser = Browser { child, asks, answers, page: 0 };
        browser.hear()?;
        let size = json!({ "viewport": { "width": 1440, "height": 900 } });
        let context = handle(&browser.ask(0, "newContext", &[size])?)?;
        browser.ask(context, "addInitScript", &[json!({ "content": script })])?;
        browser.page = handle(&browser.ask(context, "newPage", &[])?)?;
        Ok(Some(browser))
    }

    fn ask(&mut self, on: u64, call: &str, with: &[Value]) -> Result<Value> {
        let asks = self.asks.as_mut().context("the driver has ended")?;
        writeln!(asks, "{}", json!({ "on": on, "call": call, "with": with }))?;
        let answer = self.hear()?;
        if let Some(error) = answer.get("error") {
            bail!("{call}: {error}");
        }
        Ok(answer)
    }

    fn hear(&mut self) -> Result<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("the driver says {line:?}"))
    }

    pub(crate) fn goto(&mut self, url: &str) -> Result<()> {
        self.ask(self.page, "goto", &[json!(url)]).map(drop)
    }

    /// The value of an expression; of a promise, its result.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let answer = self.ask(self.page, "evaluate", &[json!(expression)])?;
        Ok(answer.get("value").cloned().unwrap_or_default())
    }

    /// The numbers that an expression evaluates to.
    pub(crate) fn numbers(&mut self, expression: &str) -> Result<Vec<f64>> {
        let value = self.evaluate(expression)?;
        serde_json::from_value(value.clone()).with_context(|| format!("no numbers: {value}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // At the end of its input the driver closes the browser and ends.
        self.asks.take();
        let _ = self.child.wait();
    }
}

fn handle(answer: &Value) -> Result<u64> {
    answer.get("handle").and_then(Value::as_u64).with_context(|| format!("not made: {answer}"))
}

/// Serves one page for as long as this program runs; returns its address.
pub(crate) fn serve(page: String) -> Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = format!("http://{}/", listener.local_addr()?);
    let page: Arc<str> = page.into();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let page = Arc::clone(&page);
            thread::spawn(move || answer(stream, &page));
        }
    });
    Ok(address)
}

fn answer(stream: TcpStream, page: &str) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let length = page.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    Ok(reader.get_mut().write_all((head + page).as_bytes())?)
}
