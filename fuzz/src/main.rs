//! All targets in one program, so that it is linked once: `LINKSPAN_FUZZ` names the one to run.
#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<String> =
    LazyLock::new(|| std::env::var("LINKSPAN_FUZZ").expect("LINKSPAN_FUZZ names a target"));

libfuzzer_sys::fuzz_target!(|data: &[u8]| linkspan_fuzz::run(&TARGET, data));
