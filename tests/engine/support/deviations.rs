//! Where this project answers otherwise than what was recorded: every such case has to belong to a
//! class that says why, and every class has to have exactly the cases it claims.

use std::fmt;

use adk_metrics::foundation::error::Error;

/// One answer that is not the recorded one.
pub(crate) struct Deviation {
    pub(crate) name: String,
    pub(crate) kind: DeviationKind,
}

/// How an answer deviates.
pub(crate) enum DeviationKind {
    /// Recorded is an error, and we have an answer.
    Accepted { recorded: String },
    /// Recorded is an answer, and we have an error.
    Refused(Error),
    /// Both are answers, and they differ.
    Otherwise(String),
}

/// Deviations with one reason.
pub(crate) struct Class {
    /// What is different and why.
    pub(crate) reason: &'static str,
    /// How many recorded cases show it.
    pub(crate) cases: usize,
    /// Whether a deviation belongs to it.
    pub(crate) covers: fn(&Deviation) -> bool,
}

impl Deviation {
    pub(crate) fn refusal(&self) -> Option<&Error> {
        if let DeviationKind::Refused(error) = &self.kind { Some(error) } else { None }
    }
}

impl fmt::Debug for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            DeviationKind::Accepted { recorded } => write!(f, "{}: accepted, recorded {recorded}", self.name),
            DeviationKind::Refused(error) => write!(f, "{}: refused, {error}", self.name),
            DeviationKind::Otherwise(how) => write!(f, "{}{how}", self.name),
        }
    }
}

/// Compares what was recorded with what was found: nothing if both are errors.
pub(crate) fn deviation<T>(
    name: String,
    recorded_error: Option<String>,
    found: Result<T, Error>,
    differences: impl FnOnce(T) -> Option<String>,
) -> Option<Deviation> {
    let kind = match (recorded_error, found) {
        (Some(_), Err(_)) => return None,
        (Some(recorded), Ok(_)) => DeviationKind::Accepted { recorded },
        (None, Err(error)) => DeviationKind::Refused(error),
        (None, Ok(found)) => DeviationKind::Otherwise(differences(found)?),
    };
    Some(Deviation { name, kind })
}

/// Sorts deviations into classes; the first that covers one takes it.
pub(crate) fn assert_classified(deviations: Vec<Deviation>, classes: &[Class]) {
    let mut members = vec![0; classes.len()];
    let mut unknown = Vec::new();
    for deviation in deviations {
        match classes.iter().position(|class| (class.covers)(&deviation)) {
            Some(class) => members[class] += 1,
            None => unknown.push(deviation),
        }
    }
    assert!(unknown.is_empty(), "{} unexplained deviations: {unknown:#?}", unknown.len());
    let found: Vec<_> = classes.iter().zip(members).map(|(class, members)| (members, class.reason)).collect();
    let stated: Vec<_> = classes.iter().map(|class| (class.cases, class.reason)).collect();
    assert_eq!(found, stated, "cases of each class: found, and as stated");
}
