//! The page says what the agent will not receive before the user types, and nothing where every word arrives.

use crate::support::review_page::*;
use crate::support::*;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn new() -> String {
    OLD.replace("two", "2").replace("seven", "7")
}

#[test]
fn what_claude_code_will_not_receive_is_said_before_a_word_is_typed() {
    let fixture = ReviewFixture::about(Agent::claude, OLD, &new());
    let page = &fixture.page;
    page.says(".bar [data-unheard]", "Claude Code receives only yes or no");
    page.says(".bar [data-unheard]", "run `linkspan hook install claude`");
    page.until("document.querySelector('[data-field=reason]').value === ''");
    page.press("n");
    page.press("c");
    page.until("document.activeElement.dataset.field === 'comment'");
    page.says("article [data-unheard='comments']", "Claude Code will not receive your comments.");
    page.until("document.activeElement.value === ''");
    page.types("why?");
    page.click("article [data-action='save-comment']");
    page.sees("article [data-comment]");
    page.until("document.querySelector('.bar-hint').textContent === ''");
    look();
    page.click(REJECT);
    page.sees(OUTCOME);
    page.until("document.querySelector('.bar [data-unheard]').hidden");
}

#[test]
fn nothing_is_said_about_an_agent_that_receives_every_word() {
    let fixture = ReviewFixture::about(Agent::nexus3, OLD, &new());
    let page = &fixture.page;
    page.until("document.querySelector('.bar [data-unheard]').hidden");
    page.press("n");
    page.press("c");
    page.until("document.activeElement.dataset.field === 'comment'");
    page.until("document.querySelector(\"[data-unheard='comments']\").hidden");
}
