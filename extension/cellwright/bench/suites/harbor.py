"""Tasks in Harbor's folders, read where they are: ``instruction.md``, ``task.toml``, ``tests``.

A task runs in a box (``--isolation``), in which its folder has the name that the task's Dockerfile
gives it, such as ``/app``. What that copies there is copied; what else it does has to be in the
interpreter or the image that is named. The tests come into a second box when the agent is done,
and the reward that they write is the score.

What this does not protect against: tests that import or run what the agent wrote run its code.
"""

from __future__ import annotations

import base64
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from cellwright.bench.checks import FinishedRun, Scorer
from cellwright.bench.suites import UNSEEN, Item, Needs, Suite, checked_suite
from cellwright.errors import SetupError
from cellwright.exports.sample import Score
from cellwright.settings import Limits

CONFIG = "task.toml"
WORKDIR = "/app"
SECONDS = 600.0
SHOWN_CHARACTERS = 2_000
HINT = "\n\nYou work in a notebook; a cell runs shell commands with `!` or `%%bash`."
RUN_SCRIPT = "import subprocess\nprint(subprocess.run(['bash', '-c', {script!r}], check=True))"
SET_ENVIRONMENT = "import os\nos.environ.update({environ!r})"
LOGS = "/logs/verifier"
TEST = """
import base64, json, os, pathlib, subprocess
for name, data in arguments['files'].items():
    path = pathlib.Path('/tests', name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(data))
logs = pathlib.Path(arguments['logs'])
logs.mkdir(parents=True, exist_ok=True)
environ = {**os.environ, **arguments['environ']}
words = ['bash', '/tests/test.sh']
done = subprocess.run(words, cwd=arguments['workdir'], env=environ, capture_output=True, text=True)
found = {'said': (done.stdout + done.stderr)[-2000:]}
for name in ('reward.json', 'reward.txt'):
    if (logs / name).is_file():
        found['reward'] = json.loads((logs / name).read_text())
        break
"""


@dataclass(frozen=True)
class HarborTest:
    """Runs a task's tests beside what the agent left."""

    files: Mapping[str, str]
    """Of the folder ``tests``, in base64."""
    workdir: str
    environ: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = SECONDS
    __name__ = "tests"

    def __call__(self, run: FinishedRun) -> Score:
        """The score that the tests give.

        Raises:
            ValueError: They gave none.
        """
        arguments = {
            "files": dict(self.files),
            "workdir": self.workdir,
            "environ": dict(self.environ),
            "logs": LOGS,
        }
        found = run.ask_clean(TEST, arguments, self.timeout_seconds)
        if "reward" not in found:
            raise ValueError(f"the tests wrote no reward: {found['said']}")
        reward = found["reward"]
        if isinstance(reward, dict):
            reward = reward.get("reward", sum(reward.values()) / max(1, len(reward)))
        value = min(1.0, max(0.0, float(reward)))
        return Score("tests", value, value >= 1.0, "" if value >= 1.0 else found["said"])


def load(folder: Path) -> Suite:
    """The suite of a task's folder, or of a folder of such folders.

    Raises:
        SetupError: There is no task, or one cannot be read.
    """
    configs = [folder / CONFIG] if (folder / CONFIG).is_file() else sorted(folder.rglob(CONFIG))
    if not configs:
        raise SetupError(f"There is no {CONFIG!r} in {str(folder)!r}.", hint="Name a Harbor task.")
    items = tuple(_item(config.parent) for config in configs)
    name = folder.resolve().name
    return checked_suite(Suite(name, items, source=str(folder), hidden=(folder.resolve(),)))


def _item(folder: Path) -> Item:
    try:
        config = tomllib.loads((folder / CONFIG).read_text(encoding="utf-8"))
        steps = config.get("steps")
        instruction = "" if steps else (folder / "instruction.md").read_text(encoding="utf-8")
        tests = dict(_read_tests(folder / "tests"))
        solution = folder / "solution" / "solve.sh"
        script = solution.read_text(encoding="utf-8") if solution.is_file() else ""
    except (OSError, ValueError) as error:
        raise SetupError(f"{str(folder)!r} is no Harbor task: {error}.") from error
    environment, verifier = config.get("environment", {}), config.get("verifier", {})
    docker = _read_dockerfile(folder / "environment", environment.get("workdir"))
    missing = [*docker.unseen, *(["it has several steps"] if steps else [])]
    missing += [] if "test.sh" in tests else ["it has no tests/test.sh"]
    environ = {
        name: value for name, value in environment.get("env", {}).items() if "$" not in value
    }
    setup = [UNSEEN.format(why=why) for why in missing]
    setup += [SET_ENVIRONMENT.format(environ=environ)] if environ else []
    test = HarborTest(
        tests,
        docker.workdir,
        verifier.get("env", {}),
        float(verifier.get("timeout_sec", SECONDS)),
    )
    return Item(
        folder.name,
        instruction.strip() + HINT,
        group=str(config.get("metadata", {}).get("category", "")),
        setup=tuple(setup),
        files=docker.files,
        limits=Limits(wall_seconds=float(config.get("agent", {}).get("timeout_sec") or SECONDS)),
        checks=(Scorer(test),),
        reference=(RUN_SCRIPT.format(script=script),) if script else (),
        is_live=True,
        metadata=config.get("metadata", {}),
        needs=Needs(
            image=str(environment.get("docker_image") or ""),
            network=False if _is_offline(environment) else None,
            workdir=docker.workdir,
        ),
    )


def _is_offline(environment: Mapping[str, Any]) -> bool:
    return environment.get("network_mode") == "no-network" or (
        environment.get("allow_internet") is False
    )


def _read_tests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "Dockerfile":
            yield path.relative_to(folder).as_posix(), base64.b64encode(path.read_bytes()).decode()


@dataclass
class _Dockerfile:
    """What a Dockerfile says of the folder that the agent works in."""

    workdir: str
    files: dict[str, Path] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    """What it copies elsewhere."""


def _read_dockerfile(folder: Path, workdir: str | None) -> _Dockerfile:
    path = folder / "Dockerfile"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    named = [line.split(None, 1)[1].strip() for line in lines if line.startswith("WORKDIR ")]
    found = _Dockerfile(workdir or (named[-1] if named else WORKDIR))
    for line in lines:
        words = shlex.split(line, comments=True)
        if words and words[0] in ("COPY", "ADD"):
            _copy(found, folder, [word for word in words[1:] if not word.startswith("--chown")])
    return found


def _copy(found: _Dockerfile, folder: Path, words: list[str]) -> None:
    *sources, target = words
    place = PurePosixPath(found.workdir, target)
    if any(word.startswith("--") for word in words) or not place.is_relative_to(found.workdir):
        found.unseen.append(f"its Dockerfile copies {' '.join(words)}")
        return
    inside = place.relative_to(found.workdir).as_posix()
    is_folder = target.endswith(("/", ".")) or len(sources) > 1
    for source in sources:
        path = folder / source.lstrip("/")
        if path.is_dir():
            files = {file.relative_to(path).as_posix(): file for file in path.rglob("*")}
        else:
            files = {path.name if is_folder else "": path}
        for name, file in files.items():
            if file.is_file() and file.name != "Dockerfile":
                found.files[PurePosixPath(inside, name).as_posix()] = file
