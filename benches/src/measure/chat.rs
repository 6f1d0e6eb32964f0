//! The chat on the page, with a hosted agent behind the real hub: how soon a word of the agent is on the screen, and how
//! soon a conversation of five thousand items opens.

use std::fs;

use anyhow::{Context, Result};
use serde_json::json;

use super::Effort;
use crate::bench_hub::BenchHub;
use crate::browser::Browser;
use crate::editor::Editor;
use crate::report::Row;
use crate::stats::{Spread, at, median};

const ITEMS: usize = 5000;

/// Presses what a selector finds, once it is there and was seen long enough to count.
fn press(browser: &mut Browser, selector: &str) -> Result<()> {
    let script = "new Promise(done => {
        const look = () => {
            const found = document.querySelector(SELECTOR);
            if (found === null) return setTimeout(look, 20);
            setTimeout(() => { document.querySelector(SELECTOR).click(); done(0); }, 600);
        };
        look();
    })";
    browser.evaluate(&script.replace("SELECTOR", &json!(selector).to_string())).map(drop)
}

fn wait(browser: &mut Browser, condition: &str) -> Result<()> {
    let script =
        "new Promise(done => { const look = () => (CONDITION) ? done(0) : setTimeout(look, 20); look(); })";
    browser.evaluate(&script.replace("CONDITION", condition)).map(drop)
}

fn say(browser: &mut Browser, text: &str) -> Result<()> {
    let script = "(() => {
        const field = document.querySelector(\"[data-field='message']\");
        field.value = TEXT;
        field.dispatchEvent(new Event('input'));
        return 0;
    })()";
    browser.evaluate(&script.replace("TEXT", &json!(text).to_string()))?;
    press(browser, ".composer [data-action='send']:not([aria-disabled])")
}

/// For each word the milliseconds from the agent to the layout of the page, and to the end of the frame that shows it.
const WORDS: &str = "(() => {
    window.words = [[], []];
    const now = () => performance.timeOrigin + performance.now();
    let seen = 0;
    new MutationObserver(() => {
        const text = [...document.querySelectorAll('.from-agent')].at(-1)?.textContent ?? '';
        const stamps = [...text.matchAll(/@([0-9]+[.][0-9][0-9])/g)].map(found => Number(found[1]));
        const fresh = stamps.slice(seen);
        if (fresh.length === 0) return;
        seen = stamps.length;
        document.querySelector('.transcript').getBoundingClientRect();
        words[0].push(...fresh.map(sent => now() - sent));
        requestAnimationFrame(() => setTimeout(() => words[1].push(...fresh.map(sent => now() - sent))));
    }).observe(document.querySelector('#chat'), { subtree: true, childList: true, characterData: true });
    return 0;
})()";

/// Milliseconds from the press on a conversation until its last item is painted.
const OPEN: &str = "new Promise(done => {
    const begun = performance.now();
    new MutationObserver((_, observer) => {
        if (document.querySelector(\".item[data-item='5000']\") === null) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => done([performance.now() - begun])));
    }).observe(document.querySelector('#chat'), { subtree: true, childList: true });
    document.querySelector(\"[data-chat='t1']\").click();
})";

pub(crate) fn measure(effort: Effort) -> Result<Vec<Row>> {
    match Browser::start("")? {
        Some(mut browser) => rows(&mut browser, effort),
        None => Ok(vec![Row::not_measured("the chat", "no browser")]),
    }
}

fn rows(browser: &mut Browser, effort: Effort) -> Result<Vec<Row>> {
    let hub = BenchHub::start()?;
    let program = std::env::current_exe()?;
    let agents = format!(
        "[bench]\ncommand = {:?}\nargs = [\"role\", \"chat-agent\"]\n",
        program.display().to_string()
    );
    fs::write(hub.path("config/linkspan/agents.toml"), agents)?;
    let _editor = Editor::on_socket(&hub.socket()?, &hub.workspace())?;
    let link = hub.link()?;
    browser.goto(&link)?;
    press(browser, "[data-action='chat']")?;
    press(browser, ".agent-choice input[value='bench']")?;
    say(browser, &format!("items {ITEMS}"))?;
    press(browser, "#chat .ask [data-action='allowOnce']")?;
    wait(
        browser,
        "document.querySelector(\".item[data-item='5000']\") !== null && document.querySelector(\".chat[data-state='idle']\") !== null",
    )?;
    let count = effort.pick(300, 60);
    browser.evaluate(WORDS)?;
    say(browser, &format!("words {count}"))?;
    wait(browser, &format!("words[1].length >= {count}"))?;
    let (laid_out, painted) = (browser.numbers("words[0]")?, browser.numbers("words[1]")?);
    let page = link.split('#').next().context("no address")?;
    let mut opened = Vec::new();
    for _ in 0..effort.pick(10, 3) {
        browser.goto("about:blank")?;
        browser.goto(page)?;
        // The chat would open what was open before.
        browser.evaluate("sessionStorage.clear(); 0")?;
        press(browser, "[data-action='chat']")?;
        wait(browser, "document.querySelector(\"[data-chat='t1']\") !== null")?;
        opened.extend(browser.numbers(OPEN)?);
    }
    let p95 = |all: &[f64]| {
        let mut sorted = all.to_vec();
        sorted.sort_by(f64::total_cmp);
        at(&sorted, 95)
    };
    let note = |all: &[f64]| format!("median {:.1} ms", median(all));
    Ok(vec![
        Row::one(
            "chat, 5,000 items: a word of the agent → in the page, 95 of 100 within",
            "ms",
            p95(&laid_out),
        )
        .at_most(16.0)
        .note(note(&laid_out)),
        Row::one(
            "chat, 5,000 items: a word of the agent → the frame is shown, 95 of 100 within",
            "ms",
            p95(&painted),
        )
        .note(note(&painted)),
        Row::new("chat, 5,000 items: open the conversation", "ms", Spread::of(&opened)).at_most(300.0),
    ])
}
