//! A change from the agent to the user and back, through the real binary.

mod bytes;
mod changed_files;
mod concurrency;
mod decisions;
mod policy;
mod windows;
