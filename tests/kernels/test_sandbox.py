"""A copy of a kernel that cannot change the world, in a real kernel on a real file system."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kernels.lanes import kernel_environment
from kernels.snapshot_kernel import wait_for
from kernels.test_copies import run

from cellwright.errors import KernelError
from cellwright.kernels.copies import CopiedKernel, open_copy
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.stopping import Stop, WorkerThread

CAN_SANDBOX = (
    sys.platform == "linux"
    and shutil.which("unshare") is not None
    and subprocess.run(["unshare", "-Urmn", "true"], capture_output=True, check=False).returncode
    == 0
)
CREATE_RULESET, ONLY_VERSION, WITH_SIGNAL_SCOPES = 444, 1, 6
HAS_SIGNAL_SCOPES = sys.platform == "linux" and (
    ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ONLY_VERSION)
    >= WITH_SIGNAL_SCOPES
)
"""Landlock keeps signals apart from Linux 6.12 on."""
pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself"),
]

ATTEMPT = """
def attempt(work):
    try:
        return work()
    except BaseException as error:
        return type(error).__name__
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.csv").write_text("region,amount\nNorth,1\n")
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    return tmp_path


@pytest.fixture
def kernel(folder: Path) -> Iterator[FreshKernel]:
    with start_kernel(folder, kernel_environment()) as kernel:
        run(kernel, ATTEMPT)
        yield kernel


@pytest.fixture
def copy(kernel: FreshKernel) -> Iterator[CopiedKernel]:
    copy = open_copy(kernel.ask_snapshots, kernel.session, is_sandboxed=True)
    yield copy
    copy.close(now=True)


def digest(folder: Path) -> dict[str, str]:
    """What each file holds, by its path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def effects(copy: FreshKernel) -> dict[str, Any]:
    found: dict[str, Any] = copy.ask_snapshots("effects", {})
    return found


WAYS_TO_WRITE = {
    "pandas": "import pandas as pd; pd.DataFrame({'a': [1]}).to_csv('sales.csv')",
    "append": "open('sales.csv', 'a').write('South,2')",
    "numpy": "import numpy as np; np.arange(9).tofile('new.bin')",
    "remove": "import os; os.remove('old.txt')",
    "rename": "import os; os.rename('old.txt', 'new.txt')",
    "tree": "import shutil; shutil.rmtree('notes')",
    "move": "import shutil; shutil.move('old.txt', 'notes/old.txt')",
    "folder": "from pathlib import Path; Path('made/deep').mkdir(parents=True)\n"
    "Path('made/deep/x').write_text('x')",
    "zip": "import zipfile; zipfile.ZipFile('a.zip', 'w').writestr('x', 'x')",
    "sqlite": "import sqlite3; c = sqlite3.connect('a.db'); c.execute('create table t(x)')\n"
    "c.commit(); c.close()",
    "mode": "import os; os.chmod('old.txt', 0o600)",
    "folder's mode": "import os; os.chmod('notes', 0o700)",
    "empty folder": "import os; os.makedirs('made/deep')",
    "tree made again": "import os, shutil; shutil.rmtree('notes'); os.mkdir('notes')",
    "cache": "import os; os.mkdir('.cache'); open('.cache/mine.csv', 'w').write('x')",
    "start-up": "from pathlib import Path; f = Path('.ipython/profile_default/startup')\n"
    "f.mkdir(parents=True); (f / 'a.py').write_text('1')",
    "link": "import os; os.symlink('sales.csv', 'link')",
    "hard link": "import os; os.link('sales.csv', 'hard'); open('hard', 'a').write('x')",
    "truncate": "import os; os.truncate('sales.csv', 3)",
    "shell": "import os; os.system('rm old.txt; echo x > by_shell; sed -i s/North/X/ sales.csv')",
    "program": "import subprocess, sys\n"
    "subprocess.run([sys.executable, '-c', \"open('by_program', 'w')\"], check=True)",
    "figure": "import matplotlib.pyplot as plt; plt.plot([1]); plt.savefig('plot.png')",
    "elsewhere": "from pathlib import Path; Path.home().joinpath('by_cellwright').write_text('x')",
    "thread": "from concurrent.futures import ThreadPoolExecutor as Pool\n"
    "with Pool(1) as pool: pool.submit(open, 'by_thread', 'w').result().close()",
    "processes": "import multiprocessing as m\n"
    "p = m.get_context('fork').Process(target=open, args=('by_process', 'w')); p.start(); p.join()",
    "memory map": "import numpy as np\n"
    "m = np.memmap('map', 'u1', 'w+', shape=4); m[:] = 1; m.flush()",
}


def test_whatever_way_a_file_is_written_it_stays_and_the_copy_tells_of_it(
    kernel: FreshKernel, folder: Path
) -> None:
    before = digest(folder)
    home = sorted(os.listdir(Path.home()))
    told = {}
    for name, code in WAYS_TO_WRITE.items():
        with open_copy(kernel.ask_snapshots, kernel.session, is_sandboxed=True) as copy:
            assert run(copy, f"{code}\nprint('did it')") == "did it", name
            told[name] = [(file["path"], file["change"]) for file in effects(copy)["files"]]
        assert digest(folder) == before, name
    assert sorted(os.listdir(Path.home())) == home
    assert os.stat(folder / "old.txt").st_mode & 0o777 != 0o600
    assert not [name for name, files in told.items() if not files]
    assert told["append"] == [("sales.csv", "modified")]
    assert told["rename"] == [("new.txt", "created"), ("old.txt", "deleted")]
    assert told["tree"] == [("notes", "deleted")]
    assert told["folder's mode"] == [("notes/", "modified")]
    assert told["empty folder"] == [("made/deep/", "created")]
    assert told["tree made again"] == [("notes/", "deleted")]
    assert told["cache"] == [(".cache/mine.csv", "created")]
    assert told["start-up"] == [(".ipython/profile_default/startup/a.py", "created")]
    assert told["shell"] == [
        ("by_shell", "created"),
        ("old.txt", "deleted"),
        ("sales.csv", "modified"),
    ]
    assert told["elsewhere"] == [(str(Path.home() / "by_cellwright"), "created")]


def test_what_the_kernel_has_open_stays_as_it_is(kernel: FreshKernel, folder: Path) -> None:
    run(
        kernel,
        "import mmap, socket, tempfile\n"
        "import numpy as np\n"
        "from multiprocessing import shared_memory\n"
        "log = open('log.txt', 'w'); log.write('one'); log.flush()\n"
        "nameless = tempfile.TemporaryFile(); nameless.write(b'x'); nameless.flush()\n"
        "mapped = np.memmap('map', 'u1', 'w+', shape=4); mapped[:] = 1; mapped.flush()\n"
        "shared = mmap.mmap(-1, 4096); shared[0] = 7\n"
        "block = shared_memory.SharedMemory(create=True, size=16); block.buf[0] = 5\n"
        "here, there = socket.socketpair(); there.settimeout(0.2)\n",
    )
    with open_copy(kernel.ask_snapshots, kernel.session, is_sandboxed=True) as copy:
        assert run(
            copy,
            "print(shared[0], block.buf[0], mapped[0])\n"
            "log.write(' two'); log.flush(); print(open('log.txt').read())\n"
            "mapped[:] = 9; mapped.flush(); shared[0] = 8; block.buf[0] = 6\n"
            "print(attempt(lambda: nameless.write(b'y') and nameless.flush()))\n"
            "print(attempt(lambda: here.send(b'x')))",
        ).splitlines() == ["7 5 1", "one two", "OSError", "BrokenPipeError"]
        changed = [file["path"] for file in effects(copy)["files"]]
    assert {"log.txt", "map"} <= set(changed)
    assert run(
        kernel,
        "print(shared[0], block.buf[0], mapped[0], open('log.txt').read())\n"
        "print(attempt(lambda: there.recv(1))); block.unlink()",
    ).splitlines() == ["7 5 1 one", "TimeoutError"]


def test_nothing_elsewhere_is_reached_and_who_was_to_be_is_named(
    copy: CopiedKernel, folder: Path
) -> None:
    reached: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "line"))
        local.listen()
        port = server.getsockname()[1]
        listening = threading.Thread(target=lambda: reached.append(_first(server)), daemon=True)
        listening.start()
        printed = run(
            copy,
            "import socket, urllib.request\n"
            f"print(attempt(lambda: socket.create_connection(('127.0.0.1', {port}), 2)))\n"
            "print(attempt(lambda: urllib.request.urlopen('http://data.example/x', timeout=2)))\n"
            "print(attempt(lambda: socket.socket(socket.AF_UNIX).connect('line')))\n"
            "import os; print(os.getppid() > 0, attempt(lambda: os.kill(os.getppid(), 0)))",
        ).splitlines()
    assert printed[:3] == ["ConnectionRefusedError", "URLError", "ConnectionRefusedError"]
    assert printed[3] == ("True PermissionError" if HAS_SIGNAL_SCOPES else "True None")
    assert not reached
    assert effects(copy)["addresses"] == [f"127.0.0.1:{port}", "data.example:80", "line"]


def _first(server: socket.socket) -> bytes:
    connection, _ = server.accept()
    with connection:
        return connection.recv(1)


def test_the_copy_cannot_leave_it_again(copy: CopiedKernel, folder: Path) -> None:
    before = digest(folder)
    run(
        copy,
        "import ctypes, os, subprocess\n"
        "libc = ctypes.CDLL(None)\n"
        "for path in ('/', '/tmp', '/dev/shm', os.getcwd()):\n"
        "    libc.umount2(path.encode(), 2)\n"
        "    subprocess.run(['umount', path], capture_output=True)\n"
        "for number in os.listdir('/proc/self/fd'):\n"
        "    attempt(lambda: os.remove(f'/proc/self/fd/{number}{os.getcwd()}/old.txt'))\n"
        "attempt(lambda: os.remove(f'/proc/{os.getppid()}/root{os.getcwd()}/old.txt'))\n"
        "attempt(lambda: os.remove(f'/proc/{os.getppid()}/cwd/old.txt'))\n"
        "subprocess.run(['unshare', '-Urm', 'umount', '-a'], capture_output=True)\n"
        "attempt(lambda: os.remove('old.txt'))\n",
    )
    assert digest(folder) == before


def test_of_the_devices_only_those_are_there_that_keep_nothing(copy: CopiedKernel) -> None:
    """An administrator may write to a disk's own device, past every file system."""
    found = run(
        copy,
        "import os, pty, stat, subprocess\n"
        "paths = [os.path.join(f, n) for f, _, names in os.walk('/dev') for n in names\n"
        "         if not f.startswith('/dev/shm')]\n"
        "kinds = {path: os.lstat(path).st_mode for path in paths}\n"
        "assert not [path for path, mode in kinds.items() if stat.S_ISBLK(mode)]\n"
        "print(sorted(os.path.basename(p) for p, m in kinds.items() if stat.S_ISCHR(m)))\n"
        "assert len(os.urandom(4)) == len(open('/dev/urandom', 'rb').read(4)) == 4\n"
        "subprocess.run(['true'], stdout=subprocess.DEVNULL, check=True)\n"
        "main, other = pty.openpty()\n"
        "assert os.write(other, b'typed') == 5 and os.read(main, 5) == b'typed'\n"
        "shown = subprocess.run('cat /dev/stdin', input=b'in', shell=True, stdout=-1).stdout\n"
        "assert shown == b'in'",
    )
    assert found == "['full', 'null', 'ptmx', 'random', 'urandom', 'zero']"


def test_variables_and_random_numbers_are_those_that_the_kernel_would_have(
    kernel: FreshKernel,
) -> None:
    run(kernel, "import random; rows = [1, 2]; random.seed(3)")
    with open_copy(kernel.ask_snapshots, kernel.session, is_sandboxed=True) as copy:
        tried = run(copy, "rows.append(random.random()); print(rows)")
    assert run(kernel, "print(rows)") == "[1, 2]"
    assert run(kernel, "rows.append(random.random()); print(rows)") == tried


def test_a_copy_that_holds_the_interpreter_ends_and_leaves_no_folder(kernel: FreshKernel) -> None:
    copy = open_copy(kernel.ask_snapshots, kernel.session, is_sandboxed=True)
    where = "import ipykernel.connect as c; print(c.get_connection_file())"
    folder = Path(run(copy, where)).parent
    assert folder.exists()
    stop = Stop()
    # ``PyDLL`` does not let go of the interpreter: nothing of Python's runs until it has slept.
    sleep = "import ctypes; open('x', 'w').write('x' * 1000); ctypes.PyDLL(None).sleep(60)"
    cell = WorkerThread(lambda: suppress_all(lambda: run(copy, sleep, stop)), name="cell")
    cell.start()
    time.sleep(0.5)
    copy.close(now=True)
    assert wait_for(lambda: not copy.process.is_alive())
    stop.set()
    assert not folder.exists()
    assert str(folder) not in Path("/proc/self/mountinfo").read_text()
    assert run(kernel, "import os; print(os.path.exists('x'))") == "False"


def suppress_all(work: Callable[[], object]) -> None:
    with suppress(BaseException):
        work()


def test_memory_that_is_shared_with_others_and_large_stands_in_the_way(
    kernel: FreshKernel,
) -> None:
    run(kernel, "import mmap; area = mmap.mmap(-1, 300 << 20)")
    with pytest.raises(KernelError, match="300 MB of memory are shared with other programs"):
        open_copy(kernel.ask_snapshots, kernel.session, is_sandboxed=True)
