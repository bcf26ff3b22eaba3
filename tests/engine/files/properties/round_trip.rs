//! What is written reads back as the same.

use super::*;

// ---- what views show of them

/// What can be compared with the model.
trait Agrees {
    fn agrees(&self, node: Option<&Node>) -> bool;
}

impl Agrees for Cow<'_, str> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Text(text)) if text == self)
    }
}

impl Agrees for bool {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Flag(flag)) if flag == self)
    }
}

impl Agrees for f64 {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Seconds(seconds)) if seconds.to_bits() == self.to_bits())
    }
}

impl Agrees for i64 {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Count(count)) if count == self)
    }
}

impl Agrees for Json<'_> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Free(json)) if json.raw() == self.raw())
    }
}

impl<T: Agrees> Agrees for Option<T> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        match self {
            Some(view) => view.agrees(node),
            None => node.is_none(),
        }
    }
}

impl<'a, T: View<'a> + Agrees> Agrees for List<'a, T> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        let Some(Node::List(nodes)) = node else { return false };
        self.len() == nodes.len() && self.iter().zip(nodes).all(|(view, node)| view.agrees(Some(node)))
    }
}

impl Agrees for IntermediateData<'_> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        match self {
            Self::Events(events) => events.agrees(node),
            Self::Summary(summary) => summary.agrees(node),
        }
    }
}

impl Agrees for IntermediateResponse<'_> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        let Some(Node::List(nodes)) = node else { return false };
        self.author().agrees(nodes.first()) && self.parts().agrees(nodes.get(1))
    }
}

macro_rules! records_agree {
    ($( $record:ident: $($field:ident),*; )*) => {$(
        impl Agrees for $record<'_> {
            fn agrees(&self, node: Option<&Node>) -> bool {
                let Some(node) = node else { return false };
                $( self.$field().agrees(node.get(stringify!($field).trim_start_matches("r#"))) )&&*
            }
        }
    )*};
}

records_agree! {
    EvalSet: eval_set_id, name, description, eval_cases, creation_timestamp;
    EvalCase: eval_id, conversation, conversation_scenario, session_input, creation_timestamp, rubrics,
        final_session_state;
    ConversationScenario: starting_prompt, conversation_plan, user_persona;
    SessionInput: app_name, user_id, session_id, state;
    Rubric: rubric_id, rubric_content, description, r#type;
    RubricContent: text_property;
    Invocation: invocation_id, user_content, final_response, intermediate_data, creation_timestamp, duration,
        model_duration, tool_duration, rubrics, app_details;
    InvocationEvents: invocation_events;
    InvocationEvent: author, content, grounding_metadata, usage_metadata, model_version;
    UsageMetadata: prompt_token_count, tool_use_prompt_token_count, candidates_token_count,
        thoughts_token_count, cached_content_token_count;
    IntermediateSummary: tool_uses, tool_responses, intermediate_responses;
    Content: parts, role;
    Part: text, thought, function_call, function_response;
    FunctionCall: id, name, args;
    FunctionResponse: id, name, response;
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn writing_then_reading_gives_the_same_evalset_in_both_spellings(set in eval_set()) {
        for (spelling, order) in
            SPELLINGS.into_iter().flat_map(|spelling| [(spelling, Order::AsWritten), (spelling, Order::Reversed)])
        {
            let json = set.to_json(spelling, order);
            let warnings = Warnings::default();
            let file = read_set(&json, &warnings);
            prop_assert_eq!(unexpected(warnings), [] as [Error; 0]);
            prop_assert!(file.set().agrees(Some(&set)), "{}", json);
            for spelling in SPELLINGS {
                prop_assert_eq!(file.set().to_json(spelling), set.to_json(spelling, Order::AsWritten), "{}", json);
            }
        }
    }

    #[test]
    fn laying_out_changes_nothing(set in eval_set()) {
        let written = set.to_json(Spelling::Snake, Order::AsWritten);
        let laid_out = pretty(Document::parse(written.as_str()).unwrap().root());
        let file = read_set(&laid_out, &Warnings::default());
        // Free-form objects are equal as values, though not as written.
        prop_assert_eq!(without_space(&file.set().to_json(Spelling::Snake)), without_space(&written));
    }

    #[test]
    fn an_evalset_against_itself_is_scored_to_the_end(set in eval_set()) {
        let written = set.to_json(Spelling::Snake, Order::AsWritten);
        evaluate(&written, &written);
    }
}
