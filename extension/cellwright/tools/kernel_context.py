"""What a run hands over to a tool of the live kernel, whose call is a cell.

The cell holds the arguments alone, so that the notebook can be run again without the agent. The
rest comes by a probe just before it, and the first tool that the cell calls takes it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Generator, Mapping
from typing import Any, NoReturn

from cellwright.errors import ToolError
from cellwright.kernels import CellRequest, KernelDescription, OutputSink
from cellwright.record.cells import Execution
from cellwright.record.content import CONTEXT_MIME
from cellwright.record.events import CellOutput
from cellwright.record.messages import AssistantMessage, Message, TextPart, UserMessage, text_of
from cellwright.record.outputs import safe_json
from cellwright.stopping import Stop
from cellwright.tools.evaluation import is_kernel

PLAIN_FACTS = (
    *("call_id", "sees_images", "prompt", "kernel_session", "tool_name", "run_id", "chat_id"),
    *("user_id", "instructions", "files", "variables", "model_configs", "memory", "debug"),
)
"""Fields of a context that are JSON as they are."""
HISTORY_MESSAGES = 40
HISTORY_CHARACTERS = 2_000
INTERVAL_SECONDS = 0.1
_waiting: list[Mapping[str, Any]] = []


def facts_of(context: Any) -> dict[str, Any]:
    """The fields of a context as JSON; of the history the last messages, shortened."""
    facts = {name: safe_json(getattr(context, name)) for name in PLAIN_FACTS}
    said = [message for message in context.history if message.role in ("user", "assistant")]
    turns = [
        {"role": message.role, "content": text_of(message)[:HISTORY_CHARACTERS]}
        for message in said[-HISTORY_MESSAGES:]
    ]
    return {**facts, "history": turns, "used_tools": list(context.used_tools)}


def hand_over(facts: Mapping[str, Any]) -> None:
    """Keep what was said of the next call until its tool takes it."""
    _waiting[:] = [facts]


def taken_facts() -> dict[str, Any] | None:
    """Fields for a context; none of them where a person calls; None where no cell runs at all."""
    facts = _waiting.pop() if _waiting else ({} if is_kernel() else None)
    if not facts:
        return None if facts is None else {}
    known = {name: facts[name] for name in PLAIN_FACTS if name in facts}
    known["history"] = tuple(_message(turn) for turn in facts.get("history", ()))
    return {**known, "used_tools": tuple(facts.get("used_tools", ()))}


class HereKernel:
    """Stands for the kernel we are in: what a tool wants of it, it can do by itself."""

    session = ""

    def wait_until_free(self, stop: Stop) -> None:
        """The cell that runs is the one that called us."""
        stop.check()

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """A cell within the cell that called us is not run.

        Raises:
            ToolError: Always.
        """
        _refuse()

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Nothing is asked of the kernel we are in.

        Raises:
            ToolError: Always.
        """
        _refuse()

    def describe(self) -> KernelDescription:
        """Nothing but the language."""
        return KernelDescription("python", "", "", "")

    def is_alive(self) -> bool:
        """Whoever can ask is alive."""
        return True

    def interrupt(self) -> None:
        """Whoever runs us interrupts us."""


def progress_display(
    clock: Callable[[], float] = time.monotonic,
) -> Callable[[str, float | None], None]:
    """Shows how far a tool is in one output of its cell, about ten times a second."""
    name, shown_at = uuid.uuid4().hex, float("-inf")

    def show(text: str, fraction: float | None) -> None:
        nonlocal shown_at
        now, is_first = clock(), shown_at == float("-inf")
        if now - shown_at < INTERVAL_SECONDS:
            return
        shown_at = now
        from IPython.display import display

        share = "" if fraction is None else f" {fraction:.0%}"
        # The model is told nothing of it.
        data = {"text/plain": f"{text}{share}", CONTEXT_MIME: ""}
        display(data, raw=True, display_id=name, update=not is_first)  # type: ignore[no-untyped-call]

    return show


def _refuse() -> NoReturn:
    raise ToolError(
        "This tool is in the kernel already.", hint="Run the code where it is wanted, as it stands."
    )


def _message(turn: Mapping[str, str]) -> Message:
    if turn["role"] == "assistant":
        return AssistantMessage(turn["content"])
    return UserMessage((TextPart(turn["content"]),))
