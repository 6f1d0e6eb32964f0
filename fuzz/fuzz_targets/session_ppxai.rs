//! Any requests of a client that speaks `ppxai`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::requests(data));
