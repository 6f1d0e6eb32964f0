//! Texts and edits of the kinds that break line tools: few distinct lines, every ending, odd characters.

use proptest::prelude::*;

/// Enough to find most faults in a second or two; `PROPTEST_CASES` changes the number.
pub(crate) fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2048) }
}

/// Few distinct contents, so that lines repeat, move and match by chance.
fn content() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["", "a", "b", "c", "  a", "\tb", "}", "    }", " "]).prop_map(str::to_owned),
        2 => "[a-z]{1,6}( [a-z]{1,3}){0,3}",
        1 => prop::sample::select(vec!["é", "e\u{301}", "👩\u{200d}🔧", "\u{2028}", "\u{202e}x", "\r", "x\ry", "\u{c}"])
            .prop_map(str::to_owned),
    ]
}

fn line() -> impl Strategy<Value = String> {
    (content(), prop::sample::select(vec!["\n", "\n", "\r\n"])).prop_map(|(content, ending)| content + ending)
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(line(), 0..24)
}

fn join(lines: Vec<String>, ends: bool) -> String {
    let mut text = lines.concat();
    if !ends {
        while text.ends_with('\n') || text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    (lines(), prop::bool::weighted(0.7)).prop_map(|(lines, ends)| join(lines, ends))
}

/// The text with some of its lines replaced, dropped or added to.
fn edited(text: String) -> impl Strategy<Value = String> {
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let edits =
        prop::collection::vec((0..=lines.len(), 0..3_usize, prop::collection::vec(line(), 0..3)), 0..5);
    (edits, prop::bool::weighted(0.9)).prop_map(move |(edits, ends)| {
        let mut lines = lines.clone();
        for (at, drop, new) in edits {
            let at = at.min(lines.len());
            let end = (at + drop).min(lines.len());
            lines.splice(at..end, new);
        }
        join(lines, ends)
    })
}

/// Two texts, mostly similar.
pub(crate) fn pair() -> impl Strategy<Value = (String, String)> {
    prop_oneof![
        4 => text().prop_flat_map(|base| (Just(base.clone()), edited(base))),
        1 => (text(), text()),
    ]
}

/// A base and two changed versions of it.
pub(crate) fn triple() -> impl Strategy<Value = (String, String, String)> {
    text().prop_flat_map(|base| (Just(base.clone()), edited(base.clone()), edited(base)))
}
