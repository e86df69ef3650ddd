"""A prompt's words as a wish: what to do, how to sum up, where to leave the result."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cellwright.demo.vocabulary import (
    ASKS,
    BY,
    CHARTS,
    FENCE,
    FILE,
    FIX,
    FUNCTIONS,
    GAPS,
    GREET,
    HELP,
    HIGHEST,
    LIMIT,
    LOWEST,
    TARGETS,
    TASKS,
    TIME,
    Task,
)

Extreme = Literal["", "high", "low"]
EXTREMES: tuple[tuple[Extreme, re.Pattern[str]], ...] = (("high", HIGHEST), ("low", LOWEST))


@dataclass(frozen=True)
class Wish:
    """What a person asks for, before the columns are known."""

    text: str
    """Their words, without file names, code and the name of the result."""
    tasks: tuple[Task, ...]
    function: str = ""
    """``sum``, ``mean``, ``median``, ``std`` or ``count``; empty when none is named."""
    extreme: Extreme = ""
    extreme_at: int = -1
    limit: int = 0
    """The N of "top N"."""
    chart: str = ""
    target: str = ""
    """The variable the result goes to."""
    snippet: str = ""
    """Code written in the prompt."""

    @property
    def wants_time(self) -> bool:
        """Whether "over time" or a trend is asked for."""
        return bool(TIME.search(self.text))

    def by_places(self) -> tuple[int, ...]:
        """Where words such as "by" and "per" end."""
        return tuple(found.end() for found in BY.finditer(self.text))


def read_wish(prompt: str) -> Wish:
    """What a prompt asks for."""
    snippet = FENCE.search(prompt)
    words = FENCE.sub(" ", prompt)
    words = FILE.sub(" ", words)
    target, words = _target(words)
    extremes = [
        (found.start(), word)
        for word, pattern in EXTREMES
        if (found := pattern.search(words)) is not None
    ]
    place, extreme = min(extremes, default=(-1, ""))
    return Wish(
        text=words,
        tasks=_tasks(words, bool(snippet)),
        function=_first(FUNCTIONS, words),
        extreme=extreme,
        extreme_at=place,
        limit=_limit(words),
        chart=_first(CHARTS, words),
        target=target,
        snippet=snippet[1].strip() if snippet else "",
    )


def file_names(text: str) -> list[str]:
    """Data files named in ``text``, in order."""
    return list(dict.fromkeys(quoted or bare for quoted, bare in FILE.findall(text)))


def _target(words: str) -> tuple[str, str]:
    """The name to leave the result in, and the words without that clause."""
    for pattern in TARGETS:
        found = pattern.search(words)
        if found and found[1].isidentifier() and not keyword.iskeyword(found[1]):
            return found[1], f"{words[: found.start()]} {words[found.end() :]}"
    return "", words


def _tasks(words: str, has_snippet: bool) -> tuple[Task, ...]:
    places = {name: found.start() for name, p in TASKS if (found := p.search(words))}
    tasks: list[Task] = sorted(places, key=places.__getitem__)
    if FIX.search(words) and "clean" not in tasks:
        return ("fix",)
    if not tasks and GAPS.search(words):
        tasks = ["profile"]  # "how many values are missing?"
    if has_snippet:
        return ("run",)
    if _is_question(words, tasks):
        # "summarise revenue by region" is a question, "profile it; which month …?" is two tasks
        tasks = [task for task in tasks if task != "profile" or ASKS.search(words)]
        tasks.insert(tasks.index("plot") if "plot" in tasks else len(tasks), "question")
    if tasks and (tasks != ["question"] or _sums_up(words) or BY.search(words)):
        return tuple(tasks)
    if HELP.search(words):
        return ("help",)
    return ("greet",) if GREET.search(words) else tuple(tasks)


def _is_question(words: str, tasks: list[Task]) -> bool:
    """Whether a number or a table is asked for, beside or instead of the other tasks."""
    sums_up = _sums_up(words)
    if "plot" in tasks:
        return bool(ASKS.search(words) and sums_up)
    if "profile" in tasks or "clean" in tasks:
        by_groups = "profile" in tasks and bool(BY.search(words))
        return by_groups or (sums_up and not GAPS.search(words))
    return bool(sums_up or BY.search(words) or ASKS.search(words))


def _sums_up(words: str) -> bool:
    return bool(_first(FUNCTIONS, words) or _first(EXTREMES, words))


def _first(named: Iterable[tuple[str, re.Pattern[str]]], words: str) -> str:
    return next((name for name, pattern in named if pattern.search(words)), "")


def _limit(words: str) -> int:
    found = LIMIT.search(words)
    return int(next(filter(None, found.groups()))) if found else 0
