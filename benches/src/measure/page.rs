//! The browser page in Chromium: how soon it shows forty reviews, how smoothly a long diff scrolls, and how soon after
//! a click the agent is told. Each beside a bare page, or the same decision made without one.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::Effort;
use crate::agent::{Agent, BenchDialect, open_diff, tool};
use crate::bench_hub::BenchHub;
use crate::browser::{Browser, serve};
use crate::editor::Editor;
use crate::frame::{TEXT, masked};
use crate::report::Row;
use crate::stats::{Spread, median};

const REVIEWS: usize = 40;
const LINES: usize = 100_000;
/// The page ignores an earlier click as a misclick.
const LOOK: Duration = Duration::from_millis(500);

/// Notes when as many rows as there are reviews have been painted.
const WATCH: &str = "
    new MutationObserver((_, observer) => {
        if (document.querySelectorAll('[data-review]').length < 40) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => { window.rowsAt = performance.now(); }));
    }).observe(document, { subtree: true, childList: true });";

/// Milliseconds from the start of loading to the first paint, and to all rows.
const PAINTED: &str = "new Promise(done => {
    const look = () => {
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        if (paint && window.rowsAt) done([paint.startTime, window.rowsAt]); else setTimeout(look, 5);
    };
    look();
})";

/// Milliseconds of each frame while what holds the text scrolls.
const SCROLL: &str = "(async () => {
    let box = document.querySelector(\".cm-content[aria-label='Proposed text'], pre\");
    while (!(box.scrollHeight > box.clientHeight + 100 && getComputedStyle(box).overflowY === 'auto')) box = box.parentElement;
    const frame = () => new Promise(requestAnimationFrame);
    const times = [];
    for (let last = await frame(); times.length < 180;) {
        box.scrollTop += 400;
        const now = await frame();
        times.push(now - last);
        last = now;
    }
    return times;
})()";

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    let Some(mut browser) = Browser::start(WATCH)? else {
        return Ok(vec![Row::one("the page", "", f64::NAN).note("not measured: no browser")]);
    };
    let mut rows = paint(&mut browser, effort)?;
    rows.extend(scroll(&mut browser, effort)?);
    rows.extend(decide(&mut browser, effort)?);
    Ok(rows)
}

fn paint(browser: &mut Browser, effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
    let mut agent = Agent::introduced(&hub.endpoint(editor.port)?, BenchDialect::Claude)?;
    for number in 0..REVIEWS {
        let path = hub.workspace().join(format!("{number}.txt"));
        fs::write(&path, "one\n")?;
        let arguments = json!({
            "old_file_path": path, "new_file_path": path, "new_file_contents": "two\n", "tab_name": "bench",
        });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        // All of them wait at once, so each has an id of its own.
        let message =
            json!({ "jsonrpc": "2.0", "id": 1000 + number, "method": "tools/call", "params": params });
        agent.send(&masked(TEXT, message.to_string().as_bytes()))?;
        editor.next_shown()?;
    }
    let bare = "<button data-review>a row</button>".repeat(REVIEWS);
    let bare = serve(format!("<!doctype html><title>bare</title>{bare}"))?;
    let link = hub.link()?;
    browser.goto(&link)?;
    browser.numbers(PAINTED)?;
    let page = link.split('#').next().unwrap_or_default();
    let (mut floor, mut first, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.pick(15, 4) {
        let mut shown = |url: &str| -> Result<[f64; 2]> {
            browser.goto("about:blank")?;
            browser.goto(url)?;
            browser.numbers(PAINTED)?.try_into().ok().context("two numbers")
        };
        let [_, bare] = shown(&bare)?;
        let [paint, rows] = shown(page)?;
        floor.push(bare);
        first.push(paint);
        all.push(rows);
    }
    let row = |what: &str, ours: &[f64]| {
        let note = format!("{:.0} : {:.0} ms", median(ours), median(&floor));
        Row::ratio(what, Spread::of_ratios(ours, &floor)).note(note)
    };
    Ok(vec![
        row("page, 40 reviews: first paint : a bare page with 40 rows", &first),
        row("page, 40 reviews: all rows seen : a bare page with 40 rows", &all).at_most(3.0),
    ])
}

fn scroll(browser: &mut Browser, effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
    let mut agent = Agent::introduced(&hub.endpoint(editor.port)?, BenchDialect::Claude)?;
    let line = |number: usize| format!("line {number:06} of a file that is about five megabytes long\n");
    let before: String = (0..LINES).map(line).collect();
    let changed = |number| if number % 100 == 50 { format!("changed {number}\n") } else { line(number) };
    let after: String = (0..LINES).map(changed).collect();
    let path = hub.workspace().join("long.txt");
    fs::write(&path, before)?;
    agent.send(&open_diff(&path.display().to_string(), &after))?;
    let shown = editor.next_shown()?;
    let bare =
        format!("<!doctype html><style>pre {{ height: 800px; overflow: auto }}</style><pre>{after}</pre>");
    let bare = serve(bare)?;
    let (mut floor, mut ours, mut opened) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.pick(5, 2) {
        browser.goto(&bare)?;
        floor.push(Spread::of(&browser.numbers(SCROLL)?).high);
        browser.goto(&hub.link()?)?;
        let start = Instant::now();
        open(browser, &shown.review)?;
        opened.push(start.elapsed().as_secs_f64() * 1e3);
        ours.push(Spread::of(&browser.numbers(SCROLL)?).high);
    }
    let note = format!("{:.1} : {:.1} ms; one frame in ten takes longer", median(&ours), median(&floor));
    Ok(vec![
        Row::new("page, 100,000 lines: open the diff", "ms", Spread::of(&opened)).at_most(2000.0),
        Row::ratio(
            "page, 100,000 lines: a frame while scrolling : plain text",
            Spread::of_ratios(&ours, &floor),
        )
        .at_most(1.5)
        .note(note),
    ])
}

fn decide(browser: &mut Browser, effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
    let mut agent = Agent::introduced(&hub.endpoint(editor.port)?, BenchDialect::Claude)?;
    let path = hub.workspace().join("a.txt");
    fs::write(&path, "one\n")?;
    browser.goto(&hub.link()?)?;
    let (mut clicked, mut sent) = (Vec::new(), Vec::new());
    for number in 0..effort.pick(20, 4) {
        let shown = propose(&mut agent, &editor, &path, number * 2)?;
        let start = Instant::now();
        editor.accept(&shown)?;
        accepted_answer(&mut agent)?;
        sent.push(start.elapsed().as_secs_f64() * 1e3);
        delivered(&mut agent)?;

        let shown = propose(&mut agent, &editor, &path, number * 2 + 1)?;
        open(browser, &shown.review)?;
        sleep(LOOK);
        // Clicked by the page itself a moment later, so that only the page knows the time of the click.
        browser.evaluate(
            "setTimeout(() => {
                window.clickedAt = performance.timeOrigin + performance.now();
                document.querySelector(\"article [data-action='accept']\").click();
            }, 50); 0",
        )?;
        accepted_answer(&mut agent)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3;
        delivered(&mut agent)?;
        let at = browser.evaluate("clickedAt")?.as_f64().context("no click")?;
        clicked.push(now - at);
    }
    let note = format!("{:.1} : {:.1} ms", median(&clicked), median(&sent));
    Ok(vec![
        Row::new("page: click on Accept → agent answered", "ms", Spread::of(&clicked)).at_most(10.0),
        Row::ratio("page: click → agent answered : an editor's accept", Spread::of_ratios(&clicked, &sent))
            .note(note),
    ])
}

fn propose(
    agent: &mut Agent,
    editor: &Editor,
    path: &Path,
    number: u32,
) -> Result<crate::editor::ShownReview> {
    agent.send(&open_diff(&path.display().to_string(), &format!("change {number}\n")))?;
    editor.next_shown()
}

fn accepted_answer(agent: &mut Agent) -> Result<()> {
    let answer = agent.receive()?;
    let answer = String::from_utf8_lossy(agent.bytes(&answer.payload)).into_owned();
    ensure!(answer.contains("FILE_SAVED"), "not accepted: {answer}");
    Ok(())
}

/// Another call shows the hub that the answer arrived.
fn delivered(agent: &mut Agent) -> Result<()> {
    agent.expect(&tool("getWorkspaceFolders", json!({})), "workspace")
}

/// Until its text is there to be read.
fn open(browser: &mut Browser, review: &str) -> Result<()> {
    browser.evaluate(&format!(
        "new Promise(done => {{
            let asked = false;
            const look = () => {{
                const row = document.querySelector(\"button[data-review='{review}']\");
                if (!asked && row) {{ asked = true; row.click(); }}
                const text = document.querySelector(\"article[data-open='{review}'] .cm-content[aria-label='Proposed text']\");
                if (text?.textContent) requestAnimationFrame(() => setTimeout(() => done(0))); else setTimeout(look, 5);
            }};
            look();
        }})"
    ))?;
    Ok(())
}
