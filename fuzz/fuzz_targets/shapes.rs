#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| adk_metrics_fuzz::shapes::check(input));
