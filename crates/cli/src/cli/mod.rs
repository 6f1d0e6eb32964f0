//! What commands share: how they reach the hub (`context`) and an editor window (`window`), what they print (`output`)
//! and how they end (`exit`). Knows no command.

pub(crate) mod context;
pub(crate) mod exit;
pub(crate) mod file_position;
pub(crate) mod headless;
pub(crate) mod output;
pub(crate) mod pinned_windows;
pub(crate) mod signals;
pub(crate) mod storage;
pub(crate) mod temporary_window;
pub(crate) mod window;
