"""The components of one server: which there are, and those that were called and go on."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, cast

from cellwright.installation import list_entry_points, load_plugins
from cellwright.server.application import Application
from cellwright.server.component_envelopes import Envelope
from cellwright.server.component_runs import HandRun
from cellwright.server.configuration import Cellwright
from cellwright.server.routes import Refusal
from cellwright.stopping import WorkerThread
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.installed import leave_out_unusable, make_tools
from cellwright.tools.manifest import tool_name
from cellwright.tools.registry import ToolSource, within_caps

# The component that is always there, so that the route can be tried.
#
# It shows what a component can do: it says one thing after another, tells how far it is, and says
# some of it to the person and some to the model alone.


COMMON_LIMIT = 20
LINES_SHOWN = 200


class WordCount(Component):
    """Counts the words of a text."""

    name: ClassVar[str] = "word_count"
    version: ClassVar[str] = "v1"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return "count the words of a text"

    def tool_eval(self, context: ToolContext, text: str, most: int = 5) -> Iterator[ToolYield]:
        """Count the words of a text, line by line.

        Args:
            text: Any text.
            most: How many of its most frequent words are named.
        """
        lines = text.splitlines()
        found: Counter[str] = Counter()
        for number, line in enumerate(lines, 1):
            context.stop.check()
            words = line.casefold().split()
            found.update(words)
            if number <= LINES_SHOWN:
                context.notify(f"line {number} of {len(lines)}", number / len(lines))
                yield self.create_output(text=f"line {number}: {len(words)} words\n")
        yield self.create_output(text=f"{found.total()} words in all")
        common = found.most_common(min(max(most, 0), COMMON_LIMIT))
        chart = {"type": "bar", "data": [{"word": word, "count": count} for word, count in common]}
        yield self.create_output("chart", chart, visible_scope="user")
        yield self.create_output("json", {"data": dict(common)}, visible_scope="llm")


# The components of the server: those of installed packages, of the settings, and one of our own.
#
# A package offers its components under the entry point group ``cellwright.components``; an
# administrator names others in ``c.Cellwright.components``. What cannot be offered is left out and
# reported, and keeps nothing else from being offered.


GROUP = "cellwright.components"
OWN = "cellwright"


@dataclass(frozen=True)
class Listed:
    """A component and where it is from."""

    component: Component
    source: str

    @property
    def name(self) -> str:
        """How it is called in an address."""
        return tool_name(self.component.name)

    @property
    def version(self) -> str:
        """Which of its versions this is."""
        return self.component.version


@dataclass(frozen=True)
class Catalogue:
    """The components that can be called, and why others cannot."""

    listed: tuple[Listed, ...] = ()
    reports: tuple[str, ...] = ()
    """One sentence for each thing that was left out."""

    def find(self, name: str, version: str) -> Listed | None:
        """The component of that name and version."""
        return next((i for i in self.listed if (i.name, i.version) == (name, version)), None)

    def versions(self, name: str) -> tuple[str, ...]:
        """Which versions of a component there are."""
        return tuple(item.version for item in self.listed if item.name == name)

    def before(self, other: Catalogue) -> Catalogue:
        """Both together; of what both have, ours is found."""
        return Catalogue((*self.listed, *other.listed), (*self.reports, *other.reports))


def installed(targets: Sequence[str] = ()) -> Catalogue:
    """The components of this environment.

    Args:
        targets: Those of the settings, as ``module:name``.
    """
    from importlib.metadata import EntryPoint

    points = list_entry_points(GROUP)
    points += [EntryPoint(target, target, GROUP) for target in targets]
    tools = make_tools(load_plugins(points))
    sources = (ToolSource(OWN, (WordCount(),)), *tools.sources)
    found = listed(sources)
    return Catalogue(found.listed, (*tools.problems, *found.reports))


def listed(sources: Iterable[ToolSource]) -> Catalogue:
    """What can be called of some sources: within the caps, each name and version once."""
    reports: list[str] = []
    kept = [leave_out_unusable(source, reports) for source in sources]
    places = {id(component): source.name for source in kept for component in source.components}
    offer = within_caps(kept)
    found: dict[tuple[str, str], Listed] = {}
    for component in offer.components:
        item = Listed(component, places[id(component)])
        first = found.setdefault((item.name, item.version), item)
        if first is not item:
            both = f"{first.source!r} and {item.source!r}"
            what = f"{item.name!r} in version {item.version!r}"
            reports.append(f"{both} both have {what}; that of {first.source!r} is offered.")
    return Catalogue(tuple(found.values()), (*reports, *offer.reports))


log = logging.getLogger(__name__)
RUN_LIMIT = 8
ROOM = 64
"""Envelopes that may wait to be sent; a component that says more waits."""
GRACE_LOOKS = 3
"""How often it is looked whether a component that was stopped has returned."""
CLOSE_SECONDS = 0.5
STOPPING = "the server is stopping"


class EnvelopeLine:
    """From the thread of a call to the event loop that sends what it says.

    Args:
        keep_alive_seconds: After this long without an envelope None is handed out.
    """

    def __init__(self, keep_alive_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._room = threading.Semaphore(ROOM)
        self._keep_alive_seconds = keep_alive_seconds
        self._is_closed = False

    def put(self, envelope: Envelope | None) -> None:
        """Send an envelope, or None for the end; from any thread, waits for room."""
        if not self._is_closed:
            self._room.acquire()
        # Where the server has ended, its loop has too.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, envelope)

    def close(self) -> None:
        """Nobody takes anything any more, so nobody waits for room."""
        self._is_closed = True
        self._room.release(ROOM)

    async def envelopes(self) -> AsyncIterator[Envelope | None]:
        """What is said, as it comes; None: nothing for a while."""
        try:
            while True:
                try:
                    envelope = await asyncio.wait_for(self._waiting.get(), self._keep_alive_seconds)
                except TimeoutError:
                    yield None
                    continue
                self._room.release()
                if envelope is None:
                    return
                yield envelope
        finally:
            self.close()


async def until_ended(run: HandRun, line: EnvelopeLine) -> AsyncIterator[Envelope | None]:
    """What a call says, the last envelope at the end; None: nothing for a while.

    A component that was stopped and does not return is given up after some looks.
    """
    looks = 0
    async for envelope in line.envelopes():
        said: tuple[Envelope | None, ...] = (envelope,)
        if envelope is None and run.stop.is_set():
            looks += 1
            said = (run.abandoned() if looks > GRACE_LOOKS else ()) or said
        for item in said:
            yield item
            if item is not None and item.is_completion:
                return


def open_components(application: Application) -> ComponentHost:
    """The components of a server, which routes share.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.hand_runs is None:
            application.hand_runs = ComponentHost(application.configuration)
        return cast("ComponentHost", application.hand_runs)


class ComponentHost:
    """Knows the server's components and their calls.

    Args:
        configuration: What the administrator set.
    """

    def __init__(self, configuration: Cellwright) -> None:
        self._configuration = configuration
        self._lock = threading.Lock()
        self._catalogue: Catalogue | None = None
        self._runs: dict[HandRun, threading.Thread] = {}
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        return bool(self._runs)

    def catalogue(self) -> Catalogue:
        """The components that can be called; loads them, so not on the event loop."""
        with self._lock:
            if self._catalogue is None:
                self._catalogue = installed(self._configuration.components)
                for report in self._catalogue.reports:
                    log.warning("cellwright: %s", report)
            return self._catalogue

    def start(self, run: HandRun, line: EnvelopeLine, ended: Callable[[], None]) -> None:
        """Begin a call in a thread of its own.

        Args:
            run: The call.
            line: Told of the end.
            ended: Lets go of what the call worked with.

        Raises:
            Refusal: Too many go on.
        """

        def work() -> None:
            try:
                run.run()
            except Exception:  # the server goes on; the log has the traceback
                log.exception("cellwright: a component that was called by hand failed")
            finally:
                ended()
                with self._lock:
                    self._runs.pop(run, None)
                line.put(None)

        thread = WorkerThread(work, name="component")
        with self._lock:
            busy = self._is_closed or len(self._runs) >= RUN_LIMIT
            if not busy:
                self._runs[run] = thread
                thread.start()
        if busy:
            ended()
            what = STOPPING if self._is_closed else f"{RUN_LIMIT} components run already"
            raise Refusal(409, f"Not now: {what}.", "Wait for one to end.", "busy")

    def close(self) -> None:
        """Stop every call and wait a little for it."""
        with self._lock:
            self._is_closed = True
            runs = dict(self._runs)
        for run in runs:
            run.stop.set(STOPPING)
        for thread in runs.values():
            thread.join(CLOSE_SECONDS)
