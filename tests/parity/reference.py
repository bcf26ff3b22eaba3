"""The versions of the reference and of its packages, as requirements.txt has them."""

from __future__ import annotations

import re
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements.txt"


def required_versions() -> dict[str, str]:
    """Package by package, the version that vectors are recorded with."""
    pinned = re.findall(r"^([\w-]+)(?:\[\w+\])?==(\S+)$", REQUIREMENTS.read_text("utf-8"), re.MULTILINE)
    return dict(pinned)
