//! The dialects from outside: frames in, meaning out, and back.

#[cfg(test)]
mod captured;
#[cfg(test)]
mod claude;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod gemini;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod nexus3;
#[cfg(test)]
mod own;
#[cfg(test)]
mod ppxai;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod support;
