"""What a cell may print to keep us busy: every place that reads output text takes linear time.

Held by a ratio: of two texts, the second four times as long, the second may cost about four times
as much processor time. A quadratic reader costs sixteen times as much.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cpu_time import seconds_of

from cellwright.commands.workplace import output_lines
from cellwright.exports.html_contents import ansi_html
from cellwright.record.mime_bundles import bundle_text
from cellwright.record.outputs import StreamOutput, fold
from cellwright.text.cleaning import clean, plain_text, safe_markdown
from cellwright.text.truncation import shorten

SMALL, FACTOR, RATIO_LIMIT = 60_000, 4, 9.0
TOO_SHORT_TO_MEASURE_SECONDS = 0.05
TERMINAL = (
    *("\b", "\r", "\r\n", "\x1b", "\x1b[K", "\x1b[2K", "\x1b[1A", "a\u0301\u0301", "x"),
    *("\ra", "a\b", "ab\b", "\x1b[K\ra", "\x1b]", "\x1b[", "\x1b[0", "\x1bP", "\x9b", "\n"),
)
MARKUP = ("<", "<!--", "<![", "<!", "<?", "</", "<a ", "<text", "<text>", "<td>", "&", "&#")


def streamed(text: str) -> object:
    """The text in many small messages."""
    return fold([StreamOutput("stdout", text[at : at + 8]) for at in range(0, len(text), 8)])


TERMINAL_READERS: dict[str, Callable[[str], object]] = {
    "fold": lambda text: fold([StreamOutput("stdout", text)]),
    "fold of many messages": streamed,
    "clean": clean,
    "plain_text": plain_text,
    "safe_markdown": safe_markdown,
    "shorten": lambda text: shorten(text, 2_000, "name"),
    "ansi_html": ansi_html,
    "output_lines": lambda text: output_lines((StreamOutput("stdout", text),)),
    "plain bundle": lambda text: bundle_text({"text/plain": text}),
}
MARKUP_READERS: dict[str, Callable[[str], object]] = {
    "html": lambda text: bundle_text({"text/html": text}),
    "svg": lambda text: bundle_text({"image/svg+xml": text}),
    "markdown": lambda text: bundle_text({"text/markdown": text}),
}


def hostile(unit: str, size: int, behind: str) -> str:
    """So many characters; the half of them may stand behind ordinary text."""
    repeated = unit * (size // len(unit))
    return repeated if not behind else behind * (size // 2) + repeated[: size // 2]


def seconds(read: Callable[[str], object], text: str, times: int) -> float:
    """The shortest time of so many."""
    spent = []
    for _ in range(times):
        spent.append(seconds_of(lambda: read(text))[0])
    return min(spent)


def check_is_linear(read: Callable[[str], object], unit: str) -> None:
    for behind in ("", "y"):
        large, small = (hostile(unit, SMALL * factor, behind) for factor in (FACTOR, 1))
        # what seems too slow is measured with more care: others use the machine, too
        for times in (1, 3):
            spent = seconds(read, large, times)
            is_linear = (
                spent <= TOO_SHORT_TO_MEASURE_SECONDS
                or spent / seconds(read, small, times) < RATIO_LIMIT
            )
            if is_linear:
                break
        assert is_linear, (unit, behind, spent)


@pytest.mark.parametrize("unit", TERMINAL)
@pytest.mark.parametrize("name", TERMINAL_READERS)
def test_terminal_text_is_read_in_linear_time(name: str, unit: str) -> None:
    check_is_linear(TERMINAL_READERS[name], unit)


@pytest.mark.parametrize("unit", MARKUP)
@pytest.mark.parametrize("name", MARKUP_READERS)
def test_markup_is_read_in_linear_time(name: str, unit: str) -> None:
    check_is_linear(MARKUP_READERS[name], unit)


@pytest.mark.parametrize("html", ["<![<![", "<![x", "<!DOCTYPE", "a<!-- never closed", "<?php x"])
def test_declarations_that_no_parser_likes_are_no_failure_of_ours(html: str) -> None:
    assert "AssertionError" not in bundle_text({"text/html": f"<p>seen</p>{html}"})
    assert bundle_text({"text/html": f"<p>seen</p>{html}>"}).startswith("seen")


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("a\x1b[01;31m\x1b[Kfound\x1b[m\x1b[Kb", "afoundb"),
        ("loading…\r\x1b[Kdone", "done"),
        ("12345\r123\x1b[K", "123"),
        ("gone\x1b[2Kshort", "short"),
    ],
)
def test_an_erasure_takes_what_a_terminal_would_erase(shown: str, read: str) -> None:
    """``grep --color`` erases the rest of the line behind each match."""
    assert clean(shown) == read
