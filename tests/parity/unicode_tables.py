"""Writes src/text/tables.rs: what Python 3.11 thinks of every code point, and its NFKC.

    python3.11 tests/parity/unicode_tables.py > src/text/tables.rs

Everything is asked of the interpreter itself (`unicodedata` 14.0.0, `str.lower`,
`str.isalnum`), never read from newer Unicode files, because these answers are what
decides how google-adk tokenizes.
"""

import sys
import unicodedata as ud
from collections import Counter

assert ud.unidata_version == "14.0.0", "run this with Python 3.11"

SEPARATOR, UNASSIGNED, FOLDS_AWAY, WORD, UPPER, SIGMA, SINGLE, BASE, UNASSIGNED_BASE = range(9)
UNSTABLE, UNSTABLE_JOINING, JOINING_WORD, JOINING_SINGLE = range(9, 13)
CASED, CASE_IGNORABLE = 0x10, 0x20
FIRST_MARK = 0x40

SINGLES = [(0x4E00, 0x9FFF), (0x3040, 0x309F), (0x30A0, 0x30FF), (0xAC00, 0xD7AF)]
CLUSTERS = [(0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1780, 0x17FF), (0x1000, 0x109F)]
SURROGATES = range(0xD800, 0xE000)


def within(ranges, code):
    return any(low <= code <= high for low, high in ranges)


def is_mark(char):
    return ud.category(char).startswith("M")


def kind(char):
    """The role of a normalised character in google-adk's tokenizer."""
    if within(SINGLES, ord(char)):
        return SINGLE
    if within(CLUSTERS, ord(char)):
        return WORD if is_mark(char) else BASE
    return WORD if char.isalnum() or is_mark(char) else SEPARATOR


def second_halves():
    """Characters that canonical composition can merge into the one before."""
    found = {chr(c) for c in [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]}
    for code in range(0x110000):
        parts = ud.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (chr(int(part, 16)) for part in parts)
            if ud.normalize("NFC", first + second) == chr(code):
                found.add(second)
    return found


JOINING = second_halves()


def starts_segment(char):
    """Whether text can be cut before this character without changing its NFKC form."""
    first = ud.normalize("NFKD", char)[0]
    return ud.combining(first) == 0 and first not in JOINING


def combining_classes():
    """Combining classes of the characters that NFKC may reorder, in order."""
    chars = (chr(c) for c in range(0x110000) if c not in SURROGATES)
    return sorted({ud.combining(c) for c in chars if ud.combining(c) and ud.normalize("NFKC", c) == c})


RANKS = {ccc: rank for rank, ccc in enumerate(combining_classes())}
assert FIRST_MARK + 2 * len(RANKS) <= 0x100


def code_of(char):
    assigned = ud.category(char) != "Cn"
    folded = ud.normalize("NFKC", char)
    if folded != char:
        if not starts_segment(char):
            return UNSTABLE_JOINING
        plain = all(kind(c) == SEPARATOR and starts_segment(c) for c in folded)
        return FOLDS_AWAY if plain else UNSTABLE
    part = kind(char)
    if char in JOINING:
        assert part in (WORD, SINGLE), hex(ord(char))
        return JOINING_SINGLE if part == SINGLE else JOINING_WORD
    if ud.combining(char):
        assert part == WORD, hex(ord(char))
        return FIRST_MARK + 2 * RANKS[ud.combining(char)]
    if char == "Σ":
        return SIGMA
    if char.lower() != char:
        assert part == WORD and all(kind(c) == WORD for c in char.lower()), hex(ord(char))
        return UPPER
    if not assigned:
        return {SEPARATOR: UNASSIGNED, BASE: UNASSIGNED_BASE, SINGLE: SINGLE}[part]
    return part


def case_flags(char):
    """Cased and Case_Ignorable, told apart by what they do to a following sigma."""
    if (char + "Σ").lower().endswith("ς"):
        return CASED
    return CASE_IGNORABLE if ("a" + char + "Σ").lower().endswith("ς") else 0


def role(char):
    """The byte that src/text/roles.rs reads: a kind with its case flags, or a mark's rank."""
    code = code_of(char)
    if code in (UNSTABLE, UNSTABLE_JOINING, FOLDS_AWAY):
        return code
    flags = case_flags(char)
    if code >= FIRST_MARK:
        assert flags != CASED, hex(ord(char))
        return code | (flags == CASE_IGNORABLE)
    return code | flags


def runs():
    """Maximal runs of code points with the same role, as (length, role)."""
    start, current = 0, role("\0")
    for code in range(1, 0x110000):
        following = current if code in SURROGATES else role(chr(code))
        if following != current:
            yield code - start, current
            start, current = code, following
    yield 0x110000 - start, current


def decompositions():
    """The NFKD form of every character that has another one, Hangul syllables aside."""
    syllables = range(0xAC00, 0xD7A4)
    chars = (chr(c) for c in range(0x110000) if c not in SURROGATES and c not in syllables)
    return {c: ud.normalize("NFKD", c) for c in chars if ud.normalize("NFKD", c) != c}


def check_composition(table):
    """Proves that src/text/nfkc.rs can tell which pairs compose from the NFKD forms alone.

    A pair composes to a character that NFKC keeps. Its second half is the last character of the
    NFKD form, its first half what those before it compose to, shorter forms first.
    """
    composed = {}
    for char, parts in sorted(table.items(), key=lambda entry: len(entry[1])):
        if ud.normalize("NFKC", char) != char:
            continue
        assert code_of(char) not in (UNSTABLE, UNSTABLE_JOINING, FOLDS_AWAY)
        first = parts[0]
        for part in parts[1:-1]:
            first = composed[first, part]
        assert ud.decomposition(char) == f"{ord(first):04X} {ord(parts[-1]):04X}", hex(ord(char))
        composed[first, parts[-1]] = char
    hangul = {chr(c) for c in [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]}
    assert {second for _, second in composed} | hangul == JOINING


def forms():
    """The byte strings that src/text/nfkc.rs unpacks, by name with their documentation."""
    table = decompositions()
    check_composition(table)
    codes = sorted(ord(char) for char in table)
    tails = Counter(part for parts in table.values() for part in parts[1:])
    frequent = {part for part, _ in tails.most_common(254)}
    palette = sorted(frequent) + sorted(set(tails) - frequent)
    index = {part: at for at, part in enumerate(palette, 1)}
    tail, runs, place = [], [], 0
    for code in codes:
        for part in table[chr(code)][1:]:
            tail += [index[part]] if index[part] < 255 else [255, index[part] - 255]
        tail.append(0)
        if runs and sum(runs[-1]) == code:
            runs[-1][1] += 1
        else:
            runs.append([code, 1])
    places = []
    for start, length in runs:
        places += [*varint(start - place), *varint(length)]
        place = start + length
    classes, place = [], 0
    for code in sorted(ord(char) for char in JOINING if ud.combining(char)):
        classes += [*varint(code - place), FIRST_MARK // 2 + RANKS[ud.combining(chr(code))]]
        place = code
    return [
        ("Runs of code points whose NFKD form differs: how far from the last run, how many. LEB128.", "FORM_RUNS", places),
        ("The first character of each form: the difference to the last one. Zigzag LEB128.", "FORM_FIRSTS",
         differences(ord(table[chr(code)][0]) for code in codes)),
        ("The other characters of each form, by place in the palette from 1, up to a 0.\n/// 255 adds the next byte.", "FORM_TAILS", tail),
        ("The palette: the difference to the last character. Zigzag LEB128.", "TAIL_PALETTE", differences(map(ord, palette))),
        ("Each mark that merges with a letter: the difference to the last one as LEB128, its rank.", "MERGING_MARKS", classes),
    ]


def lower_runs():
    """Runs of characters with the same distance to their lower case: first, last, distance.

    Capitals alternate with their small letters in all runs of distance 1, and in no others. İ alone
    becomes two characters; `adk_python.rs` knows it.
    """
    runs = []
    for code in range(0x110000):
        lower = chr(code).lower() if code not in SURROGATES else ""
        if len(lower) != 1 or ord(lower) == code:
            continue
        distance = ord(lower) - code
        first, last, of_run = runs[-1] if runs else (0, 0, 0)
        if distance == of_run and code - last == (2 if distance == 1 else 1):
            runs[-1] = (first, code, distance)
        else:
            runs.append((code, code, distance))
    return runs


def case_folds():
    """Characters whose case folds to something else than their lower case, with what they fold to."""
    chars = (chr(c) for c in range(0x110000) if c not in SURROGATES)
    return [(c, c.casefold()) for c in chars if c.casefold() != c.lower()]


def fold_runs():
    """Those that fold to one character, as runs with the same distance to it: first, last, distance."""
    runs = []
    for code, folded in ((ord(c), ord(folded)) for c, folded in case_folds() if len(folded) == 1):
        first, last, of_run = runs[-1] if runs else (0, 0, 0)
        if folded - code == of_run and code == last + 1:
            runs[-1] = (first, code, of_run)
        else:
            runs.append((code, code, folded - code))
    return runs


def differences(numbers):
    previous = 0
    packed = []
    for number in numbers:
        packed += varint(zigzag(number - previous))
        previous = number
    return packed


def zigzag(number):
    """Small numbers of either sign as small ones without: 0, -1, 1, -2, 2 as 0, 1, 2, 3, 4."""
    return 2 * number if number >= 0 else -2 * number - 1


def varint(number):
    """LEB128: seven bits a byte, lowest first, the top bit set on all but the last."""
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number


def write_bytes(out, doc, name, values):
    out.write(f"\n/// {doc}\n#[rustfmt::skip]\n")
    out.write(f"pub(super) static {name}: [u8; {len(values)}] = [\n")
    for at in range(0, len(values), 24):
        out.write("    " + ", ".join(map(str, values[at : at + 24])) + ",\n")
    out.write("];\n")


def write_runs(out, doc, name, runs):
    out.write(f"\n/// {doc}\n#[rustfmt::skip]\n")
    out.write(f"pub(super) static {name}: [(u32, u32, i32); {len(runs)}] = [\n")
    for at in range(0, len(runs), 4):
        out.write("    " + " ".join(f"({first}, {last}, {distance})," for first, last, distance in runs[at : at + 4]) + "\n")
    out.write("];\n")


def write_long_folds(out):
    def literal(char):
        return f"\\u{{{ord(char):x}}}" if ud.combining(char) else char

    folds = [(ord(c), "".join(map(literal, folded))) for c, folded in case_folds() if len(folded) > 1]
    out.write("\n/// Characters whose case folds to several.\n#[rustfmt::skip]\n")
    out.write(f"pub(super) static LONG_FOLDS: [(u32, &str); {len(folds)}] = [\n")
    for at in range(0, len(folds), 8):
        out.write("    " + " ".join(f'({code}, "{folded}"),' for code, folded in folds[at : at + 8]) + "\n")
    out.write("];\n")


def main():
    table = list(runs())
    out = sys.stdout
    out.write("//! The role of every code point in Python 3.11 (Unicode 14.0.0), as runs of equal roles, and\n")
    out.write("//! the NFKD forms of those that have one, lower case and folded case.\n")
    out.write("//!\n//! Generated; do not edit:\n")
    out.write("//! `python3.11 tests/parity/unicode_tables.py > src/text/tables.rs`\n")
    write_bytes(out, "The length of each run in code points from U+0000 to U+10FFFF, as LEB128.", "RUN_LENGTHS",
                [byte for length, _ in table for byte in varint(length)])
    write_bytes(out, "The role of each run; `roles.rs` says what the bits mean.", "RUN_ROLES", [value for _, value in table])
    for doc, name, values in forms():
        write_bytes(out, doc, name, values)
    write_runs(out, "Runs of capitals: the first, the last, the distance to their lower case. In those of distance 1\n"
               "/// every other character is one.", "LOWER_RUNS", lower_runs())
    write_runs(out, "Runs of characters whose case folds to another one than their lower case: the first, the last, the distance to it.",
               "FOLD_RUNS", fold_runs())
    write_long_folds(out)


main()
