//! Texts made of lines that are never used twice, so that it can be said of each line where it comes from. Owns its own
//! way to put hunks together and to judge a merge: it must not lean on what it judges.

use std::collections::BTreeSet;

use linkspan_editor_api::ReviewShow;

use crate::rng::Rng;

pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn bare(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// Changes some lines of a text, and keeps it at about its length.
pub(super) fn changed(text: &str, chance: &mut Rng, mut word: impl FnMut() -> String) -> String {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut all: Vec<String> = lines(text).into_iter().map(str::to_owned).collect();
    for _ in 0..=chance.below(3) {
        if all.is_empty() {
            all.push(format!("{}{ending}", word()));
            continue;
        }
        let at = chance.below(all.len());
        let last = at + 1 == all.len();
        let fresh = |with_ending: bool, word: String| if with_ending { word + ending } else { word };
        match chance.below(4) {
            0 if all.len() < 16 => all.insert(at, fresh(true, word())),
            1 if all.len() > 8 && !last => drop(all.remove(at)),
            _ => {
                let ended = all.get(at).is_some_and(|line| line.ends_with('\n'));
                if let Some(line) = all.get_mut(at) {
                    *line = fresh(ended, word());
                }
            }
        }
    }
    all.concat()
}

/// What is left of a change when only these hunks of it are taken.
pub(super) fn with_hunks(show: &ReviewShow, taken: &BTreeSet<String>) -> String {
    let (base, side) = (lines(&show.base), lines(&show.proposed));
    let cut = |of: &[&str], start: u32, count: u32| -> String {
        of.iter().skip(start as usize).take(count as usize).copied().collect()
    };
    let (mut text, mut at) = (String::new(), 0);
    for hunk in &show.hunks {
        text += &cut(&base, at, hunk.before_start - at);
        text += &match taken.contains(&hunk.id) {
            true => cut(&side, hunk.after_start, hunk.after_count),
            false => cut(&base, hunk.before_start, hunk.before_count),
        };
        at = hunk.before_start + hunk.before_count;
    }
    text + &cut(&base, at, u32::MAX)
}

/// Whether `result` is what `wanted` was to `base`, on a file that holds `now`. Says what is wrong.
pub(super) fn is_carried(base: &str, wanted: &str, now: &str, result: &str) -> Result<(), String> {
    let set = |text| lines(text).into_iter().map(bare).collect::<BTreeSet<&str>>();
    let (was, want, is, got) = (set(base), set(wanted), set(now), set(result));
    let wrong = |what: &str, line: &str| Err(format!("{what}: `{line}`"));
    if let Some(line) = got.iter().find(|line| !want.contains(*line) && !is.contains(*line)) {
        return wrong("a line from nowhere", line);
    }
    if let Some(line) = is.difference(&was).find(|line| !got.contains(*line)) {
        return wrong("a line that came into the file meanwhile is gone", line);
    }
    if let Some(line) = want.difference(&was).find(|line| !got.contains(*line)) {
        return wrong("an accepted line is missing", line);
    }
    if let Some(line) =
        was.iter().find(|line| is.contains(*line) && want.contains(*line) && !got.contains(*line))
    {
        return wrong("a line that was not changed is gone", line);
    }
    if let Some(line) = was.difference(&want).chain(was.difference(&is)).find(|line| got.contains(*line)) {
        return wrong("a line that was taken out is there", line);
    }
    keeps_endings(now, result)
}

/// Lines that stay, stay to the byte and in their order. The last one may get or lose its end.
pub(super) fn keeps_endings(now: &str, result: &str) -> Result<(), String> {
    let (now, result) = (lines(now), lines(result));
    let mut rest = now.iter();
    for line in &result {
        let Some(stayed) = now.iter().find(|old| bare(old) == bare(line)) else { continue };
        if stayed != line && stayed.ends_with('\n') && line.ends_with('\n') {
            return Err(format!("a line that stays ends otherwise: {stayed:?} became {line:?}"));
        }
        if !rest.any(|old| old == stayed) {
            return Err(format!("a line that stays is elsewhere: {line:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_merge_is_known_from_one_that_lost_something() {
        let (base, wanted, now) = ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nc\nD\n");
        assert_eq!(is_carried(base, wanted, now, "a\nB\nc\nD\n"), Ok(()));
        for wrong in [
            "a\nB\nc\nd\n",
            "a\nb\nc\nD\n",
            "a\nB\nD\n",
            "a\nB\nc\nD\nx\n",
            "a\nB\nb\nc\nD\n",
            "c\na\nB\nD\n",
            "a\r\nB\nc\nD\n",
        ] {
            assert!(is_carried(base, wanted, now, wrong).is_err(), "{wrong:?}");
        }
    }
}
