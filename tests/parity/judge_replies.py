"""Writes what google-adk's own parsers read in judge replies: judge_replies_*.json.

    python judge_replies.py [match] [turn] [rubrics] [sentences] [validations]

Without names all files are written. Every file holds replies made by hand, one for
each oddity that is known, and random ones put together from the pieces that matter
to the parser.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator

import oracle

from google.adk.evaluation import final_response_match_v2
from google.adk.evaluation import hallucinations_v1
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.eval_metrics import RubricsBasedCriterion
from google.adk.evaluation.eval_rubrics import Rubric
from google.adk.evaluation.eval_rubrics import RubricContent
from google.adk.evaluation.llm_as_judge_utils import Label
from google.adk.evaluation.rubric_based_evaluator import DefaultAutoRaterResponseParser
from google.adk.evaluation.rubric_based_final_response_quality_v1 import (
    RubricBasedFinalResponseQualityV1Evaluator,
)
from google.adk.evaluation.simulation import per_turn_user_simulator_quality_v1
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.genai import types as genai_types

RANDOM_REPLIES = 1400

SPACES = ["", "", "", " ", " ", "\n", "  ", "\n  ", "\t", "\r\n", " \n \n", "\x1c", "\x85", "\xa0", "\u2028", "\ufeff", "\u200b", "\x0b"]
LABELS = [
    "valid", "invalid", "true", "false", "almost", "partially", "partially_valid", "partially valid",
    "Valid", "VALID", "True", "False", "INVALID", "Partially Valid", "yes", "no", "maybe", "", "null",
    "valid,", "valid}", "va,lid", "valid}}", ",valid", "}valid", "valid^", "val^id", "valid.", "valıd",
    "valid,invalid", "invalid}valid", "not valid", "valid [1]", "[valid", "[[valid]]", "tr\nue", "false\nno",
    "**valid**", "'valid'", "valid\\", "{valid}", "{\"label\": \"valid\"}", "v" * 300, "true\x1c", "İnvalid",
]
AFTER = [
    ",", "}", "\n", "\n}", " }", " ,", "]}", "],", " ] }", "]]}", "\"]}", "}```", "}\n```", "}\n```\n", "```", "",
    " x", ".", ";", ")", " because it is,", " // sure\n", "\"\n", "\"\"}", "] ]}", "]\n", "] \n x", "\n x", "\r}",
]


def label_replies(seed: str, keys: list[str]) -> Iterator[str]:
    for key in keys:
        for label in LABELS:
            yield f'{{"reasoning": "r", {key} "{label}"}}'
            yield f"{{{key} {label}}}"
            yield f"```json\n{{\n  \"reasoning\": \"r\",\n  {key} {label}\n}}\n```\n"
            yield f'{key} ["{label}"],'
            yield f"{key}\n{label} x"
        for after in AFTER:
            for opening in ['"', "", '["', '[ "', "[[", '""', '\n"', ' [\n"', "\"\n"]:
                yield f"{key}{opening}valid{after}"
                yield f"{key}{opening}{after}"
    rng = random.Random(seed)
    pieces = [*keys, *keys, "\"reasoning\": \"r\"", "{", "```json\n", "\n```", "so ", *AFTER]
    for _ in range(RANDOM_REPLIES):
        reply = []
        for _ in range(rng.randint(1, 3)):
            reply.append(rng.choice(pieces) if rng.random() < 0.4 else "")
            reply.append(rng.choice(keys))
            reply.append(rng.choice(SPACES))
            reply.append(rng.choice(["", "", "[", "[[", "[ [", "]"]))
            reply.append(rng.choice(SPACES))
            reply.append(rng.choice(["", '"', '"', '""', '"""', "'"]))
            reply.append(rng.choice(LABELS))
            reply.append(rng.choice(["", '"', '"', '""']))
            reply.append(rng.choice(SPACES))
            reply.append(rng.choice(["", "", "]", "]]"]))
            reply.append(rng.choice(SPACES))
            reply.append(rng.choice(AFTER))
        yield mutated(rng, "".join(reply))


def mutated(rng: random.Random, text: str) -> str:
    """`text`, in one of three cases with characters lost, doubled, swapped or replaced."""
    characters = list(text)
    if rng.random() < 0.35:
        for _ in range(rng.randint(1, 4)):
            if not characters:
                break
            at = rng.randrange(len(characters))
            match rng.randrange(4):
                case 0:
                    del characters[at]
                case 1:
                    characters.insert(at, characters[at])
                case 2:
                    characters[at] = rng.choice(" \n\"[]{},:^\tévs")
                case 3:
                    other = rng.randrange(len(characters))
                    characters[at], characters[other] = characters[other], characters[at]
    return "".join(characters)


def score_of(label: Label) -> float | None:
    return {Label.VALID: 1.0, Label.INVALID: 0.0}.get(label)


def match_rows() -> Iterator[list]:
    keys = ['"is_the_agent_response_valid":', '"is_the_agent_response_invalid":']
    more = ['"is_the_agent_response_valid" :', "is_the_agent_response_valid:", '"Is_The_Agent_Response_Valid":']
    replies = [*label_replies("match", keys), *label_replies("match, odd keys", keys[:1] + more)]
    for reply in replies:
        yield [reply, score_of(final_response_match_v2._parse_critique(reply))]


def turn_rows() -> Iterator[list]:
    keys = ['"is_valid":']
    more = ['"is_valid" :', "is_valid:", '"Is_Valid":', '"is_valid":']
    replies = [*label_replies("turn", keys), *label_replies("turn, odd keys", more)]
    for reply in replies:
        yield [reply, score_of(per_turn_user_simulator_quality_v1._parse_llm_response(reply))]


RUBRICS = [
    [("1", "The answer is short."), ("2", "The answer names “Paris” — and nothing else."), ("tone", "Is it polite?")],
    [("a b", "ﬁnal answer"), ("A B", "FINAL   answer"), ("x", "*Bold* claims"), ("y", "ΌΣΟΣ"), ("z", "Straße ½")],
    [("1", ""), ("2", "--"), ("id: 3", "Property: odd\nline"), ("4", "Verdict: yes")],
]
DECORATIONS = [
    "{}", "{}", "{}", "**{}**", "“{}”", "‘{}’", "- {}", "• {}", "# {}", "> {}", "`{}`", "_{}_", "\"{}\"", "  {}  ",
    "{}.", "1. {}", "({})", "*  [id: 1] {}", "\u00a0{}\u3000", "{}\r",
]
VERDICTS = [
    "yes", "no", "Yes", "NO", "YES.", "**no**", "unknown", "not applicable", "n/a", "maybe", "", "yes and no",
    "yesterday", "none", "ＹＥＳ", "N o", "y\u200bes", "\"yes\"", "[yes]", "yeſ", "Verdict: no", "yes Verdict: ",
]
RATIONALES = [
    "Because.", "", "It says Verdict: yes.", "See Property: this.", "Rationale: again", "twice Rationale: ",
    "two\nlines", "a\rb", "ID: 2", "“quoted”", "Evidence: none\n", "tab\tand\x85more", "Verdict: ", "x\u2028y",
]
INDENTS = ["", "", "", "", " ", "\t", "- ", "* ", "**", "\n\n", "\x1c", "\u00a0", "> ", "STEP 5: yes\n", "\r"]


def variant(rng: random.Random, text: str) -> str:
    """A rubric's text as a judge may echo it."""
    text = rng.choice(DECORATIONS).format(text)
    match rng.randrange(9):
        case 0:
            return text.upper()
        case 1:
            return text.lower()
        case 2:
            return text.replace(" ", "  ")
        case 3:
            return text.replace(" ", "\u00a0")
        case 4:
            return text.replace("“", '"').replace("”", '"').replace("—", "-")
        case 5:
            return text + " And more."
    return text


def rubric_reply(rng: random.Random, rubrics: list[tuple[str, str]]) -> str:
    lines = []
    odd = rng.random() < 0.5
    for identifier, text in rng.choices(rubrics, k=rng.randint(1, 4)):
        indent = rng.choice(INDENTS) if odd and rng.random() < 0.3 else ""
        block = [
            f"{indent}ID: {rng.choice([identifier, identifier, identifier, '9', '', f' {identifier} ', f'[{identifier}]'])}",
            f"{indent}Property: {variant(rng, text)}",
            "Evidence: step 0",
            f"{indent}Rationale: {rng.choice(RATIONALES[:1] * 6 + RATIONALES if odd else RATIONALES[:1])}",
            f"{indent}Verdict: {rng.choice(VERDICTS)}",
        ]
        if rng.random() < 0.25:
            del block[0]
        if odd and rng.random() < 0.12:
            del block[rng.randrange(len(block))]
        if odd and rng.random() < 0.12:
            block.insert(rng.randrange(len(block)), rng.choice(block))
        if odd and rng.random() < 0.08:
            rng.shuffle(block)
        if odd and rng.random() < 0.1:
            at = rng.randrange(len(block))
            block[at] = rng.choice([block[at].replace(": ", ":"), block[at].lower(), block[at].replace(": ", " : ")])
        lines += [*block, *[""] * rng.randint(0, 2)]
    if rng.random() < 0.15:
        lines.append(f"ID: {rng.choice(rubrics)[0]}")
    reply = rng.choice(["\n", "\n", "\n", "\r\n", "\n\n", "  \n"]).join(lines)
    return mutated(rng, reply) if odd else reply


def rubric_replies() -> Iterator[tuple[int, str]]:
    entry = "Property: {p}\nRationale: {r}\nVerdict: {v}\n"
    for index, rubrics in enumerate(RUBRICS):
        for identifier, text in rubrics:
            for decoration in DECORATIONS:
                yield index, entry.format(p=decoration.format(text), r="r", v="yes")
            yield index, f"ID: {identifier}\n" + entry.format(p="something else", r="r", v="no")
        for verdict in VERDICTS:
            yield index, entry.format(p=rubrics[0][1], r="r", v=verdict)
        for rationale in RATIONALES:
            yield index, entry.format(p=rubrics[0][1], r=rationale, v="yes")
        for indent in INDENTS:
            yield index, "".join(indent + line for line in entry.format(p=rubrics[0][1], r="r", v="no").splitlines(True))
    yield 0, ""
    yield 0, "Property: a\nProperty: b\nRationale: r\nVerdict: yes\n"
    rng = random.Random("rubrics")
    for _ in range(RANDOM_REPLIES):
        index = rng.randrange(len(RUBRICS))
        yield index, rubric_reply(rng, RUBRICS[index])


class SilentJudge(BaseLlm):
    """Never asked: the evaluator only wants one to be there."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return [r"silent-.*"]

    async def generate_content_async(self, llm_request, stream=False):
        raise AssertionError("nobody asks")
        yield


def rubric_evaluator(rubrics: list[tuple[str, str]]) -> RubricBasedFinalResponseQualityV1Evaluator:
    criterion = RubricsBasedCriterion(
        threshold=0.5,
        judge_model_options={"judge_model": "silent-1"},
        rubrics=[
            Rubric(rubric_id=identifier, rubric_content=RubricContent(text_property=text))
            for identifier, text in rubrics
        ],
    )
    evaluator = RubricBasedFinalResponseQualityV1Evaluator(
        EvalMetric(metric_name="rubric_based_final_response_quality_v1", criterion=criterion)
    )
    evaluator.create_effective_rubrics_list(None)
    return evaluator


def rubric_rows() -> Iterator[list]:
    LLMRegistry.register(SilentJudge)
    parser = DefaultAutoRaterResponseParser()
    evaluators = [rubric_evaluator(rubrics) for rubrics in RUBRICS]
    for index, reply in rubric_replies():
        entries = [
            [entry.rubric_id, entry.property_text, entry.rationale, entry.score] for entry in parser.parse(reply)
        ]
        content = genai_types.Content(parts=[genai_types.Part(text=reply)])
        score = evaluators[index].convert_auto_rater_response_to_score(LlmResponse(content=content))
        yield [index, reply, entries, [[item.rubric_id, item.rationale, item.score] for item in score.rubric_scores]]


def sentence_rows() -> Iterator[list]:
    pieces = [
        "<sentence>", "<sentence>", "<sentence>", "</sentence>", "</sentence>", "</sentence>", "Hello.", "It rains.\nAll day.",
        "", "\n", " ", "<Sentence>", "</SENTENCE>", "< sentence>", "<sentence", "sentence>", "é", "* item", "<sentence/>",
        "| a | b |\n|---|---|", "{\"sentences\": []}", "<sentence>a</sentence>", "\u2028",
    ]
    replies = [a + b + c for a in pieces[:12:3] for b in pieces for c in pieces[:12:3]]
    rng = random.Random("sentences")
    replies += [mutated(rng, "".join(rng.choices(pieces, k=rng.randint(1, 12)))) for _ in range(RANDOM_REPLIES)]
    for reply in replies:
        yield [reply, hallucinations_v1._parse_sentences(reply)]


FIELDS = ["sentence", "label", "rationale", "supporting_excerpt", "contradicting_excerpt"]
VALUES = [
    " It rains.", " supported", " Unsupported", " null", " NULL ", "", " two\nlines", " contradictory ", " disputed\r",
    " not_applicable", " a sentence: b", " a label: b", "\n", " `supported`", " Null.", " it\n\nsays", "\u00a0x\u3000",
]


def validation_reply(rng: random.Random) -> str:
    blocks = []
    odd = rng.random() < 0.6
    for _ in range(rng.randint(1, 4)):
        fields = list(FIELDS)
        if odd and rng.random() < 0.2:
            del fields[rng.randrange(5)]
        if odd and rng.random() < 0.1:
            rng.shuffle(fields)
        if odd and rng.random() < 0.1:
            fields.insert(rng.randrange(5), rng.choice(FIELDS))
        lines = []
        for field in fields:
            if odd and rng.random() < 0.15:
                field = rng.choice(
                    [
                        field.upper(), field.capitalize(), f" {field}", f"* {field}", f"**{field}**", field.replace("s", "ſ"),
                        field.replace("i", "ı"), field.replace("I", "İ"), field.replace("i", "İ"), field.replace("e", "é"),
                        field.replace("_", " "), field.replace("a", "\u1d00"), field.replace("n", "ﬁ"),
                    ]
                )
            colon = ":" if not odd or rng.random() < 0.96 else rng.choice([" :", "", "::", "："])
            lines.append(field + colon + rng.choice(VALUES))
        blocks.append(rng.choice(["\n"] * 6 + ["\r\n", "\n\n"]).join(lines))
    reply = rng.choice(["\n", "\n\n", "\n\n\n", " ", "\n---\n"]).join(blocks)
    reply = rng.choice(["", "", "", "\n", "Here you are:\n", "```\n", "\x1c ", "1. "]) + reply + rng.choice(["", "\n", "\n```", "  \x85", "\nsentence:", "\nsentence: x\nlabel: supported"])
    return mutated(rng, reply) if odd else reply


def validation_rows() -> Iterator[list]:
    def block(**values: str) -> str:
        return "\n".join(f"{field}:{values.get(field, ' x')}" for field in FIELDS)

    replies = ["", "sentence:", block(), block() + "\n" + block(), block() + "\n\n" + block()]
    for field in FIELDS:
        replies += [block(**{field: value}) for value in VALUES]
        replies += [block() + "\n" + block(**{field: value}) for value in VALUES]
        without = "\n".join(line for line in block().split("\n") if not line.startswith(f"{field}:"))
        replies += [without, without + "\n" + block(), block() + "\n" + without]
        for letter, others in {"s": "Sſ", "i": "Iİı", "k": "KK", "t": "T", "e": "E"}.items():
            for other in others:
                replies.append(block().replace(f"{field}:", f"{field.replace(letter, other)}:"))
    rng = random.Random("validations")
    replies += [validation_reply(rng) for _ in range(RANDOM_REPLIES)]
    for reply in replies:
        results = hallucinations_v1._parse_validation_results(reply)
        yield [
            reply,
            [
                [
                    result["sentence"], result["label"], result["rationale"],
                    result["supporting_excerpt"], result["contradicting_excerpt"],
                ]
                for result in results
            ],
        ]


FILES: dict[str, tuple[Callable[[], Iterator[list]], dict | None]] = {
    "match": (match_rows, None),
    "turn": (turn_rows, None),
    "rubrics": (rubric_rows, {"rubrics": RUBRICS}),
    "sentences": (sentence_rows, None),
    "validations": (validation_rows, None),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="|".join(FILES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(FILES)
    if unknown:
        parser.error(f"no such vectors: {', '.join(sorted(unknown))}")
    oracle.require_reference()
    for name in arguments.names or FILES:
        rows, head = FILES[name]
        path = oracle.VECTORS / f"judge_replies_{name}.json"
        unique = {oracle.to_json(row): None for row in rows()}
        print(f"  {oracle.write_rows(path, 'replies', unique, head):,} replies")


if __name__ == "__main__":
    main()
