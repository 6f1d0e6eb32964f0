//! Any frames from an agent that speaks `nexus3`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::conversation("nexus3", data));
