//! `linkspan mcp` as an agent sees it: the real binary, one JSON document a line on its standard streams.

#[cfg(test)]
mod deciding;
#[cfg(test)]
mod eras;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod losses;
#[cfg(test)]
mod peers;
#[cfg(test)]
use linkspan_testkit::{self as support, mcp as talk};
#[cfg(test)]
mod tools;
