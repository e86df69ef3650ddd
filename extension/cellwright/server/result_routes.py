"""Results of benchmarks in folders below the server's root: lists, sums, samples, comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.server.application import Application
from cellwright.server.result_places import NotThereError, ResultPlaces
from cellwright.server.result_shelf import ResultShelf, SampleFilter
from cellwright.server.result_trimming import trimmed
from cellwright.server.routes import Refusal, Route, RouteTable

T = TypeVar("T")
SHELF = "cellwright_results"
USUAL_FOLDER = "runs"
PAGE = 100


class ResultRoute(Route):
    """A route that reads results; they are files, so who may not read files may not read them."""

    async def results(self, work: Callable[[ResultShelf], T]) -> T:
        """What ``work`` returns, done in a thread.

        Raises:
            Refusal: It may not, or could not, be done.
        """
        is_authorized = self.authorizer.is_authorized
        if not await ensure_async(is_authorized(self, self.current_user, "read", "contents")):
            raise Refusal(403, "You may not read files on this server.")
        shelf = self._shelf()

        def worked(_: Application) -> T:
            try:
                return work(shelf)
            except NotThereError as error:
                raise Refusal(404, error.message, error.hint) from error

        return await self.answer(worked)

    def number(self, name: str, usual: int) -> int:
        """A whole number of the address.

        Raises:
            Refusal: It is none.
        """
        text = self.word(name)
        if not text:
            return usual
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise Refusal(400, f"The parameter {name!r} is {text[:40]!r}, not a whole number.")
        return int(text)

    def path(self, name: str) -> str:
        """A path of the address.

        Raises:
            Refusal: It is missing.
        """
        path = self.word(name)
        if not path:
            raise Refusal(400, f"The parameter {name!r} is missing.", "See the list of results.")
        return path

    def _shelf(self) -> ResultShelf:
        if SHELF not in self.settings:
            self.settings[SHELF] = ResultShelf(ResultPlaces(self.shared.root))
        return cast("ResultShelf", self.settings[SHELF])


class ResultsRoute(ResultRoute):
    """The results below a folder."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Where they are, how large, and whether they grow."""
        folder, since = self.word("folder") or USUAL_FOLDER, self.word("since")
        self.send(await self.results(lambda shelf: shelf.list(folder, since)))


class SummaryRoute(ResultRoute):
    """What one result comes to."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Its numbers, each with its interval."""
        path = self.path("result")
        self.send(await self.results(lambda shelf: shelf.numbers(path)))


class SamplesRoute(ResultRoute):
    """The samples of a result."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """A page of those that fit."""
        path = self.path("result")
        wanted = SampleFilter(
            status=self.word("status"),
            outcome=self.word("outcome"),
            group=self.word("group"),
            text=self.word("query"),
            sort=self.word("sort"),
            start=self.number("start", 0),
            count=self.number("count", PAGE),
        )
        self.send(await self.results(lambda shelf: shelf.page(path, wanted)))


class SampleRoute(ResultRoute):
    """One sample."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """All of it, as ``cellwright.sample/1``."""
        path, sample_id = self.path("result"), self.path("id")
        redactor = self.shared.redactor()

        def sample(shelf: ResultShelf) -> Any:
            return trimmed(redactor.event(shelf.sample(path, sample_id)).to_dict())

        self.send(await self.results(sample))


class CompareRoute(ResultRoute):
    """Two results held together."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """How the second differs from the first, and a page of the samples of both."""
        first, second = self.path("first"), self.path("second")
        start, count = self.number("start", 0), self.number("count", PAGE)
        self.send(await self.results(lambda shelf: shelf.compare(first, second, start, count)))


ROUTES: RouteTable = (
    ("results", ResultsRoute),
    ("results/summary", SummaryRoute),
    ("results/samples", SamplesRoute),
    ("results/sample", SampleRoute),
    ("results/compare", CompareRoute),
)
