"""What a call would do, tried in a copy of the kernel that cannot change the world.

The person looks before they allow it: what it shows, variables, files, addresses. The copy ends
with the look; what is allowed then runs in the kernel itself.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from cellwright.errors import KernelDiedError, KernelError, SetupError
from cellwright.kernels import CellRequest
from cellwright.kernels.copies import AskSnapshots, open_copy
from cellwright.record.asked_calls import code_to_run
from cellwright.record.events import CellOutput, ToolStarted
from cellwright.record.outputs import (
    ErrorOutput,
    Execution,
    FileChange,
    Output,
    OutputMessage,
    StreamOutput,
    fold,
)
from cellwright.stopping import Stop
from cellwright.text.cleaning import clean
from cellwright.text.truncation import shorten

ENDS_KERNEL = "It ends the kernel; all variables would be lost. Yours is as it was."
PICTURE = "image/png"
PREVIEW_SECONDS = 60.0
"""A person waits for it, and can run the cell for real instead."""
SHOWN_TOKENS = 2000
"""Of each output: a person looks at it, and need not read all."""


@dataclass(frozen=True)
class PreviewOutput:
    """Something that the code shows: text, or a picture."""

    text: str
    picture: str = ""
    """A PNG in base64; empty: it is text."""


@dataclass(frozen=True)
class Preview:
    """What came of a call in the copy; nothing of it has happened."""

    outputs: tuple[PreviewOutput, ...]
    execution: Execution
    """``files`` are those anywhere; in the kernel's folder by their relative path."""
    addresses: tuple[str, ...]
    """Host and port, or path, of what Python code tried to reach and did not."""


def preview(call: ToolStarted, ask: AskSnapshots, stop: Stop) -> Preview:
    """Run the code of a call in a sandboxed copy of the kernel, as it is now.

    Args:
        call: The call, as the person is shown it.
        ask: Reaches the kernel, of which no cell runs but the one that asks.
        stop: Ends it.

    Raises:
        SetupError: The call runs no code.
        KernelError: The kernel cannot be copied, or the system cannot keep a copy apart.
        RunCancelled: ``stop`` was set.
    """
    code = code_to_run(call)
    if not code:
        raise SetupError(f"{call.name} runs no code, so there is nothing to try.")
    messages: list[OutputMessage] = []

    def keep(output: CellOutput) -> CellOutput:
        messages.append(output.message)
        return output

    copy = open_copy(ask, stop=stop, is_sandboxed=True)
    began = time.monotonic()
    try:
        running = copy.execute(CellRequest("preview", code, PREVIEW_SECONDS), stop, keep)
        execution = _run_to_end(running)
        found: dict[str, Any] = copy.ask_snapshots("effects", {})
    except KernelDiedError:
        execution = Execution("died", time.monotonic() - began, note=ENDS_KERNEL)
        found = {"files": (), "addresses": ()}
    finally:
        copy.close(now=True)
    files = tuple(FileChange(**file) for file in found["files"])
    return Preview(
        tuple(map(show_output, fold(messages))),
        replace(execution, files=files),
        tuple(found["addresses"]),
    )


def _run_to_end(running: Generator[CellOutput, None, Execution]) -> Execution:
    while True:
        try:
            next(running)
        except StopIteration as ended:
            execution: Execution = ended.value
            return execution


def show_output(output: Output) -> PreviewOutput:
    """An output as a preview shows it: text, shortened, or a picture."""
    if isinstance(output, StreamOutput):
        text = output.text
    elif isinstance(output, ErrorOutput):
        text = f"{output.ename}: {output.evalue}"
    else:
        text = str(output.data.get("text/plain", ""))
        picture = output.data.get(PICTURE)
        if isinstance(picture, str):
            return PreviewOutput(clean(text), "".join(picture.split()))
    return PreviewOutput(shorten(clean(text).rstrip("\n"), SHOWN_TOKENS, "").text)


def preview_bundles(found: Preview) -> list[dict[str, str]]:
    """What a preview shows, as MIME bundles of text and pictures that load nothing."""
    shown = [
        {"text/plain": output.text, **({PICTURE: output.picture} if output.picture else {})}
        for output in found.outputs
    ]
    head = {"text/plain": "Preview: nothing of this has happened."}
    return [head, *shown, {"text/plain": effects_text(found)}]


def try_call(call: ToolStarted, ask: AskSnapshots, stop: Stop) -> list[dict[str, str]]:
    """What a preview of a call shows, or why there is none, as MIME bundles.

    The arguments are those of ``preview``.

    Raises:
        SetupError: The call runs no code.
        RunCancelled: ``stop`` was set.
    """
    try:
        return preview_bundles(preview(call, ask, stop))
    except KernelError as error:
        return [{"text/plain": f"There is no preview. {error}"}]


def effects_text(found: Preview) -> str:
    """What a call would change beside what it shows, in a few lines."""
    execution = found.execution
    marks = {"created": "", "modified": " (changed)", "deleted": " (deleted)"}
    rows = {
        "Variables": [
            *(variable.name for variable in execution.changed),
            *(f"{name} (deleted)" for name in execution.removed),
        ],
        "Files": [file.path + marks[file.change] for file in execution.files],
        "Tried to reach, in vain": list(found.addresses),
    }
    lines = [f"{name}: {', '.join(names)}" for name, names in rows.items() if names]
    if not execution.note and not lines:
        return "It changes nothing."
    return "\n".join([*filter(None, (execution.note,)), *lines])
