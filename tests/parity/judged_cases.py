"""Cases of the judged metrics that need no service but a judge model, with all its replies.

`CASES` has, for each metric, a function from a random source to one `Case`. What a
judge would say is drawn around a truth per verdict: a sample that can be read agrees
with it in 60 to 95% of the samples, so that votes come out as close as real ones.
About half of the samples are well formed; the others are those of `judge_replies`.
"""

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import judge_replies
from invocations import Keys, content

from google.adk.evaluation.hallucinations_v1 import _parse_sentences, _parse_validation_results
from google.adk.evaluation.llm_as_judge import AutoRaterScore
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.genai import types as genai_types


@dataclass
class Case:
    """One evaluation and what the judge says: `replies` by `turn/step/purpose/sample`, null for a failed call."""

    metric: dict
    actual: list
    expected: list | None = None
    scenario: dict | None = None
    replies: dict[str, str | None] = field(default_factory=dict)


Random = random.Random

AGREEMENTS = [0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
SAMPLES = {1: 28, 2: 7, 3: 30, 4: 6, 5: 15, 6: 2, 7: 4, None: 8}
TURNS = {1: 42, 2: 32, 3: 16, 4: 10}
FEWER_SAMPLES = {1: 33, 2: 7, 3: 34, 4: 5, 5: 11, 6: 1, 7: 3, None: 6}
FEWER_TURNS = {1: 65, 2: 23, 3: 8, 4: 4}
THRESHOLDS = [*[0.5] * 9, *[0.8] * 5, *[1, 0.3333, 0.6667] * 3, 0, 0, 0.0, 1.0, 1.0, 0.1, "0.5", True]
QUESTIONS = ["Time?", "Book a table.", "Is it cold?", "天気は？", "Hi", "And in “Paris”?"]
ANSWERS = ["It is 3 pm.", "Done.", "Yes, 4 °C.", "Booked for 2.", "晴れです。", "I do not know."]


def weighted(rng: Random, weights: dict) -> Any:
    return rng.choices(list(weights), weights.values())[0]


class Sampling:
    """How the samples of a case are drawn: how many, how well formed, how true, how many fail."""

    def __init__(self, rng: Random, counts: dict[int | None, int] = SAMPLES):
        self.rng = rng
        self.stated = weighted(rng, counts)
        self.count = self.stated or 5
        self.agreement = rng.choice(AGREEMENTS)
        self.well_formed = rng.choice([1.0, 1.0, 0.8, 0.6, 0.4, 0.2, 0.0])
        self.failing = rng.choice([0.15, 0.25, 0.4, 0.8]) if rng.random() < 0.16 else 0.0

    def is_well_formed(self) -> bool:
        return self.rng.random() < self.well_formed

    def vote(self, truth: bool) -> bool:
        return truth if self.rng.random() < self.agreement else not truth

    def ask(self, reply: Callable[[int], str]) -> Iterator[tuple[int, str | None]]:
        """Each sample's number with its reply, or with null where the call fails."""
        for sample in range(self.count):
            text = reply(sample)
            yield sample, None if self.rng.random() < self.failing else text


def metric(rng: Random, name: str, sampling: Sampling, keys: Keys, **fields: Any) -> dict:
    """The metric with a criterion; a threshold beside it does not count."""
    options: dict = {}
    if sampling.stated:
        options[keys("num_samples")] = sampling.stated
    if rng.random() < 0.15:
        options[keys("judge_model")] = rng.choice(["gemini-2.5-flash", "gemini-2.5-pro"])
    if rng.random() < 0.08:
        options[keys("parallelism_limit")] = rng.randint(1, 4)
    criterion = {"threshold": rng.choice(THRESHOLDS)}
    if options or rng.random() < 0.5:
        criterion[keys("judge_model_options")] = options
    criterion |= {keys(key): value for key, value in fields.items()}
    aside = {"threshold": rng.choice([0.2, 0.9])} if rng.random() < 0.15 else {}
    return {"metric_name": name} | aside | {"criterion": criterion}


def keys_of(rng: Random) -> Keys:
    return Keys(rng.choice(["snake", "snake", "camel", "mixed"]), rng)


# Invocations


def final_response(rng: Random) -> Any:
    text = rng.choice(ANSWERS)
    odd = [
        None, {}, {"parts": None}, {"parts": []}, content(""), content(" "), content(text, "And more."),
        content({"text": "Let me see.", "thought": True}, text), content("", text), content(text, role="model"),
    ]
    return rng.choice(odd) if rng.random() < 0.15 else content(text)


def events(rng: Random) -> dict:
    """Events with texts, calls and outputs; only texts are answers in natural language."""
    call = {"function_call": {"name": "find", "args": {"q": "x"}}}
    output = {"function_response": {"name": "find", "response": {"n": 1}}}
    parts = [
        [{"text": "Let me look."}], [{"text": "One."}, {"text": "Two."}], [{"text": "So."}, call], [call], [output],
        [call, {"text": "Wait."}, {"text": ""}, {"text": "Now."}], [{"text": " "}], [],
    ]
    listed = []
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3])):
        event: dict = {"author": rng.choice(["root", "root", "helper"])}
        if rng.random() < 0.93:
            event["content"] = {"parts": rng.choice(parts)}
        if rng.random() < 0.08:
            event["grounding_metadata"] = {"web_search_queries": ["q"]}
        listed.append(event)
    return {"invocation_events": listed}


def intermediate_data(rng: Random) -> Any:
    match rng.randrange(8):
        case 0:
            return None
        case 1:
            return {}
        case 2 | 3:
            responses = [["helper", [{"text": "Found it."}]]] if rng.random() < 0.5 else []
            return {"tool_uses": [{"name": "find", "args": {}}], "intermediate_responses": responses}
        case _:
            return events(rng)


def invocation(rng: Random, with_data: float) -> dict:
    made: dict = {"user_content": content(rng.choice(QUESTIONS))}
    if rng.random() < 0.96:
        made["final_response"] = final_response(rng)
    if rng.random() < with_data:
        made["intermediate_data"] = intermediate_data(rng)
    if rng.random() < 0.04:
        agent = {"name": "root", "instructions": "Be kind.", "tool_declarations": []}
        made["app_details"] = {"agent_details": {"root": agent}}
    return made


def turns(rng: Random, with_data: float = 0.15, lengths: dict[int, int] = TURNS) -> list[dict]:
    return [invocation(rng, with_data) for _ in range(weighted(rng, lengths))]


# Uses that are refused


def sometimes_broken(rng: Random, case: Case, *breakages: Callable[[Case], None]) -> Case:
    """The case, or in one of fifty a use of the metric that is refused."""
    if rng.random() < 0.02:
        case.replies = {}
        rng.choice([no_samples, unknown_option, *breakages])(case)
    return case


def options_of(case: Case) -> dict:
    criterion = case.metric["criterion"]
    given = "judgeModelOptions" if "judgeModelOptions" in criterion else "judge_model_options"
    return criterion.setdefault(given, {})


def no_samples(case: Case) -> None:
    options = options_of(case)
    options.pop("numSamples", None)
    options["num_samples"] = 0


def unknown_option(case: Case) -> None:
    options_of(case)["votes"] = 3


def other_length(case: Case) -> None:
    case.expected = [{"user_content": content("Hi")}] * (len(case.actual) + 1)


# Replies


def is_json_with(reply: str, names: Collection[str]) -> bool:
    """Whether there is JSON in the reply that has one of the names as a key, wherever it stands."""

    def has(value: Any) -> bool:
        match value:
            case dict():
                return any(str(key).lower() in names or has(item) for key, item in value.items())
            case list():
                return any(has(item) for item in value)
        return False

    decoder = json.JSONDecoder(strict=False)
    for at, character in enumerate(reply):
        if character in "{[":
            try:
                value, _ = decoder.raw_decode(reply, at)
            except ValueError:
                continue
            if has(value):
                return True
    return False


# Labels: final_response_match_v2 and per_turn_user_simulator_quality_v1


class Labels:
    """The replies of a metric whose judge gives one label: well formed, and odd ones by what they say."""

    def __init__(self, templates: dict[str, bool], labels: dict[bool, list[str]], unknown: list[str], rows: Callable):
        self._templates = templates
        self._labels = labels
        self._unknown = unknown
        self._rows = rows
        self.names = ("is_the_agent_response_valid", "is_the_agent_response_invalid", "is_valid")

    @functools.cached_property
    def odd(self) -> dict[bool | None, list[str]]:
        found: dict[bool | None, list[str]] = {True: [], False: [], None: ["", "I cannot tell.", "valid", "{}"]}
        for reply, score in self._rows():
            if len(reply) <= 110 and not self.is_structured(reply, score):
                found[None if score is None else score == 1.0].append(reply)
        return found

    def is_structured(self, reply: str, score: float | None) -> bool:
        """Whether the reply may be read as JSON only: the reference finds no label in it, known or unknown."""
        if score is not None or not is_json_with(reply, self.names):
            return False
        return not any(f'"{name}": "{label}"}}' in reply for name in self.names for label in self._unknown)

    def reply(self, sampling: Sampling, truth: bool) -> str:
        rng = sampling.rng
        vote = sampling.vote(truth)
        if not sampling.is_well_formed():
            return rng.choice(self.odd[vote if rng.random() < 0.65 else None])
        if rng.random() < 0.04:
            return self._write(rng, next(iter(self._templates)), rng.choice(self._unknown))
        template, negated = rng.choice(list(self._templates.items()))
        if negated:
            return self._write(rng, template, "false" if vote else "true")
        return self._write(rng, template, rng.choice(self._labels[vote]))

    def _write(self, rng: Random, template: str, label: str) -> str:
        return template.replace("LABEL", label).replace("WHY", rng.choice(["ok", "Same city.", "so, {so}", "[1]"]))

    def in_json(self, vote: bool) -> str:
        """A reply in which the reference finds nothing, though as JSON it can be read."""
        name = self.names[2] if "is_valid" in next(iter(self._templates)) else self.names[0]
        return json.dumps({name: vote}).replace('":', '" :')


NOT_LABELS = ["yes", "maybe", "null", "", "not_sure", "valid.", "**valid**"]

MATCH = Labels(
    {
        '{"reasoning": "WHY", "is_the_agent_response_valid": "LABEL"}': False,
        '```json\n{\n"reasoning": "WHY",\n"is_the_agent_response_valid": "LABEL",\n}\n```': False,
        '{"reasoning": ["WHY"], "is_the_agent_response_valid": ["LABEL"]}': False,
        '{"is_the_agent_response_valid": LABEL}': False,
        'So:\n{"is_the_agent_response_valid": [LABEL], "reasoning": "WHY"}': False,
        '{"reasoning": "WHY", "is_the_agent_response_invalid": LABEL}': True,
    },
    {
        True: ["valid", "valid", "true"],
        False: ["invalid", "invalid", "false", "almost", "partially", "partially_valid"],
    },
    [*NOT_LABELS, "Valid", "INVALID"],
    judge_replies.match_rows,
)

TURN = Labels(
    {
        '{"criteria": [], "is_valid": "LABEL"}': False,
        '```json\n{"criteria": ["WHY"],\n"is_valid": LABEL\n}\n```': False,
        '{"is_valid": LABEL, "reasoning": "WHY"}': False,
        '{"is_valid": ["LABEL"]}': False,
    },
    {
        True: ["valid", "True", "true", "Valid"],
        False: ["invalid", "False", "false", "almost", "Partially Valid", "partially_valid", "partially"],
    },
    NOT_LABELS,
    judge_replies.turn_rows,
)


def label_replies(case: Case, labels: Labels, sampling: Sampling, indices: Sequence[int]) -> None:
    rng = sampling.rng
    quality = 1 - rng.random() ** 2
    structured = rng.random() < 0.012
    for turn in indices:
        truth = rng.random() < quality
        unreadable = rng.random() < 0.05
        unscored = [reply for reply in labels.odd[None] if len(reply) < 60]

        def reply(sample: int) -> str:
            if structured and rng.random() < 0.5:
                return labels.in_json(sampling.vote(truth))
            return rng.choice(unscored) if unreadable else labels.reply(sampling, truth)

        for sample, text in sampling.ask(reply):
            case.replies[f"{turn}/0/verdict/{sample}"] = text


def final_response_match(rng: Random) -> Case:
    sampling = Sampling(rng)
    fields = {}
    if rng.random() < 0.25:
        fields["include_intermediate_responses_in_final"] = rng.random() < 0.7
    actual = turns(rng) if rng.random() > 0.006 else []
    case = Case(
        metric(rng, "final_response_match_v2", sampling, keys_of(rng), **fields),
        actual,
        [invocation(rng, 0.05) for _ in actual],
    )
    label_replies(case, MATCH, sampling, range(len(actual)))

    def without_expected(case: Case) -> None:
        case.expected = None

    return sometimes_broken(rng, case, without_expected, other_length)


PERSONA = {
    "id": "HURRIED",
    "description": "In a hurry.",
    "behaviors": [
        {
            "name": "brief",
            "description": "Few words.",
            "behavior_instructions": ["Be brief.", "Say {{ stop_signal }} early."],
            "violation_rubrics": ["Long."],
        }
    ],
}
AROUND = ["", " ", "\n", "\u3000", "\x1c", "\x85", "\t\r\n", "\u2028"]


def first_message(rng: Random, prompt: str) -> dict:
    """What the user said first: mostly the starting prompt, with more or less around it."""
    match rng.randrange(20):
        case 0:
            return content(prompt + ".")
        case 1:
            return content("\ufeff" + prompt)
        case 2:
            return content(prompt.upper() + "!")
        case 3:
            return rng.choice([{"parts": None}, {"parts": []}, {}])
        case 4:
            return content({"function_call": {"name": "f"}}, "")
        case 5:
            head, _, tail = prompt.partition(" ")
            return content(head, "", tail)
        case 6 | 7 | 8:
            return content(rng.choice(AROUND) + prompt + rng.choice(AROUND))
        case _:
            return content(prompt)


def per_turn(rng: Random) -> Case:
    sampling = Sampling(rng)
    fields = {}
    if rng.random() < 0.25:
        fields["stop_signal"] = rng.choice(["DONE", "</finished>", "<bye/>", ""])
    actual = turns(rng, 0.05)
    prompt = rng.choice([*QUESTIONS, "Book\na table", "Plan a trip.", ""])
    actual[0]["user_content"] = first_message(rng, prompt)
    scenario: dict = {
        "starting_prompt": rng.choice(AROUND) + prompt + rng.choice(AROUND) if rng.random() < 0.2 else prompt,
        "conversation_plan": rng.choice(["Ask, then thank.", "Book for two.", "", "Use {{ braces }} {% x %}."]),
    }
    if rng.random() < 0.6:
        scenario["user_persona"] = rng.choice(["EXPERT", "NOVICE", "EVALUATOR", PERSONA, None])
    case = Case(
        metric(rng, "per_turn_user_simulator_quality_v1", sampling, keys_of(rng), **fields), actual, None, scenario
    )
    if rng.random() < 0.1:
        case.expected = [{"user_content": content("Hi")}] * rng.randint(0, 3)
    label_replies(case, TURN, sampling, range(1, len(actual) + 1))

    def without_scenario(case: Case) -> None:
        case.scenario = None

    def without_turns(case: Case) -> None:
        case.actual = []

    return sometimes_broken(rng, case, without_scenario, without_turns)


# Rubrics


@dataclass(frozen=True)
class Rubric:
    id: str
    text: str | None


CRITERION_RUBRICS = [
    *[[Rubric("1", "Is it short?")]] * 5,
    *[[Rubric("r", "Is true.")]] * 4,
    *[[Rubric("r", "Is true."), Rubric("s", "Is kind.")]] * 3,
    [Rubric("1", "Is it short?"), Rubric("2", "Names “Paris” — only.")],
    [Rubric("a", "Polite."), Rubric("b", "True."), Rubric("c", "Kind.")],
    [Rubric("tone", "*Polite* tone"), Rubric("id 2", "Says ½ or ①")],
    [Rubric("x", "Same words"), Rubric("y", "SAME  words"), Rubric("z", "Other words")],
    [Rubric("n", None), Rubric("m", "Ὀδυσσεύς")],
    *[[Rubric(*pair) for pair in rubrics] for rubrics in judge_replies.RUBRICS[:2]],
]
TURN_RUBRICS = [
    [Rubric("t", "Calls it.")],
    [Rubric("t", "Calls it."), Rubric("u", "Says “ok”.")],
    [Rubric("v", "No guess.")],
]
YES = ["yes", "yes", "yes", "Yes", "YES.", "**yes**", "[yes]"]
NO = ["no", "no", "no", "No", "**no**", "unknown", "not applicable"]
NEITHER = ["n/a", "maybe", "", "N/A."]
UNREADABLE = ["", "I cannot tell.", "Property: a\nVerdict: yes", "Verdict: yes\nVerdict: no", "**Verdict:** yes"]
DECORATED = ["{}", "**{}**", "“{}”", "- {}", "`{}`", "> {}", "# *{}*", "  {} ", "'{}'"]


def json_rubric(keys: Keys, rubric: Rubric, kind: str | None = None) -> dict:
    text = {} if rubric.text is None else {keys("text_property"): rubric.text}
    return {keys("rubric_id"): rubric.id, keys("rubric_content"): text} | ({"type": kind} if kind else {})


class Reader:
    """What google-adk reads in a reply about these rubrics."""

    def __init__(self, rubrics: list[Rubric]):
        register_silent_judge()
        self._evaluator = judge_replies.rubric_evaluator([(rubric.id, rubric.text) for rubric in rubrics])

    def is_repeated(self, reply: str) -> bool:
        named = Counter(item.rubric_id for item in self._read(reply).rubric_scores)
        return any(count > 1 for count in named.values())

    def has_score(self, reply: str) -> bool:
        return self._read(reply).score is not None

    def _read(self, reply: str) -> AutoRaterScore:
        part = genai_types.Part(text=reply)
        response = LlmResponse(content=genai_types.Content(parts=[part]))
        return self._evaluator.convert_auto_rater_response_to_score(response)


@functools.cache
def register_silent_judge() -> None:
    LLMRegistry.register(judge_replies.SilentJudge)


def echoed(rng: Random, rubric: Rubric) -> str:
    """The rubric's text as it is, or so that only normalisation finds it, or quite another."""
    text = rubric.text or "--"
    match rng.randrange(8):
        case 0 | 1:
            return rng.choice(DECORATED).format(text)
        case 2:
            return rng.choice([text.lower(), text.replace(" ", "  "), text.replace("“", '"').replace("—", "-")])
        case 3:
            return "In other words"
    return text


def rubric_reply(sampling: Sampling, rubrics: list[Rubric], truths: dict[str, bool | None], why: str) -> str:
    """A reply with an entry for each rubric: those without a truth get no verdict that counts."""
    rng = sampling.rng
    said = list(rubrics)
    if rng.random() < 0.15:
        rng.shuffle(said)
    if rng.random() < 0.1:
        said.pop()
    ids = [rubric.id for rubric in said]
    if rng.random() < 0.06:
        ids.reverse()
    if rng.random() < 0.08:
        said.append(Rubric("9", "Unknown to all."))
        ids.append("9")
    without_ids = rng.random() < 0.25
    blocks = []
    for rubric, identifier in zip(said, ids, strict=True):
        truth = truths.get(rubric.id)
        verdict = rng.choice(NEITHER if truth is None else YES if sampling.vote(truth) else NO)
        if rng.random() < 0.03:
            verdict = rng.choice(NEITHER)
        lines = [f"Property: {echoed(rng, rubric)}", f"Rationale: {why}", f"Verdict: {verdict}"]
        if rng.random() < 0.06:
            lines.insert(1, "Evidence: step 0")
        if not without_ids:
            lines.insert(0, f"ID: {identifier if rng.random() < 0.96 else '77'}")
        blocks.append("\n".join(lines))
    return rng.choice(["\n\n", "\n", "\n---\n"]).join(blocks)


def odd_rubric_reply(rng: Random, rubrics: list[Rubric], reader: Reader) -> str:
    """A short odd reply, in most cases one in which some rubric gets a score."""
    if rng.random() < 0.12:
        return rng.choice(UNREADABLE)
    readable = rng.random() < 0.75
    for _ in range(60):
        reply = judge_replies.rubric_reply(rng, [(rubric.id, rubric.text or "--") for rubric in rubrics])
        if len(reply) <= 190 and (not readable or reader.has_score(reply)):
            return reply
    return ""


def structured_rubrics(sampling: Sampling, rubrics: list[Rubric], truths: dict[str, bool | None]) -> str:
    listed = [
        {"id": rubric.id, "rationale": "j", "verdict": "yes" if sampling.vote(bool(truths.get(rubric.id))) else "no"}
        for rubric in rubrics
    ]
    return json.dumps({"rubrics": listed}, ensure_ascii=False)


def rubric_replies(case: Case, sampling: Sampling, turn: int, rubrics: list[Rubric], readers: list[Reader]) -> None:
    rng = sampling.rng
    quality = 1 - rng.random() ** 2
    truths: dict[str, bool | None] = {rubric.id: rng.random() < quality for rubric in rubrics}
    if rng.random() < 0.08:
        truths[rng.choice(rubrics).id] = None
    asked = list(rubrics)
    if rng.random() < 0.08 and len(asked) > 1:
        asked.pop(rng.randrange(len(asked)))
    unreadable = rng.random() < 0.05
    structured = rng.random() < 0.01
    repeats = rng.random() < 0.07

    def attempt(sample: int) -> str:
        if unreadable:
            return rng.choice(UNREADABLE)
        if structured and rng.random() < 0.5:
            return structured_rubrics(sampling, asked, truths)
        if sampling.is_well_formed():
            reply = rubric_reply(sampling, asked, truths, f"r{turn}{sample}")
            return reply + "\n" + reply if repeats and rng.random() < 0.4 else reply
        return odd_rubric_reply(rng, asked, readers[0])

    def reply(sample: int) -> str:
        for _ in range(40):
            text = attempt(sample)
            if (repeats or not any(reader.is_repeated(text) for reader in readers)):
                return text
        return "I cannot tell."

    for sample, text in sampling.ask(reply):
        case.replies[f"{turn}/0/verdict/{sample}"] = text


def invocation_rubrics(rng: Random, count: int, of_criterion: list[Rubric]) -> list[list[Rubric]]:
    """Rubrics of each turn that are in force: none, the same for all, or in few cases different ones."""
    if of_criterion and rng.random() < 0.68:
        return [[]] * count
    same = rng.choice(TURN_RUBRICS)
    if count < 2 or rng.random() < 0.25:
        return [same] * count
    choices = TURN_RUBRICS + ([[]] if of_criterion else [])
    own = [rng.choice(choices) for _ in range(count - 1)]
    return [*own, rng.choice([rubrics for rubrics in choices if rubrics != own[0]])]


def rubric_case(name: str, kind: str, asks_all: bool) -> Callable[[Random], Case]:
    """Cases of a metric that takes the rubrics of type `kind`, and asks about each turn or about the last."""

    def make(rng: Random) -> Case:
        sampling = Sampling(rng, FEWER_SAMPLES if asks_all else SAMPLES)
        keys = keys_of(rng)
        of_criterion = rng.choice(CRITERION_RUBRICS) if rng.random() < 0.85 else []
        kinds = [None, None, kind, "OTHER"]
        fields: dict = {"rubrics": [json_rubric(keys, rubric, rng.choice(kinds)) for rubric in of_criterion]}
        if not of_criterion and rng.random() < 0.5:
            del fields["rubrics"]
        if rng.random() < 0.15:
            fields["include_intermediate_responses_in_final"] = rng.random() < 0.7
        actual = turns(rng, 0.06, FEWER_TURNS if asks_all else TURNS) if rng.random() > 0.006 else []
        own = invocation_rubrics(rng, len(actual), of_criterion)
        snake = Keys("snake", rng)
        for made, rubrics in zip(actual, own, strict=True):
            listed = [json_rubric(snake, rubric, kind) for rubric in rubrics]
            if rng.random() < 0.1:
                other = Rubric(rng.choice(["1", "o"]), "Not asked for.")
                other_kind = rng.choice([None, "OTHER", kind.lower()])
                listed.insert(rng.randint(0, len(listed)), json_rubric(snake, other, other_kind))
            if listed or rng.random() < 0.05:
                made["rubrics"] = listed
        case = Case(metric(rng, name, sampling, keys, **fields), actual)
        if rng.random() < 0.15:
            case.expected = [{"user_content": content("Hi")} for _ in actual]
        in_force = [of_criterion + rubrics for rubrics in own]
        readers = [Reader(rubrics) for rubrics in dict.fromkeys(map(tuple, in_force))]
        for turn, rubrics in enumerate(in_force):
            if asks_all or turn == len(actual) - 1:
                rubric_replies(case, sampling, turn, rubrics, readers)

        def conflict(case: Case) -> None:
            clash = [json_rubric(snake, Rubric("1", words), kind) for words in ("One.", "Another.")]
            for made in case.actual:
                made["rubrics"] = clash

        def without_rubrics(case: Case) -> None:
            case.metric["criterion"]["rubrics"] = []
            for made in case.actual:
                made["rubrics"] = [json_rubric(snake, Rubric("1", "One."), "OTHER")]

        return sometimes_broken(rng, case, other_length, *([conflict, without_rubrics] if actual else []))

    return make


# hallucinations_v1

SENTENCES = ["It rains.", "Yes.", "4 °C\nnow.", "Done", "See [1].", "はい。", "label: x", "I think so."]
GROUNDED = {
    True: ["supported", "supported", "Supported", "not_applicable"],
    False: ["unsupported", "contradictory", "disputed", "Unsupported"],
}
GRADES = {"supported", "not_applicable", "unsupported", "contradictory", "disputed"}
UNGRADED = ["unknown", "", "partially_supported", "`supported`", "not applicable", "supported."]
FINDING_NOTHING = ["", "No sentences.", "- It rains.", "<sentence>", "<sentence>It rains.", "<Sentence>Yes.</Sentence>"]


def validation(rng: Random, sentence: str, label: str) -> str:
    excerpts = rng.choice([*[("null", "null")] * 3, ("It rains.", "null"), ("null", "NULL"), ("a\nb", "Null")])
    return (
        f"sentence: {sentence}\nlabel: {label}\nrationale: {rng.choice(['r', 'so', ''])}\n"
        f"supporting_excerpt: {excerpts[0]}\ncontradicting_excerpt: {excerpts[1]}"
    )


@functools.cache
def odd_sentences() -> tuple[list[str], list[str]]:
    """Odd replies of the segmenter: with a sentence, and without."""
    rows = [row for row in judge_replies.sentence_rows() if len(row[0]) <= 90 and "sentences\"" not in row[0]]
    return [reply for reply, found in rows if found], [reply for reply, found in rows if not found]


def odd_validation(rng: Random) -> str:
    """A short odd reply of the validator, in most cases one with a label that counts."""
    readable = rng.random() < 0.7
    while True:
        reply = judge_replies.validation_reply(rng)
        found = [result["label"].lower() for result in _parse_validation_results(reply)]
        if len(reply) <= 240 and (not readable or not GRADES.isdisjoint(found)):
            return reply


def steps(made: dict, each_text: bool) -> int:
    """How many texts of an invocation are judged."""
    texts = 0
    if each_text:
        for event in (made.get("intermediate_data") or {}).get("invocation_events", []):
            texts += sum(1 for part in (event.get("content") or {}).get("parts") or [] if part.get("text"))
    answer = (made.get("final_response") or {}).get("parts") or []
    return texts + any(part.get("text") for part in answer)


def hallucinations(rng: Random) -> Case:
    sampling = Sampling(rng)
    each_text = rng.random() < 0.5
    fields = {"evaluate_intermediate_nl_responses": each_text} if each_text or rng.random() < 0.3 else {}
    actual = turns(rng, 0.6 if each_text else 0.2) if rng.random() > 0.006 else []
    case = Case(metric(rng, "hallucinations_v1", sampling, keys_of(rng), **fields), actual)
    if rng.random() < 0.2:
        case.expected = [{"user_content": content("Hi")} for _ in actual]
    quality = 1 - rng.random() ** 2
    with_sentences, without_sentences = odd_sentences()
    structured = rng.random() < 0.012
    for turn, made in enumerate(actual):
        for step in range(steps(made, each_text)):
            sentences = rng.choices(SENTENCES, k=rng.choice([1, 1, 1, 2, 2, 2, 3, 3, 4, 7]))
            if rng.random() < 0.04:
                segmented = rng.choice(FINDING_NOTHING + without_sentences[:100])
            elif structured and rng.random() < 0.5:
                segmented = json.dumps({"sentences": sentences}, ensure_ascii=False)
            elif rng.random() < 0.7:
                segmented = "\n".join(f"<sentence>{sentence}</sentence>" for sentence in sentences)
            else:
                segmented = rng.choice(with_sentences)
            if structured and rng.random() < 0.5:
                rows = [{"sentence": sentence, "label": rng.choice(GROUNDED[True])} for sentence in sentences]
                validated = json.dumps({"validations": rows}, ensure_ascii=False)
            elif sampling.is_well_formed():
                unknown = rng.random() < 0.04
                labels = [
                    rng.choice(UNGRADED if unknown or rng.random() < 0.06 else GROUNDED[rng.random() < quality])
                    for _ in sentences
                ]
                validated = rng.choice(["\n", "\n\n"]).join(map(validation, [rng] * len(labels), sentences, labels))
            elif rng.random() < 0.06:
                validated = rng.choice(["", "All fine.", "label: supported"])
            else:
                validated = odd_validation(rng)
            fails = [rng.random() < sampling.failing for _ in range(2)]
            case.replies[f"{turn}/{step}/segment/0"] = None if fails[0] else segmented
            is_read = _parse_sentences(segmented) or is_json_with(segmented, ["sentences"])
            if is_read and not fails[0]:
                case.replies[f"{turn}/{step}/validate/0"] = None if fails[1] else validated
    return sometimes_broken(rng, case, other_length)


CASES: dict[str, Callable[[Random], Case]] = {
    "final_response_match_v2": final_response_match,
    "rubric_based_final_response_quality_v1": rubric_case(
        "rubric_based_final_response_quality_v1", "FINAL_RESPONSE_QUALITY", True
    ),
    "rubric_based_tool_use_quality_v1": rubric_case("rubric_based_tool_use_quality_v1", "TOOL_USE_QUALITY", True),
    "rubric_based_multi_turn_trajectory_quality_v1": rubric_case(
        "rubric_based_multi_turn_trajectory_quality_v1", "TRAJECTORY_QUALITY", False
    ),
    "hallucinations_v1": hallucinations,
    "per_turn_user_simulator_quality_v1": per_turn,
}
