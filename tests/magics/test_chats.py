"""Chats of the magics: kept while somebody is there, listed, and gone on with in another kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_service import FakeService, error, text
from magics.live_kernel import LiveKernel

from cellwright.store.chats import ChatStore
from cellwright.store.database import open_database

ASK = "%agent --mode auto"


@pytest.mark.kernel
def test_002_04_a_chat_goes_on_in_a_new_kernel(tmp_path: Path) -> None:
    with FakeService() as service:
        first = LiveKernel(service, tmp_path)
        try:
            first.run("%load_ext cellwright")
            first.run(f"{ASK} which region sold most?", [text("The north did.")], answers=[])
            first.run("kept = 1")
            first.run(f"{ASK} and which least?", [text("The south did.")], answers=[])
            first.run(f"{ASK} nobody is there", [text("Alone.")])
            first.run("%agent /prompt --append Rhyme.", answers=[])
            first.run("%agent /later The unit is kg.", answers=[])
            listed = first.run("%agent chats")
            (row,) = re.findall(r"(\w{16}) \*", listed.results[0])
        finally:
            first.close()
        second = LiveKernel(service, tmp_path)
        try:
            second.run("%load_ext cellwright")
            told = second.run(f"%agent /resume {row[:6]}").results[0]
            assert "'which region sold most?' goes on" in told
            assert "2 questions" in told
            assert "instructions of its own" in told
            second.run(f"{ASK} are you there", [error(400, "no")], answers=[])
            second.run(f"{ASK} go on", [text("Gladly.")], answers=[])
            assert str(service.requests[-1].messages).count("The unit is kg.") == 1
            messages = service.requests[-1].messages
            assert "Rhyme." in messages[0]["content"], "002-26"
            assert messages[-1]["content"].startswith("The unit is kg.\nare you"), "002-21"
            second.run(f"{ASK} and on", [text("Yes.")], answers=[])
            assert "The unit is kg." not in service.requests[-1].messages[-1]["content"]
            said = str(service.requests[-1].messages)
            assert said.index("The north did.") < said.index("The south did.") < said.index("go on")
            assert "Alone." not in said
            database = open_database(tmp_path / "home" / "runs.sqlite")
            chats = ChatStore(database)
            assert [chat.run_count for chat in chats.list()] == [5]
            panel = chats.list()[0].chat_id
            with chats.claims.held(panel):
                refused = second.run(f"{ASK} now", [text("No.")], answers=[])
            database.close()
            assert "Another program is answering in this chat" in refused.stderr
            _names_and_deletes(second)
        finally:
            second.close()


def _names_and_deletes(kernel: LiveKernel) -> None:
    kernel.run("%agent chat new")
    kernel.run("%agent /prompt Say meow.", answers=[])
    kernel.run("%agent /later It is grey.", answers=[])
    kernel.run(f"{ASK} draw a cat", [text("Done.")], answers=[])
    said = str(kernel.service.requests[-1].messages)
    assert "which region" not in said
    assert "Rhyme." not in said, "instructions of another chat"
    assert "Say meow." in said
    assert "It is grey." in said
    key = "sk-proj-Abcdefghij0123456789Klmnop"
    assert key not in kernel.run(f"%agent /chats rename last {key}").results[0]
    assert "is called 'Cats'" in kernel.run("%agent /chats rename last Cats").results[0]
    assert "Cats" in kernel.run("%agent /chats find cat").results[0]
    assert kernel.run("%agent /chats find zebra").results == ["There is no chat here yet."]
    kept = kernel.run("%agent chats delete last", answers=["n"])
    assert kept.results == ["Nothing was deleted."]
    assert kept.questions == ["Delete 'Cats' with the record of its 1 runs? [y/N] "]
    gone = kernel.run("%agent chats delete last", answers=["y"])
    assert gone.results == ["Chat 'Cats' is deleted."]
    nowhere = kernel.run("%agent resume 00000000", answers=[])
    assert "There is no chat" in nowhere.stderr
