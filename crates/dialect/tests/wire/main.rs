//! The dialects from outside: frames in, meaning out, and back.

#[cfg(test)]
mod acp;
#[cfg(test)]
mod captures;
#[cfg(test)]
mod claude;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod copilot;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod gemini;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod hostile_input;
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
