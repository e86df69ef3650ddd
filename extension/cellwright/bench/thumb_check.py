"""A person's thumb, up or down, as the score of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cellwright.bench.scenes import CheckError, Found, Scene
from cellwright.exports.sample import SampleRecord, Score

THUMB = "thumb"


@dataclass(frozen=True)
class Thumb:
    """A person finds it good."""

    question: str = ""
    """What the person is asked."""
    kind: Literal["thumb"] = field(default="thumb", init=False)
    score_name = THUMB


def find_thumb(check: Thumb, scene: Scene) -> Found:
    """Nothing is known before somebody has looked.

    Raises:
        CheckError: Always: thumbs are given later, by ``with_thumb``.
    """
    asked = f" The question: {check.question}" if check.question else ""
    raise CheckError(f"nobody has given a thumb yet.{asked}")


def with_thumb(sample: SampleRecord, *, is_up: bool, note: str = "") -> SampleRecord:
    """The sample with a person's thumb, in the place of an earlier one."""
    thumb = Score(THUMB, float(is_up), passed=is_up, explanation=note)
    others = [score for score in sample.scores if score.name != THUMB]
    return replace(sample, scores=(*others, thumb))


def keep_thumbs(before: Sequence[Score], now: Sequence[Score]) -> tuple[Score, ...]:
    """New scores with the thumbs given before: no check can make them again."""
    given = tuple(score for score in before if score.name == THUMB and score.value is not None)
    if not given:
        return tuple(now)
    return (*(score for score in now if score.name != THUMB), *given)
