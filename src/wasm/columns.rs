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
    List: "list", list => list.0.as_bytes();
}

/// The items of a JSON array without its brackets, written one by one.
#[derive(Default)]
pub(super) struct List(String);

impl List {
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
pub(super) enum Next {
    /// Wait for an answer, or until a time.
    #[default]
    Wait = 0,
    /// Stop: the run is finished.
    Finished = 1,
    /// Poll again at once.
    More = 2,
}

macro_rules! columns {
    ($($(#[doc = $doc:literal])* $name:ident: $column:ty,)*) => {
        /// The columns themselves. A *slot* is one metric's result for a whole case or for one turn. A case with T turns
        /// and M metrics has M·(1 + T) slots: the metrics of the whole conversation, then those of each turn. The part of a
        /// case that continues an earlier batch has only those of its turns.
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

        /// The name, the kind and the description of each column, in the order of the table.
        #[cfg(feature = "schema")]
        pub(super) fn declared() -> Vec<(&'static str, &'static str, &'static str)> {
            vec![$((stringify!($name), <$column as Column>::KIND, concat!($($doc, "\n"),*))),*]
        }
    };
}

columns! {
    /// Five numbers a case: its place in the evalset; the place of its run plus one, or 0; its
    /// status; the number of its turns that are here; 1 if it was scored, plus 2 if its other turns are in the next
    /// batch, whose first case it is.
    cases: Vec<u32>,
    /// Four numbers a turn: where the actual and the expected invocation begin and end in the bytes
    /// they were read from. Both 0: there is no expected one. Both the greatest number: the invocation is not
    /// there as such, and the next of `texts` is it.
    spans: Vec<u32>,
    /// A number a slot: 0, or the place of its reason in `reason_texts` plus one.
    reasons: Vec<u32>,
    /// How long each text of `ids` is, in UTF-16 code units.
    id_lengths: Vec<u32>,
    /// The calls to abort.
    aborts: Vec<u32>,
    /// Two numbers an explanation, in the order of slots: its slot, and its length in UTF-16 code units.
    explained: Vec<u32>,
    /// A score a slot; NaN where there is none.
    scores: Vec<f64>,
    /// A status a slot.
    statuses: Vec<u8>,
    /// Three texts a case: eval id, session id, user id (empty if unknown), one after the other.
    ids: String,
    /// The explanations as JSON, one after the other. They may be most of what there is, and are read when they are looked
    /// at.
    explanations: String,
    /// `[slot, {details}]` for the slots that have them, `[-1 - case, error]` for cases that were not scored and
    /// `[slot, {error}]` for metrics that failed.
    notes: List,
    /// The invocations that are not in the input as such, in the order of their spans.
    texts: List,
    /// The distinct reasons.
    reason_texts: List,
    /// The tasks for the host, each with all that it needs.
    tasks: List,
}

/// How many numbers precede the columns in the table.
const HEADER_LENGTH: usize = 3;

/// The table of a batch: until when to wait (NaN for no limit), what the host does [`Next`], and the number of calls to
/// make; then the address and the length of each column.
#[derive(Default)]
pub(super) struct Table([f64; HEADER_LENGTH + 2 * COLUMNS]);

impl Table {
    /// Fills in the current locations of the columns, and returns the address of the table.
    pub(super) fn fill(&mut self, header: [f64; HEADER_LENGTH], columns: &Columns) -> *const f64 {
        for (entry, value) in self.0.iter_mut().zip(header.iter().chain(columns.locations().as_flattened())) {
            *entry = *value;
        }
        self.0.as_ptr()
    }
}
