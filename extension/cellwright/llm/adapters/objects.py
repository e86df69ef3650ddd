"""One JSON object in what a model wrote: alone, between fences or among words.

An object that was cut off is not completed, whatever is missing.
"""

from __future__ import annotations

import ast
import json
from typing import Any

from cellwright.llm.adapters.fences import only_fence


def find_object(text: str, names: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The object in ``text``.

    Args:
        text: What a model wrote.
        names: Fields of which it has at least one; empty: any object will do.

    Raises:
        ValueError: There is none, or it is cut off or broken; the text says where.
    """
    block = only_fence(text.strip())
    whole = block.content if block is not None else text
    problem = "there is no JSON object in it"
    decoder = json.JSONDecoder()
    place = whole.find("{")
    while place >= 0:
        try:
            value, _ = decoder.raw_decode(whole, place)
        except json.JSONDecodeError as error:
            problem = f"{error.msg} at line {error.lineno}, column {error.colno}"
            if _is_cut(whole, error):
                break
        except RecursionError:
            problem = "it is nested too deeply"
            break
        else:
            if _fits(value, names):
                return dict(value)
        place = whole.find("{", place + 1)
    return _literal(whole, names, problem)


def _literal(text: str, names: frozenset[str], problem: str) -> dict[str, Any]:
    """The same in Python's spelling, as some models write it."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(problem) from None
    if _fits(value, names):
        return dict(value)
    raise ValueError(problem)


def _fits(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, dict) and (not names or bool(names & set(value)))


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    if error.msg.startswith("Unterminated string"):
        return True
    return error.pos >= len(text.rstrip())
