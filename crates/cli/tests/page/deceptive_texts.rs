//! Texts that look like other texts, or that an editor would repair: shown as they are, with no byte changed.

use crate::support::review_page::*;
use crate::support::*;

/// Accepts two hunks of three in the page; returns the bytes of the file.
fn two_of_three(before: &[u8], proposed: &str) -> Vec<u8> {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a.txt", before);
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, proposed, "tab");
    let page = visit(&world, &browser);
    open(&page, &world.one_pending());
    page.click("role=checkbox[name='Include hunk 2 of 3']");
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    drop(serve);
    world.read("a.txt")
}

const LINES: &str = "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n11\r\n12";

#[test]
fn windows_line_ends_a_mark_at_the_start_and_no_line_end_at_the_end_stay() {
    let before = format!("\u{feff}{LINES}");
    let proposed = LINES.replacen('1', "one", 1).replace('6', "six").replace("\r\n12", "\r\ntwelve");
    let expected = proposed.replace("six", "6");
    let held = two_of_three(before.as_bytes(), &proposed);
    let held = String::from_utf8(held).unwrap();
    assert_eq!(held.trim_start_matches('\u{feff}'), expected);
    assert!(held.starts_with('\u{feff}'), "the mark");
}

#[test]
fn mixed_line_ends_stay_mixed() {
    let before = "1\n2\r\n3\n4\r5\r\n6\n7\r\n8\n9\n10\r\n11\n12\r\n";
    let proposed = before.replacen('1', "one", 1).replace('6', "six").replace("\n12", "\ntwelve");
    let expected = proposed.replace("six", "6");
    let held = two_of_three(before.as_bytes(), &proposed);
    assert_eq!(String::from_utf8(held).unwrap(), expected);
}

#[test]
fn an_edit_of_a_windows_text_writes_windows_line_ends_and_nothing_else_changes() {
    let fixture =
        ReviewFixture::about(Agent::nexus3, "one\r\ntwo\tx  \r\nthree\r\n", "one\r\ntwo\tx  \r\ndrei\r\n");
    let ReviewFixture { world, _others, mut agent, call, review: _review, page } = fixture;
    page.click("article [data-action='edit']");
    page.click(PROPOSED);
    page.press("Control+End");
    page.types("vier\nfünf");
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a.txt"), "one\r\ntwo\tx  \r\ndrei\r\nvier\r\nfünf");
}

#[test]
fn text_that_turns_around_or_hides_is_seen() {
    let browser = Browser::start();
    let world = World::new();
    let path = world.file("a\u{202e}txt.rs", "let admin = false;\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let sneaky = "let admin = false; /* \u{202e}} \u{2066}if x\u{2069} \u{2066} y\u{200b}z */\n";
    let call = agent.propose(&path, sneaky, "tab\u{200b}name");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    let shown = page.text(&row(&review));
    assert!(!shown.contains('\u{202e}') && shown.to_lowercase().contains("202e"), "{shown:?}");
    open(&page, &review);
    let named = "[...document.querySelectorAll(\".cm-content[aria-label='Proposed text'] .ls-hidden\")]
        .map(mark => (mark.title || mark.getAttribute('aria-label') || '') + ' ' + mark.textContent).join('|').toLowerCase()";
    let marks = page.evaluate(named).as_str().unwrap().to_owned();
    for code in ["202e", "2066", "2069", "200b"] {
        assert!(marks.contains(code), "{code} is not seen: {marks:?}");
    }
    page.click(ACCEPT);
    assert_eq!(agent.texts(call)[0], "FILE_SAVED");
    assert_eq!(world.read_text("a\u{202e}txt.rs"), sneaky, "seen, not changed");
}

#[test]
fn markup_in_names_and_texts_is_text() {
    let browser = Browser::start();
    let world = World::new();
    let name = "<img src=x onerror=alert(1)>.html";
    let path = world.file(name, "<b>one</b>\n");
    let serve = world.serve();
    let mut agent = Agent::nexus3(&world, serve.port);
    let call = agent.propose(&path, "<script>document.title = 'taken'</script>\n", "<script>1</script>");
    let review = world.one_pending();
    let page = visit(&world, &browser);
    assert!(page.text(&row(&review)).contains(name));
    open(&page, &review);
    page.says(PROPOSED, "<script>document.title");
    page.fill(REASON, "<img src=x onerror=alert(1)>");
    page.click(REJECT);
    assert!(agent.texts(call)[1].contains("<img src=x"));
    page.says(OUTCOME, "ejected");
    page.click("[data-action='history']");
    page.says("[data-entry]", name);
    let images = "[...document.querySelectorAll('img:not(.cm-widgetBuffer, header img)')].map(image => image.outerHTML).join()";
    assert_eq!(page.evaluate(images), "");
    assert_ne!(page.evaluate("document.title"), "taken");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
