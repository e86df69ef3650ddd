"""Answers the prompts of one chat, one after the other: kernel, notebook, service, conversation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from cellwright.agent.publishing import Listener, Publisher
from cellwright.assistants.files import folders_of, list_assistants
from cellwright.context.assemble import Quoted
from cellwright.kernels.fresh import Attendance, LateKernel
from cellwright.kernels.going_back import keep_state
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.server.branching import ChatBranches
from cellwright.server.configuration import Cellwright
from cellwright.server.frames import ContextItem, RefusedError
from cellwright.server.kernel_access import ServerKernels
from cellwright.server.live_run import LiveRun, RunKernel
from cellwright.server.tab import AttachedNotebook, Driver
from cellwright.server.uploads import Uploads
from cellwright.server.wire_events import EventSource
from cellwright.session.branches import BranchStart, plan_branches
from cellwright.session.compacting import compaction_of
from cellwright.session.composer import AssistantChoice, ComposedRun, RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.previewing import Previews
from cellwright.session.prices import known_prices
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.resuming import (
    executed_in,
    is_behind,
    last_record,
    resume,
    resumed,
    with_notes,
)
from cellwright.session.services import ModelService, Service, ServiceCache
from cellwright.session.standard_sources import Sources
from cellwright.settings import Settings
from cellwright.store.chat_rows import Chat, filters_of
from cellwright.store.chats import ChatStore
from cellwright.store.runs import RunStore
from cellwright.store.usage_table import UsageTable
from cellwright.text.redaction import Redactor

NOTHING_TO_GAIN = "There is nothing to make shorter in this conversation."
WHAT_IS_CUT = "Long results of earlier calls are cut; there are none left."
TAKEN_BACK = Quoted(
    "note", "an answer was taken back: cells and variables it made may still be there"
)
QUOTES = {"cell": "cell", "selection": "selected in cell", "error": "error of cell"}


class ChatEnvironment(Protocol):
    """What runs of all chats share."""

    @property
    def configuration(self) -> Cellwright: ...

    @property
    def runs(self) -> RunStore: ...

    @property
    def chats(self) -> ChatStore: ...

    @property
    def uploads(self) -> Uploads: ...

    @property
    def events(self) -> EventSource: ...

    @property
    def kernels(self) -> ServerKernels: ...

    @property
    def services(self) -> ServiceCache: ...

    @property
    def sources(self) -> Sources: ...

    @property
    def root(self) -> Path | None: ...

    def settings(self) -> Settings: ...

    def redactor(self) -> Redactor: ...

    def open_answering(self, chat_id: str, listener: Listener) -> ChatAnswering: ...

    def open_branches(self, run: LiveRun, tell: Callable[[], None]) -> ChatBranches: ...

    def open_previews(self, kernel_id: str) -> Previews: ...


class ChatAnswering:
    """The conversation of one chat; used by one worker thread at a time.

    Args:
        chat_id: The chat.
        workplace: What it works with.
        listener: Told of every event.
    """

    def __init__(self, chat_id: str, workplace: ChatEnvironment, listener: Listener) -> None:
        self._chat_id = chat_id
        self._workplace = workplace
        self._listener = listener
        self._conversation: Conversation | None = None
        self._own_kernel = ""
        """Id of a kernel that was started for the chat; empty: none was."""
        self._own_cells = MemoryNotebook()
        self._notebook: AttachedNotebook | None = None
        """As the last run had it: where no page tells its cells, these are all that is known."""
        self._noticed: set[str] = set()
        self._closing = threading.Lock()
        self._is_closed = False

    def answer(self, run: LiveRun, driver: Driver | None) -> None:
        """Answer a prompt.

        Args:
            run: What is asked; told what it works with.
            driver: The notebook and who draws it; None: the chat works without one.

        Raises:
            CellwrightError: It could not begin; nothing of it was recorded.
            RunCancelled: It was stopped before it began.
        """
        shared = self._workplace
        settings, chat = shared.settings(), shared.chats.get(self._chat_id)
        shared.configuration.check_mode(run.prompt.ask.mode)
        if driver is not None:
            self._open_notebook(run, driver)
        listed = list_assistants(folders_of(shared.root, _path(driver)), settings.home)
        before = self._conversation
        environment = RunEnvironment(
            open_service=lambda model: self._service(settings, model),
            open_conversation=lambda composed: self._asking(run, driver, settings, composed),
            settings=settings,
            assistants=AssistantChoice(listed, is_guest=chat.is_guest),
            messages=before.messages if before is not None else (),
            told=self._noticed,
        )
        try:
            for _ in start_run(self._request(run, chat, settings), environment, run.stop):
                pass
        finally:
            if not run.progress.run:
                self._conversation = before  # nothing took the place of anything

    @contextmanager
    def _asking(
        self, run: LiveRun, driver: Driver | None, settings: Settings, composed: ComposedRun
    ) -> Iterator[Conversation]:
        """The conversation to ask in, and its kernel for as long as the run lasts."""
        chats, supersedes = self._workplace.chats, run.prompt.ask.supersedes
        run.context_limit = _window_of(composed.service)
        kernel = self._connect(run, driver)
        try:
            place = self._place(run, driver, kernel, settings)
            run.supersedes = supersedes
            # The model is not told of a question that nobody answered; the panel still shows it.
            left_out = supersedes or chats.unanswered(self._chat_id)
            conversation = self._conversation_at(place, left_out)
            with with_notes(conversation, chats, self._chat_id, left_out):
                yield conversation
            run.context_limit = _window_of(composed.service)
        finally:
            run.kernel = None
            kernel.close()

    def branch(
        self,
        branches: ChatBranches,
        driver: Driver,
        claim: ExitStack,
        *,
        count: int,
        models: Sequence[str],
    ) -> None:
        """Begin several attempts at a prompt, over copies of the notebook's kernel.

        Args:
            branches: Whose prompt it is.
            driver: The notebook and who draws it.
            claim: Keeps others out of the chat; taken over for as long as they work.
            count: How many; 0: one for each model, else three.
            models: Who is asked; empty: whoever answers the chat.

        Raises:
            CellwrightError: They cannot be begun; the message names what stands in the way.
        """
        run, shared = branches.run, self._workplace
        settings, chat = shared.settings(), shared.chats.get(self._chat_id)
        self._open_notebook(run, driver)
        plans = plan_branches(self._request(run, chat, settings), count, models)
        with closing(self._connect(run, driver)) as kernel:
            shared.kernels.check_can_be_copied(driver.attach.kernel_id)
            place = self._place(run, driver, kernel, settings)
            conversation = self._conversation_at(place, shared.chats.unanswered(self._chat_id))
            kernel.wait_until_free(run.stop)
            life = kernel.session
        listed = list_assistants(folders_of(shared.root, _path(driver)), settings.home)

        def environment() -> RunEnvironment:
            return RunEnvironment(
                open_service=lambda model: self._service(settings, model),
                open_conversation=_nowhere,
                settings=settings,
                assistants=AssistantChoice(listed, is_guest=chat.is_guest),
                messages=conversation.messages,
            )

        ran = last_record(shared.runs, shared.chats.run_ids(self._chat_id))
        notes = shared.chats.notes.waiting(self._chat_id)
        branches.taken_notes = tuple(note.note_id for note in notes)
        start = BranchStart(
            replace(place, approver=None, keep_state=None),
            lambda: branches.open_copy(life),
            environment,
            conversation.messages,
            executed_in(ran) if ran is not None else (),
            tuple(note.message for note in notes),
        )
        branches.begin(plans, start, claim)

    def go_on_after(self, record: RunRecord) -> None:
        """Let the next prompt follow a branch that was kept: its kernel is the notebook's now."""
        assert self._conversation is not None
        resume(self._conversation, record.messages, record)
        self._conversation.last_run_id = record.run_id

    def compact(self, tokens: int) -> None:
        """Make the conversation shorter; recorded as a run of its own, which asks no model.

        Args:
            tokens: Of the last request; 0: not known.

        Raises:
            RefusedError: There is nothing to gain.
        """
        conversation, store = self._conversation, self._workplace.runs
        if conversation is not None and is_behind(
            conversation, self._workplace.chats, self._chat_id
        ):
            conversation = self._conversation = None  # it is made anew for the next question
        last = self._last_record()
        messages = conversation.messages if conversation is not None else ()
        if last is not None:
            messages = messages or last.messages
        pins, last_run = self._workplace.chats.pins, last.run_id if last is not None else ""
        pinned = pins.turns(self._chat_id, last_run)
        found = compaction_of(last, messages, tokens, pinned) if last is not None else None
        if found is None or last is None:
            raise RefusedError("nothing_to_gain", NOTHING_TO_GAIN, hint=WHAT_IS_CUT)
        journal = store.start()
        publisher = Publisher(journal, self._workplace.redactor(), None, self._listener)
        publisher.publish(*found.events)
        if conversation is not None:
            resume(conversation, found.messages, last)
            conversation.last_run_id = journal.run_id

    def close(self) -> None:
        """End the kernel that was started for the chat, if one was."""
        with self._closing:
            kernel_id, self._own_kernel = self._own_kernel, ""
            self._is_closed = True
        with suppress(TimeoutError):
            self._workplace.kernels.shut_down(kernel_id)

    def _open_notebook(self, run: LiveRun, driver: Driver) -> None:
        run.notebook = AttachedNotebook(self._chat_id, driver, run.stop, self._notebook)
        run.notebook.load()
        self._notebook = run.notebook

    def _service(self, settings: Settings, model: str) -> Service:
        configuration = self._workplace.configuration
        service = self._workplace.services.get(settings, model)
        configuration.check_model(service.model)
        if not service.is_demo:
            configuration.check_endpoint(service.base_url)
        return service

    def _connect(self, run: LiveRun, driver: Driver | None) -> RunKernel:
        kernels = self._workplace.kernels
        attendance = Attendance(run.keyboard.ask, run.waits)
        run.stop.check()
        kernel: RunKernel
        if driver is not None:
            kernel = kernels.connect(driver.attach.kernel_id, attendance)
        elif kernels.has(self._own_kernel):
            kernel = kernels.connect(self._own_kernel, attendance)
        else:
            # Most questions of a chat without a notebook need no kernel, and each is a process.
            kernel = LateKernel(
                lambda: kernels.connect(self._start_kernel(), attendance),
                str(self._workplace.root or ""),
                kernels.language,
            )
        run.kernel = kernel
        return kernel

    def _start_kernel(self) -> str:
        """Start a kernel for the chat; its id."""
        kernels = self._workplace.kernels
        started = kernels.start("", f"cellwright chat {self._chat_id[:6]}")
        with self._closing:
            is_closed, self._own_kernel = self._is_closed, started
        if is_closed:
            # The chat was deleted meanwhile, and nobody else would end it.
            self.close()
        return started

    def _place(
        self, run: LiveRun, driver: Driver | None, kernel: RunKernel, settings: Settings
    ) -> RunContext:
        shared = self._workplace
        database = shared.runs.database
        place = RunContext(
            kernel=kernel,
            keyboard=run.keyboard.ask,
            form_asker=run.keyboard.ask_form,
            store=shared.runs,
            redactor=shared.redactor(),
            lane="panel",
            approver=run.approver,
            notebook=run.notebook or self._own_cells,
            prices=known_prices(settings),
            spending=UsageTable(database),
            listener=self._listener,
            chat_id=self._chat_id,
            user_id=settings.user,
            blocks=shared.sources.blocks(database, settings),
            sources=shared.sources.of(database, settings, folders_of(shared.root, _path(driver))),
            # The kernel of a chat without a notebook is its own: nobody's variables are there.
            keep_state=partial(keep_state, kernel, settings.snapshots) if driver else None,
        )
        return place_of(shared.chats.get(self._chat_id), place)

    def _conversation_at(self, place: RunContext, left_out: str) -> Conversation:
        """The conversation, without this run and all that followed where one is named."""
        before, chats = self._conversation, self._workplace.chats
        if before is None or left_out or is_behind(before, chats, self._chat_id):
            self._conversation = resumed(place, chats, self._chat_id, left_out)
            if before is not None:
                self._conversation.trusted |= before.trusted
        else:
            before.move(place)
        assert self._conversation is not None
        return self._conversation

    def _last_record(self) -> RunRecord | None:
        """The last run that counts and in which anything was said; None: there is none."""
        runs = self._workplace.chats.active_run_ids(self._chat_id)
        return last_record(self._workplace.runs, runs)

    def _request(self, run: LiveRun, chat: Chat, settings: Settings) -> RunRequest:
        ask, notebook = run.prompt.ask, run.notebook or self._own_cells
        files = [item for item in ask.context if item.kind == "file"]
        paths = tuple(str(self._workplace.uploads.path(item.file)) for item in files)
        named = zip(files, paths, strict=True)
        sources = {cell.id: cell.source for cell in notebook.cells()}
        quotes = [_quoted(item, sources) for item in ask.context if item.kind in QUOTES]
        quotes += [Quoted(f"file {item.name}", f"is stored as {path}") for item, path in named]
        unanswered = self._workplace.chats.unanswered(self._chat_id)
        quotes += [TAKEN_BACK] if ask.supersedes not in ("", unanswered) else []
        return RunRequest(
            ask.prompt,
            Parameters(ask.model),
            assistant_name=ask.assistant,
            files=paths,
            file_names=tuple(item.name for item in files),
            mode=ask.mode,
            limits=settings.limits,
            tells_time=settings.message_times,
            context=tuple(quotes),
            variables=tuple(item.name for item in ask.context if item.kind == "variable"),
            chat_prompt=chat.prompt,
            chat_prompt_adds=chat.prompt_adds,
            text_filters=filters_of(chat.settings),
        )


def _nowhere(_: ComposedRun) -> AbstractContextManager[Conversation]:
    raise AssertionError("each branch has a conversation of its own")


def _window_of(service: ModelService) -> int:
    """Tokens that its model takes, as far as it is known by now; 0: it is not."""
    return service.lm.capabilities(service.model).context_tokens or 0


def place_of(chat: Chat, place: RunContext) -> RunContext:
    """The place as the one whose chat it is has it; nobody may allow anything in a guest's."""
    if not chat.is_guest:
        return replace(place, user_id=chat.owner or place.user_id)
    return replace(place, approver=None, is_guest=True, user_id=chat.owner)


def _path(driver: Driver | None) -> str:
    """Of the notebook, below the server's root; empty: the chat works without one."""
    return driver.attach.path if driver is not None else ""


def _quoted(item: ContextItem, sources: Mapping[str, str]) -> Quoted:
    """What was put beside the prompt; of a cell all of it, where the tab sends its first line."""
    text = sources.get(item.cell_id, item.text) if item.kind == "cell" else item.text
    return Quoted(f"{QUOTES[item.kind]} {item.cell_id}", text)
