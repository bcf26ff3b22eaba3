//! Vertex AI's evaluation service.

use super::*;

// evaluateInstances

fn evaluation(body: &Value) -> Result<VertexEvaluation, Box<Failure>> {
    let body = &body.to_string();
    let reply = HttpReply { status: 200, body, ..HttpReply::default() };
    vertex_evaluate::check(&endpoint(Provider::Vertex), &reply)?;
    Ok(vertex_evaluate::parse(body).unwrap())
}

#[test]
fn evaluations_are_read_with_their_rubrics() {
    let property =
        |text: &str| json!({ "content": { "property": { "description": text } }, "rubricId": "r" });
    let body = json!({ "metricResults": [{ "score": 0.5, "explanation": "Half.", "rubricVerdicts": [
        { "evaluatedRubric": property("It books."), "verdict": true, "reasoning": "It did." },
        { "evaluatedRubric": { "rubricId": "r2" } },
        {} ] }] });
    let verdict = |id: &str, met, reasoning: Option<&str>| VertexRubric {
        id: id.into(),
        met,
        reasoning: reasoning.map(Into::into),
    };
    assert_eq!(
        evaluation(&body),
        Ok(VertexEvaluation {
            score: Some(0.5),
            explanation: Some("Half.".into()),
            rubrics: vec![
                verdict("It books.", true, Some("It did.")),
                verdict("r2", false, None),
                verdict("rubric_2", false, None)
            ],
            error: None,
        })
    );
    let coherence = json!({ "coherenceResult": { "score": 4, "explanation": "Clear.", "confidence": 1 } });
    assert_eq!(
        evaluation(&coherence),
        Ok(VertexEvaluation {
            score: Some(4.0),
            explanation: Some("Clear.".into()),
            ..VertexEvaluation::default()
        })
    );
}

#[test]
fn a_metric_that_could_not_be_scored_says_why_or_is_asked_again() {
    let error = |code: u32| {
        evaluation(&json!({ "metricResults": [{ "error": { "code": code, "message": "Sorry" } }] }))
    };
    assert_eq!(error(3), Ok(VertexEvaluation { error: Some("Sorry".into()), ..VertexEvaluation::default() }));
    for (code, kind) in [(4, FailureKind::Timeout), (8, FailureKind::RateLimited), (14, FailureKind::Server)]
    {
        let failure = error(code).unwrap_err();
        assert_eq!((failure.kind, failure.retryable), (kind, true));
    }
    let odd = evaluation(&json!({ "metricResults": [{ "score": "NaN", "error": {} }] }));
    assert_eq!(odd, Ok(VertexEvaluation::default()));
    let scored = evaluation(&json!({ "metricResults": [{ "score": 1, "error": { "code": 14 } }] }));
    assert_eq!(scored, Ok(VertexEvaluation { score: Some(1.0), ..VertexEvaluation::default() }));
    for body in ["", "{}", "[]", "no", r#"{"metricResults": []}"#] {
        assert_eq!(vertex_evaluate::parse(body), None);
    }
    assert_eq!(evaluation(&json!({})).unwrap_err().kind, FailureKind::Malformed);
    assert_eq!(evaluation(&json!({ "error": { "code": 429 } })).unwrap_err().kind, FailureKind::RateLimited);
}
