#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| zx1_protocol_fuzz::evidence_log_entry(bytes));
