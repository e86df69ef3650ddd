"""Programs in processes of their own: the page's first block, Ctrl-C, what is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import psutil
import pytest
from fake_service import FakeService, Script, text, tool_call
from quick_kernels import without_forks

import cellwright

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("folder")]
Serve = Callable[[Script], FakeService]
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
FIRST = PAGE.partition("```python\n")[2].partition("```")[0]
SLEEP = 'import os, time; open("pid", "w").write(str(os.getpid())); time.sleep(60)'


def run_script(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=without_forks(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def wait_for(path: Path) -> str:
    until = time.monotonic() + 40
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < until, f"{path} does not come"
        time.sleep(0.05)
    return path.read_text()


def has_ended(pid: int, seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where programs make temporary folders; the path is short enough for sockets."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="cwt-") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


def test_the_first_block_of_the_page_works_as_a_script(folder: Path) -> None:
    (folder / "first.py").write_text(FIRST, encoding="utf-8")
    done = run_script(f"{FIRST}\nprint(answer.files, answer.status)")
    assert done.returncode == 0, done.stderr
    assert "| virginica | 3 |" in done.stdout
    assert done.stdout.splitlines()[-1] == "() completed"
    assert done.stderr == ""


def test_at_a_terminal_the_first_block_asks_and_shows_the_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CELLWRIGHT_MODE")
    (folder / "first.py").write_text(FIRST, encoding="utf-8")
    with pexpect.spawn(
        sys.executable,
        ["first.py"],
        cwd=str(folder),
        env=without_forks(),
        encoding="utf-8",
        timeout=60,
    ) as terminal:
        terminal.expect("pd.read_csv")
        terminal.expect("Run it?")
        terminal.sendline("y")
        terminal.expect("groupby")
        terminal.expect("Run it?")
        terminal.sendline("y")
        terminal.expect("virginica . 3")
        terminal.expect(pexpect.EOF)


@pytest.mark.parametrize("ask", ["s.ask", "await s.ask_async"])
def test_ctrl_c_at_a_question_stops_the_run_and_the_session_goes_on(
    serve: Serve, folder: Path, monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    monkeypatch.setenv("CELLWRIGHT_MODE", "ask")
    code = tool_call("run_cell", {"code": 'name = input("Your name? ")'})
    serve([code, code])
    program = (
        "import asyncio, cellwright\n"
        "async def main():\n"
        f'    {ask}("Who am I?")\n'
        "with cellwright.Session() as s:\n"
        "    try:\n"
        "        asyncio.run(main())\n"
        "    except KeyboardInterrupt:\n"
        "        print('The first is', cellwright.load_run('last').status)\n"
        "    asyncio.run(main())"
    )
    with pexpect.spawn(
        sys.executable,
        ["-c", program],
        cwd=str(folder),
        env=without_forks(),
        encoding="utf-8",
        timeout=30,
    ) as terminal:
        terminal.expect_exact("why not: ")
        time.sleep(0.5)
        terminal.sendintr()
        terminal.expect_exact("The first is cancelled")
        terminal.expect_exact("why not: ")
        terminal.sendline("y")
        terminal.expect_exact("Your name? ")
        time.sleep(0.5)
        terminal.sendintr()
        terminal.expect("KeyboardInterrupt")
        terminal.expect(pexpect.EOF)
    assert cellwright.load_run("last").status == "cancelled"


def test_a_cell_asks_at_the_terminal(serve: Serve, folder: Path) -> None:
    serve([tool_call("run_cell", {"code": 'input("Your name? ")'}), text("Hello.")])
    program = (
        "import cellwright\n"
        "with cellwright.Session() as s:\n"
        '    print(s.ask("Who am I?").outputs[-1].data)'
    )
    with pexpect.spawn(
        sys.executable,
        ["-c", program],
        cwd=str(folder),
        env=without_forks(),
        encoding="utf-8",
        timeout=30,
    ) as terminal:
        terminal.expect_exact("Your name? ")
        terminal.sendline("Ada")
        terminal.expect("'Ada'")
        terminal.expect(pexpect.EOF)


def test_where_the_input_has_ended_a_question_for_a_password_is_answered_with_its_end() -> None:
    code = (
        "from cellwright.api.session import InputConsole\n"
        "print(InputConsole().read_answer('Key: ', is_secret=True))"
    )
    program = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(
        program,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        start_new_session=True,
    )
    assert done.stdout == "None\n", done.stderr


def test_without_a_terminal_the_first_block_says_what_to_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CELLWRIGHT_MODE")
    done = run_script(FIRST)
    assert done.returncode == 1
    assert 'mode="auto"' in done.stderr.splitlines()[-1]


def test_ctrl_c_leaves_a_whole_record_and_no_kernel(serve: Serve, folder: Path) -> None:
    serve([tool_call("run_cell", {"code": SLEEP}), text("Never.")])
    code = 'import cellwright\nwith cellwright.Session() as s:\n    s.ask("Sleep.")\nprint("after")'
    script = subprocess.Popen(
        [sys.executable, "-c", code],
        env=without_forks(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    kernel = int(wait_for(folder / "pid"))
    script.send_signal(signal.SIGINT)
    out, err = script.communicate(timeout=30)
    assert "KeyboardInterrupt" in err.splitlines()[-1]
    assert (out, script.returncode) == ("", -signal.SIGINT)
    assert has_ended(kernel, 2)
    run = cellwright.load_run("last")
    assert run.status == "cancelled"
    assert run.cells[-1].execution is not None


@pytest.mark.parametrize(
    "ending", ["", "raise SystemExit(3)", "del session"], ids=["end", "exit", "del"]
)
def test_a_session_that_nobody_closes_leaves_no_kernel_and_no_folder(
    serve: Serve, temporary: Path, ending: str
) -> None:
    serve([tool_call("run_cell", {"code": "import os; print(os.getpid())"}), text("Done.")])
    code = (
        "import cellwright\nsession = cellwright.Session()\n"
        f'print(session.ask("Which process?").outputs[0].text)\n{ending}'
    )
    done = run_script(code)
    assert done.returncode == (3 if "Exit" in ending else 0), done.stderr
    assert done.stderr == ""
    assert has_ended(int(done.stdout), 3)
    assert not list(temporary.glob("cw-*"))


def test_a_program_that_is_killed_leaves_no_kernel(serve: Serve, folder: Path) -> None:
    serve([tool_call("run_cell", {"code": SLEEP}), text("Never.")])
    code = 'import cellwright\nwith cellwright.Session() as s:\n    s.ask("Sleep.")'
    script = subprocess.Popen([sys.executable, "-c", code], env=without_forks())
    kernel = int(wait_for(folder / "pid"))
    script.kill()
    script.wait(10)
    assert has_ended(kernel)


def test_a_second_program_goes_on_with_a_run(serve: Serve, folder: Path) -> None:
    service = serve(
        [
            tool_call("run_cell", {"code": "rows = 6"}),
            text("There are 6 rows."),
            tool_call("run_cell", {"code": "rows"}),
            text("They are gone, I count again."),
        ]
    )
    first = run_script(
        'import cellwright\nwith cellwright.Session() as s:\n    print(s.ask("Count.").run.id)'
    )
    assert first.returncode == 0, first.stderr
    (elsewhere := folder / "elsewhere").mkdir()
    os.chdir(elsewhere)
    second = run_script(
        "import cellwright, json\n"
        f"with cellwright.Session.resume({first.stdout.strip()!r}) as s:\n"
        '    answer = s.ask("And now?")\n'
        "print(json.dumps([answer.text, str(s.folder), answer.outputs[0].ename]))"
    )
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout) == ["They are gone, I count again.", str(folder), "NameError"]
    assert "There are 6 rows." in json.dumps(service.requests[2].messages)
