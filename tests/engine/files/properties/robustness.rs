//! No input makes a reader or a metric panic.

use super::*;

/// A document as readers of configs and results take it.
fn unwrapped(bytes: &[u8]) -> Result<Document<'_>> {
    Ok(Document::from_bytes(bytes)?.unwrapped()?.0)
}

/// Calls every reader; what they accept, they also write such that it reads again the same.
fn read_everything(bytes: &[u8]) {
    if unwrapped(bytes).is_err() {
        return;
    }
    let document = || unwrapped(bytes).unwrap();
    let warnings = Warnings::default();
    if let Ok(file) = EvalSetFile::read(document(), "name", &warnings) {
        let written = SPELLINGS.map(|spelling| file.set().to_json(spelling));
        for json in &written {
            let warnings = Warnings::default();
            let read = EvalSetFile::read(Document::parse(json.as_str()).unwrap(), "name", &warnings);
            let read = read.unwrap_or_else(|error| panic!("{error}: {json}"));
            assert_eq!(SPELLINGS.map(|spelling| read.set().to_json(spelling)), written);
            assert_eq!(unexpected(warnings), []);
        }
    }
    let mut results = document();
    if check(&mut results, &EvalSetResult::TYPE, &warnings).is_ok() {
        let written = SPELLINGS.map(|spelling| EvalSetResult::from_json(results.root()).to_json(spelling));
        for json in &written {
            let warnings = Warnings::default();
            let mut read = Document::parse(json.as_str()).unwrap();
            check(&mut read, &EvalSetResult::TYPE, &warnings)
                .unwrap_or_else(|error| panic!("{error}: {json}"));
            let again = SPELLINGS.map(|spelling| EvalSetResult::from_json(read.root()).to_json(spelling));
            assert_eq!(again, written);
            assert_eq!(warnings.into_vec(), []);
        }
    }
    if let Ok(file) = ActualFile::read(document(), "name", &warnings) {
        file.runs().for_each(drop);
    }
    drop(Plan::from_config(
        &mut document(),
        PlanOptions { custom: &["mine".into()], ..PlanOptions::default() },
        &warnings,
    ));
    drop(Plan::from_metric(&mut document(), PlanOptions::default(), &warnings));
    drop(pretty(document().root()));
    for warning in warnings.into_vec() {
        drop(warning.to_string());
    }
}

#[derive(Clone, Debug)]
enum Mutation {
    Delete(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
    /// Puts one value of the document in the place of another.
    Transplant(prop::sample::Index, prop::sample::Index),
    /// Puts something else in the place of a value.
    Replace(prop::sample::Index, &'static str),
}

const REPLACEMENTS: [&str; 14] = [
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"x\"",
    "-1",
    "1e308",
    "1e400",
    "0.1",
    "[[]]",
    "{\"\":{}}",
    "99999999999999999999999",
    "\"\\ud83d\\ude00\"",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let bytes = prop_oneof![
        vec(any::<u8>(), 0..4),
        proptest::sample::select(vec!["\"", "{", "}", "[", "]", ",", ":", "\\", "null", "\\ud800"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    let place = any::<prop::sample::Index>;
    prop_oneof![
        1 => (place(), 1..8_usize).prop_map(|(at, length)| Mutation::Delete(at, length)),
        1 => (place(), bytes).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        1 => (place(), 1..40_usize).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        6 => (place(), place()).prop_map(|(to, from)| Mutation::Transplant(to, from)),
        6 => (place(), proptest::sample::select(REPLACEMENTS.to_vec()))
            .prop_map(|(at, value)| Mutation::Replace(at, value)),
    ]
}

/// Where every value of a document stands.
fn spans(json: Json<'_>, all: &mut Vec<(usize, usize)>) {
    let (start, end) = json.span();
    all.push((start as usize, end as usize));
    json.items().for_each(|item| spans(item, all));
    json.entries().for_each(|(_, value)| spans(value, all));
}

fn mutate(mut bytes: Vec<u8>, mutation: &Mutation) -> Vec<u8> {
    let range = |at: &prop::sample::Index, length: usize| {
        let start = at.index(bytes.len().max(1)).min(bytes.len());
        start..(start + length).min(bytes.len())
    };
    let mut values = Vec::new();
    if let Ok(document) = Document::from_bytes(bytes.as_slice()) {
        spans(document.root(), &mut values);
    }
    match mutation {
        Mutation::Delete(at, length) => drop(bytes.drain(range(at, *length))),
        Mutation::Insert(at, more) => drop(bytes.splice(range(at, 0), more.clone())),
        Mutation::Repeat(at, length) => {
            let range = range(at, *length);
            let again = bytes[range.clone()].to_vec();
            bytes.splice(range.start..range.start, again);
        }
        Mutation::Transplant(to, from) if !values.is_empty() => {
            let (start, end) = *from.get(&values);
            let value = bytes[start..end].to_vec();
            let (start, end) = *to.get(&values);
            bytes.splice(start..end, value);
        }
        Mutation::Replace(at, value) if !values.is_empty() => {
            let (start, end) = *at.get(&values);
            bytes.splice(start..end, value.bytes());
        }
        Mutation::Transplant(..) | Mutation::Replace(..) => {}
    }
    bytes
}

proptest! {
    #![proptest_config(cases(1024))]

    #[test]
    fn random_bytes_trap_no_reader(bytes in vec(any::<u8>(), 0..64)) {
        read_everything(&bytes);
    }

    #[test]
    fn random_json_traps_no_reader(text in r#"[\[\]{}",:0-9eE+\-. truefalsn\\u0dé]{0,48}"#) {
        read_everything(text.as_bytes());
    }

    #[test]
    fn mutated_documents_trap_no_reader_and_no_metric(
        which in any::<prop::sample::Index>(),
        mutations in vec(mutation(), 1..5),
    ) {
        let document = which.get(&DOCUMENTS);
        let bytes = mutations.iter().fold(document.clone().into_bytes(), mutate);
        read_everything(&bytes);
        let mutated = String::from_utf8_lossy(&bytes);
        evaluate(document, &mutated);
        evaluate(&mutated, document);
        evaluate(&mutated, &mutated);
    }
}

#[test]
fn every_document_is_read_by_some_reader() {
    for document in DOCUMENTS.iter() {
        let parsed = || unwrapped(document.as_bytes()).expect("JSON");
        let warnings = Warnings::default();
        let read = ActualFile::read(parsed(), "", &warnings).is_ok()
            || EvalSetFile::read(parsed(), "", &warnings).is_ok()
            || Plan::from_metric(&mut parsed(), PlanOptions::default(), &warnings).is_ok()
            || Plan::from_config(&mut parsed(), PlanOptions::default(), &warnings)
                .is_ok_and(|plan| plan.metrics.len() > 4);
        assert!(read, "{document}");
    }
}
