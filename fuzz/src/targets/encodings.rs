//! A file in any encoding, a proposal, and which hunks to take: every byte outside of them stays where it was. And one
//! replacement by place, which changes what is there and nothing else.
//!
//! The input: the file's bytes, the proposal and the choice, with three NULs between them, which no text has in any
//! encoding.

use linkspan_review::{
    Splice, SpliceError, Text, TextPosition, compose, decode, hunks, splice, to_file_conventions,
};

use crate::lines;

pub(crate) fn run(data: &[u8]) {
    let mut parts = parts(data);
    let (file, proposed, choice) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
    let Some(Ok(base)) = file.map(decode) else { return };
    let Ok(proposed) = str::from_utf8(proposed.unwrap_or_default()) else { return };
    outside_of_hunks(file.unwrap_or_default(), &base, proposed, choice);
    replaced(&base.text, proposed, choice);
}

pub(crate) fn parts(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(data);
    std::iter::from_fn(move || {
        let now = rest?;
        match now.windows(3).position(|window| window == [0; 3]) {
            Some(at) => {
                rest = Some(&now[at + 3..]);
                Some(&now[..at])
            }
            None => rest.take(),
        }
    })
}

fn outside_of_hunks(file: &[u8], base: &Text, proposed: &str, choice: &[u8]) {
    let mark = base.format.encode("").expect("nothing can be said in every encoding").len();
    let encoded = |text: &str| base.format.encode(text).map(|bytes| bytes[mark..].to_vec());
    let (proposed, _) = to_file_conventions(Some(base), proposed);
    let hunks = hunks(&base.text, &proposed);
    let is_taken = |at: usize| choice.get(at).is_some_and(|byte| byte & 1 == 1);
    let taken: Vec<_> =
        hunks.iter().enumerate().filter(|(at, _)| is_taken(*at)).map(|(_, hunk)| hunk.id).collect();
    let composed = compose(&base.text, &proposed, &hunks, |id| taken.contains(id));
    let Ok(written) = base.format.encode(&composed) else { return };

    let (old, new) = (lines(&base.text), lines(&proposed));
    let mut ends = vec![mark];
    for line in &old {
        ends.push(ends[ends.len() - 1] + encoded(line).expect("it was in the file").len());
    }
    assert_eq!(ends.last(), Some(&file.len()), "a line's bytes depend on where it stands");
    let mut rest = written.strip_prefix(&file[..mark]).expect("the mark is lost");
    let mut at = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let (start, end) = (hunk.before.start as usize, hunk.before.end as usize);
        rest = rest.strip_prefix(&file[ends[at]..ends[start]]).expect("bytes before a hunk changed");
        let put = match is_taken(index) {
            true => encoded(&new[hunk.after.start as usize..hunk.after.end as usize].concat())
                .expect("it was written"),
            false => file[ends[start]..ends[end]].to_vec(),
        };
        rest = rest.strip_prefix(put.as_slice()).expect("a hunk is not what was decided");
        at = end;
    }
    assert_eq!(rest, &file[ends[at]..], "bytes behind the last hunk changed");
}

fn replaced(text: &str, new: &str, choice: &[u8]) {
    let place =
        |at: usize| (text.is_char_boundary(at) && !text[..at].ends_with('\r')).then(|| place_of(text, at));
    let [Some(from), Some(to)] =
        [0, 1].map(|which| choice.get(which).map(|byte| usize::from(*byte).min(text.len())))
    else {
        return;
    };
    let (from, to) = (from.min(to), from.max(to));
    let (Some(start), Some(end)) = (place(from), place(to)) else { return };
    let there = text[from..to].to_owned();
    let order =
        |expects: String| Splice { from: start, to: end, text: new.to_owned(), expects: Some(expects) };
    let result = splice(text, &[order(there.clone())]).expect("what is expected is there");
    let crlf = text.matches("\r\n").count();
    let plain = format!("{}{new}{}", &text[..from], &text[to..]);
    if crlf == 0 || crlf != text.matches('\n').count() {
        assert_eq!(result, plain);
    } else {
        assert_eq!(result.replace("\r\n", "\n"), plain.replace("\r\n", "\n"));
    }
    let stale = splice(text, &[order(format!("{there}!"))]);
    assert!(matches!(stale, Err(SpliceError::Stale { .. })), "{stale:?}");
}

fn place_of(text: &str, at: usize) -> TextPosition {
    let before = &text[..at];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let character = before[start..].encode_utf16().count();
    TextPosition { line: line as u32, character: character as u32 }
}
