"""The reference, google-adk 2.13.0, as the vector scripts see it.

Everything the scripts share lives here: the check that the right reference is
running, the calls into it, and the writers that make a file byte-identical
whenever it is generated again.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import sys
import unicodedata
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

REQUIRED_VERSIONS = {
    "google-adk": "2.13.0",
    "google-genai": "2.34.0",
    "nltk": "3.10.4",
    "pydantic": "2.14.3",
    "rouge_score": "0.1.2",
}
REQUIRED_PYTHON = (3, 11)
REQUIRED_UNICODE = "14.0.0"

VECTORS = Path(__file__).parent / "vectors"


def require_reference() -> None:
    """Exits unless the interpreter and the packages are the ones recorded."""
    faults = [
        f"{package} is {found}, vectors need {wanted}"
        for package, wanted in REQUIRED_VERSIONS.items()
        if (found := importlib.metadata.version(package)) != wanted
    ]
    if sys.version_info[:2] != REQUIRED_PYTHON:
        faults.append(f"Python is {sys.version.split()[0]}, vectors need 3.11")
    if unicodedata.unidata_version != REQUIRED_UNICODE:
        faults.append(
            f"Unicode is {unicodedata.unidata_version}, vectors need {REQUIRED_UNICODE}"
        )
    if faults:
        sys.exit("not the reference: " + "; ".join(faults))


def to_json(value: Any) -> str:
    """One line of JSON that keeps key order, 1 and 1.0, big integers and -0.0."""
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def write_rows(path: Path, key: str, rows: Iterable[Any], head: dict | None = None) -> int:
    """Writes `{…head, key: rows}` with one row per line; returns the row count.

    A row is a JSON value, or a `str` that already is JSON text.
    """
    lines = [row if isinstance(row, str) else to_json(row) for row in rows]
    opening = "".join(f"{to_json(k)}:{to_json(v)},\n" for k, v in (head or {}).items())
    body = ",\n".join(lines)
    write_text(path, f"{{{opening}{to_json(key)}:[\n{body}\n]}}\n")
    return len(lines)


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 with LF line ends and says what was written."""
    data = text.encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"{path.name}: {len(data):,} bytes")


def describe_error(error: Exception) -> str:
    """`<class>: <message>`, the form in which vectors record a refusal."""
    return f"{type(error).__name__}: {error}"
