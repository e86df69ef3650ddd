"""A suite: samples with their checks. Each kind of suite is one file beside this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.bench.checks import Check
from cellwright.bench.task import SampleIndex
from cellwright.errors import SetupError
from cellwright.settings import Limits


@dataclass(frozen=True)
class EarlierCell:
    """A cell that was there before the question."""

    code: str
    question: str = ""
    """What it answers; empty: it only leads up to a question."""
    step: int = 0
    """Of the session; 0 for a cell that answers nothing."""


@dataclass(frozen=True)
class Needs:
    """What a sample needs of the place where its kernels run."""

    python: str = ""
    """Their interpreter; empty: that of the benchmark."""
    image: str = ""
    """Of their container; empty: that of the benchmark."""
    network: bool | None = None
    """False: they must have none; True: they need one; None: as the benchmark says."""
    workdir: str = ""
    """What the sample's folder is called there, too; empty: nothing else."""


@dataclass(frozen=True)
class Item:
    """One sample: what is asked, from which start, and what is right."""

    index: SampleIndex
    prompt: str
    group: str = ""
    """What results are split by."""
    family: str = ""
    """Samples of one family vary together; empty: it stands alone."""
    setup: tuple[str, ...] = ()
    """Cells that run before the agent is asked."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Name in the sample's folder, and the file that is copied there."""
    limits: Limits = field(default_factory=Limits)
    tools: tuple[str, ...] | None = None
    """Names or patterns of the tools that may be used; None: all."""
    checks: tuple[Check, ...] = ()
    reference: tuple[str, ...] = ()
    """Cells that solve it."""
    reference_answer: str = ""
    """What is said after them; ``Done.`` where it does not matter."""
    is_live: bool = False
    """Checks look at the kernel in which the agent worked; else at one in which its cells ran anew,
    which no hidden state and no hidden change of the first can reach."""
    is_answer_code: bool = False
    """The answer is the code, and the checks run it: no cell has to."""
    prefix: str = ""
    """Put before a recorded answer where that goes on from the prompt's code."""
    session: str = ""
    """Samples of one session go on from one another; empty: it stands alone."""
    step: int = 0
    """Its place in the session, from 1 on."""
    history: tuple[EarlierCell, ...] = ()
    """The session's cells before it, as the reference has them."""
    mentions: tuple[str, ...] = ()
    """Variables of the setup that are summed up for the model; no ``@name`` of the prompt is."""
    points: tuple[float, ...] = ()
    """What each check counts; empty: 1 each."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What its author says of it; it is recorded."""
    needs: Needs = field(default_factory=Needs)


UNSEEN = "raise NotImplementedError({why!r})"
"""The setup of a task that cannot be run here: it is said, and is in no total."""


@dataclass(frozen=True)
class Suite:
    """Samples under one name."""

    name: str
    items: tuple[Item, ...]
    concurrency: int = 0
    """How many of its samples may run at a time; 0: as many as are asked for."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """For its kernels."""
    source: str = ""
    """What it was read from."""
    hidden: tuple[Path, ...] = ()
    """Files and folders in which stands what samples expect."""
    is_in_order: bool = False
    """The samples of a session run one after the other, and the agent is shown what it did itself
    in those before."""


def shown_prompt(item: Item, own: Mapping[int, str] | None = None) -> str:
    """What the agent is asked, with the session's cells before it.

    Args:
        item: The sample.
        own: By step the code the agent gave itself, shown in the place of the reference's.
    """
    if not item.history:
        return item.prompt
    cells = [_turn(turn, (own or {}).get(turn.step, turn.code)) for turn in item.history]
    return "\n\n".join(["The notebook so far:", *cells, "Now:", item.prompt])


def _turn(turn: EarlierCell, code: str) -> str:
    asked = f"Asked: {turn.question}\n" if turn.question else ""
    return f"{asked}```python\n{code}\n```"


def checked_suite(suite: Suite) -> Suite:
    """The suite, if it can be run.

    Raises:
        SetupError: It is empty, or an index is there twice, or as text and as number.
    """
    if not suite.items:
        raise SetupError(
            f"The suite {suite.name!r} has no samples.", hint=f"Look at {suite.source!r}."
        )
    seen: set[str] = set()
    for item in suite.items:
        if str(item.index) in seen:
            raise SetupError(
                f"The suite {suite.name!r} has the sample {item.index!r} twice.",
                hint="Give each its own id.",
            )
        seen.add(str(item.index))
    return suite
