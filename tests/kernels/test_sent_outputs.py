"""What a cell sends is counted where it is sent, since a slow reader misses messages unseen."""

from __future__ import annotations

from typing import Any

from cellwright.kernels.sent_outputs import DISPLAYS_KEPT, SentOutputs

MINE = {"header": {"msg_id": "mine"}}
OTHERS = {"msg_id": "another"}


class SendingSession:
    """Notes what goes out, as ``jupyter_client``'s session is asked to send it."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, stream: Any, message: Any, content: Any = None, parent: Any = None) -> str:
        self.sent.append(message)
        return "sent"


def show(session: Any, name: str, data: str) -> None:
    content = {"data": {"text/plain": data}, "metadata": {}, "transient": {"display_id": name}}
    session.send(None, "display_data", content, MINE)


def test_outputs_of_the_cell_are_counted_and_all_are_sent() -> None:
    session = SendingSession()
    outputs = SentOutputs(session, "mine")
    outputs.start()
    assert session.send(None, "stream", {"name": "stdout", "text": "a"}, MINE) == "sent"
    whole = {"msg_type": "error", "content": None, "parent_header": {"msg_id": "mine"}}
    session.send(None, whole)
    session.send(None, "stream", {"text": "of another cell"}, OTHERS)
    session.send(None, "stream", {"text": "of no cell"})
    session.send(None, "status", {}, MINE)
    outputs.stop()
    session.send(None, "stream", {"text": "later"}, MINE)
    assert outputs.count == 2
    assert len(session.sent) == 6


def test_the_last_state_of_each_display_is_kept_up_to_a_number() -> None:
    session = SendingSession()
    outputs = SentOutputs(session, "mine")
    outputs.start()
    for number in range(DISPLAYS_KEPT + 1):
        show(session, str(number), "first")
    show(session, "0", "last")
    assert outputs.displays["0"]["data"] == {"text/plain": "last"}
    assert len(outputs.displays) == DISPLAYS_KEPT
    assert outputs.count == DISPLAYS_KEPT + 2


def test_who_stands_before_send_already_stands_there_again() -> None:
    session: Any = SendingSession()
    usual, heard = session.send, []

    def tap(*message: Any) -> Any:
        heard.append(message[1])
        return usual(*message)

    session.send = tap
    outputs = SentOutputs(session, "mine")
    outputs.start()
    session.send(None, "stream", {}, MINE)
    outputs.stop()
    assert session.send is tap
    assert heard == ["stream"]


def test_who_came_after_is_not_removed() -> None:
    session: Any = SendingSession()
    outputs = SentOutputs(session, "mine")
    outputs.start()
    session.send = print
    outputs.stop()
    assert session.send is print
