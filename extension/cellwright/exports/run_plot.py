"""A run drawn over time, as SVG: replies, cells and their end; and the tokens of each reply."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from cellwright.exports.sample import ReplyGiven, SampleRecord

WIDTH, LEFT, RIGHT, ROW, TOKENS_HEIGHT = 760, 90, 16, 26, 60
GOOD, BAD, REPLY, PROMPT, INK, LINE = (
    "#1a7f4b", "#b3261e", "#1d5fb8", "#9db8dc", "#555d66", "#d0d3d8",
)  # fmt: skip
COLOURS = {"ok": GOOD}
SMALLEST = 2.0
"""Pixels: what took no time is seen all the same."""


def draw_run(sample: SampleRecord) -> str:
    """The picture as the text of an ``.svg`` file; empty: there is nothing to draw."""
    replies = [event for event in sample.events if isinstance(event, ReplyGiven)]
    ran = [cell for cell in sample.cells if cell.status]
    ends = [cell.at + cell.seconds for cell in ran] + [reply.at for reply in replies]
    span = max([sample.time.seconds, *ends], default=0.0)
    if not ran or span <= 0:
        return ""
    bars = [*_bars(sample, replies, span), *_token_bars(replies)]
    has_tokens = any(_counts(reply) != (0, 0) for reply in replies)
    height = 3 * ROW + 24 + (TOKENS_HEIGHT + 40 if has_tokens else 0)
    style = f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" {style}>'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>{"".join(bars)}</svg>'
    )


def _bars(sample: SampleRecord, replies: list[ReplyGiven], span: float) -> Iterator[str]:
    scale = (WIDTH - LEFT - RIGHT) / span
    yield _text(8, 24, "Replies")
    yield _text(8, 24 + ROW, "Cells")
    for reply in replies:
        begin = max(0.0, reply.at - reply.seconds)
        label = f"reply {reply.number}: {reply.seconds:.2f} s"
        yield _rect((LEFT + begin * scale, 12), reply.seconds * scale, 16, REPLY, label)
    for number, cell in enumerate((c for c in sample.cells if c.status), start=1):
        label = f"cell {number}: {cell.status}, {cell.seconds:.2f} s"
        colour = COLOURS.get(cell.status, BAD)
        yield _rect((LEFT + cell.at * scale, 12 + ROW), cell.seconds * scale, 16, colour, label)
    y = 16 + 2 * ROW
    yield f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{LINE}"/>'
    step = _round_step(span / 3)
    for number in range(int(span / step) + 1):
        anchor = "start" if number == 0 else "middle" if number * step < 0.95 * span else "end"
        yield _text(LEFT + number * step * scale, y + 16, f"{number * step:g} s", anchor)


def _round_step(seconds: float) -> float:
    """The largest of 1, 2, 5, 10 … that is not longer, and so with parts of a second."""
    power: float = 10.0 ** math.floor(math.log10(seconds))
    return next(part * power for part in (5, 2, 1) if part * power <= seconds * (1 + 1e-9))


def _counts(reply: ReplyGiven) -> tuple[int, int]:
    usage = reply.usage
    return int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))


def _token_bars(replies: list[ReplyGiven]) -> Iterator[str]:
    counts = [_counts(reply) for reply in replies]
    most = max((sum(count) for count in counts), default=0)
    if not most:
        return
    base = 3 * ROW + 24 + TOKENS_HEIGHT + 14
    room = (WIDTH - LEFT - RIGHT) / len(counts)
    yield _text(8, base - TOKENS_HEIGHT + 10, "Tokens")
    yield _text(8, base - TOKENS_HEIGHT + 26, f"max. {most:,}")
    for number, (sent, said) in enumerate(counts):
        x, width = LEFT + number * room, min(40.0, room * 0.7)
        label = f"reply {number + 1}: {sent:,} in, {said:,} out"
        low, high = (TOKENS_HEIGHT * part / most for part in (sent, said))
        yield _rect((x, base - low), width, low, PROMPT, label)
        yield _rect((x, base - low - high), width, high, REPLY, label)
    yield f'<path d="M{LEFT} {base}H{WIDTH - RIGHT}" stroke="{LINE}"/>'
    yield _text(LEFT, base + 16, "of each reply: light is read, dark is written")


def _rect(corner: tuple[float, float], width: float, height: float, colour: str, label: str) -> str:
    (x, y), width, height = corner, max(SMALLEST, width), max(0.0, height)
    title = f"<title>{escape(label)}</title>"
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{colour}" rx="2">{title}</rect>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
