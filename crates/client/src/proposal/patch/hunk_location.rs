//! The location of each hunk of a diff in a file: at its line number, else the only place where it fits.

use super::PatchMode;
use super::parser::{LineKind, PatchHunk, PatchLine};
use crate::proposal::error::ProposalError;
use crate::proposal::lf_view::content;

/// How many lines of outer context may differ, at either end, in fuzzy mode.
const MOST_FUZZ: usize = 2;
/// A search that takes longer counts as not found.
const MOST_COMPARISONS: usize = 20_000_000;
/// The most places that an error names.
const MOST_NAMED: usize = 100;

/// A hunk, without the ignored context, and its location.
#[derive(Debug)]
pub(super) struct Placed<'h, 'a> {
    pub(super) lines: &'h [PatchLine<'a>],
    pub(super) start: usize,
}

impl<'a> PatchHunk<'a> {
    pub(super) fn old_lines(&self) -> impl Iterator<Item = &PatchLine<'a>> {
        self.lines.iter().filter(|line| line.kind != LineKind::Added)
    }
}

pub(super) fn place<'h, 'a>(
    file: &[&str],
    hunks: &'h [PatchHunk<'a>],
    mode: PatchMode,
    speaks_cr: bool,
) -> Result<Vec<Placed<'h, 'a>>, ProposalError> {
    let mut search = Search { file, speaks_cr, from: 0, comparisons: 0 };
    let mut drift: isize = 0;
    let mut placed = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let stated = hunk.start.map(|start| {
            let first = if hunk.old_lines().next().is_some() { start.saturating_sub(1) } else { start };
            first.saturating_add_signed(drift)
        });
        let found = search.hunk(hunk, stated, mode).map_err(|places| match places.as_slice() {
            [] => search.difference(index + 1, hunk, stated),
            _ => ProposalError::HunkFitsSeveralPlaces {
                number: index + 1,
                lines: places.iter().map(|place| place + 1).collect(),
            },
        })?;
        let old = found.lines.iter().filter(|line| line.kind != LineKind::Added).count();
        search.from = found.start + old;
        if let Some(stated) = stated {
            let cut = hunk.lines.len().saturating_sub(found.lines.len());
            // Without outer context, the exact first line of the whole hunk is not known.
            if cut == 0 {
                drift = drift.saturating_add_unsigned(found.start).saturating_sub_unsigned(stated);
            }
        }
        placed.push(found);
    }
    Ok(placed)
}

struct Search<'f> {
    file: &'f [&'f str],
    speaks_cr: bool,
    /// Hunks are in order.
    from: usize,
    comparisons: usize,
}

impl Search<'_> {
    /// The error lists all places where it fits.
    fn hunk<'h, 'a>(
        &mut self,
        hunk: &'h PatchHunk<'a>,
        stated: Option<usize>,
        mode: PatchMode,
    ) -> Result<Placed<'h, 'a>, Vec<usize>> {
        let lines = hunk.lines.as_slice();
        if hunk.old_lines().next().is_none() {
            // Nothing to search for: it goes to its line number.
            let inside = stated.filter(|start| (self.from..=self.file.len()).contains(start));
            return inside.map(|start| Placed { lines, start }).ok_or_else(Vec::new);
        }
        let attempts: &[(bool, usize)] = match mode {
            PatchMode::Strict => &[(false, 0)],
            PatchMode::Tolerant => &[(false, 0), (true, 0)],
            PatchMode::Fuzzy => &[(false, 0), (true, 0), (true, 1), (true, MOST_FUZZ)],
        };
        for (tolerant, fuzz) in attempts {
            let (lines, cut) = without_outer_context(lines, *fuzz);
            let wanted: Vec<&PatchLine<'a>> =
                lines.iter().filter(|line| line.kind != LineKind::Added).collect();
            if wanted.is_empty() {
                continue;
            }
            let stated = stated.map(|start| start + cut).filter(|start| *start >= self.from);
            if let Some(start) = stated.filter(|start| self.fits(&wanted, *start, *tolerant)) {
                return Ok(Placed { lines, start });
            }
            let last = self.file.len().checked_sub(wanted.len());
            let starts = last.map_or(0..0, |last| self.from..last + 1);
            let mut places: Vec<usize> = Vec::new();
            for start in starts {
                if self.fits(&wanted, start, *tolerant) {
                    places.push(start);
                }
                if self.comparisons > MOST_COMPARISONS {
                    return Err(Vec::new());
                }
                if places.len() >= MOST_NAMED {
                    break;
                }
            }
            match places.as_slice() {
                [] => {}
                [start] => return Ok(Placed { lines, start: *start }),
                _ => return Err(places),
            }
        }
        Err(Vec::new())
    }

    fn fits(&mut self, wanted: &[&PatchLine<'_>], start: usize, tolerant: bool) -> bool {
        let same =
            wanted.iter().enumerate().take_while(|(offset, line)| self.same(start + offset, line, tolerant));
        let same = same.count();
        self.comparisons += same + 1;
        same == wanted.len()
    }

    fn same(&self, at: usize, line: &PatchLine<'_>, tolerant: bool) -> bool {
        let Some(there) = self.file.get(at) else { return false };
        if line.unended && (at + 1 < self.file.len() || there.ends_with('\n') && !tolerant) {
            return false;
        }
        let text = self.spoken(there);
        text == line.text || tolerant && text.split_whitespace().eq(line.text.split_whitespace())
    }

    /// A line of the file as the diff would write it.
    fn spoken<'l>(&self, line: &'l str) -> &'l str {
        if self.speaks_cr { line.strip_suffix('\n').unwrap_or(line) } else { content(line) }
    }

    /// At the best place: the first line that differs from the hunk.
    fn difference(&self, number: usize, hunk: &PatchHunk<'_>, stated: Option<usize>) -> ProposalError {
        let wanted: Vec<&PatchLine<'_>> = hunk.old_lines().collect();
        let same_at = |start: usize| {
            let same = wanted.iter().enumerate();
            same.take_while(|(offset, line)| self.same(start + offset, line, false)).count()
        };
        let stated = stated.unwrap_or(self.from).min(self.file.len());
        let mut best = (same_at(stated), stated);
        let mut comparisons = 0;
        for start in self.from..self.file.len() {
            let same = same_at(start);
            let nearer = start.abs_diff(stated) < best.1.abs_diff(stated);
            if same > best.0 || same == best.0 && nearer {
                best = (same, start);
            }
            comparisons += same + 1;
            if comparisons > MOST_COMPARISONS {
                break;
            }
        }
        let (same, start) = best;
        let line = wanted.get(same);
        let mut expected = line.map(|line| line.text.to_owned()).unwrap_or_default();
        if line.is_some_and(|line| line.unended) {
            expected.push_str(" (and the end of the file, without a line end)");
        }
        let found = self.file.get(start + same).map(|line| content(line).to_owned());
        ProposalError::HunkDoesNotApply { number, line: start + same + 1, expected, found }
    }
}

/// Also returns how many lines were omitted at the start.
fn without_outer_context<'h, 'a>(lines: &'h [PatchLine<'a>], fuzz: usize) -> (&'h [PatchLine<'a>], usize) {
    let is_context = |line: &&PatchLine<'_>| line.kind == LineKind::Context;
    let lead = lines.iter().take_while(is_context).count().min(fuzz);
    let tail = lines.iter().rev().take_while(is_context).count().min(fuzz);
    (lines.get(lead..lines.len() - tail).unwrap_or_default(), lead)
}
