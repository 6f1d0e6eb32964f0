//! The sample project: what it holds, what the demonstration agent would change in it, and what it holds after the
//! decisions of the script. Knows no hub.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::exit::{Exit, Failure};

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

/// What the agent would change in the shop: three places apart from each other.
const SHOP_EDITS: [(&str, &str); 3] = [
    (
        "    return MENU[tea] * cups\n",
        "    if cups < 1:\n        raise ValueError(\"at least one cup\")\n    return MENU[tea] * cups\n",
    ),
    ("tea + \": \" + str(price(tea, cups))", "f\"{tea:<8}{price(tea, cups):>6.2f}\""),
    ("{\"green\": 2, \"mint\": 1}", "{\"green\": 2, \"mint\": 1, \"black\": 3}"),
];

/// The hunks that the script takes, of the three.
const TAKEN: [usize; 2] = [0, 2];

const FACTORY: &str = r#""""One place to make every kind of tea shop."""


class AbstractTeaShopFactory:
    def create_tea_shop(self):
        raise NotImplementedError
"#;

/// Why the script rejects it.
const NO_FACTORY: &str = "one tea shop needs no factory";

/// With the line ends that spreadsheets write.
const PRICES: &str = "tea,price\r\ngreen,3.00\r\nblack,2.50\r\nmint,2.00\r\n";
const PRICE_EDIT: (&str, &str) = ("black,2.50", "black,2.75");

const README: &str = "# A sample project\n\n`linkspan try` made it in a temporary folder and takes it away again, \
                      unless you run it with `--keep`.\n";

/// What somebody who is no person decides about a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scripted {
    /// These hunks, counted from 0.
    Hunks(&'static [usize]),
    All,
    Reject(&'static str),
}

/// One change that the agent proposes.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) name: &'static str,
    /// What a person may want to know beforehand.
    pub(super) about: &'static str,
    /// What the file holds; `None`: there is none.
    pub(super) before: Option<&'static str>,
    /// As a model writes it, which knows only one line end.
    pub(super) proposed: String,
    pub(super) script: Scripted,
    /// What the file holds once the script has decided.
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
            about: "three hunks: take each or leave it",
            before: Some(SHOP),
            proposed: shop(&[0, 1, 2]),
            script: Scripted::Hunks(&TAKEN),
            scripted: Some(shop(&TAKEN)),
        },
        Proposal {
            name: "factory.py",
            about: "a new file",
            before: None,
            proposed: FACTORY.to_owned(),
            script: Scripted::Reject(NO_FACTORY),
            scripted: None,
        },
        Proposal {
            name: "prices.csv",
            about: "its lines end in CR LF, and still will",
            before: Some(PRICES),
            proposed: prices.replace("\r\n", "\n"),
            script: Scripted::All,
            scripted: Some(prices),
        },
    ]
}

/// The project on disk. It goes with this, unless it shall be kept.
#[derive(Debug)]
pub(super) struct Project {
    temporary: Option<TempDir>,
    /// The folder by its real name, as the hub will call it.
    path: PathBuf,
    name: String,
}

impl Project {
    pub(super) fn make(keep: bool) -> Result<Project, Failure> {
        let wrong = |what: &Path, error: &dyn std::fmt::Display| {
            let message = format!("the sample project cannot be made: {}: {error}", what.display());
            Failure::new(Exit::Refused, format!("{message}. TMPDIR may name another place"))
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

    /// What a file of the project holds; `None`: nothing that can be read.
    pub(super) fn now(&self, proposal: &Proposal) -> Option<Vec<u8>> {
        fs::read(self.file(proposal)).ok()
    }

    /// Takes the folder away, if it is not to be kept.
    pub(super) fn tidy_up(self) -> Result<(), Failure> {
        let Project { temporary, name, .. } = self;
        let gone = temporary.map_or(Ok(()), TempDir::close);
        match gone {
            // Somebody else was first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            gone => gone.map_err(|error| {
                Failure::new(Exit::Refused, format!("{name} could not be removed: {error}"))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shop_is_changed_in_three_places_that_can_be_taken_by_themselves() {
        let [shop, factory, prices] = proposals();
        let hunks = linkspan_review::hunks(SHOP, &shop.proposed);
        assert_eq!(hunks.len(), SHOP_EDITS.len());
        let scripted = shop.scripted.unwrap();
        assert_eq!(linkspan_review::hunks(SHOP, &scripted).len(), TAKEN.len());
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
            project.tidy_up().unwrap();
            assert_eq!(path.exists(), keep);
            let _ = fs::remove_dir_all(path);
        }
    }
}
