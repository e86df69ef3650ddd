"""Recorded runs, again: replayed with the recorded answers, or asked of another model.

A replay needs no model: the code the model wrote runs once more and its outputs are compared
with the recorded ones. A rerun starts from the same state and lets another model answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cellwright.conversation import Conversation, Place, Question
from cellwright.errors import SetupError
from cellwright.events import Event
from cellwright.kernels import CellRequest
from cellwright.lm import LM
from cellwright.lm.replay import ReplayLM
from cellwright.messages import AssistantMessage, Message, UserMessage
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.outputs import Output
from cellwright.prompts import Parameters, Reply
from cellwright.recording import RecordedExecution, RunRecord
from cellwright.settings import Limits, checked_mode
from cellwright.stopping import Stop
from cellwright.usage import Usage
from cellwright.values import from_dict

__all__ = ["Difference", "OtherModel", "ReplayResult", "compare", "replay", "rerun"]

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
CELL_NAME = re.compile(r"(Cell In|Input In|In)\s*\[?\d*\]?|ipykernel_\d+|<ipython-input-[^>]*>")
SHOWN_CHARACTERS = 300
PICTURES = ("image/png", "image/jpeg", "image/svg+xml", "application/pdf")


@dataclass(frozen=True)
class Difference:
    """One place where a replay did not do what the record says."""

    cell_number: int
    """1 for the first time the run ran a cell."""
    what: str
    """``status``, ``output``, ``error``, ``missing cell`` or ``extra cell``."""
    recorded: str
    replayed: str


@dataclass(frozen=True)
class ReplayResult:
    """A replayed run, held against its record."""

    record: RunRecord
    differences: tuple[Difference, ...]


def replay(record: RunRecord, place: Place, stop: Stop | None = None) -> Iterator[Event]:
    """Run a recorded run's code again with its recorded answers; no model is asked.

    Args:
        record: The run to replay.
        place: A kernel to run in, fresh for a true replay, and where the replay is recorded.

    Raises:
        SetupError: The record holds no answers.
    """
    replies = _replies(record)
    if not replies:
        raise SetupError(
            f"The run {record.run_id!r} has no recorded answers.", hint="Run it again instead."
        )
    question = _question(record, record.parameters, "auto")
    return _again(record, place, question, ReplayLM(replies), stop)


@dataclass(frozen=True)
class OtherModel:
    """Who answers a rerun."""

    lm: LM
    parameters: Parameters
    base_url: str = ""


def rerun(
    record: RunRecord, place: Place, other: OtherModel, stop: Stop | None = None
) -> Iterator[Event]:
    """Ask another model the same question from the same start."""
    parameters = replace(record.parameters, model=other.parameters.model)
    question = _question(record, parameters, record.mode)
    return _again(record, place, replace(question, base_url=other.base_url), other.lm, stop)


def _again(
    record: RunRecord, place: Place, question: Question, lm: LM, stop: Stop | None
) -> Iterator[Event]:
    stop = stop or Stop()
    place = replace(place, notebook=place.notebook or _notebook(record))
    _prepare(record, place, stop)
    conversation = Conversation(place)
    conversation.resume(_earlier(record), record.start_executed)
    yield from conversation.ask(question, lm, stop)


def _question(record: RunRecord, parameters: Parameters, mode: str) -> Question:
    return Question(
        prompt=record.prompt,
        parameters=parameters,
        files=tuple(record.files),
        mode=checked_mode(mode, "mode"),
        limits=from_dict(Limits, record.limits),
        source_run=record.run_id,
        message=_asked_message(record),
        cell_ids=tuple(cell.cell.id for cell in record.cells if cell.origin == "agent"),
    )


def _prepare(record: RunRecord, place: Place, stop: Stop) -> None:
    """Bring the kernel to the state the run started from: its cells, run again in order."""
    for number, source in enumerate(record.start_executed, start=1):
        request = CellRequest(f"setup-{number}", source)
        for _ in place.kernel.execute(request, stop, lambda output: output):
            pass


def _notebook(record: RunRecord) -> MemoryNotebook | None:
    """The notebook the run started from, as far as its tools could reach it."""
    names = {manifest.name for manifest in record.tools}
    if "read_notebook" not in names:
        return None
    return MemoryNotebook(record.start_cells, is_editable="add_cell" in names)


def _earlier(record: RunRecord) -> tuple[Message, ...]:
    """What had been said before the run's own prompt."""
    return record.messages[: record.earlier_messages]


def _asked_message(record: RunRecord) -> UserMessage | None:
    """The run's question as it was sent, with what was said of files and variables then."""
    own = record.messages[record.earlier_messages :]
    return next((message for message in own if isinstance(message, UserMessage)), None)


def _replies(record: RunRecord) -> tuple[Reply, ...]:
    own = record.messages[record.earlier_messages :]
    spoken = [message for message in own if isinstance(message, AssistantMessage)]
    return tuple(
        Reply(message, step.finish_reason, Usage(), step.model)
        for message, step in zip(spoken, record.steps, strict=False)
    )


def compare(recorded: RunRecord, replayed: RunRecord) -> tuple[Difference, ...]:
    """Where a replay's cells differ from the recorded ones.

    Memory addresses, execution counts and the bytes of pictures are not compared: they differ
    between two runs of the same code.
    """
    found: list[Difference] = []
    before, after = recorded.executions, replayed.executions
    for number, (old, new) in enumerate(zip(before, after, strict=False), start=1):
        found += _cell_differences(number, old, new)
    for number in range(len(after) + 1, len(before) + 1):
        source = before[number - 1].source
        found.append(Difference(number, "missing cell", _short(source), ""))
    for number in range(len(before) + 1, len(after) + 1):
        source = after[number - 1].source
        found.append(Difference(number, "extra cell", "", _short(source)))
    return tuple(found)


def _cell_differences(
    number: int, old: RecordedExecution, new: RecordedExecution
) -> list[Difference]:
    found = []
    statuses = [c.execution.status if c.execution is not None else "" for c in (old, new)]
    if statuses[0] != statuses[1]:
        found.append(Difference(number, "status", *statuses))
    texts = ["\n".join(_comparable(o) for o in c.outputs) for c in (old, new)]
    if texts[0] != texts[1]:
        found.append(Difference(number, "output", _short(texts[0]), _short(texts[1])))
    return found


def _comparable(output: Output) -> str:
    match output.kind:
        case "stream":
            text = output.text
        case "error":
            text = f"{output.ename}: {output.evalue}"
        case _:
            text = _bundle_text(output.data)
    return CELL_NAME.sub("In", ADDRESS.sub("0x…", text)).strip()


def _bundle_text(data: object) -> str:
    bundle = dict(data) if isinstance(data, dict) else {}
    kinds = ",".join(sorted(mime for mime in bundle if mime in PICTURES))
    return f"{bundle.get('text/plain', '')} {kinds}"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]} …"
