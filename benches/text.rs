//! ROUGE-1 throughput of the text module: `cargo bench --bench text`.
//!
//! Scores made-up answers of 10, 100 and 1000 words in three kinds of text with one long-lived
//! scorer and prints the best of several rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use adk_metrics::text::{Dialect, Scorer};

const WORDS_PER_ROUND: usize = 200_000;
const ROUNDS: usize = 9;

fn main() {
    println!("{:8} {:>6} {:>10} {:>10}", "text", "words", "adk-python", "adk-ts");
    for (name, word) in
        [("English", english as fn(&mut Random) -> String), ("Chinese", chinese), ("mixed", mixed)]
    {
        for words in [10, 100, 1000] {
            let pairs = pairs(word, words);
            let python = megabytes_per_second(&pairs, Dialect::AdkPython);
            let ts = megabytes_per_second(&pairs, Dialect::AdkTs);
            println!("{name:8} {words:6} {python:5.0} MB/s {ts:5.0} MB/s");
        }
    }
}

fn megabytes_per_second(pairs: &[(String, String)], dialect: Dialect) -> f64 {
    let mut scorer = Scorer::new(dialect);
    let bytes: usize = pairs.iter().map(|(a, b)| a.len() + b.len()).sum();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for (reference, candidate) in pairs {
            black_box(scorer.rouge1(reference, candidate));
        }
        best = best.min(start.elapsed());
    }
    bytes as f64 / 1e6 / best.as_secs_f64()
}

/// Pairs that share about two words in three.
fn pairs(word: fn(&mut Random) -> String, words: usize) -> Vec<(String, String)> {
    let mut random = Random(42);
    (0..WORDS_PER_ROUND / words)
        .map(|_| {
            let mut pair = (String::new(), String::new());
            for _ in 0..words {
                let shared = word(&mut random);
                pair.0 += &shared;
                pair.1 += &match random.below(3) {
                    0 => word(&mut random),
                    _ => shared,
                };
            }
            pair
        })
        .collect()
}

fn english(random: &mut Random) -> String {
    const COMMON: [&str; 20] = [
        "the", "of", "and", "to", "a", "in", "is", "it", "you", "that", "he", "was", "for", "on", "are",
        "with", "as", "they", "at", "be",
    ];
    const PARTS: [&str; 16] = [
        "re", "con", "pro", "tain", "port", "ment", "ing", "ed", "al", "er", "is", "un", "graph", "tion",
        "s", "ly",
    ];
    let mut word = String::new();
    if random.below(2) == 0 {
        word += random.pick(&COMMON);
    } else {
        for _ in 0..1 + random.below(4) {
            word += random.pick(&PARTS);
        }
    }
    word + random.pick(&[" ", " ", " ", " ", " ", " ", ", ", ". "])
}

fn chinese(random: &mut Random) -> String {
    let mut word = String::new();
    for _ in 0..1 + random.below(3) {
        word.extend(char::from_u32(0x4E00 + (random.below(50) * random.below(60)) as u32));
    }
    word + random.pick(&["", "", "", "", "", "，", "，", "。"])
}

fn mixed(random: &mut Random) -> String {
    match random.below(5) {
        0 | 1 => english(random),
        2 | 3 => chinese(random),
        _ => {
            let words = ["naïve ", "Zürich ", "東京", "ไทย", "Привет ", "“so” ", "don’t "];
            random.pick(&words).to_owned()
        }
    }
}

/// A small linear congruential generator: the same texts in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.below(from.len());
        from.get(at).copied().unwrap_or_default()
    }
}
