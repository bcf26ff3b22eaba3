"""Writes the vectors of the text half: ROUGE pairs, tokens, stems.

    python text_vectors.py [rouge] [tokenizer] [tokens] [stemmer] [--words FILE]

Without names all files are written. `stemmer` needs a list of English
words, one per line (Debian package wamerican-huge, public domain).
"""

from __future__ import annotations

import argparse
import itertools
import random
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import oracle
from sample_texts import ALPHABETS
from sample_texts import ENGLISH_WORDS
from sample_texts import SENTENCES

from google.adk.evaluation import final_response_match_v1 as reference

DEFAULT_WORD_LIST = Path("/usr/share/dict/american-english-huge")


def random_word(rng: random.Random, scripts: list[str], longest: int = 9) -> str:
    alphabet = ALPHABETS[rng.choice(scripts)]
    return "".join(rng.choices(alphabet, k=rng.randint(1, longest)))


def random_text(rng: random.Random, words: list[str], length: int) -> str:
    """`length` words joined by what separates words in practice, and by odd things."""
    separators = [" "] * 12 + ["", "\n", ", ", "_", "-", "\u3000", "\u001f", "\u200b"]
    return "".join(
        part
        for _ in range(length)
        for part in (rng.choice(words), rng.choice(separators))
    )


def perturbed(rng: random.Random, text: str) -> str:
    """`text` as a second author might have put it: cut, swapped, repeated, recased."""
    words = text.split(" ")
    match rng.randrange(7):
        case 0:
            rng.shuffle(words)
        case 1:
            words = words[: rng.randint(0, len(words))]
        case 2:
            words = words * rng.randint(2, 4)
        case 3:
            words = [word for word in words if rng.random() < 0.7]
        case 4:
            return text.upper()
        case 5:
            return text.lower()
        case 6:
            characters = list(text)
            for _ in range(min(3, len(characters))):
                at = rng.randrange(len(characters))
                characters[at] = rng.choice(ALPHABETS[rng.choice(list(ALPHABETS))])
            return "".join(characters)
    return " ".join(words)


def rouge_texts() -> Iterator[tuple[str, str]]:
    """All (reference, candidate) pairs, duplicates included."""
    rng = random.Random("rouge")
    sentences = [s for group in SENTENCES.values() for s in group]

    for sentence in sentences:
        yield sentence, sentence
        yield sentence, ""
        yield "", sentence
    for group in SENTENCES.values():
        yield from itertools.islice(itertools.permutations(group, 2), 60)
    for sentence in sentences:
        for _ in range(12):
            yield sentence, perturbed(rng, sentence)
    for _ in range(800):
        mixed = [rng.choice(sentences) for _ in range(4)]
        yield mixed[0] + rng.choice(["", " ", "\n"]) + mixed[1], mixed[rng.choice([0, 1])] + mixed[2]

    for _ in range(900):
        words = rng.choices(ENGLISH_WORDS, k=rng.randint(1, 40))
        yield (
            random_text(rng, words, rng.randint(0, 40)),
            random_text(rng, words, rng.randint(0, 40)),
        )
    for _ in range(60):
        words = rng.choices(ENGLISH_WORDS, k=60)
        yield random_text(rng, words, rng.randint(100, 200)), random_text(
            rng, words, rng.randint(100, 200)
        )

    every_script = list(ALPHABETS)
    for script in every_script:
        for _ in range(50):
            words = [random_word(rng, [script], 5) for _ in range(rng.randint(1, 12))]
            yield random_text(rng, words, rng.randint(0, 12)), random_text(
                rng, words, rng.randint(0, 12)
            )
    for first, second in itertools.combinations(every_script, 2):
        for _ in range(4):
            words = [
                random_word(rng, [first], 3) + random_word(rng, [second], 3)
                for _ in range(rng.randint(1, 5))
            ]
            yield random_text(rng, words, rng.randint(1, 8)), random_text(
                rng, words, rng.randint(1, 8)
            )
    for _ in range(900):
        scripts = rng.sample(every_script, 3)
        words = [random_word(rng, scripts, 6) for _ in range(rng.randint(1, 20))]
        yield random_text(rng, words, rng.randint(0, 25)), random_text(
            rng, words, rng.randint(0, 25)
        )
    for candidate_size in range(0, 26):
        for reference_size in range(0, 26):
            matched = min(candidate_size, reference_size) * 2 // 3
            yield (
                "x " * matched + "r " * (reference_size - matched),
                "x " * matched + "c " * (candidate_size - matched),
            )


def write_rouge() -> None:
    def row(pair: tuple[str, str]) -> dict:
        reference_text, candidate = pair
        score = reference._calculate_rouge_1_scores(candidate, reference_text)
        return {
            "reference": reference_text,
            "candidate": candidate,
            "precision": float(score.precision),
            "recall": float(score.recall),
            "fmeasure": float(score.fmeasure),
        }

    pairs = dict.fromkeys(rouge_texts())
    count = oracle.write_rows(
        oracle.VECTORS / "rouge.json", "pairs", (row(pair) for pair in pairs)
    )
    print(f"  {count:,} pairs")


# `{}` is the code point under test. What each template is for:
TEMPLATES: list[str] = [
    "{}",  # alone
    "a{}b",  # between ASCII letters: kept, split, or a separator
    "{}{}",  # repeated
    "running{}flies",  # gluing to ASCII words suppresses stemming
    "{}x",
    "x{}",
    "ก{}x",  # after and before each script that is split by cluster
    "ກ{}x",
    "ក{}x",
    "က{}x",
    "x{}ก",
    "中{}é",  # beside a CJK character and a non-ASCII letter
    "Σ{}",  # final sigma: what counts as cased, what is ignored
    "{}Σ",
    "aΣ{}",
    "aΣ{}b",
    "a{}Σ",
    "{}'Σ",
    "e{}",  # composition with what precedes
    "か{}",
    "{}\u0301",  # composition with what follows
    "{}\u0308\u0301",
    "{}\u3099",
    "a\u0323{}\u0302",  # canonical order of marks
    "a\u0302{}\u0323",
    "ᄀ{}",  # conjoining jamo
    "가{}",
    "{}\u1161\u11a8",
]

# In a class, SELF is the code point itself and FOLD is the text that the
# reference gives for "{}" on its own normalised and lower-cased. Both are
# private-use characters, which never occur in a token.
SELF = "\ue000"
FOLD = "\ue001"


def code_points() -> Iterator[int]:
    yield from range(0xD800)
    yield from range(0xE000, 0x110000)


def abstracted(tokens: list[str], character: str, fold: str) -> str:
    """Tokens joined by spaces, with `character` or its fold replaced by a placeholder."""
    joined = " ".join(tokens)
    if character in joined:
        return joined.replace(character, SELF)
    if fold and fold in joined:
        return joined.replace(fold, FOLD)
    return joined


def concrete(form: str, character: str, fold: str) -> list[str]:
    """Inverse of `abstracted`; what a test does to rebuild the expected tokens."""
    return form.replace(SELF, character).replace(FOLD, fold).split(" ") if form else []


def folded(tokens: list[str], character: str) -> str:
    """The fold recorded for a code point: its only token, if it is not itself."""
    return tokens[0] if len(tokens) == 1 and tokens[0] != character else ""


def write_tokenizer() -> None:
    tokenizer = reference._UnicodeAwareTokenizer(use_stemmer=True)
    class_ids: dict[tuple[str, ...], int] = {}
    folds: list[list] = []
    runs: list[list[int]] = []

    for code_point in code_points():
        character = chr(code_point)
        results = [
            tokenizer.tokenize(template.replace("{}", character))
            for template in TEMPLATES
        ]
        fold = folded(results[0], character)
        forms = tuple(abstracted(tokens, character, fold) for tokens in results)
        rebuilt = [concrete(form, character, fold) for form in forms]
        if rebuilt != results:
            raise AssertionError(f"U+{code_point:04X} does not survive its compact form")
        uses_fold = any(FOLD in form for form in forms)
        if uses_fold:
            folds.append([code_point, fold])
        class_id = class_ids.setdefault(forms, len(class_ids))
        if runs and runs[-1][1] == code_point - 1 and runs[-1][2] == class_id:
            runs[-1][1] = code_point
        else:
            runs.append([code_point, code_point, class_id])

    lines = [
        "{",
        f'"templates":{oracle.to_json(TEMPLATES)},',
        '"classes":[',
        ",\n".join(oracle.to_json(list(forms)) for forms in class_ids),
        "],",
        '"folds":[',
        ",\n".join(oracle.to_json(fold) for fold in folds),
        "],",
        '"runs":[',
        ",\n".join(oracle.to_json(run) for run in runs),
        "]}",
        "",
    ]
    oracle.write_text(oracle.VECTORS / "tokenizer.json", "\n".join(lines))
    print(f"  {len(class_ids):,} classes, {len(folds):,} folds, {len(runs):,} runs")


def tokenizer_texts() -> Iterator[str]:
    """Texts whose tokens depend on more than one neighbour, and random ones."""
    rng = random.Random("tokens")
    assigned = [chr(c) for c in code_points() if unicodedata.category(chr(c)) not in ("Cn", "Co")]
    marks = [c for c in assigned if unicodedata.combining(c)]
    decomposed = [c for c in assigned if unicodedata.decomposition(c)]
    jamo = [chr(c) for c in (*range(0x1100, 0x1200), *range(0xA960, 0xA97D), *range(0xD7B0, 0xD7FC))]
    ignorable = ["'", ".", ":", "\u00ad", "\u0301", "\u0345", "\u2019", "\u200b", "ʼ", "ˮ", "^", "`"]
    everything = "".join(ALPHABETS.values())

    for sentences in SENTENCES.values():
        yield from sentences
    for _ in range(700):
        bases = rng.choices(assigned, k=3) + rng.choices("aeoAEOcdgかはฉกΑωеи", k=3)
        yield "".join(
            base + "".join(rng.choices(marks, k=rng.randint(0, 5)))
            for base in rng.sample(bases, rng.randint(1, 4))
        )
    for size in (29, 30, 31, 32, 64, 200):
        yield "a" + "".join(rng.choices(marks, k=size))
        yield "".join(rng.choices(marks, k=size))
    for _ in range(500):
        yield "".join(rng.choices(decomposed + marks, k=rng.randint(2, 8)))
    for _ in range(300):
        yield "".join(rng.choices(jamo + list("가각힣"), k=rng.randint(2, 7)))
    for _ in range(500):
        yield "".join(rng.choices(["Σ", "Σ", "σ", "ς", "a", "Α", "1", " ", "中", *ignorable], k=rng.randint(2, 8)))
    for _ in range(900):
        yield "".join(rng.choices(assigned, k=rng.randint(2, 14)))
    for _ in range(1_200):
        yield "".join(rng.choices(everything, k=rng.randint(2, 30)))


def write_tokens() -> None:
    tokenizer = reference._UnicodeAwareTokenizer(use_stemmer=True)
    texts = dict.fromkeys(tokenizer_texts())
    rows = ([text, " ".join(tokenizer.tokenize(text))] for text in texts)
    count = oracle.write_rows(oracle.VECTORS / "tokens.json", "texts", rows)
    print(f"  {count:,} texts")


REAL_WORDS = 105_000

# Bases of every measure and ending that a Porter rule asks about, and all
# endings the rules name, so that each rule is met with its condition true and
# false.
BASES: list[str] = (
    "b tr s y ay by syz tree oat hop hopp fall hiss fizz fail fil siz troubl "
    "conflat plaster motor agre fe bl s sing happ sk relat condition ration "
    "valenc digit conform radic differ vile analog vietnam predic operat feudal "
    "decis hope callous formal sensit sensib triplic form electr good reviv allow "
    "infer airlin gyroscop adjust defens irrit replac depend adopt homolog "
    "commun activ angular effect bowdler probat rat ceas controll roll snow box "
    "tray yyy ayy eyy abyss quay queue xyz 3x x2 psych rhythm aa ee io"
).split()
ENDINGS: list[str] = (
    "s es sses ies ss ed eed ing y ational tional enci anci izer bli abli alli "
    "entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti "
    "biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic "
    "able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize e ee le "
    "l ll ied ying eds ings edly ingly ly ies' ie ying"
).replace("'", "").split()


def made_up_words() -> Iterator[str]:
    rng = random.Random("stemmer")
    for base, ending in itertools.product(BASES, ENDINGS):
        yield base + ending
    for base, first, second in itertools.product(BASES[::4], ENDINGS, ENDINGS[::3]):
        yield base + first + second
    for length in range(1, 5):
        for letters in itertools.product("aybse", repeat=length):
            yield "".join(letters)
    for _ in range(6_000):
        stem = "".join(rng.choices("aeiouybcdlmnrstwxz", k=rng.randint(0, 7)))
        yield stem + rng.choice(ENDINGS) + rng.choice(["", "", "s", "ed", "ing"])
    for _ in range(600):
        yield "".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=rng.randint(1, 14)))
    for size in (40, 200, 1000):
        yield "y" * size
        yield "ay" * size + "ing"


def real_words(word_list: Path) -> list[str]:
    lines = word_list.read_text(encoding="utf-8").splitlines()
    words = sorted({line.lower() for line in lines if line.isascii() and line.isalpha()})
    return random.Random("words").sample(words, min(REAL_WORDS, len(words)))


def write_stemmer(word_list: Path) -> None:
    tokenizer = reference.tokenizers.DefaultTokenizer(use_stemmer=True)
    words = sorted({*real_words(word_list), *made_up_words(), *reference_words()})
    rows = []
    for word in words:
        (stem,) = tokenizer.tokenize(word)
        rows.append(f"{word}\t{'' if stem == word else stem}\n")
    oracle.write_text(oracle.VECTORS / "stemmer.tsv", "".join(rows))
    print(f"  {len(rows):,} words")


def reference_words() -> set[str]:
    """Words with an irregular form, and the plain words of `sample_texts`."""
    stemmer = reference.tokenizers.DefaultTokenizer(use_stemmer=True)._stemmer
    plain = {word.lower() for word in ENGLISH_WORDS if word.isalnum() and word.isascii()}
    return plain | set(stemmer.pool)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="rouge|tokenizer|tokens|stemmer")
    parser.add_argument("--words", type=Path, default=DEFAULT_WORD_LIST)
    arguments = parser.parse_args()
    writers = {
        "rouge": write_rouge,
        "tokenizer": write_tokenizer,
        "tokens": write_tokens,
        "stemmer": lambda: write_stemmer(arguments.words),
    }
    unknown = set(arguments.names) - set(writers)
    if unknown:
        parser.error(f"no such vectors: {', '.join(sorted(unknown))}")
    oracle.require_reference()
    for name in arguments.names or writers:
        writers[name]()


if __name__ == "__main__":
    main()
