//! Who may use the browser page, over real sockets with raw bytes: another site, another user or a guessed port
//! gets nothing, and access ends when it is said to end.

#[cfg(test)]
use linkspan_testkit::{self as support, page_door as door};

#[cfg(test)]
mod open_page;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod strangers;
