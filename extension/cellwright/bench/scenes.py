"""What a check is given to look at, what it says, and how it asks the kernel."""

from __future__ import annotations

import inspect
import json
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from cellwright.errors import KernelError
from cellwright.exports.sample import SampleCell
from cellwright.record.messages import Usage

STDOUT = ("stdout",)


class CheckError(Exception):
    """The check itself failed; nothing is known of what it checks."""


class BrokenSampleError(Exception):
    """The sample cannot be scored at all, whatever the agent did: its own reference fails."""


class UnreadableKernelError(CheckError):
    """The agent's kernel does not say what its variables are: the agent's code keeps it from it."""


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
    usage: Usage = field(default_factory=Usage)
    cost_dollars: float | None = None
    """None: no price of the model is known."""
    run_id: str = ""
    """The run in which it was asked, where that is recorded."""


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

    @property
    def reference(self) -> tuple[str, ...]:
        """Cells that solve it; empty: nobody wrote them."""
        ...

    def run(self, code: str, timeout_seconds: float) -> SampleCell:
        """Run code in the kernel.

        Raises:
            KernelError: The kernel died or does not answer.
        """
        ...

    def clean(self) -> ScoringContext:
        """The same in a kernel that the agent never touched, with the setup done.

        It is one kernel for all checks, and in the folder of the sample.
        """
        ...

    def tampering(self) -> tuple[str, ...]:
        """What the agent's code changed of the kernel's own works, by name."""
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


class CodeRunner(Protocol):
    """Something that runs code in a kernel."""

    def run(self, code: str, timeout_seconds: float) -> SampleCell:
        """Run code in the kernel.

        Raises:
            KernelError: The kernel died or does not answer.
        """
        ...


def found_wrong(wrong: str) -> CheckFinding:
    """What is wrong, in words; nothing where there are none."""
    return CheckFinding(0.0 if wrong else 1.0, wrong)


CALL = """
import json, sys, types
for own, source in sources.items():
    if own not in sys.modules:
        module = types.ModuleType(own)
        exec(compile(source, own, 'exec'), vars(module))
        sys.modules[own] = module
module = sys.modules.get(name)
told = UNKNOWN if module is None else json.dumps(getattr(module, function)(arguments, user))
print('\\n' + mark + told)
"""
"""A source is sent once to each kernel: to read it takes longer than to call it. The mark is
another one each time, so that nothing that was printed before is taken for an answer."""
UNKNOWN = "unknown"


def ask_kernel(
    scene: CodeRunner,
    modules: tuple[ModuleType, ...],
    function: str,
    arguments: Mapping[str, Any],
    timeout_seconds: float = 60.0,
) -> Any:
    """What a function of the last of ``modules`` says in the kernel, which is JSON.

    Args:
        scene: Whose kernel.
        modules: Sent there; those that others import come first.
        function: It is given ``arguments`` and the kernel's variables.
        arguments: Plain data.
        timeout_seconds: For the call.

    Raises:
        CheckError: It failed.
        KernelError: The kernel died or does not answer.
    """
    given: dict[str, Any] = {
        "name": _name_there(modules[-1]),
        "sources": {},
        "function": function,
        "UNKNOWN": UNKNOWN,
    }
    space = f"'arguments': {_parsed(arguments)}, 'user': globals()"
    told = _say(scene, CALL, f"**{given!r}, {space}", timeout_seconds)
    if told == UNKNOWN:
        given["sources"] = {_name_there(module): _source_there(module) for module in modules}
        told = _say(scene, CALL, f"**{given!r}, {space}", timeout_seconds)
    return json.loads(told)


def _say(scene: CodeRunner, program: str, space: str, timeout_seconds: float) -> str:
    """What a program prints after a mark.

    Raises:
        CheckError: It failed, or printed nothing.
    """
    mark = secrets.token_hex(16)
    code = f"{EXEC}({program!r}, {{'mark': {mark!r}, {space}}})"
    cell = scene.run(code, timeout_seconds)
    lines = [line for line in printed((cell,)).splitlines() if line.startswith(mark)]
    if cell.status != "ok" or not lines:
        raise CheckError(cell.error or f"the check ended with {cell.status!r}")
    return lines[-1].removeprefix(mark)


EXEC = "__import__('builtins').exec"
"""The agent may have a variable of that name."""


def _parsed(arguments: Mapping[str, Any]) -> str:
    return f"__import__('json').loads({json.dumps(dict(arguments))!r})"


def ask_agent(
    scene: CodeRunner,
    modules: tuple[ModuleType, ...],
    function: str,
    arguments: Mapping[str, Any],
    timeout_seconds: float = 60.0,
) -> Any:
    """The same, of the kernel in which the agent's code ran.

    Raises:
        UnreadableKernelError: It says nothing that can be read, or nothing at all.
    """
    try:
        return ask_kernel(scene, modules, function, arguments, timeout_seconds)
    except (CheckError, KernelError, ValueError) as error:
        raise UnreadableKernelError(f"the kernel does not say what is in it: {error}") from error


@dataclass(frozen=True)
class TestEnd:
    """How a test ended."""

    how: str
    """``passed``, ``failed``, ``crashed`` or ``stopped``."""
    text: str = ""
    found: Any = None
    """What it has to say, where it has passed."""


@dataclass(frozen=True)
class ApartTest:
    """A test that runs in the clean kernel, and asks the agent's for what it needs."""

    modules: tuple[ModuleType, ...]
    """As in ``ask_kernel``; the last one has the function ``go_on``, too."""
    begin: str
    """The function that begins the test in the clean kernel."""
    answer: str
    """The function that answers it in the agent's."""


def run_apart(
    scene: ScoringContext, test: ApartTest, arguments: Mapping[str, Any], timeout_seconds: float
) -> TestEnd:
    """Run a test in the clean kernel; what it needs of the agent's is done in the agent's.

    Args:
        scene: The sample after its run.
        test: The test.
        arguments: What it begins with.
        timeout_seconds: For all of it.

    Raises:
        KernelError: The clean kernel died.
    """
    until = time.monotonic() + timeout_seconds
    clean, function, what = scene.clean(), test.begin, arguments
    while True:
        try:
            told = ask_kernel(clean, test.modules, function, what, _left(until))
        except CheckError as error:
            return TestEnd("stopped", _ended_with(error))
        if "ended" in told:
            return TestEnd(told["ended"], told["text"], told.get("found"))
        function = "go_on"
        try:
            what = ask_agent(scene, test.modules, test.answer, told, _left(until))
        except UnreadableKernelError as error:
            return TestEnd("failed", _ended_with(error))


def _left(until: float) -> float:
    return max(0.1, until - time.monotonic())


def _ended_with(error: CheckError) -> str:
    return str(error).replace("the check ended", "it ended")


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
    told = f"{program}\nimport json\nprint(mark + json.dumps(found))\n"
    space = f"'__name__': 'cellwright_check', 'arguments': {_parsed(arguments)}, 'user': globals()"
    return json.loads(_say(scene, told, space, timeout_seconds))


def printed(cells: tuple[SampleCell, ...], names: tuple[str, ...] = STDOUT) -> str:
    """What cells printed, all together."""
    outputs = [output for cell in cells for output in cell.outputs]
    streams = [o for o in outputs if o.get("output_type") == "stream" and o["name"] in names]
    return "".join("".join(output["text"]) for output in streams)


# Modules of ours for a kernel that may have another Python and no cellwright.


OURS = re.compile(r"^from cellwright\.\w+\.(\w+) import ", re.MULTILINE)
"""What a module that is sent imports of another one, which is sent as well."""


def _name_there(module: ModuleType) -> str:
    return "_cellwright_" + module.__name__.rpartition(".")[2]


def _source_there(module: ModuleType) -> str:
    return OURS.sub(r"from _cellwright_\1 import ", inspect.getsource(module))
