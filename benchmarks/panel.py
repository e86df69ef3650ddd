"""What the panel costs in a real JupyterLab in Chromium: part 9 of the issue of the panel.

    npm run build:prod && make js    # or what you want to measure
    PYTHONPATH=tests/browser python benchmarks/panel.py [--repeats 7] [--only NAME ...] [--json]

Prints medians of this machine, each with its goal: from a token on the wire to the page, drawings
a second and the longest time the page is busy during an answer of 80 kB, a cell inserted into a
notebook of 1,000, the opening of a chat of 5,000 messages, what JupyterLab loads of us, and its
start with and without us. Chromium draws without a graphics card here, so what depends on drawing
is slower than on a desk. The server's start is measured by ``server_start.py``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import socket
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import LabPage, LabServer, running_lab
from playwright.sync_api import Browser, Response, sync_playwright
from streaming_service import StreamingService

from cellwright.record.events import ModelReplied, RunFinished, RunStarted
from cellwright.record.messages import AssistantMessage, Parameters, Usage
from cellwright.store.chats import ChatStore
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

Figures = dict[str, float]

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
STATIC = "/lab/extensions/cellwright/static/"
SECONDS = 180_000
"""How long, in milliseconds, anything in the page is waited for."""
MARKS = 60
LONG_ANSWER = 80_000
PIECES = 2_000
LONG_ANSWER_SECONDS = 20.0
CELLS = 1_000
INSERTED = 9
DRAWN_SECONDS = 3.0
"""JupyterLab draws the cells of a long notebook bit by bit."""
SESSION_RUNS = 2_500
"""Each is a prompt and an answer."""
PARAGRAPH = (
    "The **data frame** has `rows` and some columns, see [docs](https://example.com/a) for $x^2$ "
    "and more words that go on for a while, as answers do, until the paragraph ends here.\n\n"
)
CODE = "```python\n" + 'x = df.groupby("a").agg({"b": "sum"})\n' * 12 + "```\n\n"
TABLE = "| a | b |\n|---|---|\n" + "| 1 | some **words** |\n" * 8 + "\n"
LIST = "- an item with `code` and words in it\n" * 6 + "\n"

WATCH_MARKS = """() => {
    window.seen = {};
    new MutationObserver(() => {
        // the server's clock: timeOrigin drifts from it while a machine sets its time
        const now = Date.now();
        const text = document.querySelector('#cellwright-panel .cw-turn:last-of-type')
            ?.textContent ?? '';
        for (const [, mark] of text.matchAll(/#([\\d-]+)#/g)) window.seen[mark] ??= now;
    }).observe(document.querySelector('#cellwright-panel'),
        { subtree: true, childList: true, characterData: true });
}"""
WATCH_LONG_TASKS = """() => {
    window.longTasks = [];
    window.drawn = [];
    new PerformanceObserver(list => {
        window.longTasks.push(...list.getEntries().map(entry => entry.duration));
    }).observe({ type: 'longtask' });
    // the line that counts the seconds of the run stands below the turns
    const isAnswer = ({ target }) => (target.parentElement ?? target).closest('.cw-turn') !== null;
    new MutationObserver(changes => {
        if (changes.some(isAnswer)) window.drawn.push(performance.now());
    }).observe(document.querySelector('#cellwright-panel .cw-turns'),
        { subtree: true, childList: true, characterData: true });
}"""
DRAWN_A_SECOND = """() => {
    const counts = window.drawn.map(
        from => window.drawn.filter(at => at >= from && at < from + 1000).length);
    return Math.max(0, ...counts);
}"""
TIME_CHANGES = """() => {
    const shared = window.jupyterapp.shell.currentWidget.content.model.sharedModel;
    const transact = shared.transact.bind(shared);
    window.changes = [];
    shared.transact = (...args) => {
        const before = shared.cells.length;
        const began = performance.now();
        transact(...args);
        if (shared.cells.length > before) window.changes.push(performance.now() - began);
    };
}"""
OPEN_CHAT = """([title, last]) => new Promise(resolve => {
    const panel = document.querySelector('#cellwright-panel');
    const row = Array.from(panel.querySelectorAll('.cw-session button, .cw-session [role=button]'))
        .find(element => element.textContent.includes(title));
    const started = performance.now();
    const look = () => {
        const turn = Array.from(panel.querySelectorAll('.cw-turn')).at(-1);
        if (!turn?.textContent.includes(last)) return requestAnimationFrame(look);
        requestAnimationFrame(() => requestAnimationFrame(
            () => resolve(performance.now() - started)));
    };
    row.click();
    look();
})"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", nargs="*", choices=sorted(MEASURES), default=sorted(MEASURES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: Figures = {}
    with _browser() as browser:
        for name in options.only:
            figures |= MEASURES[name](browser, options.repeats)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        goal = GOALS.get(name)
        told = f"  goal {goal:g}{'' if value <= goal else ': MISSED'}" if goal is not None else ""
        print(f"{name:<58} {value:>9.1f}{told}")


@dataclass(frozen=True)
class Bench:
    """A page with the panel open, and the model that answers it."""

    lab: LabPage
    service: StreamingService

    def ask(self, prompt: str) -> None:
        """Ask, and wait for the end of the answer."""
        panel = self.lab.page.locator("#cellwright-panel")
        turns = panel.locator(".cw-turn")
        before = turns.count()
        panel.get_by_role("textbox", name="Prompt").fill(prompt)
        panel.get_by_role("button", name="Send", exact=True).click()
        turns.nth(before).get_by_role("button", name="Copy answer").wait_for(timeout=SECONDS)


@contextmanager
def _browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    downloaded = sorted(Path(sys.prefix, "browsers").glob("chromium-*/chrome-*/chrome"))
    if found is None and not downloaded:
        raise SystemExit("No Chromium: run .ci/ensure-chromium.")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=found or str(downloaded[-1]),
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )


@contextmanager
def _running(service: StreamingService | None = None, *, enabled: bool = True) -> Iterator[Any]:
    """A JupyterLab with a record of its own; yields it and the folder of the record."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        root = Path(folder)
        os.environ["CELLWRIGHT_HOME"] = str(root / "home")
        os.environ["CELLWRIGHT_API_KEY"] = "x"
        os.environ["CELLWRIGHT_BASE_URL"] = service.base_url if service else "http://127.0.0.1:9/v1"
        os.environ["CELLWRIGHT_MODEL"] = "streamed"
        os.environ["JUPYTER_CONFIG_PATH"] = str(root / "more")
        if not enabled:
            switched_off = root / "more" / "labconfig" / "page_config.json"
            switched_off.parent.mkdir(parents=True)
            switched_off.write_text(json.dumps({"disabledExtensions": {"cellwright": True}}))
        with running_lab(root, port) as server:
            yield server, root / "home"


@contextmanager
def _bench(browser: Browser) -> Iterator[Bench]:
    with StreamingService() as service, _running(service) as (server, _):
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.set_default_timeout(SECONDS)
        lab = LabPage(context.new_page(), server)
        _open_panel(lab)
        yield Bench(lab, service)
        context.close()


def _open_panel(lab: LabPage) -> None:
    lab.open(lab.server.write_notebook("bench.ipynb", ["1"]))
    lab.execute("cellwright:open")
    lab.page.locator("#cellwright-panel").get_by_role("textbox", name="Prompt").wait_for()


def _token_to_page(browser: Browser, repeats: int) -> Figures:
    """From a token on the wire to the element that shows it."""
    with _bench(browser) as bench:
        bench.ask("warm up")
        bench.service.pause_seconds = 0.12
        waits: list[float] = []
        for repeat in range(max(1, repeats // 3)):
            # other marks each time: the answer before is still drawn when the next is asked for
            marks = [f"{repeat}-{number}" for number in range(MARKS)]
            bench.service.pieces = [f" word #{mark}#" for mark in marks]
            bench.lab.page.evaluate(WATCH_MARKS)
            bench.ask("go")
            seen = bench.lab.page.evaluate("window.seen")
            sent = bench.service.sent
            waits += [seen[mark] - at * 1_000 for mark, at in zip(marks, sent, strict=False)]
    return {
        "token on the wire to the page, median, ms": statistics.median(waits),
        "token on the wire to the page, 95 %, ms": statistics.quantiles(waits, n=20)[-1],
    }


def _long_answer(browser: Browser, repeats: int) -> Figures:
    """How long the page is busy at a time while a long answer comes."""
    unit = PARAGRAPH * 4 + CODE + LIST + TABLE
    answer = (unit * (LONG_ANSWER // len(unit) + 1))[:LONG_ANSWER]
    size = LONG_ANSWER // PIECES
    longest: list[float] = []
    counts: list[float] = []
    drawn: list[float] = []
    with _bench(browser) as bench:
        bench.ask("warm up")
        bench.service.pieces = [answer[at : at + size] for at in range(0, LONG_ANSWER, size)]
        bench.service.pause_seconds = LONG_ANSWER_SECONDS / PIECES
        for _ in range(max(1, repeats // 2)):
            bench.lab.page.evaluate(WATCH_LONG_TASKS)
            bench.ask("go")
            tasks = bench.lab.page.evaluate("window.longTasks")
            longest.append(max(tasks, default=0.0))
            counts.append(len(tasks))
            drawn.append(bench.lab.page.evaluate(DRAWN_A_SECOND))
            bench.lab.execute("cellwright:new-chat")
    return {
        "drawings in a second of it, most": max(drawn),
        "longest task during an answer of 80 kB, median, ms": statistics.median(longest),
        "longest task during an answer of 80 kB, worst, ms": max(longest),
        "tasks above 50 ms during an answer of 80 kB": statistics.median(counts),
    }


def _long_session(browser: Browser, repeats: int) -> Figures:
    """Opening a chat of 5,000 messages."""
    times: list[float] = []
    with _running() as (server, home):
        _write_session(home)
        for _ in range(repeats):
            context = browser.new_context(viewport={"width": 1400, "height": 1000})
            context.set_default_timeout(SECONDS)
            lab = LabPage(context.new_page(), server)
            _open_panel(lab)
            lab.page.locator("#cellwright-panel").get_by_role("button", name="Chats").click()
            lab.page.locator(".cw-session").first.wait_for()
            wanted = ["prompt 0", f"prompt {SESSION_RUNS - 1}"]
            times.append(lab.page.evaluate(OPEN_CHAT, wanted))
            context.close()
    return {"a chat of 5,000 messages opens, ms": statistics.median(times)}


def _insert(browser: Browser, repeats: int) -> Figures:
    """A cell of the agent in a long notebook."""
    with _bench(browser) as bench:
        lab = bench.lab
        name = lab.server.write_notebook("long.ipynb", [f"x = {n}" for n in range(CELLS)])
        lab.execute("docmanager:open", {"path": name})
        lab.wait_idle()
        panel = lab.page.locator("#cellwright-panel")
        panel.get_by_text(name).first.wait_for()
        panel.get_by_role("button", name="Mode:").click()
        panel.get_by_role("menuitemradio", name="Auto").click()
        lab.page.wait_for_timeout(DRAWN_SECONDS * 1_000)
        lab.page.evaluate(TIME_CHANGES)
        bench.service.codes = [f"y = {n}" for n in range(max(repeats, INSERTED))]
        bench.ask("go")
        changes: list[float] = lab.page.evaluate("window.changes")
    return {f"a cell is inserted into a notebook of {CELLS:,}, ms": statistics.median(changes)}


def _write_session(home: Path) -> None:
    database = open_database(home / "runs.sqlite")
    chats, runs = ChatStore(database), RunStore(database)
    chat = chats.create()
    parameters = Parameters("streamed")
    for number in range(SESSION_RUNS):
        answer = PARAGRAPH * 2 + (CODE if number % 5 == 0 else "")
        usage = Usage(100, 10)
        journal = runs.start(RunStarted(f"prompt {number}", "panel", "ask", parameters))
        journal.record(
            ModelReplied(AssistantMessage(answer), "stop", usage, "streamed"),
            RunFinished("completed", answer, usage=usage),
        )
        chats.add_run(chat.chat_id, journal.run_id)
    database.close()


def _start(browser: Browser, repeats: int) -> Figures:
    """What JupyterLab loads, and how much later it stands."""
    loaded: dict[str, int] = {}
    times: dict[bool, list[float]] = {True: [], False: []}
    with ExitStack() as stack:
        servers = {
            enabled: stack.enter_context(_running(enabled=enabled))[0] for enabled in (True, False)
        }
        for turn in range(repeats + 1):
            for enabled in (True, False) if turn % 2 else (False, True):
                seconds, files = _start_once(browser, servers[enabled])
                if turn > 0:  # the first one fills caches
                    times[enabled].append(seconds)
                loaded = files or loaded
    with_us, without = (statistics.median(times[enabled]) for enabled in (True, False))
    return {
        "JupyterLab restored, without us, ms": without,
        "JupyterLab restored, with us, ms": with_us,
        "JupyterLab restored, difference, ms": with_us - without,
        "loaded of us until restored, kB gzipped": loaded.get("until", 0) / 1_000,
        "loaded of us with the panel closed, kB gzipped": loaded.get("all", 0) / 1_000,
        "whole labextension, kB gzipped": _whole_labextension() / 1_000,
    }


def _start_once(browser: Browser, server: LabServer) -> tuple[float, dict[str, int]]:
    context = browser.new_context()
    context.set_default_timeout(SECONDS)
    page = context.new_page()
    bodies: list[int] = []

    def keep(response: Response) -> None:
        if STATIC in response.url and response.ok:
            bodies.append(len(gzip.compress(response.body(), 9)))

    page.on("requestfinished", lambda request: keep(request.response()))
    page.goto(f"{server.url}/lab?token={server.token}&reset")
    seconds: float = page.evaluate(
        """() => new Promise(resolve => {
            const look = () => window.jupyterapp
                ? window.jupyterapp.restored.then(() => resolve(performance.now()))
                : setTimeout(look, 2);
            look();
        })"""
    )
    until = sum(bodies)
    page.wait_for_timeout(3_000)
    context.close()
    return seconds, {"until": until, "all": sum(bodies)} if bodies else {}


def _whole_labextension() -> int:
    import cellwright

    folder = Path(cellwright.__file__).parent / "labextension"
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".map"]
    if any("eval(" in file.read_text("utf-8", "ignore")[:20_000] for file in files):
        print("This is a development build; npm run build:prod makes the other.", file=sys.stderr)
    return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)


GOALS: Figures = {
    "token on the wire to the page, median, ms": 60,
    "drawings in a second of it, most": 20,
    "longest task during an answer of 80 kB, worst, ms": 100,
    "a cell is inserted into a notebook of 1,000, ms": 80,
    "a chat of 5,000 messages opens, ms": 1_500,
    "JupyterLab restored, difference, ms": 50,
    "loaded of us until restored, kB gzipped": 150,
    "whole labextension, kB gzipped": 400,
}
"""What the issue of the panel asks for at most."""

MEASURES: dict[str, Callable[[Browser, int], Figures]] = {
    "token": _token_to_page,
    "answer": _long_answer,
    "insert": _insert,
    "session": _long_session,
    "start": _start,
}

if __name__ == "__main__":
    main()
