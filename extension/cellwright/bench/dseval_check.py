"""A question of DSEval, scored by its own validators.

The reference runs on the variables as they were before the question; what it did is held against
what the agent did: the result of its last cell, and the variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.bench import dseval_matching, dseval_state, dseval_validators
from cellwright.bench.dseval_verdicts import TIMEOUT, verdict_of
from cellwright.bench.kernel_source import program_of
from cellwright.bench.scenes import BrokenSampleError, Found, Scene, asked, printed

CHECK_SECONDS = 600.0
EXPLANATION_CHARACTERS = 600
ASKING = """
try:
    found = answer_to(arguments, user)
except ReferenceFailedError as error:
    found = str(error)
"""


@dataclass(frozen=True)
class DsevalQuestion:
    """The agent did what the reference does."""

    reference: str
    """Code that answers the question."""
    validator: Mapping[str, Any]
    """DSEval's validators with their settings."""
    forbidden: tuple[str, ...] = ()
    """Variables the answer may not use."""
    limit_seconds: float = 10.0
    """For all its cells together."""
    kind: Literal["dseval"] = field(default="dseval", init=False)
    score_name = "dseval"


def state_cell(forbidden: tuple[str, ...] = ()) -> str:
    """The last cell of the setup: it keeps the state before the question."""
    space = (
        f"{{'name': {dseval_state.HELD!r}, 'space': globals(), 'forbidden': {list(forbidden)!r}, "
        f"'own': __import__('re').compile({dseval_state.OWN.pattern!r}).fullmatch}}"
    )
    return f"exec({dseval_state.TAKEN!r}, {space})"


def find_dseval(check: DsevalQuestion, scene: Scene) -> Found:
    """Ask the validators; the explanation begins with DSEval's verdict.

    Raises:
        BrokenSampleError: The reference does not run in this kernel.
    """
    last = scene.cells[-1] if scene.cells else None
    arguments = {
        "reference": check.reference,
        "validator": dict(check.validator),
        "forbidden": list(check.forbidden),
        "source": last.source if last is not None else "",
        "stream": printed((last,), ("stdout", "stderr")) if last is not None else "",
        "count": last.execution_count if last is not None else None,
        "error": _error(check, scene),
    }
    program = program_of(dseval_matching, dseval_validators, dseval_state)
    found = asked(scene, program + ASKING, arguments, CHECK_SECONDS)
    if isinstance(found, str):
        raise BrokenSampleError(f"The reference does not run here: {found}")
    verdict = verdict_of(found)
    return Found(verdict.value, str(verdict)[:EXPLANATION_CHARACTERS])


def _error(check: DsevalQuestion, scene: Scene) -> str:
    """Why the agent's last cell did not end as it should."""
    if not scene.cells:
        return ""
    last, seconds = scene.cells[-1], sum(cell.seconds for cell in scene.cells)
    if last.status == "timeout" or seconds > check.limit_seconds:
        return f"{TIMEOUT}: {seconds:.1f} s; the limit is {check.limit_seconds:g} s"
    if last.status != "ok":
        return last.error or last.status
    return ""
