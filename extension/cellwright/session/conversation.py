"""A conversation in one kernel: questions in, events out, the history kept between them."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cellwright._version import __version__
from cellwright.agent import loop as agent
from cellwright.agent.loop import History
from cellwright.agent.policy import Policy
from cellwright.agent.publishing import Publisher
from cellwright.agent.tool_calls import CallerParts, ToolCaller
from cellwright.agent.typed_answers import offered
from cellwright.assistants.scenes import imported_names
from cellwright.context.assemble import (
    Marks,
    Quoted,
    TurnState,
    cell_changes,
    is_own_error,
    marks_of,
    mentioned_names,
    outline,
    seen_before,
    user_message,
    without_own_magics,
)
from cellwright.context.blocks import MemoryBlocks, block_of
from cellwright.context.normalise import known_filters, normalise, orphans
from cellwright.context.pins import PinnedTurn
from cellwright.context.roles import shown_notes
from cellwright.context.turn_sources import (
    RetrievalResult,
    SourceQuestion,
    looked_up,
    notices_of,
    tools_of,
)
from cellwright.context.turns import opening_of, openings, total_tokens
from cellwright.context.window import TINY_WINDOW_TOKENS, Window, is_small, summary_of
from cellwright.errors import KernelError, RunCancelled, ToolError
from cellwright.kernels import Kernel
from cellwright.llm import LM, Capabilities
from cellwright.llm.adapters.chain import AdapterChain, RecordedAdapter
from cellwright.llm.budget import RunBudget
from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.llm.replay import ReplayLM
from cellwright.notebooks import Notebook
from cellwright.record.attachments import Attachment, attach, pictures_of
from cellwright.record.events import (
    Event,
    HistoryCompacted,
    Notice,
    RunFinished,
    RunStarted,
    StateCaptured,
)
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    Parameters,
    Prompt,
    SystemMessage,
    price_for,
    text_of,
)
from cellwright.record.outputs import Cell, VariableSummary
from cellwright.record.run_record import RunRecord
from cellwright.session.compacting import Compaction
from cellwright.session.questions import RunContext, RunRequest, usable
from cellwright.session.system_prompt import Instructions, system_message, with_instructions
from cellwright.settings import Mode
from cellwright.stopping import Stop
from cellwright.text.truncation import estimate_tokens, shorten
from cellwright.tools import Shelf, ToolContext, ToolLimits
from cellwright.tools.evaluation import settable_values
from cellwright.tools.registry import SPARE_IN_TINY, SPARE_TOOLS, Registry, brief_tools
from cellwright.tools.standard import ToolOffer

# What a tool is told of the run it works in (requirements 000-12 to 000-14).


def with_run_facts(context: ToolContext, question: RunRequest, folder: Path) -> ToolContext:
    """The context with what the person gave and set, and with the settings of the model.

    Args:
        context: What the run itself hands to tools.
        question: What is asked.
        folder: Where the named files are looked for.

    Raises:
        SetupError: The person set what only the system sets.
    """
    settable = settable_values(question.given)
    names = question.file_names or question.files
    paths = [str(folder / Path(path).expanduser()) for path in question.files]
    named = dict(zip(names, paths, strict=False))
    return replace(
        context,
        prompt=question.prompt,
        instructions=settable.instructions or question.assistant.instructions,
        files={**named, **settable.files},
        variables=settable.variables,
        model_configs=model_configs(question.parameters, question.base_url),
    )


def ended_early(error: BaseException) -> RunFinished:
    """The end of a run that stopped or failed before the model was asked."""
    if isinstance(error, Exception):
        reason = f"cellwright failed: {error!r}"
        return RunFinished("task error", reason=reason, cause="internal")
    return RunFinished("cancelled", reason="Run stopped by the user.", cause="stopped")


def ids_for_cells(given: tuple[str, ...]) -> Iterator[str]:
    """Ids for new cells: those that are given, then others."""
    yield from given
    while True:
        yield uuid.uuid4().hex[:8]


def last_answer(messages: Sequence[Message]) -> str:
    """What the model said last in words; empty: nothing."""
    said = (m.text for m in reversed(messages) if isinstance(m, AssistantMessage))
    return next(filter(str.strip, said), "")


def results_left_out(messages: Sequence[Message], known: set[str]) -> tuple[Notice, ...]:
    """What the person is told of results whose calls are not there: once of each (002-53).

    Args:
        messages: What was said.
        known: Those that were told of; added to.
    """
    lost = [call_id for call_id in orphans(messages) if call_id not in known]
    known.update(lost)
    if not lost:
        return ()
    names = ", ".join(lost)
    text = f"Results of tools whose calls are gone are left out for the model: {names}."
    return (Notice("warning", text, code="results_left_out"),)


def filters_left_out(question: RunRequest) -> tuple[Notice, ...]:
    """What the person is told of text filters that were chosen and are not here (002-47)."""
    known = {item.name for item in known_filters(question.text_filters)}
    unknown = [repr(name) for name in question.text_filters or () if name not in known]
    if not unknown:
        return ()
    text = f"There is no text filter {', '.join(unknown)} in this version; it is left out."
    return (Notice("warning", text, code="text_filter_left_out"),)


def limits_of(question: RunRequest) -> ToolLimits:
    """How much one call may take."""
    limits = question.limits
    return ToolLimits(limits.cell_timeout_seconds, soft_wait_seconds=limits.soft_wait_seconds)


def model_configs(parameters: Parameters, base_url: str = "") -> dict[str, Any]:
    """Settings of the model that runs, by their usual names; what is not set is left out.

    There is no key among them: a tool that asks a model brings its own.
    """
    settings = {
        "model": parameters.model,
        "base_url": base_url,
        "temperature": parameters.temperature,
        "max_tokens": parameters.max_output_tokens,
    }
    known = {name: value for name, value in settings.items() if value not in (None, "")}
    return {**parameters.extra, **known}


def said_so_far(
    messages: Sequence[Message], text_filters: Sequence[str] | None = None
) -> tuple[Message, ...]:
    """What was said before the reply whose calls are being made, without our instructions.

    Args:
        messages: What was said.
        text_filters: Names of those that the run's requests have; None: the standard ones.
    """
    said = list(messages)
    if said and isinstance(said[-1], AssistantMessage):
        said.pop()
    ours = (message for message in said if not isinstance(message, SystemMessage))
    return normalise(ours, text_filters=text_filters)


# What a conversation keeps of its earlier turns: those in the window, a summary, and blocks.


LABEL = "earlier in this chat, run "
RECALLED_TOKENS = 4_000
"""What turns of long ago may take beside a question, all together."""
RECALLED_SHARE = 0.15
"""They have at most so much of a small window."""
MADE_ROOM = "The conversation had grown long: its older turns are summed up for the model now."
BROUGHT_BACK = "Pinned words that had been left out are in the conversation again."
HOW_TO_READ = "%agent context summary shows what stands for them."


class EarlierTurns:
    """The earlier turns of one conversation.

    A question that is asked as it was once sent is left as it is.

    Args:
        history: What was said; made shorter here, in rare big steps.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._own_shelf = MemoryBlocks()
        self._opening = ""
        self._recalled_tokens = RECALLED_TOKENS
        self.pinned: tuple[PinnedTurn, ...] = ()
        """Turns whose words stay, in the order of the chat."""

    @property
    def counted_per_estimated(self) -> float:
        """How many tokens the service counts for one that is estimated here."""
        return self._history.counted_per_estimated

    def window(
        self, question: RunRequest, able: Capabilities, tools: Sequence[Manifest]
    ) -> Window | None:
        """How much of the conversation a model is sent beside these tools; None: all of it."""
        if question.message is not None:
            return None
        window = Window.of(
            able.context_tokens,
            other_tokens=estimated_prompt_tokens(Prompt((), tuple(tools), Parameters(""))),
            counted_per_estimated=self.counted_per_estimated,
        )
        return replace(window, pinned=self.pinned)

    def make_room(
        self, question: RunRequest, able: Capabilities, tools: Sequence[Manifest]
    ) -> tuple[Event, ...]:
        """Leave out older turns where a question would not fit any more; what is told of it.

        A pinned turn that had been left out comes back.
        """
        messages = self._history.messages
        self._history.asked = 0
        window = self.window(question, able, tools)
        if window is not None:
            share = int(window.limit_tokens * RECALLED_SHARE)
            self._recalled_tokens = min(RECALLED_TOKENS, share)
        quoted = sum(estimate_tokens(item.text) for item in question.context)
        asked = estimate_tokens(question.prompt) + quoted
        before = total_tokens(messages)
        fitted = window.before_a_run(messages, asked) if window is not None else None
        if fitted is None:
            return ()
        if not fitted.brought_back and total_tokens(fitted.messages) >= before:
            return ()
        messages[:] = fitted.messages
        # The record of the run begins with these, so its first request adds the question alone.
        self._history.asked = len(messages)
        factor, after = self.counted_per_estimated, total_tokens(messages)
        told = HistoryCompacted(
            fitted.messages, int(before * factor), int(after * factor), fitted.summary
        )
        if fitted.brought_back and not fitted.turns_left_out:
            return told, Notice("info", BROUGHT_BACK, code="pinned_back")
        return told, Notice("info", MADE_ROOM, HOW_TO_READ, "summed_up")

    def found(
        self, place: RunContext, chat_id: str, question: RunRequest, last_error: str
    ) -> RetrievalResult:
        """Turns that are like a question and no longer in the window, oldest first."""
        messages = self._history.messages
        if question.message is not None or not summary_of(messages).turns:
            return RetrievalResult()
        error = last_error.strip().rpartition("\n")[2]
        query = place.redactor.text(f"{question.prompt}\n{error}")
        shelf = place.blocks or self._own_shelf
        there = openings(messages) | {turn.opening for turn in self.pinned}
        recalled = shelf.find(chat_id, query, there)
        shown = "\n".join(text_of(message) for message in messages)
        new = [block for block in recalled.blocks if f"{LABEL}{block.run_id}" not in shown]
        room = self._recalled_tokens // max(1, len(new))
        blocks = (Quoted(f"{LABEL}{b.run_id}", shorten(b.text, room, "").text) for b in new)
        return RetrievalResult(tuple(blocks), problems=tuple(filter(None, (recalled.problem,))))

    def begins(self, question: Message) -> None:
        """Note the question that a run answers."""
        self._opening = opening_of(question)

    def keep(self, place: RunContext, chat_id: str, record: RunRecord) -> None:
        """Keep a run so that it can be found again."""
        block = block_of(record, self._opening)
        if block is not None:
            (place.blocks or self._own_shelf).keep(chat_id, block)


# What a kernel and its notebook are like when a turn begins, as far as it changed.


LAGGING_LANES = ("magic",)
KERNEL_ENDS = ("kernel_died", "kernel_restarted")
READ_ONLY = (
    "mode: plan. You may only look: no code runs and nothing changes. Find out what you need with "
    "the tools that read, then say step by step what you would do."
)
NO_LONGER_READ_ONLY = "mode: no longer plan. You may act."


class TurnWatch:
    """Remembers what the model was told last, and finds what is new since then."""

    def __init__(self) -> None:
        self._known: dict[str, VariableSummary] = {}
        self._executed_seen = 0
        self._is_resumed = False
        self._kernel_session = ""
        self._mode: Mode = "ask"
        self._log: list[str] = []
        self._packages: Mapping[str, str] | None = None
        self._cells: Marks | None = None

    def resume(self, executed: tuple[str, ...], kernel_session: str) -> None:
        """Go on after these cells; see ``Conversation.resume``."""
        self._log[:] = executed
        self._kernel_session, self._is_resumed = kernel_session, True
        self.tell_all()

    def tell_all(self) -> None:
        """Let the next turn tell everything: what was told is not in the history any more."""
        self._known, self._cells = {}, None

    def look(self, place: RunContext, folder: str, mode: Mode, *, is_first: bool) -> TurnState:
        """What changed since the last turn.

        Args:
            place: Whose variables and cells are looked at.
            folder: The kernel's.
            mode: In which the question is asked.
            is_first: The model was told nothing yet.
        """
        kernel = place.kernel
        is_new = self._is_new_kernel(kernel)
        now = variables_of(kernel)
        changed = tuple(v for name, v in now.items() if self._known.get(name) != v)
        removed = tuple(name for name in self._known if name not in now)
        executed: list[str] = _probe(kernel, "executed_cells", {}) or []
        seen = seen_before(executed, self._log) if self._is_resumed else self._executed_seen
        new = without_own_magics(executed[seen:])
        self._executed_seen, self._is_resumed = len(executed), False
        self._log.extend(new)
        self._known = now
        cells = place.notebook.cells() if place.notebook is not None else ()
        known, self._cells = self._cells, marks_of(cells)
        # What a file says lags behind the page, so it tells nothing of what a person just did.
        is_live = place.lane not in LAGGING_LANES and known is not None
        return TurnState(
            changed,
            removed,
            tuple(new),
            _last_error(kernel),
            folder if is_first or is_new else "",
            is_new,
            self._mode_line(mode),
            outline(cells) if known is None else (),
            cell_changes(known or {}, cells, new) if is_live else (),
        )

    @property
    def types(self) -> tuple[str, ...]:
        """Of the kernel's variables, each once."""
        return tuple(dict.fromkeys(variable.type for variable in self._known.values()))

    @property
    def executed(self) -> tuple[str, ...]:
        """Every cell that ran in the kernel, as far as it is known."""
        return tuple(self._log)

    def mentioned(self, kernel: Kernel, names: tuple[str, ...]) -> tuple[VariableSummary, ...]:
        """Those of the names that are variables, each in a few lines."""
        found = []
        for name in dict.fromkeys(names):
            text = _probe(kernel, "inspect_variable", {"name": name})
            if text:
                kind = self._known[name].type if name in self._known else ""
                found.append(VariableSummary(name, kind, str(text)))
        return tuple(found)

    def captured(
        self,
        kernel: Kernel,
        notebook: Notebook | None,
        attachments: tuple[Attachment, ...],
        folder: str,
    ) -> StateCaptured:
        """The state that a run starts from, for its record."""
        if self._packages is None:
            self._packages = _probe(kernel, "packages", {}) or {}
        cells: tuple[Cell, ...] = notebook.cells() if notebook is not None else ()
        return StateCaptured(
            cells=cells,
            executed=tuple(self._log),
            packages=self._packages,
            files={item.name: item.sha256 for item in attachments},
            cwd=folder,
            kernel={**asdict(kernel.describe()), "session": kernel.session},
            notebook_path=notebook.path if notebook is not None else "",
        )

    def after(self, record: RunRecord, place: RunContext) -> None:
        """Keep what a run did, so that the next turn starts from there."""
        self._log.extend(execution.source for execution in record.executions)
        if place.notebook is not None:
            self._cells = marks_of(place.notebook.cells())
        # A kernel that was started during the run had no name when the turn began.
        self._kernel_session = self._kernel_session or place.kernel.session
        if record.status == "cancelled" or record.cause in KERNEL_ENDS:
            return  # whoever pressed Stop does not wait for a kernel that may still be busy
        self._known = variables_of(place.kernel)

    def _is_new_kernel(self, kernel: Kernel) -> bool:
        """Whether the kernel is another one than in the last turn; then forget what it held."""
        session = kernel.session
        before, self._kernel_session = self._kernel_session, session
        if not before or before == session:
            return False
        self._known, self._executed_seen, self._packages = {}, 0, None
        self._log.clear()
        return True

    def _mode_line(self, mode: Mode) -> str:
        before, self._mode = self._mode, mode
        if mode == "plan":
            return READ_ONLY if before != "plan" else ""
        return NO_LONGER_READ_ONLY if before == "plan" else ""


def variables_of(kernel: Kernel, **limits: int) -> dict[str, VariableSummary]:
    """The kernel's variables by name."""
    listed = _probe(kernel, "list_variables", limits) or []
    return {item["name"]: VariableSummary(**item) for item in listed}


def _last_error(kernel: Kernel) -> str:
    found = _probe(kernel, "last_error", {})
    text = str(found.get("text", "")) if isinstance(found, dict) else ""
    return "" if is_own_error(text) else text


def _probe(kernel: Kernel, function: str, arguments: Mapping[str, Any]) -> Any:
    # What the kernel can tell of itself helps; where it cannot, the run goes on without.
    with contextlib.suppress(ToolError, KernelError):
        return kernel.probe(function, arguments)
    return None


VARIABLE_LIMIT = 100_000


@dataclass(frozen=True)
class _Opened:
    """A run that has begun, before the model is asked."""

    question: RunRequest
    publisher: Publisher
    attachments: tuple[Attachment, ...]
    state: TurnState
    events: tuple[Event, ...]


class Conversation:
    """Questions and answers over one kernel.

    Args:
        place: Where it happens.
    """

    def __init__(self, place: RunContext) -> None:
        self._place = place
        self._history = agent.History()
        self._shelf = Shelf()
        self._watch = TurnWatch()
        self.trusted: set[str] = set()
        """Tools that the person allowed for as long as they work here."""
        self._tools = ToolOffer()
        self._offered = Registry(())
        self.able = Capabilities()
        """What the model that was asked last can take."""
        self._earlier = EarlierTurns(self._history)
        self.notes: list[Message] = []
        """What stands before the next question; nobody answers it on its own."""
        self._adapters: dict[tuple[str, str], AdapterChain] = {}
        self._left_out: set[str] = set()
        self.last_run_id = ""
        self._first_run_id = ""
        self._folder = Path()

    @property
    def place(self) -> RunContext:
        """Where it happens."""
        return self._place

    def move(self, place: RunContext) -> None:
        """Go on elsewhere with all that was said; the model is told when the kernel is another."""
        self._place = place

    @property
    def messages(self) -> tuple[Message, ...]:
        """What has been said so far, the system message first."""
        return tuple(self._history.messages)

    def resume(
        self,
        messages: tuple[Message, ...],
        executed: tuple[str, ...] = (),
        kernel_session: str = "",
    ) -> None:
        """Go on after these messages and cells, as if they had been said and run here.

        Args:
            messages: What was said, the system message first.
            executed: The cells that ran.
            kernel_session: ``RunRecord.kernel["session"]`` of the last run; empty: the cells ran
                in the kernel that is here now.
        """
        self._history.messages[:] = messages
        self._watch.resume(executed, kernel_session)

    @property
    def chat_id(self) -> str:
        """The chat, or the first run of a conversation that has none; empty: nothing was asked."""
        return self._place.chat_id or self._first_run_id

    @property
    def earlier(self) -> EarlierTurns:
        """What is kept of its earlier turns."""
        return self._earlier

    @property
    def tools(self) -> Registry:
        """What the model was offered last."""
        return self._offered

    def take(self, changed: Compaction) -> None:
        """Go on with a history that was changed between two questions; it is recorded here."""
        self._begin().publish(*changed.events)
        self._history.messages[:] = changed.messages
        self._watch.tell_all()

    def ask(self, question: RunRequest, lm: LM, stop: Stop | None = None) -> Iterator[Event]:
        """Answer a question; what is yielded has been recorded before.

        Raises:
            SetupError: A named file cannot be read, or a name is set that is the system's own;
                nothing was recorded then.
            KernelError: The kernel does not answer.
        """
        stop = stop or Stop()
        try:
            self._place.kernel.wait_until_free(stop)
        except RunCancelled as error:
            continues, publisher = self.last_run_id, self._begin()
            yield from publisher.publish(self._started(question, (), continues), ended_early(error))
            return
        opened = self._open(question, lm)
        try:
            yield from opened.events
            parts = yield from self._prepare(opened, lm, stop)
        except BaseException as error:
            # Stopped, abandoned or failed before the loop began: the record gets its end.
            ended = opened.publisher.publish(ended_early(error))
            if not isinstance(error, (KeyboardInterrupt, RunCancelled)):
                raise
            yield from ended
            return
        try:
            yield from agent.run(parts, self._history)
        finally:
            self._after_run()

    def _open(self, question: RunRequest, lm: LM) -> _Opened:
        """Begin the run: look at what there is and record it.

        Raises:
            SetupError: Something that the question names cannot be used; nothing was recorded.
        """
        kernel = self._place.kernel
        folder = kernel.describe().cwd
        self._folder = Path(folder)
        attachments = attach(question.files, self._folder)
        question = self._with_inputs(usable(question))
        continues, publisher = self.last_run_id, self._begin(question)
        self.able = able = lm.capabilities(question.parameters.model)
        made_room = self._earlier.make_room(question, able, self._offered.manifests)
        if made_room:
            self._watch.tell_all()
        is_first = bool(made_room) or not self._history.messages
        state = self._watch.look(self._place, folder, question.mode, is_first=is_first)
        events = publisher.publish(
            replace(self._started(question, attachments, continues), notes=shown_notes(self.notes)),
            self._watch.captured(kernel, self._place.notebook, attachments, folder),
            *made_room,
        )
        return _Opened(question, publisher, attachments, state, events)

    def _prepare(
        self, opened: _Opened, lm: LM, stop: Stop
    ) -> Generator[Event, None, agent.AgentParts]:
        """Put the question to what was said before, with all that is looked up for it."""
        question, publisher, place = opened.question, opened.publisher, self._place
        if question.notice:
            told = Notice("info", question.notice, question.notice_action, "service")
            yield from publisher.publish(told)
        given = (question.files, self._folder, question.file_names)
        sees = lm.capabilities(question.parameters.model).vision
        pictures = pictures_of(*given) if sees else ()
        found = self._looked_up(question, opened.state, stop)
        last_error = opened.state.last_error
        recalled = self._earlier.found(place, self.chat_id, question, last_error)
        lost = results_left_out(self._history.messages, self._left_out)
        lost += filters_left_out(question)
        notices = (*lost, *notices_of(found), *notices_of(recalled))
        if notices:
            yield from publisher.publish(*notices)
        beside = (*question.context, *found.blocks, *recalled.blocks)
        question = replace(question, context=beside)
        self._append_question(question, opened.attachments, opened.state, pictures)
        added = tools_of(place.sources, is_guest=place.is_guest)
        for left_out in self._tools.renew(place.kernel, place.notebook, added):
            yield from publisher.publish(Notice("warning", left_out, code="tool_left_out"))
        parts = self._parts(question, lm, publisher, stop)
        parts.budget.add_of_tools(spent for notice in notices for spent in notice.usage)
        return parts

    def _begin(self, question: RunRequest | None = None) -> Publisher:
        """Where the events of a new run go; before one that may act, the state is kept."""
        place = self._place
        journal = place.store.start()
        if place.keep_state is not None and question is not None and question.mode != "plan":
            place.keep_state(journal.run_id, question.prompt, 0)
        self.last_run_id = journal.run_id
        self._first_run_id = self._first_run_id or journal.run_id
        return Publisher(journal, place.redactor, place.notebook, place.listener)

    def _started(
        self, question: RunRequest, attachments: tuple[Attachment, ...], continues: str
    ) -> RunStarted:
        return RunStarted(
            prompt=question.prompt,
            lane=self._place.lane,
            mode=question.mode,
            parameters=question.parameters,
            base_url=question.base_url,
            files=tuple(item.name for item in attachments),
            limits=asdict(question.limits),
            source_run=question.source_run,
            continues=continues,
            earlier_messages=len(self._history.messages),
            version=__version__,
            adapter=self._adapter(question).name,
            assistant=question.assistant.name,
            file_names=question.file_names,
            given=question.given,
            text_filters=question.text_filters,
            branch=question.branch,
        )

    def _looked_up(self, question: RunRequest, state: TurnState, stop: Stop) -> RetrievalResult:
        """What the place's sources have; nothing for a question that is asked as it was sent."""
        turn = SourceQuestion(
            prompt=self._place.redactor.text(question.prompt),
            chat_id=self.chat_id,
            run_id=self.last_run_id,
            user_id=self._place.user_id,
            is_guest=self._place.is_guest,
            assistant=question.assistant,
            folder=str(self._folder),
            last_error=state.last_error,
            variables=tuple(variable.name for variable in state.variables),
            types=self._watch.types,
            imports=imported_names(self._watch.executed) if question.assistant.scenes else (),
            last_answer=last_answer(self._history.messages),
            stop=stop,
            said=lambda: "\n".join(map(text_of, self._history.messages)),
        )
        return looked_up(self._place.sources, turn, adds_nothing=question.message is not None)

    def _append_question(
        self,
        question: RunRequest,
        attachments: tuple[Attachment, ...],
        state: TurnState,
        pictures: tuple[ImagePart, ...],
    ) -> None:
        messages = self._history.messages
        if not messages:
            messages.append(system_message(self._place.kernel.describe().language))
        message = question.message
        if message is None:
            messages[0] = self._head(messages[0], question)
            said = mentioned_names(question.prompt) if question.reads_mentions else ()
            names = (*said, *question.variables)
            mentioned = self._watch.mentioned(self._place.kernel, names)
            state = replace(state, sent_at=question.sent_at)
            message = user_message(question.prompt, attachments, mentioned, state, question.context)
            shown = question.typed.examples if question.typed is not None else question.demos.before
            examples = shown(messages)
            message = replace(message, parts=(*examples, *message.parts, *pictures))
            messages += self._place.redactor.value(tuple(self.notes))
            self.notes.clear()
        message = self._place.redactor.value(message)
        self._earlier.begins(message)
        messages.append(message)

    def _head(self, head: Message, question: RunRequest) -> Message:
        """The system message as this question wants it."""
        clean, assistant = self._place.redactor.text, question.assistant
        instructions = Instructions(
            clean(assistant.instructions),
            clean(question.chat_prompt),
            chat_adds=question.chat_prompt_adds,
            has_advice=not assistant.disable_default_prompt,
            is_brief=is_small(self.able.context_tokens),
        )
        language = self._place.kernel.describe().language
        return with_instructions(head, instructions, language)

    def _parts(
        self, question: RunRequest, lm: LM, publisher: Publisher, stop: Stop
    ) -> agent.AgentParts:
        place, model = self._place, question.parameters.model
        able = lm.capabilities(model)
        policy = Policy(question.mode, place.approver, self.trusted, question.installable)
        allowed = question.assistant.allowed(self._tools.registry)
        offer = offered(question.typed, allowed, policy, question.tools)
        self._offered = offer.registry
        if is_small(able.context_tokens):
            is_tiny = (able.context_tokens or 0) <= TINY_WINDOW_TOKENS
            left_out = SPARE_IN_TINY if is_tiny else SPARE_TOOLS
            self._offered = brief_tools(offer.registry, whole=("hand_in",), left_out=left_out)
        budget = RunBudget(
            question.limits,
            price_for(model, place.prices),
            prices=place.prices,
            spending=None if isinstance(lm, ReplayLM) else place.spending,
        )
        shared = CallerParts(
            publisher,
            budget,
            history=lambda: said_so_far(self._history.messages, question.text_filters),
            on_progress=place.on_progress,
        )
        context = self._context(question, lm, publisher, stop)
        return agent.AgentParts(
            lm=lm,
            adapter=RecordedAdapter() if isinstance(lm, ReplayLM) else self._adapter(question),
            parameters=question.parameters,
            tools=ToolCaller(self._offered, offer.policy, context, shared),
            publisher=publisher,
            budget=budget,
            stop=stop,
            owed=offer.owed,
            author=question.assistant.name,
            window=self._earlier.window(question, able, self._offered.manifests),
            text_filters=question.text_filters,
        )

    def _context(
        self, question: RunRequest, lm: LM, publisher: Publisher, stop: Stop
    ) -> ToolContext:
        """What tools of this run may use."""
        place = self._place
        context = ToolContext(
            kernel=place.kernel,
            notebook=place.notebook,
            shelf=self._shelf,
            stop=stop,
            on_output=publisher.output,
            new_cell_id=ids_for_cells(question.cell_ids).__next__,
            limits=limits_of(question),
            sees_images=lm.capabilities(question.parameters.model).vision,
            kernel_session=place.kernel.session,
            run_id=publisher.run_id,
            chat_id=self.chat_id,
            user_id=place.user_id,
            keyboard=place.keyboard,
            form_asker=place.form_asker,
            before_cell=self._keeper_of_steps(question, publisher.run_id),
        )
        return with_run_facts(context, question, self._folder)

    def _keeper_of_steps(self, question: RunRequest, run_id: str) -> Callable[[], object]:
        """Called before each cell of a run: keeps the state before all but the first."""
        keep, numbers = self._place.keep_state, itertools.count(1)

        def before_cell() -> None:
            number = next(numbers)
            if keep is not None and number > 1 and question.mode != "plan":
                keep(run_id, question.prompt, number)

        return before_cell

    def _with_inputs(self, question: RunRequest) -> RunRequest:
        """The question with its typed inputs bound to variables."""
        self._adapter(question)  # a wrong name is told before anything is recorded
        typed = question.typed
        if typed is None or question.message is not None:
            return question
        known = variables_of(self._place.kernel, limit=VARIABLE_LIMIT)
        names = (*question.variables, *typed.variables(known))
        notice = f"{question.notice} {typed.notice(known)}".strip()
        return replace(question, prompt=typed.prompt(known), variables=names, notice=notice)

    def _adapter(self, question: RunRequest) -> AdapterChain:
        """The adapter that worked for this model the last time."""
        key = (question.adapter, question.parameters.model)
        if key not in self._adapters:
            self._adapters[key] = AdapterChain(question.adapter or "native")
        return self._adapters[key]

    def _after_run(self) -> None:
        """Keep what the run executed, so that the next run starts from there."""
        record = self._place.store.record(self.last_run_id)
        if record.status == "agent validation failed":
            self._adapters.clear()  # none of them worked, so the next run begins anew
        self._earlier.keep(self._place, self.chat_id, record)
        self._watch.after(record, self._place)
