"""A copy of a kernel that cannot change the world: its files, its network and its shared memory.

Runs inside kernels that may not have cellwright, as ``snapshots`` does. Linux alone lets a program
do this to itself: in a user namespace of its own it may mount. Every folder gets a layer in memory
over it (overlayfs), which takes what is written; the network is one without any line to elsewhere.
There is no way back out of it, so such a copy cannot be made the kernel; what it came to can be
carried there (``carrying``).

What this does not protect against: the copy reads whatever the kernel can read. Where the system
has no Landlock (Linux before 6.12) it can send signals to the person's other programs.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import re
import shutil
import socket
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

SCRATCH = "scratch"
"""Folder of the layers, beside the connection file."""
SCRATCH_SIZE = "25%"
"""Of the memory: so much may be written; after that there is no space left on the device."""
NOT_LAYERED = ("dev", "proc", "sys")
"""What is there is no file that somebody keeps, but for ``SHARED_MEMORY``."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where the system has it
DEVICES = ("full", "null", "random", "urandom", "zero")
"""No other is there. What is written to a disk's own device, or to the person's terminal, no layer
takes."""
DEVICE_LINKS = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}
TERMINALS = "newinstance,ptmxmode=0666"
COPIED_BYTES = 1 << 28
"""Memory shared with other programs, and a file that is open to be written, are copied up to this
size."""
OPAQUE = "user.overlay.opaque"
"""Says of a folder of a layer that nothing is seen of the one below."""
ADDRESSES_KEPT = 50
COMPARED_BYTES = 50_000_000
"""A file that was opened to be written may be the same as before; up to this size it is read."""
OWN_FILES = re.compile(
    r"(^|/)(__pycache__(/|$)|\.cache/(fontconfig|jedi|matplotlib|parso)(/|$)|\.config/matplotlib$"
    r"|profile_[^/]+/(history\.sqlite[^/]*|db(/(dhist|rootmodules\w*))?)$)"
)
"""What Python and IPython write for themselves, whatever a cell does."""

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x8000000, 0x10000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF, LANDLOCK_SCOPE_SIGNAL = 444, 446, 2
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION_3 = 0x20080522
CAPABILITIES = 64
OWN_FILES_CAPABILITIES = (0, 1, 3, 4)
"""CHOWN, DAC_OVERRIDE, FOWNER, FSETID: an administrator's code goes on to be one's, in the copy."""
SIOCSIFFLAGS, IFF_UP, IFF_LOOPBACK = 0x8914, 1, 8
MAP_FIXED = 0x10


class NotCarriedError(Exception):
    """Something cannot be carried out of the copy; the message says what, for people."""


class Sandbox:
    """What keeps a copy apart, and what it has done behind that."""

    refusal = NotCarriedError
    """What its methods raise: the source may be there twice, for magics and for panel."""

    def __init__(self) -> None:
        self._layers: list[tuple[str, str, str]] = []
        """The folder that is seen, the one below, and the one that takes what is written."""
        self._addresses: list[str] = []

    def enter(
        self, folder: str, connection: socket.socket, offsets: Sequence[tuple[int, int]]
    ) -> None:
        """Cut this process off; in a fork that has no other thread yet.

        Args:
            folder: Where its connection file and the sockets for it are: seen by both sides.
            connection: The one line to elsewhere that stays.
            offsets: Number and position of the regular files that are open.

        Raises:
            OSError: The system does not let a program do that; the process is of no use then.
        """
        here = os.getcwd()
        files = [(*file, _path_of(file[0])) for file in offsets]
        _cut_sockets(connection.fileno())
        try:
            _enter_namespaces()
            self._layers = list(_layer_folders(folder))
        except OSError as error:
            raise OSError(
                f"this system lets no program keep a copy apart ({error.strerror})"
            ) from error
        with contextlib.suppress(OSError):
            os.chdir(here)
        for number, offset, path in files:
            _open_in_layer(number, offset, path)
        _own_shared_memory()
        _raise_loopback()
        _give_up_rights()
        sys.addaudithook(self._note_address)

    def effects(self) -> dict[str, Any]:
        """What the copy has done that nobody sees: files it wrote, addresses it tried to reach.

        Returns:
            ``files``: ``path``, ``change`` (``created``, ``modified`` or ``deleted``) and
            ``size_bytes`` of each, those in the working directory relative to it; ``addresses``.
            A path that ends with a slash is a folder: one that is new and empty, one whose rights
            are others, or one that took the place of another one, whose files are deleted.
        """
        here = os.path.join(os.getcwd(), "")
        found: list[tuple[str, str, int]] = []
        for layer in self._layers:
            found += _written(*layer)
            for folder in _changed_folders(*layer):
                if folder.is_empty or folder.change != "created":
                    found.append((os.path.join(folder.path, ""), folder.change, 0))
        files = []
        for path, change, size in found:
            if not OWN_FILES.search(path.rstrip("/")):
                shown = path[len(here) :] if path.startswith(here) else path
                files.append({"path": shown or path, "change": change, "size_bytes": size})
        files.sort(key=lambda file: (str(file["path"]).startswith("/"), file["path"]))
        return {"files": files, "addresses": list(self._addresses)}

    def copy_files(
        self, folder: str, refused: Sequence[str], limit_bytes: int
    ) -> list[dict[str, Any]]:
        """Copy the files that the copy wrote to where the kernel can read them.

        Args:
            folder: Where to.
            refused: Nothing below these may have changed.
            limit_bytes: So large all of them may be.

        Returns:
            ``path``, ``change`` and ``before`` (size and time, or None) of each, folders first;
            of those that are there now ``copy``, its name in ``folder``, and ``mode``, or ``link``;
            of folders ``mode``.

        Raises:
            NotCarriedError: One of them cannot be, or they are too large.
        """
        rows: list[dict[str, Any]] = []
        for path, below, upper in self._layers:
            rows += _folder_rows(path, below, upper)
            for shown, change, size in _written(path, below, upper):
                if OWN_FILES.search(shown):
                    continue
                if any(shown.startswith(os.path.join(place, "")) for place in refused):
                    raise NotCarriedError(f"it changed {shown}, which IPython keeps")
                limit_bytes -= size
                if limit_bytes < 0:
                    raise NotCarriedError("the files that it wrote are too large")
                inner = os.path.relpath(shown, path)
                before = _state(os.path.join(below, inner))
                row: dict[str, Any] = {"path": shown, "change": change, "before": None}
                if before is not None:
                    if not (stat.S_ISREG(before.st_mode) or stat.S_ISLNK(before.st_mode)):
                        raise NotCarriedError(f"it deleted or replaced {shown}, which is no file")
                    row["before"] = [before.st_size, before.st_mtime_ns]
                if change != "deleted":
                    row.update(_copy_out(os.path.join(upper, inner), folder, len(rows)))
                rows.append(row)
        order = ("folder", "deleted", "modified", "created")
        rows.sort(key=lambda row: (order.index(row["change"]), row["path"]))
        return rows

    def _note_address(self, event: str, given: tuple[Any, ...]) -> None:
        """Remember what Python code wanted to reach; there is nobody there."""
        if event not in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            return
        found = given[:2] if event == "socket.getaddrinfo" else given[1]
        if isinstance(found, tuple):
            host, port = (p.decode() if isinstance(p, bytes) else p for p in found[:2])
            text = f"{host}:{port}" if port else str(host)
        else:
            text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
        # A name is looked up first, and then reached by its number.
        if text not in self._addresses and len(self._addresses) < ADDRESSES_KEPT:
            self._addresses.append(text)


def _enter_namespaces() -> None:
    user, group = os.geteuid(), os.getegid()
    _call("unshare", CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    _mount("none", "/", "", MS_REC | MS_PRIVATE)


# Files.


def _layer_folders(folder: str) -> Iterator[tuple[str, str, str]]:
    """Put a layer over every folder, and make read-only what has none; the layers."""
    scratch = os.path.join(folder, SCRATCH)
    os.mkdir(scratch)
    own = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    mounted = _mount_points()
    tops = [top for top in _folders_in("/") if top[1:] not in NOT_LAYERED]
    seen = {path: _open_path(path) for top in tops for path in _within(top, mounted)}
    seen[SHARED_MEMORY] = _open_path(SHARED_MEMORY)
    _set_read_only("/", AT_RECURSIVE, is_read_only=True)
    _mount("cellwright", scratch, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=700,size={SCRATCH_SIZE}")
    layers = os.open(scratch, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    _own_devices(f"/proc/self/fd/{layers}/dev")
    for path, lower in seen.items():
        if lower is not None:
            with contextlib.suppress(OSError):
                yield _put_layer(path, lower, layers)
    _mount(f"/proc/self/fd/{own}", folder, "", MS_BIND)
    _set_read_only(folder, 0, is_read_only=False)


def _own_devices(made: str) -> None:
    """Leave of the devices those that keep nothing, and terminals of the copy's own."""
    for folder in (made, f"{made}/shm", f"{made}/pts"):
        os.mkdir(folder)
    for name in DEVICES:
        os.close(os.open(f"{made}/{name}", os.O_CREAT))
        _mount(f"/dev/{name}", f"{made}/{name}", "", MS_BIND)
    for name, target in DEVICE_LINKS.items():
        os.symlink(f"/proc/self/fd{target}", f"{made}/{name}")
    os.symlink("pts/ptmx", f"{made}/ptmx")
    _mount(made, "/dev", "", MS_BIND | MS_REC)
    with contextlib.suppress(OSError):
        _mount("devpts", "/dev/pts", "devpts", MS_NOSUID, TERMINALS)


def _within(folder: str, mounted: Sequence[str]) -> Iterator[str]:
    """The folder, or those in it where something is mounted below.

    Linux lets nobody put a layer over a folder that would hide what is mounted in it.
    """
    if any(path.startswith(f"{folder}/") for path in mounted):
        for inner in _folders_in(folder):
            yield from _within(inner, mounted)
    else:
        yield folder


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.path for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _put_layer(path: str, lower: int, layers: int) -> tuple[str, str, str]:
    """Let what is written below ``path`` go elsewhere."""
    # A socket that is seen through a layer has nobody behind it.
    below, upper = f"/proc/self/fd/{lower}", f"/proc/self/fd/{layers}/{lower}"
    work = f"{upper}.work"
    for made in (upper, work):
        os.mkdir(made)
    os.chmod(upper, os.fstat(lower).st_mode & 0o7777)
    options = f"lowerdir={below},upperdir={upper},workdir={work},userxattr"
    _mount("cellwright", path, "overlay", MS_NOSUID | MS_NODEV, options)
    return path, below, upper


def _mount_points() -> list[str]:
    """Where something is mounted, those above before those below."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        escaped = [line.split()[4] for line in file]
    octal = re.compile(r"\\([0-7]{3})")
    return sorted({octal.sub(lambda code: chr(int(code[1], 8)), path) for path in escaped})


def _open_path(path: str) -> int | None:
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None


def _set_read_only(path: str, flags: int, *, is_read_only: bool) -> None:
    setting, clearing = (MOUNT_ATTR_RDONLY, 0) if is_read_only else (0, MOUNT_ATTR_RDONLY)
    attributes = ctypes.create_string_buffer(struct.pack("4Q", setting, clearing, 0, 0), 32)
    _call("syscall", MOUNT_SETATTR, AT_FDCWD, os.fsencode(path), flags, attributes, 32)


def _written(path: str, below: str, upper: str) -> Iterator[tuple[str, str, int]]:
    """Path, change and size of what stands in a layer."""
    for folder, folders, names in os.walk(upper):
        links = (name for name in folders if os.path.islink(os.path.join(folder, name)))
        for name in (*names, *links):
            full = os.path.join(folder, name)
            inner = os.path.relpath(full, upper)
            now, before = _state(full), _state(os.path.join(below, inner))
            if now is None:
                continue
            if stat.S_ISCHR(now.st_mode) and now.st_rdev == 0:
                yield os.path.join(path, inner), "deleted", 0
            elif before is None:
                yield os.path.join(path, inner), "created", now.st_size
            elif not _is_same(full, now, os.path.join(below, inner), before):
                yield os.path.join(path, inner), "modified", now.st_size


class _Folder(NamedTuple):
    """A folder of a layer that is other than the one below."""

    path: str
    change: str
    mode: int
    is_empty: bool


def _changed_folders(path: str, below: str, upper: str) -> Iterator[_Folder]:
    """The folders of a layer that are new, have replaced what was there, or have other rights."""
    for folder, folders, names in os.walk(upper):
        inner = os.path.relpath(folder, upper)
        now, before = _state(folder), _state(os.path.join(below, inner))
        if now is None:
            continue
        mode = stat.S_IMODE(now.st_mode)
        if before is None:
            change = "created"
        elif _is_opaque(folder):
            change = "deleted"
        elif stat.S_IMODE(before.st_mode) != mode:
            change = "modified"
        else:
            continue
        shown = os.path.normpath(os.path.join(path, inner))
        yield _Folder(shown, change, mode, not folders and not names)


def _folder_rows(path: str, below: str, upper: str) -> Iterator[dict[str, Any]]:
    """What is carried of the folders of a layer.

    Raises:
        NotCarriedError: One has taken the place of another one.
    """
    for made in _changed_folders(path, below, upper):
        if OWN_FILES.search(made.path):
            continue
        if made.change == "deleted":
            raise NotCarriedError(f"it replaced the folder {made.path}")
        yield {"path": made.path, "change": "folder", "before": None, "mode": made.mode}


def _is_opaque(folder: str) -> bool:
    try:
        return bool(os.getxattr(folder, OPAQUE))
    except OSError:
        return False


def _copy_out(path: str, folder: str, number: int) -> dict[str, Any]:
    """Copy a file, or say where a link leads.

    Raises:
        NotCarriedError: It is neither, or has a second name.
    """
    state = os.lstat(path)
    if stat.S_ISLNK(state.st_mode):
        return {"link": os.readlink(path)}
    if not stat.S_ISREG(state.st_mode):
        raise NotCarriedError(f"it made {os.path.basename(path)}, which is no ordinary file")
    if state.st_nlink > 1:
        raise NotCarriedError(f"it made a hard link of {os.path.basename(path)}")
    name = f"file-{number}"
    shutil.copyfile(path, os.path.join(folder, name))
    return {"copy": name, "mode": stat.S_IMODE(state.st_mode)}


def _state(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_same(path: str, now: os.stat_result, other: str, before: os.stat_result) -> bool:
    if (now.st_mode, now.st_size) != (before.st_mode, before.st_size):
        return False
    if stat.S_ISLNK(now.st_mode):
        return os.readlink(path) == os.readlink(other)
    if not stat.S_ISREG(now.st_mode) or now.st_size > COMPARED_BYTES:
        return False
    with open(path, "rb") as file, open(other, "rb") as first:
        return file.read() == first.read()


# What the kernel had open.


def _path_of(number: int) -> str:
    """Where an open file is; empty: nowhere any more."""
    try:
        path = os.readlink(f"/proc/self/fd/{number}")
        return path if os.path.samestat(os.stat(path), os.fstat(number)) else ""
    except OSError:
        return ""


def _open_in_layer(number: int, offset: int, path: str) -> None:
    """Let an open file be the one of the layer; a large one, or one without a name, can be read."""
    flags = fcntl.fcntl(number, fcntl.F_GETFL) & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC)
    # In a layer a file is copied when it is opened to be written.
    if not path or os.fstat(number).st_size > COPIED_BYTES:
        path, flags = path or f"/proc/self/fd/{number}", flags & ~os.O_ACCMODE
    try:
        own = os.open(path, flags)
    except OSError:
        own = os.open(os.devnull, os.O_RDONLY)
    with contextlib.suppress(OSError):
        os.lseek(own, offset, os.SEEK_SET)
    os.dup2(own, number, inheritable=os.get_inheritable(number))
    os.close(own)


def _cut_sockets(kept: int) -> None:
    """Let sockets lead nowhere: whoever is at the other end, the kernel talks with."""
    with contextlib.closing(socket.socketpair()[0]) as dead:
        for number in map(int, os.listdir("/proc/self/fd")):
            with contextlib.suppress(OSError):
                is_socket = stat.S_ISSOCK(os.fstat(number).st_mode)
                if is_socket and number not in (0, 1, 2, kept, dead.fileno()):
                    os.dup2(dead.fileno(), number, inheritable=os.get_inheritable(number))


def _own_shared_memory() -> None:
    """Let memory that is shared with others be ours alone, with what is in it now.

    Raises:
        OSError: There is too much of it.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.split(None, 5) for line in file]
    for span, rights, offset, _, _, *named in lines:
        path = named[0].rstrip("\n") if named else ""
        is_file = not path.startswith("/dev/") or path.startswith((SHARED_MEMORY, "/dev/zero"))
        if rights[1] != "w" or rights[3] != "s" or not is_file:
            continue
        first, last = (int(part, 16) for part in span.split("-"))
        area, length = (first, last - first), last - first
        with contextlib.suppress(OSError):
            is_small = os.path.getsize(path) <= COPIED_BYTES
            kind = mmap.MAP_SHARED if is_small else mmap.MAP_PRIVATE
            with open(path, "r+b" if is_small else "rb") as source:
                _map(area, kind, source.fileno(), int(offset, 16))
            continue
        if length > COPIED_BYTES:
            raise OSError(f"{length >> 20} MB of memory are shared with other programs")
        held = ctypes.string_at(first, length)
        _map(area, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        ctypes.memmove(first, held, length)


def _map(area: tuple[int, int], flags: int, file: int, offset: int) -> None:
    """Put something else where memory of this address and size is."""
    map_memory = ctypes.CDLL(None, use_errno=True).mmap
    map_memory.restype = ctypes.c_void_p
    size, number = ctypes.c_size_t, ctypes.c_long
    map_memory.argtypes = [ctypes.c_void_p, size, *[ctypes.c_int] * 3, number]
    rights = mmap.PROT_READ | mmap.PROT_WRITE
    if map_memory(*area, rights, flags | MAP_FIXED, file, offset) != area[0]:
        raise OSError(ctypes.get_errno(), "mmap")


# The network, and rights.


def _raise_loopback() -> None:
    """Programs of the copy's own can talk to each other."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        fcntl.ioctl(line, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP | IFF_LOOPBACK))


def _give_up_rights() -> None:
    """Take away what was needed to come here, so that nothing can be taken off again."""
    libc = ctypes.CDLL(None, use_errno=True)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in set(range(CAPABILITIES)) - set(OWN_FILES_CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    mask = sum(1 << capability for capability in OWN_FILES_CAPABILITIES)
    header = ctypes.create_string_buffer(struct.pack("Ii", CAPABILITY_VERSION_3, 0))
    sets = ctypes.create_string_buffer(struct.pack("6I", mask, mask, 0, 0, 0, 0))
    _call("capset", header, sets)
    ruleset = ctypes.create_string_buffer(struct.pack("3Q", 0, 0, LANDLOCK_SCOPE_SIGNAL))
    number = libc.syscall(LANDLOCK_CREATE_RULESET, ruleset, ctypes.c_size_t(24), 0)
    if number >= 0:
        libc.syscall(LANDLOCK_RESTRICT_SELF, number, 0)
        os.close(number)


# The system's own calls.


def _call(name: str, *arguments: Any) -> None:
    """Call a function of the C library.

    Raises:
        OSError: It failed.
    """
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    if function(*arguments) < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    texts = (os.fsencode(text) or None for text in (source, target, kind))
    given = os.fsencode(options) or None
    _call("mount", *texts, ctypes.c_ulong(flags), given)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
