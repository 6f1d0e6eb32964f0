//! `model_answers` alone, for cargo-fuzz; `src/targets/mod.rs` says what it is.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::run("model_answers", data));
