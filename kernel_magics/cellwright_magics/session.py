"""What one shell keeps between cells: the conversation, the record, the services that answer."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.agent.policy import Approver
from cellwright.errors import LMNotFoundError, SetupError
from cellwright.external.source import OutsideTools
from cellwright.kernels import Kernel, cell_watch, snapshots
from cellwright.kernels.copies import AskSnapshots
from cellwright.kernels.going_back import (
    ChangedFile,
    Snapshot,
    UndonePlace,
    go_to,
    keep_state,
    news_of,
    note_for_model,
)
from cellwright.kernels.shell import ShellKernel
from cellwright.kernels.tap import ShellOptions
from cellwright.llm.keys import SignIns
from cellwright.notebooks import Notebook
from cellwright.notebooks.saved import SavedNotebook
from cellwright.record.events import (
    CellEvent,
    Event,
    Notice,
    RunStarted,
    ToolProgress,
)
from cellwright.record.messages import Message
from cellwright.record.outputs import ErrorOutput, OutputMessage
from cellwright.record.run_record import RecordedEvent, RunRecord
from cellwright.session.composer import AssistantChoice, ComposedRun, RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.previewing import Previews
from cellwright.session.prices import known_prices
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.resuming import executed_in, last_record
from cellwright.session.services import ServiceCache, models_like
from cellwright.session.standard_sources import Sources
from cellwright.settings import Settings, checked_mode, option_parameters
from cellwright.stopping import drive
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.store.usage_table import UsageTable
from cellwright.text.redaction import Redactor
from cellwright_magics.approval import StdinApprover, read_stdin
from cellwright_magics.arguments import AgentOptions, CellSettings, Configured
from cellwright_magics.assistants import Assistants
from cellwright_magics.calling_cell import CallingCell
from cellwright_magics.chats import Chats, ChatWords
from cellwright_magics.context_commands import Attached
from cellwright_magics.demos import Demos
from cellwright_magics.display import RunDisplay, ShownAtOnce
from cellwright_magics.easels import Easel, Easels
from cellwright_magics.painted import PaintedNotebook, take_cells_back

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


DATABASE = "runs.sqlite"
SECRET = re.compile("key|token|secret|pass|pwd|credential|auth|cookie|url|dsn", re.IGNORECASE)


@dataclass
class OutputGate:
    """Which outputs of the code that runs are shown by the kernel."""

    quiet: bool = False
    short_errors: bool = True
    """The transcript shows errors in brief instead."""

    def lets_through(self, message: OutputMessage) -> bool:
        """Whether the calling cell shows it."""
        if isinstance(message, ErrorOutput) and self.short_errors:
            return False
        return not self.quiet


@dataclass(frozen=True)
class _Setting:
    """What a conversation cannot change; another one goes on where this changed."""

    home: str
    interactive: bool
    secrets: frozenset[tuple[str, str]]
    project_files: bool


class ShellSession:
    """The agent of one shell.

    Args:
        shell: Whose variables it works with.
        easels: Which cells the front end can paint under.
    """

    def __init__(self, shell: InteractiveShell, easels: Easels) -> None:
        self._shell = shell
        self._easels = easels
        self.gate = OutputGate()
        self.demos = Demos()
        self.assistants = Assistants()
        self.chats = Chats()
        self.attached = Attached()
        self._kernel: ShellKernel | None = None
        self._approver = StdinApprover(
            open_previews=self._open_previews,
            show=lambda bundle: self._shell.display_pub.publish(bundle),
        )
        self.services = ServiceCache()
        self._noticed: set[str] = set()
        self._database: Database | None = None
        self._sources = Sources()
        self._store: RunStore | None = None
        self._conversation: Conversation | None = None
        self._setting: _Setting | None = None
        self._working = threading.Lock()
        self._process_id = os.getpid()
        self._snapshots = 0
        self.undone: UndonePlace | None = None
        """Where the variables were taken without the files, while nothing was asked since."""

    def mind_going_back(self, settings: Settings, cell: CallingCell) -> None:
        """Where this kernel was a snapshot until now, begin anew what needs it.

        Connections and locks belong to the process that it was forked from; what was said stays.
        """
        if self._process_id == os.getpid():
            return
        self._process_id = os.getpid()
        self._working = threading.Lock()
        self.services, self._sources = ServiceCache(), Sources()
        self._kernel = self._setting = None
        news = snapshots.take_news()
        if isinstance(news, Mapping) and "kept_run" in news:
            self._conversation = None
            self.attached.clear()  # it went along with the run that was kept
            self._go_on_after(str(news["kept_run"]), settings, cell)
        elif isinstance(news, Mapping) and "run_id" in news:
            run_id, is_undone, step = str(news["run_id"]), news["is_undone"], news["step"]
            files = news["files"]
            asks_for_files = is_undone and files is None
            self.undone = UndonePlace(run_id, step) if asks_for_files else None
            if is_undone and step:
                # The snapshot was in the middle of the run; the record has all of it.
                self._conversation, self.gate = None, OutputGate()
                self._go_on_after(run_id, settings, cell)
            text = note_for_model(run_id, is_undone=is_undone, step=step, files=files or ())
            self.tell_model(text, settings, cell)

    def tell_model(self, text: str, settings: Settings, cell: CallingCell) -> None:
        """Say something to the model with the next question."""
        self.words(self._conversation_for(settings, cell)).note("user_later", text)

    def take_cells_back(self, recorded: Sequence[RecordedEvent], run_id: str, step: int) -> None:
        """Take out the cells of a run, from one of them on, where the front end can do that."""
        easel = self._easels.of(getattr(self._shell, "get_parent", dict)() or {})
        if easel is not None:
            self._easels.start(easel, run_id)
            take_cells_back(easel, recorded, run_id, step)
            easel.send("done", run=run_id)

    def _open_previews(self) -> Previews:
        assert self._kernel is not None
        return self.previews_of(self._kernel.ask_snapshots)

    def previews_of(self, ask: AskSnapshots) -> Previews:
        """What tries calls in copies of this kernel."""

        def ask_at_rest(function: str, arguments: Mapping[str, Any]) -> Any:
            if function == "fork_copy" and self._database is not None:
                self._database.rest()  # the copy would copy the record, too
            return ask(function, arguments)

        return Previews(ask_at_rest)

    def go_to(
        self,
        snapshot: Snapshot,
        settings: Settings,
        cell: CallingCell,
        shown: str,
        files: Sequence[ChangedFile] | None,
    ) -> None:
        """Make a snapshot the state of this kernel; where that can be done, it does not return.

        Args:
            snapshot: Where to.
            settings: As the cell has them.
            cell: The one that asks.
            shown: What it shows.
            files: Those that were put back with it; None: none were to be.

        Raises:
            SetupError: It cannot be done.
            KernelError: Likewise.
        """
        self._conversation_for(settings, cell)
        self.store(settings).database.rest()
        assert self._kernel is not None
        news = news_of(snapshot, files)
        go_to(self._kernel, snapshot, shown=shown, news=news)

    @property
    def kernel(self) -> ShellKernel | None:
        """The kernel that runs work in; None: none did yet."""
        return self._kernel

    def store(self, settings: Settings) -> RunStore:
        """The record, opened on first use."""
        path = settings.home / DATABASE
        if self._database is None or self._database.path != path:
            self._close_database()
            self._database = open_database(path)
            self._store = RunStore(self._database)
        assert self._store is not None
        return self._store

    def place(self, settings: Settings, cell: CallingCell) -> RunContext:
        """Where runs of this shell happen."""
        return self._conversation_for(settings, cell).place

    def conversation(self, settings: Settings, cell: CallingCell) -> Conversation:
        """The conversation of this shell."""
        return self._conversation_for(settings, cell)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """One run at a time: the code of a run cannot start another.

        Raises:
            SetupError: A run is going on already.
        """
        if not self._working.acquire(blocking=False):
            raise SetupError(
                "An agent is already at work in this kernel.", hint="Ask when it has finished."
            )
        try:
            self._approver.new_run()
            yield
        finally:
            self._working.release()

    def ask(
        self,
        request: RunRequest,
        settings: Settings,
        cell: CallingCell,
        transcript: RunDisplay,
    ) -> RunRecord:
        """Answer a prompt and show it; the record of the run.

        Raises:
            SetupError: Something is missing, or a run is going on already.
            KeyboardInterrupt: It was stopped before it began.
        """
        with self.at_work():
            self._snapshots, self.undone = settings.snapshots, None
            conversation = self._conversation_for(settings, cell)
            request = self.fill_in(request, conversation)

            def show(event: Event) -> None:
                if cell.easel is not None and isinstance(event, RunStarted):
                    self._easels.start(cell.easel, self.last_run_id)
                transcript.show(event)

            showing = ShownAtOnce(show)
            environment = self.environment(
                settings,
                conversation.messages,
                lambda _: self._asking(settings, cell, showing.at_once),
            )
            with closing(start_run(request, environment)) as events:
                drive(events, showing.show)
            self.attached.clear()
        record = self.store(settings).record(self.last_run_id)
        if record.cause == LMNotFoundError.__name__:
            near = models_like(record.parameters.model, settings, record.base_url)
            transcript.show(did_you_mean(near))
        return record

    def fill_in(self, request: RunRequest, conversation: Conversation) -> RunRequest:
        """The question with what goes along with every question of this shell."""
        words = self.words(conversation)
        return replace(
            request,
            files=(*self.attached.files, *request.files),
            context=tuple(self.attached.quotes),
            chat_prompt=words.prompt.text,
            chat_prompt_adds=words.prompt.adds,
            text_filters=words.text_filters,
            reads_types=True,
        )

    @contextmanager
    def _asking(
        self,
        settings: Settings,
        cell: CallingCell,
        on_progress: Callable[[ToolProgress], None],
    ) -> Iterator[Conversation]:
        """The conversation to ask in, whose cells go where the calling cell can show them."""
        cell_watch.STATE.own_counts |= self._easels.skipped_counts
        with self.in_chat(settings, cell) as conversation:
            notebook = self._notebook(cell.easel, conversation)
            place = replace(conversation.place, notebook=notebook, on_progress=on_progress)
            conversation.move(place)
            try:
                yield conversation
            finally:
                if cell.easel is not None:
                    cell.easel.send("done", run=conversation.last_run_id)

    def environment(
        self,
        settings: Settings,
        messages: tuple[Message, ...],
        open_conversation: Callable[[ComposedRun], AbstractContextManager[Conversation]],
    ) -> RunEnvironment:
        """What there is for a question of this shell."""
        return RunEnvironment(
            open_service=lambda model: self.services.get(settings, model),
            open_conversation=open_conversation,
            settings=settings,
            assistants=AssistantChoice(
                self.assistants.listed(settings),
                self.assistants.of_chat,
                self._shell.user_ns,
                settings.is_guest,
            ),
            messages=messages,
            examples=self.demos,
            told=self._noticed,
        )

    def go_on(self, chat: str, settings: Settings, cell: CallingCell) -> Conversation:
        """Go on with a chat, also one of another kernel.

        Raises:
            SetupError: There is no such chat.
        """
        before = self._conversation_for(settings, cell)
        self._conversation = self.chats.resume(chat, before, self.notebook_path)
        return self._conversation

    def words(self, conversation: Conversation) -> ChatWords:
        """The notes and instructions of the conversation of this shell."""
        return self.chats.words(conversation, self.notebook_path)

    @property
    def notebook_path(self) -> Path | None:
        """The notebook's file, where the front end tells of one."""
        notebook = saved_notebook(self._shell.user_ns, os.environ)
        return Path(notebook.path).resolve() if notebook is not None else None

    @contextmanager
    def in_chat(self, settings: Settings, cell: CallingCell) -> Iterator[Conversation]:
        """The conversation to ask in; it is a chat's where somebody is there."""
        conversation = self._conversation_for(settings, cell)
        if not cell.interactive:
            yield conversation
            return
        with self.chats.answering(conversation, self.notebook_path) as self._conversation:
            yield self._conversation

    def _notebook(self, easel: Easel | None, conversation: Conversation) -> Notebook | None:
        saved = saved_notebook(self._shell.user_ns, os.environ)
        if easel is None:
            return saved
        count = self._shell.displayhook.prompt_count
        return PaintedNotebook(easel, saved, lambda: conversation.last_run_id, count)

    def outside(self, settings: Settings) -> OutsideTools:
        """The outside tools of the folder that the kernel is in, and of those above it."""
        return self._sources.outside(self.store(settings).database, settings)

    def place_with(
        self, settings: Settings, kernel: Kernel, approver: Approver | None
    ) -> RunContext:
        """Where runs happen that use this kernel and ask this person."""
        return RunContext(
            kernel=kernel,
            store=self.store(settings),
            redactor=Redactor.from_environment(
                os.environ, settings.service.api_key, SignIns(settings.home).secrets()
            ),
            lane="magic",
            approver=approver,
            keyboard=read_stdin if isinstance(approver, StdinApprover) else None,
            notebook=saved_notebook(self._shell.user_ns, os.environ),
            prices=known_prices(settings),
            spending=UsageTable(self.store(settings).database),
            user_id=settings.user,
            is_guest=settings.is_guest,
            blocks=self._sources.blocks(self.store(settings).database, settings),
            sources=self._sources.of(self.store(settings).database, settings),
        )

    @property
    def last_run_id(self) -> str:
        """The newest run that worked in this kernel; empty: none since the last reset."""
        return self._conversation.last_run_id if self._conversation is not None else ""

    def reset(self) -> None:
        """Forget what was said; variables and the record stay."""
        self._conversation = None
        self.chats.leave()

    def close(self) -> None:
        """Stop what was started for this shell."""
        self.services.close()
        self.attached.close()
        self._conversation = None
        self._close_kernel()
        self._close_database()

    def _keep_state(self, run_id: str, prompt: str, step: int) -> None:
        if self._kernel is not None and self._database is not None and self._snapshots:
            self._database.rest()
            keep_state(self._kernel, self._snapshots, run_id, prompt, step)

    def _close_kernel(self) -> None:
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def _close_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _conversation_for(self, settings: Settings, cell: CallingCell) -> Conversation:
        setting = _Setting(
            str(settings.home),
            cell.interactive,
            frozenset(_secrets(settings).items()),
            settings.project_files,
        )
        if self._conversation is not None and setting == self._setting:
            return self._conversation
        options = ShellOptions(
            not cell.interactive, self.gate.lets_through, has_keyboard=cell.interactive
        )
        self._close_kernel()
        self._kernel = ShellKernel(self._shell, options)
        approver = self._approver if cell.interactive else None
        place = self.place_with(settings, self._kernel, approver)
        place = replace(place, keep_state=self._keep_state)
        if self._conversation is None:
            self._conversation = Conversation(place)
        else:
            self._conversation.move(place)
        self._setting = setting
        return self._conversation

    def _go_on_after(self, run_id: str, settings: Settings, cell: CallingCell) -> None:
        """Go on with what a run has said that worked in a copy of this kernel."""
        conversation = self._conversation_for(settings, cell)
        record = last_record(self.store(settings), [run_id])
        if record is not None:
            conversation.resume(record.messages, executed_in(record))
            conversation.last_run_id = run_id

    def find_easel(self, cell: CallingCell) -> Easel | None:
        """Where a front end can put cells under the calling cell; None: nowhere."""
        return self._easels.of(cell.shell.get_parent())

    def show_again(self, run_id: str, cell: CallingCell, shown: RunDisplay) -> None:
        """Show a recorded run; where the calling cell paints, its cells are put into the notebook.

        Args:
            run_id: The run.
            cell: The calling cell.
            shown: Shows what stands between the cells, and outputs.
        """
        assert self._store is not None
        notebook: PaintedNotebook | None = None
        if cell.easel is not None:
            saved = saved_notebook(self._shell.user_ns, os.environ)
            count = self._shell.displayhook.prompt_count
            self._easels.start(cell.easel, run_id)
            notebook = PaintedNotebook(cell.easel, saved, lambda: run_id, count)
        for recorded in self._store.events(run_id):
            if notebook is not None and isinstance(recorded.event, CellEvent):
                notebook.apply(recorded.event)
            shown.show(recorded.event)
        if cell.easel is not None:
            cell.easel.send("done", run=run_id)


def fill_request(
    options: AgentOptions, cell: CellSettings, configured: Configured, settings: Settings
) -> RunRequest:
    """What counts for a prompt: an option, the cell's metadata, ``%config``, the environment.

    Raises:
        SetupError: There is no such mode.
    """
    usual = settings.limits
    limits = replace(
        usual,
        step_limit=_first(
            options.max_steps, cell.max_steps, configured.max_steps, usual.step_limit
        ),
        wall_seconds=_first(options.max_seconds, configured.max_seconds, usual.wall_seconds),
        token_limit=_first(options.max_tokens, configured.max_tokens, usual.token_limit),
        cost_limit_dollars=_first(options.budget, configured.budget, usual.cost_limit_dollars),
        cell_timeout_seconds=_first(
            options.timeout,
            cell.timeout_seconds,
            configured.timeout_seconds,
            usual.cell_timeout_seconds,
        ),
    )
    mode = options.mode or configured.mode or settings.mode
    return RunRequest(
        "",
        option_parameters(options.model or "", options),
        usual_model=cell.model or configured.model,
        assistant_name=options.assistant or "",
        files=options.files,
        mode=checked_mode(mode, "The mode"),
        limits=limits,
        given=dict(options.var),
        tells_time=_first(configured.message_times, settings.message_times),
    )


def _first(*values: Any) -> Any:
    """The first that was given."""
    return next((value for value in values if value is not None), None)


def did_you_mean(models: tuple[str, ...]) -> Notice:
    """What is said of a model that the service does not know."""
    if not models:
        return Notice("info", "The service does not list a model of such a name.")
    return Notice("info", f"Did you mean {' or '.join(models)}?", "Name it with -m.")


def saved_notebook(
    namespace: Mapping[str, object], environ: Mapping[str, str]
) -> SavedNotebook | None:
    """The notebook file that this kernel runs for, where the front end tells.

    VS Code names it in the namespace, Jupyter Server in the environment.
    """
    told = namespace.get("__vsc_ipynb_file__") or environ.get("JPY_SESSION_NAME") or ""
    path = Path(str(told))
    return SavedNotebook(path) if path.suffix == ".ipynb" and path.is_file() else None


def _secrets(settings: Settings) -> dict[str, str]:
    """What a redactor may have to know; other variables change all the time."""
    found = {name: value for name, value in os.environ.items() if SECRET.search(name)}
    return {**found, "": settings.service.api_key}
