"""Code out of what a model said."""

from __future__ import annotations

import re

FENCE = re.compile(r"```[A-Za-z0-9_+-]*\n(.*?)\n?```", re.DOTALL)
NAMED = re.compile(r"@(\w+)\[([^\]]*)\]")


def fenced(code: str) -> str:
    """Code as a block of markdown; ``code_in`` gives it back as it is."""
    return f"```python\n{code}\n```"


def code_in(text: str) -> str:
    """The last block of code in an answer; the whole text where there is no block."""
    found = FENCE.findall(text)
    return str(found[-1]) if found else text


def cut_recorded(text: str) -> str:
    """The code of an answer recorded for DS-1000, by the rule its results were published with."""
    cut = text.split("</code>")[0].replace("```python", "")
    return cut.split("```")[0].split("\nEND SOLUTION")[0].replace("<code>", "")


def named_value(text: str, name: str) -> str | None:
    """The value of ``@name[value]``, the last one where there are several."""
    found = [value for word, value in NAMED.findall(text) if word == name]
    return found[-1].strip() if found else None
