"""``ask_async`` among other tasks: they go on, and cancelling stops the run."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, Request, Script, Wire, after, text, tool_call
from quick_kernels import without_forks

import cellwright
from cellwright.record.events import CellStarted, Event

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels", "folder")]
Serve = Callable[[Script], FakeService]
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
FIRST = PAGE.partition("```python\n")[2].partition("```")[0]


def run_cell(code: str) -> Callable[[Request], Wire]:
    return tool_call("run_cell", {"code": code})


def test_other_tasks_go_on_while_a_question_is_answered(serve: Serve) -> None:
    serve([run_cell("import time; time.sleep(1)"), after(text("Slept."), 0.5)])
    events: list[Event] = []

    async def main() -> tuple[str, int]:
        ticks, asking = 0, True

        async def tick() -> None:
            nonlocal ticks
            while asking:
                await asyncio.sleep(0.05)
                ticks += 1

        ticking = asyncio.create_task(tick())
        async with cellwright.Session() as session:
            answer = await session.ask_async("Sleep.", on_event=events.append)
        asking = False
        await ticking
        return answer.text, ticks

    said, ticks = asyncio.run(main())
    assert said == "Slept."
    assert ticks > 10
    assert any(isinstance(event, CellStarted) for event in events)


def test_the_first_block_of_the_page_works_where_a_loop_runs() -> None:
    names: dict[str, Any] = {}

    async def main() -> None:
        exec(FIRST, names)

    asyncio.run(main())
    assert "| virginica | 3 |" in names["answer"].text


def test_the_plain_session_works_where_a_loop_runs(serve: Serve) -> None:
    serve([run_cell("6 * 7"), text("42")])

    async def main() -> str:
        with cellwright.Session() as session:
            return session.ask("What is it?").text

    assert asyncio.run(main()) == "42"


def test_cancelling_stops_the_run_and_the_session_goes_on(serve: Serve) -> None:
    serve([run_cell("import time; time.sleep(60)"), text("Still here.")])

    async def main() -> tuple[str, float]:
        running = asyncio.Event()

        def look(event: Event) -> None:
            if isinstance(event, CellStarted):
                running.set()

        async with cellwright.Session() as session:
            asking = asyncio.create_task(session.ask_async("Sleep.", on_event=look))
            await running.wait()
            await asyncio.sleep(0.3)
            began = time.monotonic()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            seconds = time.monotonic() - began
            assert cellwright.load_run("last").status == "cancelled"
            return (await session.ask_async("Are you there?")).text, seconds

    said, seconds = asyncio.run(main())
    assert said == "Still here."
    assert seconds < 5


def test_a_timeout_is_a_cancellation(serve: Serve) -> None:
    serve([after(text("late"), 30)])

    async def main() -> None:
        async with cellwright.Session() as session:
            async with asyncio.timeout(1.5):
                await session.ask_async("Hurry!")

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert cellwright.load_run("last").status == "cancelled"


def test_sessions_answer_side_by_side(serve: Serve) -> None:
    def reply(request: Request) -> Wire:
        is_first = request.messages[-1]["role"] == "user"
        return (run_cell("import time; time.sleep(0.5)") if is_first else text("Done."))(request)

    serve(reply)

    async def ask() -> str:
        async with cellwright.Session() as session:
            return (await session.ask_async("Sleep.")).text

    async def main() -> list[str]:
        return list(await asyncio.gather(ask(), ask(), ask()))

    assert asyncio.run(main()) == ["Done."] * 3


@pytest.mark.parametrize("kind", ["run_started", "cell_started", "run_finished"])
def test_an_error_of_on_event_ends_the_run(kind: str, serve: Serve) -> None:
    serve([run_cell("import time; time.sleep(30)" if kind == "cell_started" else "1"), text("1")])
    seen: list[str] = []

    def look(event: Event) -> None:
        asyncio.get_running_loop()
        seen.append(event.kind)
        if event.kind == kind:
            raise LookupError("mine")

    async def main() -> None:
        async with cellwright.Session() as session:
            with pytest.raises(LookupError, match="mine"):
                await session.ask_async("Go.", on_event=look)

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 20
    assert seen[-1] == kind
    ended = "completed" if kind == "run_finished" else "cancelled"
    assert cellwright.load_run("last").status == ended


def test_a_mistake_is_raised_where_it_is_awaited() -> None:
    async def main() -> None:
        async with cellwright.Session(model="gpt-5.6") as session:
            await session.ask_async("Hello?")

    with pytest.raises(cellwright.SetupError, match="OPENAI_API_KEY"):
        asyncio.run(main())


def test_ctrl_c_in_an_async_program_stops_the_run(serve: Serve, folder: Path) -> None:
    serve([run_cell('import time; open("runs", "w").close(); time.sleep(60)'), text("Never.")])
    code = (
        "import asyncio, cellwright\n"
        "async def main():\n"
        "    async with cellwright.Session() as session:\n"
        '        await session.ask_async("Sleep.")\n'
        "asyncio.run(main())"
    )
    script = subprocess.Popen(
        [sys.executable, "-c", code], env=without_forks(), stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 40
    while not (folder / "runs").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    script.send_signal(signal.SIGINT)
    _, err = script.communicate(timeout=20)
    assert "KeyboardInterrupt" in err.splitlines()[-1]
    assert cellwright.load_run("last").status == "cancelled"
