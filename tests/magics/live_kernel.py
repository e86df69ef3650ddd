"""A kernel in which the magics are used, and the scripted model its calls go to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fake_service import MODEL, Answer, FakeService
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from quick_kernels import kernels_forked, without_forks

from cellwright.record.run_record import RunRecord
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

Message = dict[str, Any]


@dataclass
class Shown:
    """What one cell came to."""

    messages: list[Message] = field(default_factory=list)
    reply: Message = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[Message]:
        """The contents of its messages of one kind."""
        return [m["content"] for m in self.messages if m["header"]["msg_type"] == kind]

    @property
    def stdout(self) -> str:
        """All it printed."""
        return "".join(c["text"] for c in self.of("stream") if c["name"] == "stdout")

    @property
    def stderr(self) -> str:
        """All its complaints."""
        return "".join(c["text"] for c in self.of("stream") if c["name"] == "stderr")

    @property
    def displays(self) -> list[dict[str, Any]]:
        """The MIME bundles it shows in the end, updates taken in."""
        shown: dict[str, dict[str, Any]] = {}
        for number, message in enumerate(self.messages):
            kind, content = message["header"]["msg_type"], message["content"]
            if kind not in ("display_data", "update_display_data", "execute_result"):
                continue
            name = content.get("transient", {}).get("display_id", f"plain {number}")
            if kind != "update_display_data" or name in shown:
                shown[name] = content["data"]
        return list(shown.values())

    @property
    def markdown(self) -> str:
        """Its Markdown, one display after the other."""
        return "\n\n".join(data.get("text/markdown", "") for data in self.displays)

    @property
    def results(self) -> list[str]:
        """Values of last expressions."""
        return [content["data"]["text/plain"] for content in self.of("execute_result")]

    @property
    def payload(self) -> list[Message]:
        """What the front end is asked to do."""
        return list(self.reply["content"].get("payload", []))


class LiveKernel:
    """A kernel process and the service its model calls go to.

    Args:
        service: Answers for the model.
        folder: Where the kernel works, and keeps its record.
        manager: Starts and ends it; None: jupyter_client's.
    """

    def __init__(self, service: FakeService, folder: Path, manager: Any = None) -> None:
        self.service = service
        self.home = folder / "home"
        self.manager: Any = KernelManager() if manager is None else manager
        environment = without_forks() | {
            "CELLWRIGHT_BASE_URL": service.base_url,
            "CELLWRIGHT_API_KEY": "no-key",
            "CELLWRIGHT_MODEL": MODEL,
            "CELLWRIGHT_HOME": str(self.home),
        }
        with kernels_forked():
            self.manager.start_kernel(cwd=str(folder), env=environment)
        self.client: BlockingKernelClient = self.manager.client()
        # Without jupyter_client's manager a late heartbeat of a busy machine is taken for a death.
        self.client.start_channels(hb=isinstance(self.manager, KernelManager))
        try:
            self.client.wait_for_ready(timeout=60)
        except RuntimeError:
            self.client.stop_channels()
            self.manager.shutdown_kernel(now=True)
            raise

    def run(
        self,
        code: str,
        script: Sequence[Answer] | Answer = (),
        *,
        answers: Sequence[str] | None = None,
        watch: Callable[[Message], None] = lambda message: None,
        metadata: dict[str, Any] | None = None,
    ) -> Shown:
        """Run a cell.

        Args:
            code: The cell.
            script: What the model says; one function says it to all that is asked.
            answers: What the person types; None: nobody can type.
            watch: Sees every output message.
            metadata: Of the request; None: as a notebook sends it.
        """
        self.service.script = script if callable(script) else [*script]
        self.service.requests.clear()
        shown, waiting = Shown(), list(answers or ())

        def see(message: Message) -> None:
            shown.messages.append(message)
            watch(message)

        def type_answer(message: Message) -> None:
            shown.questions.append(message["content"]["prompt"])
            if waiting:
                self.client.input(waiting.pop(0))
            else:
                self.manager.interrupt_kernel()

        self.client.session.metadata = {"cellId": "cell-1"} if metadata is None else metadata
        try:
            shown.reply = self.client.execute_interactive(
                code,
                allow_stdin=answers is not None,
                output_hook=see,
                stdin_hook=type_answer,
                timeout=60,
            )
        finally:
            self.client.session.metadata = {}
        return shown

    def value(self, expression: str) -> str:
        """The text of an expression's value."""
        shown = self.run(f"print(repr(({expression})))")
        assert shown.reply["content"]["status"] == "ok", shown.reply
        return shown.stdout.strip()

    @property
    def last_run(self) -> RunRecord:
        """The record of the newest run."""
        database = open_database(self.home / "runs.sqlite")
        try:
            store = RunStore(database)
            return store.record(store.resolve("last"))
        finally:
            database.close()

    def close(self) -> None:
        """End the process."""
        self.manager.shutdown_kernel()
        self.client.stop_channels()


@contextmanager
def loaded(folder: Path) -> Iterator[LiveKernel]:
    """A kernel that works in a folder, with the magics loaded and a scripted model behind it."""
    with FakeService() as service:
        live = LiveKernel(service, folder)
        try:
            live.run("%load_ext cellwright")
            yield live
        finally:
            live.close()
