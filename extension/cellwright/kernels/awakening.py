"""A forked kernel becomes a kernel: ipykernel is set up anew around the shell that is there.

Runs inside kernels that may not have cellwright, as ``snapshots`` does. The shell, its namespace,
its extensions and its streams stay the objects that they are; application, kernel, sockets, loops
and threads are made anew, because a fork has none of the threads that they belong to.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

PORTS = ("shell", "iopub", "stdin", "control", "hb")
RETURN_SECONDS = 10.0
"""Clients that were connected have so long to come back before they are answered.

ZeroMQ tries again ten times a second; on a machine that is busy two seconds were not enough now
and then, and whoever came later waited for ever for an answer that was already sent.
"""
SUBSCRIBE_SECONDS = 0.05
"""Where ipykernel does not tell who subscribes, the last that came has so long to do it."""
IMPORT_SECONDS = 10.0
"""So long an import in another thread is waited for before the kernel is not forked."""
PAUSE_SECONDS = 0.005
END_SECONDS = 1.0
"""The programs that a copy has started are ended for so long, if it goes on to start some."""
SET_CHILD_SUBREAPER = 36
ANONYMOUS = ("anon_inode:[eventfd]", "anon_inode:[eventpoll]")

_kept: list[Any] = []
"""What belongs to the process that was forked: closing or freeing it would disturb that one."""


class KernelThread(threading.Thread):
    """A thread in a kernel, where ``stopping`` is not installed."""

    def __init__(self, target: Callable[[], object], name: str | None = None) -> None:
        super().__init__(target=target, name=name, daemon=True)


class Carried:
    """What a fork is told of the kernel, beside its memory."""

    def __init__(self) -> None:
        self.application: Any = None
        self.streams: list[Any] = []
        self.kernel_sockets: list[int] = []
        """Numbers of the sockets with the kernel's ports."""
        self.anonymous: list[int] = []
        """Numbers of what ZeroMQ and the event loops wait with."""
        self.pipes: list[tuple[int, bool]] = []
        """Number of each pipe to another process, and whether it is written to."""
        self.connections: list[int] = []
        """Numbers of the sockets that are connected to a server."""
        self.offsets: list[tuple[int, int]] = []
        """Number and position of files: the position is the same for both processes."""
        self.standard: set[int] = set()
        """Numbers of those files that the kernel was given for its standard streams."""
        self.random: Any = None
        self.thread_values: dict[Any, Any] = {}
        """What ``threading.local`` objects hold for the main thread."""
        self.main_thread = threading.main_thread()
        self.thread_id = threading.get_ident()
        self.context = contextvars.copy_context()
        self.signal_mask: Any = ()
        self.oom_score = self.name = ""


def kernel_application() -> Any:
    """The ``IPKernelApp`` of this process, or None."""
    module = sys.modules.get("ipykernel.kernelapp")
    if module is None or not module.IPKernelApp.initialized():
        return None
    return module.IPKernelApp.instance()


def note_carried(app: Any) -> Carried:
    """What the fork has to know; before it is forked."""
    carried = Carried()
    carried.application = app
    carried.streams = _streams(app)
    # The rest of it is of the interpreter's own, such as the loop that runs.
    values = _thread_values().items()
    carried.thread_values = {k: v for k, v in values if str(k).startswith("thread.local.")}
    ports = {getattr(app, f"{name}_port") for name in PORTS}
    ports.add(getattr(app.iopub_thread, "_pipe_port", None))
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            found = os.fstat(number)
        except OSError:
            continue
        if stat.S_ISSOCK(found.st_mode):
            if ports & set(_ports_of(number, app)):
                carried.kernel_sockets.append(number)
            elif _is_connected(number):
                carried.connections.append(number)
        elif stat.S_ISREG(found.st_mode):
            with contextlib.suppress(OSError):
                carried.offsets.append((number, os.lseek(number, 0, os.SEEK_CUR)))
        elif not stat.S_IFMT(found.st_mode):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/self/fd/{number}") in ANONYMOUS:
                    carried.anonymous.append(number)
    given = {_describe_open_file(number) for number in _standard_numbers(carried.streams)}
    numbers = [number for number, _ in carried.offsets]
    carried.standard = {n for n in numbers if _describe_open_file(n) in given}
    carried.pipes = _pipes(carried.streams)
    random = sys.modules.get("random")
    if random is not None:
        # It is seeded anew in every fork.
        carried.random = random.getstate()
    return carried


def _thread_values() -> dict[Any, Any]:
    """The dictionary in which ``threading.local`` keeps what belongs to this thread."""
    # Our own prototype: that of ``ctypes.pythonapi`` is everybody's. The reference is borrowed.
    ask = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_GetDict", ctypes.pythonapi))
    found: dict[Any, Any] = ctypes.cast(ask(), ctypes.py_object).value
    return found


def _streams(app: Any) -> list[Any]:
    """The kernel's own streams; a cell may have put others in their place for a while."""
    kernel = app.kernel
    found: list[Any] = [sys.stdout, sys.stderr]
    found += [getattr(kernel, name, None) for name in ("_stdout", "_stderr")]
    if not all(_is_stream(stream) for stream in found[:2]):
        import gc

        found += [thing for thing in gc.get_objects() if _is_stream(thing)]
    streams: dict[str, Any] = {}
    for stream in found:
        if _is_stream(stream) and stream.pub_thread is app.iopub_thread:
            streams.setdefault(stream.name, stream)
    return list(streams.values())


def _is_stream(thing: Any) -> bool:
    return type(thing).__name__ == "OutStream" and type(thing).__module__ == "ipykernel.iostream"


def _is_connected(number: int) -> bool:
    """Whether a socket has somebody at its other end who has a name."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as line:
        return line.type == socket.SOCK_STREAM and bool(line.getpeername())
    return False


def _standard_numbers(streams: Sequence[Any]) -> set[int]:
    """The numbers of the standard streams, and those under which ipykernel put them by."""
    copies = (getattr(stream, "_original_stdstream_copy", None) for stream in streams)
    return {0, 1, 2, *(number for number in copies if number is not None)}


def _describe_open_file(number: int) -> Sequence[int]:
    """What is the same for all numbers of one opening of a file; empty: it is none."""
    import fcntl

    with contextlib.suppress(OSError):
        found, flags = os.fstat(number), fcntl.fcntl(number, fcntl.F_GETFL)
        return (found.st_dev, found.st_ino, flags, os.lseek(number, 0, os.SEEK_CUR))
    return ()


def _pipes(streams: Sequence[Any]) -> list[tuple[int, bool]]:
    """The pipes to other processes: those of which one end alone is here."""
    import fcntl

    shared = {*_standard_numbers(streams), *_pipes_of_multiprocessing()}
    ends: dict[int, list[tuple[int, bool]]] = {}
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            found = os.fstat(number)
            if stat.S_ISFIFO(found.st_mode):
                access = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
                ends.setdefault(found.st_ino, []).append((number, access != os.O_RDONLY))
    alone = [found for found in ends.values() if len({writes for _, writes in found}) == 1]
    return [end for found in alone for end in found if end[0] not in shared]


def _pipes_of_multiprocessing() -> Iterator[int | None]:
    """What its helpers are kept alive by: each fork has it, as they mean it."""
    for module, name, attribute in (
        ("multiprocessing.resource_tracker", "_resource_tracker", "_fd"),
        ("multiprocessing.forkserver", "_forkserver", "_forkserver_alive_fd"),
    ):
        yield getattr(getattr(sys.modules.get(module), name, None), attribute, None)


def sever(pipes: Sequence[tuple[int, bool]], connections: Sequence[int] = ()) -> None:
    """In a fork: let go of what would be used from two processes, as if its other end had ended.

    Whoever listens there otherwise never sees that this kernel closes it, and two that talk to the
    same database at once read each other's answers.
    """
    for number, is_written in pipes:
        reading, writing = os.pipe()
        os.dup2(writing if is_written else reading, number, inheritable=False)
        os.close(reading)
        os.close(writing)
    for number in connections:
        ours, theirs = socket.socketpair()
        os.dup2(ours.fileno(), number, inheritable=False)
        ours.close()
        theirs.close()


def _ports_of(number: int, app: Any) -> Sequence[Any]:
    """The ports at both ends of a socket, where they are this machine's."""
    found: list[Any] = []
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as line:
        for ask in (line.getsockname, line.getpeername):
            with contextlib.suppress(OSError):
                address = ask()
                if line.family == socket.AF_UNIX:
                    before = f"{app.ip}-"
                    if isinstance(address, str) and address.startswith(before):
                        end = address[len(before) :]
                        found.append(int(end) if end.isdigit() else end)
                elif isinstance(address, tuple):
                    found.append(address[1])
    return found


def descriptors_of_port(port: int) -> list[tuple[int, int]]:
    """Number and inode of each socket that is connected to one of the kernel's ports."""
    app, found = kernel_application(), []
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            state = os.fstat(number)
            if not stat.S_ISSOCK(state.st_mode) or port not in _ports_of(number, app)[:1]:
                continue
            with socket.socket(fileno=os.dup(number)) as line:
                is_listening = line.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if not is_listening:
                found.append((number, state.st_ino))
    return found


def describe_request(app: Any) -> dict[str, Any]:
    """The request that runs, and who is connected."""
    kernel = app.kernel
    parent = kernel.get_parent("shell") if hasattr(kernel, "get_parent") else kernel._parent_header
    identities = kernel._parent_ident["shell"]
    if isinstance(identities, bytes):
        identities = [identities]
    return {
        "parent": {"header": (parent or {}).get("header", {})},
        "identities": [identity.hex() for identity in identities],
        "session": app.session.session,
        "subshells": _subshells(app),
        "connected": {
            name: len(descriptors_of_port(getattr(app, f"{name}_port")))
            for name in ("shell", "iopub", "control")
        },
    }


def _subshells(app: Any) -> list[str]:
    """The ids of the threads that clients had made to talk with beside cells."""
    thread = getattr(app, "shell_channel_thread", None)
    return [] if thread is None else list(thread.manager.list_subshell())


def _renew_subshells(app: Any, ids: Sequence[str]) -> None:
    """Make threads of the same ids: clients go on to send to them, JupyterLab for widgets."""
    if not ids:
        return
    thread, managing = app.shell_channel_thread, sys.modules["ipykernel.subshell_manager"]
    # As the kernel does when it starts, which is when it begins to read what comes for them.
    thread.manager.set_on_recv_callback(app.kernel.shell_main)
    done = threading.Event()

    def renew() -> None:
        usual = vars(managing)["uuid"]
        try:
            for subshell in ids:
                vars(managing)["uuid"] = SimpleNamespace(uuid4=lambda known=subshell: known)
                thread.manager._create_subshell()
        finally:
            vars(managing)["uuid"] = usual
            done.set()

    thread.io_loop.add_callback(renew)
    done.wait(1.0)


def waiting_requests(app: Any) -> list[list[str]]:
    """The requests that wait for the one that runs, as they came."""
    found: list[Any] = []
    with contextlib.suppress(Exception):
        kernel = app.kernel
        queue = getattr(kernel, "msg_queue", None)
        while queue is not None and queue.qsize():
            _, dispatch, arguments = queue.get_nowait()
            if dispatch == kernel.dispatch_shell:
                found.append([bytes(frame) for frame in arguments[0]])
        thread = getattr(app, "shell_channel_thread", None)
        if thread is None:
            _receive_all(kernel.shell_stream.socket, found)
        else:
            found += _waiting_in_tasks()
            behind: list[Any] = []
            _empty_shell_channel(thread, behind)
            _receive_all(thread.manager._shell_channel_to_main.to_socket, found)
            found += behind
    return [[bytes(frame).hex() for frame in frames] for frames in found]


def _waiting_in_tasks() -> list[Any]:
    """What the main thread has read of its socket and not begun with, in order."""
    import asyncio
    import inspect

    current = asyncio.current_task()
    begun, unbegun = [], []
    tasks = [task for task in asyncio.all_tasks() if task is not current]
    numbers = {task: task.get_name().rpartition("-")[2] for task in tasks}
    for task in sorted(tasks, key=lambda task: (len(numbers[task]), numbers[task])):
        coroutine: Any = task.get_coro()
        frame = getattr(coroutine, "cr_frame", None)
        if frame is None:
            continue
        if frame.f_code.co_name == "shell_main":
            begun.append(frame.f_locals["msg"])
        elif inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
            # What runs ``shell_main`` in the shell's context.
            given = frame.f_locals.get("args", ())
            unbegun += [frames for frames in given if isinstance(frames, list)]
    return [*begun, *unbegun]


def _receive_all(line: Any, found: list[Any]) -> None:
    zmq = sys.modules["zmq"]
    with contextlib.suppress(zmq.Again):
        while True:
            found.append(line.recv_multipart(zmq.NOBLOCK))


def _empty_shell_channel(thread: Any, found: list[Any]) -> None:
    """Have the thread that reads the shell's socket pass on what it has, and read the rest."""
    import asyncio

    done = threading.Event()

    async def read() -> None:
        try:
            for _ in range(10):
                await asyncio.sleep(0)  # what was read before is passed on meanwhile
            _receive_all(thread.shell_stream.socket, found)
        finally:
            done.set()

    thread.io_loop.add_callback(read)
    done.wait(1.0)


def restore_streams() -> None:
    """Give the two standard streams of this process back to whoever started it."""
    for stream in _streams(kernel_application()):
        copy = getattr(stream, "_original_stdstream_copy", None)
        if copy is not None:
            os.dup2(copy, stream._original_stdstream_fd)


def report_failure(carried: Carried) -> None:
    """Say in the kernel's log why this process could not become one."""
    import traceback

    copies = [getattr(stream, "_original_stdstream_copy", 2) for stream in carried.streams]
    with contextlib.suppress(OSError):
        os.write(copies[-1] if copies else 2, traceback.format_exc().encode())


def become_kernel(carried: Carried, payload: Any, before_end: Callable[[], object]) -> None:
    """Take the place of the kernel that this process was forked from; end with the kernel."""
    _end_with(_run(carried, payload, payload["connection_file"]), before_end)


def become_copy(
    carried: Carried,
    connection_file: str,
    owner: socket.socket,
    before_end: Callable[[], object],
    sandbox: Any = None,
) -> None:
    """Be a second kernel; end with it, or when the other end of ``owner`` is closed."""
    # A program whose parent ends becomes a child of this process, so that it can be found.
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def announce() -> None:
        owner.send(json.dumps({"process_id": os.getpid()}).encode())
        KernelThread(target=end_with_owner, name="cellwright owner").start()

    def end_with_owner() -> None:
        with contextlib.suppress(OSError):
            owner.recv(1)  # nothing is ever sent: it was closed
        with contextlib.suppress(OSError):
            os.unlink(connection_file)
        try:
            before_end()
        finally:
            os._exit(0)

    try:
        if sandbox is not None:
            folder = os.path.dirname(connection_file)
            sandbox.enter(folder, owner, carried.offsets)
            carried.application.transport, carried.application.ip = "ipc", f"{folder}/kernel"
            # What it runs is nobody's history.
            carried.application.shell.history_manager.enabled = False
        else:
            for number, offset in carried.offsets:
                if number not in carried.standard:
                    _open_again(number, offset)
            sever((), carried.connections)
        carried.offsets = []
        code = _run(carried, None, connection_file, announce)
    except BaseException as error:
        with contextlib.suppress(OSError):
            told = str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
            owner.send(json.dumps({"refused": told}).encode())
        raise
    _end_with(code, before_end)


def end_programs() -> None:
    """In a copy that ends: end what it has started, and what that has."""
    deadline = time.monotonic() + END_SECONDS
    while (found := programs_of(os.getpid())) and time.monotonic() < deadline:
        for number in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(PAUSE_SECONDS)


def programs_of(process_id: int) -> list[int]:
    """The processes that a process has started, and those that they have.

    Without the helper of ``multiprocessing`` that deletes shared memory: it ends afterwards.
    """
    children: dict[int, list[int]] = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            with open(f"/proc/{number}/cmdline", "rb") as arguments:
                is_helper = b"resource_tracker" in arguments.read()
            if state not in "ZX" and not is_helper:
                children.setdefault(int(parent), []).append(int(number))
    found = [process_id]
    for known in found:
        found += children.get(known, ())
    return found[1:]


def _open_again(number: int, offset: int) -> None:
    """Give a file a position of its own: the other kernel goes on with the one they share."""
    with contextlib.suppress(OSError):
        import fcntl

        flags = fcntl.fcntl(number, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC)
        own = os.open(f"/proc/self/fd/{number}", flags)
        os.lseek(own, offset, os.SEEK_SET)
        os.dup2(own, number, inheritable=os.get_inheritable(number))
        os.close(own)


def _end_with(code: int, before_end: Callable[[], object]) -> None:
    """End as a Python program does; nothing above us is ours to return to."""
    import atexit

    for finish in (before_end, threading._shutdown, atexit._run_exitfuncs):  # type: ignore[attr-defined]
        with contextlib.suppress(Exception):
            finish()
    os._exit(code)


def _run(
    carried: Carried,
    payload: Any,
    connection_file: str,
    announce: Callable[[], None] | None = None,
) -> int:
    def live() -> None:
        app = _set_up(carried, payload, connection_file)
        if announce is not None:
            announce()
        _start(app, payload)

    try:
        carried.context.run(live)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    return 0


def _set_up(carried: Carried, payload: Any, connection_file: str) -> Any:
    import asyncio

    import zmq

    old = carried.application
    kernel, shell = old.kernel, old.shell
    _restore_process(carried)
    _forget_loops(old)
    for number in carried.anonymous:
        with contextlib.suppress(OSError):
            os.close(number)
    _kept.extend((old, kernel))
    _leave_cell(shell, kernel)
    _trim_memory()
    asyncio.set_event_loop(asyncio.new_event_loop())
    zmq.Context._instance = None
    type(old).clear_instance()
    type(kernel).clear_instance()
    app = _renew_application(old, shell, payload, connection_file)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, carried.signal_mask)
    # Its warnings about the transport were said when the kernel started.
    with _silent(app.log), _subscriptions_counted() as subscriptions:
        app.init_sockets()
    app.init_heartbeat()
    app.write_connection_file()
    app.log_connection_info()
    for stream in carried.streams:
        _renew_stream(stream, app)
        setattr(sys, stream.name, stream)
    hook = app.displayhook = sys.displayhook = old.displayhook
    hook.session, hook.pub_socket = app.session, app.iopub_socket
    if payload is not None:
        _answer(app, shell, payload, subscriptions)
    app.init_kernel()
    app.init_shell()
    _join_shell(app, shell, old, kernel)
    _renew_history(shell)
    return app


@contextlib.contextmanager
def _subscriptions_counted() -> Iterator[list[bytes] | None]:
    """What clients subscribe to, as it comes; None: this ipykernel does not hear of it."""
    zmq, threads = sys.modules["zmq"], sys.modules["ipykernel.iostream"].IOPubThread
    usual, make_socket = getattr(threads, "_handle_subscription", None), zmq.Context.socket
    if usual is None:
        yield None
        return
    found: list[bytes] = []

    def handle(thread: Any, frames: Any) -> None:
        usual(thread, frames)
        found.append(bytes(frames[0]))

    def make(context: Any, kind: int, *arguments: Any, **options: Any) -> Any:
        made = make_socket(context, kind, *arguments, **options)
        if kind == zmq.XPUB:
            # Otherwise it tells of the first that subscribes alone, and the others are waited for.
            made.setsockopt(zmq.XPUB_VERBOSE, 1)
        return made

    threads._handle_subscription, zmq.Context.socket = handle, make
    try:
        yield found
    finally:
        threads._handle_subscription, zmq.Context.socket = usual, make_socket


@contextlib.contextmanager
def _silent(log: Any) -> Iterator[None]:
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _start(app: Any, payload: Any) -> None:
    kernel = app.kernel
    if payload is not None:
        # Nobody shall see that it starts: it is the kernel that was there all the time.
        kernel._publish_status = lambda *_, **__: None
        kernel._send_interrupt_children = _interrupt_group
        _renew_subshells(app, payload["subshells"])
    if app.poller is not None:
        app.poller.start()
    kernel.start()
    if payload is not None:
        del kernel._publish_status
        _do_waiting(app, payload["waiting"])
    app.io_loop = kernel.io_loop
    with contextlib.suppress(KeyboardInterrupt):
        app.io_loop.start()


def _interrupt_group() -> None:
    """Do what an interrupt by message does: the programs that a cell waits for are hit, too.

    A kernel does this to its group when it leads it; this one's supervisor does.
    """
    group = os.getpgrp()
    if group == os.getppid():
        os.killpg(group, signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


def _restore_process(carried: Carried) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        usual = signal.getsignal(number)
        signal.signal(number, signal.SIG_IGN)  # what came while it slept was not for it
        if usual is not None:
            signal.signal(number, usual)
    for file, offset in carried.offsets:
        # Whoever started the kernel may write to the same log, and would go on from there.
        with contextlib.suppress(OSError):
            if file not in carried.standard:
                os.lseek(file, offset, os.SEEK_SET)
    if carried.random is not None:
        sys.modules["random"].setstate(carried.random)
    # The thread that was forked is the main one: what asks shall see no other than before, and
    # threads that it starts are no more daemons than those of the main thread were.
    main: Any = threading.current_thread()
    main.__class__ = type(carried.main_thread)
    main._name, main._daemonic = carried.main_thread.name, carried.main_thread.daemon
    _thread_values().update(carried.thread_values)
    _forget_loky()
    _adopt_connections(carried.thread_id)
    # What was sent since has moved their keys on: to send more would be refused, and gives away
    # what was sent. Who keeps them in a pool sees that they are closed, and connects anew.
    sever((), _encrypted_connections())


def _trim_memory() -> None:
    """Give back the memory of what was freed.

    Otherwise ZeroMQ takes it for its buffers, of which it writes to a small part, and whatever was
    written there before stays for good: what ZeroMQ has in this process is never freed.
    """
    with contextlib.suppress(AttributeError):  # other C libraries do not have it
        ctypes.CDLL(None).malloc_trim(0)


def _encrypted_connections() -> list[int]:
    ssl = sys.modules.get("ssl")
    if ssl is None:
        return []
    return [line.fileno() for line in _instances_of(ssl.SSLSocket) if line.fileno() >= 0]


def _instances_of(kind: type) -> list[Any]:
    """All objects of a class and those derived from it.

    Each object refers to its class. A list of all objects there are would take a megabyte for each
    100,000 and write to each of them, so that this process had to have all their pages itself.
    """
    import gc

    kinds = [kind]
    for known in kinds:
        kinds += type.__subclasses__(known)
    return [thing for thing in gc.get_referrers(*kinds) if type(thing) in kinds]


def _adopt_connections(thread_id: int) -> None:
    """Let SQLite connections of the main thread be used in the one that is the main thread now.

    Each knows the number of its thread and refuses others; nothing but its memory can be changed.
    """
    sqlite = sys.modules.get("sqlite3")
    if sqlite is None:
        return
    before, now = (
        number.to_bytes(8, sys.byteorder) for number in (thread_id, threading.get_ident())
    )
    for thing in _instances_of(sqlite.Connection):
        size = sqlite.Connection.__basicsize__
        memory = (ctypes.c_char * size).from_address(id(thing))
        for at in range(0, size - 7, 8):
            if memory[at : at + 8] == before:
                memory[at : at + 8] = now


def _forget_loky() -> None:
    """Let joblib make its processes anew: those that it knows listen to another process."""
    executors = sys.modules.get("joblib.externals.loky.reusable_executor")
    if executors is not None:
        vars(executors)["_executor"] = None
    tracking = sys.modules.get("joblib.externals.loky.backend.resource_tracker")
    tracker = getattr(tracking, "_resource_tracker", None)
    if tracker is not None:
        tracker._fd = tracker._pid = None


def _forget_loops(old: Any) -> None:
    """Let the loops of threads that are not here close nothing when they are freed."""
    holders = [old.iopub_thread, old.control_thread, old.kernel]
    holders.append(getattr(old, "shell_channel_thread", None))
    loops = [getattr(holder, "io_loop", None) for holder in holders]
    for loop in loops:
        running = getattr(loop, "asyncio_loop", None)
        if running is None:
            continue
        _kept.append(loop)
        for name in ("_ssock", "_csock"):
            line = getattr(running, name, None)
            if line is not None and line.fileno() >= 0:
                os.close(line.detach())
        selector = getattr(getattr(running, "_selector", None), "_selector", None)
        if selector is not None:
            selector.close()
        running._closed = True


def _leave_cell(shell: Any, kernel: Any) -> None:
    """What a cell changes while it runs is as it is between cells."""
    import builtins

    asked_by: Any = getattr(builtins.input, "__self__", None)
    if asked_by is kernel:
        asked_by._restore_input()
    for trap in (shell.builtin_trap, shell.display_trap):
        if trap._nested_level:
            trap._nested_level = 1
            trap.__exit__(None, None, None)
    if not hasattr(shell.display_pub, "set_parent"):
        # That of ``%%capture``, in which the cell asked.
        publishers = (c for c in shell.configurables if isinstance(c, shell.display_pub_class))
        shell.display_pub = next(publishers)
    # The next cell, whichever version of IPython counts at the begin of a cell or at its end.
    shell.execution_count = len(shell.history_manager.input_hist_parsed)


def _renew_application(old: Any, shell: Any, payload: Any, connection_file: str) -> Any:
    traits = {
        "config": old.config,
        "log": old.log,
        "profile_dir": old.profile_dir,
        "parent_handle": 1,  # the supervisor, or the other kernel, looks after the one above
        "connection_file": connection_file,
        "connection_dir": os.path.dirname(connection_file),
    }
    app = type(old).instance(**traits)
    app.user_ns = shell.user_ns
    app.ip, app.transport = old.ip, old.transport
    if payload is not None:
        app.session.session = payload["session"]
    else:
        app.session.key = old.session.key
        app.session.signature_scheme = old.session.signature_scheme
    import atexit

    for ending in (old.close, old.iopub_thread.stop):
        atexit.unregister(ending)
    app.init_connection_file()
    if payload is None:
        atexit.register(app.cleanup_connection_file)
    return app


def _renew_stream(stream: Any, app: Any) -> None:
    """An ``OutStream`` as it is when it is new, but the same object, with the same numbers."""
    thread = app.iopub_thread
    stream.__dict__.pop("write", None)  # IPython puts one there while a cell runs
    stream.session, stream.pub_thread, stream._io_loop = app.session, thread, thread.io_loop
    stream._master_pid = os.getpid()
    stream._flush_pending = stream._subprocess_flush_pending = False
    stream._buffer_lock = threading.RLock()
    stream._buffers = type(stream._buffers)(stream._buffers.default_factory)
    if not getattr(stream, "_should_watch", False):
        return
    reading, writing = os.pipe()
    os.dup2(reading, stream._fid, inheritable=False)
    os.dup2(writing, stream._original_stdstream_fd)
    os.close(reading)
    os.close(writing)
    stream.watch_fd_thread = KernelThread(target=stream._watch_pipe_fd)
    stream.watch_fd_thread.start()


def _join_shell(app: Any, shell: Any, old: Any, old_kernel: Any) -> None:
    kernel = app.kernel
    shell.kernel, shell.parent = kernel, kernel
    configurables: list[Any] = []
    for known in shell.configurables:
        if (
            known is not old
            and known is not old_kernel
            and not any(known is c for c in configurables)
        ):
            configurables.append(known)
    shell.configurables = configurables
    manager = kernel.comm_manager
    for comm in [manager, *manager.comms.values()]:
        with contextlib.suppress(Exception):  # one that has none complains when it is asked
            if comm.kernel is not None:
                comm.kernel = kernel


def wait_for_imports(seconds: float = IMPORT_SECONDS) -> str:
    """The module that another thread imports still when the time is over; empty: none does.

    That thread holds the module's lock. A fork does not have the thread, and whoever imports the
    module there would wait for the lock for ever.
    """
    deadline = time.monotonic() + seconds
    while (name := _imported_elsewhere()) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
    return name


def _imported_elsewhere() -> str:
    # The import system keeps a lock for each module that is imported now, and tells nobody else.
    locks = vars(sys.modules["_frozen_importlib"])["_module_locks"]
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner not in (None, threading.get_ident()):
            return str(name)
    return ""


@contextlib.contextmanager
def imports_at_rest() -> Iterator[None]:
    """Fork while no other thread imports, and none can begin to.

    Raises:
        OSError: One went on importing.
    """
    import _imp

    # While this thread has the lock of all imports, no other gets that of a module.
    _imp.acquire_lock()
    while _imported_elsewhere():
        _imp.release_lock()
        if name := wait_for_imports():
            raise OSError(f"the import of {name!r} goes on")
        _imp.acquire_lock()
    try:
        yield
    finally:
        _imp.release_lock()


@contextlib.contextmanager
def history_at_rest(shell: Any) -> Iterator[None]:
    """Fork while nobody writes the history: in the fork its file would stay locked.

    IPython does this itself from version 9 on.
    """
    manager: Any = getattr(shell, "history_manager", None)
    thread = getattr(manager, "save_thread", None)
    if thread is None or hasattr(manager, "_restart_thread_if_stopped"):
        yield
        return
    thread.stop()
    try:
        yield
    finally:
        manager.save_thread = type(thread)(manager)
        manager.save_thread.start()


def _renew_history(shell: Any) -> None:
    """A session of its own: its connection belongs to the other process, and its thread is gone."""
    manager = shell.history_manager
    if not manager.enabled or manager.hist_file == ":memory:":
        return
    try:
        import atexit

        from IPython.core.history import HistorySavingThread

        if manager.save_thread is not None:
            atexit.unregister(manager.save_thread.stop)
        manager.save_thread = None
        manager.db_input_cache, manager.db_output_cache = [], []
        for name in ("db_input_cache_lock", "db_output_cache_lock"):
            setattr(manager, name, threading.Lock())
        manager.db.close()
        manager.init_db()
        manager.new_session()
        manager.save_thread = HistorySavingThread(manager)
        manager.save_thread.start()
    except Exception:
        manager.enabled = False


# The request that the other process was asked, and those behind it.


def _answer(app: Any, shell: Any, payload: Any, subscriptions: list[bytes] | None) -> None:
    """Answer, when whoever asked is connected again."""
    deadline = time.monotonic() + RETURN_SECONDS
    _wait_for_clients(app, payload["connected"], subscriptions, deadline)
    parent = payload["parent"]
    if not parent["header"]:
        return
    session, topic = app.session, f"kernel.{app.session.session}"

    def publish(kind: str, content: Any) -> None:
        ident = f"{topic}.{kind}".encode()
        session.send(app.iopub_socket, kind, content, parent=parent, ident=ident)

    for message in payload["messages"]:
        publish(message["type"], message["content"])
    count = max(1, shell.execution_count - 1)
    usual = {"status": "ok", "execution_count": count, "user_expressions": {}, "payload": []}
    reply = {**usual, **(payload["reply"] or {})}
    if "answer" in reply["user_expressions"]:
        text = repr(json.dumps({"value": payload["done"]}))
        told = {"status": "ok", "data": {"text/plain": text}, "metadata": {}}
        reply["user_expressions"]["answer"] = told
    identities = [bytes.fromhex(identity) for identity in payload["identities"]]
    _send(
        app, lambda line: session.send(line, "execute_reply", reply, parent, identities), deadline
    )
    publish("status", {"execution_state": "idle"})


def _wait_for_clients(
    app: Any, wanted: Any, subscriptions: list[bytes] | None, deadline: float
) -> None:
    ports = {name: getattr(app, f"{name}_port") for name in wanted}
    while time.monotonic() < deadline:
        is_heard = subscriptions is None or len(subscriptions) >= wanted["iopub"]
        if is_heard and all(len(descriptors_of_port(ports[n])) >= wanted[n] for n in wanted):
            break
        time.sleep(0.002)
    if subscriptions is None:
        time.sleep(SUBSCRIBE_SECONDS)


def _send(app: Any, send: Callable[[Any], object], deadline: float) -> None:
    """Send on the shell channel once the addressee is there, if it comes."""
    zmq, line = sys.modules["zmq"], app.shell_socket
    # Without this, what is sent to somebody who is not there is lost, and nobody is told.
    line.setsockopt(zmq.ROUTER_MANDATORY, 1)
    while True:
        try:
            send(line)
            break
        except zmq.ZMQError:
            if time.monotonic() > deadline:
                break
            time.sleep(0.005)
    line.setsockopt(zmq.ROUTER_MANDATORY, 0)


def _do_waiting(app: Any, waiting: Sequence[Sequence[str]]) -> None:
    """Do what waited behind the request that was answered."""
    import asyncio

    kernel, zmq = app.kernel, sys.modules["zmq"]
    for request in waiting:
        frames = [zmq.Frame(bytes.fromhex(frame)) for frame in request]
        if hasattr(kernel, "msg_queue"):
            kernel.schedule_dispatch(kernel.dispatch_shell, frames)
        else:
            loop = asyncio.get_event_loop()
            _kept.append(loop.create_task(kernel.shell_main(None, frames)))
