"""What is special to running inside the person's own shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kernels.lanes import RemoteShellKernel, run, stopped_after

from cellwright.errors import RunCancelled
from cellwright.kernels import CellRequest
from cellwright.record.outputs import ClearOutput, DisplayData, ErrorOutput
from cellwright.stopping import Stop

pytestmark = pytest.mark.kernel


def test_outputs_show_under_the_calling_cell_as_they_come(shell: RemoteShellKernel) -> None:
    run(shell, "print('one')\n'two'")
    assert [message["type"] for message in shell.wire] == [
        "status",
        "execute_input",
        "stream",
        "execute_result",
        "status",
    ]


def test_the_calling_cell_keeps_its_own_results_and_number(shell: RemoteShellKernel) -> None:
    shell.call("'mine'")
    before = shell.reply["execution_count"]
    run(shell, "'ours'")
    shell.call("[_, sorted(Out.values(), key=str)[-1:]]")
    (shown,) = shell.shown("execute_result")
    assert "'ours'" not in shown["data"]["text/plain"]
    assert shown["data"]["text/plain"].startswith("['mine'")
    assert shell.reply["execution_count"] == before + 2


def test_the_persons_underscore_goes_on_after_ours(shell: RemoteShellKernel) -> None:
    run(shell, "'ours'")
    shell.call("'theirs'")
    shell.call("_")
    (shown,) = shell.shown("execute_result")
    assert shown["data"]["text/plain"] == "'theirs'"


def test_a_semicolon_of_the_calling_cell_does_not_silence_ours(shell: RemoteShellKernel) -> None:
    text = json.dumps({"cell_id": "c", "code": "40 + 2"})
    answer = shell.call(f"__import__('shell_host').execute({text!r});")
    assert answer is not None
    assert answer["yielded"][0]["message"]["data"] == {"text/plain": "42"}


def test_an_error_of_ours_leaves_the_calling_cell_ok(shell: RemoteShellKernel) -> None:
    run(shell, "1 / 0")
    assert shell.reply["status"] == "ok"
    assert [error["ename"] for error in shell.shown("error")] == ["ZeroDivisionError"]


def test_in_batch_an_error_shows_as_a_display_and_is_recorded_as_an_error(
    shell: RemoteShellKernel,
) -> None:
    shell.renew(errors_as_display=True)
    ran = run(shell, "1 / 0")
    assert [e.ename for e in ran.errors] == ["ZeroDivisionError"]
    assert ran.execution.status == "error"
    assert shell.shown("error") == []
    (shown,) = shell.shown("display_data")
    assert "ZeroDivisionError" in shown["data"]["text/plain"]


def test_clear_output_does_not_reach_the_calling_cell(shell: RemoteShellKernel) -> None:
    code = "from IPython.display import clear_output\nprint('a'); clear_output(); print('b')"
    ran = run(shell, code)
    assert [m for m in ran.raw if isinstance(m, ClearOutput)] == [ClearOutput(False)]
    assert ran.text == "b\n"
    assert shell.shown("clear_output") == []
    assert "".join(message["text"] for message in shell.shown("stream")) == "a\nb\n"


def test_what_is_not_to_be_shown_is_captured_all_the_same(shell: RemoteShellKernel) -> None:
    shell.call("__import__('shell_host').hide('display_data')")
    ran = run(shell, "print('text')\ndisplay('hidden')")
    assert ran.plain == ["'hidden'"]
    assert shell.shown("display_data") == []
    assert [message["text"] for message in shell.shown("stream")] == ["text\n"]


def test_the_seam_is_gone_after_the_cell(shell: RemoteShellKernel) -> None:
    run(shell, "1")
    shell.call("print('send' in get_ipython().kernel.session.__dict__)")
    assert shell.shown("stream")[0]["text"] == "False\n"


BETWEEN = """
import threading, time
from cellwright.kernels import CellRequest
from cellwright.kernels.shell import ShellKernel
from cellwright.stopping import Stop
kernel, got, yielded = ShellKernel(get_ipython()), [], []
def keep(output):
    if output.message.text:
        got.append((output.cell_id, output.message.text))
    return output
def run(cell_id, code):
    yielded.extend(o.cell_id for o in kernel.execute(CellRequest(cell_id, code), Stop(), keep))
run("first", "threading.Timer(0.2, print, ('late',), {'flush': True}).start()")
time.sleep(0.6)
"""


def test_text_of_a_thread_between_two_cells_belongs_to_the_first(shell: RemoteShellKernel) -> None:
    """K18."""
    shell.call(BETWEEN + "run('second', 'print(1)')\nresult = [got, yielded]")
    shell.call("result")
    (shown,) = shell.shown("execute_result")
    expected = [[("first", "late\n"), ("second", "1\n")], ["first", "second"]]
    assert shown["data"]["text/plain"] == repr(expected)


def test_text_after_the_last_cell_is_recorded_until_the_calling_cell_ends(
    shell: RemoteShellKernel,
) -> None:
    """K18."""
    shell.call(BETWEEN)
    shell.call("[got, 'send' in get_ipython().kernel.session.__dict__]")
    (shown,) = shell.shown("execute_result")
    assert shown["data"]["text/plain"] == repr([[("first", "late\n")], False])


def test_listening_ends_with_the_kernel(shell: RemoteShellKernel) -> None:
    shell.call(BETWEEN + "kernel.close(); seam = 'send' in get_ipython().kernel.session.__dict__")
    shell.call("seam")
    (shown,) = shell.shown("execute_result")
    assert shown["data"]["text/plain"] == "False"


def test_an_agent_called_by_an_agents_cell_is_captured_by_both(shell: RemoteShellKernel) -> None:
    code = """
import shell_host
outer, shell_host.kernel = shell_host.kernel, None
shell_host.renew()
shell_host.execute('{"cell_id": "inner", "code": "print(1)"}')
shell_host.kernel = outer
print(2)
"""
    ran = run(shell, code)
    assert ran.text == "1\n2\n"
    assert "send" not in shell.shown("stream")[0]
    assert run(shell, "3").plain == ["3"]


def test_hooks_of_other_extensions_do_not_break_the_capture(shell: RemoteShellKernel) -> None:
    code = """
def broken(*_):
    raise RuntimeError("a hook")
get_ipython().events.register("post_run_cell", broken)
"""
    shell.call(code)
    try:
        assert run(shell, "5").plain[0] == "5"
    finally:
        shell.call("get_ipython().events.unregister('post_run_cell', broken)")


def test_a_stop_from_another_thread_names_its_reason(shell: RemoteShellKernel) -> None:
    request = CellRequest("c", "import time; time.sleep(30)")
    with pytest.raises(RunCancelled, match="stopped by the user"):
        list(shell.execute(request, Stop(), lambda output: output, stop_after=0.2))
    assert run(shell, "1").plain == ["1"]


def test_an_interrupt_that_a_command_swallows_stops_the_run(shell: RemoteShellKernel) -> None:
    """K12."""
    ran = stopped_after(shell, "!sleep 20\nprint('went on')", 0.5)
    assert ran.cancelled is not None
    assert ran.cancelled.reason == "interrupted by the person"


def test_a_record_that_cannot_be_written_stops_the_cell(shell: RemoteShellKernel) -> None:
    started = time.monotonic()
    answer = shell.call("__import__('shell_host').fail_to_record()")
    assert answer == {"raised": "OSError: disk full"}
    assert time.monotonic() - started < 3
    assert run(shell, "1").plain == ["1"]


def test_cells_work_inside_a_calling_cell_that_awaits(shell: RemoteShellKernel) -> None:
    text = json.dumps({"cell_id": "c", "code": "import asyncio\nawait asyncio.sleep(0.01); 7"})
    answer = shell.call(
        f"import asyncio; await asyncio.sleep(0)\n__import__('shell_host').execute({text!r})"
    )
    assert answer is not None
    assert answer["yielded"][0]["message"]["data"] == {"text/plain": "7"}


def test_a_cell_is_interrupted_inside_a_calling_cell_that_awaits(
    shell: RemoteShellKernel,
) -> None:
    text = json.dumps({"cell_id": "c", "code": "import time; time.sleep(30)"})
    stop = Stop()
    started = time.monotonic()
    import threading

    timer = threading.Timer(0.5, stop.set)
    timer.start()
    answer = shell.call(
        f"import asyncio; await asyncio.sleep(0)\n__import__('shell_host').execute({text!r})",
        stop,
    )
    timer.join()
    assert answer is not None
    assert answer["cancelled"] == "interrupted by the person"
    assert time.monotonic() - started < 3


def test_a_cell_in_another_thread_runs_and_can_be_stopped(shell: RemoteShellKernel) -> None:
    """A subshell: no signal reaches it."""
    answer = shell.call("__import__('shell_host').in_a_thread('for n in range(10**9): pass', 0.3)")
    assert answer is not None
    assert answer["cancelled"] == "stopped by the user"


def test_an_ordinary_step_costs_little(shell: RemoteShellKernel) -> None:
    code = """
import time, shell_host
from cellwright.kernels import CellRequest
from cellwright.stopping import Stop
taken = []
for _ in range(40):
    started = time.process_time()
    list(shell_host.kernel.execute(CellRequest("c", "x = 1"), Stop(), lambda output: output))
    taken.append(time.process_time() - started)
print(sorted(taken)[len(taken) // 2])
"""
    shell.call(code)
    assert float(shell.shown("stream")[0]["text"]) < 0.02


def test_memory_stays_bounded_at_twenty_megabytes_of_output(shell: RemoteShellKernel) -> None:
    """K9."""
    ran = run(shell, "for n in range(40): print('x' * 500_000)", output_limit_bytes=2_000_000)
    assert sum(len(m.text) for m in ran.raw if m.kind == "stream") < 2_001_000
    assert "left out" in ran.text


def test_the_shell_describes_itself(shell: RemoteShellKernel, tmp_path: Path) -> None:
    answer = shell.call("__import__('shell_host').describe()")
    assert answer is not None
    assert answer["alive"]
    assert answer["described"]["cwd"] == str(tmp_path)


def test_an_interrupt_from_another_thread_ends_the_cell(shell: RemoteShellKernel) -> None:
    shell.call("__import__('shell_host').interrupt_after(0.4)")
    ran = run(shell, "import time; time.sleep(20)")
    assert ran.cancelled is not None
    assert ran.seconds < 2


def test_output_is_ours_although_a_comm_message_pointed_it_elsewhere(
    shell: RemoteShellKernel,
) -> None:
    text = json.dumps({"cell_id": "c", "code": "import os; os.system('echo from a child');"})
    answer = shell.call(
        "import threading\n"
        "elsewhere = {'header': {'msg_id': 'comm', 'msg_type': 'comm_msg'}, 'metadata': {}}\n"
        "point = threading.Thread(target=get_ipython().set_parent, args=(elsewhere,))\n"
        "point.start(); point.join()\n"
        f"__import__('shell_host').execute({text!r})"
    )
    assert answer is not None
    assert answer["yielded"][0]["message"]["text"] == "from a child\n"


def test_messages_of_others_pass_the_tap_untouched(shell: RemoteShellKernel) -> None:
    code = """
kernel = get_ipython().kernel
kernel.session.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": "orphan"})
kernel.session.send(
    kernel.iopub_socket, "comm_open", {"comm_id": "1"}, get_ipython().get_parent()
)
print("mine")
"""
    assert run(shell, code).text == "mine\n"
    assert shell.shown("comm_open") == [{"comm_id": "1"}]


TERMINAL = r"""
import json, sys
from IPython.terminal.interactiveshell import TerminalInteractiveShell
shell = TerminalInteractiveShell.instance(simple_prompt=True, colors={colors!r})
from cellwright.kernels import CellRequest
from cellwright.kernels.shell import ShellKernel, ShellOptions
from cellwright.record.outputs import fold
from cellwright.stopping import Stop
from cellwright.record.values import to_dict
kernel = ShellKernel(shell)
results = []
for code in {codes!r}:
    messages = []
    sink = lambda o: messages.append(o.message) or o
    running = kernel.execute(CellRequest("c", code), Stop(), sink)
    try:
        while True:
            next(running)
    except StopIteration as finished:
        results.append([to_dict(fold(messages)), finished.value.status])
kernel.close()
with open("results.json", "w") as file:
    json.dump(results, file)
"""


def test_everything_works_in_a_plain_terminal(tmp_path: Path) -> None:
    codes = [
        "print('out'); import sys; print('err', file=sys.stderr); "
        "sys.stdout.writelines(['a', 'b'])",
        "1 + 1",
        "from IPython.display import display, HTML, clear_output\n"
        "h = display('shown', display_id=True); h.update('new'); display(HTML('<b>x</b>'))",
        "print('gone'); clear_output(); print('left')",
        "1 / 0",
        "import asyncio\nawait asyncio.sleep(0.01)\n'awaited'",
        "!echo from a child",
        "%%capture\nprint('hidden')",
        "exit()",
        "'quiet';",
        "sys.stdout.isatty()",
        "get_ipython().ask_exit = lambda: None; exit()",
    ]
    script = TERMINAL.format(codes=codes, colors="nocolor")
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")},
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    outputs = [[(o["kind"], o.get("text") or o.get("ename") or o.get("data")) for o in row[0]]
               for row in results]  # fmt: skip
    assert outputs == [
        [("stream", "out\n"), ("stream", "err\n"), ("stream", "ab")],
        [("execute_result", {"text/plain": "2"})],
        [
            ("display_data", {"text/plain": "'new'"}),
            ("display_data", {"text/plain": "<IPython.core.display.HTML object>"}),
        ],
        [("stream", "left\n")],
        [("error", "ZeroDivisionError")],
        [("execute_result", {"text/plain": "'awaited'"})],
        [("stream", "from a child\n")],
        [],
        [],
        [],
        [("execute_result", {"text/plain": "False"})],
        [],
    ]  # fmt: skip
    assert [row[1] for row in results].count("error") == 1
    for shown in ("out\n", "Out[", "2\n", "ZeroDivisionError", "from a child", "gone"):
        assert shown in done.stdout


def test_an_error_value_is_the_one_that_was_shown(shell: RemoteShellKernel) -> None:
    ran = run(shell, "raise KeyError('missing')")
    assert ran.execution.error == ErrorOutput("KeyError", "'missing'", ran.errors[0].traceback)
    assert not any(isinstance(o, DisplayData) for o in ran.outputs)


def test_an_error_that_is_not_shown_is_reported(shell: RemoteShellKernel) -> None:
    ran = run(shell, "get_ipython()._showtraceback = lambda *_: None\n1 / 0")
    shell.call("del get_ipython()._showtraceback")
    assert ran.errors == []
    assert ran.execution.error is not None
    assert ran.execution.error.ename == "ZeroDivisionError"
    assert ran.execution.error.evalue == "division by zero"
