//! Calls are compared in slices as they are at once, wherever that is interrupted.

use std::pin::pin;

use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::foundation::pace::{Pace, at_once, go_on};
use adk_metrics::metrics::judged::Work;
use adk_metrics::model::content::ToolCall;
use adk_metrics::trajectory::difference::{explain_paced, explain_parameters};
use adk_metrics::trajectory::f1::tool_trajectory_f1_paced;
use adk_metrics::trajectory::matching::matches_paced;
use adk_metrics::trajectory::parameter_match::tool_parameter_match_paced;
use adk_metrics::trajectory::{CallEquality, MatchMode, MatchType, ParameterMatch};
use proptest::prelude::*;

fn calls<'a>(doc: &'a Document<'a>) -> Vec<ToolCall<'a>> {
    let call = |item: Json<'a>| {
        let mut parts = item.items();
        ToolCall { name: parts.next().and_then(Json::as_str), args: parts.next() }
    };
    doc.root().items().map(call).collect()
}

const EQUALITIES: [CallEquality; 4] =
    [CallEquality::Name, CallEquality::Args, CallEquality::RequiredArgs, CallEquality::ArgsAsJsText];
const MODES: [MatchMode; 3] = [MatchMode::NameOnly, MatchMode::NameAndArgs, MatchMode::NameAndRequiredArgs];

/// All that is found in two trajectories, as text.
async fn everything(expected: &[ToolCall<'_>], actual: &[ToolCall<'_>], pace: &Pace) -> String {
    let mut found = Vec::new();
    for ordered in [true, false] {
        for equality in EQUALITIES {
            let explained = explain_paced(expected, actual, equality, ordered, None, pace).await;
            found.push(format!("{explained:?}"));
        }
        for match_mode in MODES {
            let f1 = tool_trajectory_f1_paced(match_mode, ordered, expected, actual, pace).await;
            found.push(format!("{f1:?}"));
            let rule = ParameterMatch { match_mode, ordered, ..ParameterMatch::default() };
            let score = tool_parameter_match_paced(&rule, expected, actual, pace).await;
            let pairs = score.clone().unwrap().map(|score| score.pairs).unwrap_or_default();
            found.push(format!("{score:?}"));
            let explained = explain_parameters(&rule, expected, actual, &pairs, pace).await;
            found.push(format!("{explained:?}"));
        }
    }
    for equality in EQUALITIES {
        for match_type in [MatchType::Exact, MatchType::InOrder, MatchType::AnyOrder] {
            found.push(format!("{:?}", matches_paced(match_type, equality, expected, actual, pace).await));
        }
    }
    found.join("\n")
}

fn trajectory() -> impl Strategy<Value = String> {
    let call = ("[fg]", proptest::collection::vec((0..3_u8, 0..3_u8), 0..3)).prop_map(|(name, args)| {
        let args: std::collections::BTreeMap<u8, u8> = args.into_iter().collect();
        let args: Vec<_> = args.iter().map(|(key, value)| format!(r#""k{key}":{value}"#)).collect();
        format!(r#"["{name}",{{{}}}]"#, args.join(","))
    });
    proptest::collection::vec(call, 0..7).prop_map(|calls| format!("[{}]", calls.join(",")))
}

proptest! {
    #[test]
    fn slices_of_any_size_find_the_same(expected in trajectory(), actual in trajectory(), slice in 1..200_usize) {
        let (expected, actual) = (Document::parse(&*expected).unwrap(), Document::parse(&*actual).unwrap());
        let (expected, actual) = (calls(&expected), calls(&actual));
        let whole = at_once(everything(&expected, &actual, &Pace::unbroken()));
        // The smallest slice ends at every place where work is counted.
        for slice in [1, slice] {
            prop_assert_eq!(&at_once(everything(&expected, &actual, &Pace::new(slice))), &whole);
        }
    }
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
fn long_trajectories_are_compared_in_as_many_slices_as_there_are_pairs_and_steps() {
    let trajectory = |count: usize, turned: bool| {
        let call = |at: usize| {
            let at = if turned { count - 1 - at } else { at };
            format!(r#"["f",{{"a":{},"b":{},"c":{at}}}]"#, at % 7, at % 11)
        };
        format!("[{}]", (0..count).map(call).collect::<Vec<_>>().join(","))
    };
    let counted = |count: usize, ordered: bool| {
        let (expected, actual) = (trajectory(count, false), trajectory(count, true));
        let (expected, actual) = (Document::parse(&*expected).unwrap(), Document::parse(&*actual).unwrap());
        let (expected, actual) = (calls(&expected), calls(&actual));
        let rule = ParameterMatch { ordered, ..ParameterMatch::default() };
        slices(tool_parameter_match_paced(&rule, &expected, &actual, &Pace::new(Work::PER_POLL)))
    };
    // Each pair is compared, reduced to a fraction, and looked at as part of an alignment.
    let pairs = |count: usize| count * count * (2 * "{'a':1,'b':1,'c':1}".len() + 2 * 16 + 1);
    for (count, ordered) in [(200, true), (600, true), (200, false), (600, false)] {
        let found = counted(count, ordered);
        assert!(found >= pairs(count) / Work::PER_POLL, "{found} slices for {count} calls");
    }
    // Any order takes steps that grow with the cube.
    assert!(counted(600, false) >= 3 * counted(300, false), "{}", counted(600, false));
}

#[test]
fn calls_that_look_alike_are_left_between_comparisons() {
    // All of these integers have the same nearest double, hence the calls the same fingerprint.
    let call =
        |at: usize| format!(r#"["f",{{"a":"{}","n":1000000000000000000000{at:03}}}]"#, "x".repeat(1 << 13));
    let trajectory = (0..200).map(call).collect::<Vec<_>>();
    let doc = Document::parse(format!("[{}]", trajectory.join(","))).unwrap();
    let expected = calls(&doc);
    let actual: Vec<_> = expected.iter().rev().cloned().collect();
    let pace = &Pace::new(Work::PER_POLL);
    let found = slices(matches_paced(MatchType::AnyOrder, CallEquality::Args, &expected, &actual, pace));
    assert!(found >= 199 * 200 / 2 * (1 << 13) / Work::PER_POLL, "{found} slices");
}

#[test]
fn long_trajectories_are_explained_in_as_many_slices_as_calls_are_compared() {
    let trajectory = |from: usize| {
        (from..from + 1_000).map(|at| format!(r#"["f",{{"a":{at},"b":{at}}}]"#)).collect::<Vec<_>>()
    };
    let document = |calls: Vec<String>| Document::parse(format!("[{}]", calls.join(","))).unwrap();
    let (doc, others) = (document(trajectory(1_000)), document(trajectory(5_000)));
    let (expected, others) = (calls(&doc), calls(&others));
    let moved: Vec<_> = expected.iter().rev().cloned().collect();
    let pairs = Some(Vec::new());
    let explained = |actual: &[ToolCall<'_>]| {
        let pace = &Pace::new(Work::PER_POLL);
        slices(explain_paced(&expected, actual, CallEquality::RequiredArgs, true, pairs.clone(), pace))
    };
    let bytes = r#"{"a":1000,"b":1000}"#.len();
    // Half of the calls that are left are compared with each, on average, up to the limit of all that is compared.
    let found = explained(&moved);
    assert!(found >= 1_000 * 1_000 / 2 * bytes / Work::PER_POLL, "{found} slices for calls that moved");
    // The limit is 4 MiB where calls resemble each other, and 32 MiB before.
    let found = explained(&others);
    assert!(found >= (36 << 20) / 2 / Work::PER_POLL, "{found} slices for calls that differ");
}
