"""DSEAL: a Python file of blocks, each a question with its answer, or code that leads up to one.

A block begins with a line ``# %%``. One that starts with a text in triple quotes is a question:
the text is YAML (``question``, ``validator``, ``execution``, ``data``), what follows is the answer.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError

MARK = "# %%\n"
QUESTION = re.compile(r'r?"""(.+?)"""\n(.+)', re.DOTALL)
KEYS = frozenset({"question", "validator", "execution", "data"})
TEMPLATES: dict[str, tuple[str, ...]] = {
    "empty": (),
    "basic": ("crash",),
    "intact": ("crash", "namespace_intact"),
    "comparison": ("crash", "namespace_intact", "result"),
}
USUAL = "comparison"


@dataclass(frozen=True)
class Block:
    """Code, and the question it answers, if it does."""

    code: str
    question: str = ""
    """Empty: the code only leads up to the next question."""
    validator: Mapping[str, Any] = field(default_factory=dict)
    """Each validator with its settings, those of the template included."""
    forbidden: tuple[str, ...] = ()
    """Variables the answer may not use."""
    limit_seconds: float = 1.0


def read_blocks(path: Path) -> tuple[Block, ...]:
    """The blocks of a file.

    Raises:
        SetupError: It cannot be read; the message tells the block.
    """
    try:
        sections = path.read_text(encoding="utf-8").split(MARK)[1:]
    except (OSError, ValueError) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}.", hint="It is DSEAL.") from error
    texts = [section.strip() for section in sections]
    return tuple(
        _block(text, f"{str(path)!r}, block {number}")
        for number, text in enumerate(texts, start=1)
        if text
    )


def _block(text: str, place: str) -> Block:
    matched = QUESTION.match(text)
    if matched is None:
        return Block(text)
    yaml: Any = importlib.import_module("yaml")
    try:
        settings = yaml.safe_load(matched[1])
    except yaml.YAMLError as error:
        raise SetupError(f"{place}: {error}.", hint="Its head is YAML.") from error
    if not isinstance(settings, Mapping) or not KEYS.issuperset(settings):
        raise SetupError(
            f"{place} holds {settings!r:.200}.", hint=f"Use {', '.join(sorted(KEYS))}."
        )
    execution = settings.get("execution") or {}
    return Block(
        matched[2].strip(),
        str(settings.get("question") or "").strip(),
        _validator(settings.get("validator") or {}, place),
        tuple(execution.get("forbid_names") or ()),
        float(execution.get("max_time") or 1),
    )


def _validator(given: Any, place: str) -> dict[str, Any]:
    """What is asked for on top of a template."""
    template = given.get("template", USUAL) if isinstance(given, Mapping) else None
    if template not in TEMPLATES:
        raise SetupError(f"{place}: the validator is {given!r:.200}.", hint="It maps names.")
    own = {name: settings for name, settings in given.items() if name != "template"}
    return {**dict.fromkeys(TEMPLATES[template]), **own}
