//! Syntax highlighting as categories rather than colours: which bytes of a line are a keyword, a string, a comment. Runs
//! on a thread of its own and only for requested lines, because a grammar may be slow and a file large.

use std::collections::HashMap;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::document::{Painted, Side};

/// Lines are painted this many at a time.
pub(crate) const CHUNK: usize = 128;
/// A longer line is data rather than code.
const LONG_LINE: usize = 2000;
/// How many chunks before the requested one are parsed for exactness; further away a fresh start is close enough.
const LOOK_BACK: usize = 16;
/// How many sides keep their parser states.
const KEPT: usize = 16;

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Comment,
    Text,
    Number,
    Keyword,
    Function,
    Type,
    Attribute,
}

/// Which scopes have which ink; the innermost scope that has one wins.
const INKS: [(&str, Ink); 19] = [
    ("comment", Ink::Comment),
    ("string", Ink::Text),
    ("markup.raw", Ink::Text),
    ("constant.character.escape", Ink::Number),
    ("constant.other.placeholder", Ink::Number),
    ("constant", Ink::Number),
    ("keyword.operator.word", Ink::Keyword),
    ("keyword.control", Ink::Keyword),
    ("keyword.other", Ink::Keyword),
    ("keyword.declaration", Ink::Keyword),
    ("storage", Ink::Keyword),
    ("markup.heading", Ink::Keyword),
    ("entity.name.tag", Ink::Keyword),
    ("entity.name.function", Ink::Function),
    ("support.function", Ink::Function),
    ("variable.function", Ink::Function),
    ("entity.name", Ink::Type),
    ("support", Ink::Type),
    ("entity.other", Ink::Attribute),
];

/// One side of one revision of a review.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Page {
    pub(crate) review: String,
    pub(crate) revision: u32,
    pub(crate) side: Side,
}

/// Lines that are on the screen and have no colours yet.
#[derive(Debug, Clone)]
pub struct PaintRequest {
    pub(crate) page: Page,
    pub(crate) path: String,
    pub(crate) text: Arc<str>,
    pub(crate) chunk: usize,
}

/// Lines with their colours.
#[derive(Debug, Clone)]
pub struct PaintedChunk {
    pub(crate) page: Page,
    /// The first line.
    pub(crate) start: usize,
    pub(crate) lines: Vec<Painted>,
}

/// Highlights requested lines, the newest request first, until the senders are gone.
pub(crate) fn paint(options: &Receiver<PaintRequest>, done: impl Fn(PaintedChunk) -> bool) {
    let mut painter = Painter::new();
    let mut waiting: Vec<PaintRequest> = Vec::new();
    loop {
        if waiting.is_empty() {
            match options.recv() {
                Ok(wish) => waiting.push(wish),
                Err(_) => return,
            }
        }
        waiting.extend(options.try_iter());
        if let Some(wish) = waiting.pop()
            && let Some(lines) = painter.lines(&wish)
            && !done(PaintedChunk { page: wish.page, start: wish.chunk * CHUNK, lines })
        {
            return;
        }
    }
}

#[derive(Debug)]
struct Painter {
    grammars: SyntaxSet,
    inks: Vec<(Scope, Ink)>,
    /// The parser state at the start of each parsed chunk.
    states: HashMap<Page, HashMap<usize, State>>,
}

#[derive(Debug, Clone)]
struct State {
    parse: ParseState,
    scopes: ScopeStack,
}

impl Painter {
    fn new() -> Painter {
        let inks = INKS.iter().filter_map(|(name, ink)| Some((Scope::from_str(name).ok()?, *ink)));
        Painter { grammars: two_face::syntax::extra_newlines(), inks: inks.collect(), states: HashMap::new() }
    }

    /// The colours of a chunk; `None` when the language is not known.
    fn lines(&mut self, wish: &PaintRequest) -> Option<Vec<Painted>> {
        let grammar = grammar(&self.grammars, wish)?;
        if self.states.len() > KEPT && !self.states.contains_key(&wish.page) {
            self.states.clear();
        }
        let states = self.states.entry(wish.page.clone()).or_default();
        let known = (0..=wish.chunk).rev().take(LOOK_BACK).find(|chunk| states.contains_key(chunk));
        let from =
            known.unwrap_or(wish.chunk.saturating_sub(if wish.chunk < LOOK_BACK { wish.chunk } else { 1 }));
        let fresh = || State { parse: ParseState::new(grammar), scopes: ScopeStack::new() };
        let mut state = states.get(&from).cloned().unwrap_or_else(fresh);
        let mut lines = wish.text.split_inclusive('\n').skip(from * CHUNK);
        let mut painted = Vec::new();
        for chunk in from..=wish.chunk {
            states.entry(chunk).or_insert_with(|| state.clone());
            painted = lines
                .by_ref()
                .take(CHUNK)
                .map(|line| paint_line(line, &mut state, &self.grammars, &self.inks))
                .collect();
        }
        Some(painted)
    }
}

fn grammar<'a>(grammars: &'a SyntaxSet, wish: &PaintRequest) -> Option<&'a SyntaxReference> {
    let name = wish.path.rsplit('/').next().unwrap_or_default();
    let by_name = grammars.find_syntax_by_extension(name);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let by_extension = || grammars.find_syntax_by_extension(extension?);
    let by_first_line = || grammars.find_syntax_by_first_line(wish.text.split_inclusive('\n').next()?);
    by_name.or_else(by_extension).or_else(by_first_line).filter(|found| found.name != "Plain Text")
}

fn paint_line(line: &str, state: &mut State, grammars: &SyntaxSet, inks: &[(Scope, Ink)]) -> Painted {
    if line.len() > LONG_LINE {
        return Vec::new();
    }
    let Ok(changes) = state.parse.parse_line(line, grammars) else { return Vec::new() };
    let mut painted: Painted = Vec::new();
    let mut at = 0;
    let mut put = |range: Range<usize>, scopes: &ScopeStack| {
        let Some(ink) = ink_of(scopes, inks).filter(|_| !range.is_empty()) else { return };
        match painted.last_mut() {
            Some((last, same)) if *same == ink && last.end == range.start => last.end = range.end,
            _ => painted.push((range, ink)),
        }
    };
    for (offset, change) in changes {
        put(at..offset, &state.scopes);
        at = offset.max(at);
        // A grammar that leaves a scope it never entered costs only colours.
        let _ = state.scopes.apply(&change);
    }
    put(at..line.len(), &state.scopes);
    painted
}

fn ink_of(scopes: &ScopeStack, inks: &[(Scope, Ink)]) -> Option<Ink> {
    let ink =
        |scope: &Scope| inks.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, ink)| *ink);
    scopes.as_slice().iter().rev().find_map(ink)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(path: &str, text: &str, chunk: usize) -> PaintRequest {
        let page = Page { review: "r1".into(), revision: 1, side: Side::After };
        PaintRequest { page, path: path.into(), text: text.into(), chunk }
    }

    fn ink_at(painted: &[Painted], line: usize, byte: usize) -> Option<Ink> {
        painted[line].iter().find(|(range, _)| range.contains(&byte)).map(|(_, ink)| *ink)
    }

    #[test]
    fn code_has_colours_and_plain_text_has_none() {
        let mut painter = Painter::new();
        let rust = "// hi\nfn main() { let a = \"x\"; }\n";
        let painted = painter.lines(&wish("/w/a.rs", rust, 0)).unwrap();
        assert_eq!(ink_at(&painted, 0, 3), Some(Ink::Comment));
        assert_eq!(ink_at(&painted, 1, 0), Some(Ink::Keyword));
        assert_eq!(ink_at(&painted, 1, 3), Some(Ink::Function));
        assert_eq!(ink_at(&painted, 1, 21), Some(Ink::Text));
        assert!(painter.lines(&wish("/w/notes", "just words\n", 0)).is_none());
    }

    #[test]
    fn a_comment_that_began_chunks_before_is_still_one() {
        let text = format!("/*\n{}*/ fn a() {{}}\n", "x\n".repeat(3 * CHUNK));
        let mut painter = Painter::new();
        let painted = painter.lines(&wish("/w/a.rs", &text, 2)).unwrap();
        assert_eq!(ink_at(&painted, 5, 0), Some(Ink::Comment));
    }

    #[test]
    fn the_middle_of_a_huge_file_needs_only_its_surroundings() {
        let text = "fn a() {}\n".repeat(100_000);
        let mut painter = Painter::new();
        let painted = painter.lines(&wish("/w/a.rs", &text, 700)).unwrap();
        assert_eq!(painted.len(), CHUNK);
        assert_eq!(ink_at(&painted, 9, 0), Some(Ink::Keyword));
    }

    #[test]
    fn a_very_long_line_is_left_plain() {
        let text = format!("let a = \"{}\";\n", "x".repeat(5000));
        assert_eq!(Painter::new().lines(&wish("/w/a.js", &text, 0)).unwrap(), [vec![]]);
    }
}
