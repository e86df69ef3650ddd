"""The cells of runs, for a tab that was away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from recorded_runs import analysis_run, cell_run, started
from server.live_server import Live
from server.live_tab import Document
from server_client import Client

from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellMoved,
    CellRemoved,
    CellStarted,
    Event,
    RunFinished,
    StateCaptured,
)
from cellwright.record.outputs import Cell, ExecuteResult, StreamOutput
from cellwright.server.application import Application

pytestmark = pytest.mark.server

PRINTED = StreamOutput("stdout", "42\n")
SHOWN = ExecuteResult({"text/plain": "42"}, {}, 3)


def a_run(shared: Application, *events: Event, path: str = "a.ipynb", ends: bool = True) -> str:
    """Id of a run in a chat of a notebook."""
    ending = [RunFinished("completed", "Done.")] if ends else []
    run = shared.runs.start(started(), *events, *ending).run_id
    shared.chats.add_run(shared.chats.create(path).chat_id, run)
    return run


def ids(cells: Sequence[dict[str, object]]) -> list[object]:
    return [cell["cell_id"] for cell in cells]


class TestCellsOfARun:
    async def test_they_come_with_outputs_and_places(
        self, client: Client, shared: Application
    ) -> None:
        run = a_run(
            shared,
            CellAdded("one", "# Title", "markdown", "own"),
            *cell_run("call", "two", "print(42)", PRINTED),
        )
        one, two = (await client.call("GET", f"runs/{run}/cells")).json
        assert one == {
            "cell_id": "one",
            "source": "# Title",
            "cell_type": "markdown",
            "after": "own",
            "outputs": [],
            "execution_count": None,
            "fate": "",
        }
        assert (two["cell_id"], two["source"], two["cell_type"]) == ("two", "print(42)", "code")
        assert two["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "42\n"}]

    async def test_a_person_s_cell_is_there_only_where_it_was_changed(
        self, client: Client, shared: Application
    ) -> None:
        run = a_run(
            shared,
            StateCaptured(cells=(Cell("run", "code", "1"), Cell("edited", "code", "2"))),
            CellStarted("run"),
            CellEdited("edited", "3", "0" * 16),
            CellMoved("moved", "edited"),
        )
        cells = (await client.call("GET", f"runs/{run}/cells")).json
        assert ids(cells) == ["edited"]
        assert cells[0]["source"] == "3"

    async def test_a_cell_that_was_taken_out_again_is_left_out(
        self, client: Client, shared: Application
    ) -> None:
        run = a_run(shared, CellAdded("a", "1"), CellAdded("b", "2"), CellRemoved("a", "0" * 16))
        assert ids((await client.call("GET", f"runs/{run}/cells")).json) == ["b"]

    async def test_a_cell_that_was_moved_is_where_it_went(
        self, client: Client, shared: Application
    ) -> None:
        run = a_run(shared, CellAdded("a", "1", after="x"), CellMoved("a", "y"))
        (cell,) = (await client.call("GET", f"runs/{run}/cells")).json
        assert cell["after"] == "y"

    async def test_a_run_outside_of_chats_has_cells_too(
        self, client: Client, shared: Application
    ) -> None:
        run = shared.runs.start(*analysis_run()).run_id
        assert (await client.call("GET", f"runs/{run}/cells")).json

    @pytest.mark.parametrize("method", ["GET", "POST"])
    async def test_a_run_that_is_not_there_is_told(self, client: Client, method: str) -> None:
        path = "runs/nothing/cells" if method == "GET" else "runs/nothing/fates"
        answer = await client.call(method, path, {"fates": {}} if method == "POST" else None)
        assert (answer.status, answer.json["message"]) == (404, "There is no run 'nothing'.")


class TestFates:
    async def test_what_became_of_cells_is_kept(self, client: Client, shared: Application) -> None:
        run = a_run(shared, CellAdded("a", "1"), CellAdded("b", "2"))
        answer = await client.call("POST", f"runs/{run}/fates", {"fates": {"a": "saved"}})
        assert answer.json == {"fates": {"a": "saved"}}
        cells = (await client.call("GET", f"runs/{run}/cells")).json
        assert [cell["fate"] for cell in cells] == ["saved", ""]

    @pytest.mark.parametrize(
        "body",
        [
            {"fates": {"a": "eaten"}},
            {"fates": {"a": 1}},
            {"fates": ["a"]},
            {"fates": {str(n): "saved" for n in range(2_001)}},
            {"fate": {"a": "saved"}},
        ],
    )
    async def test_what_cannot_be_meant_is_refused(
        self, client: Client, shared: Application, body: object
    ) -> None:
        run = a_run(shared, CellAdded("a", "1"))
        answer = await client.call("POST", f"runs/{run}/fates", body)
        assert answer.status == 400
        assert shared.fates.of(run) == {}


class TestMissingCells:
    async def test_cells_of_which_nothing_is_known_are_missing(
        self, client: Client, shared: Application
    ) -> None:
        added = [CellAdded(name, "1") for name in "abcd"]
        run = a_run(shared, *added, CellRemoved("d", "0" * 16), CellEdited("own", "2", "0" * 16))
        shared.fates.set(run, {"a": "saved", "b": "deleted"})
        (found,) = (await client.call("GET", "notebooks/missing?path=a.ipynb")).json
        assert (found["run"], found["chat"]) == (run, shared.chats.chat_of(run))
        assert ids(found["cells"]) == ["c"]

    async def test_they_come_with_what_they_showed(
        self, client: Client, shared: Application
    ) -> None:
        a_run(shared, *cell_run("call", "c", "6 * 7", SHOWN))
        (found,) = (await client.call("GET", "notebooks/missing?path=a.ipynb")).json
        (output,) = found["cells"][0]["outputs"]
        assert (output["output_type"], output["data"]) == ("execute_result", {"text/plain": "42"})

    async def test_the_earlier_run_comes_first(self, client: Client, shared: Application) -> None:
        runs = [a_run(shared, CellAdded(name, "1")) for name in "ab"]
        found = (await client.call("GET", "notebooks/missing?path=a.ipynb")).json
        assert [item["run"] for item in found] == runs

    async def test_other_notebooks_settled_and_running_runs_are_left_out(
        self, client: Client, shared: Application
    ) -> None:
        a_run(shared, CellAdded("a", "1"), path="b.ipynb")
        settled = a_run(shared, CellAdded("a", "1"))
        shared.fates.set(settled, {"a": "discarded"})
        a_run(shared, CellAdded("a", "1"), ends=False)
        a_run(shared)
        assert (await client.call("GET", "notebooks/missing?path=a.ipynb")).json == []

    async def test_a_run_that_broke_off_has_missing_cells(
        self, client: Client, shared: Application
    ) -> None:
        run = shared.runs.start(started(), CellAdded("a", "1"), CellStarted("a")).run_id
        journal_end = RunFinished("cancelled", cause="stopped")
        other = shared.runs.start(started(), CellAdded("b", "1"), journal_end).run_id
        chat = shared.chats.create("a.ipynb").chat_id
        shared.chats.add_run(chat, run)
        shared.chats.add_run(chat, other)
        found = (await client.call("GET", "notebooks/missing?path=a.ipynb")).json
        assert [item["run"] for item in found] == [other]

    async def test_a_notebook_has_to_be_named(self, client: Client) -> None:
        assert (await client.call("GET", "notebooks/missing")).status == 400


class TestOfTwoPages:
    async def test_what_another_page_shows_is_missing_nowhere_until_that_page_is_gone(
        self, live: Live, client: Client, shared: Application
    ) -> None:
        a_run(shared, CellAdded("one", "1"), path="a.ipynb")

        async def missing(tab: str) -> int:
            found = await client.call("GET", f"notebooks/missing?path=a.ipynb&tab={tab}")
            return len(found.json)

        first = await live.tab("first")
        assert await missing("second") == 1
        await first.open(Document("a.ipynb", ""))
        await first.send(type="ping", at=1.0)
        await first.wait("pong")
        assert await missing("second") == 0
        assert await missing("first") == 1
        await first.close()
        while await missing("second") == 0:
            await asyncio.sleep(0.02)
