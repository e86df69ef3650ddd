"""``{{name}}`` in a prompt: put in as text, never evaluated (requirements 002-42)."""

from __future__ import annotations

import re
from collections.abc import Mapping

VARIABLE = re.compile(r"\{\{[ \t]*([^\W\d]\w*)[ \t]*\}\}")


def with_variables(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of the names that are known; every other name stays as it is.

    What a value holds is text: names in it are not looked up again.
    """
    if not values:
        return text
    return VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)
