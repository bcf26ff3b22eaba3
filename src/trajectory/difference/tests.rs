//! How much is compared to explain two trajectories.

use super::*;
use crate::foundation::json::Document;
use crate::trajectory::equal::tests::compared_in;

#[test]
fn calls_that_have_moved_are_found_in_few_comparisons() {
    const CALLS: usize = 200;
    let one = |args: String| (args.len(), Document::parse(args).unwrap());
    let text = |at: usize| format!(r#"{{"text":"{}{at:03}"}}"#, "x".repeat(2_000));
    let (bytes, doc) = one(format!("[{}]", (0..CALLS).map(text).collect::<Vec<_>>().join(",")));
    let call = |args| ToolCall { name: Some("f".into()), args: Some(args) };
    let expected: Vec<_> = doc.root().items().map(call).collect();
    let actual: Vec<_> = expected.iter().rev().cloned().collect();
    let (expected, actual) = (PreparedCall::all(&expected), PreparedCall::all(&actual));
    for (equality, most) in [
        (CallEquality::Args, 2 * bytes),
        (CallEquality::ArgsAsJsText, 2 * bytes),
        (CallEquality::RequiredArgs, 2 * (MAX_MOVED_BYTES + bytes)),
    ] {
        let mut draft = AlignmentDraft::new(&expected, &actual);
        let compared = compared_in(|| at_once(draft.pair_moved(equality, &Pace::unbroken())));
        assert!(compared <= most, "{equality:?}: {compared} bytes");
        let moved = draft.partners.iter().filter(|partner| partner.is_some()).count();
        assert!(moved > CALLS / 2, "{equality:?}: {moved} calls");
    }
}
