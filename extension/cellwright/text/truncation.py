"""Long text cut in the middle once, with words on how to read the rest."""

from __future__ import annotations

from dataclasses import dataclass

CHARACTERS_PER_TOKEN = 4
"""In ASCII text; every other character takes as many bytes more as it costs more tokens."""
HEAD_SHARE = 0.4
"""The end of an output mostly says more than its start."""
PAGE_LINE_CHARACTERS = 1_000


@dataclass(frozen=True)
class Shortened:
    """A text that fits."""

    text: str
    was_cut: bool


def estimate_tokens(text: str) -> int:
    """About how many tokens a text costs: four bytes each; a Chinese character is most of one."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // CHARACTERS_PER_TOKEN)


def fits(text: str, token_limit: int) -> bool:
    """Whether ``shorten`` would leave a text as it is; it counts characters alone."""
    return len(text) <= token_limit * CHARACTERS_PER_TOKEN


def page_lines(text: str) -> list[str]:
    """The lines of a text as ``read_output`` counts them: a very long one is several."""
    size = PAGE_LINE_CHARACTERS
    return [
        line[start : start + size]
        for line in text.split("\n")
        for start in range(0, len(line) or 1, size)
    ]


def shorten(text: str, token_limit: int, name: str, first_line: int = 1) -> Shortened:
    """The text within a limit: 40 % from the head, 60 % from the tail, whole lines if possible.

    Args:
        text: What to cut.
        token_limit: How much of it stays, the marker not counted.
        name: What ``read_output`` calls the full text; empty when it is kept nowhere.
        first_line: Number of the text's first line in that full text.
    """
    room = token_limit * CHARACTERS_PER_TOKEN
    if len(text) <= room + len(_marker(text, name, first_line)):
        return Shortened(text, False)
    head = _head(text, int(room * HEAD_SHARE))
    tail = _tail(text, room - int(room * HEAD_SHARE))
    left_out = text[len(head) : len(text) - len(tail)]
    # page_lines also counts the unfinished line that the gap starts in
    line = first_line + len(page_lines(head)) - 1
    pieces = [head.rstrip("\n"), _marker(left_out, name, line), tail.lstrip("\n")]
    return Shortened("\n".join(piece for piece in pieces if piece), True)


def _head(text: str, room: int) -> str:
    end = text.rfind("\n", room // 2, room) + 1
    return text[: end or room]


def _tail(text: str, room: int) -> str:
    start = len(text) - room
    line_end = text.find("\n", start, len(text) - room // 2)
    return text[line_end + 1 :] if line_end >= 0 else text[start:]


def _marker(left_out: str, name: str, line: int) -> str:
    lines = left_out.count("\n")
    size = f"{len(left_out):,} characters" + (f", {lines:,} lines" if lines > 1 else "")
    start = f", {line}" if line > 1 else ""
    how = f'; read_output("{name}"{start}) shows them' if name else ""
    return f"[… {size} left out{how} …]"
