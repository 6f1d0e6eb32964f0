//! `--editors`: Linkspan's extension and Claude Code's own one in the same window of VS Code, in turns: from the frame of
//! the agent to the diff on the screen, and from the click on Accept to the answer. What is on the screen is
//! `window.rs`'s.

mod window;

use std::path::Path;

use anyhow::{Context, Result};

use crate::chart::{self, Bar, Panel};
use crate::measure::Effort;
use crate::report::{self, Row};
use crate::stats::{Spread, median};
use window::{Extension, Sample, Window};

/// A file to review.
struct Size {
    name: &'static str,
    lines: usize,
}

const SIZES: [Size; 2] = [Size { name: "200 lines", lines: 200 }, Size { name: "2 MB", lines: 40_000 }];

/// Whether VS Code still has the file loaded from the change before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loaded {
    NewFile,
    SameFile,
}

/// What one contender needed, turn by turn.
#[derive(Default)]
struct Times {
    shown: Vec<f64>,
    answered: Vec<f64>,
}

struct Compared {
    what: String,
    ours: Times,
    theirs: Times,
}

pub(crate) fn run(effort: Effort, picture: Option<&Path>, progress: &dyn Fn(&str)) -> Result<String> {
    progress("the start of VS Code");
    let session = window::start()?;
    let mut window = Window::open(&session);
    let mut all = Vec::new();
    for size in &SIZES {
        for loaded in [Loaded::NewFile, Loaded::SameFile] {
            let what = match loaded {
                Loaded::NewFile => format!("{}, a new file each time", size.name),
                Loaded::SameFile => format!("{}, the same file again", size.name),
            };
            progress(&what);
            let compared = compare(&mut window, what, size, loaded, effort.pick(15, 4))?;
            let [ours, theirs] = [&compared.ours.shown, &compared.theirs.shown].map(|times| median(times));
            progress(&format!("… shown after {ours:.0} ms, beside {theirs:.0} ms"));
            all.push(compared);
        }
    }
    if let Some(path) = picture {
        let drawn = chart::draw("Milliseconds until a diff is shown in VS Code", &panels(&all));
        std::fs::write(path, drawn).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(report::table(&all.iter().flat_map(rows).collect::<Vec<_>>()))
}

fn compare(window: &mut Window, what: String, size: &Size, loaded: Loaded, turns: usize) -> Result<Compared> {
    let mut compared = Compared { what, ours: Times::default(), theirs: Times::default() };
    // The first turn loads scripts that later ones find loaded.
    for turn in 0..=turns {
        // Neither is always the one that finds the machine warm.
        let order = match turn % 2 {
            0 => [Extension::Linkspan, Extension::Claude],
            _ => [Extension::Claude, Extension::Linkspan],
        };
        for contender in order {
            let file = match loaded {
                Loaded::NewFile => format!("{}-{}-{turn}.rs", contender.name(), size.lines),
                Loaded::SameFile => format!("{}-{}.rs", contender.name(), size.lines),
            };
            let Sample { shown, answered } = window.review(contender, &file, size.lines)?;
            let times = match contender {
                Extension::Linkspan => &mut compared.ours,
                Extension::Claude => &mut compared.theirs,
            };
            if turn > 0 {
                times.shown.push(shown);
                times.answered.push(answered);
            }
        }
    }
    Ok(compared)
}

fn rows(Compared { what, ours, theirs }: &Compared) -> [Row; 2] {
    let row = |what: String, ours: &[f64], theirs: &[f64]| {
        let note = format!("{:.0} : {:.0} ms", median(ours), median(theirs));
        Row::ratio(what, Spread::of_ratios(ours, theirs)).at_most(1.0).note(note)
    };
    [
        row(format!("{what}: agent's frame → diff shown"), &ours.shown, &theirs.shown),
        row(format!("{what}: click on Accept → answer"), &ours.answered, &theirs.answered),
    ]
}

fn panels(all: &[Compared]) -> Vec<Panel> {
    let bar = |contender: Extension, times: &Times| Bar {
        name: contender.title().to_owned(),
        value: median(&times.shown),
        ours: contender == Extension::Linkspan,
    };
    let panel = |compared: &Compared| Panel {
        title: format!("{}: ms until the diff is shown", compared.what),
        bars: vec![bar(Extension::Linkspan, &compared.ours), bar(Extension::Claude, &compared.theirs)],
    };
    all.iter().map(panel).collect()
}
