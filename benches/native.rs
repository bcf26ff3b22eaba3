//! The engine compiled natively, over datasets that `benches/js/native.mjs` writes: from the bytes of
//! an evalset, the actual runs and a config to every score.
//!
//! `cargo bench --bench native -- <folder> <rounds>` reads `<folder>/<n>.{evalset,actual,config}.json`
//! for n from 0 up and prints a JSON list for each: seconds per round.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use adk_metrics::foundation::error::Result;
use adk_metrics::foundation::json::Document;
use adk_metrics::metrics::Explain;
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{Action, Options, Plan, PlanOptions, Run};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [folder, rounds] = arguments.as_slice() else {
        eprintln!("nothing to measure: npm run bench writes the datasets and calls this");
        return ExitCode::SUCCESS;
    };
    let rounds = rounds.parse().unwrap_or(5);
    let read = |index: usize, kind: &str| fs::read(Path::new(folder).join(format!("{index}.{kind}.json")));
    let mut lists = Vec::new();
    while let (Ok(set), Ok(actual), Ok(config)) =
        (read(lists.len(), "evalset"), read(lists.len(), "actual"), read(lists.len(), "config"))
    {
        let mut seconds = Vec::new();
        for round in 0..=rounds {
            let start = Instant::now();
            match evaluate(&set, &actual, &config) {
                Ok(sum) => std::hint::black_box(sum),
                Err(error) => {
                    eprintln!("{error}");
                    return ExitCode::FAILURE;
                }
            };
            // The first round warms up.
            if round > 0 {
                seconds.push(start.elapsed().as_secs_f64().to_string());
            }
        }
        lists.push(format!("[{}]", seconds.join(",")));
    }
    println!("[{}]", lists.join(","));
    ExitCode::SUCCESS
}

/// The sum of all scores.
fn evaluate(set: &[u8], actual: &[u8], config: &[u8]) -> Result<f64> {
    let [set, actual, config] = [set, actual, config].map(Document::from_bytes);
    let (set, actual, mut config) = (set?, actual?, config?);
    let warnings = Warnings::default();
    let plan = Plan::from_config(&mut config, PlanOptions::default(), &warnings)?;
    let set = EvalSetFile::read(set, "evalset", &warnings)?;
    let actual = ActualFile::read(actual, "evalset", &warnings)?;
    let options = Options { explain: Explain::None, ..Options::default() };
    let mut run = Run::new(set.set(), actual.runs(), plan, options);
    let mut sum = 0.0;
    while let Action::Case(case) = run.poll(0.0) {
        sum += case.metrics.iter().filter_map(|metric| metric.score).sum::<f64>();
    }
    Ok(sum)
}
