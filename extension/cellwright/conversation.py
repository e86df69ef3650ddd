"""A conversation in one kernel: questions in, events out, the history kept between them."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cellwright import agent
from cellwright._version import __version__
from cellwright.adapters.chain import AdapterChain, RecordedAdapter
from cellwright.attachments import Attachment, attach, pictures_of
from cellwright.budget import Budget
from cellwright.cells import Cell, VariableSummary
from cellwright.components import ToolContext, ToolLimits
from cellwright.components.sources import ToolSource
from cellwright.components.system_names import settable_values
from cellwright.context.assemble import (
    TurnState,
    mentioned_names,
    system_message,
    user_message,
    with_instructions,
)
from cellwright.context.own_magics import seen_before, without_own_magics
from cellwright.errors import KernelError, RunCancelled, ToolError
from cellwright.events import Event, Notice, RunFinished, RunStarted, StateCaptured
from cellwright.lm import LM
from cellwright.lm.replay import ReplayLM
from cellwright.lm.sampling import usable_parameters
from cellwright.messages import ImagePart, Message
from cellwright.policy import Policy
from cellwright.publishing import Publisher
from cellwright.questions import Place, Question
from cellwright.run_facts import said_so_far, with_run_facts
from cellwright.settings import Mode
from cellwright.shelf import Shelf
from cellwright.stopping import Stop
from cellwright.tool_calls import CallerParts, ToolCaller
from cellwright.tool_offer import ToolOffer
from cellwright.turn_sources import Found, Turn, looked_up, notices_of
from cellwright.typed_answers import offered
from cellwright.usage import price_for

__all__ = ["Conversation", "Place", "Question"]

VARIABLE_LIMIT = 100_000
KERNEL_ENDS = ("kernel_died", "kernel_restarted")
READ_ONLY = (
    "mode: plan. You may only look: no code runs and nothing changes. Find out what you need with "
    "the tools that read, then say step by step what you would do."
)
NO_LONGER_READ_ONLY = "mode: no longer plan. You may act."


class Conversation:
    """Questions and answers over one kernel.

    Args:
        place: Where it happens.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._history = agent.History()
        self._shelf = Shelf()
        self._known: dict[str, VariableSummary] = {}
        self._executed_seen = 0
        self._is_resumed = False
        self._kernel_session = ""
        self._mode: Mode = "ask"
        self._log: list[str] = []
        self._trusted: set[str] = set()
        self._tools = ToolOffer()
        self._packages: Mapping[str, str] | None = None
        self._adapters: dict[tuple[str, str], AdapterChain] = {}
        self.last_run_id = ""
        self._first_run_id = ""
        self._folder = Path()

    @property
    def place(self) -> Place:
        """Where it happens."""
        return self._place

    def move(self, place: Place) -> None:
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
        self._log[:] = executed
        self._kernel_session, self._is_resumed = kernel_session, True

    def ask(self, question: Question, lm: LM, stop: Stop | None = None) -> Iterator[Event]:
        """Answer a question; what is yielded has been recorded before.

        Raises:
            SetupError: A named file cannot be read, or a name is set that is the system's own;
                nothing was recorded then.
            KernelError: The kernel does not answer.
        """
        kernel, stop = self._place.kernel, stop or Stop()
        try:
            kernel.wait_until_free(stop)
        except RunCancelled as error:
            continues, publisher = self.last_run_id, self._begin()
            yield from publisher.publish(
                self._started(question, (), continues), _ended_early(error)
            )
            return
        folder = kernel.describe().cwd
        self._folder = Path(folder)
        attachments = attach(question.files, self._folder)
        question = self._with_inputs(_usable(question))
        continues, publisher = self.last_run_id, self._begin()
        state = self._turn_state(folder, question.mode)
        begun = publisher.publish(
            self._started(question, attachments, continues),
            self._captured(attachments, folder),
        )
        try:
            yield from begun
            if question.notice:
                yield from publisher.publish(Notice("info", question.notice, code="service"))
            sees = lm.capabilities(question.parameters.model).vision
            pictures = pictures_of(question.files, self._folder) if sees else ()
            found = self._looked_up(question, state)
            if found.notices or found.problems:
                yield from publisher.publish(*notices_of(found))
            question = replace(question, context=(*question.context, *found.blocks))
            self._append_question(question, attachments, state, pictures)
            added = tuple(ToolSource(s.name, s.components()) for s in self._place.sources)
            for left_out in self._tools.renew(kernel, self._place.notebook, added):
                yield from publisher.publish(Notice("warning", left_out, code="tool_left_out"))
            parts = self._parts(question, lm, publisher, stop)
        except BaseException as error:
            # Stopped, abandoned or failed before the loop began: the record gets its end.
            ended = publisher.publish(_ended_early(error))
            if not isinstance(error, (KeyboardInterrupt, RunCancelled)):
                raise
            yield from ended
            return
        self._history.asked = 0
        try:
            yield from agent.run(parts, self._history)
        finally:
            self._after_run()

    def _begin(self) -> Publisher:
        """Where the events of a new run go."""
        place = self._place
        journal = place.store.start()
        self.last_run_id = journal.run_id
        self._first_run_id = self._first_run_id or journal.run_id
        return Publisher(journal, place.redactor, place.notebook, place.listener)

    def _started(
        self, question: Question, attachments: tuple[Attachment, ...], continues: str
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
        )

    def _looked_up(self, question: Question, state: TurnState) -> Found:
        """What the place's sources have; nothing for a question that is asked as it was sent."""
        if question.message is not None:
            return Found()
        turn = Turn(
            prompt=self._place.redactor.text(question.prompt),
            chat_id=self._place.chat_id or self._first_run_id,
            run_id=self.last_run_id,
            user_id=self._place.user_id,
            is_guest=self._place.is_guest,
            assistant=question.assistant,
            folder=str(self._folder),
            last_error=state.last_error,
            variables=tuple(variable.name for variable in state.variables),
        )
        return looked_up(self._place.sources, turn)

    def _append_question(
        self,
        question: Question,
        attachments: tuple[Attachment, ...],
        state: TurnState,
        pictures: tuple[ImagePart, ...],
    ) -> None:
        messages = self._history.messages
        if not messages:
            messages.append(system_message(self._place.kernel.describe().language))
        message = question.message
        if message is None:
            instructions = self._place.redactor.text(question.assistant.instructions)
            messages[0] = with_instructions(messages[0], instructions)
            mentioned = self._mentioned((*mentioned_names(question.prompt), *question.variables))
            message = user_message(question.prompt, attachments, mentioned, state, question.context)
            examples = question.typed.examples(messages) if question.typed is not None else ()
            message = replace(message, parts=(*examples, *message.parts, *pictures))
        messages.append(self._place.redactor.value(message))

    def _parts(
        self, question: Question, lm: LM, publisher: Publisher, stop: Stop
    ) -> agent.AgentParts:
        place, model = self._place, question.parameters.model
        policy = Policy(question.mode, place.approver, self._trusted)
        allowed = question.assistant.allowed(self._tools.registry)
        offer = offered(question.typed, allowed, policy, question.tools)
        budget = Budget(question.limits, price_for(model, place.prices), prices=place.prices)
        shared = CallerParts(
            publisher,
            budget,
            history=lambda: said_so_far(self._history.messages),
            on_progress=place.on_progress,
        )
        context = self._context(question, lm, publisher, stop)
        return agent.AgentParts(
            lm=lm,
            adapter=RecordedAdapter() if isinstance(lm, ReplayLM) else self._adapter(question),
            parameters=question.parameters,
            tools=ToolCaller(offer.registry, offer.policy, context, shared),
            publisher=publisher,
            budget=budget,
            stop=stop,
            owed=offer.owed,
        )

    def _context(self, question: Question, lm: LM, publisher: Publisher, stop: Stop) -> ToolContext:
        """What tools of this run may use."""
        place = self._place
        context = ToolContext(
            kernel=place.kernel,
            notebook=place.notebook,
            shelf=self._shelf,
            stop=stop,
            on_output=publisher.output,
            new_cell_id=_cell_ids(question.cell_ids).__next__,
            limits=ToolLimits(cell_timeout_seconds=question.limits.cell_timeout_seconds),
            sees_images=lm.capabilities(question.parameters.model).vision,
            kernel_session=place.kernel.session,
            run_id=publisher.run_id,
            chat_id=place.chat_id or self._first_run_id,
            user_id=place.user_id,
        )
        return with_run_facts(context, question, self._folder)

    def _with_inputs(self, question: Question) -> Question:
        """The question with its typed inputs bound to variables."""
        self._adapter(question)  # a wrong name is told before anything is recorded
        typed = question.typed
        if typed is None or question.message is not None:
            return question
        known = self._variables(limit=VARIABLE_LIMIT)
        names = (*question.variables, *typed.variables(known))
        notice = f"{question.notice} {typed.notice(known)}".strip()
        return replace(question, prompt=typed.prompt(known), variables=names, notice=notice)

    def _adapter(self, question: Question) -> AdapterChain:
        """The adapter that worked for this model the last time."""
        key = (question.adapter, question.parameters.model)
        if key not in self._adapters:
            self._adapters[key] = AdapterChain(question.adapter)
        return self._adapters[key]

    def _turn_state(self, folder: str, mode: Mode) -> TurnState:
        is_new = self._is_new_kernel()
        now = self._variables()
        changed = tuple(v for name, v in now.items() if self._known.get(name) != v)
        removed = tuple(name for name in self._known if name not in now)
        executed: list[str] = self._probe("executed_cells", {}) or []
        seen = seen_before(executed, self._log) if self._is_resumed else self._executed_seen
        new = without_own_magics(executed[seen:])
        self._executed_seen, self._is_resumed = len(executed), False
        self._log.extend(new)
        first = not self._history.messages
        self._known = now
        return TurnState(
            changed,
            removed,
            tuple(new),
            self._last_error(),
            folder if first or is_new else "",
            is_new,
            self._mode_line(mode),
        )

    def _is_new_kernel(self) -> bool:
        """Whether the kernel is another one than in the last turn; then forget what it held."""
        session = self._place.kernel.session
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

    def _last_error(self) -> str:
        found = self._probe("last_error", {})
        return str(found.get("text", "")) if isinstance(found, dict) else ""

    def _mentioned(self, names: tuple[str, ...]) -> tuple[VariableSummary, ...]:
        found = []
        for name in dict.fromkeys(names):
            text = self._probe("inspect_variable", {"name": name})
            if text:
                kind = self._known[name].type if name in self._known else ""
                found.append(VariableSummary(name, kind, str(text)))
        return tuple(found)

    def _variables(self, **limits: int) -> dict[str, VariableSummary]:
        listed = self._probe("list_variables", limits) or []
        return {item["name"]: VariableSummary(**item) for item in listed}

    def _probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        # What the kernel can tell of itself helps; where it cannot, the run goes on without.
        with contextlib.suppress(ToolError, KernelError):
            return self._place.kernel.probe(function, arguments)
        return None

    def _captured(self, attachments: tuple[Attachment, ...], folder: str) -> StateCaptured:
        if self._packages is None:
            self._packages = self._probe("packages", {}) or {}
        kernel, notebook = self._place.kernel, self._place.notebook
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

    def _after_run(self) -> None:
        """Keep what the run executed, so that the next run starts from there."""
        record = self._place.store.record(self.last_run_id)
        self._log.extend(execution.source for execution in record.executions)
        if record.status == "agent validation failed":
            self._adapters.clear()  # none of them worked, so the next run begins anew
        if record.status == "cancelled" or record.cause in KERNEL_ENDS:
            return  # whoever pressed Stop does not wait for a kernel that may still be busy
        self._known = self._variables()


def _usable(question: Question) -> Question:
    """The question as it can be asked; what had to be changed is said in its notice.

    Raises:
        SetupError: The person set what only the system sets.
    """
    settable_values(question.given)
    wanted, parameters = question.parameters.temperature, usable_parameters(question.parameters)
    if parameters is question.parameters:
        return question
    said = f"The temperature {wanted} cannot be sent; {_in_its_place(parameters.temperature)}."
    notice = f"{question.notice} {said}".strip()
    return replace(question, parameters=parameters, notice=notice)


def _in_its_place(temperature: float | None) -> str:
    return f"{temperature:g} is sent" if temperature is not None else "the provider's own counts"


def _ended_early(error: BaseException) -> RunFinished:
    if isinstance(error, Exception):
        reason = f"cellwright failed: {error!r}"
        return RunFinished("task error", reason=reason, cause="internal")
    return RunFinished("cancelled", reason="Run stopped by the user.", cause="stopped")


def _cell_ids(given: tuple[str, ...]) -> Iterator[str]:
    yield from given
    while True:
        yield uuid.uuid4().hex[:8]
