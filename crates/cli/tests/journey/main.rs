//! A change travels from an agent to a person and back, through the real binary.

#[cfg(test)]
mod bytes;
#[cfg(test)]
mod deciding;
#[cfg(test)]
mod keeping_out;
#[cfg(test)]
mod many;
#[cfg(test)]
mod moving;
#[cfg(test)]
use linkspan_testkit as support;
#[cfg(test)]
mod windows;
