//! Maps words to token ids. Each distinct word is stemmed once; later lookups take one probe.
//!
//! A word of up to 16 bytes is its own key: two integers, compared without touching other memory. That covers
//! nearly all English words; longer ones are in a byte arena. Both tables are open-addressed with linear
//! probing at a load of at most one half. The author of a text could choose words whose probe sequences start
//! at the same slot, so a table in which a search becomes long is rehashed with another multiplier.
//!
//! One entry answers two questions about the same text: which token it becomes as a *word* of a response
//! (`running` → `run`), and which token it *is* (`run`, reached from `running`, `runs`, or itself).

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::porter::stem_in_place;
use super::utf8::TOP_BITS;

/// Beyond this many distinct words, or this many bytes of long words, a vocabulary is dropped
/// between two calls. Larger than the vocabulary of any real dataset; at most some 20 MB.
const MAX_WORDS: usize = 1 << 17;
const MAX_LONG_BYTES: usize = 1 << 21;

const FIRST_SLOTS: usize = 256;

/// If a search takes more slots than this, the table is rehashed. At a load of one half, the longest search
/// among a million ordinary words takes about 70.
const MAX_SEARCH: usize = 256;

/// How often a table may be rehashed. Words of 16 letters can be chosen to collide under a few multipliers at
/// once, but not under this many.
const MAX_REHASHES: u32 = 16;

/// The multiplier of the hash function: odd, and different after each rehash.
#[derive(Clone, Copy)]
struct Multiplier {
    odd: u64,
    arranged: u32,
}

impl Multiplier {
    const FIRST: Self = Self { odd: 0x9E37_79B9_7F4A_7C15, arranged: 0 };

    /// By the output function of SplitMix64 (Steele, Lea, Flood 2014).
    fn next(self) -> Option<Self> {
        let arranged = self.arranged + 1;
        let mut mixed = Self::FIRST.odd.wrapping_mul(u64::from(arranged) + 1);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (arranged <= MAX_REHASHES).then_some(Self { odd: (mixed ^ (mixed >> 31)) | 1, arranged })
    }
}

/// Up to 16 bytes of a word, first byte lowest, zero after its end. No word has a zero byte.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WordKey {
    pub(super) low: u64,
    pub(super) high: u64,
}

impl WordKey {
    pub(super) const BYTES: usize = 16;

    /// The key of a word of up to [`Self::BYTES`] bytes.
    pub(super) fn pack(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > Self::BYTES {
            return None;
        }
        let mut packed = [0; Self::BYTES];
        for (to, from) in packed.iter_mut().zip(bytes) {
            *to = *from;
        }
        let both = u128::from_le_bytes(packed);
        Some(Self { low: both as u64, high: (both >> 64) as u64 })
    }

    fn len(self) -> usize {
        let zeros =
            if self.high == 0 { 8 + self.low.leading_zeros() / 8 } else { self.high.leading_zeros() / 8 };
        Self::BYTES - zeros as usize
    }

    pub(super) fn bytes(self) -> impl Iterator<Item = u8> {
        let both = self.low.to_le_bytes().into_iter().chain(self.high.to_le_bytes());
        both.take(self.len())
    }

    /// The first slot of the probe sequence in a table of `slots`, a power of two: the top bits of the product,
    /// which are the only ones that depend on every byte of the key.
    #[inline(always)]
    fn home(self, slots: usize, by: Multiplier) -> usize {
        let mixed = self.low ^ self.high.wrapping_mul(by.odd).rotate_right(29);
        (mixed.wrapping_mul(by.odd) >> (64 - slots.trailing_zeros())) as usize
    }
}

/// Token ids start at 1; 0 means not known yet.
#[derive(Clone, Copy, Default)]
struct Ids {
    as_word: u32,
    as_token: u32,
}

#[derive(Clone, Copy, Default)]
struct Short {
    key: WordKey,
    ids: Ids,
}

#[derive(Clone, Copy, Default)]
struct Long {
    hash: u64,
    start: usize,
    length: usize,
    ids: Ids,
}

impl Long {
    fn text(self, arena: &[u8]) -> &[u8] {
        arena.get(self.start..self.start + self.length).unwrap_or_default()
    }
}

pub(super) struct Vocabulary {
    stemming: bool,
    short: Vec<Short>,
    short_used: usize,
    short_by: Multiplier,
    long: Vec<Long>,
    long_used: usize,
    long_by: Multiplier,
    arena: Vec<u8>,
    tokens: u32,
    buffer: Vec<u8>,
}

impl Vocabulary {
    /// With `stemming`, ASCII words longer than three letters become their stem.
    pub(super) fn new(stemming: bool) -> Self {
        Self {
            stemming,
            short: vec![Short::default(); FIRST_SLOTS],
            short_used: 0,
            short_by: Multiplier::FIRST,
            long: Vec::new(),
            long_used: 0,
            long_by: Multiplier::FIRST,
            arena: Vec::new(),
            tokens: 0,
            buffer: Vec::new(),
        }
    }

    /// One more than the highest id assigned.
    pub(super) fn id_end(&self) -> usize {
        self.tokens as usize + 1
    }

    /// Drops all words if there are too many to keep.
    pub(super) fn trim(&mut self) {
        if self.short_used + self.long_used > MAX_WORDS || self.arena.len() > MAX_LONG_BYTES {
            *self = Self::new(self.stemming);
        }
    }

    /// The token that a word of 1 to 16 bytes becomes.
    #[inline(always)]
    pub(super) fn short_word(&mut self, key: WordKey) -> u32 {
        let mask = self.short.len() - 1;
        let mut at = key.home(self.short.len(), self.short_by);
        while let Some(slot) = self.short.get(at) {
            if slot.key == key && slot.ids.as_word != 0 {
                return slot.ids.as_word;
            }
            if slot.key.low == 0 || slot.key == key {
                break;
            }
            at = (at + 1) & mask;
        }
        self.new_short_word(key)
    }

    /// The token that a word of more than 16 bytes becomes.
    pub(super) fn long_word(&mut self, bytes: &[u8]) -> u32 {
        let at = self.long_slot(bytes);
        let known = self.long.get(at).map_or(0, |slot| slot.ids.as_word);
        if known != 0 {
            return known;
        }
        let id = if self.stemming && bytes.is_ascii() {
            self.stem(bytes.iter().copied())
        } else {
            self.token(bytes)
        };
        let at = self.long_slot(bytes);
        if let Some(slot) = self.long.get_mut(at) {
            slot.ids.as_word = id;
        }
        id
    }

    /// The text of every token, by id − 1.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts = vec![String::new(); self.tokens as usize];
        let mut put = |ids: Ids, bytes: &[u8]| {
            let index = (ids.as_token as usize).wrapping_sub(1);
            if let Some(text) = texts.get_mut(index) {
                *text = String::from_utf8_lossy(bytes).into_owned();
            }
        };
        for slot in &self.short {
            put(slot.ids, &slot.key.bytes().collect::<Vec<_>>());
        }
        for slot in &self.long {
            put(slot.ids, slot.text(&self.arena));
        }
        texts
    }

    #[cold]
    #[inline(never)]
    fn new_short_word(&mut self, key: WordKey) -> u32 {
        let ascii = (key.low | key.high) & TOP_BITS == 0;
        let id = if self.stemming && ascii && key.len() > 3 {
            self.stem(key.bytes())
        } else {
            self.token_of_key(key)
        };
        let at = self.short_slot(key);
        if let Some(slot) = self.short.get_mut(at) {
            slot.ids.as_word = id;
        }
        id
    }

    fn stem(&mut self, word: impl Iterator<Item = u8>) -> u32 {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend(word);
        stem_in_place(&mut buffer);
        let id = self.token(&buffer);
        self.buffer = buffer;
        id
    }

    fn token(&mut self, bytes: &[u8]) -> u32 {
        if let Some(key) = WordKey::pack(bytes) {
            return self.token_of_key(key);
        }
        let at = self.long_slot(bytes);
        let slot = self.long.get_mut(at);
        claim(slot.map(|slot| &mut slot.ids), &mut self.tokens)
    }

    fn token_of_key(&mut self, key: WordKey) -> u32 {
        let at = self.short_slot(key);
        let slot = self.short.get_mut(at);
        claim(slot.map(|slot| &mut slot.ids), &mut self.tokens)
    }

    /// The slot of a key, made if need be.
    fn short_slot(&mut self, key: WordKey) -> usize {
        if (self.short_used + 1) * 2 > self.short.len() {
            self.arrange_short(self.short.len() * 2);
        }
        let mut at = self.find_short(key);
        if self.short.get(at).is_some_and(|slot| slot.key.low != 0) {
            return at;
        }
        let searched = at.wrapping_sub(key.home(self.short.len(), self.short_by)) & (self.short.len() - 1);
        if searched > MAX_SEARCH
            && let Some(next) = self.short_by.next()
        {
            self.short_by = next;
            self.arrange_short(self.short.len());
            at = self.find_short(key);
        }
        if let Some(slot) = self.short.get_mut(at) {
            slot.key = key;
            self.short_used += 1;
        }
        at
    }

    fn arrange_short(&mut self, slots: usize) {
        for slot in std::mem::replace(&mut self.short, vec![Short::default(); slots]) {
            if slot.key.low != 0 {
                let at = self.find_short(slot.key);
                if let Some(free) = self.short.get_mut(at) {
                    *free = slot;
                }
            }
        }
    }

    fn find_short(&self, key: WordKey) -> usize {
        let mask = self.short.len() - 1;
        let mut at = key.home(self.short.len(), self.short_by);
        while self.short.get(at).is_some_and(|slot| slot.key.low != 0 && slot.key != key) {
            at = (at + 1) & mask;
        }
        at
    }

    /// The slot of a long word, made if need be.
    fn long_slot(&mut self, bytes: &[u8]) -> usize {
        if (self.long_used + 1) * 2 > self.long.len() {
            self.arrange_long((self.long.len() * 2).max(FIRST_SLOTS));
        }
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let hash = hasher.finish();
        let mut at = self.find_long(hash, bytes);
        if self.long.get(at).is_some_and(|slot| slot.length != 0) {
            return at;
        }
        let searched = at.wrapping_sub(self.long_home(hash)) & (self.long.len() - 1);
        if searched > MAX_SEARCH
            && let Some(next) = self.long_by.next()
        {
            self.long_by = next;
            self.arrange_long(self.long.len());
            at = self.find_long(hash, bytes);
        }
        if let Some(slot) = self.long.get_mut(at) {
            slot.hash = hash;
            slot.start = self.arena.len();
            slot.length = bytes.len();
            self.arena.extend_from_slice(bytes);
            self.long_used += 1;
        }
        at
    }

    fn arrange_long(&mut self, slots: usize) {
        for slot in std::mem::replace(&mut self.long, vec![Long::default(); slots]) {
            if slot.length != 0 {
                let at = self.find_long(slot.hash, slot.text(&self.arena));
                if let Some(free) = self.long.get_mut(at) {
                    *free = slot;
                }
            }
        }
    }

    fn long_home(&self, hash: u64) -> usize {
        (hash.wrapping_mul(self.long_by.odd) >> (64 - self.long.len().trailing_zeros())) as usize
    }

    fn find_long(&self, hash: u64, bytes: &[u8]) -> usize {
        let mask = self.long.len() - 1;
        let mut at = self.long_home(hash);
        while self
            .long
            .get(at)
            .is_some_and(|slot| slot.length != 0 && (slot.hash != hash || slot.text(&self.arena) != bytes))
        {
            at = (at + 1) & mask;
        }
        at
    }
}

/// The id of a text as a token. Assigns one if it has none.
fn claim(ids: Option<&mut Ids>, tokens: &mut u32) -> u32 {
    let Some(ids) = ids else { return 0 };
    if ids.as_token == 0 {
        *tokens += 1;
        ids.as_token = *tokens;
    }
    ids.as_token
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(vocabulary: &mut Vocabulary, word: &str) -> u32 {
        match WordKey::pack(word.as_bytes()) {
            Some(key) => vocabulary.short_word(key),
            None => vocabulary.long_word(word.as_bytes()),
        }
    }

    #[test]
    fn words_with_one_stem_share_a_token() {
        let mut v = Vocabulary::new(true);
        let run = id(&mut v, "run");
        assert_eq!(id(&mut v, "running"), run);
        assert_eq!(id(&mut v, "runs"), run);
        assert_ne!(id(&mut v, "runner"), run);
        let long = id(&mut v, "internationalization");
        assert_eq!(id(&mut v, "internationalized"), long);
        assert!(v.texts().contains(&"internation".to_owned()));
    }

    #[test]
    fn a_stem_seen_first_is_not_taken_for_a_stemmed_word() {
        let mut v = Vocabulary::new(true);
        let stem = id(&mut v, "abiding");
        assert_eq!(v.texts(), ["abid"]);
        assert_eq!(id(&mut v, "abides"), stem);
        assert_eq!(id(&mut v, "abid"), stem);
    }

    #[test]
    fn without_stemming_every_word_is_its_own_token() {
        let mut v = Vocabulary::new(false);
        assert_ne!(id(&mut v, "running"), id(&mut v, "run"));
        assert_eq!(v.texts(), ["running", "run"]);
    }

    #[test]
    fn ids_survive_growth() {
        let mut v = Vocabulary::new(true);
        let words: Vec<String> =
            (0..5000).flat_map(|n| [format!("w{n}"), format!("a-rather-long-word-{n}")]).collect();
        let ids: Vec<u32> = words.iter().map(|w| id(&mut v, w)).collect();
        let again: Vec<u32> = words.iter().map(|w| id(&mut v, w)).collect();
        assert_eq!(ids, again);
        assert_eq!(v.id_end(), words.len() + 1);
    }

    /// How many slots the longest search for a word passes.
    fn longest_search(v: &Vocabulary) -> usize {
        let short = v.short.iter().enumerate().filter(|(_, slot)| slot.key.low != 0);
        let short = short.map(|(at, slot)| (at, slot.key.home(v.short.len(), v.short_by), v.short.len()));
        let long = v.long.iter().enumerate().filter(|(_, slot)| slot.length != 0);
        let long = long.map(|(at, slot)| (at, v.long_home(slot.hash), v.long.len()));
        short.chain(long).map(|(at, home, slots)| at.wrapping_sub(home) & (slots - 1)).max().unwrap_or(0)
    }

    #[test]
    fn words_that_were_chosen_to_collide_are_found_as_fast_as_others() {
        let begins_low = |home: usize, slots: usize| home < slots / 64;
        let short = (0..).map(|n| format!("word{n}")).filter(|word| {
            let key = WordKey::pack(word.as_bytes()).unwrap();
            begins_low(key.home(1 << 16, Multiplier::FIRST), 1 << 16)
        });
        let long = (0..).map(|n| format!("a-rather-long-word-{n}")).filter(|word| {
            let mut hasher = FxHasher::default();
            hasher.write(word.as_bytes());
            let home = hasher.finish().wrapping_mul(Multiplier::FIRST.odd) >> 48;
            begins_low(home as usize, 1 << 16)
        });
        let words: Vec<String> = short.take(20_000).chain(long.take(20_000)).collect();
        let mut v = Vocabulary::new(false);
        let ids: Vec<u32> = words.iter().map(|word| id(&mut v, word)).collect();
        assert!(longest_search(&v) <= MAX_SEARCH, "{} slots", longest_search(&v));
        assert_eq!(ids, words.iter().map(|word| id(&mut v, word)).collect::<Vec<_>>());
        assert_eq!(v.id_end(), words.len() + 1);
    }

    #[test]
    fn a_vocabulary_that_has_grown_too_large_is_dropped() {
        let mut v = Vocabulary::new(true);
        id(&mut v, "kept");
        v.trim();
        assert_eq!(v.id_end(), 2);
        id(&mut v, &"x".repeat(MAX_LONG_BYTES + 1));
        v.trim();
        assert_eq!(v.id_end(), 1);
    }
}
