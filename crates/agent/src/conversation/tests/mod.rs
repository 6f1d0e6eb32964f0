//! Conversations played by hand, and at random.

mod random;
mod restored;
mod stage;
mod turns;
