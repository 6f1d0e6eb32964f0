//! The past with the real binary: what is listed, what is taken back to the byte, what is left alone, and what a
//! watcher hears of it.

#[cfg(test)]
use linkspan_testkit as support;

#[cfg(test)]
mod undoing;
#[cfg(test)]
mod watching;
