"""Questions with choices, asked with letters: an answer ends with a line ``ANSWER: B``."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

LETTERS = string.ascii_uppercase
REQUEST = "End with a line `ANSWER: ` and the letter, or letters with commas."
ANSWER = r"(?im)^\W*answer[^\w\n]*{letters}[^\w\n]*$"
LETTERS_OF_A_LINE = r"([a-z](?:[^\w\n]+[a-z])*)"


def ask_choices(choices: Sequence[str]) -> str:
    """What is said below a question; choices that are letters stand in it already."""
    letters = LETTERS[: len(choices)]
    listed = "\n".join(map("{}) {}".format, letters, choices))
    return f"\n\n{REQUEST}" if list(choices) == list(letters) else f"\n\n{listed}\n\n{REQUEST}"


def name_choices(places: Sequence[int]) -> str:
    """An answer that names these choices."""
    return f"ANSWER: {', '.join(LETTERS[place] for place in places)}"


def find_choices(answer: str) -> tuple[int, ...]:
    """The choices that an answer names; the last line that names some counts."""
    lines = re.findall(ANSWER.format(letters=LETTERS_OF_A_LINE), answer)
    letters = re.findall("[A-Z]", lines[-1].upper()) if lines else []
    return tuple(LETTERS.index(letter) for letter in letters)
