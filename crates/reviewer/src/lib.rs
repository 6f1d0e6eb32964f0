//! The terminal reviewer: what is on the screen and what keys do, as a pure state (`Screen`), how that is drawn
//! (`draw`), and the loop that connects both with a terminal and the hub (`run`).
//!
//! Also the words and the care with foreign text that everything on a terminal shares.

mod asked;
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
mod patient;
mod regions;
mod rows;
#[cfg(test)]
mod sample;
mod screen;
use linkspan_client::visible;
mod wording;
mod words;

pub use draw::draw;
pub use edge::{RunError, run};
pub use palette::{Depth, Ground, Palette};
pub use patient::{Connect, Patient};
pub use screen::{Command, Input, News, Screen, Wishes};
pub use wording::{
    IN_CONFLICT, accepted, age, change, count, decided, ended, is_in_conflict, place_of, relative,
};
pub use words::emphasised;
