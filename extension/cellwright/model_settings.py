"""What a person knows of a model and its service does not say: a table of names and patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from cellwright.errors import SetupError

__all__ = ["ModelSettings", "read_models", "settings_of"]

EXAMPLE = 'It holds JSON such as {"qwen*": {"system_notes": "in_place"}}.'


@dataclass(frozen=True)
class ModelSettings:
    """How one model is talked with."""

    system_position: Literal["first", "last"] = "first"
    """Where the one system message stands."""
    system_notes: Literal["head", "in_place"] = "head"
    """Whether instructions in mid-conversation go to the system message or stay where they are."""
    alternates: bool = False
    """Its template wants words of the person and of the model strictly in turn."""
    context_tokens: int | None = None
    """Its window; None: not known."""


CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "system_position": (lambda value: value in ("first", "last"), '"first" or "last"'),
    "system_notes": (lambda value: value in ("head", "in_place"), '"head" or "in_place"'),
    "alternates": (lambda value: isinstance(value, bool), "true or false"),
    "context_tokens": (lambda value: type(value) is int and value > 0, "a number above zero"),
}


def read_models(path: str) -> Mapping[str, ModelSettings]:
    """The table in a JSON file.

    Raises:
        SetupError: The file cannot be used.
    """
    import json

    try:
        table = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
        return {str(name): _checked(name, row) for name, row in dict(table).items()}
    except (OSError, ValueError, TypeError) as error:
        raise SetupError(
            f"CELLWRIGHT_MODELS names {path!r}, which cannot be used: {error}.", hint=EXAMPLE
        ) from error


def settings_of(model: str, models: Mapping[str, ModelSettings]) -> ModelSettings:
    """The row of a model: its name, else the first pattern that fits it.

    Args:
        model: As the service is asked for it; what a router puts before it does not count.
        models: By name or pattern.
    """
    names = (model, model.rpartition("/")[2])
    exact = [models[name] for name in names if name in models]
    fitting = (
        row for pattern, row in models.items() if any(fnmatchcase(name, pattern) for name in names)
    )
    return exact[0] if exact else next(fitting, ModelSettings())


def _checked(name: str, row: Any) -> ModelSettings:
    if not isinstance(row, Mapping):
        raise ValueError(f"{name!r} is not an object")
    for field, value in row.items():
        if field not in CHECKS:
            raise ValueError(f"{name!r} has {field!r}; known are {', '.join(CHECKS)}")
        is_good, wanted = CHECKS[field]
        if not is_good(value):
            raise ValueError(f"{field!r} of {name!r} is {value!r} and not {wanted}")
    return ModelSettings(**row)
