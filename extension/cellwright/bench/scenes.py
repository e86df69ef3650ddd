"""What a check is given to look at, what it says, and how it asks the kernel."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from cellwright.exports.sample import SampleCell

MARK = "cellwright-check:"
STDOUT = ("stdout",)


class CheckError(Exception):
    """The check itself failed; nothing is known of what it checks."""


class BrokenSampleError(Exception):
    """The sample cannot be scored at all, whatever the agent did: its own reference fails."""


class CellFailedError(Exception):
    """A cell failed when the notebook was run anew."""


@dataclass(frozen=True)
class CheckFinding:
    """What a check found."""

    value: float
    """From 0 to 1; 1 passes."""
    explanation: str = ""
    is_passed: bool | None = None
    """None: by the value."""

    @property
    def passed(self) -> bool:
        """Whether that is enough."""
        return self.value >= 1.0 if self.is_passed is None else self.is_passed


@dataclass(frozen=True)
class JudgeReply:
    """What a model that judges said."""

    text: str
    model: str
    tokens: int = 0


class ScoringContext(Protocol):
    """A sample after its run, with the kernel it ran in."""

    @property
    def answer(self) -> str:
        """What the agent said last."""
        ...

    @property
    def cells(self) -> tuple[SampleCell, ...]:
        """What the agent ran, in order."""
        ...

    @property
    def folder(self) -> Path:
        """Where it ran."""
        ...

    def run(self, code: str, timeout_seconds: float) -> SampleCell:
        """Run code in the kernel.

        Raises:
            KernelError: The kernel died or does not answer.
        """
        ...

    def anew(self, *, with_cells: bool) -> AbstractContextManager[ScoringContext]:
        """The same in a fresh kernel: the setup, then the run's cells in order.

        Raises:
            CellFailedError: One of them failed.
        """
        ...

    def judged(self, question: str) -> JudgeReply:
        """What the model that judges says.

        Raises:
            CheckError: There is none, or it failed.
        """
        ...


def found_wrong(wrong: str) -> CheckFinding:
    """What is wrong, in words; nothing where there are none."""
    return CheckFinding(0.0 if wrong else 1.0, wrong)


def asked(
    scene: ScoringContext,
    program: str,
    arguments: Mapping[str, Any],
    timeout_seconds: float = 60.0,
) -> Any:
    """What a program sets ``found`` to in the kernel.

    It runs in a namespace of its own, where ``arguments`` are these and ``user`` are the run's
    variables.

    Raises:
        CheckError: It failed.
        KernelError: The kernel died or does not answer.
    """
    told = f"{program}\nimport json\nprint({MARK!r} + json.dumps(found))\n"
    given = f"__import__('json').loads({json.dumps(dict(arguments))!r})"
    space = f"{{'__name__': 'cellwright_check', 'user': globals(), 'arguments': {given}}}"
    cell = scene.run(f"exec({told!r}, {space})", timeout_seconds)
    lines = [line for line in printed((cell,)).splitlines() if line.startswith(MARK)]
    if cell.status != "ok" or not lines:
        raise CheckError(cell.error or f"the check ended with {cell.status!r}")
    return json.loads(lines[-1].removeprefix(MARK))


def printed(cells: tuple[SampleCell, ...], names: tuple[str, ...] = STDOUT) -> str:
    """What cells printed, all together."""
    outputs = [output for cell in cells for output in cell.outputs]
    streams = [o for o in outputs if o.get("output_type") == "stream" and o["name"] in names]
    return "".join("".join(output["text"]) for output in streams)


# Modules of ours as one program for a kernel that may have another Python and no cellwright.


FUTURE = "from __future__ import annotations\n"
DROPPED = ("from __future__ ", "from cellwright.")


def program_of(*modules: ModuleType) -> str:
    """The modules' sources, one after the other.

    Args:
        modules: Those that others import first. What they import of each other stands on one line
            and is not renamed; it is left out here, where all have one namespace.
    """
    return FUTURE + "\n".join(_lines(module) for module in modules)


def _lines(module: ModuleType) -> str:
    lines = inspect.getsource(module).splitlines()
    return "\n".join(line for line in lines if not line.startswith(DROPPED))
