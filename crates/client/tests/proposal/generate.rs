//! Texts of the kinds that break line tools: few distinct lines, every ending, odd characters, no last line end.

use proptest::prelude::*;

/// Enough to find most faults in a second or two; `PROPTEST_CASES` asks for more.
pub(crate) fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) }
}

/// Few distinct ones, so that lines repeat and match by chance.
pub(crate) fn content() -> impl Strategy<Value = String> {
    let few = vec![
        "",
        "a",
        "b",
        "  a",
        "\tb",
        "}",
        "-- x",
        "++ y",
        "@@ -1 +1 @@",
        "é",
        "👩\u{200d}🔧",
        "x\ry",
        "\\ z",
    ];
    prop_oneof![4 => prop::sample::select(few).prop_map(str::to_owned), 1 => "[a-z ]{1,9}"]
}

fn line() -> impl Strategy<Value = String> {
    (content(), prop::sample::select(vec!["\n", "\n", "\r\n"])).prop_map(|(content, ending)| content + ending)
}

fn join(lines: &[String], ends: bool) -> String {
    let text = lines.concat();
    if ends { text } else { text.trim_end_matches(['\r', '\n']).to_owned() }
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    (prop::collection::vec(line(), 0..16), prop::bool::weighted(0.7))
        .prop_map(|(lines, ends)| join(&lines, ends))
}

/// A text and what some edits made of it.
pub(crate) fn pair() -> impl Strategy<Value = (String, String)> {
    text().prop_flat_map(|base| {
        let lines: Vec<String> = base.split_inclusive('\n').map(str::to_owned).collect();
        let edit = (0..=lines.len(), 0..3_usize, prop::collection::vec(line(), 0..3));
        let edits = prop::collection::vec(edit, 0..4);
        (Just(base), edits, prop::bool::weighted(0.9)).prop_map(move |(base, edits, ends)| {
            let mut edited = lines.clone();
            for (at, drop, new) in edits {
                let at = at.min(edited.len());
                let end = (at + drop).min(edited.len());
                edited.splice(at..end, new);
            }
            (base, join(&edited, ends))
        })
    })
}

/// A text that speaks LF, as models do.
pub(crate) fn spoken() -> impl Strategy<Value = String> {
    prop::collection::vec(content(), 0..4).prop_map(|lines| lines.join("\n"))
}

/// How a file may be encoded, by the bytes it starts with.
pub(crate) fn encoded(text: &str, how: u8) -> Vec<u8> {
    let units = || text.encode_utf16();
    match how % 4 {
        0 => text.as_bytes().to_vec(),
        1 => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        2 => [vec![0xFF, 0xFE], units().flat_map(u16::to_le_bytes).collect()].concat(),
        _ => [vec![0xFE, 0xFF], units().flat_map(u16::to_be_bytes).collect()].concat(),
    }
}
