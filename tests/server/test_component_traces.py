"""The trace of a call by hand, with OpenTelemetry's own SDK (requirements 000-15)."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from server import hand_components as tools
from server.hand_place import Place

from cellwright.server.component_runs import joined_trace, trace_id
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")

CALLER = f"00-{0xABC:032x}-{5:016x}-01"


@pytest.fixture
def place() -> Iterator[Place]:
    database = open_database(None)
    yield Place(RunStore(database))
    database.close()


@pytest.fixture
def spans() -> Any:
    """The spans that ended, oldest first; a provider can be set once in a process."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    if not isinstance(trace.get_tracer_provider(), sdk.TracerProvider):
        trace.set_tracer_provider(sdk.TracerProvider())
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
    yield exporter.get_finished_spans
    exporter.shutdown()


@pytest.fixture
def off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of OpenTelemetry is loaded."""
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")


class Service(http.server.BaseHTTPRequestHandler):
    """Answers with the headers of the request that tell of a trace."""

    def do_GET(self) -> None:
        """Answer."""
        names = ("traceparent", "X-Request-Id")
        text = " ".join(str(self.headers.get(name)) for name in names).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("off")
def test_000_15_while_tracing_is_off_no_header_is_sent(place: Place, service: str) -> None:
    place.call(tools.Calls(), arguments={"url": service}, trace=CALLER)
    assert place.words() == ["None None"]
    assert place.told[0].trace_id == place.store.last_started


def test_000_15_a_remote_call_carries_the_span_and_the_run(
    place: Place, service: str, spans: Any
) -> None:
    place.call(tools.Calls(), arguments={"url": service}, trace=CALLER)
    inner, outer = spans()
    assert [inner.name, outer.name] == ["execute_tool calls", "component calls"]
    assert inner.parent.span_id == outer.context.span_id
    assert outer.parent.span_id == 5
    sent = f"00-{0xABC:032x}-{inner.context.span_id:016x}-01"
    assert place.words() == [f"{sent} {place.store.last_started}"]
    assert place.told[0].trace_id == f"{0xABC:032x}"
    assert not trace.get_current_span().get_span_context().is_valid


@pytest.mark.parametrize(
    "header",
    [
        f"ff-{0xABC:032x}-{5:016x}-01",
        f"00-{0:032x}-{5:016x}-01",
        f"00-{0xABC:032x}-{0:016x}-01",
        f"{CALLER}-more",
        "nonsense",
        "",
    ],
)
def test_000_15_what_is_no_trace_begins_a_new_one(place: Place, spans: Any, header: str) -> None:
    place.call(tools.shout, arguments={"word": "a"}, trace=header)
    _, outer = spans()
    assert outer.parent is None
    assert place.told[0].trace_id == f"{outer.context.trace_id:032x}"
    assert place.told[0].trace_id != f"{0xABC:032x}"


def test_000_15_where_nobody_makes_spans_the_callers_is_not_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trace, "get_tracer", trace.NoOpTracerProvider().get_tracer)
    with joined_trace("component x", CALLER):
        assert trace_id() == ""
