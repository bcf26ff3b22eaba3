//! The columns of a batch. One declaration defines the fields and the table of their addresses in Rust, and the
//! reader in TypeScript (`pkg-template/src/generated/columns.ts`, written by `cargo xtask schema`).

/// A column: its location in memory, and the kind of array that JavaScript reads it as.
pub(super) trait Column {
    /// The name of the kind, for `scripts/contract.mjs`.
    #[cfg(feature = "schema")]
    const KIND: &'static str;

    /// The address of its bytes, and its number of elements.
    fn location(&self) -> [f64; 2];
}

macro_rules! kinds {
    ($($column:ty: $kind:literal, $elements:ident => $slice:expr;)*) => {
        $(impl Column for $column {
            #[cfg(feature = "schema")]
            const KIND: &'static str = $kind;

            fn location(&self) -> [f64; 2] {
                let $elements = self;
                let elements = $slice;
                [elements.as_ptr().addr(), elements.len()].map(|number| to_u32(number).into())
            }
        })*
    };
}

kinds! {
    Vec<u8>: "u8", bytes => bytes.as_slice();
    Vec<u32>: "u32", numbers => numbers.as_slice();
    Vec<f64>: "f64", numbers => numbers.as_slice();
    String: "text", text => text.as_bytes();
    JsonItems: "list", list => list.0.as_bytes();
}

/// The items of a JSON array, written one by one, without the brackets.
#[derive(Default)]
pub(super) struct JsonItems(String);

impl JsonItems {
    pub(super) fn push(&mut self, item: &str) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(item);
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// An index, a length or an address as a 32-bit number; larger ones, which a 32-bit memory cannot have, saturate.
pub(super) fn to_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What the host does after a batch.
#[derive(Clone, Copy, Default)]
pub(super) enum HostStep {
    /// Wait for an answer, or until a time.
    #[default]
    Wait = 0,
    /// Stop: the run is finished.
    Finished = 1,
    /// Poll again at once.
    More = 2,
}

/// A flag of a case: it was scored.
pub(super) const SCORED: u32 = 1;
/// A flag of a case: the next batch continues it as its first case.
pub(super) const CONTINUED: u32 = 2;

macro_rules! numbers {
    (
        $(#[doc = $summary:literal])*
        $record:ident: $number:ty { $($(#[doc = $doc:literal])* $name:ident,)* }
    ) => {
        $(#[doc = $summary])*
        pub(super) struct $record {
            $($(#[doc = $doc])* pub(super) $name: $number,)*
        }

        impl $record {
            /// How many numbers it has.
            pub(super) const LENGTH: usize = [$(stringify!($name)),*].len();

            /// Its numbers in their order.
            pub(super) fn numbers(self) -> [$number; Self::LENGTH] {
                [$(self.$name),*]
            }

            /// The name and the description of each number.
            #[cfg(feature = "schema")]
            fn declared() -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), concat!($($doc, "\n"),*))),*]
            }
        }
    };
}

numbers! {
    /// What precedes the columns in the table.
    Header: f64 {
        /// The time until which to wait; NaN for no limit.
        wait_until,
        /// What the host does next.
        next,
        /// The number of judge calls.
        calls,
    }
}

numbers! {
    /// A case in [`Columns::cases`].
    CaseNumbers: u32 {
        /// Its index in the evalset.
        index,
        /// The index of its run plus one, or 0.
        run,
        /// Its status.
        status,
        /// The number of its turns in this batch.
        turns,
        /// Its flags: [`SCORED`], [`CONTINUED`].
        flags,
    }
}

macro_rules! columns {
    ($($(#[doc = $doc:literal])* $name:ident: $column:ty,)*) => {
        /// The columns. A *slot* is one metric's result for a whole case or for one turn. A case with T turns and M
        /// metrics has M·(1 + T) slots: the results for the whole conversation, then those for each turn. If a case
        /// continues from an earlier batch, it has only the slots of its remaining turns.
        #[derive(Default)]
        pub(super) struct Columns {
            $($(#[doc = $doc])* pub(super) $name: $column,)*
        }

        /// The number of columns.
        const COLUMNS: usize = [$(stringify!($name)),*].len();

        impl Columns {
            fn locations(&self) -> [[f64; 2]; COLUMNS] {
                [$(self.$name.location()),*]
            }
        }

        /// The whole layout: what precedes the columns; the name, the kind and the description of each column, in the order
        /// of the table; and what the numbers in them stand for.
        #[cfg(feature = "schema")]
        pub(super) fn declared() -> serde_json::Value {
            let columns = [$((stringify!($name), <$column as Column>::KIND, concat!($($doc, "\n"),*))),*];
            serde_json::json!({
                "header": Header::declared(),
                "columns": columns,
                "case": CaseNumbers::declared(),
                "constants": {
                    "STEP_FINISHED": HostStep::Finished as u8,
                    "STEP_MORE": HostStep::More as u8,
                    "FLAG_SCORED": SCORED,
                    "FLAG_CONTINUED": CONTINUED,
                },
            })
        }
    };
}

columns! {
    /// The numbers of each case, one case after the other.
    cases: Vec<u32>,
    /// Four numbers per turn: start and end of the actual and of the expected invocation in the input bytes. Both 0: there
    /// is no such invocation. Both `u32::MAX`: the input does not contain the invocation in this form; it is the next of
    /// `texts`.
    spans: Vec<u32>,
    /// One number per slot: 0, or the index of its reason in `reason_texts` plus one.
    reasons: Vec<u32>,
    /// The length of each string in `ids`, in UTF-16 code units.
    id_lengths: Vec<u32>,
    /// The ids of the calls to abort.
    aborts: Vec<u32>,
    /// Two numbers per explanation, in the order of slots: its slot, and its length in UTF-16 code units.
    explained: Vec<u32>,
    /// One score per slot; NaN if there is none.
    scores: Vec<f64>,
    /// One status per slot.
    statuses: Vec<u8>,
    /// Three strings per case, concatenated: eval id, session id, user id (empty if unknown).
    ids: String,
    /// The explanations as JSON, concatenated. They may be most of the data, so each is parsed only when it is read.
    explanations: String,
    /// `[slot, {details}]` for slots with details, `[slot, {error}]` for metrics that failed, and `[-1 - case, error]` for
    /// cases that were not scored.
    notes: JsonItems,
    /// The invocations that the input does not contain in this form, in the order of their spans.
    texts: JsonItems,
    /// The distinct reasons.
    reason_texts: JsonItems,
    /// The tasks for the host.
    tasks: JsonItems,
}

/// The table of a batch: the [`Header`]; then the address and the length of each column.
#[derive(Default)]
pub(super) struct Table([f64; Header::LENGTH + 2 * COLUMNS]);

impl Table {
    /// Fills in the current locations of the columns, and returns the address of the table.
    pub(super) fn fill(&mut self, header: Header, columns: &Columns) -> *const f64 {
        let header = header.numbers();
        for (entry, value) in self.0.iter_mut().zip(header.iter().chain(columns.locations().as_flattened())) {
            *entry = *value;
        }
        self.0.as_ptr()
    }
}
