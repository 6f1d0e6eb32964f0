//! Any frames from an agent that speaks `gemini`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::conversation("gemini", data));
