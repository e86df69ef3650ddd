"""An exported report in a real browser: it asks nobody for anything and runs nothing (A19)."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hostile_runs import hostile_run, payloads

from cellwright.exports.html import export

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")


@dataclass
class Sink:
    """A server on this machine that notes what it is asked for."""

    url: str
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def sink() -> Iterator[Sink]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            noted.asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    noted = Sink(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield noted
    server.shutdown()
    server.server_close()
    thread.join()


def opened(page: Path, profile: Path) -> str:
    """What the page is after a browser has dealt with it."""
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update"]
    command += [f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom"]
    done = subprocess.run(
        [*command, page.as_uri()], capture_output=True, text=True, timeout=90, check=True
    )
    return done.stdout


def test_a_report_with_every_known_attack_makes_no_request(sink: Sink, tmp_path: Path) -> None:
    hostile = "\n".join(payloads(sink.url))
    page = tmp_path / "report.html"
    page.write_text(export(hostile_run(hostile)), encoding="utf-8")
    dom = opened(page, tmp_path / "profile")
    assert sink.asked == []
    assert "hacked=" not in dom.partition("<body")[0]
    assert "cellwright run" in dom


def test_the_same_attacks_do_work_on_a_page_that_believes_them(sink: Sink, tmp_path: Path) -> None:
    page = tmp_path / "believing.html"
    harmful = [item for item in payloads(sink.url) if "refresh" not in item]
    page.write_text("<!DOCTYPE html><body>" + "\n".join(harmful), encoding="utf-8")
    dom = opened(page, tmp_path / "profile")
    assert "/img.png" in sink.asked
    assert "/css.png" in sink.asked
    assert 'hacked="1"' in dom
