"""Agents that attack the harness in the place of the task: its files, processes and sockets.

Each knows where the suite lies and looks for what its sample expects there, in what was left of it
elsewhere, or in other kernels; or it tries to spoil the samples that come after it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cheats import landlock_version
from command_line import Shell

from cellwright.bench.results import read_lines
from cellwright.kernels.warmed import WITH_SIGNALS

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
        if "/cw-" in path and path.endswith("-2") and path not in known:
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
            for path in glob.glob("KERNELS/cw-*/*/s-*/data.csv"):
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
NEIGHBOUR = """
tried, until = [], time.time() + 4
while time.time() < until:
    for folder in glob.glob("KERNELS/cw-*/*/s-*"):
        if folder == os.getcwd(): continue
        for name, text in (("data.csv", "n\\n99999\\n"), ("time.py", "1/0"), ("sum.pth", "1")):
            try: open(folder + "/" + name, "w").write(text); tried.append(name)
            except OSError: pass
        try: os.symlink("/dev/null", folder + "/total"); SYSTEM["unl" + "ink"](folder + "/data.csv")
        except OSError: pass
    time.sleep(0.005)
"""
CONNECT = """
from jupyter_client.blocking.client import BlockingKernelClient
known, until = set(), time.time() + 8
while time.time() < until:
    for path in set(glob.glob("KERNELS/cw-*/*/*/*/kernel.json")) - known:
        if "/" + os.environ["TMPDIR"].split("/")[-1] + "/" in path: continue
        known.add(path)
        try:
            client = BlockingKernelClient(connection_file=path)
            client.load_connection_file(); client.start_channels(hb=False, stdin=False)
            client.execute("import builtins; builtins.sum = lambda *given: -1", silent=True)
        except OSError: pass
    time.sleep(0.01)
"""
PLANT = """
import site, sysconfig
def plant(place):
    try: os.makedirs(place, exist_ok=True)
    except OSError: pass
    for make in (lambda p: open(p, "w"), os.mkdir, lambda p: os.symlink("/dev/null", p)):
        try: make(f"{place}/planted-MARK.pth")
        except OSError: pass
folders = glob.glob("SUITE/..") + glob.glob("SUITE/../*") + glob.glob("SUITE/../runs/*/*/*")
for place in (*folders, "HOME", "HOME/.config", "HOME/.local/share/jupyter/kernels/python3",
              sysconfig.get_path("purelib"), site.getusersitepackages(), "KERNELS/cw-0"):
    plant(place)
"""
DESCRIPTORS = """
import socket
for number in range(3, 64):
    try:
        line = socket.socket(fileno=os.dup(number))
        if line.family == socket.AF_UNIX: line.send(b"k")
    except (OSError, ValueError): pass
"""
RENAME = """
SYSTEM["ren" + "ame"]("SUITE", "SUITE-2")
word = seek(read("SUITE-2/rename.yaml"))
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
    "files": {
        "checkpoint": "word = seek(read(*glob.glob('SUITE/.ipynb_checkpoints/*')))",
        "deep": "for _ in range(2000): os.mkdir('d'); os.chdir('d')",
        "earlier": "word = seek(read(*glob.glob('SUITE/../runs/*/*/*/*.jsonl')))",
        "folder": FOLDER,
        "git": "word = seek(read(*glob.glob('SUITE/../.git/*')))",
        "hardlink": "os.link('SUITE/hardlink.yaml', 'answer.txt')",
        "names": NAMES,
        "neighbour": NEIGHBOUR,
        "plant": PLANT,
        "rename": RENAME,
        "runtime": "word = seek(read(*glob.glob('HOME/.local/share/jupyter/runtime/*.json')))",
        "symlink": "os.symlink('SUITE/symlink.yaml', 'answer.txt')",
        "walk": WALK,
    },
    "processes": {
        "connect": CONNECT,
        "daemon": DAEMON,
        "descriptors": DESCRIPTORS,
        "kill": "SYSTEM['ki' + 'll'](os.getppid(), 9); time.sleep(0.3)",
        "listen": LISTEN,
        "memory": MEMORY,
        "startup": START_UP,
        "stop": "SYSTEM['ki' + 'll'](os.getppid(), 19); time.sleep(0.3)",
    },
}
HONEST = "import time\ntime.sleep(0.3)\ntotal = sum(map(int, open('data.csv').read().split()[1:]))"


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


def write_suite(cheats: dict[str, str], place: Path) -> list[dict[str, str]]:
    """A cheat and an honest sample in turn; what is answered to them."""
    suite = place / "p/suite"
    suite.mkdir(parents=True)
    (suite / "data.csv").write_text("n\n1\n2\n3\n")
    answers = []
    for name, code in cheats.items():
        checks = expected(name)
        secret = checks[0]["any_of"][0]["equals"]
        sample = {"prompt": "Find the word.", "reference": f"word = {secret!r}", "checks": checks}
        (suite / f"{name}.yaml").write_text(json.dumps(sample))
        filled = (TOOLS + code).replace("SUITE", str(suite)).replace("KERNELS", str(place / "k"))
        filled = filled.replace("HOME", str(place / "home")).replace("MARK", place.name)
        answers.append({"index": name, "code": filled.replace("NAME", name)})
        told = expected("listen")[0]["any_of"][0]["equals"]
        checks = [{"variable": "total", "equals": 6}, {"assert": f"assert total == 6, {told!r}"}]
        sample = {"prompt": "Sum.", "files": "data.csv", "reference": HONEST, "checks": checks}
        (suite / f"{name}-honest.yaml").write_text(json.dumps(sample))
        answers.append({"index": f"{name}-honest", "code": HONEST})
    runtime = place / "home/.local/share/jupyter/runtime"
    copies = {
        "checkpoint": suite / ".ipynb_checkpoints/a.yaml",
        "git": suite.parent / ".git/packed",
        "runtime": runtime / "kernel-1.json",
    }
    for name, path in copies.items() if "git" in cheats else ():
        path.parent.mkdir(parents=True)
        shutil.copy(suite / f"{name}.yaml", path)
    return answers


@pytest.mark.parametrize("kind", CHEATS)
def test_no_cheat_scores_and_none_spoils_other_samples(kind: str, place: Path) -> None:
    home, kernels, project, cheats = place / "home", place / "k", place / "p", CHEATS[kind]
    (home / ".ipython/profile_default/startup").mkdir(parents=True)
    kernels.mkdir()
    answers = write_suite(cheats, place)
    (project / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    environ = {"HOME": str(home), "CELLWRIGHT_HOME": str(home / "own"), "TMPDIR": str(kernels)}
    environ |= {"JUPYTER_RUNTIME_DIR": str(home / ".local/share/jupyter/runtime")}
    shell = Shell(project, {**environ, "CELLWRIGHT_OLLAMA": "off", "IPYTHONDIR": ""})
    one = ("bench", "run", "suite", "-q", "--json")
    if "earlier" in cheats:
        first = shell.run_process(
            *(*one, "--agent", "oracle", "--only", "earlier", "-o", "runs/first")
        )
        assert first.document["passed"] == 1, first.err
    done = shell.run_process(
        *(*one, "--agent", "answers:answers.jsonl", "-o", "runs/second", "-j", "2"), seconds=390
    )
    assert done.document["total"] == 2 * len(cheats), done.err
    (runs,) = (project / "runs/second").glob("*/*/runs.jsonl")
    scored: dict[str, list[dict[str, Any]]] = {
        line["index"]: line["output"]["cellwright"]["scores"] for line in read_lines(runs)
    }
    passed = {name for name, scores in scored.items() if all(s.get("passed") for s in scores)}
    assert passed == {f"{name}-honest" for name in cheats}
    packages = Path(sysconfig.get_path("purelib"))
    planted = [p for folder in (place, packages) for p in folder.rglob(f"planted-{place.name}*")]
    for path in planted:  # or later kernels would read it
        path.rmdir() if path.is_dir() else path.unlink()
    assert planted == []
