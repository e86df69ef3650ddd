"""What people paste, made plain: line ends, terminal colours, heaps of blank lines; never code.

Filters have names, so that a chat can choose which are on and in which order. Any of them in any
order change nothing more when they are applied again, and no line of code becomes words by them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cellwright.errors import SetupError
from cellwright.text.cleaning import ESCAPES

LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
LINE_END = re.compile(r"\r\n?")
BETWEEN_LINE_ENDS = re.compile(r"[^\r\n]+")
ESCAPE = "\x1b"
# Atomic, or half of a Windows line end would count as a line.
BLANK_LINES = re.compile(r"((?>\r\n|\r|\n){2})(?>\r\n|\r|\n)+")
REMEMBERED_TEXTS = 512
NAMED_AT_ONCE = 3
NAME_CHARACTERS = 40
"""Of a name that there is not, in what the person is told."""


@dataclass(frozen=True)
class TextFilter:
    """Something that is done to words outside of code."""

    name: str
    does: str
    """One sentence for people."""
    apply: Callable[[str], str]
    """Makes a text shorter or leaves it as it is; takes no line that says something away."""
    signs: tuple[str, ...]
    """A text without any of them is left as it is."""

    def concerns(self, text: str) -> bool:
        """Whether there may be something to do."""
        return any(sign in text for sign in self.signs)


def _line_ends(text: str) -> str:
    return LINE_END.sub("\n", text)


def _plain(text: str) -> str:
    """The text without escapes; none takes a line end with it."""
    return BETWEEN_LINE_ENDS.sub(lambda found: _without_escapes(found[0]), text)


def _without_escapes(line: str) -> str:
    # What is left of a broken one goes too, for it could be whole with what follows.
    return ESCAPES.sub("", line).replace(ESCAPE, "") if ESCAPE in line else line


def _fewer_blank_lines(text: str) -> str:
    return BLANK_LINES.sub(r"\1", text)


TEXT_FILTERS: tuple[TextFilter, ...] = (
    TextFilter("line_ends", "Windows line ends become plain ones.", _line_ends, ("\r",)),
    TextFilter("terminal_colours", "Colours of a terminal are taken out.", _plain, (ESCAPE,)),
    TextFilter(
        "blank_lines",
        "Of several blank lines in a row one is left.",
        _fewer_blank_lines,
        ("\n\n\n", "\r"),
    ),
)
"""All there are, in the order in which they are applied at first (requirements 002-47)."""
STANDARD_FILTERS = tuple(item.name for item in TEXT_FILTERS)
_BY_NAME = {item.name: item for item in TEXT_FILTERS}


def checked_filters(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once.

    Raises:
        SetupError: There is no filter of a name.
    """
    chosen = tuple(dict.fromkeys(names))
    unknown = [repr(name[:NAME_CHARACTERS]) for name in chosen if name not in _BY_NAME]
    if unknown:
        raise SetupError(
            f"There is no text filter {', '.join(unknown[:NAMED_AT_ONCE])}.",
            hint=f"There are: {', '.join(STANDARD_FILTERS)}.",
        )
    return chosen


def known_filters(names: Iterable[str] | None) -> tuple[TextFilter, ...]:
    """The filters of these names, in their order; what has no filter here is left out.

    Args:
        names: None: all, in the standard order.
    """
    chosen = STANDARD_FILTERS if names is None else dict.fromkeys(names)
    return tuple(_BY_NAME[name] for name in chosen if name in _BY_NAME)


@dataclass
class _Fenced:
    """Tells lines of fenced code from words."""

    fence: str = ""

    def is_code(self, line: str) -> bool:
        """Whether a line stands in a fence or closes it; one that opens it is no code itself."""
        found = FENCE.match(line)
        if not self.fence:
            # a fence of backticks has none in its first line: that would be code in the line
            opens = found is not None and not (found["fence"][0] == "`" and "`" in found["info"])
            self.fence = found["fence"] if found is not None and opens else ""
            return False
        if found and found["fence"].startswith(self.fence) and not found["info"].strip():
            self.fence = ""
        return True


def filtered(text: str, filters: Iterable[TextFilter] = TEXT_FILTERS) -> str:
    """The text with the filters applied outside of fenced code; applying it twice is the same."""
    chosen = tuple(filters)
    if not any(item.concerns(text) for item in chosen):
        return text
    return _filtered(text, chosen)


@functools.lru_cache(maxsize=REMEMBERED_TEXTS)
def _filtered(text: str, filters: tuple[TextFilter, ...]) -> str:
    pieces: list[str] = []
    words: list[str] = []
    fenced = _Fenced()
    for said, end in LINE.findall(text):
        # What a line is must not change with what is taken out of it.
        if not fenced.is_code(_without_escapes(said)):
            words.append(said + end)
        elif fenced.fence:
            pieces += [_through(filters, words), said + end]
            words = []
        else:
            # The end of the last line of code is no code: blank lines may follow.
            pieces += [_through(filters, words), said]
            words = [end]
    return "".join([*pieces, _through(filters, words)])


def _through(filters: tuple[TextFilter, ...], words: list[str]) -> str:
    """The words with all filters applied until none of them changes anything.

    What one leaves may be something for one that stood before it: colours between blank lines.
    """
    before, text = None, "".join(words)
    while text != before:
        before = text
        for item in filters:
            text = item.apply(text) if item.concerns(text) else text
    return text
