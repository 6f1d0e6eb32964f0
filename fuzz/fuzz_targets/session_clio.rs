//! Any frames from an agent that speaks `clio`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::messages("clio", data));
