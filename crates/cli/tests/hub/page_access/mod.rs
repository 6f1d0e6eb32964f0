//! Who may use the browser page, over real sockets with raw bytes: another site, another user or a guessed port
//! gets nothing, and access ends when it is revoked.

mod open_page;
mod refusals;
mod sessions;
