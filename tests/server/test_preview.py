"""A look at what a call would do, before the person allows it."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from fake_service import FakeService, held, text
from kernels.test_sandbox import CAN_SANDBOX
from server.live_server import Live
from server.live_tab import Document, TabClient
from server.test_socket_approvals import answer, asked, run_cell
from server_client import Client

from cellwright.agent.policy import ApprovalAnswer
from cellwright.record.events import ToolStarted
from cellwright.server.frames import RefusedError
from cellwright.server.live_run import PanelApprover
from cellwright.stopping import Stop, retry

pytestmark = [
    pytest.mark.server,
    pytest.mark.kernel,
    pytest.mark.skipif(not CAN_SANDBOX, reason="this system lets no program isolate itself"),
]

CODE = """\
from pathlib import Path
total = sum(values)
Path('total.txt').write_text(str(total))
print('total', total)
import urllib.request
try:
    urllib.request.urlopen('http://prices.example/today', timeout=2)
except OSError:
    print('no prices')
total"""


async def waiting(
    live: Live, scripted: FakeService, code: str, *, before: str = "values = [1, 2, 3]"
) -> tuple[TabClient, str, Document, str]:
    """A call of that code that waits for the person."""
    scripted.script = [run_cell(code), text("Done.")]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    assert await person.run(before) == "ok"
    await tab.ask(chat, "add them up", mode="ask")
    return tab, chat, document, await asked(tab, chat)


async def test_a_call_is_tried_and_then_run_for_real(
    live: Live, client: Client, scripted: FakeService, tmp_path: Path
) -> None:
    before = f"values = [1, 2, 3]; import os; os.chdir({str(tmp_path)!r})"
    tab, chat, document, call = await waiting(live, scripted, CODE, before=before)
    found = await client.call("POST", f"chats/{chat}/preview", {"call": call})
    assert found.status == 200, found.json
    preview = found.json
    assert [o["text"] for o in preview["outputs"]] == ["total 6\nno prices", "6"]
    execution = preview["execution"]
    assert execution["status"] == "ok"
    assert {"total", "Path"} <= {variable["name"] for variable in execution["changed"]}
    assert execution["files"] == [{"path": "total.txt", "change": "created", "size_bytes": 1}]
    assert preview["addresses"] == ["prices.example:80"]

    person = await live.person(document.kernel_id)
    assert await person.run("total") == "error"
    assert await person.run("import os; assert not os.path.exists('total.txt')") == "ok"
    assert not document.outputs
    assert tab.states[chat]["approval"] == call, "it goes on to wait"
    await answer(tab, chat, call, allowed=True)
    assert (await tab.finished())["status"] == "completed"
    assert await person.run("assert total == 6 and os.path.exists('total.txt')") == "ok"
    (ran,) = live.application.runs.record(tab.numbers[-1][0]).calls
    assert ran.decision == "allowed by person after a preview"


async def test_a_preview_ends_with_the_answer_or_when_the_person_ends_it(
    live: Live, client: Client, scripted: FakeService
) -> None:
    tab, chat, document, call = await waiting(live, scripted, "import time; time.sleep(30)")
    for end in ("end", "answer"):
        began = time.monotonic()
        trying = asyncio.create_task(client.call("POST", f"chats/{chat}/preview", {"call": call}))
        await asyncio.sleep(1)
        if end == "end":
            await client.call("DELETE", f"chats/{chat}/preview")
        else:
            await answer(tab, chat, call, allowed=False)
        found = await trying
        assert found.status == 409
        assert "The preview was ended" in found.json["message"]
        assert time.monotonic() - began < 10
    assert (await tab.finished())["status"] == "completed"
    again = await client.call("POST", f"chats/{chat}/preview", {"call": call})
    assert again.status == 400
    assert "does not wait" in again.json["message"]
    assert not document.outputs


async def test_what_stands_in_the_way_is_named_and_the_call_goes_on_to_wait(
    live: Live, client: Client, scripted: FakeService
) -> None:
    feed = "import threading\nthreading.Thread(target=threading.Event().wait, name='feed').start()"
    feed = feed.replace(").start", ", daemon=True).start")
    tab, chat, _, call = await waiting(live, scripted, "1", before=feed)
    refused = await client.call("POST", f"chats/{chat}/preview", {"call": call})
    assert refused.status == 409
    assert "thread 'feed' runs" in refused.json["message"]
    await answer(tab, chat, call, allowed=True)
    assert (await tab.finished())["status"] == "completed"
    (ran,) = live.application.runs.record(tab.numbers[-1][0]).calls
    assert ran.decision == "allowed by person", "nothing was tried"


async def test_an_error_is_shown_as_the_code_made_it(
    live: Live, client: Client, scripted: FakeService
) -> None:
    tab, chat, _, call = await waiting(live, scripted, "values.clear()\n1 / 0")
    preview = (await client.call("POST", f"chats/{chat}/preview", {"call": call})).json
    assert preview["outputs"][0]["text"] == "ZeroDivisionError: division by zero"
    assert preview["execution"]["status"] == "error"
    await answer(tab, chat, call, allowed=False)
    await tab.finished()


async def test_the_result_of_a_preview_takes_the_place_of_running_the_call(
    live: Live, client: Client, scripted: FakeService, tmp_path: Path
) -> None:
    code = (
        "import time; time.sleep(3)\ntotal = sum(values)\n"
        "open('total.txt', 'w').write('6')\nprint('total', total)\ntotal"
    )
    before = f"values = [1, 2, 3]; import os; os.chdir({str(tmp_path)!r})"
    tab, chat, document, call = await waiting(live, scripted, code, before=before)
    preview = (await client.call("POST", f"chats/{chat}/preview", {"call": call})).json
    assert preview["obstacle"] == ""
    began = time.monotonic()
    await answer(tab, chat, call, allowed=True, adopt=True)
    assert (await tab.finished())["status"] == "completed"
    assert time.monotonic() - began < 2.5
    person = await live.person(document.kernel_id)
    assert await person.run("assert total == 6 and open('total.txt').read() == '6'") == "ok"
    assert [output.get("text") for (o,) in [document.outputs.values()] for output in o] == [
        "total 6\n",
        None,
    ]
    record = live.application.runs.record(tab.numbers[-1][0])
    assert record.calls[0].decision == "allowed by person with the result of its preview"
    (ran,) = record.executions
    assert ran.execution is not None
    assert ran.execution.note == "Taken over from its preview; the code did not run again."


async def test_where_the_result_cannot_be_kept_the_person_is_told_and_still_asked(
    live: Live, client: Client, scripted: FakeService
) -> None:
    tab, chat, document, call = await waiting(live, scripted, "total = sum(values)")
    await answer(tab, chat, call, allowed=True, adopt=True)
    await tab.until(lambda: "no result" in tab.states[chat]["approval_problem"] or None)
    preview = (await client.call("POST", f"chats/{chat}/preview", {"call": call})).json
    assert preview["obstacle"] == ""
    person = await live.person(document.kernel_id)
    assert await person.run("values.append(4)") == "ok"
    await answer(tab, chat, call, allowed=True, adopt=True)
    await tab.until(
        lambda: "something has run since" in tab.states[chat]["approval_problem"] or None
    )
    assert tab.states[chat]["approval"] == call, "it goes on to wait"
    assert await person.run("assert 'total' not in globals()") == "ok"
    await answer(tab, chat, call, allowed=True)
    assert (await tab.finished())["status"] == "completed"
    assert await person.run("assert total == 10") == "ok"
    (ran,) = live.application.runs.record(tab.numbers[-1][0]).calls
    assert ran.decision == "allowed by person after a preview"


async def test_a_call_is_tried_in_the_kernel_in_which_it_would_run(
    live: Live, client: Client, scripted: FakeService
) -> None:
    first_ends = threading.Event()
    scripted.script = [held(text("First."), first_ends), run_cell("who"), text("Done.")]
    tab, chat, document = await live.ready()
    before, now = document.kernel_id, await live.kernel()
    for kernel_id, name in ((before, "before"), (now, "now")):
        assert await (await live.person(kernel_id)).run(f"who = {name!r}") == "ok"
    await tab.ask(chat, "first")
    assert (await tab.ask(chat, "second", mode="ask"))["queued"]
    document.kernel_id = now
    await tab.open(document)
    await tab.handled()
    first_ends.set()
    call = await asked(tab, chat)
    await tab.close()
    other = await live.tab("other")
    shown = await other.open(Document(document.path, before))
    await other.follow(chat)
    await other.send(type="drive", chat=chat, notebook=shown.name)
    await other.until(lambda: other.states[chat]["driver"] == "other")
    preview = (await client.call("POST", f"chats/{chat}/preview", {"call": call})).json
    assert [output["text"] for output in preview["outputs"]] == ["'now'"]
    await answer(other, chat, call, allowed=True)
    await other.finished(2)
    assert [o["data"]["text/plain"] for (o,) in shown.outputs.values()] == ["'now'"]


def test_a_look_that_ends_after_the_answer_says_nothing_of_the_next_call() -> None:
    approver, yes = PanelApprover(Stop()), ApprovalAnswer(True)
    first, second = (ToolStarted(name, "run_cell", {}) for name in ("first", "second"))

    def answer_second() -> None:
        if not approver.answer("second", yes):
            raise RefusedError("gone", "It is not asked yet.")

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(approver.ask, first, "it runs code")
        with ExitStack() as look:
            retry(lambda: look.enter_context(approver.trying("first")), RefusedError, 10.0)
            assert approver.answer("first", yes)
            assert not asking.result(10).previewed
        asking = pool.submit(approver.ask, second, "it runs code")
        retry(answer_second, RefusedError, 10.0)
        assert not asking.result(10).previewed
