//! The commands, grouped by what they are for; `--help` lists them in the same groups. A command is in the file or folder
//! of its name, with its arguments as `Args` and its work as `run`. Commands share what is in `crate::cli`.

pub(crate) mod agents;
pub(crate) mod editor;
pub(crate) mod groups;
pub(crate) mod review;
pub(crate) mod scripts;
pub(crate) mod setup;
