"""Which of several attempts at one question was chosen, and what each of them came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from cellwright.record.messages import Usage

ChoiceWay = Literal["check", "judge", "vote"]
"""By its checks, by a model, or by what most attempts say."""
JUDGE_LANE = "judge"
"""Of runs in which a model chose; nobody means one of them as the last run."""
WAYS: tuple[ChoiceWay, ...] = get_args(ChoiceWay)


@dataclass(frozen=True)
class AttemptSummary:
    """What one of several attempts came to."""

    number: int
    """From 1, in the order in which they were begun."""
    run_id: str
    status: str
    answer: str = ""
    """Its beginning."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """What its checks found, by name; None: the check could not be made."""
    passed: bool | None = None
    """Whether all checks passed; None: there were none."""
    votes: int = 0
    """How many attempts say the same, itself included; 0: that was not counted."""
    cells: int = 0
    errors: int = 0
    """Cells that ended with one."""
    tokens: int = 0
    cost_dollars: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Choice:
    """Which of several attempts was chosen, how and why."""

    number: int
    way: ChoiceWay
    reason: str
    attempts: tuple[AttemptSummary, ...]
    """All of them, in order."""
    judge: str = ""
    """The model that chose; empty: none did."""
    judge_run: str = ""
    """The run in which it was asked, where that is recorded."""
    judge_usage: Usage = field(default_factory=Usage)
    judge_cost_dollars: float | None = None
