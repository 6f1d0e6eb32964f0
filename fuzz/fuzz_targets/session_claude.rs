//! Any frames from an agent that speaks `claude`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::conversation("claude", data));
