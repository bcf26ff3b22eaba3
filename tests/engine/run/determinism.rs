//! The same inputs, answers and times give the same actions.

use super::*;

// ---- determinism

/// What a host does between two polls.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Poll after so many milliseconds.
    Poll(u16),
    /// Answer one of the tasks that were given out, however long ago.
    Answer(u8, i8),
    Cancel,
}

/// All that a run says when it is driven so, to its end.
fn protocol(steps: &[Step], options: &Options) -> Vec<String> {
    let expected = set(&[("a", &["red"]), ("b", &["red", "blue"]), ("c", &["red"]), ("d", &["red"])]);
    let actual = set(&[("b", &["red", "green"]), ("a", &["blue"]), ("c", &["red", "red"]), ("a", &["red"])]);
    let config = r#"{"criteria": {"response_match_score": 0.5, "mine": 0.5, "yours": 1}}"#;
    with_run(&expected, &actual, config, options.clone(), |run| {
        let (mut now, mut tasks, mut said) = (0.0, Vec::new(), Vec::new());
        let mut poll = |run: &mut Run<'_>, tasks: &mut Vec<TaskId>, now| {
            let action = run.poll(now);
            if let Action::Custom(task) = &action {
                tasks.push(task.id);
            }
            said.push(format!("{action:?}"));
            matches!(action, Action::Finished)
        };
        for step in steps {
            match *step {
                Step::Poll(elapsed) => {
                    now += f64::from(elapsed);
                    poll(run, &mut tasks, now);
                }
                Step::Answer(which, score) if !tasks.is_empty() => {
                    let id = tasks[usize::from(which) % tasks.len()];
                    run.handle_custom(id, score_of(f64::from(score)));
                }
                Step::Answer(..) => {}
                Step::Cancel => run.cancel(),
            }
        }
        for _ in 0..1_000 {
            if poll(run, &mut tasks, now) {
                return said;
            }
            for id in tasks.clone() {
                run.handle_custom(id, score_of(1.0));
            }
        }
        panic!("the run does not end")
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..200_u16).prop_map(Step::Poll),
        4 => (any::<u8>(), -1..2_i8).prop_map(|(which, score)| Step::Answer(which, score)),
        1 => Just(Step::Cancel),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the host does, and whenever: the same again gives the same actions and results, every
    /// case is given out once, and the run ends.
    #[test]
    fn the_same_inputs_answers_and_times_give_the_same_actions(
        steps in proptest::collection::vec(step(), 0..40),
        concurrency in 0..4_usize,
        timeout_ms in proptest::option::of(0.0..300.0),
    ) {
        let options = Options { concurrency, timeout_ms, ..quiet() };
        let said = protocol(&steps, &options);
        prop_assert_eq!(&said, &protocol(&steps, &options));
        // Cases a (two runs), b, c and d.
        prop_assert_eq!(said.iter().filter(|action| action.starts_with("Case")).count(), 5);
    }
}
