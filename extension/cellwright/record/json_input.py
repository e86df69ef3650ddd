"""Reads JSON that comes from outside: what could not be stored or sent on again is refused here.

Python reads more than that: numbers that no column holds, NaN, and halves of surrogate pairs,
which cannot be encoded. They would fail anywhere later, as a fault of ours.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

INTEGER_LIMIT = 2**63
"""SQLite's integers, and those of most programs that read our JSON, end here."""
INTEGER_DIGITS = 20
MAY_BE_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Valid UTF-8 has no surrogates, so half of a pair can only come as an escape."""


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is not JSON, not UTF-8, is nested too deeply, or holds a number beyond 64
            bits, NaN, an infinity or a lone surrogate.
    """
    # json.loads decodes bytes itself, surrogates included.
    written = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    try:
        value = json.loads(
            written, parse_int=_integer, parse_float=_finite, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if MAY_BE_HALF.search(written):
        _check_encodable(value)
    return value


def _integer(digits: str) -> int:
    # The length first: Python refuses thousands of digits, and takes its time for hundreds.
    if len(digits) > INTEGER_DIGITS or not -INTEGER_LIMIT <= int(digits) < INTEGER_LIMIT:
        raise ValueError("it holds a whole number of more than 64 bits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("it holds a number that is too large")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is not JSON")


def _check_encodable(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
