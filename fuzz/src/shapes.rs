//! Any input can be given to every reader, and accepted files read back as the same after they are written.

use adk_metrics::foundation::json::Document;
use adk_metrics::foundation::write::Spelling;
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::results::EvalSetResult;
use adk_metrics::model::shape::{Record, View, Warnings, check as check_shape};

const SPELLINGS: [Spelling; 2] = [Spelling::Snake, Spelling::Camel];

/// The input is a file: an evalset, what the agent did, results, a session, or anything else.
pub fn check(input: &[u8]) {
    let Ok((document, _)) = Document::from_bytes(input).and_then(Document::unwrapped) else { return };
    let text = document.root().raw();
    evalset(text);
    results(text);
    let warnings = Warnings::default();
    if let Ok(document) = Document::parse(text)
        && let Ok(file) = ActualFile::read(document, "name", &warnings)
    {
        for run in file.runs() {
            assert!(format!("{:?}", run.eval_id).len() > 1);
        }
    }
    for warning in warnings.into_vec() {
        assert!(!warning.to_string().is_empty());
    }
}

fn evalset(text: &str) {
    let read = |text: &str| -> Option<[String; 2]> {
        let file =
            EvalSetFile::read(Document::parse(text.to_owned()).ok()?, "name", &Warnings::default()).ok()?;
        Some(SPELLINGS.map(|spelling| file.set().to_json(spelling)))
    };
    if let Some(written) = read(text) {
        for json in &written {
            assert_eq!(read(json).as_ref(), Some(&written), "{json}");
        }
    }
}

fn results(text: &str) {
    let read = |text: &str| -> Option<[String; 2]> {
        let mut document = Document::parse(text.to_owned()).ok()?;
        check_shape(&mut document, &EvalSetResult::TYPE, &Warnings::default()).ok()?;
        Some(SPELLINGS.map(|spelling| EvalSetResult::from_json(document.root()).to_json(spelling)))
    };
    if let Some(written) = read(text) {
        for json in &written {
            assert_eq!(read(json).as_ref(), Some(&written), "{json}");
        }
    }
}
