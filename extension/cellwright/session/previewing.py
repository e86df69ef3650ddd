"""What a call would do, tried in a copy of the kernel that cannot change the world.

The person looks before they allow it: what it shows, variables, files, addresses. The copy ends
with the look. What is allowed then runs in the kernel itself, or the result of the look is put in
place there, where it can be carried (``kernels.carrying``).
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.errors import KernelDiedError, KernelError, SetupError
from cellwright.kernels import CellRequest
from cellwright.kernels.copies import AskSnapshots, CarriedResult, CopiedKernel, open_copy
from cellwright.record.asked_calls import code_to_run
from cellwright.record.events import CellOutput, ToolStarted
from cellwright.record.outputs import (
    DisplayData,
    DisplayUpdate,
    ErrorOutput,
    ExecuteResult,
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
PREVIEW, KEEP = "preview", "keep"
"""What a person answers to see what a call would do, and to take over what came of it."""
PICTURE = "image/png"
WIDGET = "application/vnd.jupyter.widget-view+json"
PREVIEW_SECONDS = 60.0
"""A person waits for it, and can run the cell for real instead."""
KEPT_SECONDS = 600.0
"""So long the result of a preview waits to be kept."""
GONE = "The result of the preview is not there any more. Preview it again, or run it."
FAILED = "the code did not end well"
FILE_MARKS = {"created": "", "modified": " (changed)", "deleted": " (deleted)"}
FOLDER_MARKS = {
    "created": " (new)",
    "modified": " (other rights)",
    "deleted": " (replaced: what was in it is deleted)",
}
CROSSES_LAYERS = f"[Errno {errno.EXDEV}]"
NO_FOLDERS_RENAMED = "A preview cannot rename a folder; the code may work when it runs for real."
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
    """``files`` are those anywhere; in the kernel's folder by their relative path. One that ends
    with a slash is a folder: new, with other rights, or with what was in it deleted."""
    addresses: tuple[str, ...]
    """Host and port, or path, of what Python code tried to reach and did not."""
    obstacle: str = ""
    """Why the result cannot be kept instead of running the call; empty: it can."""


class Previews:
    """Previews of the calls that a person is asked about; the last result waits to be kept.

    Args:
        ask: Reaches the kernel, of which no cell runs but the one that asks.
        carries: Whether results are kept at all.
    """

    def __init__(self, ask: AskSnapshots, *, carries: bool = True) -> None:
        self._ask, self._carries = ask, carries
        self._lock = threading.Lock()
        self._call_id = ""
        self._result: CarriedResult | None = None
        self._timer: threading.Timer | None = None

    def look(self, call: ToolStarted, stop: Stop) -> Preview:
        """Run the code of a call in a sandboxed copy of the kernel, as it is now.

        Args:
            call: The call, as the person is shown it.
            stop: Ends it.

        Raises:
            SetupError: The call runs no code.
            KernelError: The kernel cannot be copied, or the system cannot keep a copy apart.
            RunCancelled: ``stop`` was set.
        """
        code = code_to_run(call)
        if not code:
            raise SetupError(f"{call.name} runs no code, so there is nothing to try.")
        self.drop()
        messages: list[OutputMessage] = []

        def keep(output: CellOutput) -> CellOutput:
            messages.append(output.message)
            return output

        copy = open_copy(self._ask, stop=stop, is_sandboxed=True)
        began = time.monotonic()
        obstacles: tuple[str, ...] = ()
        try:
            obstacles = _begin_carrying(copy) if self._carries else ()
            running = copy.execute(CellRequest("preview", code, PREVIEW_SECONDS), stop, keep)
            execution = _run_to_end(running)
            if any(isinstance(m, ErrorOutput) and CROSSES_LAYERS in m.evalue for m in messages):
                note = " ".join(filter(None, (execution.note, NO_FOLDERS_RENAMED)))
                execution = replace(execution, note=note)
            found: dict[str, Any] = copy.ask_snapshots("effects", {})
            if self._carries:
                obstacles = obstacles or _obstacles(copy, execution, messages)
            if self._carries and not obstacles:
                stop.check()
                self._keep(call, CarriedResult.of(copy, self._ask, code, messages, execution))
        except KernelDiedError:
            execution = Execution("died", time.monotonic() - began, note=ENDS_KERNEL)
            found = {"files": (), "addresses": ()}
            obstacles = (FAILED,)
        finally:
            copy.close(now=True)
        files = tuple(FileChange(**file) for file in found["files"])
        return Preview(
            tuple(map(show_output, fold(messages))),
            replace(execution, files=files),
            tuple(found["addresses"]),
            "; ".join(obstacles),
        )

    def can_keep(self, call: ToolStarted) -> bool:
        """Whether the result of a call waits to be kept."""
        with self._lock:
            return self._result is not None and self._call_id == call.call_id

    def keep(self, call: ToolStarted) -> None:
        """Let the result of a call take its place when it is run next; nothing changes yet.

        Whoever calls this has the person's consent to the call, as for running it.

        Raises:
            KernelError: It cannot; the message says why, and what to do.
        """
        with self._lock:
            result = self._result if self._call_id == call.call_id else None
            if result is None:
                raise KernelError(GONE)
            result.arm()

    def drop(self) -> None:
        """Forget the result that waits; one that is being put in place is not disturbed."""
        with self._lock:
            result, self._result = self._result, None
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if result is not None:
            result.close()

    def _keep(self, call: ToolStarted, result: CarriedResult) -> None:
        with self._lock:
            self._call_id, self._result = call.call_id, result
            self._timer = threading.Timer(KEPT_SECONDS, self.drop)
            self._timer.daemon = True
            self._timer.start()


def preview(call: ToolStarted, ask: AskSnapshots, stop: Stop) -> Preview:
    """A look at a call of which nothing is kept; see ``Previews.look``."""
    return Previews(ask, carries=False).look(call, stop)


def _begin_carrying(copy: CopiedKernel) -> tuple[str, ...]:
    """Why it cannot be told what will have changed; empty: it can."""
    try:
        copy.begin_carrying()
    except KernelDiedError:
        raise
    except KernelError as error:
        return (error.message.rstrip("."),)
    return ()


def _obstacles(
    copy: CopiedKernel, execution: Execution, messages: Sequence[OutputMessage]
) -> tuple[str, ...]:
    """What stands in the way of keeping the result; empty: it is packed."""
    if execution.status != "ok":
        return (FAILED,)
    shown = (m for m in messages if isinstance(m, DisplayData | DisplayUpdate | ExecuteResult))
    if any(WIDGET in message.data for message in shown):
        return ("it shows a widget",)
    try:
        return copy.pack()
    except KernelDiedError:
        return ("the copy has ended",)
    except KernelError as error:
        return (error.message.rstrip("."),)


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


def show_call(call: ToolStarted, previews: Previews, stop: Stop) -> list[dict[str, str]]:
    """What a preview of a call shows, or why there is none, as MIME bundles.

    Raises:
        SetupError: The call runs no code.
        RunCancelled: ``stop`` was set.
    """
    try:
        return preview_bundles(previews.look(call, stop))
    except KernelError as error:
        return [{"text/plain": f"There is no preview. {error}"}]


@dataclass(frozen=True)
class Said:
    """What a person said of a call."""

    word: str
    previewed: bool = False
    adopted: bool = False
    """The result of its preview takes its place; then the word was that."""


def ask_with_previews(
    call: ToolStarted,
    previews: Previews | None,
    read: Callable[[Sequence[str]], str],
    show: Callable[[dict[str, str]], object],
    stop: Stop,
) -> Said:
    """Ask until the person says something else than that they want a preview.

    Args:
        call: What is asked about.
        previews: Tries it; None: that cannot be done here.
        read: Asks once, offering the words ``preview`` and ``keep`` where they are given.
        show: Shows a MIME bundle.
        stop: Ends a preview.

    Raises:
        RunCancelled: ``stop`` was set.
    """
    offered = previews if code_to_run(call) else None
    previewed = False
    try:
        while True:
            can_keep = offered is not None and offered.can_keep(call)
            offers = [PREVIEW] if offered is not None else []
            word = read([*offers, KEEP] if can_keep else offers)
            if offered is None or word not in (PREVIEW, KEEP if can_keep else PREVIEW):
                return Said(word, previewed)
            if word == PREVIEW:
                previewed = True
                for bundle in show_call(call, offered, stop):
                    show(bundle)
                continue
            try:
                offered.keep(call)
                return Said(word, previewed, adopted=True)
            except KernelError as error:
                offered.drop()
                show({"text/plain": error.message})
    finally:
        if offered is not None:
            offered.drop()


def effects_text(found: Preview) -> str:
    """What a call would change beside what it shows, in a few lines."""
    execution = found.execution
    rows = {
        "Variables": [
            *(variable.name for variable in execution.changed),
            *(f"{name} (deleted)" for name in execution.removed),
        ],
        "Files": [_told(file) for file in execution.files],
        "Tried to reach, in vain": list(found.addresses),
    }
    lines = [f"{name}: {', '.join(names)}" for name, names in rows.items() if names]
    if not execution.note and not lines:
        lines = ["It changes nothing."]
    if found.obstacle and execution.status == "ok":
        lines.append(f"The result cannot be kept: {found.obstacle}.")
    return "\n".join([*filter(None, (execution.note,)), *lines])


def _told(file: FileChange) -> str:
    marks = FOLDER_MARKS if file.path.endswith("/") else FILE_MARKS
    return file.path + marks[file.change]
