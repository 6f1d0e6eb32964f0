//! The sample project: its files, the changes that the demo agent proposes, and the result of the script's decisions.
//! Knows no hub.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::exit::{Exit, Failure};

const SHOP: &str = r#""""A small tea shop, made by `linkspan try` for you to play with."""

MENU = {"green": 3.00, "black": 2.50, "mint": 2.00}


def price(tea, cups):
    return MENU[tea] * cups


def receipt(order):
    lines = []
    for tea, cups in order.items():
        lines.append(tea + ": " + str(price(tea, cups)))
    return "\n".join(lines)


if __name__ == "__main__":
    print(receipt({"green": 2, "mint": 1}))
"#;

/// The proposed changes of the shop: three separate hunks.
const SHOP_EDITS: [(&str, &str); 3] = [
    (
        "    return MENU[tea] * cups\n",
        "    if cups < 1:\n        raise ValueError(\"at least one cup\")\n    return MENU[tea] * cups\n",
    ),
    ("tea + \": \" + str(price(tea, cups))", "f\"{tea:<8}{price(tea, cups):>6.2f}\""),
    ("{\"green\": 2, \"mint\": 1}", "{\"green\": 2, \"mint\": 1, \"black\": 3}"),
];

/// The hunks that the script accepts, of the three.
const ACCEPTED_HUNKS: [usize; 2] = [0, 2];

const FACTORY: &str = r#""""One place to make every kind of tea shop."""


class AbstractTeaShopFactory:
    def create_tea_shop(self):
        raise NotImplementedError
"#;

/// Why the script rejects it.
const NO_FACTORY: &str = "one tea shop needs no factory";

/// With CR LF, as spreadsheets write it.
const PRICES: &str = "tea,price\r\ngreen,3.00\r\nblack,2.50\r\nmint,2.00\r\n";
const PRICE_EDIT: (&str, &str) = ("black,2.50", "black,2.75");

const README: &str = "# A sample project\n\n`linkspan try` made it in a temporary folder and removes it again, \
                      unless you run it with `--keep`.\n";

/// What the script decides about a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptedDecision {
    /// These hunks, counted from 0.
    Hunks(&'static [usize]),
    All,
    Reject(&'static str),
}

/// One change that the agent proposes.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) name: &'static str,
    /// A short description for the user.
    pub(super) about: &'static str,
    /// The content of the file; `None` if it does not exist.
    pub(super) before: Option<&'static str>,
    /// As a model writes it: with LF only.
    pub(super) proposed: String,
    pub(super) script: ScriptedDecision,
    /// The content after the script has decided.
    pub(super) scripted: Option<String>,
}

pub(super) fn proposals() -> [Proposal; 3] {
    let shop = |edits: &[usize]| {
        let edits = edits.iter().filter_map(|index| SHOP_EDITS.get(*index));
        edits.fold(SHOP.to_owned(), |text, (old, new)| text.replacen(old, new, 1))
    };
    let prices = PRICES.replacen(PRICE_EDIT.0, PRICE_EDIT.1, 1);
    [
        Proposal {
            name: "tea_shop.py",
            about: "three hunks: accept or reject each",
            before: Some(SHOP),
            proposed: shop(&[0, 1, 2]),
            script: ScriptedDecision::Hunks(&ACCEPTED_HUNKS),
            scripted: Some(shop(&ACCEPTED_HUNKS)),
        },
        Proposal {
            name: "factory.py",
            about: "a new file",
            before: None,
            proposed: FACTORY.to_owned(),
            script: ScriptedDecision::Reject(NO_FACTORY),
            scripted: None,
        },
        Proposal {
            name: "prices.csv",
            about: "its lines end in CR LF, which is kept",
            before: Some(PRICES),
            proposed: prices.replace("\r\n", "\n"),
            script: ScriptedDecision::All,
            scripted: Some(prices),
        },
    ]
}

/// The project on disk. It is removed when this is dropped, unless it is to be kept.
#[derive(Debug)]
pub(super) struct Project {
    temporary: Option<TempDir>,
    /// The canonical path, as the hub has it.
    path: PathBuf,
    name: String,
}

impl Project {
    pub(super) fn make(keep: bool) -> Result<Project, Failure> {
        let wrong = |what: &Path, error: &dyn std::fmt::Display| {
            let message = format!("cannot make the sample project: {}: {error}", what.display());
            Failure::new(Exit::Refused, format!("{message}. Set TMPDIR to use another directory"))
        };
        let temp = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("linkspan-try-").tempdir();
        let folder = folder.map_err(|error| wrong(&temp, &error))?;
        let path = folder.path().canonicalize().map_err(|error| wrong(&temp, &error))?;
        let name = path.to_str().ok_or_else(|| wrong(&temp, &"its path is not UTF-8"))?.to_owned();
        let existing = proposals().into_iter().filter_map(|file| Some((file.name, file.before?)));
        for (name, text) in existing.chain([("README.md", README)]) {
            let file = path.join(name);
            fs::write(&file, text).map_err(|error| wrong(&file, &error))?;
        }
        let temporary = if keep {
            let _ = folder.keep();
            None
        } else {
            Some(folder)
        };
        Ok(Project { temporary, path, name })
    }

    pub(super) fn is_kept(&self) -> bool {
        self.temporary.is_none()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn file(&self, proposal: &Proposal) -> PathBuf {
        self.path.join(proposal.name)
    }

    /// The current content of a file of the project; `None` if it cannot be read.
    pub(super) fn content(&self, proposal: &Proposal) -> Option<Vec<u8>> {
        fs::read(self.file(proposal)).ok()
    }

    /// Removes the folder, unless it is to be kept.
    pub(super) fn clean_up(self) -> Result<(), Failure> {
        let Project { temporary, name, .. } = self;
        let removed = temporary.map_or(Ok(()), TempDir::close);
        match removed {
            // It is removed already.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => {
                removed.map_err(|error| Failure::new(Exit::Refused, format!("cannot remove {name}: {error}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shop_is_changed_in_three_separate_hunks() {
        let [shop, factory, prices] = proposals();
        let hunks = linkspan_review::hunks(SHOP, &shop.proposed);
        assert_eq!(hunks.len(), SHOP_EDITS.len());
        let scripted = shop.scripted.unwrap();
        assert_eq!(linkspan_review::hunks(SHOP, &scripted).len(), ACCEPTED_HUNKS.len());
        assert_eq!((factory.before, factory.scripted), (None, None));
        assert!(!prices.proposed.contains('\r') && prices.before.unwrap().contains('\r'));
        assert!(prices.scripted.unwrap().split_inclusive('\n').all(|line| line.ends_with("\r\n")));
    }

    #[test]
    fn a_project_that_is_not_kept_leaves_nothing_behind() {
        for keep in [false, true] {
            let project = Project::make(keep).unwrap();
            let path = project.path().to_owned();
            assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
            project.clean_up().unwrap();
            assert_eq!(path.exists(), keep);
            let _ = fs::remove_dir_all(path);
        }
    }
}
