//! What is done in a workspace on behalf of an agent: listing and searching files, git, commands in a terminal of
//! our own. Every function blocks, has limits and can be cancelled. It knows no protocol and no person: who may ask
//! for what is decided before it is called.

mod cancel;
pub mod descriptors;
mod error;
mod folders;
pub mod git;
mod glob;
mod group;
mod language;
mod list;
mod search;
mod straight;
pub mod terminal;
mod walk;

pub use cancel::Cancel;
pub use error::WorkspaceError;
pub use folders::Workspace;
pub use language::language_of;
pub use list::{Files, ListFiles, list_files};
pub use search::{Found, Match, SearchFiles, search_files};
pub use straight::open_straight;
