//! Work in a workspace on behalf of an agent: listing and searching files, git, commands in a terminal of our own. Every
//! function blocks, has limits and can be cancelled. Knows no protocol and no permissions: the caller checks those first.

mod cancel;
pub mod descriptors;
mod error;
mod folders;
pub mod git;
mod glob;
mod language;
mod list;
mod open_nofollow;
mod process_group;
mod search;
pub mod terminal;
mod walk;

pub use cancel::Cancel;
pub use error::WorkspaceError;
pub use folders::Workspace;
pub use language::language_of;
pub use list::{FileList, ListFiles, list_files};
pub use open_nofollow::open_nofollow;
pub use search::{Found, Match, SearchFiles, search_files};
