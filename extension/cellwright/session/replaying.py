"""Recorded runs, again: replayed with the recorded answers, or asked of another model.

A replay needs no model: the code the model wrote runs once more and its outputs are compared
with the recorded ones. Services, memory and library are not asked again: their results are the
recorded ones. A rerun starts from the same state and lets another model answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Set
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.agent.policy import LOADS, ApprovalAnswer, Approver
from cellwright.agent.typed_answers import typed_answers_in
from cellwright.assistants import NO_ASSISTANT, Assistant
from cellwright.context.turn_sources import TurnSource, tools_of
from cellwright.errors import LMError, RunCancelled, SetupError
from cellwright.kernels import CellRequest
from cellwright.knowledge.project.source import READ_SKILL
from cellwright.knowledge.project.source import SOURCE as PROJECT
from cellwright.llm.replay import RecordedLimitError, ReplayLM
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import Event, ToolStarted
from cellwright.record.messages import (
    AssistantMessage,
    Manifest,
    Message,
    Parameters,
    Reply,
    SystemMessage,
    ToolMessage,
    Usage,
    UserMessage,
)
from cellwright.record.outputs import Output
from cellwright.record.run_record import RecordedCall, RecordedExecution, RunRecord
from cellwright.record.values import from_dict, to_dict
from cellwright.session.composer import RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.services import (
    ModelChoice,
    ModelService,
    RequestWindow,
    choose_model,
)
from cellwright.settings import MODES, Limits, Settings, checked_mode
from cellwright.stopping import Stop
from cellwright.text.redaction import PLACEHOLDER
from cellwright.tools.live_registry import RESERVED_TOOLS
from cellwright.tools.live_tools import PastCall, RecordedTool, discovered, recorded_tool
from cellwright.tools.standard import standard_tools
from cellwright.tools.structured_output import HandIn

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
CELL_NAME = re.compile(r"(Cell In|Input In|In)\s*\[?\d*\]?|ipykernel_\d+|<ipython-input-[^>]*>")
SHOWN_CHARACTERS = 300
PATIENCE_SECONDS = 1e6
PICTURES = ("image/png", "image/jpeg", "image/svg+xml", "application/pdf")
OFFER = """\
__import__("cellwright.tools.live_registry", fromlist=["LIVE"]).offer_again(
    globals(), {tools!r}
)"""
RECORDED = "Not called again, their recorded results are used: {names}."
WITHOUT_SECRETS = (
    "Cells that ran before hold secrets, which no record has: what needs them fails or differs."
)
FROM_STATE = "From the state that the run began in: variables as they were, files as they are now."
NOT_OFFERED = "Tools of that run that are not here, so the model is not offered them: {names}."


@dataclass(frozen=True)
class Difference:
    """One place where a replay did not do what the record says."""

    cell_number: int
    """1 for the first time the run ran a cell; 0 for a call that ran none."""
    what: str
    """``status``, ``output``, ``missing cell``, ``extra cell``, or of a tool ``call of`` and
    ``arguments of``."""
    recorded: str
    replayed: str


def replay(
    record: RunRecord, place: RunContext, stop: Stop | None = None
) -> Generator[Event, None, None]:
    """Run a recorded run's code again with its recorded answers; no model is asked.

    Args:
        record: The run to replay.
        place: A kernel to run in, fresh for a true replay, and where the replay is recorded.

    Raises:
        SetupError: The record holds no answers.
    """
    if not _replies(record):
        raise SetupError(
            f"The run {record.run_id!r} has no recorded answers: it ended before the model said "
            "anything.",
            hint="Ask it again: rerun instead of replay.",
        )
    # Where nothing was refused nothing has to be asked.
    refused = any(call.status == "refused" for call in record.calls)
    mode = record.mode if refused and record.mode in MODES else "auto"
    question = _question(record, record.parameters, mode)
    if question.limits.soft_wait_seconds is not None:
        # What the model did while a cell ran is known, and how long a cell takes differs.
        limits = replace(question.limits, soft_wait_seconds=PATIENCE_SECONDS)
        question = replace(question, limits=limits)
    place = replace(place, approver=RecordedApprover(record))
    lm = ReplayLM(_replayed_replies(record), _ending(record))
    answering = ModelService(lm, record.parameters.model, is_free=True)
    return _again(record, place, question, answering, stop)


def _ending(record: RunRecord) -> LMError | RunCancelled | None:
    """How a replay ends that has come to where the recorded run broke off; None: it did not."""
    if record.status == "completed":
        return None
    if record.status == "cancelled":
        return RunCancelled("ended here, where the recorded run was stopped")
    if record.status == "running":
        return RunCancelled("ended here, where the record ends: that run was cut off")
    if record.status == "task limit reached":
        return RecordedLimitError(record.reason, record.cause)
    return LMError(f"The recorded run ended here too: {record.reason_line or record.status}")


def describe_ending(record: RunRecord) -> str:
    """What a person has to know of a replay of a run that did not complete; else empty."""
    if record.status == "completed":
        return ""
    how = {"cancelled": "was stopped", "running": "was cut off"}.get(record.status)
    how = how or f"ended with {record.status!r}"
    cells = " The cell that was running then is not run again." if _broken_off_calls(record) else ""
    return f"The recorded run {how}, and its replay ends at the same place.{cells}"


def _broken_off_calls(record: RunRecord) -> frozenset[str]:
    """Calls that were running, or about to, when somebody stopped the run or it was cut off."""
    if record.status not in ("cancelled", "running"):
        return frozenset()
    ended = {call.call_id for call in record.calls if call.status in ("ok", "error", "refused")}
    named = {call.id for reply in _replies(record) for call in reply.message.tool_calls}
    return frozenset(named - ended)


def _replayed_replies(record: RunRecord) -> tuple[Reply, ...]:
    """The replies, without calls that were broken off: such a cell might never end by itself."""
    broken_off = _broken_off_calls(record)
    replies = []
    for reply in _replies(record):
        calls = tuple(call for call in reply.message.tool_calls if call.id not in broken_off)
        if calls == reply.message.tool_calls:
            replies.append(reply)
        elif calls:
            replies.append(replace(reply, message=replace(reply.message, tool_calls=calls)))
    return tuple(replies)


class RecordedApprover(Approver):
    """Answers as the person did: what they refused is not run by a replay.

    Args:
        record: The run with their answers.
    """

    def __init__(self, record: RunRecord) -> None:
        self._refused = {call.call_id for call in record.calls if call.status == "refused"}
        self._allowed = {
            call.call_id for call in record.calls if call.decision.startswith("allowed by person")
        }

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call ran."""
        if call.call_id in self._refused:
            return ApprovalAnswer(False, "record", "It was refused in the recorded run.")
        if LOADS in reason and call.call_id not in self._allowed:
            return ApprovalAnswer(False, "record", "Nobody was asked about it in the recorded run.")
        return ApprovalAnswer(True, "record")


def choose_other(record: RunRecord, wanted: str, settings: Settings, folder: Path) -> ModelChoice:
    """The model that is asked again.

    Args:
        record: The run.
        wanted: What was asked for: a name, ``auto``, or nothing for the model of the run.
        settings: Which models there are for what.
        folder: Where its files are.

    Raises:
        SetupError: No model could take so much.
    """
    asked = _asked_message(record)
    messages = _earlier(record) if asked is None else (*_earlier(record), asked)
    files = [str(folder / name) for name in record.files]
    window = RequestWindow.of(record.prompt if asked is None else "", files, messages)
    return choose_model(wanted or record.parameters.model, settings, window)


def rerun(
    record: RunRecord,
    place: RunContext,
    other: ModelService,
    stop: Stop | None = None,
    choice: ModelChoice | None = None,
) -> Generator[Event, None, None]:
    """Ask another model the same question from the same start; what chose it is said."""
    parameters = replace(record.parameters, model=other.model)
    question = _question(record, parameters, record.mode)
    if choice is not None:
        question = replace(question, notice=choice.notice, notice_action=choice.action)
    return _again(record, place, question, other, stop)


def _again(
    record: RunRecord,
    place: RunContext,
    question: RunRequest,
    service: ModelService,
    stop: Stop | None,
) -> Generator[Event, None, None]:
    stop = stop or Stop()
    place = replace(place, notebook=place.notebook or _notebook(record))
    if _is_there(record, place):
        question = replace(question, notice=f"{question.notice} {FROM_STATE}".strip())
    else:
        _prepare(record, place, stop)
    if isinstance(service.lm, ReplayLM):
        place = replace(place, sources=(), blocks=None)  # nothing is called that is not a cell
        gone = _offer_again(record, place, stop, _without_cells(record))
        spare = tuple(_past_tool(record, manifest) for manifest in gone)
        answered = {tool.name for tool in spare if not tool.has_cells}
        question = replace(question, tools=spare, notice=_notice(RECORDED, answered))
    else:
        place = replace(place, sources=_without_new_skills(record, place))
        added = _names_from(place)
        gone = _offer_again(record, place, stop, added)
        missing = {manifest.name for manifest in gone} - added
        notice = f"{question.notice} {_notice(NOT_OFFERED, missing)}".strip()
        question = replace(question, notice=notice)
    ran_again = () if _is_there(record, place) else record.start_executed
    if any(PLACEHOLDER.search(source) for source in ran_again):
        notice = f"{question.notice} {WITHOUT_SECRETS}".strip()
        question = replace(question, notice=notice)
    conversation = Conversation(place)
    conversation.resume(_earlier(record), record.start_executed)
    settings = Settings(prices=place.prices)
    environment = RunEnvironment(lambda _: service, lambda _: nullcontext(conversation), settings)
    yield from start_run(question, environment, stop)


def _question(record: RunRecord, parameters: Parameters, mode: str) -> RunRequest:
    names = {manifest.name for manifest in record.tools}
    return RunRequest(
        prompt=record.prompt,
        parameters=parameters,
        files=tuple(record.files),
        mode=checked_mode(mode, "mode"),
        limits=from_dict(Limits, record.limits),
        source_run=record.run_id,
        message=_asked_message(record),
        cell_ids=tuple(cell.cell.id for cell in record.cells if cell.origin == "agent"),
        adapter=record.adapter or "native",
        given=record.given,
        text_filters=record.text_filters,
        assistant=_assistant(record),
        typed=typed_answers_in(record.prompt) if HandIn.name in names else None,
    )


def _is_there(record: RunRecord, place: RunContext) -> bool:
    """Whether the kernel holds the very state that the run began in: a copy of its snapshot."""
    return bool(getattr(place.kernel, "state_before", "") == record.run_id)


def _prepare(record: RunRecord, place: RunContext, stop: Stop) -> None:
    """Bring the kernel to the state the run started from: its cells, run again in order."""
    for number, source in enumerate(record.start_executed, start=1):
        request = CellRequest(f"setup-{number}", source)
        for _ in place.kernel.execute(request, stop, lambda output: output):
            pass


def _without_cells(record: RunRecord) -> frozenset[str]:
    """Names of tools that worked and ran no cell: those of services, of memory, of the library."""
    ran = {execution.call_id for execution in record.executions}
    worked = [call for call in record.calls if call.status in ("ok", "error")]
    with_cells = {call.name for call in worked if call.call_id in ran}
    return frozenset(call.name for call in worked) - with_cells


def _without_new_skills(record: RunRecord, place: RunContext) -> tuple[TurnSource, ...]:
    """The place's sources, without the project's where the run had no skills to read."""
    if any(manifest.name == READ_SKILL for manifest in record.tools):
        return place.sources
    return tuple(source for source in place.sources if source.name != PROJECT)


def _names_from(place: RunContext) -> frozenset[str]:
    """Names of the tools that the place's sources bring."""
    sources = tools_of(place.sources, is_guest=place.is_guest)
    tools = [tool for source in sources for tool in source.components]
    return frozenset(manifest.name for tool in tools for manifest in tool.tool_manifests())


def _offer_again(
    record: RunRecord, place: RunContext, stop: Stop, elsewhere: frozenset[str]
) -> tuple[Manifest, ...]:
    """Offer the person's tools again, those that are functions here; the ones that are not.

    Cells with ``@agent_tool`` have offered theirs by now; a magic's line has not been run again.

    Args:
        record: The run.
        place: Where it is done again.
        stop: Ends it.
        elsewhere: Names of tools that are no functions of the kernel.
    """
    own = {*RESERVED_TOOLS, HandIn.name, *(tool.name for tool in standard_tools(place.notebook))}
    live = {manifest.name: manifest for manifest in record.tools if manifest.name not in own}
    known = _here(place) | elsewhere
    missing = {name: manifest.description for name, manifest in live.items() if name not in known}
    if missing:
        request = CellRequest("setup-tools", OFFER.format(tools=missing))
        for _ in place.kernel.execute(request, stop, lambda output: output):
            pass
    here = _here(place)
    return tuple(manifest for name, manifest in live.items() if name not in here)


def _here(place: RunContext) -> frozenset[str]:
    return frozenset(row.name for row in discovered(place.kernel).rows)


def _past_tool(record: RunRecord, manifest: Manifest) -> RecordedTool:
    """The tool as the record knows it."""
    cells = {ran.call_id: ran.source for ran in record.executions if ran.call_id}
    told = {said.call_id: said for said in record.messages if isinstance(said, ToolMessage)}
    last = _last_call(record)
    calls = {
        call.call_id: PastCall(
            cells.get(call.call_id, ""),
            said.parts,
            said.is_error,
            was_refused=call.status == "refused",
            was_last=call is last,
            contents=call.contents,
        )
        for call in record.calls
        if call.name == manifest.name and (said := told.get(call.call_id)) is not None
    }
    return recorded_tool(manifest, calls)


def _last_call(record: RunRecord) -> RecordedCall | None:
    """The call that ended the run; None: the model said the last word, or it broke off."""
    if record.status != "completed" or not isinstance(record.messages[-1], ToolMessage):
        return None
    return next((call for call in reversed(record.calls) if call.status == "ok"), None)


def _notice(words: str, names: Set[str]) -> str:
    return words.format(names=", ".join(sorted(names))) if names else ""


def _notebook(record: RunRecord) -> MemoryNotebook | None:
    """The notebook the run started from, as far as its tools could reach it."""
    names = {manifest.name for manifest in record.tools}
    if "read_notebook" not in names:
        return None
    return MemoryNotebook(record.start_cells, is_editable="add_cell" in names)


def _earlier(record: RunRecord) -> tuple[Message, ...]:
    """What had been said before the run's own prompt; the system message as it was then."""
    head = record.messages[:1]
    first = isinstance(head[0], SystemMessage) if head else False
    return record.messages[: max(record.earlier_messages, int(first))]


def _assistant(record: RunRecord) -> Assistant:
    """Who answered, with the tools they had; what they were told is in the system message."""
    if not record.assistant:
        return NO_ASSISTANT
    return Assistant(record.assistant, tools=tuple(manifest.name for manifest in record.tools))


def _asked_message(record: RunRecord) -> UserMessage | None:
    """The run's question as it was sent, with what was said of files and variables then."""
    own = record.messages[record.earlier_messages :]
    return next((message for message in own if isinstance(message, UserMessage)), None)


def _replies(record: RunRecord) -> tuple[Reply, ...]:
    own = record.messages[record.earlier_messages :]
    spoken = [message for message in own if isinstance(message, AssistantMessage)]
    replies = [
        Reply(message, step.finish_reason, Usage(), step.model)
        for message, step in zip(spoken, record.steps, strict=False)
    ]
    if replies and record.cause == "truncated":
        # It was not gone on with, and is not now. Older records say of it that it was unreadable.
        limit = record.steps[len(replies) - 1].usage.completion_tokens
        replies[-1] = replace(replies[-1], limit_tokens=limit, truncated=True)
    return tuple(replies)


def compare(recorded: RunRecord, replayed: RunRecord) -> tuple[Difference, ...]:
    """Where a replay's cells differ from the recorded ones.

    Memory addresses, execution counts and the bytes of pictures are not compared: they differ
    between two runs of the same code.
    """
    found = _call_differences(recorded, replayed)
    broken_off = _broken_off_calls(recorded)
    before = [cell for cell in recorded.executions if cell.call_id not in broken_off]
    after = replayed.executions
    for number, (old, new) in enumerate(zip(before, after, strict=False), start=1):
        found += _cell_differences(number, old, new)
    for number in range(len(after) + 1, len(before) + 1):
        source = before[number - 1].source
        found.append(Difference(number, "missing cell", _short(source), ""))
    for number in range(len(before) + 1, len(after) + 1):
        source = after[number - 1].source
        found.append(Difference(number, "extra cell", "", _short(source)))
    return tuple(found)


def _call_differences(recorded: RunRecord, replayed: RunRecord) -> list[Difference]:
    """Calls with other arguments, and those that ended in another way.

    How a cell ended is compared with the cells.
    """
    ran = {cell.call_id for run in (recorded, replayed) for cell in run.executions}
    after = {call.call_id: call for call in replayed.calls}
    found: list[Difference] = []
    for call in recorded.calls:
        new = after.get(call.call_id, call)
        if call.call_id not in ran and new.status != call.status:
            found.append(Difference(0, f"call of {call.name}", call.status, new.status))
        before, now = _arguments(call), _arguments(new)
        if before != now:
            found.append(Difference(0, f"arguments of {call.name}", _short(before), _short(now)))
    return found


def _arguments(call: RecordedCall) -> str:
    return json.dumps(to_dict(call.arguments), sort_keys=True, ensure_ascii=False, default=str)


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
