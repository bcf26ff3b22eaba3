//! Checks every target for its seeds, for all inputs that were ever found, and for simple mutations of both.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::panic::catch_unwind;

use adk_metrics_fuzz::{TARGETS, Target, seeds};

/// The number of mutations of each input.
const CHANGES: u64 = 40;

/// Texts that mutations insert.
const TOKENS: [&str; 14] =
    ["{", "}", "[", "]", ",", ":", "\"", "\\u0000", "null", "-0", "1e999", "\0", "```json\n", "</data-"];

fn known(target: Target) -> Vec<Vec<u8>> {
    let folder = format!("{}/corpus/{}", env!("CARGO_MANIFEST_DIR"), target.name);
    let found =
        fs::read_dir(folder).into_iter().flatten().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    seeds::seeds(target.name).into_iter().chain(found).collect()
}

/// Mutates an input; the number chooses the mutation.
fn changed(input: &[u8], number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ input.len() as u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit.max(1)
    };
    let mut output = input.to_vec();
    for _ in 0..=below(4) {
        let at = below(output.len() + 1);
        let end = (at + below(24)).min(output.len());
        match below(5) {
            0 => drop(output.drain(at..end)),
            1 => drop(output.splice(at..at, TOKENS[below(TOKENS.len())].bytes())),
            2 => output.extend_from_within(at..end),
            3 if at < output.len() => output[at] ^= 1 << below(8),
            _ => output.truncate(at.max(output.len() / 2)),
        }
    }
    output
}

#[test]
fn every_target_holds_for_its_corpus_and_changes_of_it() {
    for target in TARGETS {
        let inputs = known(target);
        assert!(inputs.len() >= 5, "{} has {} seeds", target.name, inputs.len());
        for input in inputs {
            // Large inputs are mutated less often.
            let changes = if input.len() > 20_000 { CHANGES / 10 } else { CHANGES };
            for number in 0..=changes {
                let input = if number == 0 { input.clone() } else { changed(&input, number) };
                if catch_unwind(|| (target.check)(&input)).is_err() {
                    let file = format!("{}/../target/{}.failure", env!("CARGO_MANIFEST_DIR"), target.name);
                    fs::write(&file, &input).unwrap();
                    panic!("{} does not hold for {file}", target.name);
                }
            }
        }
    }
}
