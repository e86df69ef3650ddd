"""A live kernel over jupyter_client: the notebook's own, or one started for the run."""

from __future__ import annotations

import ast
import json
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Protocol

from cellwright.errors import (
    KernelDiedError,
    KernelError,
    KernelNotReadyError,
    KernelRestartedError,
    RunCancelled,
)
from cellwright.kernels import CellRequest, InputAsker, KernelDescription, OutputSink, PendingInput
from cellwright.kernels.capture import answered
from cellwright.kernels.cell_run import LAST_PATIENCE_SECONDS, CellRun, Channels, Received
from cellwright.kernels.installing import (
    SNAPSHOTS,
    answer_expression,
    install_code,
    install_snapshots_code,
)
from cellwright.record.events import CellOutput
from cellwright.record.outputs import Execution, from_kernel_message
from cellwright.stopping import Stop

# Says that somebody else's cell is waited for, once it takes a while.


TOLD_AFTER_SECONDS = 1.0


class Waiting:
    """Told again and again whether something is waited for; tells of it once it is worth it.

    Args:
        tell: Called with True when a longer wait has begun and with False when it is over.
    """

    def __init__(self, tell: Callable[[bool], None] | None = None) -> None:
        self.tell = tell
        self._since: float | None = None
        self._told = False

    def note(self, waits: bool) -> None:
        """Whether something is waited for right now."""
        if not waits:
            self._since = None
        elif self._since is None:
            self._since = time.monotonic()
        long = self._since is not None and time.monotonic() - self._since >= TOLD_AFTER_SECONDS
        if self.tell is not None and long != self._told:
            self._told = long
            self.tell(long)


# What a running cell asks with ``input``: put to the person, answered when they have typed.
#
# Nothing here waits: the loop that reads the kernel's messages looks in, so that Stop acts at once.


class Keyboard:
    """The questions of one cell, one after the other.

    Args:
        ask: Puts a question to the person.
        send: Takes the answer to the kernel.
    """

    def __init__(self, ask: InputAsker, send: Callable[[str], None]) -> None:
        self._ask, self._send = ask, send
        self._pending: PendingInput | None = None
        self._asked_at = 0.0
        self._waited_seconds = 0.0

    @property
    def waited_seconds(self) -> float:
        """How long the cell has waited for the person so far, in all."""
        now = time.monotonic() - self._asked_at if self._pending is not None else 0.0
        return self._waited_seconds + now

    def take_in(self, message: Received) -> None:
        """The cell asks; a question before it is not waited for any more."""
        if message.type == "input_request":
            self.close()
            content = message.content
            self._asked_at = time.monotonic()
            self._pending = self._ask(
                str(content.get("prompt", "")), bool(content.get("password", False))
            )

    def look(self) -> None:
        """Send the answer when it is there."""
        value = self._pending.value() if self._pending is not None else None
        if value is not None:
            self._send(value)
            self.close()

    def close(self) -> None:
        """Stop waiting for the person."""
        if self._pending is not None:
            self._waited_seconds = self.waited_seconds
            pending, self._pending = self._pending, None
            pending.close()


# Whether a kernel is still there, and still the same one.


PROCESS_LOOK_SECONDS = 0.5
"""How often the process is looked at."""
ASK_SECONDS = 1.0
"""A kernel that is silent for so long is asked, on the control channel, who it is."""
RETURN_SECONDS = 1.0
"""A process that is gone may be one that is being restarted: its successor comes soon."""
COMING_SECONDS = 10.0
"""Where nobody owns the process, the successor of a restarted kernel has so long to be heard."""
RESTART_LIMIT = 5
LOOP_SECONDS = 30.0
"""As many restarts within this time are a loop, in which nothing can be waited for."""
KILLED = -9
MEMORY = "The system killed it, most often because memory ran out: use less at once."
LOST = "Its variables are lost; cells that made them have to run again."


class Liveness:
    """Notices that a kernel died or was restarted behind our back.

    Args:
        client: For its heartbeat, where nobody owns the process.
        manager: Whoever owns the process, or None.
        channels: To ask the kernel who it is.
    """

    def __init__(self, client: Any, manager: Any, channels: Channels) -> None:
        self.answers_control = False
        """Whether it answered the last question."""
        self._client, self._manager, self._channels = client, manager, channels
        self.session = ""
        """Of the kernel that was heard last."""
        self.leaving = ""
        """Session of a kernel that said it is being restarted."""
        self._restarted = False
        self._gone_at: float | None = None
        self._expected_until = 0.0
        self._looked_at = self._asked_at = self._heard_at = time.monotonic()

    def is_alive(self) -> bool:
        """Whether the process is there, as far as can be told."""
        if self._manager is not None:
            return bool(self._manager.is_alive())
        heartbeat = self._client.hb_channel
        # Without a heartbeat it cannot be told.
        return bool(heartbeat.is_beating()) if heartbeat.is_alive() else True

    def settle(self) -> None:
        """A request was answered: whoever answers now is the kernel we mean."""
        self._restarted, self._gone_at = False, None

    def note(self, message: Received) -> None:
        """Every message shows that it lives, and who it is."""
        self._heard_at = time.monotonic()
        if message.channel == "control":
            self.answers_control = True
        if not message.session or message.type == "comm_msg":
            return
        if self.session and message.session != self.session:
            self._restarted = True
        if message.type == "shutdown_reply" and message.content.get("restart"):
            # The last words of a kernel that somebody restarts.
            self._restarted, self.leaving = True, message.session
        self.session = message.session

    def check(self) -> None:
        """Look after the kernel now and then.

        Raises:
            KernelRestartedError: It is another one.
            KernelDiedError: It is gone.
        """
        now = time.monotonic()
        if now - self._looked_at >= PROCESS_LOOK_SECONDS:
            self._looked_at = now
            self._look(now)
        if self._restarted:
            self._restarted, self._expected_until = False, now + COMING_SECONDS
            raise KernelRestartedError

    def _look(self, now: float) -> None:
        if not self.is_alive():
            if self._manager is None and now < self._expected_until:
                return
            self._gone_at = self._gone_at or now
            if now - self._gone_at >= RETURN_SECONDS:
                killed = getattr(self._manager, "exit_code", None) == KILLED
                hint = f"{MEMORY} {LOST}" if killed else LOST
                raise KernelDiedError("The kernel's process is gone.", hint=hint)
            return
        self._restarted = self._restarted or self._gone_at is not None
        self._gone_at = None
        if now - max(self._heard_at, self._asked_at) > ASK_SECONDS:
            self._asked_at, self.answers_control = now, False
            self._channels.send("kernel_info_request", {}, channel="control")


def check_loop(restarts: Sequence[float]) -> None:
    """Give up on a kernel that does not stay.

    Args:
        restarts: When it was restarted, in seconds; the newest ``RESTART_LIMIT`` at most.

    Raises:
        KernelDiedError: It is restarted again and again.
    """
    if len(restarts) == RESTART_LIMIT and restarts[-1] - restarts[0] < LOOP_SECONDS:
        raise KernelDiedError(
            "The kernel is restarted again and again.",
            hint="Something ends it soon after its start; the log of the server may say what.",
        )


LOOK_SECONDS = 0.1
ANSWER_SECONDS = 10.0
"""A question to a kernel that is not busy is answered within this time."""
PUBLISHED_SECONDS = 0.1
CELLS_REMEMBERED = 256
LATE_REMEMBERED = 1_000


class ProcessManager(Protocol):
    """What is needed of whoever owns the kernel's process; jupyter_client's manager has it."""

    def is_alive(self) -> bool:
        """Whether the process is there."""
        ...

    def interrupt_kernel(self) -> None:
        """Interrupt what runs."""
        ...


class ClientKernel:
    """Runs cells over a connection of its own, beside the person's.

    Args:
        client: A ``BlockingKernelClient`` whose channels are started.
        manager: Owns the process; without it the kernel is interrupted by message and watched
            by its heartbeat.
        on_input: Puts what a cell asks with ``input`` to the person; without it such a cell
            fails. The cell's time limit does not count the wait, and Stop ends it.
        on_waiting: Called with True when somebody else's cell has been waited for a second, and
            with False when that is over.
    """

    runs_elsewhere = True
    """Cells go on whatever this process does meanwhile."""
    _install_too: Mapping[str, str] = MappingProxyType({})
    """Expressions that are worked out whenever the probe is installed, whatever comes of them."""
    _last_patience_seconds = LAST_PATIENCE_SECONDS
    """How long a cell that was interrupted for the last time may go on before it is given up."""
    is_shared = True
    """Somebody else may have a cell in it, which is waited for however long it takes."""

    def __init__(
        self,
        client: Any,
        manager: ProcessManager | None = None,
        *,
        on_input: InputAsker | None = None,
        on_waiting: Callable[[bool], None] | None = None,
    ) -> None:
        self._client, self._manager = client, manager
        self._on_input = on_input
        self._channels = Channels(client, with_stdin=on_input is not None)
        self._waiting = Waiting(on_waiting)
        self._keyboard: Keyboard | None = None
        self._liveness = Liveness(client, manager, self._channels)
        self._lock = threading.RLock()
        self._cells: OrderedDict[str, str] = OrderedDict()
        self._late: deque[CellOutput] = deque(maxlen=LATE_REMEMBERED)
        self._busy: set[str] = set()
        self._run: CellRun | None = None
        self._info: Mapping[str, Any] | None = None
        self._known_pid: int | None = None
        self._has_probe = False
        self._is_unsure = False
        """Another kernel may have the place of the one that was heard last: it has to be asked."""
        self._hears = ""
        """Session of what was published last: subscribing takes a moment, after a restart too."""

    @property
    def session(self) -> str:
        """Of the kernel that was heard last; empty before it was asked anything."""
        return self._liveness.session

    def wait_until_free(self, stop: Stop) -> None:
        """Return when nobody else's cell runs."""
        with self._lock:
            stop.check()
            self._is_unsure = self._is_unsure or not self._is_same_process()
            self._get_ready(stop)

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell; yield its outputs as they come."""
        with self._lock:
            stop.check()
            if request.kernel_session:
                self._is_unsure = self._is_unsure or not self._is_same_process()
            self._get_ready(stop)
            if request.kernel_session and self.session != request.kernel_session:
                raise KernelRestartedError
            run = CellRun(request, stop, on_output, self._last_patience_seconds)
            self._start(run, request)
            try:
                while not run.is_over:
                    for message in self._channels.receive(run.seconds_to_wait):
                        self._take_in(message)
                    yield from [*self._late_outputs(on_output), *run.capture.take()]
                    self._look_after(run)
                    if run.wants_interrupt():
                        self._interrupt()
                    if run.is_stuck:
                        self._give_up(run)
                    self._check_alive()
            except KernelDiedError:
                run.is_lost = True  # whatever has its place now must not be interrupted
                raise
            finally:
                self._leave()
                self._make_up(run)
                if not run.is_over and run.started_at is not None and self._liveness.is_alive():
                    self._interrupt()
                run.capture.finish()
            yield from run.capture.take()
            self._has_probe = self._has_probe and run.report is not None
            return run.result()

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of a function of ``cellwright.probe``, run silently in the kernel."""
        with self._lock:
            if self._run is not None:
                raise KernelError(f"A cell runs; {function!r} can be asked when it has ended.")
            stop = Stop()
            self._get_ready(stop, within=ANSWER_SECONDS)
            if not self._has_probe:
                raise KernelError(f"This {self._language} kernel cannot be asked {function!r}.")
            expression = answer_expression(function, arguments)
            found: Mapping[str, Any] = {}
            for _ in range(2):
                self._install()
                found = self._silently(stop, expression)["user_expressions"]["answer"]
                text = _told(found)
                if text is not None:
                    return answered(function, json.loads(text))
                # The kernel was restarted since.
                self._has_probe = False
            raise KernelError(f"The kernel cannot answer {function!r}: {found.get('evalue')!r}.")

    def ask_snapshots(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of a function of ``kernels.snapshots``, run silently in the kernel.

        ``go_back`` is answered by the kernel that takes the place of this one.

        Raises:
            KernelError: A cell runs, or the kernel cannot be asked.
        """
        with self._lock:
            if self._run is not None:
                raise KernelError(f"A cell runs; {function!r} can be done when it has ended.")
            self._get_ready(Stop(), within=ANSWER_SECONDS)
            if not self._has_probe:
                raise KernelError(f"This {self._language} kernel cannot be forked.")
            expression = answer_expression(function, arguments, f"{SNAPSHOTS}.snapshots")
            answer = self._silently(Stop(), expression)["user_expressions"]["answer"]
            text = _told(answer)
            if text is None:
                self._silently(Stop(), install_snapshots_code())
                answer = self._silently(Stop(), expression)["user_expressions"]["answer"]
                text = _told(answer)
            if text is None:
                raise KernelError(f"The kernel cannot do {function!r}: {answer.get('evalue')!r}.")
            found = json.loads(text)
            if "failed" in found:
                raise KernelError(f"The kernel could not do {function!r}: {found['failed']}.")
            return found["value"]

    def describe(self) -> KernelDescription:
        """Language, version and folder; the folder of a Python kernel only."""
        with self._lock:
            self._get_ready(Stop(), within=ANSWER_SECONDS)
            if self._language == "python":
                return KernelDescription(**self.probe("describe_kernel", {}))
            info = self._info or {}
            version = str(info.get("language_info", {}).get("version", ""))
            return KernelDescription(self._language, version, str(info.get("implementation")), "")

    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._liveness.is_alive()

    def interrupt(self) -> None:
        """Interrupt our own cell if it runs; never another one."""
        run = self._run
        if run is not None and run.started_at is not None:
            self._interrupt()

    def extend(self, seconds: float) -> bool:
        """Let the cell that runs go on for longer; whether one runs. From any thread."""
        run = self._run
        if run is not None:
            run.extend(seconds)
        return run is not None

    def close(self) -> None:
        """Nothing: the connection and the kernel belong to whoever made them."""

    @property
    def _language(self) -> str:
        return str((self._info or {}).get("language_info", {}).get("name", ""))

    def _start(self, run: CellRun, request: CellRequest) -> None:
        content = {
            "code": request.code,
            "silent": request.is_secret,
            "store_history": not request.is_secret,
            "user_expressions": {},
            "allow_stdin": self._on_input is not None,
            "stop_on_error": False,
        }
        marks = {"cell_id": request.cell_id, "input": self._on_input is not None}
        if self._on_input is not None:
            self._keyboard = Keyboard(self._on_input, self._type)
        run.message_id = self._channels.send(
            "execute_request",
            content,
            metadata={"cellId": request.cell_id, "cellwright": marks},
            message_id=request.message_id,
        )
        self._run = run
        self._cells[run.message_id] = request.cell_id
        while len(self._cells) > CELLS_REMEMBERED:
            self._cells.popitem(last=False)

    def _look_after(self, run: CellRun) -> None:
        """What has to be seen to again and again while a cell runs or waits its turn."""
        self._check_begun(run)
        self._waiting.note(run.started_at is None and bool(self._busy))
        if self._keyboard is not None:
            self._keyboard.look()
            run.waited_seconds = self._keyboard.waited_seconds

    def _give_up(self, run: CellRun) -> None:
        """A cell does not react: the kernel is the person's, who alone may restart it."""

    def _make_up(self, run: CellRun) -> None:
        """Ask for the displays of a cell of which messages were lost, as they are in the end."""
        if not run.lost:
            return
        with suppress(KernelError, RunCancelled):
            answer = self._silently(Stop(), answer_expression("last_displays", {}))
            text = _told(answer["user_expressions"]["answer"])
            found = answered("last_displays", json.loads(text)) if text else {}
            for name, shown in found.items():
                kind = "update_display_data" if name in run.display_ids else "display_data"
                content = {**shown, "transient": {"display_id": name}}
                message = from_kernel_message(kind, content)
                if message is not None:
                    run.capture.add(message)

    def _leave(self) -> None:
        self._run = None
        self._waiting.note(False)
        keyboard, self._keyboard = self._keyboard, None
        if keyboard is not None:
            keyboard.close()

    def _type(self, value: str) -> None:
        content = {"value": value, "status": "ok"}
        self._channels.send("input_reply", content, channel="stdin")

    def _take_in(self, message: Received) -> None:
        """Give a message to whom it belongs: this cell, or one that ended before."""
        self._note(message)
        run = self._run
        if message.channel == "stdin":
            if self._keyboard is not None and run is not None:
                self._keyboard.take_in(message)
        elif run is not None and message.parent_id == run.message_id:
            run.take_in(message)
        elif message.channel == "iopub" and message.parent_id in self._cells:
            output = from_kernel_message(message.type, message.content)
            if output is not None:
                self._late.append(CellOutput(self._cells[message.parent_id], output))

    def _late_outputs(self, on_output: OutputSink) -> Iterator[CellOutput]:
        while self._late:
            yield on_output(self._late.popleft())

    def _note(self, message: Received) -> None:
        """Keep track of whether the kernel is busy, with whatever."""
        self._liveness.note(message)
        if message.channel == "iopub":
            self._hears = self._liveness.session
        if message.channel != "iopub" or message.type != "status":
            return
        state = message.content.get("execution_state")
        if state in ("starting", "restarting"):
            self._forget()
        elif state == "busy" and message.parent_type != "interrupt_request":
            self._busy.add(message.parent_id)
        elif state == "idle":
            self._busy.discard(message.parent_id)

    def _get_ready(self, stop: Stop, *, within: float | None = None) -> None:
        """Wait until the kernel is free, however long the person's own cell takes."""
        for message in self._channels.receive(0):
            self._take_in(message)
        if self._info is None or self._busy or self._is_unsure:
            pid = self._living_pid()
            self._info = self._ask_info(stop, within)
            # Restarted meanwhile: then nobody knows which of the two has answered.
            self._known_pid = pid if pid == self._living_pid() else None
        self._liveness.settle()
        self._is_unsure = False
        self._install()

    def _living_pid(self) -> int | None:
        pid: int | None = getattr(self._manager, "living_pid", None)
        return pid

    def _is_same_process(self) -> bool:
        """Whether the kernel cannot be another one than was heard last, so need not be asked."""
        return self._known_pid is not None and self._known_pid == self._living_pid()

    def _ask_info(self, stop: Stop, within: float | None) -> Mapping[str, Any]:
        """Answered when nothing else runs, by a kernel of which we hear what it publishes.

        Asked again of one that was restarted meanwhile.
        """
        asked_at = time.monotonic()
        restarts: deque[float] = deque(maxlen=RESTART_LIMIT)
        while True:
            try:
                info = self._ask("kernel_info_request", {}, stop, within=within)
                if self._is_heard() and self._liveness.session != self._liveness.leaving:
                    return info
                time.sleep(LOOK_SECONDS)  # what another process publishes is not heard yet
            except KernelRestartedError:
                restarts.append(time.monotonic())
                check_loop(restarts)
            self._check_patience(asked_at, within)

    def _forget(self) -> None:
        """Whatever was known of the kernel was of the one before it."""
        self._busy.clear()
        self._has_probe, self._is_unsure = False, True

    def _check_alive(self) -> None:
        try:
            self._liveness.check()
        except KernelRestartedError:
            self._forget()
            raise

    def _is_heard(self) -> bool:
        if self._hears != self._liveness.session:
            for message in self._channels.receive(PUBLISHED_SECONDS):
                self._take_in(message)
        return self._hears == self._liveness.session

    def _install(self) -> None:
        if self._has_probe or self._language != "python":
            return
        # Not as a cell: IPython would take its many lines apart for its magics first.
        reply = self._silently(Stop(), install_code(), **self._install_too)
        answer = reply.get("user_expressions", {}).get("answer", {})
        self._has_probe = answer.get("status") == "ok"

    def _silently(self, stop: Stop, expression: str, **more: str) -> Mapping[str, Any]:
        """The reply to expressions that are worked out where nobody sees it."""
        content = {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": {"answer": expression, **more},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        return self._ask("execute_request", content, stop, within=ANSWER_SECONDS)

    def _ask(
        self, kind: str, content: Mapping[str, Any], stop: Stop, *, within: float | None
    ) -> Mapping[str, Any]:
        message_id = self._channels.send(kind, content)
        asked_at = time.monotonic()
        try:
            for message in self._messages(stop):
                if message is None:
                    self._waiting.note(kind == "kernel_info_request")
                    self._check_patience(asked_at, within)
                elif message.channel == "shell" and message.parent_id == message_id:
                    return message.content
        finally:
            self._waiting.note(False)
        raise AssertionError("messages never end")

    def _messages(self, stop: Stop) -> Iterator[Received | None]:
        while True:
            stop.check()
            for message in self._channels.receive(LOOK_SECONDS):
                self._take_in(message)
                yield message
            self._check_alive()
            yield None

    def _check_patience(self, asked_at: float, within: float | None) -> None:
        waited = time.monotonic() - asked_at
        patient = within is None and (self._busy or self._liveness.answers_control)
        if waited > (within or ANSWER_SECONDS) and not patient:
            raise KernelNotReadyError(
                f"The kernel did not answer within {waited:.0f} s.",
                hint="Interrupt or restart it.",
            )

    def _check_begun(self, run: CellRun) -> None:
        """A kernel that is not busy with anything else begins at once, or never."""
        is_others_turn = self.is_shared and bool(self._busy)
        if run.started_at is None and not is_others_turn and run.seconds > ANSWER_SECONDS:
            raise KernelNotReadyError(
                f"The kernel did not begin the cell within {ANSWER_SECONDS:.0f} s.",
                hint="Restart it.",
            )

    def _interrupt(self) -> None:
        interrupt: Callable[[], Any] | None = getattr(self._manager, "interrupt_kernel", None)
        if interrupt is not None:
            interrupt()
        else:
            self._channels.send("interrupt_request", {}, channel="control")


def _told(answer: Mapping[str, Any]) -> str | None:
    """The text of an answer to ``answer_expression``; none: the module is not in the kernel."""
    if answer.get("status") != "ok":
        return None
    text: str | None = ast.literal_eval(answer["data"]["text/plain"])
    return text
