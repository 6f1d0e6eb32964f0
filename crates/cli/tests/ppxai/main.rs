//! The ppxai dialect from outside: raw HTTP to the real hub, each tool with its successes, errors and limits.

#[cfg(test)]
mod door;
#[cfg(test)]
mod editing;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod git;
#[cfg(test)]
mod looking;
#[cfg(test)]
mod port;
#[cfg(test)]
mod reading;
#[cfg(test)]
use linkspan_testkit::{self as support, ppxai as client};
#[cfg(test)]
mod telling;
#[cfg(test)]
mod terminal;
