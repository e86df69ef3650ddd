"""Keys by the names of environment variables: put in when a request is made, never written down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cellwright.errors import SetupError, ToolError

VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SECRET_HEADER = re.compile("auth|key|token|secret|cookie|pass|credential|session", re.IGNORECASE)
SHORTEST_SECRET = 6


def expanded(template: str, environ: Mapping[str, str]) -> str:
    """The text with ``${NAME}`` and ``${NAME:-default}`` put in.

    Raises:
        ToolError: A variable is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = environ.get(match["name"], "")
        if found or match["default"] is not None:
            return found or match["default"]
        raise ToolError(
            f"The environment variable {match['name']!r} is not set.",
            hint="Tell the person to set it where cellwright runs and to start that again.",
        )

    return VARIABLE.sub(value, template)


def variables_in(templates: Iterable[str]) -> tuple[str, ...]:
    """The variables that some texts name."""
    return tuple(sorted({match["name"] for text in templates for match in VARIABLE.finditer(text)}))


def used_values(templates: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of the variables that some texts name, as far as they are set."""
    return tuple(environ[name] for name in variables_in(templates) if environ.get(name))


def literal_secrets(headers: Mapping[str, str]) -> list[str]:
    """Names of headers that hold a key itself, where the name of a variable belongs."""
    return [
        name
        for name, value in headers.items()
        if SECRET_HEADER.search(name) and not VARIABLE.search(value)
    ]


def checked_variable(name: str) -> str:
    """The name of a variable.

    Raises:
        SetupError: It is none; it may be the key itself, so it is not repeated.
    """
    if NAME.fullmatch(name) and len(name) <= 80 and not name.startswith("sk_"):
        return name
    raise SetupError(
        "The key has to be the name of an environment variable.",
        hint="Set a variable to the key, and give the variable's name.",
    )


class Hidden:
    """Takes the keys of one tool out of what its service says.

    Args:
        values: The keys.
    """

    def __init__(self, values: Iterable[str]) -> None:
        known = {value.strip() for value in values if len(value.strip()) >= SHORTEST_SECRET}
        self._known = sorted(known, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without them."""
        for value in self._known:
            text = text.replace(value, "[key]")
        return text

    def value(self, value: Any) -> Any:
        """JSON without them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        return value
