"""Kernels that are kept apart see their sample, the system and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cellwright.bench.agents import open_agent
from cellwright.bench.checks import Assertion, File, Variable
from cellwright.bench.environments import InterpreterChoice, Rooms, kernels_of
from cellwright.bench.isolation import (
    Box,
    IsolatedProcess,
    Isolation,
    check_isolation,
    check_needs,
    wrap,
)
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites import Item, Needs, Suite
from cellwright.bench.suites.folder import load
from cellwright.cli import main
from cellwright.errors import KernelError, SetupError
from cellwright.session.questions import RunRequest
from cellwright.settings import Mode
from cellwright.stopping import Stop

BWRAP = Isolation("bwrap")


def can_isolate() -> bool:
    """Whether bubblewrap is installed, and may do its work."""
    try:
        check_isolation(BWRAP, sys.executable)
    except SetupError:
        return False
    return True


needs_bwrap = pytest.mark.skipif(not can_isolate(), reason="needs bubblewrap")
IMAGE = os.environ.get("TEST_IMAGE", "")
"""An image with ipykernel, such as ``podman:NAME``."""
needs_image = pytest.mark.skipif(not IMAGE, reason="TEST_IMAGE names no image")
BOTH = [
    pytest.param("bwrap:", marks=needs_bwrap, id="bwrap"),
    pytest.param(IMAGE, marks=needs_image, id="container"),
]


@pytest.fixture(scope="module", params=BOTH)
def rooms(request: pytest.FixtureRequest) -> Iterator[Rooms]:
    """Rooms with kernels that are kept apart."""
    program, _, image = request.param.partition(":")
    choice = InterpreterChoice(isolation=Isolation(program, image))
    with kernels_of(choice, {}) as kernels:
        assert kernels.forks is None
        yield Rooms({"SET": "yes"}, kernels.start)


LOOK = """
import json, os, socket
def can_read(path):
    try: return bool(os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError as error: return type(error).__name__
def can_write(path):
    try:
        with open(path, 'w') as file: return bool(file.write('x'))
    except OSError as error: return type(error).__name__
print(json.dumps({
    'read': [can_read(path) for path in PATHS],
    'programs': can_write('/usr/bin/new'), 'libraries': can_write(os.__file__),
    'own': can_write('own.txt'), 'elsewhere': can_write('/app/own2.txt'),
    'networks': [name for _, name in socket.if_nameindex()], 'set': os.environ['SET'],
    'processes': [number for number in map(int, filter(str.isdigit, os.listdir('/proc')))],
}))
"""


@pytest.mark.kernel
def test_a_kernel_that_is_kept_apart_sees_its_sample_and_no_network(
    rooms: Rooms, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("42")
    paths = [str(secret), str(tmp_path), os.path.expanduser("~"), f"/proc/{os.getpid()}/environ"]
    item = Item(1, "x", files={"data.csv": secret}, needs=Needs(workdir="/app"))
    with rooms.open(item, Stop()) as room:
        cell = room.run(f"PATHS = {[*paths, 'data.csv', '/app/data.csv']!r}\n{LOOK}", 60)
        assert cell.status == "ok", cell.error
        way = room.kernel.way
        slow = room.run("import time\nwhile True: time.sleep(0.01)", 0.5)
        assert slow.status == "timeout"
        assert room.run("1 + 1", 60).status == "ok"
        written = sorted(path.name for path in room.folder.iterdir())
    found = json.loads(cell.outputs[0]["text"])
    missing, denied = "FileNotFoundError", "OSError"
    assert found["read"] == [missing] * 4 + [True, True]
    if way == "bwrap":  # a container's are its own
        assert (found["programs"], found["libraries"]) == (denied, denied)
    assert (found["own"], found["elsewhere"], found["set"]) == (True, True, "yes")
    assert found["networks"] == ["lo"]
    assert len(found["processes"]) < 4
    assert written == ["data.csv", "own.txt", "own2.txt"]


@pytest.mark.kernel
def test_a_sample_is_scored_from_outside_of_its_box(rooms: Rooms) -> None:
    item = Item(
        "one",
        "Solve it.",
        checks=(
            Variable("x", 42),
            File("made.txt", exact="made"),
            Assertion("assert open('made.txt').read() == 'made' and double(x) == 84"),
        ),
        reference=("x = 42\nopen('made.txt', 'w').write('made')\ndef double(n): return 2 * n",),
    )
    suite = Suite("s", (item,))
    for name, passes in (("oracle", True), ("noop", False)):
        found = attempt(Job(suite, item, open_agent(name)), Laboratory(rooms), Stop())
        assert found.passed is passes, found.scores
    assert found.env["kernel_way"] in ("bwrap", "podman", "docker")


CODE = "parts = [str(n) for n in (1, 1)]\nx = eval('+'.join(parts))"


@pytest.mark.kernel
@pytest.mark.parametrize("mode", ["auto", "edits"])
def test_in_a_box_mode_auto_runs_what_it_would_ask_about(rooms: Rooms, mode: Mode) -> None:
    item = Item("one", "x", checks=(Variable("x", 2),), reference=(CODE,))
    agent = replace(open_agent("oracle"), request=RunRequest("", mode=mode))
    job = Job(Suite("s", (item,)), item, agent)
    for is_apart in (True, False):
        place = Laboratory(replace(rooms, is_apart=is_apart))
        assert attempt(job, place, Stop()).passed is (is_apart and mode == "auto")


@pytest.mark.kernel
@needs_bwrap
def test_a_suite_runs_apart_and_its_samples_say_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    Path("suite").mkdir()
    text = "prompt: Set x.\nreference: x = 1\nchecks: [{variable: x, equals: 1}]\nnetwork: "
    Path("suite/one.yaml").write_text(text + "false\n")
    run = ["bench", "run", "suite", "--agent", "oracle", "--json", "-q"]
    assert main(run) == 2
    assert "needs a closed network" in capsys.readouterr().out
    assert main([*run, "--isolation", "bwrap", "-o", "results"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] == 1
    assert main(["bench", "rescore", "results", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] == 1
    Path("suite/one.yaml").write_text(text + "true\n")
    assert main([*run, "--isolation", "bwrap"]) == 2
    assert "--network" in capsys.readouterr().out
    assert main([*run, "--isolation", "bwrap", "--gateway-url", "http://localhost:1"]) == 2


def test_a_sample_names_its_interpreter_image_and_network(tmp_path: Path) -> None:
    text = "prompt: x\nchecks: [{variable: x, equals: 1}]\n"
    more = f"python: {sys.executable}\nimage: python:3.13\nnetwork: false\n"
    (tmp_path / "one.yaml").write_text(text + more)
    (item,) = load(tmp_path).items
    assert item.needs == Needs(sys.executable, "python:3.13", network=False)
    (tmp_path / "one.yaml").write_text(f"{text}python: none/python\nnetwork: maybe\n")
    with pytest.raises(SetupError, match="network is 'maybe'.*no interpreter 'none/python'"):
        load(tmp_path)


@pytest.mark.kernel
def test_a_samples_own_interpreter_runs_its_kernel(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\nOWN=yes exec {sys.executable} "$@"\n')
    program.chmod(0o755)
    item = Item(1, "x", needs=Needs(python=str(program)))
    with (
        kernels_of(InterpreterChoice(modules=("json",)), os.environ) as kernels,
        Rooms({}, kernels.start).open(item, Stop()) as room,
    ):
        cell = room.run("import os; print(os.environ['OWN'])", 60)
        assert (cell.outputs[0]["text"], room.kernel.way) == ("yes\n", "started")


def test_a_container_gets_folders_but_no_network_and_none_of_our_environment(
    tmp_path: Path,
) -> None:
    box = Box(tmp_path, {"PYTHONHASHSEED": "0"}, Needs(image="own:1", workdir="/app"))
    isolation = Isolation("docker", "usual:1")
    process = IsolatedProcess("python3", isolation, box, sys.executable)
    launch = ["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    words = process.command(launch)
    assert words[:3] == ["docker", "run", "--rm"]
    assert words[words.index("--network") :][:2] == ["--network", "none"]
    assert f"{tmp_path}:{tmp_path}" in words
    assert f"{tmp_path}:/app" in words
    assert [word for word in words if "=" in word] == ["HOME=/tmp", "PYTHONHASHSEED=0"]
    assert words[words.index("own:1") :] == ["own:1", *launch]
    allowed = IsolatedProcess("python3", replace(isolation, has_network=True), box, "")
    assert "--network" not in allowed.command(launch)


@pytest.mark.parametrize(("user", "is_mapped"), [(0, False), (1000, True)])
def test_podman_without_root_knows_whose_the_folders_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, is_mapped: bool
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: user)
    box = Box(tmp_path, {}, Needs(image="own:1"))
    for program in ("podman", "docker"):
        process = IsolatedProcess("python3", Isolation(program), box, sys.executable)
        words = process.command(["python3", "-m", "ipykernel_launcher"])
        assert ("keep-id" in words) is (is_mapped and program == "podman")


CLIENT = """#!/bin/sh
echo "$DOCKER_HOST $*" >> {said}
[ "$1" = version ] && exit 0
[ "$1" = rm ] && exit 0
exit 1
"""


@pytest.mark.kernel
def test_the_program_of_containers_is_told_where_its_daemon_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    client = tmp_path / "docker"
    client.write_text(CLIENT.format(said=said))
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DOCKER_HOST", "unix:///else/docker.sock")
    choice = InterpreterChoice(isolation=Isolation("docker"))
    item = Item(1, "x", needs=Needs(image="own:1"))
    with (
        kernels_of(choice, {}) as kernels,
        Rooms({}, kernels.start).open(item, Stop()) as room,
        pytest.raises(KernelError),
    ):
        room.run("1", 10)
    lines = [line for line in said.read_text().splitlines() if " run " in line]
    assert lines
    assert all(line.startswith("unix:///else/docker.sock run") for line in lines)
    assert not any("DOCKER_HOST" in line.partition(" run ")[2] for line in lines)


def test_what_is_hidden_is_hidden_wherever_it_is(tmp_path: Path) -> None:
    suite, results = tmp_path / "suite.yaml", tmp_path / "results"
    suite.write_text("")
    results.mkdir()
    box = Box(tmp_path, {}, hidden=(str(suite), str(results), str(tmp_path / "gone")))
    words = wrap(box, BWRAP, sys.executable)
    assert words[words.index("/dev/null") + 1] == str(suite)
    assert words[words.index(str(results)) - 1] == "--tmpfs"
    assert str(tmp_path / "gone") not in words
    assert "--unshare-net" in words
    assert "--unshare-net" not in wrap(box, Isolation("bwrap", has_network=True), sys.executable)


def test_what_of_an_interpreter_is_in_a_shared_folder_is_not_written(tmp_path: Path) -> None:
    prefix = Path(sys.prefix).resolve()
    box = Box(tmp_path, {}, shared=(str(prefix.parent), str(tmp_path / "else")))
    writable = box.limits(sys.executable).writable
    assert not [path for path in writable if prefix.is_relative_to(path)]
    beside = {str(path) for path in prefix.parent.iterdir() if path.is_dir()}
    assert beside & set(writable)
    assert str(tmp_path / "else") in writable


@pytest.mark.parametrize(
    ("needs", "isolation", "wrong"),
    [
        (Needs(network=False), Isolation(), "needs a closed network"),
        (Needs(image="x"), Isolation(), "needs an image"),
        (Needs(workdir="/app"), Isolation(), "needs /app"),
        (Needs(image="x"), BWRAP, "needs the image 'x'"),
        (Needs(), Isolation("docker"), "names no image"),
        (Needs(network=True), BWRAP, "wants a network"),
        (Needs(network=True), Isolation("bwrap", has_network=True), ""),
        (Needs(image="x"), Isolation("docker"), ""),
        (Needs(network=True), Isolation(), ""),
    ],
)
def test_a_wish_that_nobody_keeps_is_refused(
    needs: Needs, isolation: Isolation, wrong: str
) -> None:
    suite = Suite("s", (Item("one", "x", needs=needs),))
    if not wrong:
        check_needs(suite, isolation)
        return
    with pytest.raises(SetupError, match=wrong):
        check_needs(suite, isolation)


def test_a_program_that_is_not_there_or_cannot_work_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="no program 'bwrap'. Install bubblewrap"):
        check_isolation(BWRAP, sys.executable)
    for name in ("bwrap", "podman"):
        (tmp_path / name).write_text("#!/bin/sh\necho no user namespaces >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
        with pytest.raises(SetupError, match="no user namespaces"):
            check_isolation(Isolation(name), sys.executable)
    assert subprocess.run([tmp_path / "bwrap"], capture_output=True, check=False).returncode == 1
