#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| acp_tui_fuzz::index(data));
