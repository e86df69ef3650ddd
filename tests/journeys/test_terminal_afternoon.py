"""An afternoon in IPython on a real terminal: questions, interrupts, input, records, exports."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from fake_service import MODEL, Answer, FakeService, Pause, chunk, raw_sse, text, tool_call

from cellwright.kernels.capture import STUCK
from cellwright.record.run_record import RunRecord
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform == 'win32'")]

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
CATCHES_ALL = (
    "import time\nwhile True:\n    try:\n        print('ti' + 'ck', flush=True)\n"
    "        time.sleep(0.1)\n    except BaseException: pass"
)


class Terminal:
    """IPython as a person sees it.

    Args:
        service: Answers in place of a model.
        folder: Where it is started.
    """

    def __init__(self, service: FakeService, folder: Path) -> None:
        self.service, self.home = service, folder / "home"
        environment = {
            **os.environ,
            "CELLWRIGHT_BASE_URL": service.base_url,
            "CELLWRIGHT_API_KEY": "no-key",
            "CELLWRIGHT_MODEL": MODEL,
            "CELLWRIGHT_HOME": str(self.home),
            "TERM": "xterm",
        }
        self.ipython = pexpect.spawn(
            sys.executable,
            ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"],
            cwd=str(folder),
            env=environment,
            encoding="utf-8",
            timeout=60,
            dimensions=(60, 200),
        )
        self._prompts = 0
        self.wait_for_prompt()

    def let_the_model_say(self, *script: Answer) -> None:
        """What the next questions are answered."""
        self.service.script = [*script]
        self.service.requests.clear()

    def type(self, line: str) -> None:
        """Type a line and do not wait."""
        self.ipython.sendline(line)

    def wait_for(self, words: str) -> str:
        """Wait until it is shown; what was shown before."""
        self.ipython.expect_exact(words)
        return ESCAPES.sub("", str(self.ipython.before))

    def wait_for_prompt(self) -> str:
        """Wait for the next prompt; what was shown before it."""
        self._prompts += 1
        return self.wait_for(f"In [{self._prompts}]:")

    def run(self, line: str) -> str:
        """Type a line; what it shows."""
        self.type(line)
        return self.wait_for_prompt()

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.ipython.sendintr()

    @property
    def last_run(self) -> RunRecord:
        """The record of the newest run."""
        database = open_database(self.home / "runs.sqlite")
        try:
            store = RunStore(database)
            return store.record(store.resolve("last"))
        finally:
            database.close()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with FakeService() as service:
        opened = Terminal(service, tmp_path)
        yield opened
        opened.ipython.close(force=True)


def test_an_afternoon_in_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    say = terminal.let_the_model_say
    terminal.run("%load_ext cellwright")

    # Two questions, one with code that the person lets run.
    say(text("Good afternoon."))
    assert "Good afternoon." in terminal.run("%agent hello there")
    say(tool_call("run_cell", {"code": "total = 40 + 2\ntotal"}), text("It is 42."))
    terminal.type("%agent --mode ask what is forty and two?")
    terminal.wait_for("Run it?")
    shown = terminal.run("y")
    assert "42" in shown
    assert "It is 42." in shown
    assert "42" in terminal.run("total")

    # Ctrl-C while the model is silent, and the talk goes on.
    say(raw_sse([chunk({"content": "One mo"}), Pause(30)]))
    terminal.type("%agent tell me a long story")
    time.sleep(1.5)  # long enough for the question to be on its way
    pressed_at = time.monotonic()
    terminal.interrupt()
    assert "Stopped" in terminal.wait_for_prompt()
    assert time.monotonic() - pressed_at < 5
    assert (terminal.last_run.status, terminal.last_run.cause) == ("cancelled", "stopped")

    # Ctrl-C in code.
    sleeps = "import time\nprint('asl' + 'eep', flush=True)\ntime.sleep(60)"
    say(tool_call("run_cell", {"code": sleeps}), text("never said"))
    terminal.type("%agent --mode auto rest a while")
    terminal.wait_for("asleep")
    terminal.interrupt()
    assert "Stopped" in terminal.wait_for_prompt()
    assert terminal.last_run.status == "cancelled"

    # Code that catches every interrupt: after two of them it is said how to end it.
    say(tool_call("run_cell", {"code": CATCHES_ALL}), text("never said"))
    terminal.type("%agent --mode auto count")
    for _ in range(2):
        terminal.wait_for("tick")
        terminal.interrupt()
        time.sleep(0.4)
    terminal.wait_for("Interrupt once more to end it by force. " + STUCK[:40])
    assert (terminal.last_run.status, terminal.last_run.cause) == ("cancelled", "stopped")
    terminal.interrupt()
    terminal.wait_for_prompt()
    assert STUCK in terminal.last_run.reason

    # A cell that asks with input() is answered by the person.
    asks = {"code": "name = input('Your ' + 'name? ')\nprint('hel' + 'lo', name)"}
    say(tool_call("run_cell", asks), text("You have been greeted."))
    terminal.type("%agent --mode auto greet me")
    terminal.wait_for("Your name? ")
    terminal.type("Ada")
    assert "hello Ada" in terminal.wait_for_prompt()
    assert terminal.last_run.status == "completed"

    # What the afternoon left behind.
    assert "It is 42." in terminal.run("%agent show " + run_id_of(terminal, "It is 42."))
    assert "run" in terminal.run("%agent undo last")
    terminal.run(f"%agent export last --to ipynb -o {tmp_path / 'afternoon.ipynb'}")
    notebook = json.loads((tmp_path / "afternoon.ipynb").read_text())
    assert "greet me" in json.dumps(notebook)
    assert terminal.run("total").count("42") == 1
    terminal.type("exit")
    terminal.ipython.expect(pexpect.EOF)
    terminal.ipython.close()
    assert terminal.ipython.exitstatus == 0
    assert statuses(terminal) == {"completed": 3, "cancelled": 3}


def run_id_of(terminal: Terminal, answer: str) -> str:
    """The run that was answered so."""
    database = open_database(terminal.home / "runs.sqlite")
    try:
        store = RunStore(database)
        runs = [summary.run_id for summary in store.list(20)]
        return next(run for run in runs if store.record(run).answer == answer)
    finally:
        database.close()


def statuses(terminal: Terminal) -> dict[str, int]:
    """How many runs ended how."""
    database = open_database(terminal.home / "runs.sqlite")
    try:
        return dict(RunStore(database).counts())
    finally:
        database.close()
