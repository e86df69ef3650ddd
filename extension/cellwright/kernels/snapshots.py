"""Snapshots of the live kernel, from inside it: forks that sleep until one is gone back to.

The source of this file and of its neighbours (``installing``) is sent to kernels that may not have
cellwright, so they import nothing else of ours, and Python 3.9 is enough.

- ``take`` forks the kernel's process. The fork sleeps: it holds no port of the kernel, runs no
  thread, and ends by itself when the kernel is gone. Memory is shared until either changes it.
- ``go_back`` replaces the kernel by a snapshot, within the cell (or silent request) that asks for
  it. The process that the kernel manager started becomes a small supervisor, by ``exec``: its
  number stays alive, its memory is given back, and it passes signals on. The snapshot wakes, binds
  the ports of the connection file, and answers the request that its predecessor was asked. Later
  snapshots go on sleeping, so one can go forth again.
- ``fork_copy`` makes a second kernel of a snapshot, or of now, with a connection file of its own.
  A copy that is to be kept is asked to ``offer`` its state, which the first kernel can ``adopt``
  and go (back) to. Of a sandboxed one, ``pack`` and ``arm`` carry what its cell came to.

Whoever lives holds one end of a socket for each sleeper, and hands them on when it is replaced: the
supervisor carries them from one to the other. A sleeper that finds its socket closed ends without
running anything of the kernel's: no ``atexit``, no flush.

What this does not bring back: databases, the network, processes that were started, and what
``obstacles`` names. Files are brought back by ``kept_files``, which ``take`` tells of each run.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from . import awakening, carrying, kept_files
from .obstacles import find_obstacles
from .sandbox import Sandbox

REGISTRY = "_cellwright_snapshots"
"""The module that holds the table: one for a process, whoever asks first."""
USUAL_KEPT = 3
STEPS_KEPT = 6
"""So many states within the last run are kept beside those before runs."""
MEMORY_SHARE = 0.1
"""So much of the memory may be held by snapshots alone."""
ANSWER_SECONDS = 5.0
LINGER_SECONDS = 1.0
BURIAL_SECONDS = 1.0
SETTLE_SECONDS = 0.01
"""What was sent together with the request that runs has arrived after this time."""
PACKET_BYTES = 1 << 16
DESCRIPTORS = 250
SET_CHILD_SUBREAPER = 36
FAILED = 70
"""Exit code of a snapshot that could not become a kernel."""
LAST_TO_LIVE = "1000"
"""How gladly the system ends a sleeper when memory runs out: before anything that works."""

Answer = dict[str, Any]


def registry() -> Any:
    """What this process knows of its snapshots."""
    found: Any = sys.modules.get(REGISTRY)
    if found is None:
        found = sys.modules[REGISTRY] = types.ModuleType(REGISTRY)
        found.table, found.copies, found.ending = [], [], []
        found.runs, found.undone = [], {}
        found.link = found.owner = found.news = found.sandbox = None
        found.is_watched = found.is_watched_over = found.is_offered = False
    return found


def take(
    label: str = "",
    kept: int = USUAL_KEPT,
    share: float = MEMORY_SHARE,
    run_id: str = "",
    step: int = 0,
) -> Answer:
    """Fork the kernel as it is now.

    Args:
        label: What it is the state before, for people.
        kept: So many are kept; the oldest are dropped first.
        share: Of the memory, which snapshots may hold beside the kernel.
        run_id: The run that comes next, if one does.
        step: Which of the run's cells comes next, from 2 on; 0: the run begins. Steps are kept of
            the last run only.

    Returns:
        ``{"id": …}``, or ``{"obstacles": […]}``: what cannot be carried, by name.
    """
    table = registry().table
    if run_id and not step:
        _forget_last_run()
        registry().runs.append(run_id)
    if kept < 1:
        return {"obstacles": ["snapshots are switched off"]}
    if run_id:
        # Before anything else: files can be kept where the kernel cannot be forked.
        kept_files.watch(run_id, step, kept)
    found = find_obstacles()
    if found:
        return {"obstacles": found}
    record = _fork({"label": label, "run_id": run_id, "step": step})
    table.append(record)
    steps = [record for record in table if record["step"]]
    runs = [record for record in table if not record["step"]]
    for old in (*runs[:-kept], *steps[:-STEPS_KEPT]):
        _drop(old)
    _forget_old_runs()
    _fit_into(share * memory_bytes())
    return {"id": record["id"], "seconds": record["seconds"]}


def list_snapshots() -> list[Answer]:
    """Those that sleep, oldest first."""
    table = registry().table
    table[:] = [record for record in table if _is_there(record)]
    hidden = ("socket", "runs", "undone")
    return [
        {
            **{k: v for k, v in record.items() if k not in hidden},
            "changes": _changes_by(record),
        }
        for record in table
    ]


def _changes_by(record: Answer) -> Answer:
    """How runs stand otherwise once a state is gone to: see ``going_back.Snapshot.changes``."""
    before, after = registry().undone, _undone_after(record)
    changed = [run for run in {**before, **after} if before.get(run) != after.get(run)]
    return {run: after.get(run) for run in changed}


def _forget_last_run() -> None:
    """When another run counts: what was undone cannot be redone, and steps are of the last run."""
    for record in [r for r in registry().table if r["is_later"] or r["step"]]:
        _drop(record)


def _forget_old_runs() -> None:
    """Let go of the runs from before the oldest state; they can neither be undone nor redone."""
    state = registry()
    known = {record["run_id"] for record in state.table}
    while state.runs and state.runs[0] not in known:
        state.undone.pop(state.runs.pop(0), None)


def _undone_after(record: Answer) -> Answer:
    """From which cell on runs are undone once a state is gone to, by run; 0: all of the run."""
    state, run_id = registry(), record["run_id"]
    if record["is_later"] or not run_id:
        return dict(record["undone"])
    since = state.runs[state.runs.index(run_id) :] if run_id in state.runs else []
    return {**state.undone, **dict.fromkeys(since, 0), run_id: record["step"]}


def drop(snapshot_id: str = "") -> Answer:
    """End one, or all of them."""
    table = registry().table
    chosen = [record for record in table if snapshot_id in ("", record["id"])]
    for record in chosen:
        _drop(record)
    return {"dropped": [record["id"] for record in chosen]}


def measure() -> Answer:
    """How many bytes all that sleep hold and the kernel does not use itself.

    A page that several of them share counts once. To ask takes a millisecond for 30 MB each.
    """
    return {"held_bytes": _held_bytes([record["process_id"] for record in list_snapshots()])}


def obstacles() -> Answer:
    """What cannot be carried, by name."""
    return {"obstacles": find_obstacles()}


def go_back(
    snapshot_id: str,
    reply: Any = None,
    messages: Sequence[Any] = (),
    keep_now: str = "",
    news: Any = None,
) -> Answer:
    """Let a snapshot take the place of this kernel; where it can, this does not return.

    The request that runs is answered by the snapshot, and those that wait behind it are done there.

    Args:
        snapshot_id: Which one.
        reply: Content of the answer to the request that runs; None: that it went well. Where it
            has ``user_expressions``, an ``"answer"`` there is filled in with what this returns.
        messages: Type and content of what the request shows; sent before the answer.
        keep_now: Label of a snapshot of now, taken first, to come back to; empty: none is taken.
        news: Kept in ``registry().news`` of the snapshot for whoever asks there.

    Returns:
        Why it cannot be done: ``{"refused": …}``.
    """
    state = registry()
    target = next((r for r in state.table if r["id"] == snapshot_id), None)
    if target is None or not _is_there(target):
        return {"refused": "the snapshot is not there any more"}
    if threading.current_thread() is not threading.main_thread():
        return {"refused": "only the kernel's main thread can go back"}
    if not os.access(sys.executable or "", os.X_OK):
        return {"refused": "there is no Python program to supervise it"}
    undone = ""
    if keep_now:
        found = find_obstacles()
        if not found:
            # From where it is gone back one can be gone forth, and the other way round.
            is_later = not target["is_later"]
            about = {"label": keep_now, "is_later": is_later}
            about.update(run_id=target["run_id"], step=target["step"])
            record = _fork(about)
            state.table.append(record)
            undone = record["id"]
    done = {"id": snapshot_id, "label": target["label"], "now": undone}
    others = [record for record in state.table if record is not target]
    app = awakening.kernel_application()
    payload = {
        "table": [{k: v for k, v in r.items() if k != "socket"} for r in others],
        "runs": target["runs"],
        "undone": _undone_after(target),
        "reply": reply,
        "messages": list(messages),
        "done": done,
        "news": news,
        "files": kept_files.folder_now(),
        "is_watched": state.is_watched or bool(getattr(app, "poller", None)),
        "connection_file": app.abs_connection_file,
        **awakening.describe_request(app),
    }
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    _publish_all(app)
    time.sleep(SETTLE_SECONDS)
    payload["waiting"] = awakening.waiting_requests(app)
    _hand_over(target, others, payload)
    raise AssertionError("this process has another program now")


def fork_copy(snapshot_id: str, connection_file: str, is_sandboxed: bool = False) -> Answer:
    """Make a second kernel, of a snapshot or of now.

    It ends when this kernel does, and ``end_copy`` ends it before. Nothing of what it does is seen
    here, but for the world outside.

    Args:
        snapshot_id: Of which snapshot; empty: of now.
        connection_file: Where it writes its ports; ``ip`` and the like are taken from this kernel.
        is_sandboxed: It shall not change the world outside either (``sandbox``). Its sockets are
            files beside the connection file then.

    Returns:
        ``{"id": …, "process_id": …}``, or ``{"obstacles": […]}`` or ``{"refused": …}``.
    """
    found = [] if snapshot_id else find_obstacles(is_sandboxed=is_sandboxed)
    if found:
        return {"obstacles": found}
    record = next((r for r in registry().table if r["id"] == snapshot_id), None)
    is_new = record is None
    if record is None:
        if snapshot_id:
            return {"refused": "the snapshot is not there any more"}
        if is_sandboxed:
            carrying.count_cells()
        record = _fork({"label": "a copy"})
    request = json.dumps(
        {
            "do": "live",
            "connection_file": connection_file,
            "is_sandboxed": is_sandboxed,
            "stays": not is_new,
        }
    )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        socket.send_fds(record["socket"], [request.encode()], [theirs.fileno()])
    ours.settimeout(ANSWER_SECONDS)
    try:
        answer = json.loads(ours.recv(PACKET_BYTES) or b'{"refused": "it ended"}')
    except OSError as error:
        answer = {"refused": f"the copy did not answer: {error}"}
    if is_new:
        record["socket"].close()
    if "process_id" not in answer:
        ours.close()
        return dict(answer)
    copy = {"id": os.urandom(3).hex(), "process_id": answer["process_id"], "socket": ours}
    copy["is_child"] = is_new
    registry().copies.append(copy)
    return {k: v for k, v in copy.items() if k not in ("socket", "is_child")}


def end_copy(copy_id: str = "") -> Answer:
    """End one copy, or all of them."""
    copies = registry().copies
    chosen = [copy for copy in copies if copy_id in ("", copy["id"])]
    for copy in chosen:
        copies.remove(copy)
        copy["socket"].close()
        if copy["is_child"]:
            registry().ending.append(copy["process_id"])
    return {"ended": [copy["id"] for copy in chosen]}


def effects() -> Answer:
    """In a sandboxed copy: what it has done that nobody sees, as ``Sandbox.effects``."""
    sandbox: Sandbox = registry().sandbox
    return sandbox.effects()


def pack(folder: str) -> Answer:
    """In a sandboxed copy: write down what its cell came to, as ``carrying.pack``."""
    return carrying.pack(folder, registry().sandbox)


def offer() -> Answer:
    """In a copy: take a snapshot and offer it to the kernel that the copy was made of."""
    state = registry()
    owner = state.owner
    found = ["this is not a copy of a kernel"] if owner is None else find_obstacles()
    if owner is None or found:
        return {"obstacles": found}
    record = _fork({"label": "a copy"})
    about = {k: v for k, v in record.items() if k != "socket"}
    socket.send_fds(owner, [json.dumps(about).encode()], [record["socket"].fileno()])
    record["socket"].close()
    state.is_offered = True
    return {"id": record["id"]}


def adopt(copy_id: str, label: str = "", run_id: str = "") -> Answer:
    """Take what a copy has offered as a snapshot of this kernel, and end the copy.

    ``go_back`` to it makes the copy's state the kernel's.
    """
    state = registry()
    copy = next((copy for copy in state.copies if copy["id"] == copy_id), None)
    if copy is None:
        return {"refused": "the copy is not there any more"}
    copy["socket"].settimeout(ANSWER_SECONDS)
    try:
        packet, files, _, _ = socket.recv_fds(
            copy["socket"], PACKET_BYTES, 1, socket.MSG_CMSG_CLOEXEC
        )
    except OSError:
        packet, files = b"", []
    if not packet:
        return {"refused": "the copy has not offered its state"}
    # Its parent ends: it becomes our child, and after us the supervisor's.
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    end_copy(copy_id)
    about = {"label": label, "run_id": run_id, "step": 0, "is_later": True}
    record = {**json.loads(packet), **about, "socket": socket.socket(fileno=files[0])}
    record["runs"].append(run_id)
    _forget_last_run()
    state.table.append(record)
    return {"id": record["id"]}


def is_supervised() -> bool:
    """Whether this process took the place of another kernel, which looks after it now."""
    return registry().link is not None


def take_news() -> Any:
    """What was to be known after the last time this kernel was gone back to; then forgotten."""
    state = registry()
    news, state.news = getattr(state, "news", None), None
    return news


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "adopt": adopt,
    "arm": carrying.arm,
    "begin_carrying": carrying.begin,
    "describe_files": kept_files.describe_files,
    "drop": drop,
    "effects": effects,
    "end_copy": end_copy,
    "fork_copy": fork_copy,
    "go_back": go_back,
    "list": list_snapshots,
    "measure": measure,
    "obstacles": obstacles,
    "offer": offer,
    "pack": pack,
    "put_back": kept_files.put_back,
    "take": take,
    "take_news": take_news,
}


def answer_text(function: str, arguments: str) -> str:
    """The answer of one of ``FUNCTIONS`` as JSON, to arguments in JSON."""
    try:
        answer = {"value": FUNCTIONS[function](**json.loads(arguments))}
    except Exception as error:
        answer = {"failed": f"{type(error).__name__}: {error}"}
    return json.dumps(answer, default=str)


# Forking.


def _fork(about: Answer) -> Answer:
    """A record of a new sleeper."""
    import posix  # a debugger that was attached has put functions of its own into ``os``

    state = registry()
    _bury()
    if not state.is_watched_over:
        _watch_over()
    began = time.perf_counter()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    app = awakening.kernel_application()
    carried = awakening.note_carried(app)
    closed = [*carried.kernel_sockets, *_sockets_of_others(), ours.fileno()]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    carried.signal_mask = mask
    box: list[Any] = []

    def fork() -> None:
        # libgomp keeps its threads by thread: in a fork of a new one it makes them when it has to.
        try:
            with warnings.catch_warnings(), awakening.imports_at_rest():
                warnings.simplefilter("ignore", DeprecationWarning)
                process_id = posix.fork()
        except OSError as error:
            box.append(error)
            return
        if process_id:
            box.append(process_id)
            return
        try:
            _sleep(theirs, closed, carried)
        except BaseException:
            awakening.report_failure(carried)
        finally:
            os._exit(FAILED)

    thread = awakening.KernelThread(fork, "cellwright fork")
    try:
        with awakening.history_at_rest(app.shell):
            thread.start()
            thread.join()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
    if not box or isinstance(box[0], OSError):
        ours.close()
        raise OSError(f"the kernel cannot be forked: {box[0] if box else 'no thread'}")
    seconds = time.perf_counter() - began
    return {
        **{"label": "", "run_id": "", "step": 0, "is_later": False, **about},
        "runs": list(state.runs),
        "undone": dict(state.undone),
        "id": os.urandom(3).hex(),
        "process_id": box[0],
        "socket": ours,
        "at": time.time(),
        "seconds": seconds,
    }


def _sockets_of_others() -> list[int]:
    state = registry()
    found = [record["socket"].fileno() for record in (*state.table, *state.copies)]
    found += [line.fileno() for line in (state.link, state.owner) if line is not None]
    return found


def _sleep(line: socket.socket, closed: Sequence[int], carried: Any) -> None:
    """In the fork: wait until somebody needs it, or nobody can any more."""
    for number in closed:
        with contextlib.suppress(OSError):
            os.close(number)
    state = registry()
    for record in (*state.table, *state.copies):
        record["socket"].detach()
    for other in (state.link, state.owner):
        if other is not None:
            other.detach()
    state.table, state.copies, state.ending = [], [], []
    state.link = state.owner = None
    awakening.sever(carried.pipes)
    carried.oom_score = _write("/proc/self/oom_score_adj", LAST_TO_LIVE)
    carried.name = _write("/proc/self/comm", "cellwright-snap")
    # A kernel that shuts down waits for the children of its own group, before it tells anybody.
    os.setpgid(0, 0)
    while True:
        packet, files, _, _ = socket.recv_fds(
            line, PACKET_BYTES, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not packet:
            kept_files.leave()
            os._exit(0)
        request = json.loads(packet)
        if request["do"] == "wake":
            line.close()
            _take_over(request, files, carried)
        elif request["do"] == "live":
            _live_beside(request, socket.socket(fileno=files[0]), line, carried)


def _write(path: str, text: str) -> str:
    """Write to a file of ``/proc``; what it said before."""
    try:
        with open(path, encoding="utf-8") as file:
            before = file.read().strip()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return ""
    return before


def _settle(carried: Any) -> None:
    """What a sleeper was made, it is no more."""
    if carried.oom_score:
        _write("/proc/self/oom_score_adj", carried.oom_score)
    if carried.name:
        _write("/proc/self/comm", carried.name)


def _take_over(request: Answer, files: Sequence[int], carried: Any) -> None:
    """In the fork: be the kernel from now on."""
    die_with_parent = 1
    ctypes.CDLL(None).prctl(die_with_parent, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != request["supervisor"]:
        os._exit(0)
    with contextlib.suppress(OSError):
        os.setpgid(0, os.getpgid(request["supervisor"]))
    _settle(carried)
    given, link, *others = files
    with open(given, encoding="utf-8") as file:
        payload = json.load(file)
    state = registry()
    state.link = socket.socket(fileno=link)
    state.is_watched = payload["is_watched"]
    for record, number in zip(payload["table"], others):  # noqa: B905 - Python 3.9
        state.table.append({**record, "socket": socket.socket(fileno=number)})
    state.news = payload["news"]
    state.runs, state.undone = payload["runs"], payload["undone"]
    kept_files.resume(payload["files"], is_owner=True)
    carrying.forget()
    awakening.become_kernel(carried, payload, before_end=_end_all)


def _live_beside(request: Answer, owner: socket.socket, line: socket.socket, carried: Any) -> None:
    """In the fork: make a kernel beside the one that asks; of this process, or of a fork of it."""
    if request["stays"]:
        process_id = os.fork()
        if process_id:
            owner.close()
            # Nobody waits for it but us, and we sleep.
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            return
    line.close()
    _settle(carried)
    registry().owner = owner
    kept_files.resume(kept_files.folder_now(), is_owner=False)
    carrying.forget()
    if request["is_sandboxed"]:
        registry().sandbox = Sandbox()
    awakening.become_copy(carried, request["connection_file"], owner, _end_copy, registry().sandbox)


def _is_there(record: Answer) -> bool:
    """Whether a sleeper sleeps; the system ends it when memory runs out."""
    line = record["socket"]
    try:
        line.setblocking(False)
        try:
            return bool(line.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        finally:
            line.setblocking(True)
    except OSError:
        return False


def _drop(record: Answer) -> None:
    """End a sleeper, unless somebody just did."""
    try:
        registry().table.remove(record)
    except ValueError:
        return
    record["socket"].close()
    registry().ending.append(record["process_id"])


def _bury() -> None:
    """Take note of children that have ended; none is waited for."""
    ending = registry().ending
    for process_id in list(ending):
        try:
            if os.waitpid(process_id, os.WNOHANG)[0] == 0:
                continue
        except ChildProcessError:
            pass  # it was a child of the kernel before this one
        with contextlib.suppress(ValueError):
            ending.remove(process_id)


def _end_all() -> None:
    """Before this process ends."""
    drop()
    end_copy()
    deadline = time.monotonic() + BURIAL_SECONDS
    while registry().ending and time.monotonic() < deadline:
        _bury()
        time.sleep(0.001)


def _end_copy() -> None:
    """Before this process ends, which is a copy."""
    _end_all()
    if not registry().is_offered:  # else they go on with the state that was
        awakening.end_programs()


def _watch_over() -> None:
    """End the sleepers with this process, while it can still bury them."""
    import atexit

    atexit.register(_end_all)
    registry().is_watched_over = True


# How much memory they hold.


def _fit_into(limit_bytes: float) -> None:
    """Drop the oldest until what they hold alone is little, steps first; one always stays."""

    def fit() -> None:
        table = sorted(registry().table, key=lambda record: not record["step"])
        while len(table) > 1 and _held_bytes([r["process_id"] for r in table]) > limit_bytes:
            oldest = table.pop(0)
            _drop(oldest)
            _wait_until_ended(oldest["process_id"])

    if sum(map(_most_held_bytes, registry().table)) > limit_bytes:
        # To ask takes a millisecond for 30 MB, in which nobody has to wait for us.
        awakening.KernelThread(fit, "cellwright memory").start()


def memory_bytes() -> float:
    """Of the machine, or of the part of it that this process may use."""
    found = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            found.append(float(file.read()))
    return min(found)


def _most_held_bytes(record: Answer) -> float:
    """More than it can hold alone; cheap to know."""
    try:
        with open(f"/proc/{record['process_id']}/statm", encoding="ascii") as file:
            return float(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0.0


def _held_bytes(processes: Sequence[int]) -> float:
    """How many bytes sleepers hold and the kernel does not use itself; shared ones count once."""
    sleepers = [_memory_of(process_id) for process_id in processes]
    if not sleepers:
        return 0.0
    own = _memory_of(os.getpid())
    shares = sum(memory.get("Pss_Anon", 0.0) for memory in (own, *sleepers))
    # What yet other processes share is told too low by that: no lower than what nobody shares.
    alone = sum(map(_private_bytes, sleepers))
    return max(alone, shares - own.get("Anonymous", 0.0))


def _wait_until_ended(process_id: int) -> None:
    """Until then it has its share of what others hold, too."""
    deadline = time.monotonic() + BURIAL_SECONDS
    while _runs(process_id) and time.monotonic() < deadline:
        time.sleep(0.005)


def _runs(process_id: int) -> bool:
    """Whether a process has not ended; one that nobody waited for has, and holds no memory."""
    try:
        with open(f"/proc/{process_id}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def _private_bytes(memory: dict[str, float]) -> float:
    return memory.get("Private_Clean", 0.0) + memory.get("Private_Dirty", 0.0)


def _memory_of(process_id: int) -> dict[str, float]:
    """What the system says of a process's memory, in bytes by name; nothing if it has ended."""
    try:
        with open(f"/proc/{process_id}/smaps_rollup", encoding="ascii") as file:
            lines = [line.split() for line in file if line.rstrip().endswith("kB")]
    except OSError:
        return {}
    return {words[0].rstrip(":"): float(words[1]) * 1024 for words in lines}


# Giving the place away.


def _publish_all(app: Any) -> None:
    """Return when whatever was published has left this process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    thread = app.iopub_thread
    leaving = awakening.descriptors_of_port(app.iopub_port)
    stream = getattr(thread, "_xpub_stream", None)
    close = thread.socket.close if stream is None else stream.close
    thread.schedule(lambda: close(linger=int(LINGER_SECONDS * 1000)))
    deadline = time.monotonic() + LINGER_SECONDS
    while time.monotonic() < deadline and any(map(_is_open, leaving)):
        time.sleep(0.001)


def _is_open(descriptor: tuple[int, int]) -> bool:
    number, inode = descriptor
    try:
        return os.fstat(number).st_ino == inode
    except OSError:
        return False


def _hand_over(target: Answer, others: Sequence[Answer], payload: Answer) -> None:
    import posix  # as in ``_fork``

    state = registry()
    given = os.memfd_create("cellwright")
    with open(given, "w", encoding="utf-8", closefd=False) as file:
        json.dump(payload, file, default=str)
    os.lseek(given, 0, os.SEEK_SET)
    supervisors = None
    if state.link is None:
        supervisors, state.link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sockets = [record["socket"].fileno() for record in others]
    files = [target["socket"].fileno(), given, state.link.fileno(), *sockets]
    packet = json.dumps({"do": "wake", "process_id": target["process_id"]}).encode()
    socket.send_fds(state.link, [packet], files)
    if supervisors is None:
        os._exit(0)
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(number, False)
    awakening.restore_streams()
    os.set_inheritable(supervisors.fileno(), True)
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    watches = "1" if payload["is_watched"] else ""
    program = [sys.executable, "-I", "-S", "-c", SUPERVISOR, str(supervisors.fileno()), watches]
    posix.execv(sys.executable, program)


SUPERVISOR = r"""
# Has the process number that the kernel manager knows, and passes on what is sent to it.
import json, os, select, signal, sys, time, _socket
link = _socket.socket(fileno=int(sys.argv[1]))
parent = os.getppid() if sys.argv[2] else None
PASSED = [getattr(signal, "SIG" + name) for name in "INT TERM HUP QUIT USR1 USR2".split()]

def listen():
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading

for number in (*PASSED, signal.SIGCHLD):
    signal.signal(number, lambda number, frame: None)
signals = listen()
# A signal to the whole group reaches the kernel by itself. Whether it went to the group is seen by
# a process that nobody else knows.
seen, tell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
alive, life = os.pipe()
if os.fork() == 0:
    signals = listen()
    os.close(life)
    link.close()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    poll = select.poll()
    poll.register(signals, select.POLLIN)
    poll.register(alive, select.POLLIN)
    while True:
        for number, _ in poll.poll():
            if number == alive:
                os._exit(0)
            os.write(tell, os.read(signals, 100))
os.close(alive)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

def has_input(file, seconds):
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1000))

def receive():
    size = _socket.CMSG_SPACE(4 * 250)
    packet, extra, _, _ = link.recvmsg(1 << 16, size)
    data = b"".join(data for _, _, data in extra)
    files = [int.from_bytes(data[at:at + 4], sys.byteorder) for at in range(0, len(data), 4)]
    return (json.loads(packet), files) if packet else None

def wake(request, files):
    request["supervisor"] = os.getpid()
    packed = b"".join(file.to_bytes(4, sys.byteorder) for file in files[1:])
    line = _socket.socket(fileno=files[0])
    try:
        given = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)]
        line.sendmsg([json.dumps(request).encode()], given)
    except OSError:
        sys.exit(1)
    line.close()
    for file in files[1:]:
        os.close(file)
    return request["process_id"]

def was_to_group(number):
    deadline = time.monotonic() + 0.02
    while has_input(seen, max(0, deadline - time.monotonic())):
        if number in os.read(seen, 100):
            return True
    return False

def end(status):
    os.close(life)
    deadline = time.monotonic() + 0.3
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            break
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xff)

kernel = wake(*receive())
coming = None
poll = select.poll()
poll.register(signals, select.POLLIN)
poll.register(link, select.POLLIN)
while True:
    for number, _ in poll.poll(1000 if parent else None):
        if number == link.fileno():
            found = receive()
            if found is None:
                poll.unregister(link)
            coming = found or coming
            continue
        for sent in os.read(signals, 100):
            if sent != signal.SIGCHLD and not was_to_group(sent):
                os.kill(kernel, sent)
    if parent and os.getppid() != parent:
        os.kill(kernel, signal.SIGKILL)
        os._exit(1)
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not ended:
            break
        if ended == kernel:
            if coming is None and has_input(link, 0):
                coming = receive()
            if coming is None:
                end(status)
            kernel, coming = wake(*coming), None
"""
