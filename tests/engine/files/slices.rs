//! Reading in slices gives what reading in one piece gives, and leaves off as often as there is much to read.

use std::pin::pin;

use adk_metrics::foundation::error::Error;
use adk_metrics::foundation::json::Document;
use adk_metrics::foundation::pace::{Pace, at_once, go_on};
use adk_metrics::foundation::write::Spelling;
use adk_metrics::metrics::judged::Work;
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::shape::{Record, Warnings};
use adk_metrics::run::{Options, Plan, PlanOptions, Run};

/// A file of each form, with something to warn of in most.
const FILES: [&str; 9] = [
    r#"{"eval_set_id":"s","owner":1,"eval_cases":[{"eval_id":"c1","conversation":[{"user_content":{"parts":[{"text":"H\u00e9"}]},"intermediate_data":{"tool_uses":[{"name":"f","args":{"a":[1,{"b":null}]}}],"intermediate_responses":[["a",[{"text":"x"}]]]}}]},{"eval_id":" ","conversation":[],"rubrics":[]}]}"#,
    r#"{"evalSetId":"s","evalCases":[{"evalId":"c","conversationScenario":{"startingPrompt":"Hi","conversationPlan":"p","userPersona":"NOVICE"}}]}"#,
    r#"{"eval_set_result_id":"r","eval_set_id":"s","creation_timestamp":1.5,"eval_case_results":[{"eval_set_id":"s","eval_id":"c","final_eval_status":1,"overall_eval_metric_results":[],"eval_metric_result_per_invocation":[],"session_id":"x"}]}"#,
    r#"[{"query":"Hi","reference":"Hello","expected_tool_use":[{"tool_name":"f","tool_input":{"a":1}}]},{"query":"Bye"}]"#,
    r#"[{"name":"c","data":[{"query":"Hi","expected_intermediate_agent_responses":[{"author":"a","text":"t"}]}],"initial_session":{"user_id":"u","state":{}}},{"name":"c","data":[]}]"#,
    r#"[{"eval_case_id":"c1","status":1,"warnings":["w","v"],"inferences":[{"user_content":{"parts":[{"text":"Hi"}]}}]}]"#,
    r#"{"id":"s","events":[{"author":"user","content":{"parts":[{"text":"Hi"}]}},{"author":"agent","content":{"parts":[{"function_call":{"name":"f","args":{}}}]}},{"author":"agent","content":{"parts":[{"text":"Hello"}]}}]}"#,
    r#"[{"author":"user","invocation_id":"i","content":{"parts":[{"text":"Hi"}]}},{"author":"agent","invocation_id":"i","content":{"parts":[{"text":"Hello"}]}}]"#,
    r#""{\"eval_set_id\":\"s\",\"eval_cases\":[]}""#,
];

/// What comes of a file at a pace: what was read, or why it was not, and what was warned of.
type Outcome = (Result<String, Error>, Vec<Error>);

fn read(text: &str, pace: &Pace) -> [Outcome; 2] {
    let document = || async { Document::parse_paced(text, pace).await };
    let warnings = Warnings::default();
    let set = at_once(async {
        let file = EvalSetFile::read_paced(document().await?, "name", &warnings, pace).await?;
        Ok(file.set().to_json(Spelling::Snake))
    });
    let of_runs = Warnings::default();
    let runs = at_once(async {
        let file = ActualFile::read_paced(document().await?, "name", &of_runs, pace).await?;
        Ok(format!("{:?}", file.runs().collect::<Vec<_>>()))
    });
    [(set, warnings.into_vec()), (runs, of_runs.into_vec())]
}

#[test]
fn slices_of_any_size_read_the_same() {
    for file in FILES {
        let whole = read(file, &Pace::unbroken());
        for slice in 1..100 {
            assert_eq!(read(file, &Pace::new(slice)), whole, "{file}");
        }
    }
}

/// A file that is cut anywhere, or where a byte is missing or another, has the same mistakes at the same places.
#[test]
fn mistakes_are_the_same_in_slices() {
    let mut mistakes = 0;
    for file in FILES {
        for at in 0..file.len() {
            // The files are ASCII.
            let (Some(before), Some(after)) = (file.get(..at), file.get(at + 1..)) else { continue };
            let changed = ["", "[", "\"", "0"].map(|byte| [before, byte, after].concat());
            for text in changed.iter().map(String::as_str).chain([before]) {
                let whole = read(text, &Pace::unbroken());
                mistakes += usize::from(whole.iter().all(|(read, _)| read.is_err()));
                assert_eq!(read(text, &Pace::new(1)), whole, "{text}");
            }
        }
    }
    assert!(mistakes > 1000);
}

/// An evalset of so many cases of a few hundred bytes.
fn many_cases(count: usize) -> String {
    let turn = r#"{"user_content":{"parts":[{"text":"What is the weather like?"}]},"final_response":{"parts":[{"text":"It is sunny, and it stays so"}]}}"#;
    let cases: Vec<_> =
        (0..count).map(|at| format!(r#"{{"eval_id":"case {at}","conversation":[{turn}]}}"#)).collect();
    format!(r#"{{"eval_set_id":"s","eval_cases":[{}]}}"#, cases.join(","))
}

/// In how many slices some work is done.
fn slices<T>(work: impl Future<Output = T>) -> usize {
    let mut work = pin!(work);
    let mut slices = 1;
    while go_on(work.as_mut()).is_none() {
        slices += 1;
    }
    slices
}

#[test]
fn a_large_file_is_read_in_as_many_slices_as_it_has_work() {
    let text = many_cases(20_000);
    let pace = &Pace::new(Work::PER_POLL);
    let bytes = text.len() / Work::PER_POLL;
    assert!(slices(Document::parse_paced(text.as_str(), pace)) >= bytes);
    let parsed = || Document::parse(text.as_str()).unwrap();
    let warnings = Warnings::default();
    let of_set = slices(EvalSetFile::read_paced(parsed(), "", &warnings, pace));
    let of_runs = slices(ActualFile::read_paced(parsed(), "", &warnings, pace));
    assert!(of_set > bytes, "{of_set} slices for an evalset");
    assert!(of_runs > bytes, "{of_runs} slices for runs");
    let twice = many_cases(40_000);
    let of_twice =
        slices(EvalSetFile::read_paced(Document::parse(twice.as_str()).unwrap(), "", &warnings, pace));
    assert!(of_twice > of_set * 3 / 2, "{of_twice} slices for twice as much, {of_set} for once");
}

/// The index of values needs more room as it grows. To move it is work that counts, and of a file that is as dense
/// everywhere it is moved once, when little of it is there.
#[test]
fn the_index_is_moved_in_slices() {
    let slices_by_size = |text: &str| {
        let counted = slices(Document::parse_paced(text, &Pace::new(Work::PER_POLL)));
        counted as f64 * Work::PER_POLL as f64 / text.len() as f64
    };
    let uniform = slices_by_size(&many_cases(20_000));
    assert!((1.0..1.1).contains(&uniform), "{uniform}");
    let dense = slices_by_size(&format!("[{}1]", "1,".repeat(1 << 21)));
    assert!(dense > 1.4, "{dense}");
    let denser_later = format!(r#"["{}",{}1]"#, "a".repeat(1 << 22), "1,".repeat(1 << 21));
    assert!(slices_by_size(&denser_later) > 1.15, "{}", slices_by_size(&denser_later));
}

#[test]
fn cases_are_paired_in_slices() {
    let text = many_cases(20_000);
    let warnings = Warnings::default();
    let set = EvalSetFile::read(Document::parse(text.as_str()).unwrap(), "", &warnings).unwrap();
    let actual = ActualFile::read(Document::parse(text.as_str()).unwrap(), "", &warnings).unwrap();
    let plan = || Plan::default_config(PlanOptions::default()).unwrap();
    let mut run = Run::unprepared(set.set(), actual.runs(), plan(), Options::default());
    let mut slices = 1;
    while !run.prepare() {
        slices += 1;
    }
    // Each case is looked at twice, and each run.
    assert!(slices >= 4 * 20_000 * 64 / Work::PER_POLL, "{slices} slices");
    assert_eq!(run.total(), 20_000);
    assert_eq!(Run::new(set.set(), actual.runs(), plan(), Options::default()).total(), 20_000);
}
