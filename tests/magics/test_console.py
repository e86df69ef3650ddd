"""Front ends that draw no change of a display: ``jupyter console``, and a client of that kind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest
from fake_service import MODEL, Answer, FakeService, Pause, chunk, raw_sse, text, tool_call
from magics.live_kernel import LiveKernel

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform == 'win32'")]

WORDS = ("The first words", " and some more", " and the last words.")


def slowly() -> Answer:
    """An answer that comes in pieces, with a pause between them."""
    pieces = [piece for word in WORDS for piece in (chunk({"content": word}), Pause(0.3))]
    return raw_sse([*pieces, chunk({}, "stop")])


def test_jupyter_console_shows_the_whole_answer_once(tmp_path: Path) -> None:
    """13.18, in the real program on a terminal of its own."""
    call = tool_call("run_cell", {"code": "print('from ' + 'code')\n40 + 2"}, text="I look.")
    with FakeService([slowly(), call, text("It is 42 indeed.")]) as service:
        environment = {
            **os.environ,
            "CELLWRIGHT_BASE_URL": service.base_url,
            "CELLWRIGHT_API_KEY": "no-key",
            "CELLWRIGHT_MODEL": MODEL,
            "CELLWRIGHT_HOME": str(tmp_path / "home"),
            "TERM": "xterm",
        }
        arguments = ["-m", "jupyter_console", "--simple-prompt"]
        console = pexpect.spawn(
            sys.executable,
            arguments,
            env=environment,
            encoding="utf-8",
            timeout=60,
            dimensions=(60, 200),
        )
        try:
            console.expect(r"In \[1\]")
            shown = []
            for number, line in enumerate(
                ("%load_ext cellwright", "%agent --mode auto hello", "%agent --mode auto more"), 2
            ):
                console.sendline(line)
                console.expect(rf"In \[{number}\]")
                shown.append(str(console.before).replace("\r", ""))
            console.sendline("exit")
            console.expect(pexpect.EOF)
        finally:
            console.close(force=True)
    _, first, second = shown
    assert first.count("The first words and some more and the last words.") == 1
    assert first.count("The first words") == 1
    assert "✓ completed" in first
    places = [second.index(part) for part in ("I look.", "from code\n", "42", "It is 42 indeed.")]
    assert places == sorted(places)
    assert second.count("It is 42 indeed.") == 1


def test_a_client_that_ignores_updates_is_sent_none_and_the_whole_text(fresh: LiveKernel) -> None:
    """13.18: a notebook is still sent each change, and keeps one output."""
    shown = fresh.run("%agent hello", [slowly()], answers=[], metadata={})
    texts = [content["data"]["text/plain"] for content in shown.of("display_data")]
    assert texts[0] == "".join(WORDS)
    assert shown.of("update_display_data") == []
    notebook = fresh.run("%agent hello", [slowly()], answers=[])
    assert notebook.displays[0]["text/plain"] == "".join(WORDS)
    assert len(notebook.displays) == len(texts)
    assert notebook.of("update_display_data") != []


def test_a_question_and_its_answer_are_both_seen_there(fresh: LiveKernel) -> None:
    """13.18: what changes after it was shown is shown again."""
    call = tool_call("run_cell", {"code": "1 + 1"})
    shown = fresh.run("%agent --mode ask hello", [call, text("Done.")], answers=["y"], metadata={})
    texts = [content["data"]["text/plain"] for content in shown.of("display_data")]
    assert sum("1 + 1" in words for words in texts) == 2
    assert "Done." in texts
    assert shown.of("update_display_data") == []
