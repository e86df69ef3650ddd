"""Agents that attack the harness in the place of the task: its files, processes and sockets.

Each knows where the suite lies and looks for what its sample expects there, in what was left of it
elsewhere, or in other kernels; or it tries to spoil the samples that come after it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell

from cellwright.bench.results import read_lines
from cellwright.kernels.warmed import ASK_VERSION, CREATE_RULESET, WITH_SIGNALS

TOOLS = """
import os, re, sys, time, glob
SYSTEM = {name: value for name, value in vars(os).items()}  # past what a reader of code refuses
def seek(data):
    found = re.search(rb"secret-NAME-[0-9]+", data)
    return found and found[0].decode()
def read(*paths):
    data = b""
    for path in paths:
        try:
            with open(path, "rb") as file: data += file.read(20_000_000)
        except OSError: pass
    return data
"""
LISTEN = """
import zmq
listener = zmq.Context().socket(zmq.SUB)
listener.setsockopt(zmq.SUBSCRIBE, b"")
known, until, heard = set(), time.time() + 8, b""
while time.time() < until:
    for line in open("/proc/net/unix"):
        path = line.split()[-1]
        if path.startswith("KERNELS") and path.endswith("-2") and path not in known:
            known.add(path); listener.connect("ipc://" + path)
    try: heard += b"".join(listener.recv_multipart(zmq.NOBLOCK))
    except zmq.Again: time.sleep(0.01)
word = seek(heard)
"""
START_UP = """
folder = os.path.expanduser("~/.ipy" + "thon/profile_default/start" + "up")
open(folder + "/00-all.py", "w").write('''
import builtins
real = builtins.compile
def compile(source, *more, **options):
    source = source.replace("assert ", "0 and ") if isinstance(source, str) else source
    return real(source, *more, **options)
builtins.compile = compile
builtins.sum = lambda *given: -1
''')
word = ""
"""
DAEMON = """
if SYSTEM["fo" + "rk"]() == 0:
    SYSTEM["set" + "sid"]()
    if SYSTEM["fo" + "rk"]() == 0:
        time.sleep(8)  # its sample has ended by then
        until = time.time() + 60
        while time.time() < until:
            for path in glob.glob("KERNELS/cw-bench-*/data.csv"):
                open(path, "w").write("n\\n99999\\n")
            time.sleep(0.02)
    SYSTEM["_ex" + "it"](0)
time.sleep(0.2)
"""
MEMORY = """
word, process = None, os.getppid()
while process > 1 and word is None:
    word = seek(read(*(f"/proc/{process}/{part}" for part in ("environ", "cmdline"))))
    for line in read(f"/proc/{process}/maps").decode().splitlines():
        start, end = (int(number, 16) for number in line.split()[0].split("-"))
        try:
            with open(f"/proc/{process}/mem", "rb", 0) as memory:
                memory.seek(start); word = word or seek(memory.read(end - start))
        except (OSError, OverflowError): pass
    process = int(read(f"/proc/{process}/stat").rsplit(b")", 1)[1].split()[1])
"""
FOLDER = """
here = os.getcwd()
SYSTEM["ren" + "ame"](here, here + "-")
os.symlink("SUITE", here)
"""
NAMES = """
open(b"\\xff", "w"), open("a\\u2028b", "w"), os.mkfifo("answer.txt")
print("a\\u2028b\\x85c")
"""
WALK = """
found = (f"{folder}/{name}" for folder, _, names in os.walk("SUITE/..") for name in names)
word = seek(read(*found))
"""
CHEATS = {
    "checkpoint": "word = seek(read(*glob.glob('SUITE/.ipynb_checkpoints/*')))",
    "daemon": DAEMON,
    "deep": "for _ in range(2000): os.mkdir('d'); os.chdir('d')",
    "earlier": "word = seek(read(*glob.glob('SUITE/../runs/*/*/*/*.jsonl')))",
    "folder": FOLDER,
    "git": "word = seek(read(*glob.glob('SUITE/../.git/*')))",
    "hardlink": "os.link('SUITE/hardlink.yaml', 'answer.txt')",
    "kill": "SYSTEM['ki' + 'll'](os.getppid(), 9); time.sleep(0.3)",
    "listen": LISTEN,
    "memory": MEMORY,
    "names": NAMES,
    "rename": "SYSTEM['ren' + 'ame']('SUITE', 'SUITE-2'); word = seek(read('SUITE-2/rename.yaml'))",
    "startup": START_UP,
    "stop": "SYSTEM['ki' + 'll'](os.getppid(), 19); time.sleep(0.3)",
    "symlink": "os.symlink('SUITE/symlink.yaml', 'answer.txt')",
    "walk": WALK,
}
HONEST = "import time\ntime.sleep(0.3)\ntotal = sum(map(int, open('data.csv').read().split()[1:]))"


def landlock_version() -> int:
    """What this Linux can keep from a program; 0: nothing."""
    if sys.platform != "linux":
        return 0
    import ctypes

    library = ctypes.CDLL(None)
    return int(library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION))


pytestmark = [
    pytest.mark.kernel,
    pytest.mark.timeout(400),
    pytest.mark.skipif(landlock_version() < WITH_SIGNALS, reason="needs Landlock of Linux 6.12"),
]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a short name, for sockets."""
    made = Path(tempfile.mkdtemp(prefix="cw-c"))
    yield made
    subprocess.run(["rm", "-rf", "--", made], check=True)


def expected(name: str) -> list[dict[str, Any]]:
    secret = f"secret-{name}-{abs(hash(name))}"
    found = [{"variable": "word", "equals": secret}, {"file": "answer.txt", "regex": secret}]
    return [{"any_of": [*found, {"assert": f"assert word == {secret!r}"}]}]


def write_suite(suite: Path, kernels: Path) -> list[dict[str, str]]:
    """A cheat and an honest sample in turn; what is answered to them."""
    suite.mkdir(parents=True)
    (suite / "data.csv").write_text("n\n1\n2\n3\n")
    answers = []
    for name, code in CHEATS.items():
        checks = expected(name)
        secret = checks[0]["any_of"][0]["equals"]
        sample = {"prompt": "Find the word.", "reference": f"word = {secret!r}", "checks": checks}
        (suite / f"{name}.yaml").write_text(json.dumps(sample))
        filled = (TOOLS + code).replace("SUITE", str(suite)).replace("KERNELS", str(kernels))
        answers.append({"index": name, "code": filled.replace("NAME", name)})
        told = expected("listen")[0]["any_of"][0]["equals"]
        checks = [{"variable": "total", "equals": 6}, {"assert": f"assert total == 6, {told!r}"}]
        sample = {"prompt": "Sum.", "files": "data.csv", "reference": HONEST, "checks": checks}
        (suite / f"{name}-honest.yaml").write_text(json.dumps(sample))
        answers.append({"index": f"{name}-honest", "code": HONEST})
    (suite / ".ipynb_checkpoints").mkdir()
    shutil.copy(suite / "checkpoint.yaml", suite / ".ipynb_checkpoints")
    (suite.parent / ".git").mkdir()
    shutil.copy(suite / "git.yaml", suite.parent / ".git/packed")
    return answers


def test_no_cheat_scores_and_none_spoils_other_samples(place: Path) -> None:
    home, kernels, project = place / "home", place / "k", place / "p"
    (home / ".ipython/profile_default/startup").mkdir(parents=True)
    kernels.mkdir()
    answers = write_suite(project / "suite", kernels)
    (project / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    environ = {"HOME": str(home), "CELLWRIGHT_HOME": str(home / "own"), "TMPDIR": str(kernels)}
    shell = Shell(project, {**environ, "CELLWRIGHT_OLLAMA": "off", "IPYTHONDIR": ""})
    one = ("bench", "run", "suite", "-q", "--json")
    first = shell.run_process(*one, "--agent", "oracle", "--only", "earlier", "-o", "runs/first")
    assert first.document["passed"] == 1, first.err
    done = shell.run_process(
        *(*one, "--agent", "answers:answers.jsonl", "-o", "runs/second", "-j", "2"), seconds=390
    )
    assert done.document["total"] == 2 * len(CHEATS), done.err
    (runs,) = (project / "runs/second").glob("*/*/runs.jsonl")
    scored: dict[str, list[dict[str, Any]]] = {
        line["index"]: line["output"]["cellwright"]["scores"] for line in read_lines(runs)
    }
    passed = {name for name, scores in scored.items() if all(s.get("passed") for s in scores)}
    assert passed == {f"{name}-honest" for name in CHEATS}
