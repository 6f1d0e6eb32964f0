//! The terminal reviewer: a pure state machine of what is on the screen and what keys do (`Screen`), how it is drawn
//! (`draw`), and the loop that connects both with a terminal and the hub (`run`).
//!
//! Also the labels and the escaping of foreign text that all terminal output shares.

mod cells;
mod document;
mod draw;
mod edge;
mod input_line;
mod keys;
mod lines;
mod list;
mod paint;
mod palette;
mod prompt_layout;
mod regions;
mod retrying_client;
mod rows;
#[cfg(test)]
mod sample;
mod screen;
use linkspan_client::visible;
mod labels;
mod word_diff;
mod word_wrap;

pub use draw::draw;
pub use edge::{RunError, run};
pub use labels::{IN_CONFLICT, is_in_conflict, place_of, relative};
pub use palette::{Depth, Ground, Palette};
pub use retrying_client::{Connect, RetryingControl};
pub use screen::{Command, HubUpdate, Input, ReviewerOptions, Screen};
pub use word_diff::emphasised;
